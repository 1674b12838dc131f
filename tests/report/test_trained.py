"""The page of what training reaches: it says what the committed results say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tstmeta.data import paths
from tstmeta.report import trained


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without results, but with what the papers print."""
    published = tmp_path / "data" / "published"
    published.mkdir(parents=True)
    name = "pang2019_evaluation_models.csv"
    (published / name).write_bytes((paths.home() / "data" / "published" / name).read_bytes())
    (tmp_path / "benchmarks" / "results").mkdir(parents=True)
    monkeypatch.setattr(paths, "home", lambda: tmp_path)
    return tmp_path


def report() -> dict:
    row = {"trained_on": 1200, "tested_on": 300, "minutes": 2.0, "weights": "0123456789ab"}
    sorter = {"model": "sorter", "accuracy": 0.9, "low": 0.8, "high": 0.95, "command": "sort it"}
    writer = {
        **{"model": "writer", "perplexity": 40.25, "perplexity_a_word": 80.0},
        **{"perplexity_of_unigrams": 500.0, "command": "write it"},
    }
    checks = [
        {"name": "accuracy of the sorter on new sentences", "holds": True},
        {"name": "weights of the sorter that differ after a kill", "holds": False},
        {"name": "weights of the writer that differ after a kill", "holds": True},
    ]
    machine = {"cpu": "A <cpu>", "python": "3.11"}
    rows = [row | sorter, row | writer]
    return {"when": "2026-01-01", "machine": machine, "rows": rows, "checks": checks}


def test_the_page_tells_every_result_and_whether_a_kill_changed_the_bytes(home: Path):
    file = home / "benchmarks" / "results" / "training.json"
    file.write_text(json.dumps(report()), encoding="utf-8")
    page = trained.page()
    first, second = (line for line in page.split("<tr>") if "0123456789ab" in line)
    assert "accuracy 0.9000 [0.8000, 0.9500]" in first
    assert "<td>no</td>" in first
    assert "perplexity 40.2 a token, 80.0 a word; 500.0 a token by counts" in second
    assert "<td>yes</td>" in second
    assert "sort it\nwrite it" in page


def test_published_figures_stand_apart_and_are_called_so(home: Path):
    file = home / "benchmarks" / "results" / "training.json"
    file.write_text(json.dumps(report()), encoding="utf-8")
    own, printed = trained.page().split("## Beside the models of pang2019")
    assert "0.974" in printed
    assert "0.974" not in own
    assert "published" in printed


def test_without_results_the_page_says_how_to_make_them(home: Path):
    assert "python benchmarks/training.py" in trained.page()
