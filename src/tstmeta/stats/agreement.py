"""Agreement between raters: Krippendorff's alpha."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import krippendorff
import numpy as np
from numpy.typing import ArrayLike


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

    Args:
        ratings: shape [items, raters].
        level: level of measurement; the pauli2025 paper's values are ``ordinal``.

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E.
    """
    matrix = np.asarray(ratings, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"a matrix [items, raters] is needed, got shape {matrix.shape}")
    given = np.isfinite(matrix)
    paired = given.sum(axis=1) >= 2
    n, raters = int(paired.sum()), int(given[paired].any(axis=0).sum())
    if raters < 2 or n == 0:
        return Alpha(math.nan, n, raters, "no item has ratings from two raters")
    values = matrix[paired]
    if len(np.unique(values[given[paired]])) == 1:
        return Alpha(math.nan, n, raters, "all ratings are equal")
    result = krippendorff.alpha(reliability_data=values.T, level_of_measurement=level)
    return Alpha(float(result), n, raters)
