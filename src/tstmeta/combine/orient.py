"""Distances, negative numbers and zeros inside a geometric mean: decided here, once.

A geometric mean wants positive numbers of which more is better.  A metric of which less is better
(by what it says of itself, never by the ratings) has its sign turned; each is mapped linearly, from
two quantiles of the *training* items to 0 and 1, for one perplexity of 100,000 would push all
others together; and as a zero would make the whole mean zero, u becomes ``FLOOR + (1 - FLOOR) u``.
"""

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
    """Whether less of a metric is better on a basis; of one that is not registered more is better,
    unless ``lower`` names it.
    """
    registered = not name.startswith("released:")
    return name in lower or (registered and metrics.lower_is_better(name, basis))


class Scaling(NamedTuple):
    """A map of M metrics onto [FLOOR, 1], more being better.

    ``low`` and ``high`` are the oriented values ``[M]`` that become 0 and 1, equal where nothing
    varied: such a metric is 1 everywhere.  ``lower`` says of which metrics less is better.
    """

    lower: np.ndarray
    low: Array
    high: Array

    @classmethod
    def fitted(cls, values: Array, lower: np.ndarray) -> "Scaling":
        """Fitted on training items ``[M, n]``; without any value a metric counts as constant."""
        upright = oriented(values, lower)
        upright = np.where(np.isfinite(upright).any(axis=1, keepdims=True), upright, 0.0)
        # the second takes a row at a time, and a fit on noise asks for thousands
        quantile = np.quantile if np.isfinite(upright).all() else np.nanquantile
        low, high = quantile(upright, ENDS, axis=1)
        least, most = np.nanmin(upright, axis=1), np.nanmax(upright, axis=1)
        low, high = np.where(_apart(low, high), (low, high), (least, most))
        return cls(np.asarray(lower, dtype=bool), low, np.where(_apart(low, high), high, low))

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


def _apart(low: Array, high: Array) -> np.ndarray:
    return high - low > _FLAT * np.maximum(np.abs(low), np.abs(high))


def oriented(values: Array, lower: np.ndarray) -> Array:
    """Values ``[M, n]`` with the sign of distances turned, so that more is better."""
    return np.where(np.asarray(lower, dtype=bool)[:, None], -np.asarray(values), values)


def geometric_mean(values: Array, weights: Array) -> Array:
    """Weighted geometric mean over metrics: ``[M, n]``, above 0, and weights ``[M]`` to ``[n]``.

    Weights are divided by their sum.  Weights ``[C, M]`` give ``[C, n]``.  NaN where any part of a
    positive weight is NaN.
    """
    total = weights.sum(axis=-1, keepdims=True)
    used = weights.reshape(-1, len(values)).any(axis=0)
    return np.exp((weights / total)[..., used] @ np.log(values[used]))
