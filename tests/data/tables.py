"""Writing small raw tables, and looking for ids of persons in what is loaded."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from tests.data.raw import words
from tstmeta.data import Dataset

Row = Mapping[str, object]


def write_table(
    path: Path, rows: Sequence[Row], delimiter: str = ",", encoding: str = "utf-8"
) -> None:
    """Write rows as a CSV file with a header."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding=encoding) as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def leaked(dataset: Dataset, ids: Iterable[object]) -> set[str]:
    """Ids of six or more characters that occur in any table."""
    return words(dataset) & {str(name) for name in ids if len(str(name)) >= 6}


def raw_ids(path: Path, column: str) -> list[str]:
    """A column of a raw file, for :func:`leaked`; never print it."""
    return pd.read_csv(path, dtype=str, usecols=[column], keep_default_na=False)[column].tolist()


def pearson(dataset: Dataset, one: str, other: str) -> float:
    """Pearson correlation of item means."""
    return float(dataset.means[one].corr(dataset.means[other]))
