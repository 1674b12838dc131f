"""What people reach: how well one rater's ratings follow the other raters', beside the metrics.

A metric cannot be asked to agree with people better than people agree, so a correlation means
little until people's own stands next to it.  For that to be a fair race, the rater who is held out
and the metric face the same thing, the mean of the remaining raters, over the same cells.  What is
measured is one rater's agreement, not the highest value that can be reached: the mean of many
raters has less noise than one of them, and a metric may come out above a single person.

Ratings are a cube ``[S sources, K systems, R raters]`` with NaN where a rater did not rate.  A
layer may be a person or an anonymous place ("first rating", "second rating") that several persons
filled; the numbers are computed alike, and the caller says which it was.  Where only means of
ratings were released there is no cube, and nothing here can be identified.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, tamed
from .matrices import Setting, estimate, resampled, snapped
from .resampling import Draws

NO_SINGLE = "not identifiable: no single ratings"
NO_PAIR = "no cell has ratings from two raters"


class Ceiling(NamedTuple):
    """Held-out raters and metrics against the same remaining raters.

    Attributes:
        value: agreement of a held-out rater with the mean of the others, averaged over raters with
            a value; a rater counts by the number of cells compared.
        by_rater: the same for each rater ``[R]``, NaN where there is no value.
        metrics: each metric in the place of the held-out rater ``[M]``, averaged alike.
        by_rater_metrics: ``[M, R]``.
        n: held-out ratings behind ``value``.
        cells: held-out ratings of each rater ``[R]``, the weights of the average.
        reason: why there is no value; empty if there is one.
    """

    value: float
    by_rater: Array
    metrics: Array
    by_rater_metrics: Array
    n: int
    cells: Array
    reason: str = ""


def ceiling(cube: ArrayLike, setting: Setting, metrics: ArrayLike | None = None) -> Ceiling:
    """Leave one rater out: that rater and each metric against the mean of the remaining raters.

    Compared are the cells that the held-out rater rated, that others rated too and that every
    metric scored (a metric without any score counts as absent and gets NaN).  Groups of cells that
    the held-out rater did not touch (sources, systems, tasks) do not exist for the comparison, so
    ``setting.undefined`` stands for groups without a value, not for groups without ratings.

    The average over raters weighs each by its cells: a rater of fifty items says less than one of
    five hundred.  Metrics are averaged over the same raters with the same weights.

    Args:
        cube: ratings ``[S, K, R]``.
        metrics: scores ``[M, S, K]``.

    Raises:
        ValueError: shapes that do not fit, or an unknown level or statistic.

    Source: one rater against the mean of the others as in Pavlick and Tetreault (2016), each rater
    in turn and with the metrics beside.
    """
    ratings, scores = _cube(cube), _scores(metrics, cube)
    raters = ratings.shape[-1]
    scored = np.isfinite(scores)
    known = scored.any(axis=(1, 2))
    usable = scored[known].all(axis=0)
    found = np.full((1 + len(scores), raters), np.nan)
    cells = np.zeros(raters, dtype=int)
    for rater in range(raters):
        own, rest = ratings[..., rater], mean_of_ratings(np.delete(ratings, rater, axis=-1))
        shared = np.isfinite(own) & np.isfinite(rest) & usable
        cells[rater] = shared.sum()
        if cells[rater]:
            sides = np.concatenate([own[None], scores])
            found[:, rater] = _inside(shared, rest, sides, setting)
    value, n = _average(found[0], cells)
    counted = np.where(np.isfinite(found[0]), cells, 0)
    averages = [_average(row, counted)[0] for row in found[1:]]
    reason = "" if math.isfinite(value) else _reason(ratings, cells, "no rater has a value")
    return Ceiling(value, found[0], np.array(averages), found[1:], n, cells, reason)


def mean_of_ratings(cube: ArrayLike) -> Array:
    """Means over the raters ``[S, K]``, NaN where nobody rated.

    Ratings are added in order of size and means kept to 40 binary digits, so that the order of the
    raters changes nothing and equal means tie.
    """
    ratings = np.sort(np.asarray(cube, dtype=float), axis=-1)
    given = np.isfinite(ratings)
    count = given.sum(axis=-1)
    total = np.where(given, ratings, 0.0).sum(axis=-1)
    return np.where(count > 0, snapped(total / np.maximum(count, 1)), np.nan)


def _inside(shared: Array, human: Array, sides: Array, setting: Setting) -> Array:
    """Values of ``sides`` ``[N, S, K]`` over the shared cells, in the rows and columns they touch.

    Untouched rows and columns leave: at grouped levels they would count as groups.
    """
    rows, columns = (np.flatnonzero(shared.any(axis=axis)) for axis in (1, 0))
    if setting.tasks is not None and np.shape(setting.tasks) == (len(shared),):
        setting = setting._replace(tasks=np.asarray(setting.tasks)[rows])
    people = np.where(shared, human, np.nan)
    return estimate(people[rows][:, columns], sides[:, rows][:, :, columns], setting)


def _average(values: Array, weights: Array) -> tuple[float, int]:
    """Weighted mean of the values there are, and the sum of their weights."""
    given = np.isfinite(values) & (weights > 0)
    if not given.any():
        return math.nan, 0
    return float(np.average(values[given], weights=weights[given])), int(weights[given].sum())


def _reason(ratings: Array, cells: Array, otherwise: str) -> str:
    given = np.isfinite(ratings).sum(axis=-1)
    if not given.any():
        return NO_SINGLE
    if not (given > 1).any():
        return NO_PAIR
    return otherwise if cells.any() else "no cell with two ratings has scores"


# ---------------------------------------------------------------------------------- halves


class SplitHalf(NamedTuple):
    """Agreement of random halves of each cell's ratings.

    Attributes:
        value: mean over the splits.
        spread: standard deviation over the splits.
        values: one a split ``[n]``, NaN where there is none.
        n: cells with at least two ratings.
        reason: why there is no value.
    """

    value: float
    spread: float
    values: Array
    n: int
    reason: str = ""


def split_half(
    cube: ArrayLike, setting: Setting, *, n: int = 100, rng: np.random.Generator
) -> SplitHalf:
    """Mean of one random half of each cell's ratings against the mean of the other half.

    Of an odd number of ratings either half gets the larger part, by chance.  Raters are shuffled in
    each cell anew, so persons and anonymous places serve alike.  The value is the agreement of
    means of HALF the ratings; :func:`spearman_brown` with ``k=2`` leads from there to all of them
    (Pearson only; a little too low for an odd number of ratings, whose halves are unequal).

    Args:
        cube: ratings ``[S, K, R]``.
        n: number of splits.
    """
    ratings = _cube(cube)
    paired = np.isfinite(ratings).sum(axis=-1) >= 2
    cells = int(paired.sum())
    if not cells or n < 1:
        reason = "no split was asked for" if cells else _reason(ratings, np.zeros(1), "")
        return SplitHalf(math.nan, math.nan, np.full(max(n, 0), math.nan), cells, reason)
    halves = np.full((2, n, *paired.shape), np.nan)
    for split in range(n):
        for half, side in enumerate(_halves(ratings[paired], rng)):
            halves[half, split][paired] = side
    ones = Draws(np.ones((n, len(ratings))), np.ones((n, ratings.shape[1])))
    values = resampled(halves[0], halves[1][None], setting, ones)[0]
    given = values[np.isfinite(values)]
    if not len(given):
        return SplitHalf(math.nan, math.nan, values, cells, "no split has a value")
    spread = float(np.std(given, ddof=1)) if len(given) > 1 else math.nan
    return SplitHalf(float(given.mean()), spread, values, cells)


def _halves(ratings: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Means of two random halves of the ratings ``[n, R]`` of each row, each ``[n]``."""
    given = np.isfinite(ratings)
    places = np.where(given, rng.random(ratings.shape), np.inf).argsort(axis=1).argsort(axis=1)
    count = given.sum(axis=1)
    size = (count + rng.integers(0, 2, len(count))) // 2
    first = places < size[:, None]
    sides = (np.where(first & given, ratings, np.nan), np.where(first, np.nan, ratings))
    return mean_of_ratings(sides[0]), mean_of_ratings(sides[1])


# ------------------------------------------------------------------------------ reliability


class Corrected(NamedTuple):
    """A corrected value beside the raw one; ``reason`` says why there is none, or warns."""

    value: float
    raw: float
    reason: str = ""


def spearman_brown(r: float, k: float) -> Corrected:
    """Reliability of the mean of k times as many raters: k r / (1 + (k - 1) r).

    For Pearson's r (and intraclass correlations) alone: the formula adds up variances of true
    values and errors, and ranks or orders of pairs have no such sum.  Kendall's tau of a mean of
    k raters cannot be had from tau of one.

    Args:
        r: reliability in [0, 1]; a negative one has no correction.
        k: factor of the number of raters, above 0; below 1 for fewer raters.

    Raises:
        ValueError: k is not above 0.

    Source: Spearman (1910) and Brown (1910).
    """
    if not k > 0:
        raise ValueError(f"the number of raters must grow by a factor above 0, got {k}")
    if not math.isfinite(r):
        return Corrected(math.nan, r, "no reliability to start from")
    if r < 0:
        return Corrected(math.nan, r, "a negative reliability cannot be stepped up")
    return Corrected(k * r / (1.0 + (k - 1.0) * r), r, _beyond(r, "the reliability"))


def attenuation(r: float, reliability: float) -> Corrected:
    """Pearson's r with ratings free of noise: r / sqrt(reliability of the ratings).

    A metric's scores have no noise of their own (the same text gets the same score), so only the
    ratings are corrected for.  For Pearson alone, as noise adds to variances and not to orders of
    pairs: for Kendall or Spearman the factor would depend on the shape of the distributions.
    The correction takes errors of different items for unrelated; raters who share habits break
    that.  Report it beside the raw value, never instead.

    Args:
        r: correlation of the metric with mean ratings.
        reliability: of these mean ratings, above 0; see :func:`single_rater`.

    Source: Spearman (1904).
    """
    if not math.isfinite(r):
        return Corrected(math.nan, r, "no correlation to correct")
    if not math.isfinite(reliability):
        return Corrected(math.nan, r, "no reliability to correct by")
    if reliability <= 0:
        return Corrected(math.nan, r, "a reliability of 0 or below cannot correct anything")
    value = r / math.sqrt(reliability)
    return Corrected(value, r, _beyond(value, "the corrected value"))


def _beyond(value: float, what: str) -> str:
    return f"{what} is beyond 1: estimates err, or assumptions fail" if abs(value) > 1 else ""


class SingleRater(NamedTuple):
    """Reliability of one rating, and of the mean of all ratings of a cell.

    Attributes:
        value: of one rating, the share of variance that is the item's.
        of_mean: of the mean of ``per_cell`` ratings, by :func:`spearman_brown`.
        per_cell: harmonic mean of the ratings a cell has.
        n: cells with at least two ratings.
        reason: why there is no value.
    """

    value: float
    of_mean: float
    per_cell: float
    n: int
    reason: str = ""


def single_rater(cube: ArrayLike) -> SingleRater:
    """Intraclass correlation of single ratings, one-way: raters may differ from cell to cell.

    (MSB - MSW) / (MSB + (k - 1) MSW) with mean squares between and within cells, where k is the
    mean number of ratings a cell less its variance over n times its mean.  A rater's habit (always
    lower) counts as noise, as it does in means over changing raters.  May be negative; there is no
    reliability of the mean then.

    Source: Shrout and Fleiss (1979), case 1; for unequal numbers Donner (1986).
    """
    ratings = _cube(cube)
    given = np.isfinite(ratings)
    paired = given.sum(axis=-1) >= 2
    n = int(paired.sum())
    if not n:
        return SingleRater(math.nan, math.nan, math.nan, n, _reason(ratings, np.zeros(1), ""))
    values, inside = tamed(ratings[paired]), given[paired]
    count = inside.sum(axis=1)
    per_cell = float(1.0 / np.mean(1.0 / count))
    if n < 2:
        return SingleRater(math.nan, math.nan, per_cell, n, "one cell alone has two ratings")
    total = count.sum()
    grand = values[inside].mean()
    means = mean_of_ratings(values)
    between = float((count * (means - grand) ** 2).sum() / (n - 1))
    within = float((np.where(inside, values - means[:, None], 0.0) ** 2).sum() / (total - n))
    size = float((total - (count**2).sum() / total) / (n - 1))
    if np.ptp(values[inside]) <= 0:
        return SingleRater(math.nan, math.nan, per_cell, n, "all ratings are equal")
    value = (between - within) / (between + (size - 1.0) * within)
    stepped = spearman_brown(value, per_cell)
    return SingleRater(value, stepped.value, per_cell, n, stepped.reason)


# ---------------------------------------------------------------------------------- shapes


def _cube(cube: ArrayLike) -> Array:
    """Ratings as floats, NaN where missing."""
    ratings = np.asarray(cube, dtype=float)
    if ratings.ndim != 3:
        raise ValueError(f"ratings [sources, systems, raters] are needed, got {ratings.shape}")
    return np.where(np.isfinite(ratings), ratings, np.nan)


def _scores(metrics: ArrayLike | None, cube: ArrayLike) -> Array:
    """Scores ``[M, S, K]`` that fit the cube; no metrics at all are ``[0, S, K]``."""
    shape = np.shape(cube)[:2]
    if metrics is None:
        return np.empty((0, *shape))
    scores = np.asarray(metrics, dtype=float)
    if scores.ndim != 3 or scores.shape[1:] != shape:
        raise ValueError(f"metrics {('metrics', *shape)} are needed, got {scores.shape}")
    return np.where(np.isfinite(scores), scores, np.nan)
