"""Is one metric closer to people than another?  Paired permutation tests on swapped scores.

The observed difference is compared with those after swapping the scores of two metrics for random
sources, systems or cells (Deutsch, Dror and Roth 2021, Section 4.2), standardised over the cells
that have a human value and both scores.  Where the cells of a source share noise, a test that swaps
single cells rejects far too often (``benchmarks/rejection.py``).  The null hypothesis,
exchangeability, is more than equal correlations: tails may differ, too.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, constant, finite, misfit
from .matrices import Setting, estimate, resampled, with_value
from .resampling import Draws, numbered

Units = Literal["inputs", "systems", "both"]

#: Differences and scores that are equal but for rounding count as equal.
_ROUNDING = 1e-10
#: Up to here a value may change when scores are standardised, which takes some digits.
_OTHER = 0.01
#: Of at most so many possible swaps all are made.
EXACT = 4096
#: The axis along which groups lie.
_GROUPS = {"source": 0, "same-source": 0, "within-system": 1}
#: Numbers held at once.
_ROOM = 2**22
_UNITS = {"inputs": "source", "systems": "system", "both": "cell"}
_NULL = (
    "exchangeability: the two metrics' standardised scores have the same joint distribution when"
    " they are swapped in any"
)


class PermutationTest(NamedTuple):
    """The difference of two metrics and how often swapping gives one as large.

    Attributes:
        difference: the first metric's value minus the second's, over the cells that have a human
            value and both scores, and groups where both have a value.
        p: two-sided, the share of swaps whose difference is at least as large.
        n: units swapped: sources (or clusters of them), systems or cells where the metrics differ.
        smallest: the smallest p that could have come out.
        null: the null hypothesis in words.
        reason: why there is no p, or why it can only be 1.
    """

    difference: float
    p: float
    n: int
    smallest: float
    null: str
    reason: str = ""


def permutation_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    setting: Setting,
    *,
    units: Units = "inputs",
    n: int = 1000,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
) -> PermutationTest:
    """Two metrics ``[S, K]`` against people ``[S, K]``, NaN where missing.

    Args:
        units: what is swapped: ``inputs`` (sources), ``systems`` or ``both`` (single cells).
        n: random swaps; p is (b + 1) / (n + 1) with b swaps at least as large as observed (Phipson
            and Smyth 2010).  Of few possible swaps all are made, and p is b over their number.
        clusters: labels of the sources ``[S]`` (of the columns ``[K]`` where systems are swapped):
            a cluster is one unit (with ``both``: its cells under one system).
    """
    x, both = finite(human), np.stack([finite(first), finite(second)])
    if x.shape != both.shape[1:]:
        raise misfit("people and metrics [sources, systems] of one shape", x, both[0])
    shared = np.isfinite(x) & np.isfinite(both).all(axis=0)
    swaps = _swaps(shared, units, clusters, n, rng)
    flat = np.array([constant(side[shared]) for side in both])
    both, x = np.where(shared, both, np.nan), np.where(shared, x, np.nan)
    scores = both if flat.any() else _standardised(both)
    *raw, gap = estimate(x, both, setting, [(0, 1)])
    *values, observed = estimate(x, scores, setting, [(0, 1)])
    count, draws = _units_that_differ(x, scores, setting, swaps), len(swaps.flips)
    null = f"{_NULL} {_UNITS[units]}"
    if clusters is not None and units != "systems":
        null = f"{_NULL} cluster of {_UNITS[units]}s"
    if reason := _untestable(shared, flat, np.array([raw, values]), gap):
        return PermutationTest(float(gap), np.nan, count, np.nan, null, reason)
    after, random = _swapped(x, scores, setting, swaps), not swaps.exact
    # swaps after which a metric has no value count as large
    large = int((~(np.abs(after) < abs(observed) - _ROUNDING)).sum())
    p = (large + random) / (draws + random)
    # of all swaps two (none and all) are as large as the observed one
    smallest = max(min(1.0, 2.0 ** (1 - count)), random / (draws + 1))
    if count == 0:
        reason = "the standardised scores are the same in every cell: p can only be 1"
    elif count == 1:
        reason = "the metrics differ in a single unit: p can only be 1"
    return PermutationTest(float(gap), p, count, smallest, null, reason)


def _units_that_differ(x: Array, scores: Array, setting: Setting, swaps: "_Swaps") -> int:
    """How many units have a cell in which the two metrics differ and that the value is over."""
    differ = np.abs(scores[0] - scores[1]) > _ROUNDING
    if swaps.axis is not None and swaps.axis == _GROUPS.get(setting.level):
        has = with_value(x, scores, setting).all(axis=0)  # a swap leaves it as it is
        differ &= np.expand_dims(has, 1 - swaps.axis)
    return len(np.unique(swaps.unit[differ]))


def _untestable(shared: Array, flat: Array, values: Array, gap: float) -> str:
    """Why there is no p; ``values [2, 2]`` are of the raw and of the standardised scores."""
    if not shared.any():
        return "no cell has a human value and both scores"
    if flat.any():
        return f"all scores of {'both metrics' if flat.all() else 'one metric'} are equal"
    if (none := np.isnan(values[0])).any():
        return f"no value in this setting: {'both metrics' if none.all() else 'one metric'}"
    if np.isnan(gap):
        return "there is no group in which both metrics have a value"
    if np.abs(values[0] - values[1]).max() > _OTHER:
        return (
            "standardised scores have another value: the statistic has a threshold on the scores'"
            " own scale, or many scores differ by too little to survive it"
        )
    return ""


class _Swaps(NamedTuple):
    """``flips [D, U]`` are 1 where a unit is swapped, ``unit [S, K]`` numbers the unit of each
    cell; units lie along ``axis`` 0 (sources), 1 (systems) or None (cells).  ``exact``: all 2^U
    swaps are there, the d-th being the binary digits of d.
    """

    flips: Array
    unit: Array
    axis: int | None
    exact: bool


def _swaps(
    counted: Array, units: str, clusters: ArrayLike | None, n: int, rng: np.random.Generator
) -> _Swaps:
    """Random swaps, or all if these are few, of units with a cell that is ``counted [S, K]``."""
    row, column = (np.arange(size) for size in counted.shape)
    if clusters is not None:
        line = column if units == "systems" else row
        line[:] = numbered("clusters", clusters, len(line))
    labels = {
        "inputs": row[:, None] + 0 * column,
        "systems": 0 * row[:, None] + column,
        "both": row[:, None] * len(column) + column,
    }
    if units not in labels:
        raise ValueError(f"unknown unit {units!r}; known: {', '.join(labels)}")
    known = np.unique(labels[units][counted])
    # units without a cell that counts share the number of their neighbour, which hurts nothing
    unit = np.minimum(np.searchsorted(known, labels[units]), max(len(known) - 1, 0))
    exact = 2 ** len(known) <= EXACT
    if exact:
        flips = np.arange(2 ** len(known))[:, None] >> np.arange(len(known)) & 1
    else:
        flips = rng.integers(0, 2, (n, len(known)), dtype=np.int8)
    axis = {"inputs": 0, "systems": 1, "both": None}[units]
    return _Swaps(flips.astype(np.int8), unit, axis, exact)


def _standardised(scores: Array) -> Array:
    """Two metrics ``[2, S, K]`` with variance 1 and one mean, without differences by rounding."""
    scores = scores / np.nanmax(np.abs(scores), axis=(1, 2), keepdims=True)  # squares are numbers
    mean, spread = (f(scores, axis=(1, 2), keepdims=True) for f in (np.nanmean, np.nanstd))
    result = (scores - mean) / spread
    values, place = np.unique(result - np.nanmin(result), return_inverse=True)
    distinct = np.append(True, ~(np.diff(values) <= 1e-12))
    return values[distinct][np.cumsum(distinct) - 1][place]


def _swapped(x: Array, scores: Array, setting: Setting, swaps: _Swaps) -> Array:
    """First metric minus second after each swap ``[D]``, NaN where either has no value.

    A swap is a weighting of the stacked scores of both metrics.  Where a level standardises within
    tasks, or single cells are swapped within groups, the scores themselves are swapped.
    """
    axis, unit = swaps.axis, swaps.unit
    if setting.level == "pooled" and axis != 0:  # no layout is needed: all in a column
        x, scores, unit, axis = x.reshape(-1, 1), scores.reshape(2, -1, 1), unit.reshape(-1, 1), 0
    by_value = setting.level == "within-task" or axis is None
    if not by_value:
        unit = unit[0] if axis else unit[:, 0]
        x = np.concatenate([x, x], axis=axis)
        # what the second has after a swap is what the first has when they stand the other way
        scores = np.stack([np.concatenate(side, axis=axis) for side in (scores, scores[::-1])])
    parts, step = [], max(1, _ROOM // (2 * x.size))
    for start in range(0, len(swaps.flips), step):
        # take, unlike brackets, leaves the weights of a draw side by side in memory
        flip = swaps.flips[start : start + step].take(unit, axis=1)
        sides, weights = scores, [np.ones((len(flip), size)) for size in x.shape]
        if by_value:
            sides = np.stack([np.where(flip > 0, scores[1 - k], scores[k]) for k in (0, 1)])
        else:
            weights[axis or 0] = np.concatenate([1.0 - flip, flip], axis=1)
        parts.append(resampled(x, sides, setting, Draws(*weights), [(0, 1)])[2])
    return np.concatenate(parts)
