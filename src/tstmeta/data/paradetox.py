"""ParaDetox: toxic sentences with one to three human rewrites each (Logacheva et al., 2022).

Not rated.  Each rewrite is an item and a reference at once; the sentences also make a corpus.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from . import corpora
from .base import Dataset
from .files import check, fault, items_table, read_csv

NAME = "paradetox"
STYLE = "non-toxic"
COLUMNS = ("neutral1", "neutral2", "neutral3")


def load(root: Path) -> Dataset:
    """Load the human rewrites.

    Items: ``item_id`` is ``source_id-number`` with the number of the rewrite, ``source_id`` is
    ``detox-1`` …, the row of the file.  ``references`` are all rewrites of the source, the item's
    own among them.

    Raises:
        DataError: the file is missing, or a sentence or its first rewrite is blank.
    """
    rows = [
        (row, number, toxic, text, rewrites)
        for row, (toxic, *cells) in enumerate(_read(root).itertuples(index=False), 1)
        if (rewrites := [cell for cell in cells if cell])
        for number, text in enumerate(cells, 1)
        if text
    ]
    items = items_table(
        NAME,
        item_id=[f"detox-{row}-{number}" for row, number, *_ in rows],
        source_id=[f"detox-{row}" for row, *_ in rows],
        system="human",
        style=STYLE,
        source=[toxic for _, _, toxic, _, _ in rows],
        output=[text for *_, text, _ in rows],
        references=[rewrites for *_, rewrites in rows],
        is_reference=True,
    )
    return Dataset.of(NAME, items)


def corpus(root: Path) -> pd.DataFrame:
    """Toxic sentences, then their rewrites; columns of :data:`.corpora.COLUMNS`.

    Raises:
        DataError: as :func:`load`.
    """
    table = _read(root)
    rewrites = [text for cells in table[list(COLUMNS)].to_numpy() for text in cells if text]
    parts = [corpora.table(table["toxic"], "toxic"), corpora.table(rewrites, STYLE)]
    return pd.concat(parts, ignore_index=True)


def _read(root: Path) -> pd.DataFrame:
    path = root / "paradetox" / "paradetox.tsv"
    table = read_csv(path, ("toxic", *COLUMNS), delimiter="\t")[["toxic", *COLUMNS]]
    check(
        fault(path, "blank cell", row, column)
        for column in ("toxic", COLUMNS[0])
        for row, cell in enumerate(table[column], 1)
        if not cell.strip()
    )
    return table
