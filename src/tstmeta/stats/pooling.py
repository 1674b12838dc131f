"""One mean over data sets that differ: random effects, and where a new set is to be expected.

A value y_i with sampling variance v_i stands for the truth of its set, which itself varies from set
to set: y_i = mean + u_i + e_i with var u_i = tau^2 and var e_i = v_i.  tau^2 is that of Paule and
Mandel (1982), or of DerSimonian and Laird (1986).  The interval of the mean is that of Hartung and
Knapp (2001) with k - 1 degrees of freedom, never narrower than the usual one (Knapp and Hartung
2003).  The prediction interval of the value that a new set will show is

    mean +- t(k - 2) sqrt(tau^2 + var(mean) + v_new)

(Higgins, Thompson and Spiegelhalter 2009, section 4.2).
"""

import math
from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from .kernels import Array

TauMethod = Literal["pm", "dl"]
#: Fewest values from which anything is pooled, and variances below which a value is no surer.
LEAST, _SURE = 3, 1e-8
#: Of a squared distance from the mean, in variances: tau^2 is sought no closer.
_CLOSE = 1e-5


class Pooled(NamedTuple):
    """The mean with its limits, tau (the standard deviation of the true values of sets), the
    prediction interval, and k values behind it; NaN and a reason where fewer than three.
    """

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    tau: float = math.nan
    predict_low: float = math.nan
    predict_high: float = math.nan
    k: int = 0
    reason: str = ""


class Families(NamedTuple):
    """Values and variances ``[k]`` of families, in the order of ``names``."""

    values: Array
    variances: Array
    names: tuple[Hashable, ...]


def family_means(values: ArrayLike, errors: ArrayLike, families: Sequence[Hashable]) -> Families:
    """The mean value of each family of sets that share sources; its standard error is the mean of
    theirs, as if their errors were the same.  Sets without value or error are left out.

    Args:
        values, errors, families: ``[n]`` of the sets; errors are standard errors.
    """
    y, se = np.asarray(values, dtype=float), np.asarray(errors, dtype=float)
    known, means = np.isfinite(y) & np.isfinite(se), {}
    for name in dict.fromkeys(families):
        inside = known & np.array([family == name for family in families])
        if inside.any():
            means[name] = y[inside].mean(), se[inside].mean() ** 2
    sides = np.array([*means.values()], dtype=float).reshape(-1, 2).T
    return Families(sides[0], sides[1], tuple(means))


def pool(
    values: ArrayLike, variances: ArrayLike, *, method: TauMethod = "pm", new: float | None = None
) -> Pooled:
    """Random effects over values ``[k]`` with sampling variances ``[k]``; limits of 95 %.

    Args:
        method: of tau^2: ``pm`` (Paule-Mandel) or ``dl`` (DerSimonian-Laird).
        new: sampling variance of the value to be predicted; by default the median of the variances.

    Raises:
        ValueError: unequal lengths, or a variance that is negative or missing.
    """
    y, v = np.asarray(values, dtype=float), np.asarray(variances, dtype=float)
    if y.shape != v.shape or y.ndim != 1 or not (np.isfinite(y) & (v >= 0)).all():
        raise ValueError("values [k] and as many variances, none missing or negative, are needed")
    if len(y) < LEAST:
        return Pooled(k=len(y), reason=f"{len(y)} of at least {LEAST} values to pool")
    v = np.maximum(v, _SURE)
    tau2 = (_paule_mandel if method == "pm" else _dersimonian_laird)(y, v)
    weights = 1.0 / (v + tau2)
    mean, usual = float(np.average(y, weights=weights)), float(1.0 / weights.sum())
    mean_variance = max(float(np.average((y - mean) ** 2, weights=weights)) / (len(y) - 1), usual)
    half = float(stdtrit(len(y) - 1, 0.975)) * math.sqrt(mean_variance)
    new = float(np.median(v)) if new is None else new
    ahead = float(stdtrit(len(y) - 2, 0.975)) * math.sqrt(tau2 + mean_variance + new)
    limits = mean - half, mean + half, math.sqrt(tau2), mean - ahead, mean + ahead
    return Pooled(mean, *limits, len(y))


def _paule_mandel(y: Array, v: Array) -> float:
    """The tau^2 of as many squares as degrees of freedom (DerSimonian and Kacker 2007, app. 8)."""
    tau2 = 0.0
    while True:
        weights = 1.0 / (v + tau2)
        squares = (y - np.average(y, weights=weights)) ** 2
        excess = weights @ squares - (len(y) - 1)
        if not excess > _CLOSE:  # nor where squares overflow, which leaves no number
            return tau2
        tau2 += excess / (weights**2 @ squares)


def _dersimonian_laird(y: Array, v: Array) -> float:
    """tau^2 in one step, from the weights of fixed effects."""
    weights = 1.0 / v
    squares = (y - np.average(y, weights=weights)) ** 2
    total = weights.sum()
    excess = weights @ squares - (len(y) - 1)
    return max(0.0, float(excess / (total - (weights**2).sum() / total)))
