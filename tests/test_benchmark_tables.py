"""Benchmarks without a peer, training and cost: what they write, what their results say."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tstmeta import metrics

pytest.importorskip("torch")
ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "benchmarks" / "training.py"
RESULTS = ROOT / "benchmarks" / "results"


def test_a_quick_run_trains_kills_and_compares(tmp_path: Path):
    file = tmp_path / "report.json"
    command = [sys.executable, str(SCRIPT), "--quick", "--size", "1", "--json", str(file)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    report = json.loads(file.read_text(encoding="utf-8"))
    (row,) = report["rows"]
    assert row["model"] in run.stdout
    assert 0 <= row["low"] <= row["accuracy"] <= row["high"] <= 1
    assert [check["holds"] for check in report["checks"]] == [True, True]
    assert str(tmp_path) not in json.dumps(report)


def test_the_committed_results_are_of_yelp_and_every_goal_holds():
    report = json.loads((RESULTS / "training.json").read_text(encoding="utf-8"))
    assert not report["settings"]["quick"]
    assert all("--corpus yelp" in row["command"] for row in report["rows"])
    assert len(report["checks"]) == 2 * len(report["rows"])
    assert {check["holds"] for check in report["checks"]} == {True}
    assert {row["model"] for row in report["rows"]} == {
        "linear classifier",
        "TextCNN",
        "language model",
    }


def test_the_committed_costs_are_of_every_metric_that_runs_as_it_is_called():
    report = json.loads((RESULTS / "cost.json").read_text(encoding="utf-8"))
    timed = {row["metric"] for row in report["rows"]}
    sentinels = set(metrics.families()["sentinel"])
    for name in metrics.names():
        if ":" in name or name in sentinels:
            continue
        if metrics.get(name).profile == "embedded":
            assert name in timed or getattr(metrics.get(name), "missing", ""), name
    assert {check["holds"] for check in report["checks"]} == {True}
    assert all(row["lowest"] <= row["ratio"] <= row["highest"] for row in report["rows"])


@pytest.mark.parametrize("name", ["cost", "training"])
def test_no_committed_result_names_a_machine_or_a_path(name: str):
    text = (RESULTS / f"{name}.json").read_text(encoding="utf-8")
    assert not platform.node() or platform.node() not in text
    for place in (
        str(ROOT),
        str(Path.home()),
        tempfile.gettempdir(),
        "/home/",
        "/Users/",
        "/root/",
    ):
        assert place not in text
