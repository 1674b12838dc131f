"""Many tests at once: corrected p-values, and clusters of metrics that a line may be drawn between.

Holm bounds the chance of a single false discovery, Benjamini and Yekutieli their expected share.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from .kernels import Array

#: Values that are equal but for rounding share a cluster.
_ROUNDING = 1e-12


def holm(p: ArrayLike) -> Array:
    """Holm's step-down p-values, in the shape of ``p``; NaN is left alone and does not count.

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


def benjamini_yekutieli(p: ArrayLike) -> Array:
    """Benjamini and Yekutieli's p-values, in the shape of ``p``; NaN is left alone, not counted.

    Source: Benjamini and Yekutieli (2001), Theorem 1.3 (scipy.stats.false_discovery_control).
    """
    values = np.asarray(p, dtype=float)
    adjusted, known = np.full(values.shape, np.nan), ~np.isnan(values)
    if known.any():
        adjusted[known] = false_discovery_control(values[known], method="by")
    return adjusted


def significance_clusters(values: ArrayLike, p: ArrayLike, alpha: float = 0.05) -> Array:
    """Clusters of metrics by value, 1 the best: ``[M]`` whole numbers.

    Sorted by value, a line is drawn between two neighbours only where every metric above differs
    from every metric below (p at most alpha; NaN is no difference).  So metrics in different
    clusters always differ; metrics in one need not be alike.  Equal values share a cluster.

    Args:
        values: ``[M]``, the larger the better; NaN gets cluster 0 and has no say.
        p: two-sided and symmetric, ``[M, M]``, corrected if it should be.
    """
    of_metric, table = np.asarray(values, dtype=float), np.asarray(p, dtype=float)
    known = np.flatnonzero(~np.isnan(of_metric))
    order = known[np.argsort(-of_metric[known], kind="stable")]
    differ = table[np.ix_(order, order)] <= alpha
    clusters = np.zeros(len(of_metric), dtype=int)
    for place, metric in enumerate(order):
        before = order[max(place - 1, 0)]
        apart = of_metric[before] - of_metric[metric] > _ROUNDING
        clusters[metric] = max(clusters[before], 1) + bool(apart and differ[:place, place:].all())
    return clusters
