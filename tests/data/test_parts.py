"""Subsets that are collections, and whether a data set is there at all."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tstmeta import data
from tstmeta.data import Card, Dataset, corpora, parts
from tstmeta.data.tables import items_table, labels_table
from tstmeta.schema import TstmetaError

CARD = Card("mixed", facts={"scale": {"style": [0, 9]}, "subset_scales": {"a": {"style": [0, 1]}}})


@pytest.fixture
def mixed() -> Dataset:
    items = items_table("mixed", item_id=["x", "y", "z"], source_id=["1", "1", "2"])
    labels = labels_table("mixed", items["item_id"], collection=["a", "b", "a"])
    return Dataset.of("mixed", items, card=CARD, labels=labels)


def test_a_collection_has_its_own_items_and_scale(mixed: Dataset) -> None:
    subset = parts.subsets("a", "b")["a"](mixed)
    assert subset.name == "mixed@a"
    assert subset.items["item_id"].tolist() == ["x", "z"]
    assert subset.card.scale == {"style": (0.0, 1.0)}
    assert mixed.card.scale == {"style": (0.0, 9.0)}


def test_a_collection_without_a_scale_of_its_own_keeps_the_card(mixed: Dataset) -> None:
    assert parts.collection(mixed, "b").card is CARD


def test_an_unknown_collection_is_reported(mixed: Dataset) -> None:
    with pytest.raises(TstmetaError, match="no item"):
        parts.collection(mixed, "c")


@pytest.mark.parametrize(
    ("name", "file"),
    [("cao", "ratings.csv"), ("scialom", "simplification_human_evaluations.tar.gz")],
)
def test_a_folder_without_the_file_that_matters_is_not_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, file: str
) -> None:
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    folder = tmp_path / name
    folder.mkdir()
    (folder / "notes.txt").touch()
    assert not data.available(name)
    (folder / file).touch()
    assert data.available(name)


def test_a_corpus_table_of_nothing_has_the_right_columns() -> None:
    table = corpora.table([])
    assert pd.api.types.is_float_dtype(table["value"])
    assert pd.api.types.is_string_dtype(table["text"])
