"""Scores of two metrics on one scale, swapped, and what a setting makes of them after each swap.

A swap is a weighting: stack the scores of both metrics, and give weight 1 to the copy that stays
with the first metric and 0 to the other.  Where a level standardises within tasks, a statistic is
one of matrices, or single cells are swapped within groups, the scores themselves are swapped.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import FLAT, Array
from .matrices import Setting, resampled
from .resampling import Draws, numbered

#: Numbers held at once.
_ROOM = 2**22


class Swaps(NamedTuple):
    """Which units are swapped in each draw.

    ``flips [D, U]`` are 1 where a unit is swapped, ``unit [S, K]`` numbers the unit of each cell;
    units lie along ``axis`` 0 (sources), 1 (systems) or None (cells).  ``exact``: all 2^U swaps are
    there, the d-th being the binary digits of d.
    """

    flips: Array
    unit: Array
    axis: int | None
    exact: bool


def swaps_of(
    counted: Array,
    units: str,
    clusters: ArrayLike | None,
    n: int,
    enumerate_up_to: int,
    rng: np.random.Generator,
) -> Swaps:
    """Random swaps, or all if these are few, of units with a cell that is ``counted [S, K]``."""
    sources, systems = counted.shape
    row, column = np.arange(sources), np.arange(systems)
    if clusters is not None:
        lines = {"systems": (systems, "systems")}.get(units, (sources, "sources"))
        if np.shape(clusters) != lines[:1]:
            raise ValueError(f"clusters are labels of the {lines[0]} {lines[1]}")
        number = numbered(clusters)
        row, column = (row, number) if units == "systems" else (number, column)
    labels = {
        "inputs": row[:, None] + 0 * column,
        "systems": 0 * row[:, None] + column,
        "both": row[:, None] * systems + column,
    }
    if units not in labels:
        raise ValueError(f"unknown unit {units!r}; known: {', '.join(labels)}")
    known = np.unique(labels[units][counted])
    # units without a cell that counts share the number of their neighbour, which hurts nothing
    unit = np.minimum(np.searchsorted(known, labels[units]), max(len(known) - 1, 0))
    exact = 2.0 ** min(len(known), 1000) <= enumerate_up_to
    if exact:
        flips = np.arange(2 ** len(known))[:, None] >> np.arange(len(known)) & 1
    else:
        flips = rng.integers(0, 2, (n, len(known)), dtype=np.int8)
    axis = {"inputs": 0, "systems": 1, "both": None}[units]
    return Swaps(flips.astype(np.int8), unit, axis, exact)


def standardise(scores: Array) -> tuple[Array, Array]:
    """Two metrics ``[2, S, K]`` on one scale, and which of them are constant ``[2]``.

    To variance 1 and one mean, not 0: both metrics count from the lowest score of either, so sums
    lose nothing to cancellation.  Constant and empty metrics become NaN.
    """
    given = np.isfinite(scores)
    filled = np.where(given, scores, 0.0)
    size = np.abs(filled).max(axis=(-2, -1), keepdims=True, initial=0.0)
    filled = filled / np.where(size > 0, size, 1.0)  # at most 1, so that squares stay finite
    low = np.min(filled, axis=(-2, -1), where=given, initial=1.0, keepdims=True)
    above = np.where(given, filled - low, 0.0)
    flat = ~(above.max(axis=(-2, -1), initial=0.0, keepdims=True) > FLAT)
    count = np.maximum(given.sum(axis=(-2, -1), keepdims=True), 1)
    mean = above.sum(axis=(-2, -1), keepdims=True) / count
    variance = (np.where(given, above - mean, 0.0) ** 2).sum(axis=(-2, -1), keepdims=True) / count
    spread = np.where(flat, 1.0, np.sqrt(variance))
    start = -mean / spread  # how far the lowest score is below the mean
    result = above / spread + (start - start.min())
    result = np.where(given & ~flat, result, np.nan)
    if not flat.any():
        _tie(result, 1e-13 + 16 * np.finfo(float).eps / float(spread.min()))
    return result, flat[:, 0, 0]


def _tie(pair: Array, rounding: float) -> None:
    """Give scores ``[2, S, K]`` of two metrics that differ by rounding the lower value of both,
    where each metric has a single value there.
    """
    known = [np.unique(scores[np.isfinite(scores)]) for scores in pair]
    values = np.concatenate(known)
    order = np.argsort(values, kind="stable")
    fresh = np.diff(values[order], prepend=-np.inf) > rounding
    group = np.empty(len(values), dtype=int)
    group[order] = np.cumsum(fresh) - 1
    split = len(known[0])
    counts = [np.bincount(part, minlength=fresh.sum()) for part in (group[:split], group[split:])]
    single = (counts[0] == 1) & (counts[1] == 1)
    values = np.where(single[group], values[order][fresh][group], values)
    for scores, of, tied in zip(pair, known, (values[:split], values[split:]), strict=True):
        given = np.isfinite(scores)
        scores[given] = tied[np.searchsorted(of, scores[given])]


def swapped(x: Array, scores: Array, setting: Setting, swaps: Swaps) -> Array:
    """First metric minus second after each swap ``[D]``, NaN where either has no value; at levels
    of groups over the groups where both have a value after that swap.

    From human values ``[S, K]`` and standardised scores ``[2, S, K]`` with the same cells.
    """
    level = setting.level
    if level in ("pooled", "task") and swaps.axis != 0:  # ask for no layout: all cells in a column
        if setting.tasks is not None:
            setting = setting._replace(tasks=np.repeat(np.asarray(setting.tasks), x.shape[1]))
        x, scores = x.reshape(-1, 1), scores.reshape(2, -1, 1)
        swaps = swaps._replace(unit=swaps.unit.reshape(-1, 1), axis=0)
    whole = setting.function.whole is not None or level == "within-task" or swaps.axis is None
    after = _by_value if whole else _by_weight
    step = max(1, _ROOM // (2 * scores.size if whole else x.size))
    parts = [swaps.flips[start : start + step] for start in range(0, len(swaps.flips), step)]
    return np.concatenate([after(x, scores, setting, swaps, part) for part in parts])


def _by_weight(x: Array, scores: Array, setting: Setting, swaps: Swaps, flips: Array) -> Array:
    """Differences after each swap, as weights of stacked scores."""
    axis = 1 if swaps.axis else 0
    unit = swaps.unit[0] if axis else swaps.unit[:, 0]
    x = np.concatenate([x, x], axis=axis)
    # what the second metric has after a swap is what the first has when they stand the other way
    stacked = np.stack([np.concatenate(side, axis=axis) for side in (scores, scores[::-1])])
    if setting.tasks is not None and axis == 0:
        setting = setting._replace(tasks=np.tile(np.asarray(setting.tasks), 2))
    # take, unlike brackets, leaves the weights of a draw side by side in memory
    flip = flips.take(unit, axis=1).astype(float)
    weights = np.concatenate([1.0 - flip, flip], axis=1)
    ones = np.ones((len(flip), x.shape[1 - axis]))
    draws = Draws(ones, weights) if axis else Draws(weights, ones)
    return resampled(x, stacked, setting, draws, [(0, 1)])[2]


def _by_value(x: Array, scores: Array, setting: Setting, swaps: Swaps, flips: Array) -> Array:
    """The same with the scores themselves swapped, for any level and units."""
    flip = flips[:, swaps.unit] > 0  # [D, S, K]
    sides = np.stack([np.where(flip, scores[1 - k], scores[k]) for k in (0, 1)])
    once = Draws(*(np.ones((len(flip), size)) for size in x.shape))
    return resampled(x, sides, setting, once, [(0, 1)])[2]
