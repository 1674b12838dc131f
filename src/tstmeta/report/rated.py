"""What the tables about raters share: what can be asked of a data set, and what it is called.

What can be said hangs on what was released.  Ratings by persons answer everything.  Anonymous slots
(two ratings an item, by whom nobody knows) answer how well ratings agree, not whether a metric
could replace a rater.  Means alone answer nothing here.  What has no answer is
:data:`NOT_IDENTIFIABLE`, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data import Dataset
from ..schema import DIMENSIONS, TstmetaError
from ..scoring import HUMAN_STYLE
from .layout import known
from .matrices import Cube

NOT_IDENTIFIABLE = "not identifiable"
NO_SCORES = "no scores of single items"
OWN = "these scores are the mean ratings themselves"


def check(
    dataset: Dataset, dimension: str, statistic: str = "pearson", levels: Sequence[str] = ()
) -> None:
    """Refuse what nobody can answer: unknown names, and ratings on several scales at once.

    Raises:
        TstmetaError: with the names that are known, or the subsets to take one of.
    """
    if dimension not in DIMENSIONS:
        raise TstmetaError(f"unknown dimension {dimension!r}; known: {', '.join(DIMENSIONS)}")
    for level in levels:
        known(statistic, level)
    scales = dataset.card.facts.get("subset_scales") or {}
    rated = dataset.ratings.loc[dataset.ratings["dimension"] == dimension, "item_id"]
    inside = set(dataset.label("collection")[rated.unique()]) & set(scales)
    if len({tuple(scales[name].get(dimension, ())) for name in inside}) > 1:
        base = dataset.name.partition("@")[0]
        options = ", ".join(f"{base}@{name}" for name in scales if name in inside)
        raise TstmetaError(
            f"{dataset.name}: ratings of {dimension} are on several scales; take one of {options}"
        )


def impossible(dataset: Dataset, dimension: str, people: Cube) -> str:
    """Why nothing can be said of agreement between ratings; empty if something can."""
    if dimension not in dataset.dimensions:
        return f"no ratings of {dimension}"
    if len(people.raters) < 2:
        return f"{NOT_IDENTIFIABLE}: {people.reason}"
    return ""


def unfit(metric: str, dimension: str, values: np.ndarray) -> str:
    """Why a metric has no row of numbers; empty if it has."""
    if metric == HUMAN_STYLE and dimension == "style":
        return OWN
    return "" if np.isfinite(values).any() else NO_SCORES
