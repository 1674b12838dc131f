"""Agreement between raters: Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from .kernels import tamed


class Alpha(NamedTuple):
    """Krippendorff's alpha (1 = perfect, 0 = chance), items with two or more ratings, raters."""

    value: float
    n: int
    raters: int
    reason: str = ""


def alpha(
    ratings: ArrayLike, level: Literal["nominal", "ordinal", "interval"] = "ordinal"
) -> Alpha:
    """Krippendorff's alpha of a matrix [items, raters] with NaN where a rater did not rate.

    Alpha is 1 - D_o / D_e, the disagreement within items over that between all ratings.  With
    squared distances both are variances: D_o is the mean over ratings of their item's variance, D_e
    the variance of all ratings.  The ordinal distance is the squared distance of average ranks, the
    nominal one that of indicators.  So nothing grows with the square of the number of values, as
    the usual matrix of coincidences does.

    Args:
        ratings: shape [items, raters].
        level: level of measurement; the pauli2025 paper's values are ``ordinal``.

    Raises:
        ValueError: ratings that are no matrix, or another level.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E.
    """
    matrix = np.asarray(ratings, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"a matrix [items, raters] is needed, got shape {matrix.shape}")
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f"unknown level {level!r}; known: nominal, ordinal, interval")
    given = np.isfinite(matrix)
    matrix = tamed(matrix)
    paired = given.sum(axis=1) >= 2
    n, raters = int(paired.sum()), int(given[paired].any(axis=0).sum())
    if raters < 2 or n == 0:
        return Alpha(math.nan, n, raters, "no item has ratings from two raters")
    given = given[paired]
    values = matrix[paired][given]
    known = np.unique(values)
    if len(known) == 1:
        return Alpha(math.nan, n, raters, "all ratings are equal")
    if level == "nominal":
        scales = [(values == one).astype(float) for one in known]
    else:
        scales = [rankdata(values) if level == "ordinal" else values]
    within = sum(_within(scale, given) for scale in scales)
    between = sum(float(np.var(scale, ddof=1)) for scale in scales)
    return Alpha(1.0 - within / between, n, raters)


def _within(values: np.ndarray, given: np.ndarray) -> float:
    """Mean over ratings of the variance of the ratings of the same item."""
    items = np.full(given.shape, math.nan)
    items[given] = values
    return float(np.average(np.nanvar(items, axis=1, ddof=1), weights=given.sum(axis=1)))
