"""Every statistic of two vectors, as sums that can be weighted, pooled over groups and finished.

A :class:`Statistic` turns vectors into a few sums (``parts``) and the sums into a value
(``finish``).  Sums are what makes it quick: under resampling they are matrix products
(:mod:`tstmeta.stats.kernels`), and over groups they can be added up (micro average) or finished
group by group and then averaged (macro).

Policies, the same for all: the sign is kept; an item missing on either side is left out; where a
side is constant, there is no value (NaN), except that accuracies count ties, and a metric that ties
everything has one.  Ties: Spearman takes average ranks, tau-b and tau-c are Kendall's (1945) and
Stuart's (1953), the others say it themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from . import kernels
from .correlation import Correlation, constant, kendall, pearson, spearman
from .kernels import Array, tamed
from .rows import moments_of_rows
from .signflips import soft_agreement

Parts = tuple[Array, ...]


@dataclass(frozen=True)
class Statistic:
    """A statistic of human values and metric values of the same items.

    Attributes:
        name: as asked for, ``pearson``.
        label: as shown, ``Pearson's r``.
        parts: (x, y, weights) -> sums, shapes as in :mod:`tstmeta.stats.kernels`.
        finish: sums -> values ``[..., D]``, NaN where there is none.
        least: fewest items with both values, in draws with their repetitions.
        alone: the same where there are no groups, if that is more.
        chance: value of a metric that knows nothing.
        direct: value and p-value by scipy, where scipy has it.
        monotone: whether a rising transform of the metric leaves the value alone.
        scale_free: whether a positive factor on the metric leaves the value alone.
        additive: whether sums of groups may be added up (micro average).
        pools: whether sums of groups are always added up, as its definition has it.
        levels: where it is defined; empty means at all levels.
        whole: for a statistic of matrices, not of vectors: people ``[1|D, S, K]``, metrics
            ``[M, 1|D, S, K]``, weights of sources ``[D, S]``, of systems ``[D, K]`` to ``[M, D]``.
        lacking: why a statistic of matrices has no value.
        of_rows: the parts over all cells where whole rows are drawn, where that is quicker: people
            ``[S, K]``, metrics ``[M, S, K]``, weights of rows ``[D, S]`` and fewest cells.
    """

    name: str
    label: str
    parts: Callable[[Array, Array, Array], Parts]
    finish: Callable[..., Array]
    least: int = 2
    alone: int = 0
    chance: float = 0.0
    direct: Callable[..., Correlation] | None = None
    monotone: bool = True
    scale_free: bool = True
    additive: bool = True
    pools: bool = False
    levels: tuple[str, ...] = ()
    whole: Callable[[Array, Array, Array, Array], Array] | None = None
    lacking: str = ""
    of_rows: Callable[[Array, Array, Array, int], Parts] | None = None

    def __call__(self, human, metric) -> Correlation:
        """The statistic of two vectors ``[n]``, with n, a p-value where scipy has one, and a reason
        where there is no value.

        Raises:
            ValueError: vectors of other shapes, or a statistic that is not of vectors.
        """
        self.check("pooled")
        if self.direct is not None:
            return self.direct(human, metric)
        x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
        if x.shape != y.shape or x.ndim != 1:
            raise ValueError(f"two vectors of one length are needed, got {x.shape} and {y.shape}")
        both = np.isfinite(x) & np.isfinite(y)
        x, y = tamed(x[both]), tamed(y[both]) if self.scale_free else y[both]
        value = float(self.values(x[None], y[None], np.ones((1, len(x))))[0])
        return Correlation(value, np.nan, len(x), "" if np.isfinite(value) else self.why(x, y))

    def check(self, level: str) -> None:
        """Refuse a level at which the statistic is not defined.

        Raises:
            ValueError: naming the levels at which it is.
        """
        if self.levels and level not in self.levels:
            raise ValueError(
                f"{self.label} is not defined at level {level}, only at {', '.join(self.levels)}"
            )

    def why(
        self, human: Array, metric: Array, least: int | None = None, items: str = "items"
    ) -> str:
        """Why two vectors have no value."""
        both = np.isfinite(human) & np.isfinite(metric)
        least = max(self.least, self.alone) if least is None else least
        if both.sum() < least:
            return f"fewer than {least} {items} with both values"
        for name, vector in (("ratings", human[both]), ("scores", metric[both])):
            if constant(vector):
                return f"all {name} are equal"
        return f"no pair of {items} to compare"

    def sums(self, human: Array, metric: Array, weights: Array, least: int | None = None) -> Parts:
        """The parts, with missing values (NaN) given no weight; shapes as in the kernels.

        Zeros, which finish to NaN, where fewer than ``least`` items have both values.
        """
        given = np.isfinite(human) & np.isfinite(metric)
        if not given.all():
            human, metric = np.where(given, human, 0.0), np.where(given, metric, 0.0)
            weights = weights * given
        # half an item to spare, for weights that are no counts and sum up to a little less
        enough = weights.sum(axis=-1) > (self.least if least is None else least) - 0.5
        if self.direct is not None:
            human, metric = _flattened(human, given), _flattened(metric, given)
        enough = np.broadcast_to(enough, (*given.shape[:-2], enough.shape[-1]))
        return tuple(np.where(enough, part, 0.0) for part in self.parts(human, metric, weights))

    def values(self, human: Array, metric: Array, weights: Array) -> Array:
        """The statistic under each weighting ``[..., D]``; NaN where there is none."""
        return self.finish(*self.sums(human, metric, weights, max(self.least, self.alone)))


def _flattened(values: Array, given: Array) -> Array:
    """Values ``[..., n]``, zeros where they do not differ beyond rounding."""
    varied = _varied(values, given)
    return values if varied.all() else np.where(varied[..., None], values, 0.0)


def _varied(values: Array, given: Array) -> Array:
    """Whether given values ``[..., n]`` differ by more than rounding, as scipy bounds it."""
    high = _filled(values, given, -np.inf).max(axis=-1, initial=-np.inf)
    low = _filled(values, given, np.inf).min(axis=-1, initial=np.inf)
    return high - low > 2e-13 * np.maximum(np.abs(high), np.abs(low))


def _filled(values: Array, inside: Array, filling: float) -> Array:
    """Values with a filling where they are not inside; themselves, uncopied, where all are."""
    return values if inside.all() else np.where(inside, values, filling)


def _ratio(above: Array, below: Array) -> Array:
    """A quotient, NaN where nothing is below."""
    fine = below > 0
    return np.where(fine, above / np.where(fine, below, 1.0), np.nan)


# ----------------------------------------------------------------------------- moments


def _moments(x: Array, y: Array, weights: Array) -> Parts:
    """Sums of products about the weighted means: xx, yy, xy."""
    used = weights.max(axis=-2, initial=0.0, keepdims=True) > 0
    x, y = _centred(x, used), _centred(y, used)
    n = np.maximum(weights.sum(axis=-1), 1e-300)
    of_x, of_y = kernels.total(x, weights), kernels.total(y, weights)
    found = []
    for a, b, sum_a, sum_b in ((x, x, of_x, of_x), (y, y, of_y, of_y), (x, y, of_x, of_y)):
        raw = kernels.total(a * b, weights)
        found.append(raw - sum_a * sum_b / n)
        if a is b:  # equal but for rounding is equal
            found[-1] = np.where(found[-1] > 1e-13 * raw, found[-1], 0.0)
    return tuple(found)


def _centred(x: Array, used: Array) -> Array:
    """Values about their mean over the used items, so that little is lost to rounding.

    A vector without spread beyond rounding becomes zeros (scipy's bound of near-constant input).
    """
    varied = _varied(x, used)[..., None]
    count = np.maximum(used.sum(axis=-1, keepdims=True), 1)
    mean = _filled(x, used, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(varied, x - mean, 0.0)


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


def _difference_parts(x: Array, y: Array, weights: Array) -> Parts:
    """Sums of products of differences over pairs: n times those about the mean."""
    n = weights.sum(axis=-1)
    return tuple(n * part for part in _moments(x, y, weights))


def _of_matrices(x: Array, y: Array, weights: Array) -> Parts:
    raise ValueError("this statistic is of matrices [sources, systems], not of vectors")


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

    exact = threshold == 0
    return Statistic(
        "acc_eq", "acc_eq", parts, _accuracy, chance=np.nan, monotone=exact, scale_free=exact
    )


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
            of_rows=moments_of_rows,
        ),
        Statistic(
            "spearman", "Spearman's rho", _rank_moments, _correlation, least=3, direct=spearman
        ),
        Statistic(
            "kendall",
            "Kendall's tau-b",
            _tau_parts,
            _correlation,
            alone=3,
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
        acc_eq(),
        Statistic("preference", "preference accuracy", _preference_parts, _preference, chance=0.5),
        Statistic(
            "difference-pearson",
            "Pearson's r of differences",
            _difference_parts,
            _correlation,
            monotone=False,
            pools=True,
            levels=("source",),
        ),
        Statistic(
            "soft-pairwise-accuracy",
            "soft pairwise accuracy",
            _of_matrices,
            _accuracy,
            chance=np.nan,
            monotone=False,
            additive=False,
            levels=("system",),
            whole=soft_agreement,
            lacking="no two systems share a source with both values",
        ),
    )
}
