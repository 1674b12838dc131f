"""Human detoxifications: the form on made-up files, the sizes on the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import write_table
from tests.helpers import needs
from tstmeta.data import corpora, paradetox
from tstmeta.data.paths import raw

FILE = "paradetox/paradetox.tsv"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Rewrites in columns 1 to 3, in columns 1 and 3, in column 1."""
    rows = [
        {
            "toxic": "stop it, moron",
            "neutral1": "please stop",
            "neutral2": "stop",
            "neutral3": "no",
        },
        {"toxic": 'a "damn"\nmess', "neutral1": "a mess", "neutral2": "", "neutral3": "untidy"},
        {"toxic": "dumb idea", "neutral1": "odd idea", "neutral2": "", "neutral3": ""},
    ]
    write_table(tmp_path / FILE, rows, delimiter="\t")
    return tmp_path


def test_each_rewrite_is_an_item_and_a_reference(root: Path) -> None:
    items = paradetox.load(root).items.set_index("item_id")
    assert list(items.index) == [f"detox-{n}" for n in ("1-1", "1-2", "1-3", "2-1", "2-3", "3-1")]
    assert items["is_reference"].all()
    assert items.loc["detox-2-3", ["source", "output"]].tolist() == ['a "damn"\nmess', "untidy"]
    assert items.loc["detox-2-1", "references"] == ["a mess", "untidy"]
    assert items.loc["detox-3-1", "references"] == ["odd idea"]
    assert items.loc["detox-2-1", "source_id"] == "detox-2"
    assert set(items["style"]) == {"non-toxic"}


def test_the_corpus_has_both_styles(root: Path) -> None:
    table = paradetox.corpus(root)
    assert tuple(table.columns) == corpora.COLUMNS
    assert table["style"].tolist() == ["toxic"] * 3 + ["non-toxic"] * 6
    assert table["text"].tolist()[3:6] == ["please stop", "stop", "no"]


def test_broken_files_are_reported(root: Path) -> None:
    change(root / FILE, "odd idea", " ")
    assert "row 3, column neutral1: blank cell" in complaint(paradetox.load, root)
    change(root / FILE, "neutral2", "other")
    assert "column neutral2: missing column" in complaint(paradetox.load, root)
    (root / FILE).unlink()
    assert "the file is missing" in complaint(paradetox.load, root)


@needs("paradetox")
def test_real_sizes() -> None:
    loaded = paradetox.load(raw("paradetox"))
    assert loaded.items["source_id"].nunique() == 11927
    assert len(loaded.items) == 19743
