"""The simulations of coverage and rejection: their form, and what they found."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
every_simulation = pytest.mark.parametrize("name", ["coverage", "rejection", "pooling"])


#: Intervals over 8 systems cover up to .974, and a test over them rejects a little too often; a tau
#: as small as the noise is often put at 0, which is too narrow for a truth without noise.  The page
#: shows them as goals that do not hold, and why.
MISSED = {
    "coverage": ["8 or 12 systems: percentile coverage, highest"],
    "pooling": ["10 families: truth of a new set held, lowest"],
    "rejection": ["exchangeable: share rejected, highest"],
}


def committed(name):
    return json.loads((BENCHMARKS / "results" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.nightly
@every_simulation
def test_a_short_run_has_the_rows_and_the_goals_of_the_committed_one(name, tmp_path):
    file = tmp_path / "report.json"
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick", "--size", "3"]
    subprocess.run([*command, "--json", str(file)], timeout=300, check=True)
    both = json.loads(file.read_text(encoding="utf-8")), committed(name)
    goals = [[(goal["name"], goal["goal"]) for goal in report["checks"]] for report in both]
    assert goals[0] == goals[1]
    rows = [[(r["setting"], r.get("statistic"), *r) for r in report["rows"]] for report in both]
    assert rows[0] == rows[1]


@every_simulation
def test_the_committed_run_is_large_enough_and_misses_only_the_known_goals(name):
    run = committed(name)
    assert not run["settings"]["quick"]
    assert run["settings"]["size"] >= 5000
    assert [report["name"] for report in run["checks"] if not report["holds"]] == MISSED[name]
