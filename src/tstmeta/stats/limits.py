"""Limits of one value from its draws: percentile and BCa, widened for small samples.

``percentile`` takes quantiles of the draws at t(n - 1) sqrt(n / (n - 1)) instead of z, as a sample
drawn from itself varies too little (Hesterberg 2015, What Teachers Should Know About the Bootstrap,
The American Statistician 69).  ``bca`` is bias-corrected and accelerated (Efron and Tibshirani
1993, equations 14.9 to 14.15), widened by sqrt(n / (n - 1)) alone, its tails being long already.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array

#: ``auto`` is the percentile, which covered what BCa did, or came nearer to its claim.
Method = Literal["auto", "percentile", "bca"]
#: Below this number of units no interval can be relied on to cover what it claims.
FEW_UNITS = 8
#: A larger share of undefined draws is reported.
SMALL_SHARE = 0.01
#: Draws closer than this to the estimate equal it.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Limits of a value (NaN where there are none) and the ``method`` that was used.

    Of so many draws ``undefined`` have no value; ``reason`` says why there are no limits, or why
    they may cover less than they claim.
    """

    low: float
    high: float
    method: str
    draws: int
    undefined: int
    reason: str = ""


def of_values(
    values: ArrayLike,
    estimates: ArrayLike,
    *,
    units: int | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> list[Interval]:
    """Percentile intervals from draws at hand ``[M, D]``, and their estimates ``[M]``.

    Args:
        units: how many units were drawn; without it nothing is widened.
        bounds: ends of the scale, which stand for undefined draws.
    """
    drawn, centres = np.asarray(values, dtype=float), np.asarray(estimates, dtype=float)
    counts = {} if units is None else {"units": units}
    return [
        interval(row, float(centre), [], counts, confidence=confidence, bounds=bounds)
        for row, centre in zip(drawn, centres, strict=True)
    ]


def interval(
    values: Array,
    estimate: float,
    jackknives: Sequence[Array],
    counts: Mapping[str, int],
    *,
    confidence: float = 0.95,
    method: Method = "auto",
    widened: bool = True,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """The limits of one value.

    Undefined draws are never left out: each counts on both sides, and a limit that falls among them
    is the end of the scale.

    Args:
        values: ``[D]``.
        jackknives: values with one unit left out, ``[U]`` for each independent sample of units.
        counts: units by kind (``systems``: 8); the fewest rule.
        widened: whether quantiles are taken further out for the units being few.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    used = "percentile" if method == "auto" else method
    ordered = np.sort(values[np.isfinite(values)])
    draws, undefined = len(values), len(values) - len(ordered)
    name, n = min(counts.items(), key=lambda count: count[1], default=("units", None))
    nothing = ""
    if not math.isfinite(estimate):
        nothing = "there is no value"
    elif not len(ordered):
        nothing = "no draw has a value"
    elif n is not None and n < 2:
        nothing = f"{n} {name[:-1] if n else name}: there is nothing to draw"
    if nothing:
        return Interval(math.nan, math.nan, used, draws, undefined, nothing)
    (acceleration, freedom, narrowness), reasons = influence(jackknives, n), []
    if used == "bca" and not math.isfinite(acceleration):
        used = "percentile"
        reasons.append("percentile instead of BCa: with one unit left out there is no value")
    z = float(special.ndtri(0.5 * (1.0 + confidence)))
    if widened:
        if used == "percentile" and math.isfinite(freedom):
            z = float(special.stdtrit(freedom, 0.5 * (1.0 + confidence)))
        z *= narrowness
    shares = (float(special.ndtr(-z)), float(special.ndtr(z)))
    if used == "bca":
        shares = _moved(ordered, estimate, z, acceleration)
    # undefined draws lie at the far end of either side
    low = _quantile(np.concatenate([np.full(undefined, bounds[0]), ordered]), shares[0])
    high = _quantile(np.concatenate([ordered, np.full(undefined, bounds[1])]), shares[1])
    if ordered[-1] - ordered[0] <= _ROUNDING and abs(ordered[0] - estimate) <= _ROUNDING:
        reasons.append("all draws that have a value give the same: they say nothing of its spread")
    elif min(shares[0], 1.0 - shares[1]) < 1.0 / (draws + 1):
        reasons.append(f"a limit lies beyond the outermost of {draws} draws")
    if n is not None and n < FEW_UNITS:
        reasons.append(f"{n} {name}: over fewer than {FEW_UNITS} it can cover less than it claims")
    if undefined > SMALL_SHARE * draws:
        reasons.append(f"{undefined} of {draws} draws have no value and count on both sides")
    return Interval(low, high, used, draws, undefined, "; ".join(reasons))


def influence(jackknives: Sequence[Array], n: int | None) -> tuple[float, float, float]:
    """Acceleration (NaN where a unit cannot be left out), degrees of freedom and narrowness.

    The influence of unit i of n is (n - 1) (mean of the jackknife - its value without i); squares
    and cubes of independent samples are added up, n being Satterthwaite's (1946) number.
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
            return acceleration, math.inf, 1.0
        return acceleration, n - 1.0, math.sqrt(n / (n - 1.0))
    return cubes / (6.0 * squares**1.5), fair**2 / spread, math.sqrt(fair / squares)


def _moved(ordered: Array, estimate: float, z: float, acceleration: float) -> tuple[float, float]:
    """Shares of draws below either limit of BCa (Efron and Tibshirani 1993, equation 14.10)."""
    equal = int((np.abs(ordered - estimate) <= _ROUNDING).sum())
    below = int((ordered < estimate - _ROUNDING).sum())
    # half of the equal draws lie below; the halves at the ends keep the bias finite
    bias = float(special.ndtri((below + 0.5 * equal + 0.5) / (len(ordered) + 1)))

    def share(z: float) -> float:
        slope = 1.0 - acceleration * (bias + z)
        if slope <= 0:  # the transformation turns back there: take the end
            return float(z > 0)
        return float(special.ndtr(bias + (bias + z) / slope))

    return share(-z), share(z)


def _quantile(ordered: Array, share: float) -> float:
    """The value at (D + 1) p of ordered draws, between neighbours on a line."""
    place = min(max(share * (len(ordered) + 1) - 1.0, 0.0), len(ordered) - 1.0)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return float(ordered[before] + (place - before) * (ordered[after] - ordered[before]))
