"""A correlation of two vectors, and Williams' test of two of them."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .kernels import Array


class Correlation(NamedTuple):
    """A correlation in [-1, 1], its two-sided p-value and the number of pairs."""

    value: float
    p: float
    n: int
    reason: str = ""


def complete(human: ArrayLike, metric: ArrayLike) -> tuple[Array, Array]:
    """The pairs of two vectors in which both values are finite."""
    x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"two vectors of one length are needed, got {x.shape} and {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    return x[both], y[both]


def above_zero(p: float, items: int) -> float:
    """A p-value that a formula puts at 0, as the smallest that n items can give: 2 / n!."""
    if p > 0 or math.isnan(p):
        return p
    return max(math.exp(math.log(2.0) - math.lgamma(items + 1.0)), np.finfo(float).tiny)


class Williams(NamedTuple):
    """First correlation less the second, t of Williams, two-sided p, n - 3 as ``df``."""

    difference: float
    statistic: float
    p: float
    df: float
    reason: str = ""


def williams(first: float, second: float, between: float, n: int) -> Williams:
    """Williams' t for two correlations that share a variable, as metrics share people.

    To show beside the permutation test, not instead of it: it takes items for independent draws
    from a trivariate normal distribution, so its p is too small where sources differ.

    Args:
        first, second: correlations of people with either metric, over the same ``n`` items.
        between: correlation of the two metrics.

    Source: Williams (1959), Regression Analysis, Section 5.4, as in Steiger (1980), Equation 7.
    """
    df, rounding, reason, below, above = float(n - 3), 1e-9, "", 0.0, 0.0
    if any(math.isnan(r) for r in (first, second, between)):
        reason = "a correlation has no value"
    elif n < 4:
        reason, df = "fewer than four items", math.nan
    else:
        determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
        mean = (first + second) / 2
        below = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
        above = (n - 1) * (1 + between)
        if below <= rounding**2 or above <= rounding:
            reason = "the two metrics are one but for scale or sign"
    if reason:
        return Williams(first - second, math.nan, math.nan, df, reason)
    t = (first - second) * math.sqrt(above / below)
    return Williams(first - second, t, above_zero(float(2 * stats.t.sf(abs(t), df)), n), df)
