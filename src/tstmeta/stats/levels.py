"""Exact means of groups, for values that come item by item.

The levels themselves are in :mod:`tstmeta.stats.matrices`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def means(values: ArrayLike, groups: ArrayLike) -> tuple[list[str], np.ndarray]:
    """Mean of the finite values of each group, groups in order of first appearance.

    Sums are exact (math.fsum), so that groups with the same values have the same mean, whatever
    their order.  A group without a finite value has NaN.
    """
    x, labels = np.asarray(values, float), np.asarray(groups)
    names = list(dict.fromkeys(labels.tolist()))
    found = [x[(labels == name) & np.isfinite(x)] for name in names]
    return names, np.array([math.fsum(v) / len(v) if len(v) else math.nan for v in found])
