"""Data sets made of data sets: the same outputs with other references, the sources as a system."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from .base import Dataset
from .files import items_table


def with_references(dataset: Dataset, references: Iterable[list[str]], name: str) -> Dataset:
    """The data set with other references: one list an item, in item order."""
    items = dataset.items.copy()
    items["references"] = pd.Series([list(texts) for texts in references], dtype=object)
    return replace(dataset, name=name, items=items)


def untransferred(dataset: Dataset, name: str) -> Dataset:
    """One item a source whose output is the source itself; nobody rated these.

    The system is called ``untransferred``.  It is the baseline that shows how much of a metric's
    value comes from leaving everything as it is.
    """
    first = dataset.items.drop_duplicates("source_id")
    items = items_table(
        dataset.items["dataset"].iloc[0],
        item_id=first["source_id"] + "-untransferred",
        source_id=first["source_id"],
        system="untransferred",
        output=first["source"],
        **{name: first[name] for name in ("style", "direction", "language", "source")},
        references=first["references"],
    )
    return Dataset.of(name, items, card=dataset.card)
