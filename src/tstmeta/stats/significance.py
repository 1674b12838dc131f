"""Is one metric better than another?  Corrections for many tests; clusters and rank sets from
simultaneous differences of all pairs.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array

#: Differences that spread less than this do not spread, and values closer than this are equal.
_ROUNDING = 1e-12
#: The level of all tests.
ALPHA = 0.05 + _ROUNDING
#: A pair without a value in a larger share of the draws cannot be told apart.
_UNDEFINED = 0.025


def holm(p: ArrayLike) -> Array:
    """Holm's step-down p-values, in the shape of ``p``; NaN is left alone and does not count.

    They bound the chance of a single false discovery.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure, Section 3.
    """
    values = np.asarray(p, dtype=float)
    adjusted, known = np.full(values.shape, np.nan), ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    steps = values[known][order] * np.arange(len(order), 0, -1)
    stepped = np.empty(len(order))
    stepped[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    adjusted[known] = stepped
    return adjusted


def significance_clusters(values: ArrayLike, p: ArrayLike) -> Array:
    """Clusters of metrics by value, 1 the best: ``[M]`` whole numbers.

    Sorted by value, a line is drawn between two neighbours only where every metric above differs
    from every metric below (p at most .05; NaN is no difference).  So metrics of different
    clusters always differ; metrics of the same one may differ.  Equal values share a cluster.

    Args:
        values: ``[M]``, the larger the better; NaN gets cluster 0 and does not count.
        p: two-sided and symmetric, ``[M, M]``, corrected if it should be.
    """
    numbers, table = np.asarray(values, dtype=float), np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(numbers))
    order = known[np.argsort(-numbers[known], kind="stable")]
    differ = table[np.ix_(order, order)] <= ALPHA
    clusters = np.zeros(len(numbers), dtype=int)
    for place, metric in enumerate(order):
        before = order[max(place - 1, 0)]
        apart = numbers[before] - numbers[metric] > _ROUNDING
        clusters[metric] = max(clusters[before], 1) + bool(apart and differ[:place, place:].all())
    return clusters


def simultaneous_p(
    estimates: ArrayLike,
    values: ArrayLike,
    *,
    units: int,
    gaps: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:
    """Two-sided p of the difference of every two metrics, corrected for all pairs ``[M, M]``.

    The share of draws, the data themselves being one, in which the largest deviation of all pairs,
    in standard deviations of a pair's difference over draws, is at least as large as the pair's
    difference: a single-step max-t test (Romano and Wolf 2005, Exact and Approximate Stepdown
    Methods for Multiple Hypothesis Testing, JASA 100, Section 4).  NaN on the diagonal; 1 for a
    pair without a difference or that has no value in one draw of forty; another draw in which a
    pair has no value counts as the largest deviation.  Where no difference varies, every p is 1.

    Args:
        estimates, values: ``[M]``, and ``[M, D]`` with NaN where a draw has no value.
        units: how many were drawn (the fewest of several kinds); few widen the bound.
        gaps: differences of the pairs i < j ``[P]`` and their draws ``[P, D]`` where they are not
            those of estimates and values; one whose sign is not that of the estimates is none.
    """
    numbers, drawn = np.asarray(estimates, dtype=float), np.asarray(values, dtype=float)
    first, second = np.triu_indices(len(numbers), 1)
    apart = numbers[first] - numbers[second]
    pairs = gaps or (apart, drawn[first] - drawn[second])
    centres, drawn = (np.asarray(side, dtype=float) for side in pairs)
    known, draws = np.isfinite(drawn), drawn.shape[1]
    steady = np.isfinite(apart + centres) & ((~known).sum(axis=1) <= _UNDEFINED * draws)
    p, table = np.ones(len(first)), np.full((len(numbers),) * 2, np.nan)
    defined = drawn[np.ix_(steady, known[steady].all(axis=0))]
    if defined.shape[1] > 1 and units > 1:
        p[steady] = _max_t(centres[steady], defined, draws, units)
    p[~(apart * centres > 0)] = 1.0
    table[first, second] = table[second, first] = p
    return table


def _max_t(centres: Array, defined: Array, draws: int, units: int) -> Array:
    """p of differences ``[P]`` from those of the ``draws`` that are defined ``[P, D]``."""
    spread = defined.std(axis=1, ddof=1)
    varies = spread > _ROUNDING
    if not varies.any():
        return np.ones(len(centres))
    scale = np.where(varies, spread, _ROUNDING)
    size = np.abs(centres) / scale
    # lower tails, where both functions keep their digits
    size = -special.ndtri(special.stdtr(units - 1.0, -size * np.sqrt((units - 1.0) / units)))
    largest = np.zeros(defined.shape[1])
    for row, centre, step in zip(defined[varies], centres[varies], scale[varies], strict=True):
        np.maximum(largest, np.abs(row - centre) / step, out=largest)
    return (draws - np.searchsorted(np.sort(largest), size) + 1.0) / (draws + 1.0)


def rank_sets(estimates: ArrayLike, p: ArrayLike) -> list[tuple[int, int]]:
    """Best and worst rank of each metric (1 = highest), all of them right together in 95 of 100.

    A metric's best rank is one more than the number of metrics surely above it, its worst leaves
    out those surely below (Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for Ranks, Review of
    Economic Studies 91, Section 3).  The sets of ALL metrics hold their true ranks together, any
    rank counting as true that ties of true values leave open.  Without an estimate: (0, 0).

    Args:
        estimates: ``[M]``.
        p: of each pair ``[M, M]``, corrected for all pairs, as of :func:`simultaneous_p`.
    """
    values = np.asarray(estimates, dtype=float)
    ranked = np.isfinite(values)
    above = (np.asarray(p) <= ALPHA) & (values[:, None] > values)
    best, worst = 1 + above.sum(axis=0), ranked.sum() - above.sum(axis=1)
    return list(zip(*(np.where(ranked, rank, 0).tolist() for rank in (best, worst)), strict=True))
