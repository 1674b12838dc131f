"""What a correlation with content may owe to something else, and what is left without it.

Four questions to any metric: what remains once style (or fluency) is held fixed (:func:`partial`);
does it follow the dimension it claims more than the others (:func:`discriminant`); does the value
hold in every part of the data (:func:`strata`); which errors does it see (:func:`sensitivity`)?

Matrices are ``[sources, systems]``, NaN where there is nothing; signs are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, deviation
from .matrices import Setting, resampled
from .partial_correlation import checked, partial, partials, scores_of
from .resampling import Draws, everything

__all__ = [
    "Cut",
    "Discriminant",
    "Sensitivity",
    "Strata",
    "cut",
    "discriminant",
    "partial",
    "partials",
    "sensitivity",
    "strata",
]

#: Numbers held at once.
_ROOM = 2**23

# ---------------------------------------------------------------------- the wrong dimension


class Discriminant(NamedTuple):
    """Each metric against each human dimension.

    Attributes:
        dimensions: names of the columns.
        value: ``[M, N]``.
        drawn: ``[M, N, D]``; D = 0 without draws.
        n: items that have a value in every dimension ``[M]``.
    """

    dimensions: list[str]
    value: Array
    drawn: Array
    n: Array

    def gap(self, right: str, wrong: str) -> tuple[Array, Array]:
        """The right dimension minus a wrong one: values ``[M]`` and draws ``[M, D]``.

        Above 0 the metric follows the dimension that it claims more than the other, as it must; for
        a metric where less is better, below 0.

        Raises:
            ValueError: a dimension that is not there.
        """
        for name in (right, wrong):
            if name not in self.dimensions:
                known = ", ".join(self.dimensions)
                raise ValueError(f"no such dimension: {name}; known: {known}")
        a, b = self.dimensions.index(right), self.dimensions.index(wrong)
        return self.value[:, a] - self.value[:, b], self.drawn[:, a] - self.drawn[:, b]


def discriminant(
    dimensions: Mapping[str, ArrayLike],
    metrics: ArrayLike,
    setting: Setting,
    draws: Draws | None = None,
) -> Discriminant:
    """Each metric against several human dimensions (Campbell and Fiske 1959).

    A metric should agree with the dimension that it claims (convergent validity) and less with the
    others (discriminant validity).  All dimensions are looked at over the same items, those that
    have a value in each, and under the same draws, so that differences are paired.

    Args:
        dimensions: name -> values ``[S, K]``.
        metrics: ``[M, S, K]``.

    Raises:
        ValueError: no dimension, or shapes that do not fit.
    """
    if not dimensions:
        raise ValueError("at least one dimension is needed")
    humans = np.stack([np.asarray(one, dtype=float) for one in dimensions.values()])
    _, y, humans = checked(humans[0], metrics, humans)
    everywhere = np.isfinite(humans).all(axis=0)
    humans = np.where(everywhere, humans, np.nan)
    values, drawn = _with_draws(humans, y, setting, draws)
    n = (everywhere & np.isfinite(y)).sum(axis=(1, 2))
    return Discriminant(list(dimensions), values, drawn, n)


def _with_draws(humans: Array, y: Array, setting: Setting, draws: Draws | None):
    """Several human matrices ``[N, S, K]``: estimates ``[M, N]`` and draws ``[M, N, D]``."""
    one = everything(y.shape[1:])
    values = [resampled(human, y, setting, one)[:, 0] for human in humans]
    none = np.empty((len(y), 0))
    drawn = [none if draws is None else resampled(human, y, setting, draws) for human in humans]
    return np.stack(values, axis=1), np.stack(drawn, axis=1)


# ------------------------------------------------------------------------------------ strata


class Cut(NamedTuple):
    """Items cut into strata by a value.

    Attributes:
        stratum: number of each item's stratum ``[S, K]``, from 0; -1 where there is no value.
        edges: highest value of each stratum but the last.
        ranges: lowest and highest value in each stratum.
    """

    stratum: Array
    edges: list[float]
    ranges: list[tuple[float, float]]


def cut(values: ArrayLike, parts: int = 3) -> Cut:
    """Cut items into ``parts`` of equal size by a value ``[S, K]``, as far as ties let them.

    Edges are values that occur (quantiles without interpolation); an item on an edge belongs below
    it, so equal values are never split.  With many ties strata differ in size, and there are fewer
    of them where two edges fall on one value.

    Raises:
        ValueError: fewer than two parts, or no value at all.
    """
    given = np.asarray(values, dtype=float)
    inside = given[np.isfinite(given)]
    if parts < 2 or not len(inside):
        raise ValueError("two parts or more and at least one value are needed")
    shares = np.arange(1, parts) / parts
    edges = np.unique(np.quantile(inside, shares, method="inverted_cdf"))
    edges = edges[edges < inside.max()]
    stratum = np.searchsorted(edges, np.where(np.isfinite(given), given, inside.max()))
    stratum = np.where(np.isfinite(given), stratum, -1)
    ranges = [
        (float(given[stratum == one].min()), float(given[stratum == one].max()))
        for one in range(len(edges) + 1)
    ]
    return Cut(stratum, edges.tolist(), ranges)


class Strata(NamedTuple):
    """Values inside each stratum of items.

    Attributes:
        names: strata, in order of their labels.
        value: ``[M, N]``, NaN where a stratum has none.
        drawn: ``[M, N, D]``; D = 0 without draws.
        n: items with both values ``[M, N]``.
        spread: standard deviation of people's values in each stratum ``[N]``: where it is small, a
            correlation is small for that reason alone (restriction of range).
    """

    names: list
    value: Array
    drawn: Array
    n: Array
    spread: Array


def strata(
    human: ArrayLike,
    metrics: ArrayLike,
    by: ArrayLike,
    setting: Setting,
    draws: Draws | None = None,
) -> Strata:
    """The values of a setting inside strata of items.

    Args:
        human: ``[S, K]``.
        metrics: ``[M, S, K]``.
        by: stratum of each item ``[S, K]``: numbers as in :attr:`Cut.stratum` (below 0: none) or
            texts (empty: none).

    Raises:
        ValueError: shapes that do not fit, or no item in any stratum.
    """
    x, y, _ = checked(human, metrics, np.empty((0, *np.shape(human))))
    labels = np.asarray(by)
    if labels.shape != x.shape:
        raise ValueError(f"strata have shape {labels.shape}, needed is {x.shape}")
    there = labels >= 0 if labels.dtype.kind in "iuf" else labels != ""
    names = np.unique(labels[there]).tolist()
    if not names:
        raise ValueError("no item is in any stratum")
    humans = np.stack([np.where(labels == one, x, np.nan) for one in names])
    values, drawn = _with_draws(humans, y, setting, draws)
    n = (np.isfinite(humans) & np.isfinite(y)[:, None]).sum(axis=(2, 3))
    spread = np.array([deviation(one[np.isfinite(one)]) for one in humans])
    return Strata(names, values, drawn, n, spread)


# ------------------------------------------------------------------------- sensitivity to errors


class Sensitivity(NamedTuple):
    """How far a metric tells kept rewrites from wrong ones.

    Attributes:
        gap: mean of kept less mean of wrong, in standard deviations ``[M]``.
        preference: share of pairs in which the kept one scores higher, ties half ``[M]``; 0.5 is
            chance.  Unpaired this is the area under the ROC curve.
        gaps, preferences: the same in every draw ``[M, D]``; D = 0 without draws.
        n: sources that have both (paired), or the smaller of the two groups of items ``[M]``.
        paired: whether rewrites are compared within sources.
    """

    gap: Array
    preference: Array
    gaps: Array
    preferences: Array
    n: Array
    paired: bool


def sensitivity(
    metrics: ArrayLike,
    kept: ArrayLike,
    wrong: ArrayLike,
    *,
    scale: Literal["both", "kept"] = "both",
    draws: Draws | None = None,
) -> Sensitivity:
    """Does a metric put rewrites that keep the content above those that do not?

    Where any source has both, they are compared within sources: all pairs of a source, then the
    mean over sources, and other sources are left out.  Otherwise all kept are compared with all
    wrong ones.  The gap is divided by the standard deviation of scores within the two groups
    (Cohen 1988), not by that of the differences, so that paired and unpaired gaps can be compared
    (Dunlap et al. 1996); ``scale="kept"`` takes that of the kept ones alone (Glass 1976).

    Args:
        metrics: ``[M, S, K]``.
        kept, wrong: which items are which ``[S, K]``, true or false.

    Returns:
        NaN for a gap where scores do not vary, and for both where no pair has scores.

    Raises:
        ValueError: shapes that do not fit, an item that is both, or another scale.
    """
    y = scores_of(metrics)
    good, bad = np.asarray(kept, dtype=bool), np.asarray(wrong, dtype=bool)
    if good.shape != y.shape[1:] or bad.shape != y.shape[1:]:
        raise ValueError(f"masks of shape {y.shape[1:]} are needed, got {good.shape}, {bad.shape}")
    if (good & bad).any() or scale not in ("both", "kept"):
        raise ValueError("an item is kept or wrong, not both; the scale is both or kept")
    paired = bool((good.any(axis=1) & bad.any(axis=1)).any())
    if paired:
        there = [(side & np.isfinite(y)).any(axis=2, keepdims=True) for side in (good, bad)]
        y = np.where(there[0] & there[1], y, np.nan)
    human = np.where(good, 1.0, np.where(bad, 0.0, np.nan))
    setting = Setting("preference", "source" if paired else "pooled")
    sides = [np.isfinite(y) & side for side in (good, bad)]
    if paired:
        n = sides[0].any(axis=2).sum(axis=1)
    else:
        n = np.minimum(*(side.sum(axis=(1, 2)) for side in sides))
    preference, preferences = _with_draws(human[None], y, setting, draws)
    one = everything(y.shape[1:])
    gap = _gaps(y, sides, paired, scale, one)[:, 0]
    gaps = np.empty((len(y), 0)) if draws is None else _gaps(y, sides, paired, scale, draws)
    return Sensitivity(gap, preference[:, 0], gaps, preferences[:, 0], n, paired)


def _gaps(y: Array, sides: list[Array], paired: bool, scale: str, draws: Draws) -> Array:
    """Standardised gaps ``[M, D]`` of scores ``[M, S, K]`` in the two groups of items."""
    used = sides[0] | sides[1]
    count = np.maximum(used.sum(axis=(1, 2), keepdims=True), 1)
    largest = np.where(used, np.abs(y), 0.0).max(axis=(1, 2), initial=0.0, keepdims=True)
    y = np.ldexp(np.where(used, y, 0.0), -np.frexp(largest)[1])  # squares that stay in range
    y = np.where(used, y - y.sum(axis=(1, 2), keepdims=True) / count, 0.0)
    found = []
    for part in draws.parts(max(1, _ROOM // max(1, y.size))):
        # sums of each source [M, D, S]: how many, scores, squares
        sums = [
            [np.einsum("msk,dk->mds", side * power, part.systems) for power in (1.0, y, y**2)]
            for side in sides
        ]
        of_sources = part.sources[None]
        means = [_mean_of(one, of_sources, paired, sums) for one in sums]
        squares, number = np.zeros(means[0].shape), np.zeros(means[0].shape)
        for one in sums[: 1 if scale == "kept" else 2]:
            n, total, square = ((of_sources * piece).sum(axis=2) for piece in one)
            left = square - total**2 / np.maximum(n, 1e-300)
            squares = squares + np.where(left > 1e-12 * square, left, 0.0)  # else rounding
            number = number + n
        spread = np.sqrt(squares / np.maximum(number, 1e-300))
        fine = spread > 2e-13  # of scores of which the largest is between a half and 1
        found.append(np.where(fine, (means[0] - means[1]) / np.where(fine, spread, 1.0), np.nan))
    return np.concatenate(found, axis=1) if found else np.empty((len(y), 0))


def _mean_of(one: list[Array], of_sources: Array, paired: bool, sums: list[list[Array]]) -> Array:
    """Mean of a group ``[M, D]``: over sources that have both groups (paired), or over items."""
    n, total, _ = one
    if paired:
        both = (sums[0][0] > 0) & (sums[1][0] > 0)
        total = np.where(both, total / np.where(n > 0, n, 1.0), 0.0)
        n = both.astype(float)
    below = (of_sources * n).sum(axis=2)
    above = (of_sources * total).sum(axis=2)
    return np.where(below > 0, above / np.where(below > 0, below, 1.0), np.nan)
