"""Accuracy with ties credited, and the threshold below which a metric ties two rewrites.

After Deutsch, Foster and Freitag (2023, Ties matter: meta-evaluating modern metrics with pairwise
accuracy and tie calibration).  A threshold that is fitted on the pairs that it judges flatters the
metric, so here it is fitted on other sources.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, finite
from .statistic import Parts, Statistic, acc_eq

#: Groups of sources; fewer where there are fewer sources.
FOLDS = 5
#: Accuracies closer than this are equal.
_ROUNDING = 1e-12


class TieCalibrated(NamedTuple):
    """acc_eq within each source, with a threshold fitted on other sources.

    Attributes:
        value: mean over all held-out sources, in [0, 1].
        threshold: fitted on all sources, for use on new data.
        spread: largest less smallest of the ``thresholds`` of the folds ``[F]`` (NaN where the
            other folds have no pair).
        by_source: the threshold that judges each source ``[S]``, NaN where it has none.
        n: sources that the value is over.
        in_sample, untuned: the same pairs judged with ``threshold``, and with threshold 0.
    """

    value: float
    threshold: float
    spread: float
    thresholds: np.ndarray
    by_source: np.ndarray
    n: int
    in_sample: float
    untuned: float
    reason: str = ""


def tie_calibrated(
    human: ArrayLike, metric: ArrayLike, *, rng: np.random.Generator
) -> TieCalibrated:
    """acc_eq within sources, the threshold fitted by 5-fold cross-validation over sources.

    Of 0 and all observed differences of scores the best is taken, of several the smallest.

    Args:
        human, metric: ``[S, K]``, NaN where missing.
        rng: deals the sources into folds.
    """
    x, y = finite(human), finite(metric)
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(
            f"matrices [sources, systems] of one shape are needed, got {x.shape} and {y.shape}"
        )
    pairs = _pairs(x, y)
    threshold = _fit(pairs)
    sources = np.flatnonzero((np.isfinite(x) & np.isfinite(y)).any(axis=1))
    by_source, fitted, reason = np.full(len(x), np.nan), [], ""
    if math.isnan(threshold):
        reason = "no two items with both values to compare"
    elif len(sources) < 2:
        reason = "fewer than two sources with both values"
    else:
        for fold in np.array_split(rng.permutation(sources), min(FOLDS, len(sources))):
            fitted.append(_fit(pairs[:, ~np.isin(pairs[4], fold)]))
            by_source[fold] = fitted[-1]
    thresholds = np.array(fitted, dtype=float)
    everywhere = np.where(np.isfinite(by_source), threshold, np.nan)
    judged = [_shares(x, y, limits) for limits in (by_source, everywhere, 0.0 * by_source)]
    n = int(np.isfinite(judged[0]).sum())
    if not n:
        reason, nan = reason or "no fold has pairs both inside and outside of it", math.nan
        return TieCalibrated(nan, threshold, nan, thresholds, by_source, 0, nan, nan, reason)
    value, in_sample, untuned = (float(np.nanmean(shares)) for shares in judged)
    spread = float(np.ptp(thresholds[np.isfinite(thresholds)]))
    return TieCalibrated(value, threshold, spread, thresholds, by_source, n, in_sample, untuned)


def held_out(fits: Sequence[TieCalibrated]) -> Statistic:
    """acc_eq at level source: thresholds of the other folds, the same in all draws."""

    def parts(x: Array, y: Array, weights: Array) -> Parts:
        """Sums of each source: from ``[.., S, 1, K]`` and ``[M, S, 1, K]`` to ``[M, S, D]``."""
        x = np.broadcast_to(x, y.shape)
        weights = np.broadcast_to(weights, (*y.shape[:2], *weights.shape[-2:]))
        sums = np.zeros((2, *weights.shape[:-1]))
        for m, fit in enumerate(fits):
            for inside, tied in _by_threshold(fit.by_source):
                sums[:, m, inside] = tied.parts(x[m, inside], y[m, inside], weights[m, inside])
        return tuple(sums)

    return replace(acc_eq(), parts=parts, ties_fitted=True)


def _shares(x: Array, y: Array, thresholds: Array) -> Array:
    """acc_eq of each source ``[S]`` under its threshold; NaN where it has none, or no pair."""
    shares = np.full(len(x), np.nan)
    for inside, tied in _by_threshold(thresholds):
        sides = x[inside, None], y[inside, None], np.ones((1, x.shape[1]))
        shares[inside] = tied.values(*sides)[:, 0]
    return shares


def _by_threshold(thresholds: Array) -> list[tuple[Array, Statistic]]:
    """Which of the sources have a threshold, and acc_eq with it; for all different ones."""
    different = np.unique(thresholds[np.isfinite(thresholds)])
    return [(thresholds == threshold, acc_eq(float(threshold))) for threshold in different]


def _pairs(x: Array, y: Array) -> Array:
    """Pairs by gap ``[5, P]``: of scores, tied by people, alike, weight (1 a source), source."""
    parts = [np.empty((5, 0))]
    for source, both in enumerate(np.isfinite(x) & np.isfinite(y)):
        first, second = np.triu_indices(both.sum(), 1)
        with np.errstate(over="ignore"):  # a gap too wide for a number is a gap
            dx, dy = (side[source, both][first] - side[source, both][second] for side in (x, y))
        weight = np.full(len(dx), 1.0 / max(1, len(dx)))
        alike = np.sign(dx) * np.sign(dy) > 0
        parts.append(np.array([np.abs(dy), dx == 0, alike, weight, np.full(len(dx), source)]))
    pairs = np.concatenate(parts, axis=1)
    return pairs[:, np.argsort(pairs[0], kind="stable")]


def _fit(pairs: Array) -> float:
    """The threshold under which most pairs are right; NaN without pairs."""
    gap, tied, agree, weight, _ = pairs
    if not len(gap):
        return math.nan
    last = np.append(gap[1:] > gap[:-1], True)  # of the pairs that are as far apart
    tied, agree = np.cumsum(tied * weight), np.cumsum(agree * weight)
    candidates = np.append(0.0, gap[last])
    right = np.append(agree[-1], (tied + agree[-1] - agree)[last])
    if gap[0] == 0:  # then 0 ties some, and stands second
        candidates, right = candidates[1:], right[1:]
    best = int(np.argmax(right >= right.max() - _ROUNDING * float(weight.sum())))
    return float(candidates[best])
