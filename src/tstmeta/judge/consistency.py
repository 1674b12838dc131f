"""How far a judge agrees with itself: asked again, and on outputs that are the same text.

Both look at the same noise from two sides.  Repeated answers to one question show what sampling
adds.  Identical outputs that got different ratings show it without a single further request; but
where both stand in one request the judge sees them side by side, and may notice.  Such noise is
therefore a lower bound, and the reliability that follows from it an upper one.

Rows are those of :func:`tstmeta.judge.ratings.ask`; nothing here asks anybody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..schema import TstmetaError
from .treatments import JUDGE

#: What makes ratings those of one judge: mixed, they would be taken for its repeats.
WHO = tuple(dict.fromkeys(("dataset", *JUDGE, "asked_how")))
_PAIRS = ("source_id", "item_a", "item_b", "rating_a", "rating_b", "gap")


# ------------------------------------------------------------------------------ asked again


class Repeats(NamedTuple):
    """What repeated answers of a judge look like.

    Attributes:
        items: rewrites with two ratings or more.
        samples: how often each was asked, at most.
        same: share of these rewrites whose ratings are all equal, in [0, 1].
        gap: mean distance of two ratings of a rewrite, in points; each rewrite counts once.
        largest: the largest such distance.
        lost: share of all answers that have no rating.
    """

    items: int
    samples: int
    same: float
    gap: float
    largest: float
    lost: float


def repeats(rows: pd.DataFrame, dimension: str, column: str = "rating") -> pd.DataFrame:
    """The ratings of one judge as a matrix: one row an item, one column a sample.

    Args:
        rows: item_id, dimension, sample, ``column`` (NaN where an answer has no rating) and what is
            known of :data:`WHO`.
        column: ``rating`` or ``expected``.

    Returns:
        Items in order of appearance; NaN where an answer has no rating.

    Raises:
        TstmetaError: no row of the dimension, rows of several judges, or the same answer twice.
    """
    own = rows[rows["dimension"] == dimension]
    if own.empty:
        known = ", ".join(sorted(set(rows["dimension"]))) or "nothing"
        raise TstmetaError(f"no answer is about {dimension}; the rows are about {known}")
    for name in WHO:
        values = pd.unique(own[name]) if name in own else []
        if len(values) > 1:
            listed = ", ".join(map(str, values))
            raise TstmetaError(f"the rows hold several of {name} ({listed}); take one at a time")
    if own.duplicated(["item_id", "sample"]).any():
        twice = own.loc[own.duplicated(["item_id", "sample"]), "item_id"].iloc[0]
        raise TstmetaError(f"item {twice!r} has the same sample twice; drop one of the rows")
    table = own.set_index(["item_id", "sample"])[column].astype(float).unstack()  # noqa: PD010
    return table.reindex(pd.unique(own["item_id"]))


def of_repeats(matrix: pd.DataFrame) -> Repeats:
    """Counts and distances of a matrix of :func:`repeats`."""
    values = matrix.to_numpy(float)
    lost = float(np.isnan(values).mean()) if values.size else math.nan
    first, second = np.triu_indices(values.shape[1], 1)
    gaps = np.abs(values[:, first] - values[:, second])
    gaps = gaps[np.isfinite(gaps).any(axis=1)]
    if not len(gaps):
        return Repeats(0, values.shape[1], math.nan, math.nan, math.nan, lost)
    most, mean = np.nanmax(gaps, axis=1), np.nanmean(gaps, axis=1)
    return Repeats(
        len(gaps),
        values.shape[1],
        float((most == 0).mean()),
        float(mean.mean()),
        float(most.max()),
        lost,
    )


# ------------------------------------------------------------------------------ the same text


class Disagreement(NamedTuple):
    """Ratings of outputs that are the same text, written for the same source by several systems.

    Attributes:
        texts: texts that occur twice or more for a source.
        pairs: pairs of such outputs, and how many of them are rated differently: ``different``.
        share: ``different / pairs``.
        gap: mean distance of the two ratings over all pairs, in points.
        typical: median distance of the pairs that differ; NaN where none does.
        largest: the largest distance.
        noise: variance within texts, pooled over texts, in squared points.
        spread: variance of all ratings.
        reliability: ``1 - noise / spread``: the share of the variance that two copies of a text
            have in common.  At most 1; it may fall below 0.
        n: outputs with a rating.
    """

    texts: int
    pairs: int
    different: int
    share: float
    gap: float
    typical: float
    largest: float
    noise: float
    spread: float
    reliability: float
    n: int


def copies(items: pd.DataFrame, ratings: pd.Series | Mapping[str, float]) -> pd.DataFrame:
    """Rated outputs whose text another rated output of the same source has, too.

    Texts are the same if every character is, and if they were asked for in the same style.

    Args:
        items: item_id, source_id, output and, where there is one, style.
        ratings: item_id -> rating; items without one are left out.

    Returns:
        item_id, source_id, text (a number for each text of a source), rating; in item order.
    """
    table = items.assign(rating=items["item_id"].map(ratings).astype(float))
    table = table[table["rating"].notna()]
    keys = [name for name in ("source_id", "style", "output") if name in table]
    table = table.assign(text=table.groupby(keys, sort=False).ngroup())
    several = table.groupby("text")["item_id"].transform("size") > 1
    return table.loc[several, ["item_id", "source_id", "text", "rating"]].reset_index(drop=True)


def pairs(items: pd.DataFrame, ratings: pd.Series | Mapping[str, float]) -> pd.DataFrame:
    """All pairs of outputs of :func:`copies` that are the same text.

    Returns:
        source_id, item_a, item_b (in item order), rating_a, rating_b, gap (b less a).
    """
    found = []
    for _, own in copies(items, ratings).groupby("text", sort=False):
        for a, b in itertools.combinations(own.itertuples(index=False), 2):
            gap = b.rating - a.rating
            found.append((a.source_id, a.item_id, b.item_id, a.rating, b.rating, gap))
    return pd.DataFrame(found, columns=list(_PAIRS))


def disagreement(items: pd.DataFrame, ratings: pd.Series | Mapping[str, float]) -> Disagreement:
    """How differently a judge rates the same text; arguments as for :func:`copies`."""
    known = items["item_id"].map(ratings).astype(float).dropna().to_numpy()
    spread = float(known.var(ddof=1)) if len(known) > 1 else math.nan
    own = copies(items, ratings)
    gaps = pairs(items, ratings)["gap"].abs().to_numpy(float)
    if not len(gaps):
        nan = math.nan
        return Disagreement(0, 0, 0, nan, nan, nan, nan, nan, spread, nan, len(known))
    within = own["rating"] - own.groupby("text")["rating"].transform("mean")
    texts = int(own["text"].nunique())
    noise = float((within**2).sum() / (len(own) - texts))
    different = gaps[gaps > 0]
    return Disagreement(
        texts,
        len(gaps),
        len(different),
        len(different) / len(gaps),
        float(gaps.mean()),
        float(np.median(different)) if len(different) else math.nan,
        float(gaps.max()),
        noise,
        spread,
        1 - noise / spread if spread > 0 else math.nan,
        len(known),
    )
