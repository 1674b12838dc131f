"""Agreement of raters: the human ceiling, alpha, components of variance.

One rater's agreement is not the highest value that a metric can reach: the mean of many raters has
less noise.  Ratings are a cube ``[S sources, K systems, R raters]``, NaN where a rater did not
rate; a layer is a person or an anonymous place.

A G-study divides the variance of crossed ratings (all raters rated all systems' rewrites of all
sources) among seven components; a D-study predicts the reliability of means over other numbers of
raters and sources.  Sources, systems and raters count as random draws of many (Cronbach, Gleser,
Nanda and Rajaratnam 1972; Shavelson and Webb 1991; Brennan 2001, chapters 3 and 4).
"""

import math
from itertools import chain, combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from .kernels import Array, finite, snapped
from .matrices import Setting, estimate

#: The seven effects: sources are axis 0 of the ratings, systems 1, raters 2.
_EFFECTS = [*chain.from_iterable(combinations(range(3), size) for size in (1, 2, 3))]


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


class VarianceComponents(NamedTuple):
    """Variances of a single rating, in squared points of the scale.

    The residual is the interaction of all three, with what changes from day to day.  An estimate
    below 0 stays (0 in its place would bias means over data sets); its true value is near 0, or the
    model is wrong.
    """

    source: float
    system: float
    rater: float
    source_system: float
    source_rater: float
    system_rater: float
    residual: float


def variance_components(cube: ArrayLike) -> VarianceComponents:
    """Components of ratings ``[S sources, K systems, R raters]``, none missing: mean squares of a
    three-way analysis of variance, set equal to their expectations.

    Raises:
        ValueError: missing ratings, or fewer than two sources, systems or raters.
    """
    ratings = np.asarray(cube, dtype=float)
    if ratings.ndim != 3 or min(ratings.shape) < 2:
        raise ValueError(
            "ratings [sources, systems, raters], two of each or more, are needed,"
            f" got {ratings.shape}"
        )
    if missing := int((~np.isfinite(ratings)).sum()):
        raise ValueError(
            f"{missing} of {ratings.size} ratings are missing: keep the sources, systems and"
            " raters that have all of theirs"
        )
    size = np.array(ratings.shape)
    means = {axes: ratings.mean(axis=_others(axes), keepdims=True) for axes in [(), *_EFFECTS]}
    squares = {}
    for effect in _EFFECTS:
        inside = [axes for axes in means if {*axes} <= {*effect}]
        left = sum((-1) ** (len(effect) - len(axes)) * means[axes] for axes in inside)
        repeats = np.prod(size[[*_others(effect)]])
        squares[effect] = repeats * np.sum(left**2) / np.prod(size[[*effect]] - 1)
    values = {}
    for name, effect in zip(VarianceComponents._fields, _EFFECTS, strict=True):
        around = [wider for wider in squares if {*effect} <= {*wider}]
        total = sum((-1) ** (len(wider) - len(effect)) * squares[wider] for wider in around)
        values[name] = float(total / np.prod(size[[*_others(effect)]]))
    return VarianceComponents(**values)


def _others(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in range(3) if axis not in axes)


class DStudy(NamedTuple):
    """Reliability of means, arrays of the shape to which raters and sources broadcast.

    ``relative`` is the generalizability coefficient (of their order), ``absolute`` the index of
    dependability (of their values), both from 0 to 1: the share of the true variance of the objects
    in its sum with an error variance.
    """

    relative: Array
    absolute: Array


def d_study(
    components: VarianceComponents,
    raters: ArrayLike,
    sources: ArrayLike = 1,
    of: Literal["same-source", "system"] = "same-source",
) -> DStudy:
    """Coefficients of means over so many raters (and sources); negative components count as 0.

    Args:
        components: see :func:`variance_components`.
        raters, sources: numbers from 1 up, arrays that broadcast.
        of: ``same-source``, an output among those of its source; ``system``, a system's mean, over
            all sources and raters.  The relative error is that of raters who rate all objects; if
            objects have different raters, it is the absolute one.

    Raises:
        ValueError: another object, or a number below 1.
    """
    n, m = (np.asarray(count, dtype=float) for count in (raters, sources))
    if not (n >= 1).all() or not (m >= 1).all():
        raise ValueError("numbers of raters and sources are from 1 up")
    v = VarianceComponents(*np.maximum(components, 0.0))
    if of == "same-source":
        true = v.system + v.source_system
        relative = (v.system_rater + v.residual) / n + 0.0 * m
        absolute = relative + (v.rater + v.source_rater) / n
    elif of == "system":
        true = v.system
        relative = v.source_system / m + v.system_rater / n + v.residual / (n * m)
        absolute = relative + v.source / m + v.rater / n + v.source_rater / (n * m)
    else:
        raise ValueError(f"unknown object {of!r}; known: same-source, system")
    with np.errstate(invalid="ignore"):  # nothing varies
        return DStudy(true / (true + relative), true / (true + absolute))
