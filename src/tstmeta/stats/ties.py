"""Accuracy with ties credited, and the threshold below which a metric ties two rewrites.

After Deutsch, Foster and Freitag (2023, Ties matter: meta-evaluating modern metrics with pairwise
accuracy and tie calibration).  A threshold that was fitted on the pairs it is judged on flatters
the metric, so here it is fitted on other sources.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .intervals import Resample
from .kernels import Array, finite
from .resampling import Draws, everything
from .statistic import Statistic, acc_eq

Level = Literal["pooled", "source"]
#: Groups of sources; fewer where there are fewer sources.
FOLDS = 5
#: Accuracies closer than this are equal.
_ROUNDING = 1e-12


class TieCalibrated(NamedTuple):
    """acc_eq with a threshold fitted on other sources.

    Attributes:
        value: of all held-out sources together, in [0, 1].
        threshold: fitted on all sources, for use on new data.
        spread: largest less smallest of the ``thresholds`` of the folds ``[F]`` (NaN where the
            other folds have no pair).
        folds: number of the fold of each source ``[S]``, -1 where it has none.
        n: what the value is over: sources (level source) or pairs (pooled).
        in_sample, untuned: the same pairs judged with ``threshold``, and with threshold 0.
    """

    value: float
    threshold: float
    spread: float
    thresholds: np.ndarray
    folds: np.ndarray
    n: int
    in_sample: float
    untuned: float
    reason: str = ""


class _Pairs(NamedTuple):
    """Pairs of rewrites, nearest first, each ``[P]``: how far apart the metric sees them, whether
    people tie them, whether both sides agree, their weight and their two sources.
    """

    gap: Array
    tied: Array
    agree: Array
    weight: Array
    source: Array
    other: Array

    def of(self, inside: Array) -> "_Pairs":
        """The pairs whose sources ``[S]`` are both inside."""
        kept = inside[self.source] & inside[self.other]
        return _Pairs(*(column[kept] for column in self))


def tie_calibrated(
    human: ArrayLike, metric: ArrayLike, level: Level = "source", *, rng: np.random.Generator
) -> TieCalibrated:
    """acc_eq with the threshold fitted by 5-fold cross-validation over sources.

    The value is over all held-out pairs together: at level ``source`` the mean of acc_eq within
    each source, at level ``pooled`` the share of right pairs among those whose two cells are in one
    fold.  Of 0 and all observed differences of scores the best is taken, of several the smallest.

    Args:
        human, metric: ``[S, K]``, NaN where missing.
        rng: deals the sources into folds.
    """
    x, y = finite(human), finite(metric)
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(
            f"matrices [sources, systems] of one shape are needed, got {x.shape} and {y.shape}"
        )
    if level not in ("pooled", "source"):
        raise ValueError(f"ties are calibrated at level pooled or source, not {level!r}")
    pairs = _pairs(x, y, level)
    threshold = _fit(pairs)
    sources = np.flatnonzero((np.isfinite(x) & np.isfinite(y)).any(axis=1))
    folds, fitted, reason = np.full(len(x), -1), np.empty(0), ""
    if not len(pairs.gap):
        reason = "no two items with both values to compare"
    elif len(sources) < 2:
        reason = "fewer than two sources with both values"
    else:
        dealt = np.array_split(rng.permutation(sources), min(FOLDS, len(sources)))
        for number, fold in enumerate(dealt):
            folds[fold] = number
        fitted = np.array([_fit(pairs.of(folds != number)) for number in range(len(dealt))])
    same = np.where(np.isfinite(fitted), threshold, np.nan)
    judged = [_judged(x, y, level, folds, each) for each in (fitted, same, 0.0 * fitted)]
    total = float(judged[0][1][0])
    if not total:
        reason = reason or "no fold has pairs both inside and outside of it"
        nan = math.nan
        return TieCalibrated(nan, threshold, nan, fitted, folds, 0, nan, nan, reason)
    value, in_sample, untuned = (float(right[0]) / total for right, _ in judged)
    spread = float(np.ptp(fitted[np.isfinite(fitted)]))
    n = round(total)
    return TieCalibrated(value, threshold, spread, fitted, folds, n, in_sample, untuned)


def held_out(fits: Sequence[TieCalibrated], level: Level) -> Statistic:
    """acc_eq under the thresholds of fits: each source is judged with that of the other folds.

    A statistic of the matrices ``[M, S, K]`` that were fitted, for their draws: of all sources and
    systems once it is ``fit.value``.  Folds and thresholds stay as they are over the draws.
    """

    def parts(x: Array, y: Array, weights: Array) -> tuple[Array, ...]:
        """Sums of each source: from ``[.., S, 1, K]`` and ``[M, S, 1, K]`` to ``[M, S, D]``."""
        x = np.broadcast_to(x, y.shape)
        weights = np.broadcast_to(weights, (*y.shape[:2], *weights.shape[-2:]))
        sums = np.zeros((2, *weights.shape[:-1]))
        for m, fit in enumerate(fits):
            for fold in np.flatnonzero(np.isfinite(fit.thresholds)):
                inside, tied = fit.folds == fold, acc_eq(float(fit.thresholds[fold]))
                sums[:, m, inside] = tied.parts(x[m, inside], y[m, inside], weights[m, inside])
        return tuple(sums)

    def whole(x: Array, y: Array, of_sources: Array, of_systems: Array) -> Array:
        draws, each = Draws(of_sources, of_systems), zip(y[:, 0], fits, strict=True)
        sums = [_judged(x[0], own, level, f.folds, f.thresholds, draws) for own, f in each]
        right, total = np.stack(sums, axis=1)
        return acc_eq().finish(total, right)

    if level == "source":
        return replace(acc_eq(), parts=parts)
    return replace(acc_eq(), whole=whole, levels=(level,))


def pairs_once(resample: Resample) -> Resample:
    """Draws of :func:`held_out` at level pooled, brought to the variance of the value.

    Pairs inside a fold are few, and what is of single pairs counts three times in draws and twice
    in the jackknife (Efron and Stein 1981, The Jackknife Estimate of Variance, Annals of Statistics
    9, Section 3).  So the right variance is twice that of the jackknife less that of the draws, and
    never below a third of that of the draws.  Differences of two metrics have their own.
    """
    if resample.of_pairs is not None:
        resample = resample._replace(of_pairs=pairs_once(resample.of_pairs))
    jackknife = sum((each.shape[1] - 1) * each.var(axis=1) for each in resample.jackknives)
    some = np.isfinite(resample.values).any(axis=1)[:, None]
    spread = np.nanvar(np.where(some, resample.values, 0.0), axis=1)
    share = np.clip(2 * jackknife - spread, spread / 3, spread) / np.where(spread > 0, spread, 1.0)
    centre = resample.estimates[:, None]
    shrunk = centre + np.sqrt(share)[:, None] * (resample.values - centre)
    return resample._replace(values=np.where(np.isfinite(share)[:, None], shrunk, resample.values))


def _judged(
    x: Array, y: Array, level: Level, folds: Array, thresholds: Array, draws: Draws | None = None
) -> tuple[Array, Array]:
    """Weight of the right pairs inside the folds and of all there ``[D]``; draws are of pooled."""
    draws = everything(x.shape) if draws is None else draws
    right, total = np.zeros(len(draws)), np.zeros(len(draws))
    for fold in np.flatnonzero(np.isfinite(thresholds)):
        inside, tied = folds == fold, acc_eq(float(thresholds[fold]))
        if level == "source":
            shares = tied.finish(*tied.sums(x[inside, None], y[inside, None], draws.systems))
            right, total = right + np.nansum(shares), total + np.isfinite(shares).sum()
        else:
            cells = (draws.sources[:, inside, None] * draws.systems[:, None]).reshape(
                len(draws), -1
            )
            pairs, alike = tied.sums(x[inside].reshape(1, -1), y[inside].reshape(1, -1), cells)
            right, total = right + alike, total + pairs
    return right, total


def _fit(pairs: _Pairs) -> float:
    """The threshold under which most pairs are right; NaN without pairs."""
    if not len(pairs.gap):
        return math.nan
    last = np.append(pairs.gap[1:] > pairs.gap[:-1], True)  # of the pairs that are as far apart
    tied, agree = (np.cumsum(np.where(s, pairs.weight, 0.0)) for s in (pairs.tied, pairs.agree))
    candidates = np.append(0.0, pairs.gap[last])
    right = np.append(agree[-1], (tied + agree[-1] - agree)[last])
    if pairs.gap[0] == 0:  # then 0 ties some, and stands second
        candidates, right = candidates[1:], right[1:]
    best = int(np.argmax(right >= right.max() - _ROUNDING * float(pairs.weight.sum())))
    return float(candidates[best])


def _pairs(x: Array, y: Array, level: Level) -> _Pairs:
    """All pairs of a table, NaN left out; a source weighs 1 (source) or a pair does (pooled)."""
    both = np.isfinite(x) & np.isfinite(y)
    source = np.nonzero(both)[0]
    if level == "pooled" or not x.size:
        parts = [_pairs_of(x[both], y[both], source, False)]
    else:
        parts = [
            _pairs_of(x[s, cells], y[s, cells], source[source == s], True)
            for s, cells in enumerate(both)
        ]
    pairs = _Pairs(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    order = np.argsort(pairs.gap, kind="stable")
    return _Pairs(*(column[order] for column in pairs))


def _pairs_of(x: Array, y: Array, source: Array, shared: bool) -> _Pairs:
    """Pairs of one group ``[n]``; they share a weight of 1, or weigh 1 each."""
    first, second = np.triu_indices(len(x), 1)
    with np.errstate(over="ignore"):  # a gap too wide for a number is a gap
        dx, dy = x[first] - x[second], y[first] - y[second]
    weight = np.full(len(dx), 1.0 / max(1, len(dx)) if shared else 1.0)
    alike = np.sign(dx) * np.sign(dy) > 0
    return _Pairs(np.abs(dy), dx == 0, alike, weight, source[first], source[second])
