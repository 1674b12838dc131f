"""Textbook tests of two correlations, for display beside the permutation test, not instead of it.

Both take items for independent draws and values for normal.  Rewrites of one source are not
independent, so their p is too small where sources differ; a result says so in ``assumption``.
Correlations keep their signs: +.46 and -.52 are far apart, not nearly equal.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy import stats

from .correlation import above_zero

#: How far rounding may push three correlations out of what three variables can have.
_ROUNDING = 1e-9


class ParametricTest(NamedTuple):
    """Two correlations held against each other.

    Attributes:
        difference: first minus second, signs kept.
        statistic: t of Williams, z of Fisher; positive where the first is larger.
        p: two-sided.
        df: degrees of freedom of t; NaN for z.
        assumption: what p takes for granted.
        reason: why there is no p; empty otherwise.
    """

    difference: float
    statistic: float
    p: float
    df: float
    assumption: str
    reason: str = ""


WILLIAMS = (
    "independent items from a trivariate normal distribution; rewrites of one source are not"
    " independent"
)
FISHER = (
    "two independent samples of independent items from bivariate normal distributions; rewrites of"
    " one source are not independent"
)


def williams(first: float, second: float, between: float, n: int) -> ParametricTest:
    """Williams' t for two correlations that share a variable, as metrics share people.

    With r1, r2 the two, r their metrics' own correlation, K the determinant of all three and
    m = (r1 + r2) / 2::

        t = (r1 - r2) sqrt((n - 1)(1 + r) / (2 K (n - 1) / (n - 3) + m^2 (1 - r)^3)),   df = n - 3

    Args:
        first: correlation of people and the first metric.
        second: correlation of people and the second metric, over the same items.
        between: correlation of the two metrics over the same items.
        n: items.

    Raises:
        ValueError: a correlation outside [-1, 1], or three that no three variables can have.

    Source: Williams (1959), Regression Analysis, Section 5.4, as in Steiger (1980), Equation 7.
    """
    _check(first, second, between)
    df = float(n - 3)
    difference = first - second
    if any(math.isnan(r) for r in (first, second, between)):
        return _none(difference, WILLIAMS, "a correlation has no value", df)
    if n < 4:
        return _none(difference, WILLIAMS, "fewer than four items", math.nan)
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    if determinant < -_ROUNDING:
        raise ValueError(
            f"no three variables correlate {first:g}, {second:g} and {between:g} with each other"
        )
    determinant = max(determinant, 0.0)
    mean = (first + second) / 2
    below = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    above = (n - 1) * (1 + between)
    if below <= _ROUNDING**2 or above <= _ROUNDING:
        return _none(difference, WILLIAMS, "the two metrics are one but for scale or sign", df)
    t = difference * math.sqrt(above / below)
    p = above_zero(float(2 * stats.t.sf(abs(t), df)), n)
    return ParametricTest(difference, t, p, df, WILLIAMS)


def fisher(first: float, second: float, n_first: int, n_second: int) -> ParametricTest:
    """Fisher's z for two correlations over different items, such as one metric on two data sets.

    Args:
        n_first, n_second: items behind each.

    Raises:
        ValueError: a correlation outside [-1, 1].

    Source: Fisher (1921), On the "probable error" of a coefficient of correlation.
    """
    _check(first, second)
    difference = first - second
    if math.isnan(difference):
        return _none(difference, FISHER, "a correlation has no value")
    if min(n_first, n_second) < 4:
        return _none(difference, FISHER, "fewer than four items")
    if max(abs(first), abs(second)) == 1:
        return _none(difference, FISHER, "a correlation of 1 or -1 has no finite z")
    error = math.sqrt(1 / (n_first - 3) + 1 / (n_second - 3))
    z = (math.atanh(first) - math.atanh(second)) / error
    p = above_zero(float(2 * stats.norm.sf(abs(z))), n_first + n_second)
    return ParametricTest(difference, z, p, math.nan, FISHER)


def _check(*correlations: float) -> None:
    for one in correlations:
        if abs(one) > 1:  # NaN is not
            raise ValueError(f"a correlation lies between -1 and 1, got {one}")


def _none(difference: float, assumption: str, reason: str, df: float = math.nan) -> ParametricTest:
    return ParametricTest(difference, math.nan, math.nan, df, assumption, reason)
