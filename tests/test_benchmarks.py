"""The benchmarks run and write what their readers expect; how fast anything is stays untested."""

import importlib
import json
import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import ROOT, python

BENCHMARKS = ROOT / "benchmarks"
#: Pairs, or draws, that show the form, not the speed.
SIZES = {"judge": 40, "lexical": 12, "likelihood": 1, "metrics": 9, "scoring": 60, "stats": 4}
SIZES |= {"scale": 3000, "interactive": 12, "teaching": 1, "likelihood_trace": 1}
SIZES["judge_local"] = 200
#: Programs that compare no values.
ALONE = ("interactive", "likelihood_trace", "scale", "teaching")
#: A model that is made in no time; one thread, for others run tests at the same time.
OPTIONS = {"likelihood": ["--shape", "tiny", "--threads", "1"], "judge_local": ["--local"]}
#: What holds however small a run is.
HOLDS = {
    "scoring": ("scores computed twice", "resumed stores that differ from whole ones"),
    "judge_local": ("largest difference from one pass a rewrite",),
}


def run(name: str, file: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """What a script prints, and the report that it writes."""
    words = (BENCHMARKS / f"{name}.py", "--quick", "--json", file, *options)
    done = python(*words, cwd=file.parent, timeout=500)
    assert "Traceback" not in done.stderr
    printed = done.stdout + done.stderr
    return printed, json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def committed(name: str) -> dict[str, Any]:
    return json.loads((BENCHMARKS / "results" / f"{name}.json").read_text(encoding="utf-8"))


def has_the_schema(report: dict[str, Any], name: str) -> None:
    assert report["name"] == name
    assert date.fromisoformat(report["when"]).isoformat() == report["when"]
    assert set(report["machine"]) == {"cpu", "cores", "system", "python", "libraries"}
    assert set(report["settings"]) == {"quick", "size", "rounds", "seed"}
    for check in report["checks"]:
        because = {"reason"} if check["value"] is None else set()
        assert set(check) == {"name", "value", "goal", "holds"} | because
    numbers = [value for row in report["rows"] for value in row.values()]
    assert all(math.isfinite(value) for value in numbers if isinstance(value, int | float))


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(SIZES))
def test_a_quick_run_writes_the_schema_and_the_goals_of_the_committed_report(name, tmp_path):
    words = ["--size", str(SIZES[name]), *OPTIONS.get(name, [])]
    printed, report = run(name.removesuffix("_local"), tmp_path / "report.json", *words)
    has_the_schema(report, name)
    assert report["settings"]["quick"]
    for row in report["rows"]:
        assert any(line.startswith(row["metric"]) for line in printed.splitlines())
    goals = [(check["name"], check["goal"]) for check in report["checks"]]
    assert [(check["name"], check["goal"]) for check in committed(name)["checks"]] == goals
    exact = [check for check in report["checks"] if "difference" in check["name"]]
    assert exact or name in ALONE
    assert all(check["holds"] is not False for check in exact)
    held = {check["name"]: check["holds"] for check in report["checks"]}
    assert all(held[check] for check in HOLDS.get(name, ()))


@pytest.mark.nightly
def test_the_program_for_a_gpu_runs_on_a_processor_too(tmp_path):
    words = ["--gpu", "--device", "cpu", "--size", "1", *OPTIONS["likelihood"]]
    _, report = run("likelihood", tmp_path / "report.json", *words)
    has_the_schema(report, "likelihood_gpu")
    assert all("dtype:bfloat16" in row["signature"] for row in report["rows"])


@pytest.mark.nightly
def test_a_quick_training_is_killed_and_goes_on_to_the_same_weights(tmp_path):
    printed, report = run("training", tmp_path / "report.json", "--size", "1")
    (row,) = report["rows"]
    assert row["model"] in printed
    assert 0 <= row["low"] <= row["accuracy"] <= row["high"] <= 1
    assert [check["holds"] for check in report["checks"]] == [True, True]


def test_each_attack_that_is_counted_is_a_test_and_was_survived(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    attacks = importlib.import_module("attacks")
    for _, _, file, *begins in attacks.ATTACKS:
        text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert all(f"def test_{begin}" in text for begin in begins), file
    report = committed("attacks")
    assert {check["holds"] for check in report["checks"]} == {True}
    assert {row["attack"] for row in report["rows"]} == set(attacks.KINDS)
