"""Distances, negative numbers and zeros inside a geometric mean: decided here, once.

Metrics come on any scale and in either direction; a geometric mean wants positive numbers of which
more is better.  What is done about it:

1. **Direction.**  A metric of which less is better has its sign turned.  The direction is what the
   metric says of itself for a basis, never what the ratings at hand suggest: a metric that agrees
   the wrong way round is a bad metric, and to turn it because of the ratings would be fitting.
2. **Scale.**  Each metric is mapped linearly, from two quantiles of the *training* items to 0 and
   1; what lies beyond is cut.  Quantiles and not the ends, because one perplexity of 100,000 would
   push all others together.  Where the quantiles coincide, the ends are used; a metric that is
   constant in training is 1 everywhere, a factor without effect.
3. **Zero.**  A zero would make the whole mean zero, however good the other parts are.  So the
   scaled value u becomes ``FLOOR + (1 - FLOOR) u``.

Pang and Gimpel's GM needs none of this: it has thresholds, and there a zero is meant.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import metrics

Array = npt.NDArray[np.float64]

#: The least that a scaled value can be.
FLOOR = 0.01
#: Quantiles of the training items that become 0 and 1.
ENDS = (0.025, 0.975)
#: Spread below this share of the largest value is rounding.
_FLAT = 1e-12


def lower_is_better(name: str, basis: str, lower: Collection[str] = ()) -> bool:
    """Whether less of a metric is better on a basis.

    Metrics that are not registered count as better when higher, unless ``lower`` names them.
    """
    if name in lower:
        return True
    return not name.startswith("released:") and metrics.lower_is_better(name, basis)


class Scaling(NamedTuple):
    """A map of M metrics onto [FLOOR, 1], more being better; see the top of this module.

    ``low`` and ``high`` are the oriented values ``[M]`` that become 0 and 1, equal where nothing
    varied; ``lower`` says of which metrics less is better.
    """

    lower: np.ndarray
    low: Array
    high: Array

    @classmethod
    def fitted(cls, values: Array, lower: np.ndarray) -> Scaling:
        """Fitted on training items ``[M, n]``; without any value a metric counts as constant."""
        upright = oriented(values, lower)
        low, high = np.zeros(len(upright)), np.zeros(len(upright))
        full = np.isfinite(upright).all(axis=1) & (upright.shape[1] > 0)
        quantiles = np.full((len(upright), 2), np.nan)
        if full.any():  # all at once: a fit on noise asks for thousands
            quantiles[full] = np.quantile(upright[full], ENDS, axis=1).T
        for place, row in enumerate(upright):
            row = row[np.isfinite(row)]
            if not len(row):
                continue
            ends = quantiles[place] if full[place] else np.quantile(row, ENDS)
            if not _apart(*ends):
                ends = np.array([row.min(), row.max()])
            low[place], high[place] = ends if _apart(*ends) else (ends[0], ends[0])
        return cls(np.asarray(lower, dtype=bool), low, high)

    def __call__(self, values: Array) -> Array:
        """Values ``[M, n]`` on [FLOOR, 1]; NaN stays NaN."""
        upright = oriented(values, self.lower)
        width = (self.high - self.low)[:, None]
        flat = width == 0
        with np.errstate(over="ignore"):  # far out on a tiny scale: cut like all that lies beyond
            share = (upright - self.low[:, None]) / np.where(flat, 1.0, width)
        share = np.clip(share, 0.0, 1.0)
        share = np.where(flat & np.isfinite(upright), 1.0, share)
        return FLOOR + (1.0 - FLOOR) * share


def _apart(low: float, high: float) -> bool:
    return bool(high - low > _FLAT * max(abs(low), abs(high)))


def oriented(values: Array, lower: np.ndarray) -> Array:
    """Values ``[M, n]`` with the sign of distances turned, so that more is better."""
    return np.where(np.asarray(lower, dtype=bool)[:, None], -np.asarray(values), values)


def geometric_mean(values: Array, weights: Array | None = None) -> Array:
    """Weighted geometric mean over metrics: ``[M, n]`` and weights ``[M]`` to ``[n]``.

    Weights are divided by their sum; without any, all count the same.  Weights ``[C, M]`` give
    ``[C, n]``.  NaN where any part of a positive weight is NaN.  Values must be above zero.
    """
    some = np.asarray(values, dtype=float)
    given = np.ones(len(some)) if weights is None else np.asarray(weights, dtype=float)
    total = given.sum(axis=-1, keepdims=True)
    if (given < 0).any() or (total <= 0).any():
        raise ValueError("weights of a geometric mean are zero or more, and not all zero")
    if (some <= 0).any():
        raise ValueError("a geometric mean needs values above zero; scale them first")
    used = given.reshape(-1, len(some)).any(axis=0)
    return np.exp((given / total)[..., used] @ np.log(some[used]))
