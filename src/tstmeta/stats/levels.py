"""At which level a metric is held against people: pooled, per source, by system, within tasks.

A level is a grouping around any statistic of two vectors.  Groups are given as one label an item.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from .correlation import Correlation

Statistic = Callable[[ArrayLike, ArrayLike], Correlation]


def pooled(statistic: Statistic, human: ArrayLike, metric: ArrayLike) -> Correlation:
    """All items in one vector (lai2023 calls it dataset level)."""
    return statistic(human, metric)


def grouped(
    statistic: Statistic,
    human: ArrayLike,
    metric: ArrayLike,
    groups: ArrayLike,
    *,
    undefined: float = math.nan,
) -> Correlation:
    """The statistic in each group, then the plain mean over groups (by source: sample level).

    ``undefined`` replaces a group's value when it has none (constant vector, under three pairs):
    NaN leaves the group out, 0 counts it as no agreement, as lai2023 does.  ``n`` counts groups
    and there is no p-value.
    """
    x, y, labels = np.asarray(human, float), np.asarray(metric, float), np.asarray(groups)
    values = []
    for label in dict.fromkeys(labels.tolist()):
        inside = labels == label
        value = statistic(x[inside], y[inside]).value
        values.append(value if math.isfinite(value) else undefined)
    kept = [value for value in values if math.isfinite(value)]
    if not kept:
        return Correlation(math.nan, math.nan, 0, "no group has a value")
    return Correlation(float(np.mean(kept)), math.nan, len(kept))


def means(values: ArrayLike, groups: ArrayLike) -> tuple[list[str], np.ndarray]:
    """Mean of the finite values of each group, groups in order of first appearance."""
    x, labels = np.asarray(values, float), np.asarray(groups)
    names = list(dict.fromkeys(labels.tolist()))
    found = [x[(labels == name) & np.isfinite(x)] for name in names]
    return names, np.array([math.fsum(v) / len(v) if len(v) else math.nan for v in found])


def by_group_means(
    statistic: Statistic, human: ArrayLike, metric: ArrayLike, groups: ArrayLike
) -> Correlation:
    """The statistic over group means (by system: system level).

    Sums are exact (math.fsum), so that systems with the same ratings are tied, not ranked by
    rounding noise.
    """
    return statistic(means(human, groups)[1], means(metric, groups)[1])


def pairwise_accuracy(human: ArrayLike, metric: ArrayLike) -> Correlation:
    """Share of pairs that metric and human order alike, in [0, 1] (lai2023 Eq. 1).

    A pair counts if sign(metric difference) equals sign(human difference); two ties agree.
    ``n`` is the number of pairs with all four values present.
    """
    x, y = np.array(human, float), np.array(metric, float)
    x[~np.isfinite(x)] = y[~np.isfinite(y)] = math.nan
    first, second = np.triu_indices(len(x), k=1)
    dx, dy = x[first] - x[second], y[first] - y[second]
    both = np.isfinite(dx) & np.isfinite(dy)
    if not both.any():
        return Correlation(math.nan, math.nan, 0, "no pair of values")
    agree = np.sign(dx[both]) == np.sign(dy[both])
    return Correlation(float(agree.mean()), math.nan, int(both.sum()))
