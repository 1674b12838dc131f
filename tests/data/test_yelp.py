"""The Yelp corpus: the form on made-up files, the sizes on the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.raw import break_encoding, complaint, write
from tests.helpers import needs
from tstmeta import data
from tstmeta.data import corpora, yelp
from tstmeta.data.paths import raw
from tstmeta.schema import TstmetaError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for split in yelp.SPLITS:
        for number in (0, 1):
            lines = [f"the {split} bread was {number}\x85 ok .", "_num_ stars"][: 1 + number]
            write(tmp_path / "data" / "yelp" / f"sentiment.{split}.{number}", lines)
    return tmp_path


def test_each_line_is_a_sentence_with_its_style(root: Path) -> None:
    table = yelp.corpus(root)
    assert tuple(table.columns) == corpora.COLUMNS
    assert table["text"].tolist()[:3] == [
        "the dev bread was 0\x85 ok .",
        "the dev bread was 1\x85 ok .",
        "_num_ stars",
    ]
    assert table["style"].tolist() == ["negative", "positive", "positive"] * 2
    assert table["split"].tolist() == ["dev"] * 3 + ["test"] * 3
    assert table["value"].isna().all()


def test_there_is_nothing_to_score(root: Path) -> None:
    with pytest.raises(TstmetaError, match=r"no rewrites to score.*tstmeta\.data\.yelp\.corpus"):
        yelp.load(root)


def test_broken_files_are_reported(root: Path) -> None:
    path = root / "data" / "yelp" / "sentiment.test.1"
    write(path, ["fine .", "  ", "good ."])
    assert "row 2: blank line" in complaint(yelp.corpus, root)
    break_encoding(path)
    assert "not UTF-8" in complaint(yelp.corpus, root)
    path.unlink()
    assert "sentiment.test.1: the file is missing" in complaint(yelp.corpus, root)


@needs("yelp")
def test_real_sizes() -> None:
    table = yelp.corpus(raw("yelp"))
    assert table.groupby(["split", "style"]).size().to_dict() == {
        ("dev", "negative"): 25278,
        ("dev", "positive"): 38205,
        ("test", "negative"): 50278,
        ("test", "positive"): 76392,
    }
    with pytest.raises(TstmetaError, match="corpus"):
        data.load("yelp")
