"""Evaluations that must not move, where the frozen files are; the ledger's cells: test_ledger."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CHECK = ROOT.parent / "shared" / "tools" / "frozen.py"
ACCEPTED = ROOT / "tests" / "frozen" / "accepted.csv"
#: Its quick part, of sets whose scores come with the project; of mir all metrics are scored anew.
QUICK = """
import frozen
frozen.ASKED = [asked for asked in frozen.ASKED[::7] if asked[0] != "mir"]
assert len(frozen.ASKED) == 3
frozen.main()
"""
pytestmark = pytest.mark.skipif(
    not CHECK.is_file(), reason="the frozen files are not beside the checkout"
)


def holds(*command: str) -> None:
    known = {**os.environ, "PYTHONPATH": str(CHECK.parent)}
    command = (sys.executable, *command)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=known)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_frozen_evaluation_of_scores_that_are_passed_on_has_moved():
    holds("-c", QUICK, "--only", "evaluate")


@pytest.mark.nightly
@pytest.mark.timeout(3000)
def test_nothing_that_is_frozen_has_moved():
    holds(str(CHECK))
