"""Correlation of a metric with human ratings, with n, p and a reason when there is no value.

Policies, the same for all three statistics: pairs with a NaN on either side are dropped and ``n``
counts what is left; the sign is kept; a constant vector or fewer than three pairs has no
correlation, and the result then carries NaN and the reason; ties count as scipy counts them
(average ranks for Spearman, tau-b for Kendall); no p-value is 0 (:func:`above_zero`).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .kernels import tamed


class Correlation(NamedTuple):
    """A correlation in [-1, 1], its two-sided p-value and the number of pairs."""

    value: float
    p: float
    n: int
    reason: str = ""


def pearson(human: ArrayLike, metric: ArrayLike) -> Correlation:
    """Pearson's r; p from the t distribution, n - 2 degrees of freedom (scipy.stats.pearsonr)."""
    return _correlate(human, metric, stats.pearsonr)


def spearman(human: ArrayLike, metric: ArrayLike) -> Correlation:
    """Spearman's rho on average ranks; p from the t approximation (scipy.stats.spearmanr)."""
    return _correlate(human, metric, stats.spearmanr)


def kendall(human: ArrayLike, metric: ArrayLike) -> Correlation:
    """Kendall's tau-b; p exact for small n without ties, else normal (scipy.stats.kendalltau)."""
    return _correlate(human, metric, stats.kendalltau)


def _correlate(human: ArrayLike, metric: ArrayLike, statistic) -> Correlation:
    x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two vectors of one length are needed, got {x.shape} and {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    x, y = tamed(x[both]), tamed(y[both])
    n = len(x)
    if n < 3:
        return Correlation(math.nan, math.nan, n, "fewer than three pairs")
    for name, vector in (("ratings", x), ("scores", y)):
        if constant(vector):
            return Correlation(math.nan, math.nan, n, f"all {name} are equal")
    result = statistic(x, y)
    return Correlation(float(result.statistic), above_zero(float(result.pvalue), n), n)


def above_zero(p: float, items: int) -> float:
    """A p-value that a formula puts at 0, as the smallest that so many items can give.

    Items on one line have no t, and far out the tail is below any number.  Of n items in any order
    two orders (up and down) are as extreme, so the smallest p is 2 / n!.  Other p-values stay.
    """
    if p > 0 or math.isnan(p):
        return p
    return max(math.exp(math.log(2.0) - math.lgamma(items + 1.0)), np.finfo(float).tiny)


def constant(vector: np.ndarray) -> bool:
    """Equal but for rounding; below this relative spread scipy warns that r means nothing."""
    return bool(np.ptp(vector) <= 2e-13 * np.max(np.abs(vector)))
