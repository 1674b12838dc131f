"""Ranks of metrics and how sure they are: sets from simultaneous differences of all pairs.

All differences are bounded at once; a metric's best rank is one more than the number of metrics
surely above it, its worst leaves out those surely below (Mogstad, Romano, Shaikh and Wilhelm 2024,
Inference for Ranks, Review of Economic Studies 91, Section 3).  The sets of ALL metrics hold their
true ranks together, any rank counting as true that ties of true values leave open.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array

#: Differences that spread less than this do not spread.
_ROUNDING = 1e-12


def rank_sets(
    estimates: ArrayLike,
    values: ArrayLike,
    *,
    confidence: float = 0.95,
    units: int | None = None,
) -> list[tuple[int, int]]:
    """Best and worst rank of each metric (1 = highest), all of them right together.

    The bound is the same for all pairs in units of the standard deviation of a pair's difference
    over draws (max-t).  A metric without an estimate has no rank: (0, 0).  One without a value in
    more than (1 - confidence) / 2 of the draws cannot be told apart from any; else a draw in which
    some metric has no value counts as the largest deviation.  Where no difference varies, every set
    holds all ranks.

    Args:
        estimates, values: ``[M]``, and ``[M, D]`` with NaN where a draw has no value.
        units: how many units were drawn (the fewest of several kinds), to widen the bound as
            intervals are.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    centres, drawn = np.asarray(estimates, dtype=float), np.asarray(values, dtype=float)
    ranked = np.isfinite(centres)
    steady = ranked & (np.isnan(drawn).sum(axis=1) <= (1 - confidence) / 2 * drawn.shape[1])
    above = np.zeros((len(centres), len(centres)), dtype=bool)
    inside = np.ix_(steady, steady)
    above[inside] = _surely_above(centres[steady], drawn[steady], confidence, units)
    best, worst = 1 + above.sum(axis=0), ranked.sum() - above.sum(axis=1)
    return list(zip(*(np.where(ranked, rank, 0).tolist() for rank in (best, worst)), strict=True))


def _surely_above(estimates: Array, values: Array, confidence: float, units: int | None) -> Array:
    """Whether the row's metric is above the column's ``[M, M]``, with confidence in all pairs."""
    metrics, draws = values.shape
    whole = values[:, np.isfinite(values).all(axis=0)]
    nothing = np.zeros((metrics, metrics), dtype=bool)
    if metrics < 2 or whole.shape[1] < 2 or (units is not None and units < 2):
        return nothing
    # standard deviation over draws of each difference [M, M]
    spread = np.stack([np.std(row - whole, axis=1, ddof=1) for row in whole])
    varies = spread > _ROUNDING
    if not varies.any():
        return nothing
    bound = _bound(estimates, whole, spread, draws, confidence)
    if units is not None and math.isfinite(bound):
        # upper tails, where both functions keep their digits
        quantile = -float(special.stdtrit(units - 1.0, special.ndtr(-bound)))
        bound = quantile * math.sqrt(units / (units - 1.0))
    reach = np.where(varies, bound * spread, 0.0) if math.isfinite(bound) else math.inf
    return estimates[:, None] - estimates[None, :] > np.maximum(reach, _ROUNDING)


def _bound(estimates: Array, values: Array, spread: Array, draws: int, confidence: float) -> float:
    """Quantile of the largest standardised deviation over pairs, infinite for too few draws."""
    largest = np.zeros(values.shape[1])
    centred = values - estimates[:, None]
    for m in range(1, len(values)):
        varies = spread[m, :m] > _ROUNDING
        if varies.any():
            deviation = np.abs(centred[m] - centred[:m][varies]) / spread[m, :m][varies, None]
            largest = np.maximum(largest, deviation.max(axis=0))
    place = math.ceil(confidence * (draws + 1)) - 1
    return float(np.sort(largest)[place]) if place < len(largest) else math.inf
