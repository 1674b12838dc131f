"""Simplification ratings of Alva-Manchego et al. (2020, 2021): four collections.

* ``asset``: 100 outputs, 15 ratings each of meaning (content), fluency and simplicity (style).
* ``simplicity_da``: 600 outputs of six systems; 15 ratings of simplicity, means of the others.
* ``structural``: 1,750 outputs of 25 systems on other scales, with structural simplicity.
* ``preferences``: 2,154 comparisons of human simplifications, which are items without ratings.

They share the 359 test sentences of ASSET and its ten references, but neither raters nor scales:
work with one at a time (``alva@asset`` …; the label ``collection`` tells them apart).  How each
file is read stands in :mod:`.alva_parts`.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .. import schema
from . import parts
from .alva_parts import NAME, STUDIES, Part, Sentences, asset, comparisons, study
from .base import Dataset
from .files import labels_table, rater_names

SUBSETS = parts.subsets("asset", *STUDIES, "preferences")


def load(root: Path) -> Dataset:
    """Load the four collections.

    Items: ``item_id`` is ``source_id``, then for ``simplicity_da`` and ``structural`` the system,
    for ``preferences`` the corpus and a number; ``source_id`` is ``collection-sentence``, with the
    sentence counted from 0.  Released means have rater ``mean``.  Labels: ``collection`` and, where
    several systems of ``asset`` printed the same, ``candidates``.

    Raises:
        DataError: a file is missing or not as published, or two files disagree.
    """
    sentences = Sentences.read(root)
    pieces = {
        "asset": asset(root, sentences),
        **{name: study(root, name, sentences) for name in STUDIES},
        "preferences": comparisons(root, sentences),
    }
    tables = {
        field: pd.concat([getattr(piece, field) for piece in pieces.values()], ignore_index=True)
        for field in Part._fields
    }
    _rename_raters(tables["ratings"], tables["preferences"])
    labels = labels_table(
        NAME,
        tables["items"]["item_id"],
        collection=[name for name, piece in pieces.items() for _ in range(len(piece.items))],
        candidates=tables.pop("candidates")["candidates"],
    )
    return Dataset.of(NAME, tables.pop("items"), labels=labels, **tables)


def _rename_raters(*tables: pd.DataFrame) -> None:
    """Number the raters through all collections: nobody is known to have rated in two."""
    ids = pd.concat([table["rater"] for table in tables])
    names = rater_names(ids[ids != schema.MEAN_RATER]) | {schema.MEAN_RATER: schema.MEAN_RATER}
    for table in tables:
        table["rater"] = table["rater"].map(names)
