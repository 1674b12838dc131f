"""Formality of sentences: the form on made-up files, the sizes on the real ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import write_table
from tests.helpers import needs
from tstmeta.data import corpora, xformal
from tstmeta.data.paths import raw
from tstmeta.schema import TstmetaError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for split in xformal.SPLITS:
        rows = [
            {"SID": 0, "label": -2.4, "sentence": f"lol, {split} !"},
            {"SID": 1, "label": "None", "sentence": "None"},
            {"SID": 2, "label": 3, "sentence": "None of this applies to you ."},
        ]
        write_table(tmp_path / xformal.FOLDER / f"{split}.csv", rows)
    return tmp_path


def test_value_is_the_mean_rating_and_missing_rows_are_left_out(root: Path) -> None:
    table = xformal.corpus(root)
    assert tuple(table.columns) == corpora.COLUMNS
    assert table["value"].tolist() == [-2.4, 3.0] * 3
    assert table["text"].tolist()[:2] == ["lol, train !", "None of this applies to you ."]
    assert table["split"].tolist() == ["train"] * 2 + ["tune"] * 2 + ["test"] * 2
    assert set(table["style"]) == {""}


def test_there_is_nothing_to_score(root: Path) -> None:
    with pytest.raises(TstmetaError, match=r"tstmeta\.data\.xformal\.corpus"):
        xformal.load(root)


BROKEN: list[tuple[str, Callable[[Path], object], list[str]]] = [
    ("a missing file", Path.unlink, ["test.csv", "missing"]),
    ("a missing column", lambda p: change(p, "label", "score"), ["column label"]),
    ("off the scale", lambda p: change(p, ",3,", ",3.5,"), ["row 3", "from -3 to 3"]),
    ("half missing", lambda p: change(p, "None,None", "None,Hi ."), ["row 2", "'None'"]),
    ("an id twice", lambda p: change(p, "\n2,", "\n0,"), ["row 3", "already in row 1"]),
]


@pytest.mark.parametrize(
    ("harm", "expected"), [pytest.param(*case[1:], id=case[0]) for case in BROKEN]
)
def test_broken_files_are_reported(
    root: Path, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(root / xformal.FOLDER / "test.csv")
    message = complaint(xformal.corpus, root)
    assert all(text in message for text in expected), message


@needs("xformal")
def test_real_sizes() -> None:
    table = xformal.corpus(raw("xformal"))
    assert table.groupby("split").size().to_dict() == {"train": 4477, "tune": 500, "test": 2985}
    assert table["value"].between(-3, 3).all()
