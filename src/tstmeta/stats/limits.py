"""Limits of a value from its draws: the percentile bootstrap, widened for few units.

Limits are quantiles of the draws, at t(n - 1) sqrt(n / (n - 1)) instead of z, as a sample drawn
from itself varies too little (Hesterberg 2015, What Teachers Should Know About the Bootstrap, The
American Statistician 69).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array

#: Over fewer units an interval can cover less than it claims.
FEW_UNITS = 8
#: A larger share of undefined draws is reported.
SMALL_SHARE = 0.01
#: Draws closer than this to the estimate equal it.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Limits of a value, NaN where there are none; ``reason`` says why there are none, or why they
    may cover less than they claim.
    """

    low: float
    high: float
    reason: str = ""


def percentile_intervals(
    values: ArrayLike,
    estimates: ArrayLike,
    *,
    units: int,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> list[Interval]:
    """Percentile intervals from draws at hand ``[M, D]``, and their estimates ``[M]``.

    Args:
        units: how many units were drawn.
        bounds: ends of the scale, which stand for undefined draws.
    """
    drawn, centres = np.asarray(values, dtype=float), np.asarray(estimates, dtype=float)
    return [
        interval(row, float(centre), [], {"units": units}, confidence=confidence, bounds=bounds)
        for row, centre in zip(drawn, centres, strict=True)
    ]


def interval(
    values: Array,
    estimate: float,
    jackknives: Sequence[Array],
    counts: Mapping[str, int],
    *,
    confidence: float = 0.95,
    widened: bool = True,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """The limits of one value from draws ``[D]``, and values with one unit left out, ``[U]`` for
    each independent sample of units.  Of the kinds of units the one with the fewest rules.

    An undefined draw counts on both sides; a limit that falls among them is the end of the scale.
    """
    ordered = np.sort(values[np.isfinite(values)])
    draws, undefined = len(values), len(values) - len(ordered)
    name, n = min(counts.items(), key=lambda count: count[1])
    if reason := _no_limits(estimate, len(ordered), name, n):
        return Interval(math.nan, math.nan, reason)
    share = 0.5 * (1.0 + confidence)
    z = float(special.ndtri(share))
    if widened:
        freedom, factor = influence(jackknives, n)
        z = float(special.stdtrit(freedom, share)) * factor
    shares = (float(special.ndtr(-z)), float(special.ndtr(z)))
    # undefined draws lie at the far end of either side
    low = _quantile(np.concatenate([np.full(undefined, bounds[0]), ordered]), shares[0])
    high = _quantile(np.concatenate([ordered, np.full(undefined, bounds[1])]), shares[1])
    reasons = []
    if ordered[-1] - ordered[0] <= _ROUNDING and abs(ordered[0] - estimate) <= _ROUNDING:
        reasons.append("all draws that have a value give the same: they say nothing of its spread")
    elif min(shares[0], 1.0 - shares[1]) < 1.0 / (draws + 1):
        reasons.append(f"a limit lies beyond the outermost of {draws} draws")
    if n < FEW_UNITS:
        reasons.append(f"{n} {name}: over fewer than {FEW_UNITS} it can cover less than it claims")
    if undefined > SMALL_SHARE * draws:
        reasons.append(f"{undefined} of {draws} draws have no value and count on both sides")
    return Interval(low, high, "; ".join(reasons))


def _no_limits(estimate: float, defined: int, name: str, n: int) -> str:
    """Why a value has no limits; empty where it has."""
    if not math.isfinite(estimate):
        return "there is no value"
    if not defined:
        return "no draw has a value"
    if n < 2:
        return f"{n} {name[:-1] if n else name}: there is nothing to draw"
    return ""


def influence(jackknives: Sequence[Array], n: int) -> tuple[float, float]:
    """Degrees of freedom, and the factor by which quantiles are taken further out.

    Squared influences of independent samples are added up; n is Satterthwaite's (1946) number.
    """
    squares = fair = spread = 0.0
    for left_out in jackknives:
        if (units := len(left_out)) < 2:
            continue  # a sample of one unit always is itself
        influence = (units - 1) * (left_out.mean() - left_out)
        plug_in = float((influence**2).sum()) / units**2
        squares += plug_in
        fair += plug_in * units / (units - 1)
        spread += (plug_in * units / (units - 1)) ** 2 / (units - 1)
    if not math.isfinite(squares) or squares <= _ROUNDING**2:
        # units cannot be left out, or make no difference alone
        return n - 1.0, math.sqrt(n / (n - 1.0))
    return fair**2 / spread, math.sqrt(fair / squares)


def _quantile(ordered: Array, share: float) -> float:
    """The value at (D + 1) p of ordered draws, between neighbours on a line."""
    place = min(max(share * (len(ordered) + 1) - 1.0, 0.0), len(ordered) - 1.0)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return float(ordered[before] + (place - before) * (ordered[after] - ordered[before]))
