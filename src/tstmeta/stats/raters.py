"""Agreement of raters: the human ceiling, alpha.

One rater's agreement is not the highest value that a metric can reach: the mean of many raters has
less noise.  Ratings are a cube ``[S sources, K systems, R raters]``, NaN where a rater did not
rate; a layer is a person or an anonymous place.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from .kernels import Array, finite, misfit, snapped
from .matrices import Setting, estimate


class Ceiling(NamedTuple):
    """Held-out raters, and metrics in their place, against the mean of the remaining raters.

    ``value`` is the mean of ``by_rater`` ``[R]``, weighted by the cells compared; ``metrics``
    ``[M]`` are means with the same weights; ``n`` is the number of held-out ratings.
    """

    value: float
    by_rater: Array
    metrics: Array
    n: int
    reason: str = ""


def ceiling(cube: ArrayLike, setting: Setting, metrics: ArrayLike | None = None) -> Ceiling:
    """Leave one rater out: that rater and each metric against the mean of the remaining raters.

    Compared are the cells that the held-out rater rated, that others rated too and that every
    metric ``[M, S, K]`` scored (one without any score gets NaN).

    Source: one rater against the mean of the others as in Pavlick and Tetreault (2016), here for
    all raters, and with the metrics beside.
    """
    ratings = finite(cube)
    scores = np.empty((0, *ratings.shape[:2])) if metrics is None else finite(metrics)
    if ratings.ndim != 3 or scores.shape[1:] != ratings.shape[:2]:
        wanted = "ratings [sources, systems, raters] and metrics [metrics, sources, systems]"
        raise misfit(wanted, ratings, scores)
    raters = ratings.shape[-1]
    scored = np.isfinite(scores)
    usable = scored[scored.any(axis=(1, 2))].all(axis=0)
    values = np.full((1 + len(scores), raters), np.nan)
    cells = np.zeros(raters, dtype=int)
    for rater in range(raters):
        held_out, rest = ratings[..., rater], mean_of_ratings(np.delete(ratings, rater, axis=-1))
        shared = np.isfinite(held_out) & np.isfinite(rest) & usable
        cells[rater] = shared.sum()
        if cells[rater]:
            rest = np.where(shared, rest, np.nan)
            values[:, rater] = estimate(rest, np.concatenate([held_out[None], scores]), setting)
    counted = np.where(np.isfinite(values[0]), cells, 0)
    value, *averages = (_average(row, counted) for row in values)
    reason = "" if math.isfinite(value) else no_pair(ratings)
    if not math.isfinite(value) and not reason:
        reason = "no rater has a value" if cells.any() else "no cell with two ratings has scores"
    return Ceiling(value, values[0], np.array(averages), int(counted.sum()), reason)


def mean_of_ratings(cube: ArrayLike) -> Array:
    """Means over the raters ``[S, K]``, NaN where nobody rated; the same to the last bit in
    whatever order raters come.
    """
    ratings = np.sort(np.asarray(cube, dtype=float), axis=-1)
    rated = np.isfinite(ratings)
    count = rated.sum(axis=-1)
    total = np.where(rated, ratings, 0.0).sum(axis=-1)
    return np.where(count > 0, snapped(total / np.maximum(count, 1)), np.nan)


def _average(values: Array, weights: Array) -> float:
    known = np.isfinite(values) & (weights > 0)
    return float(np.average(values[known], weights=weights[known])) if known.any() else math.nan


def no_pair(ratings: Array) -> str:
    """Why raters cannot be compared; empty where they can."""
    count = np.isfinite(ratings).sum(axis=-1)
    if not count.any():
        return "not identifiable: no single ratings"
    return "" if (count > 1).any() else "no cell has ratings from two raters"


class Alpha(NamedTuple):
    """Krippendorff's alpha (1 = perfect, 0 = chance), and the numbers of items and raters."""

    value: float
    n: int
    raters: int
    reason: str = ""


def alpha(ratings: ArrayLike, level: Literal["ordinal", "interval"] = "ordinal") -> Alpha:
    """Krippendorff's alpha of a matrix [items, raters] with NaN where a rater did not rate.

    Alpha is 1 - D_o / D_e: D_o is the mean over ratings of their item's variance, D_e the variance
    of all ratings, of values (interval) or of average ranks (ordinal, as in pauli2025).

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E.
    """
    matrix = np.asarray(ratings, dtype=float)
    if level not in ("ordinal", "interval"):
        raise ValueError(f"unknown level {level!r}; known: ordinal, interval")
    rated = np.isfinite(matrix)
    paired = rated.sum(axis=1) >= 2
    n, raters = int(paired.sum()), int(rated[paired].any(axis=0).sum())
    if raters < 2:
        return Alpha(math.nan, n, raters, "no item has ratings from two raters")
    rated = rated[paired]
    values = matrix[paired][rated]
    if np.ptp(values) == 0:
        return Alpha(math.nan, n, raters, "all ratings are equal")
    scale = rankdata(values) if level == "ordinal" else values
    items = np.full(rated.shape, math.nan)
    items[rated] = scale
    within = np.average(np.nanvar(items, axis=1, ddof=1), weights=rated.sum(axis=1))
    return Alpha(float(1.0 - within / np.var(scale, ddof=1)), n, raters)
