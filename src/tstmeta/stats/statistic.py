"""Every statistic of two vectors, as sums that can be weighted and finished to a value.

For all of them: the sign is kept; an item missing on either side is left out; where a side is
constant, there is no value (NaN), except that accuracies count ties.  No p-value is 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, pearsonr, spearmanr

from . import kernels
from .kernels import Array, centred, constant, varied

Parts = tuple[Array, ...]
NAN = math.nan


class Correlation(NamedTuple):
    """A value in [-1, 1], its two-sided p-value, the number of items or groups that it is over, and
    the reason where there is no value.
    """

    value: float
    p: float
    n: int
    reason: str = ""


@dataclass(frozen=True)
class Statistic:
    """A statistic of human values and metric values of the same items: a few sums (``parts``) that
    are matrix products under resampling, and the value that they ``finish`` to.

    Attributes:
        name, label: as in arguments, ``pearson``, and as shown, ``Pearson's r``.
        parts: (x, y, weights) -> sums, shapes as in :mod:`tstmeta.stats.kernels`.
        finish: sums -> values ``[..., D]``, NaN where there is none.
        least, alone: fewest items with both values, in a group and where there are no groups.
        chance: value of a metric that knows nothing; 0 for correlations, NaN where ties move it.
        peer: scipy's function of two vectors, where scipy has it.
        parts_by_row: quicker ``parts`` of all cells (:func:`.kernels.moments_by_row`).
        ordinal, reranks: whether items are compared in pairs; ranked in every draw anew.
        has_partial: whether there is a partial correlation.
    """

    name: str
    label: str
    parts: Callable[[Array, Array, Array], Parts]
    finish: Callable[..., Array]
    least: int = 2
    alone: int = 0
    chance: float = 0.0
    peer: Callable | None = None
    parts_by_row: Callable[[Array, Array, Array, Array, int], Parts] | None = None
    ordinal: bool = True
    reranks: bool = False
    has_partial: bool = False

    @property
    def bounds(self) -> tuple[float, float]:
        """Ends of the scale: accuracies lie between 0 and 1, correlations between -1 and 1."""
        return (-1.0 if self.chance == 0 else 0.0, 1.0)

    def __call__(self, human: ArrayLike, metric: ArrayLike, items: str = "items") -> Correlation:
        """The statistic of two vectors ``[n]`` of items, with p where scipy has one."""
        x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
        if x.shape != y.shape or x.ndim != 1:
            raise kernels.misfit("two vectors of one length", x, y)
        both = np.isfinite(x) & np.isfinite(y)
        x, y, value, p = x[both], y[both], math.nan, math.nan
        if self.peer is None:
            value = float(self.values(x[None], y[None], np.ones((1, len(x))))[0])
        elif len(x) >= 3 and not constant(x) and not constant(y):
            result = self.peer(x, y)
            value, p = float(result.statistic), above_zero(float(result.pvalue), len(x))
        return Correlation(value, p, len(x), "" if np.isfinite(value) else self.why(x, y, items))

    def why(self, human: Array, metric: Array, items: str = "items") -> str:
        """Why two vectors have no value."""
        both, least = np.isfinite(human) & np.isfinite(metric), max(self.least, self.alone)
        if both.sum() < least:
            return f"fewer than {least} {items} with both values"
        for name, vector in (("ratings", human[both]), ("scores", metric[both])):
            if constant(vector):
                return f"all {name} are equal"
        return f"no pair of {items} to compare"

    def sums(self, human: Array, metric: Array, weights: Array, least: int | None = None) -> Parts:
        """The parts; zeros, which finish to NaN, where fewer than ``least`` items are complete."""
        present = np.isfinite(human) & np.isfinite(metric)
        if not present.all():
            human, metric = np.where(present, human, 0.0), np.where(present, metric, 0.0)
            weights = weights * present
        # half an item to spare, for weights that are no counts and sum up to a little less
        enough = weights.sum(axis=-1) > (self.least if least is None else least) - 0.5
        if self.peer is not None:
            human, metric = _flattened(human, present), _flattened(metric, present)
        enough = np.broadcast_to(enough, (*present.shape[:-2], enough.shape[-1]))
        return tuple(np.where(enough, part, 0.0) for part in self.parts(human, metric, weights))

    def values(self, human: Array, metric: Array, weights: Array) -> Array:
        """The statistic under each weighting ``[..., D]``; NaN where there is none."""
        return self.finish(*self.sums(human, metric, weights, max(self.least, self.alone)))


def _flattened(values: Array, present: Array) -> Array:
    """Values ``[..., n]``, or zeros where they do not vary."""
    vary = varied(values, present)
    return values if vary.all() else np.where(vary, values, 0.0)


def above_zero(p: float, items: int) -> float:
    """A p-value that a formula puts at 0, as the smallest that n items can give: 2 / n!."""
    if p > 0 or math.isnan(p):
        return p
    return max(math.exp(math.log(2.0) - math.lgamma(items + 1.0)), np.finfo(float).tiny)


def ratio(above: Array, below: Array) -> Array:
    """A quotient, NaN where the denominator is not above 0."""
    positive = below > 0
    return np.where(positive, above / np.where(positive, below, 1.0), np.nan)


def _moments(x: Array, y: Array, weights: Array) -> Parts:
    """Sums of products about the weighted means: xx, yy, xy."""
    used = weights.max(axis=-2, initial=0.0, keepdims=True) > 0
    x, y = centred(x, used), centred(y, used)
    sums = kernels.total(x, weights), kernels.total(y, weights)
    # one product at a time: ranks differ from draw to draw, and take room
    products = (kernels.total(a * b, weights) for a, b in ((x, x), (y, y), (x, y)))
    return kernels.about_means(weights.sum(axis=-1), *sums, *products)


def _correlation(xx: Array, yy: Array, xy: Array) -> Array:
    return np.clip(ratio(xy, np.sqrt(xx * yy)), -1.0, 1.0)


def _rank_moments(x: Array, y: Array, weights: Array) -> Parts:
    return _moments(kernels.standings(x, weights), kernels.standings(y, weights), weights)


def _tau_parts(x: Array, y: Array, weights: Array) -> Parts:
    agreeing = kernels.pair_total(np.multiply, x, y, weights)
    return kernels.untied(x, weights), kernels.untied(y, weights), agreeing


def _halved_parts(x: Array, y: Array, weights: Array) -> Parts:
    return kernels.untied(x, weights), kernels.pair_total(np.multiply, x, y, weights)


def _halved(untied: Array, agreeing: Array) -> Array:
    return 0.5 * (1.0 + ratio(agreeing, untied))


def _accuracy_parts(x: Array, y: Array, weights: Array) -> Parts:
    return kernels.pair_total(np.equal, x, y, weights), kernels.pairs(weights)


#: Pairwise accuracy counts a pair as right when both sides order it alike or both tie it (acc_eq of
#: Deutsch, Foster and Freitag 2023, Section 4); accuracy leaves out what people tie.
STATISTICS: dict[str, Statistic] = {
    statistic.name: statistic
    for statistic in (
        Statistic(
            *("pearson", "Pearson's r", _moments, _correlation),
            least=3,
            peer=pearsonr,
            parts_by_row=kernels.moments_by_row,
            ordinal=False,
            has_partial=True,
        ),
        Statistic(
            *("spearman", "Spearman's rho", _rank_moments, _correlation),
            least=3,
            peer=spearmanr,
            reranks=True,
            has_partial=True,
        ),
        Statistic(
            *("kendall", "Kendall's tau-b", _tau_parts, _correlation),
            alone=3,
            peer=kendalltau,
            has_partial=True,
        ),
        Statistic("pairwise-accuracy", "pairwise accuracy", _accuracy_parts, ratio, chance=NAN),
        Statistic("accuracy", "accuracy", _halved_parts, _halved, chance=0.5),
    )
}
#: p is scipy's and takes items for independent: from the t distribution (Pearson, Spearman), exact
#: for few items without ties, else normal (Kendall).
pearson, kendall = STATISTICS["pearson"], STATISTICS["kendall"]
