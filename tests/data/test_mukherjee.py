"""Outputs in three languages: the form on made-up files, the sizes on the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import write_table
from tests.helpers import needs
from tstmeta.data import mukherjee
from tstmeta.data.paths import raw

EN = "multilingual_tst/eval/human_eval_en.csv"
DETOX_HI = "multilingual_text_detoxification/evaluation/selected_data_hi.csv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two systems a file, which share a source; the second printed nothing."""
    for part in mukherjee.PARTS:
        text = {"en": "The soup was cold, sadly.", "hi": "सूप ठंडा था।", "mag": "सूप ठंढा हलइ।"}[
            part.language
        ]
        rows = [
            {"src": text, "trg": f"ref {text}", "pred": pred, "methodology": system}
            for system, pred in (("joint", f"out {text}"), ("parallel", ""))
        ]
        if part.study == "sentiment":
            tasks = ("neg_to_pos", "pos_to_neg")
            rows = [{**row, "task": task} for row, task in zip(rows, tasks, strict=True)]
        write_table(tmp_path / part.path, rows)
    return tmp_path


def test_items_of_five_files(root: Path) -> None:
    loaded = mukherjee.load(root)
    assert len(loaded.items) == 10
    row = loaded.items.set_index("item_id").loc["sentiment-mag-2"]
    assert row[["system", "style", "direction", "language"]].tolist() == [
        "parallel",
        "negative",
        "pos2neg",
        "mag",
    ]
    assert row["output"] == ""
    assert row["references"] == ["ref सूप ठंढा हलइ।"]
    assert row["source_id"] == "sentiment-mag-s1"
    detox = loaded.items.set_index("item_id").loc["detoxification-hi-1"]
    assert detox[["style", "direction"]].tolist() == ["non-toxic", ""]
    assert loaded.ratings.empty


def test_each_study_and_language_is_a_subset(root: Path) -> None:
    loaded = mukherjee.load(root)
    for name, subset in mukherjee.SUBSETS.items():
        part = subset(loaded)
        assert part.name == f"mukherjee@{name}"
        assert len(part.items) == 2
        assert part.items["item_id"].str.startswith(f"{name}-").all()


BROKEN: list[tuple[str, str, Callable[[Path], object], list[str]]] = [
    ("a missing file", EN, Path.unlink, ["human_eval_en.csv", "missing"]),
    ("a missing column", EN, lambda p: change(p, "task", "job"), ["column task"]),
    ("a blank source", DETOX_HI, lambda p: change(p, "\nसूप ठंडा था।", "\n "), ["row 1", "src"]),
    ("an unknown task", EN, lambda p: change(p, "pos_to_neg", "sideways"), ["row 2", "sideways"]),
]


@pytest.mark.parametrize(
    ("file", "harm", "expected"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN]
)
def test_broken_files_are_reported(
    root: Path, file: str, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(root / file)
    message = complaint(mukherjee.load, root)
    assert all(text in message for text in expected), message


@needs("mukherjee")
def test_real_sizes() -> None:
    loaded = mukherjee.load(raw("mukherjee"))
    sizes = {name: len(subset(loaded).items) for name, subset in mukherjee.SUBSETS.items()}
    assert sizes == {
        "sentiment-en": 150,
        "sentiment-hi": 150,
        "sentiment-mag": 150,
        "detoxification-en": 100,
        "detoxification-hi": 100,
    }
    assert set(loaded.items.groupby(["source_id"])["source"].nunique()) == {1}
    counts = loaded.items.groupby(["language", "system", "direction"]).size()
    assert set(counts.drop("", level="direction")) == {25}
    assert set(counts.xs("", level="direction")) == {50}
