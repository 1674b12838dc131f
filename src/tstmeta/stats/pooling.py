"""One mean over data sets that differ: random effects, and where a new set is to be expected.

A value y_i with sampling variance v_i stands for the truth of its set, which itself varies from set
to set: y_i = mean + u_i + e_i with var u_i = tau^2 and var e_i = v_i.  tau^2 is that of Paule and
Mandel (1982), or of DerSimonian and Laird (1986).  The interval of the mean is that of Hartung and
Knapp (2001) with k - 1 degrees of freedom, never narrower than the usual one (Knapp and Hartung
2003).  The prediction interval of the value that a new set will show is

    mean +- t(k - 2) sqrt(tau^2 + var(mean) + v_new)

(Higgins, Thompson and Spiegelhalter 2009, section 4.2).

For :func:`predict` tasks differ, too: y_i = mean + b_task + u_i + e_i with var b = tau_task^2.
A known task draws the prediction towards its values (partial pooling), a new one adds tau_task^2.
Few values do not tell the taus, so predictions are averaged over a grid of both, weighted by the
restricted likelihood and a half-normal prior (Gelman 2006, section 3; Roever 2020, section 2).
"""

import math
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, softmax, stdtrit

from .kernels import Array

TauMethod = Literal["pm", "dl"]
#: Fewest values from which anything is pooled, and variances below which a value is no surer.
LEAST, _SURE = 3, 1e-8
#: Of a squared distance from the mean, in variances: tau^2 is sought no closer.
_CLOSE = 1e-5
#: Pairs of tau_task and tau (of an accuracy) to average over, and the scale of their prior.
TAUS = np.array([*product(np.linspace(0.0, 0.3, 7), repeat=2)])
SCALE = 0.1


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


class Predicted(NamedTuple):
    """What to expect of a new set, 95 %, and k values behind it; NaN where fewer than three."""

    mean: float = math.nan
    low: float = math.nan
    high: float = math.nan
    k: int = 0


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


def predict(
    values: ArrayLike,
    variances: ArrayLike,
    tasks: Sequence[Hashable],
    task: Hashable,
    new: float,
    likelihood: ArrayLike = 0.0,
    taus: Array = TAUS,
) -> Predicted:
    """The value of a new set of a task, by partial pooling over tasks and families.

    For each pair of taus, S is the covariance of the values, c theirs with the truth of the new
    set, w = S^-1 1: the prediction is mean + c' S^-1 (y - mean), its variance
    tau_task^2 + tau^2 + new - c' S^-1 c + (1 - w'c)^2 / sum(w).

    Args:
        values, variances, tasks: ``[k]`` of families.
        task, new: of the new set: one not in ``tasks`` is wider; its sampling variance.
        likelihood: ``[pairs]``, the mean :func:`log_likelihood` of other metrics, to be added.
        taus: ``[pairs, 2]``, tau_task and tau; a single pair takes them as known.
    """
    y = np.asarray(values, dtype=float)
    if len(y) < LEAST:
        return Predicted(k=len(y))
    inverse, weights, means, log_weights = _fits(y, variances, tasks, taus)
    shares = softmax(log_weights + likelihood - 0.5 * ((taus / SCALE) ** 2).sum(axis=1))
    c = taus[:, :1] ** 2 * np.array([name == task for name in tasks])  # [pairs, k]
    toward = (c[:, None, :] @ inverse)[:, 0]  # c' S^-1
    expected = means + (toward * (y - means[:, None])).sum(axis=1)
    spread = (taus**2).sum(axis=1) + new - (toward * c).sum(axis=1)
    spread += (1.0 - toward.sum(axis=1)) ** 2 / weights.sum(axis=1)
    mean = float(shares @ expected)
    half = float(ndtri(0.975)) * math.sqrt(float(shares @ (spread + (expected - mean) ** 2)))
    return Predicted(mean, mean - half, mean + half, len(y))


def log_likelihood(
    values: ArrayLike, variances: ArrayLike, tasks: Sequence[Hashable], taus: Array = TAUS
) -> Array:
    """The restricted log-likelihood ``[pairs]`` of pairs of taus, see :func:`predict`."""
    return _fits(np.asarray(values, dtype=float), variances, tasks, taus)[-1]


def _fits(
    y: Array, variances: ArrayLike, tasks: Sequence[Hashable], taus: Array
) -> tuple[Array, Array, Array, Array]:
    """For each pair of taus: S^-1 ``[pairs, k, k]``, S^-1 1, the mean, the log-likelihood."""
    same = np.array([[first == other for other in tasks] for first in tasks], dtype=float)
    tau2, v = taus[:, :, None, None] ** 2, np.maximum(np.asarray(variances, dtype=float), _SURE)
    covariance = tau2[:, 0] * same + tau2[:, 1] * np.eye(len(y)) + np.diag(v)
    inverse = np.linalg.inv(covariance)
    weights = inverse.sum(axis=2)
    means = weights @ y / weights.sum(axis=1)
    far = y - means[:, None]
    squares = ((inverse @ far[:, :, None])[:, :, 0] * far).sum(axis=1)
    logs = np.linalg.slogdet(covariance)[1] + np.log(weights.sum(axis=1))
    return inverse, weights, means, -0.5 * (logs + squares)


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
