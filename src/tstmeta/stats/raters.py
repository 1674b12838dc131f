"""What people reach: how well one rater's ratings follow the other raters', beside the metrics.

One rater's agreement is not the highest value that can be reached: the mean of many raters has less
noise, and a metric may come out above a single person.  Ratings are a cube ``[S sources, K systems,
R raters]``, NaN where a rater did not rate; a layer is a person or an anonymous place.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from .kernels import Array, finite, snapped
from .matrices import Setting, estimate


class Ceiling(NamedTuple):
    """Held-out raters, and metrics in their place, against the mean of the remaining raters.

    ``value`` is the mean of ``by_rater`` ``[R]``, weighted by the cells compared; ``metrics``
    ``[M]`` are averaged alike; ``n`` held-out ratings stand behind it.
    """

    value: float
    by_rater: Array
    metrics: Array
    n: int
    reason: str = ""


def ceiling(cube: ArrayLike, setting: Setting, metrics: ArrayLike | None = None) -> Ceiling:
    """Leave one rater out: that rater and each metric against the mean of the remaining raters.

    Compared are the cells that the held-out rater rated, that others rated too and that every
    metric ``[M, S, K]`` scored (one without any score gets NaN).  Groups of cells that the held-out
    rater did not touch (sources, systems, tasks) do not exist for the comparison.

    Source: one rater against the mean of the others as in Pavlick and Tetreault (2016), each rater
    in turn and with the metrics beside.
    """
    ratings = finite(cube)
    scores = np.empty((0, *ratings.shape[:2])) if metrics is None else finite(metrics)
    if ratings.ndim != 3 or scores.shape[1:] != ratings.shape[:2]:
        raise ValueError(
            "ratings [sources, systems, raters] and metrics [metrics, sources, systems] are needed,"
            f" got {ratings.shape} and {scores.shape}"
        )
    raters = ratings.shape[-1]
    scored = np.isfinite(scores)
    usable = scored[scored.any(axis=(1, 2))].all(axis=0)
    values = np.full((1 + len(scores), raters), np.nan)
    cells = np.zeros(raters, dtype=int)
    for rater in range(raters):
        own, rest = ratings[..., rater], mean_of_ratings(np.delete(ratings, rater, axis=-1))
        shared = np.isfinite(own) & np.isfinite(rest) & usable
        cells[rater] = shared.sum()
        if cells[rater]:
            sides = np.concatenate([own[None], scores])
            values[:, rater] = _inside(shared, rest, sides, setting)
    counted = np.where(np.isfinite(values[0]), cells, 0)
    value, *averages = (_average(row, counted) for row in values)
    reason = "" if math.isfinite(value) else no_pair(ratings)
    if not math.isfinite(value) and not reason:
        reason = "no rater has a value" if cells.any() else "no cell with two ratings has scores"
    return Ceiling(value, values[0], np.array(averages), int(counted.sum()), reason)


def mean_of_ratings(cube: ArrayLike) -> Array:
    """Means over the raters ``[S, K]``, NaN where nobody rated; their order changes no last bit."""
    ratings = np.sort(np.asarray(cube, dtype=float), axis=-1)
    given = np.isfinite(ratings)
    count = given.sum(axis=-1)
    total = np.where(given, ratings, 0.0).sum(axis=-1)
    return np.where(count > 0, snapped(total / np.maximum(count, 1)), np.nan)


def _inside(shared: Array, human: Array, sides: Array, setting: Setting) -> Array:
    """Values of ``sides`` ``[N, S, K]`` in the rows and columns that shared cells touch."""
    rows, columns = (np.flatnonzero(shared.any(axis=axis)) for axis in (1, 0))
    if setting.tasks is not None:
        setting = setting._replace(tasks=np.asarray(setting.tasks)[rows])
    people = np.where(shared, human, np.nan)
    return estimate(people[rows][:, columns], sides[:, rows][:, :, columns], setting)


def _average(values: Array, weights: Array) -> float:
    given = np.isfinite(values) & (weights > 0)
    return float(np.average(values[given], weights=weights[given])) if given.any() else math.nan


def no_pair(ratings: Array) -> str:
    """Why raters cannot be compared; empty where they can."""
    given = np.isfinite(ratings).sum(axis=-1)
    if not given.any():
        return "not identifiable: no single ratings"
    return "" if (given > 1).any() else "no cell has ratings from two raters"


class SingleRater(NamedTuple):
    """Reliability of one rating (``value``, the share of variance that is the item's) and
    ``of_mean`` of ``per_cell`` ratings, the harmonic mean of what a cell has (Spearman 1910, Brown
    1910; NaN where ``value`` is negative), over ``n`` cells with at least two.
    """

    value: float
    of_mean: float
    per_cell: float
    n: int
    reason: str = ""


def single_rater(cube: ArrayLike) -> SingleRater:
    """Intraclass correlation of single ratings, one-way: raters may differ from cell to cell.

    (MSB - MSW) / (MSB + (k - 1) MSW), mean squares between and within cells.  A rater's habit
    (always lower) counts as noise.  May be negative.

    Source: Shrout and Fleiss (1979), case 1; for unequal numbers Donner (1986).
    """
    ratings = finite(cube)
    given = np.isfinite(ratings)
    paired = given.sum(axis=-1) >= 2
    n = int(paired.sum())
    if not n:
        return SingleRater(math.nan, math.nan, math.nan, n, no_pair(ratings))
    values, inside = ratings[paired], given[paired]
    count = inside.sum(axis=1)
    per_cell = float(1.0 / np.mean(1.0 / count))
    if n < 2 or np.ptp(values[inside]) <= 0:
        reason = "one cell alone has two ratings" if n < 2 else "all ratings are equal"
        return SingleRater(math.nan, math.nan, per_cell, n, reason)
    total = count.sum()
    grand = values[inside].mean()
    means = mean_of_ratings(values)
    between = float((count * (means - grand) ** 2).sum() / (n - 1))
    within = float((np.where(inside, values - means[:, None], 0.0) ** 2).sum() / (total - n))
    size = float((total - (count**2).sum() / total) / (n - 1))
    value = (between - within) / (between + (size - 1.0) * within)
    if value < 0:
        reason = "a negative reliability cannot be stepped up"
        return SingleRater(value, math.nan, per_cell, n, reason)
    of_mean = per_cell * value / (1.0 + (per_cell - 1.0) * value)
    return SingleRater(value, of_mean, per_cell, n)


class Alpha(NamedTuple):
    """Krippendorff's alpha (1 = perfect, 0 = chance), and the items and raters behind it."""

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
    given = np.isfinite(matrix)
    paired = given.sum(axis=1) >= 2
    n, raters = int(paired.sum()), int(given[paired].any(axis=0).sum())
    if raters < 2:
        return Alpha(math.nan, n, raters, "no item has ratings from two raters")
    given = given[paired]
    values = matrix[paired][given]
    if np.ptp(values) == 0:
        return Alpha(math.nan, n, raters, "all ratings are equal")
    scale = rankdata(values) if level == "ordinal" else values
    items = np.full(given.shape, math.nan)
    items[given] = scale
    within = np.average(np.nanvar(items, axis=1, ddof=1), weights=given.sum(axis=1))
    return Alpha(float(1.0 - within / np.var(scale, ddof=1)), n, raters)
