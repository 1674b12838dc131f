"""Many tests at once: corrected p-values, and clusters of metrics that a line may be drawn between.

Twelve metrics make sixty-six pairs, of which three come out below .05 by chance.  Holm keeps the
chance of a single false finding below alpha, whatever the tests have to do with each other;
Benjamini and Yekutieli keep the expected share of false findings below alpha, equally so.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from .kernels import Array

#: Values that are equal but for rounding share a cluster.
_ROUNDING = 1e-12


def holm(p: ArrayLike) -> Array:
    """Holm's step-down p-values, in the shape of ``p``; NaN is left alone and does not count.

    The i-th smallest of m is multiplied by m - i + 1, and none is below one that was smaller.

    Raises:
        ValueError: a p outside [0, 1].

    Source: Holm (1979), A simple sequentially rejective multiple test procedure, Section 3.
    """
    return _corrected(p, _holm)


def benjamini_yekutieli(p: ArrayLike) -> Array:
    """Benjamini and Yekutieli's p-values, in the shape of ``p``; NaN is left alone, not counted.

    Raises:
        ValueError: a p outside [0, 1].

    Source: Benjamini and Yekutieli (2001), Theorem 1.3 (scipy.stats.false_discovery_control).
    """
    return _corrected(p, lambda known: false_discovery_control(known, method="by"))


def over_pairs(p: ArrayLike, correct: Callable[[ArrayLike], Array] = holm) -> Array:
    """The same for a symmetric table ``[M, M]`` of pairs: each pair counts once, not twice.

    The diagonal is no test and becomes NaN.

    Raises:
        ValueError: a table that is not square or not symmetric.
    """
    table = _symmetric(p)
    upper = np.triu_indices(len(table), 1)
    found = np.full(table.shape, np.nan)
    found[upper] = correct(table[upper])
    found.T[upper] = found[upper]
    return found


def swaps_needed(tests: int, alpha: float = 0.05) -> int:
    """Fewest random swaps with which Holm over so many tests can find anything.

    With n swaps no p is below 1 / (n + 1), and Holm multiplies the smallest by the number of tests.
    """
    return max(1, math.ceil(tests / alpha - 1e-9) - 1)


def _corrected(p: ArrayLike, correct: Callable[[Array], Array]) -> Array:
    values = np.asarray(p, dtype=float)
    known = ~np.isnan(values)
    if ((values[known] < 0) | (values[known] > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    found = np.full(values.shape, np.nan)
    if known.any():
        found[known] = correct(values[known])
    return found


def _holm(known: Array) -> Array:
    order = np.argsort(known, kind="stable")
    steps = known[order] * np.arange(len(known), 0, -1)
    found = np.empty(len(known))
    found[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return found


def _symmetric(p: ArrayLike) -> Array:
    """A table of pairs with both halves filled; one half may be NaN."""
    table = np.asarray(p, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"a table [metrics, metrics] is needed, got shape {table.shape}")
    filled = np.where(np.isnan(table), table.T, table)
    off = ~np.eye(len(table), dtype=bool)
    if not np.allclose(filled[off], filled.T[off], rtol=0, atol=1e-9, equal_nan=True):
        raise ValueError("p[a, b] and p[b, a] differ: two-sided tests of pairs are needed")
    return filled


def significance_clusters(values: ArrayLike, p: ArrayLike, alpha: float = 0.05) -> Array:
    """Clusters of metrics by value, 1 the best: ``[M]`` whole numbers.

    Sorted by value, a line is drawn between two neighbours only where every metric above differs
    from every metric below (p at most alpha).  So metrics in different clusters always differ;
    metrics in one cluster need not be alike.  Metrics of equal value share a cluster, and nothing
    depends on the order of rows.  A p of NaN is no difference.

    Args:
        values: ``[M]``, the larger the better; NaN gets cluster 0 and has no say.
        p: two-sided, ``[M, M]``; one half may be NaN.  Correct it first if it should be.

    Raises:
        ValueError: shapes that do not fit, a table that is not symmetric, alpha outside (0, 1).
    """
    of_metric, table = np.asarray(values, dtype=float), _symmetric(p)
    if of_metric.shape != table.shape[:1]:
        raise ValueError(f"{of_metric.shape} values do not fit a table {table.shape} of pairs")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha lies between 0 and 1, got {alpha}")
    known = np.flatnonzero(~np.isnan(of_metric))
    order = known[np.argsort(-of_metric[known], kind="stable")]
    differ = table[np.ix_(order, order)] <= alpha
    clusters = np.zeros(len(of_metric), dtype=int)
    cluster = 1
    for place, metric in enumerate(order):
        if place:
            apart = of_metric[order[place - 1]] - of_metric[metric] > _ROUNDING
            cluster += bool(apart and differ[:place, place:].all())
        clusters[metric] = cluster
    return clusters
