"""Every statistic of two vectors, as sums that can be weighted, pooled over groups and finished.

A :class:`Statistic` turns vectors into a few sums (``parts``) and the sums into a value
(``finish``).  Sums are what makes it quick: under resampling they are matrix products
(:mod:`tstmeta.stats.kernels`), and over groups they can be added up (micro average) or finished
group by group and then averaged (macro).

Policies, the same for all: the sign is kept; an item missing on either side is left out; where a
side is constant, there is no value (NaN).  Ties: Spearman takes average ranks, tau-b and tau-c are
Kendall's (1945) and Stuart's (1953), the others say it themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import kernels
from .correlation import Correlation, kendall, pearson, spearman
from .kernels import Array

Parts = tuple[Array, ...]


@dataclass(frozen=True)
class Statistic:
    """A statistic of human values and metric values of the same items.

    Attributes:
        name: as asked for, ``pearson``.
        label: as shown, ``Pearson's r``.
        parts: (x, y, weights) -> sums, shapes as in :mod:`tstmeta.stats.kernels`.
        finish: sums -> values ``[..., D]``, NaN where there is none.
        least: fewest items with both values.
        chance: value of a metric that knows nothing.
        direct: value and p-value by scipy, where scipy has it.
        monotone: whether a rising transform of the metric leaves the value alone.
        additive: whether sums of groups may be added up (micro average).
    """

    name: str
    label: str
    parts: Callable[[Array, Array, Array], Parts]
    finish: Callable[..., Array]
    least: int = 2
    chance: float = 0.0
    direct: Callable[..., Correlation] | None = None
    monotone: bool = True
    additive: bool = True

    def __call__(self, human, metric) -> Correlation:
        """The statistic of two vectors ``[n]``, with n, a p-value where scipy has one, and a reason
        where there is no value."""
        if self.direct is not None:
            return self.direct(human, metric)
        x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
        if x.shape != y.shape or x.ndim != 1:
            raise ValueError(f"two vectors of one length are needed, got {x.shape} and {y.shape}")
        both = np.isfinite(x) & np.isfinite(y)
        n = int(both.sum())
        if n < self.least:
            return Correlation(np.nan, np.nan, n, f"fewer than {self.least} items with both values")
        value = float(self.values(x[None], y[None], np.ones((1, len(x))))[0])
        reason = "" if np.isfinite(value) else "all ratings or all scores are equal"
        return Correlation(value, np.nan, n, reason)

    def sums(self, human: Array, metric: Array, weights: Array) -> Parts:
        """The parts, with missing values (NaN) given no weight; shapes as in the kernels."""
        given = np.isfinite(human) & np.isfinite(metric)
        enough = given.sum(axis=-1) >= self.least
        x, y = np.where(given, human, 0.0), np.where(given, metric, 0.0)
        if not given.all():
            weights = weights * given
        return tuple(np.where(enough, part, 0.0) for part in self.parts(x, y, weights))

    def values(self, human: Array, metric: Array, weights: Array) -> Array:
        """The statistic under each weighting ``[..., D]``; NaN where there is none."""
        return self.finish(*self.sums(human, metric, weights))


def _ratio(above: Array, below: Array) -> Array:
    """A quotient, NaN where nothing is below."""
    fine = below > 0
    return np.where(fine, above / np.where(fine, below, 1.0), np.nan)


# ----------------------------------------------------------------------------- moments


def _moments(x: Array, y: Array, weights: Array) -> Parts:
    """Sums of products about the weighted means: xx, yy, xy."""
    x, y = _centred(x, weights), _centred(y, weights)
    n = np.maximum(kernels.total(np.ones((1, x.shape[-1])), weights), 1e-300)
    of_x, of_y = kernels.total(x, weights), kernels.total(y, weights)
    found = []
    for a, b, sum_a, sum_b in ((x, x, of_x, of_x), (y, y, of_y, of_y), (x, y, of_x, of_y)):
        raw = kernels.total(a * b, weights)
        found.append(raw - sum_a * sum_b / n)
        if a is b:  # equal but for rounding is equal
            found[-1] = np.where(found[-1] > 1e-13 * raw, found[-1], 0.0)
    return tuple(found)


def _centred(x: Array, weights: Array) -> Array:
    """Values about their mean over items of any weight, so that little is lost to rounding.

    A vector without spread beyond rounding becomes zeros (scipy's bound of near-constant input).
    """
    used = np.broadcast_to((weights > 0).any(axis=-2, keepdims=True), _joint(x, weights))
    inside = np.broadcast_to(x, used.shape)
    high = np.max(inside, axis=-1, where=used, initial=-np.inf, keepdims=True)
    low = np.min(inside, axis=-1, where=used, initial=np.inf, keepdims=True)
    largest = np.maximum(np.abs(high), np.abs(low))
    flat = ~(high - low > 2e-13 * largest)
    count = np.maximum(used.sum(axis=-1, keepdims=True), 1)
    mean = np.sum(inside, axis=-1, where=used, keepdims=True) / count
    return np.where(flat, 0.0, x - np.where(flat, 0.0, mean))


def _joint(x: Array, weights: Array) -> tuple[int, ...]:
    """Shape of one weighting beside the values."""
    return np.broadcast_shapes(x.shape, (*weights.shape[:-2], 1, weights.shape[-1]))


def _correlation(xx: Array, yy: Array, xy: Array) -> Array:
    return np.clip(_ratio(xy, np.sqrt(xx * yy)), -1.0, 1.0)


def _rank_moments(x: Array, y: Array, weights: Array) -> Parts:
    return _moments(kernels.standings(x, weights), kernels.standings(y, weights), weights)


# ------------------------------------------------------------------------------- pairs


def _agreeing(sx: Array, sy: Array) -> Array:
    return sx * sy


def _untied_x(sx: Array, sy: Array) -> Array:
    return np.broadcast_to(np.abs(sx), np.broadcast_shapes(sx.shape, sy.shape))


def _untied_y(sx: Array, sy: Array) -> Array:
    return np.broadcast_to(np.abs(sy), np.broadcast_shapes(sx.shape, sy.shape))


def _alike(sx: Array, sy: Array) -> Array:
    return (sx == sy).astype(sx.dtype)


def _any(sx: Array, sy: Array) -> Array:
    return np.ones(np.broadcast_shapes(sx.shape, sy.shape), sx.dtype)


def _tau_parts(x: Array, y: Array, weights: Array) -> Parts:
    return kernels.pair_totals((_untied_x, _untied_y, _agreeing), x, y, weights)


def _tau_c_parts(x: Array, y: Array, weights: Array) -> Parts:
    (agreeing,) = kernels.pair_totals((_agreeing,), x, y, weights)
    n = kernels.total(np.ones((1, x.shape[-1])), weights)
    least = np.minimum(kernels.distinct(x, weights), kernels.distinct(y, weights))
    return agreeing, n, least


def _tau_c(agreeing: Array, n: Array, least: Array) -> Array:
    return _ratio(2.0 * agreeing * least, n**2 * (least - 1.0))


def _preference_parts(x: Array, y: Array, weights: Array) -> Parts:
    return kernels.pair_totals((_untied_x, _agreeing), x, y, weights)


def _preference(untied: Array, agreeing: Array) -> Array:
    return 0.5 * (1.0 + _ratio(agreeing, untied))


def _accuracy_parts(x: Array, y: Array, weights: Array) -> Parts:
    return kernels.pair_totals((_any, _alike), x, y, weights)


def _accuracy(pairs: Array, alike: Array) -> Array:
    return _ratio(alike, pairs)


def acc_eq(threshold: float = 0.0) -> Statistic:
    """Pairwise accuracy that credits ties (Deutsch, Foster and Freitag 2023, Section 4).

    A pair is right when both sides order it alike or both tie it; the metric ties two items whose
    scores differ by no more than ``threshold``.  The threshold belongs to data apart from those it
    is judged on: see :func:`tstmeta.stats.fit_threshold`.
    """

    def parts(x: Array, y: Array, weights: Array) -> Parts:
        return kernels.pair_totals((_any, _alike), x, y, weights, threshold)

    return Statistic("acc_eq", "acc_eq", parts, _accuracy, chance=np.nan, monotone=threshold == 0)


STATISTICS: dict[str, Statistic] = {
    one.name: one
    for one in (
        Statistic(
            "pearson",
            "Pearson's r",
            _moments,
            _correlation,
            least=3,
            direct=pearson,
            monotone=False,
        ),
        Statistic(
            "spearman", "Spearman's rho", _rank_moments, _correlation, least=3, direct=spearman
        ),
        Statistic(
            "kendall",
            "Kendall's tau-b",
            _tau_parts,
            _correlation,
            direct=kendall,
        ),
        Statistic("tau-c", "Stuart's tau-c", _tau_c_parts, _tau_c, additive=False),
        Statistic(
            "pairwise-accuracy",
            "pairwise accuracy",
            _accuracy_parts,
            _accuracy,
            chance=0.5,
        ),
        Statistic("preference", "preference accuracy", _preference_parts, _preference, chance=0.5),
    )
}
