"""Simplification ratings of Scialom et al. (2021): systems and people.

The archive that the authors link could not be had.  Who has it writes its main file into
``data/external/scialom/scialom.csv`` as a file of one's own, see :mod:`.table_files`.  Two data
sets of Pauli et al. (2025) come from it: ``human`` (their Scialom, 65 x 25) and ``alva-m`` (their
Alva-M., 135 x 11).
"""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from ..schema import DIMENSIONS
from .base import Dataset
from .table_files import by_hand

FILE = "scialom.csv"


def load(root: Path) -> Dataset:
    """Load the file; ``is_reference`` marks what people wrote."""
    return by_hand(root / FILE)


def _rated_by(dataset: Dataset, number: int) -> pd.Series:
    """Whether items have that many ratings of every dimension, shape [items]."""
    counts = pd.crosstab(dataset.ratings["item_id"], dataset.ratings["dimension"])
    counts = counts.reindex(dataset.items["item_id"], columns=[*DIMENSIONS[:3]], fill_value=0)
    return (counts >= number).all(axis=1).to_numpy()


def _human(dataset: Dataset) -> Dataset:
    return dataset.where(dataset.items["is_reference"] & _rated_by(dataset, 1))


def _alva_m(dataset: Dataset) -> Dataset:
    """System outputs with 11 ratings or more of every dimension; the first 11 of each."""
    subset = dataset.where(~dataset.items["is_reference"] & _rated_by(dataset, 11))
    first = subset.ratings.groupby(["item_id", "dimension"], sort=False).head(11)
    return replace(subset, ratings=first.reset_index(drop=True))


SUBSETS = {"human": _human, "alva-m": _alva_m}
