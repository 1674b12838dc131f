"""The benchmarks run and write what their readers expect; how fast anything is stays untested."""

import json
import math
import platform
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
#: Pairs, or draws, that show the form, not the speed.
SIZES = {"judge": 40, "lexical": 12, "likelihood": 1, "metrics": 9, "scoring": 60, "stats": 4}
#: A model that is made in no time; one thread, for others run tests at the same time.
OPTIONS = {"likelihood": ["--shape", "tiny", "--threads", "1"]}


#: One process runs a script once for all tests of it.
SCRIPTS = [pytest.param(name, marks=pytest.mark.xdist_group(name)) for name in sorted(SIZES)]


@pytest.fixture(scope="module", params=SCRIPTS)
def fresh(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """What a quick run prints and writes: (name, standard output, report)."""
    name = request.param
    file = tmp_path_factory.mktemp(name) / "made" / "report.json"
    command = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick"]
    command += ["--size", str(SIZES[name]), "--json", str(file), *OPTIONS.get(name, [])]
    run = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=300, cwd=file.parents[1]
    )
    assert run.returncode == 0, run.stderr
    return name, run.stdout, json.loads(file.read_text(encoding="utf-8"))


def committed(name: str) -> dict[str, Any]:
    return json.loads((BENCHMARKS / "results" / f"{name}.json").read_text(encoding="utf-8"))


def has_the_schema(report: dict[str, Any], name: str) -> None:
    assert report["name"] == name
    assert date.fromisoformat(report["when"]).isoformat() == report["when"]
    assert set(report["machine"]) == {"cpu", "cores", "system", "python", "libraries"}
    assert "tstmeta" in report["machine"]["libraries"]
    assert set(report["load_average"]) == {"before", "after"}
    assert set(report["settings"]) == {"quick", "size", "rounds", "seed"}
    assert all(isinstance(note, str) for note in report["notes"])
    assert report["rows"]
    assert all({"ratio", "lowest", "highest", "signature"} <= set(row) for row in report["rows"])
    for check in report["checks"]:
        assert set(check) - {"reason"} == {"name", "value", "goal", "holds"}
        measured = check["value"] is not None
        assert check["holds"] in ((True, False) if measured else (None,))
        assert measured != ("reason" in check)


def test_a_quick_run_writes_the_schema(fresh: tuple[str, str, dict]):
    name, _, report = fresh
    has_the_schema(report, name)
    assert report["settings"]["quick"]
    assert report["settings"]["size"] == SIZES[name]


def test_a_quick_run_prints_every_row_and_goal(fresh: tuple[str, str, dict]):
    _, printed, report = fresh
    for row in report["rows"]:
        assert any(line.startswith(row["metric"]) for line in printed.splitlines())
    for check in report["checks"]:
        assert any(line.startswith(check["name"]) for line in printed.splitlines())


def test_the_committed_report_has_the_schema_and_the_same_goals(fresh: tuple[str, str, dict]):
    name, _, report = fresh
    kept = committed(name)
    has_the_schema(kept, name)
    assert not kept["settings"]["quick"]
    goals = [(check["name"], check["goal"]) for check in report["checks"]]
    assert [(check["name"], check["goal"]) for check in kept["checks"]] == goals
    assert len(set(goals)) == len(goals)


def test_values_equal_the_peers_in_the_same_run(fresh: tuple[str, str, dict]):
    _, _, report = fresh
    exact = [check for check in report["checks"] if "difference" in check["name"]]
    assert exact
    assert all(check["holds"] is not False for check in exact)


def test_a_resumed_store_is_whole_and_nothing_is_scored_twice(fresh: tuple[str, str, dict]):
    name, _, report = fresh
    held = {check["name"]: check["holds"] for check in report["checks"]}
    about_the_store = ("scores computed twice", "resumed stores that differ from whole ones")
    expected = [True, True] if name == "scoring" else [None, None]
    assert [held.get(goal) for goal in about_the_store] == expected


def test_no_report_names_the_machine_or_a_path(fresh: tuple[str, str, dict]):
    name, _, report = fresh
    for text in (json.dumps(report), json.dumps(committed(name))):
        assert not platform.node() or platform.node() not in text
        assert str(ROOT) not in text
        assert str(Path.home()) not in text


def test_numbers_in_a_report_are_finite(fresh: tuple[str, str, dict]):
    _, _, report = fresh
    numbers = [value for row in report["rows"] for value in row.values()]
    assert all(math.isfinite(value) for value in numbers if isinstance(value, int | float))


def test_a_size_below_one_is_refused():
    run = subprocess.run(
        [sys.executable, str(BENCHMARKS / "scoring.py"), "--size", "0"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 2
    assert "must be at least 1" in run.stderr
    assert "Traceback" not in run.stderr


def likelihood_on(folder: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """What ``likelihood.py --gpu`` prints and writes."""
    file = folder / "report.json"
    script = [sys.executable, str(BENCHMARKS / "likelihood.py"), "--gpu", "--quick"]
    run = subprocess.run(
        [*script, "--json", str(file), *options],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout, json.loads(file.read_text(encoding="utf-8"))


def test_the_program_for_a_gpu_runs_on_a_processor_too(tmp_path: Path):
    options = ["--device", "cpu", "--size", "1", *OPTIONS["likelihood"]]
    _, report = likelihood_on(tmp_path, *options)
    has_the_schema(report, "likelihood_gpu")
    assert all("dtype:bfloat16" in row["signature"] for row in report["rows"])
    floors = [row["over_floor"] for row in report["rows"] if row["method"] == "tstmeta"]
    assert len(floors) == 2
    assert min(floors) > 0
    special = [one for one in report["checks"] if one["name"].endswith(("floor", "minutes"))]
    assert len(special) == 3
    assert all(one["value"] > 0 for one in special)


def test_without_a_gpu_the_program_for_one_says_so_and_no_goal_holds(tmp_path: Path):
    printed, report = likelihood_on(tmp_path, "--device", "cuda:99")
    assert "not run: no GPU" in printed
    assert report["notes"] == ["not run: no GPU"]
    assert report["rows"] == []
    assert {check["holds"] for check in report["checks"]} == {None}
