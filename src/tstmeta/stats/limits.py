"""Limits of one value from its draws: percentile and BCa, widened for small samples.

Methods
-------
``percentile``
    The limits are quantiles of the draws.  A sample of n units drawn from itself varies too little,
    by (n - 1) / n, and a normal quantile forgets that the spread is estimated.  So the quantiles
    are taken further out, at t(n - 1) sqrt(n / (n - 1)) instead of z: the expanded percentiles of
    Hesterberg (2015), What Teachers Should Know About the Bootstrap, The American Statistician 69.
``bca``
    Bias-corrected and accelerated (Efron 1987, Better Bootstrap Confidence Intervals, JASA 82; as
    in Efron and Tibshirani 1993, equations 14.9 to 14.15): the quantiles are moved by the share of
    draws below the estimate and by the skewness of the jackknife.  Of the widening only
    sqrt(n / (n - 1)) is added: over few units the tails of BCa are long already.

Several independent samples (sources and systems, or strata): squares and cubes of the units'
influence are added up, each over its own number of units, as scipy does it for several samples;
n is then Satterthwaite's (1946) number.

Undefined draws (all drawn ratings equal, say) are never left out.  Each counts on both sides, as if
it were below all others for the lower limit and above all others for the upper one; a limit that
falls among them is the end of the scale.  Beyond one in a hundred the result says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array

Method = Literal["auto", "percentile", "bca"]
#: How far out quantiles are taken: t and narrowness, narrowness alone, not at all.
Widening = Literal["t", "narrow", "none"]
#: Below this number of units no interval can be relied on to cover what it claims.
FEW_UNITS = 8
#: A larger share of undefined draws is told.
SMALL_SHARE = 0.01
#: Draws closer than this to the estimate equal it.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Limits of a value, how they were made, and what speaks against them.

    Attributes:
        low, high: the limits; NaN where there are none.
        method: ``percentile`` or ``bca``, whichever was used.
        draws: number of draws, undefined ones included.
        undefined: draws without a value; each counts on both sides.
        reason: why there are no limits, or why they may cover less than they claim.
    """

    low: float
    high: float
    method: str
    draws: int
    undefined: int
    reason: str = ""


class Terms(NamedTuple):
    """What an interval is asked to be.

    Attributes:
        confidence: share of intervals that are to hold the true value, inside (0, 1).
        method: ``percentile`` or ``bca``; ``auto`` is the percentile.
        widening: how far out the quantiles are taken.
        bounds: ends of the scale, which stand for undefined draws.
    """

    confidence: float = 0.95
    method: Method = "auto"
    widening: Widening = "t"
    bounds: tuple[float, float] = (-1.0, 1.0)

    def checked(self) -> Terms:
        """The same, ``auto`` resolved.

        Raises:
            ValueError: a confidence outside (0, 1), an unknown method.
        """
        if not 0.0 < self.confidence < 1.0:
            raise ValueError(f"confidence must lie between 0 and 1, not {self.confidence}")
        if self.method not in ("auto", "percentile", "bca"):
            raise ValueError(f"unknown method {self.method!r}; known: auto, percentile, bca")
        return self._replace(method="percentile") if self.method == "auto" else self


class _Influence(NamedTuple):
    """What the jackknife tells: skewness of the units' influence, and how much n is worth."""

    acceleration: float  # NaN where a unit cannot be left out
    freedom: float
    narrowness: float


def of_values(
    values: ArrayLike,
    estimates: ArrayLike,
    jackknives: Sequence[ArrayLike] | None = None,
    *,
    confidence: float = 0.95,
    method: Method = "auto",
    units: int | None = None,
    widening: Widening = "t",
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> list[Interval]:
    """Intervals from draws at hand, whatever they are draws of; ``auto`` is the percentile.

    Args:
        values: ``[M, D]``, NaN where a draw has no value.
        estimates: ``[M]``.
        jackknives: values with one unit left out, ``[M, U]`` for each independent sample of units;
            BCa needs them.
        units: how many units there are, where no jackknife tells; without either nothing is
            widened.
        widening: how far out quantiles are taken.
        bounds: ends of the scale, which stand for undefined draws.

    Raises:
        ValueError: shapes that do not fit, BCa without jackknives, an unknown method.
    """
    drawn, found = np.asarray(values, dtype=float), np.asarray(estimates, dtype=float)
    left_out = [np.asarray(one, dtype=float) for one in jackknives or ()]
    if drawn.ndim != 2 or found.shape != drawn.shape[:1]:
        raise ValueError(f"values [M, D] and estimates [M] expected: {drawn.shape}, {found.shape}")
    if any(one.ndim != 2 or len(one) != len(found) for one in left_out):
        raise ValueError("each jackknife must be [M, U], one row a metric")
    counts = {} if units is None else {"units": units}
    if left_out:
        counts = {"units": sum(max(one.shape[1] - 1, 0) for one in left_out) + 1}
    terms = Terms(confidence, method, widening, bounds)
    return [
        interval(drawn[m], float(found[m]), [one[m] for one in left_out], counts, terms)
        for m in range(len(found))
    ]


def interval(
    values: Array,
    estimate: float,
    jackknives: Sequence[Array],
    counts: Mapping[str, int],
    terms: Terms,
) -> Interval:
    """The limits of one value.

    Args:
        values: ``[D]``.
        jackknives: ``[U]`` for each independent sample of units; empty where there is none.
        counts: units by kind (``systems``: 8); the fewest rule.

    Raises:
        ValueError: BCa without a jackknife; see also :meth:`Terms.checked`.
    """
    terms = terms.checked()
    if terms.method == "bca" and not jackknives:
        raise ValueError("BCa needs the jackknife: the values with one unit left out")
    ordered = np.sort(values[np.isfinite(values)])
    draws, undefined = len(values), len(values) - len(ordered)
    name, n = min(counts.items(), key=lambda one: one[1], default=("units", None))
    nothing = ""
    if not math.isfinite(estimate):
        nothing = "there is no value"
    elif len(ordered) == 0:
        nothing = "no draw has a value" if draws else "no draws"
    elif n is not None and n < 2:
        nothing = f"{n} {name[:-1] if n else name}: there is nothing to draw"
    if nothing:
        return Interval(math.nan, math.nan, str(terms.method), draws, undefined, nothing)
    found = _influence(jackknives, n)
    method, reasons = terms.method, []
    if method == "bca" and not math.isfinite(found.acceleration):
        method = "percentile"
        reasons.append("percentile instead of BCa: with one unit left out there is no value")
    shares = _shares(ordered, estimate, found, terms._replace(method=method))
    low, high = _limits(ordered, undefined, shares, terms.bounds)
    reasons += _doubts(ordered, estimate, draws, shares)
    if n is not None and n < FEW_UNITS:
        reasons.append(f"{n} {name}: over fewer than {FEW_UNITS} it can cover less than it claims")
    if undefined > SMALL_SHARE * draws:
        reasons.append(f"{undefined} of {draws} draws have no value and count on both sides")
    return Interval(low, high, method, draws, undefined, "; ".join(reasons))


def _influence(jackknives: Sequence[Array], n: int | None) -> _Influence:
    """Acceleration, degrees of freedom and narrowness from the influence of units.

    The influence of unit i of a sample of n is (n - 1) (mean of the jackknife - its value without
    i); the plug-in variance of an estimate is the sum of squares over n^2 of each sample.
    """
    squares = cubes = fair = spread = 0.0
    for left_out in jackknives:
        if (units := len(left_out)) < 2:
            continue  # a sample of one unit always is itself
        influence = (units - 1) * (left_out.mean() - left_out)
        plug_in = float((influence**2).sum()) / units**2
        squares += plug_in
        cubes += float((influence**3).sum()) / units**3
        fair += plug_in * units / (units - 1)
        spread += (plug_in * units / (units - 1)) ** 2 / (units - 1)
    if not math.isfinite(squares) or squares <= _ROUNDING**2:
        # units cannot be left out, or make no difference alone
        acceleration = 0.0 if math.isfinite(squares) else math.nan
        if n is None:
            return _Influence(acceleration, math.inf, 1.0)
        return _Influence(acceleration, n - 1.0, math.sqrt(n / (n - 1.0)))
    return _Influence(cubes / (6.0 * squares**1.5), fair**2 / spread, math.sqrt(fair / squares))


def _shares(
    ordered: Array, estimate: float, found: _Influence, terms: Terms
) -> tuple[float, float]:
    """The shares of draws that are to lie below the lower and below the upper limit."""
    tail = 0.5 * (1.0 + terms.confidence)
    z = float(special.ndtri(tail))
    if terms.widening != "none":
        t = terms.widening == "t" and terms.method == "percentile"
        if t and math.isfinite(found.freedom):
            z = float(special.stdtrit(found.freedom, tail))
        z *= found.narrowness
    if terms.method == "percentile":
        return float(special.ndtr(-z)), float(special.ndtr(z))
    equal = int((np.abs(ordered - estimate) <= _ROUNDING).sum())
    below = int((ordered < estimate - _ROUNDING).sum())
    # half of the equal draws lie below; the halves at the ends keep the bias finite
    bias = float(special.ndtri((below + 0.5 * equal + 0.5) / (len(ordered) + 1)))
    return _moved(bias, -z, found.acceleration), _moved(bias, z, found.acceleration)


def _moved(bias: float, z: float, acceleration: float) -> float:
    """Where BCa takes the quantile z from (Efron and Tibshirani 1993, equation 14.10)."""
    below = 1.0 - acceleration * (bias + z)
    if below <= 0:  # the transformation turns back there: take the end
        return float(z > 0)
    return float(special.ndtr(bias + (bias + z) / below))


def _limits(
    ordered: Array, undefined: int, shares: tuple[float, float], bounds: tuple[float, float]
) -> tuple[float, float]:
    """Quantiles at (D + 1) p, with undefined draws at the far end of either side."""
    lowest = np.concatenate([np.full(undefined, bounds[0]), ordered])
    highest = np.concatenate([ordered, np.full(undefined, bounds[1])])
    found = []
    for side, share in zip((lowest, highest), shares, strict=True):
        place = min(max(share * (len(side) + 1) - 1.0, 0.0), len(side) - 1.0)
        before = int(place)
        after = min(before + 1, len(side) - 1)
        found.append(float(side[before] + (place - before) * (side[after] - side[before])))
    return found[0], found[1]


def _doubts(ordered: Array, estimate: float, draws: int, shares: tuple[float, float]) -> list[str]:
    """What the draws cannot tell."""
    if ordered[-1] - ordered[0] <= _ROUNDING and abs(ordered[0] - estimate) <= _ROUNDING:
        return ["all draws that have a value give the same: they say nothing of its spread"]
    outermost = 1.0 / (draws + 1)
    if shares[0] < outermost or shares[1] > 1.0 - outermost:
        return [f"a limit lies beyond the outermost of {draws} draws"]
    return []
