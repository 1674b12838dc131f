"""Is one metric no worse than another, or as good, up to a margin?  From the draws of both.

That an interval includes 0 does not show a difference to be small.  Here the null hypothesis is
that it is large (two one-sided tests: Schuirmann 1987, Journal of Pharmacokinetics and
Biopharmaceutics 15); p inverts the percentile interval (Efron and Tibshirani 1993, Section 15.4).
"""

import math

import numpy as np
from scipy.special import ndtri, stdtr

from .intervals import Resample, pair_of
from .limits import influence


def noninferior(resample: Resample, first: int, second: int, margin: float) -> float:
    """One-sided p, in (0, 1], of the null hypothesis that the metric in row ``first`` is worse than
    that in row ``second`` by the margin or more.

    (b + 1) / (D + 1) with b of D draws beyond the margin or without a value, with the quantiles of
    t where intervals have them.  NaN where either has no value or there is nothing to draw.

    Args:
        margin: from 0 (superiority) up, in units of the statistic.

    Raises:
        ValueError: another margin.
        IndexError: there is no such row.
    """
    if not 0 <= margin < math.inf:
        raise ValueError(f"a margin is a number from 0 up, not {margin}")
    rows, place, sign = pair_of(resample, first, second)
    n = min((int(count[place]) for count in rows.counts.values()), default=0)
    if n < 2 or not math.isfinite(rows.estimates[place]):
        return math.nan
    drawn = sign * rows.values[place]
    p = ((~(drawn > -margin)).sum() + 1.0) / (len(drawn) + 1.0)
    if resample.widened:
        left_out = [j[place, g[place]] for j, g in zip(rows.jackknives, rows.given, strict=True)]
        _, freedom, narrowness = influence(left_out, n)
        p = stdtr(freedom, ndtri(p) / narrowness)
    return float(p)


def equivalent(resample: Resample, first: int, second: int, margin: float) -> float:
    """p of the null hypothesis that the metrics in two rows differ by the margin or more.

    The larger p of :func:`noninferior` there and back; a margin of 0 can never be shown.
    """
    sides = (first, second), (second, first)
    return float(np.max([noninferior(resample, *rows, margin) for rows in sides]))
