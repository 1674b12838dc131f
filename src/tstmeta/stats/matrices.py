"""Statistics of matrices at every level, for the estimate and for all draws at once.

Rows are sources, columns are systems; a cell where either side is missing (NaN) is left out.

================= ==================================================================
level             what is computed
================= ==================================================================
``pooled``        the statistic over all cells (dataset level)
``source``        in each row, then averaged over rows (sample level)
``same-source``   over the pairs of cells of one row, of all rows together
``within-system`` in each column, then averaged over columns
``system``        over column means, both sides over the same cells (system level)
``within-task``   pooled, after both sides were standardised within tasks
================= ==================================================================
"""

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, column_means, finite, misfit, standardised
from .resampling import Draws, everything, numbered
from .statistic import STATISTICS, Correlation, Parts, Statistic, ratio

Level = Literal["pooled", "source", "same-source", "within-system", "system", "within-task"]
LEVELS: tuple[Level, ...] = get_args(Level)
#: Levels of groups of cells.
_GROUPED = ("source", "same-source", "within-system")
#: Numbers held at once; draws are taken in slices that stay below, small enough for a cache.
_ROOM = 2**22


class Setting(NamedTuple):
    """What is computed: a statistic, by name or itself, at a level.

    ``tasks`` are labels of the sources ``[S]``, for the level ``within-task``; ``undefined`` is the
    value of a group that has none, NaN leaves the group out.
    """

    statistic: str | Statistic = "pearson"
    level: Level = "pooled"
    tasks: ArrayLike | None = None
    undefined: float = math.nan

    @property
    def function(self) -> Statistic:
        if isinstance(self.statistic, Statistic):
            return self.statistic
        if self.statistic not in STATISTICS:
            known = ", ".join(STATISTICS)
            raise ValueError(f"unknown statistic {self.statistic!r}; known: {known}")
        return STATISTICS[self.statistic]

    def __str__(self) -> str:
        return f"{self.function.name}:{self.level}"


def correlate(human: ArrayLike, metric: ArrayLike, setting: Setting) -> Correlation:
    """One metric ``[S, K]`` against people ``[S, K]``: value, n and a reason if there is no value.

    ``n`` counts what the statistic is over: cells (pooled; within-task, of tasks where both sides
    vary), groups that have a value (source, within-system) or systems.  Where scipy has a p
    (pooled and system) it is given; it takes items for independent.
    """
    x, y = finite(human), finite(metric)
    function, level = setting.function, setting.level
    if level == "pooled" and x.shape == y.shape:
        return function(x.ravel(), y.ravel())
    value = float(resampled(x, y[None], setting)[0, 0])
    if level == "system":
        means = column_means(x[None], y[None, None], np.ones((1, len(x))))
        first, second = (side[0, 0] for side in means)
        return function(first, second, "systems")
    elif level == "within-task":
        x, y = within_tasks(x[None], y[None, None], setting, np.ones((1, *x.shape)))
        n = int((np.isfinite(x) & np.isfinite(y)).sum())
        reason = f"{function.why(x.ravel(), y.ravel())}, in tasks where both vary"
    else:
        n = int(with_value(x, y[None], setting).sum())
        kind = level.removeprefix("within-").removeprefix("same-")
        reason = f"no {kind} has a value: fewer than {function.least} items with both values, or"
        reason += " all ratings or all scores are equal"
    return Correlation(value, math.nan, n, "" if math.isfinite(value) else reason)


def with_value(human: ArrayLike, metrics: ArrayLike, setting: Setting) -> Array:
    """In which groups each metric counts, ``[M, G]``; no columns at a level without groups."""
    x, y = finite(human), finite(metrics)
    if setting.level not in _GROUPED or not y.size:
        return np.zeros((len(y), 0), dtype=bool)
    sums, _ = _group_sums(x[None], y[:, None], setting, everything(x.shape))
    values = setting.function.finish(*sums)[..., 0]
    return np.isfinite(values) | (not math.isnan(setting.undefined))


def estimate(
    human: ArrayLike, metrics: ArrayLike, setting: Setting, pairs: ArrayLike = ()
) -> Array:
    """Several metrics ``[M, S, K]`` against people: values ``[M]``, NaN where there is none; then
    differences of ``pairs``, as in :func:`resampled`.
    """
    return resampled(human, metrics, setting, pairs=pairs)[:, 0]


def resampled(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    draws: Draws | None = None,
    pairs: ArrayLike = (),
) -> Array:
    """The values of several metrics in every draw, the same draws for all: ``[M, D]``.

    From ``[S, K]`` and ``[M, S, K]``, or ``[M, D, S, K]`` where scores differ by draw (permuted).
    Without draws every source and system counts once, D = 1.  A row more for each of the ``pairs``
    ``[P, 2]`` of metrics: the first minus the second, at levels of groups over the groups where
    both have a value in that draw.
    """
    x, y = finite(human), finite(metrics)
    if x.ndim != 2 or y.ndim not in (3, 4) or x.shape != y.shape[-2:]:
        raise misfit("people [sources, systems] and metrics [metrics, sources, systems]", x, y)
    if setting.level not in LEVELS:
        raise ValueError(f"unknown level {setting.level!r}; known: {', '.join(LEVELS)}")
    # a draws axis everywhere: [1, S, K] and [M, 1|D, S, K]
    x, y = x[None], y[:, None] if y.ndim == 3 else y
    sources, systems = x.shape[-2:]
    draws = everything((sources, systems)) if draws is None else draws
    differences = np.asarray(pairs, dtype=int).reshape(-1, 2)
    rows = len(y) + len(differences)
    if not sources * systems * len(y):
        return np.full((rows, len(draws)), np.nan)
    fixed: Parts = ()  # sums of the groups, where only groups are drawn: the same in every draw
    by_source = setting.level in ("source", "same-source") and y.shape[1] == 1
    if by_source and (draws.systems == 1).all():
        fixed, _ = _group_sums(x, y, setting, everything((sources, systems)))
    size = max(1, _ROOM // _held(y, setting, rows, bool(fixed)))
    results = [np.empty((rows, 0))]
    for start in range(0, len(draws), size):
        inside = slice(start, start + size)
        scores = y if y.shape[1] == 1 else y[:, inside]
        part = Draws(draws.sources[inside].astype(float), draws.systems[inside])
        if setting.level in _GROUPED:
            groups = (fixed, part.sources.T) if fixed else _group_sums(x, scores, setting, part)
            values = _combined(*groups, setting, differences)
        else:
            values = _with_gaps(_values(x, scores, setting, part), differences)
        results.append(values)
    return np.concatenate(results, axis=-1)


def _with_gaps(values: Array, pairs: Array) -> Array:
    """Rows ``[M, ...]``, and those of the ``pairs`` ``[P, 2]``, first minus second."""
    return np.concatenate([values, values[pairs[:, 0]] - values[pairs[:, 1]]])


def _values(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    """Values ``[M, D]`` of x ``[1, S, K]`` and y ``[M, 1|D, S, K]``, at a level without groups."""
    function, level = setting.function, setting.level
    if level == "system":
        return function.values(*column_means(x, y, draws.sources), draws.systems)
    if level == "within-task":
        weights = draws.sources[:, :, None] * draws.systems[:, None, :]  # [D, S, K]
        sides = within_tasks(x, y, setting, weights)
        return function.values(*map(_flat, (*sides, weights)))
    if function.parts_by_row and y.shape[1] == 1:
        return function.finish(*function.parts_by_row(x[0], y[:, 0], *draws, function.least))
    present = np.isfinite(x[0]) & np.isfinite(y).any(axis=(0, 1))
    cells, (rows, columns) = np.flatnonzero(present), np.nonzero(present)
    # take, unlike brackets, leaves the items of a vector side by side in memory
    weights = draws.sources.take(rows, axis=1) * draws.systems.take(columns, axis=1)
    x, y = (_flat(side).take(cells, axis=-1) for side in (x, y))
    step = len(y) if function.reranks else 1  # human values are ranked once for all metrics
    parts = [y[start : start + step] for start in range(0, len(y), step)]
    return np.concatenate([function.values(x, part, weights) for part in parts])


def _held(y: Array, setting: Setting, rows: int, is_fixed: bool) -> int:
    """Numbers that a draw takes: few where cells are added up before they meet draws."""
    (metrics, draws_of_scores, sources, systems), level = y.shape, setting.level
    function, few = setting.function, rows + sources + systems
    cells = max(1, metrics * sources * systems, rows)
    if draws_of_scores > 1:
        return cells
    if level == "pooled" and not function.reranks:
        return few + sources * systems // 16
    if is_fixed:
        return few
    return few + metrics * systems**2 if level == "system" else cells


def _group_sums(x: Array, y: Array, setting: Setting, draws: Draws) -> tuple[Parts, Array]:
    """Sums of the groups, each ``[M, G, 1|D]``, and weights of the groups ``[G, D]``."""
    axis, weights, group_weights = -1, draws.sources, draws.systems
    if setting.level in ("source", "same-source"):
        axis, weights, group_weights = -2, draws.systems, draws.sources
    # groups first: [G, 1, n] and [M, G, 1|D, n]
    x, y = np.moveaxis(x, axis, 0), np.moveaxis(y, axis, 1)
    if y.shape[-2] == 1 and (weights == weights[:1]).all():
        weights = weights[:1]  # only groups were drawn: their sums are the same in every draw
    # some metrics at a time: the pairs of all groups take room
    step = max(1, _ROOM // max(1, y[0].size * y.shape[-1]))
    parts = [y[start : start + step] for start in range(0, len(y), step)]
    sums = zip(*(setting.function.sums(x, part, weights) for part in parts), strict=True)
    return tuple(map(np.concatenate, sums)), group_weights.T


def _combined(sums: Parts, weights: Array, setting: Setting, pairs: Array) -> Array:
    """Groups to one value ``[M + P, D]``: sums ``[M, G, 1|D]``, weights of groups ``[G, D]``."""
    if setting.level == "same-source":  # sums of all groups finish to one value
        totals = (_weighted(part, weights) for part in sums)
        return _with_gaps(setting.function.finish(*totals), pairs)
    values = setting.function.finish(*sums)
    if not math.isnan(setting.undefined):
        values = np.where(np.isfinite(values), values, setting.undefined)
    known = np.isfinite(values)
    if (known == known[:1]).all():  # all metrics have the same groups
        return _with_gaps(_mean(values, weights), pairs)
    return _mean(_with_gaps(values, pairs), weights)  # NaN where either has no value


def _mean(values: Array, weights: Array) -> Array:
    """Weighted means over groups: [M, G, 1|D] and [G, D] to [M, D]; NaN where none has weight."""
    sides = np.nan_to_num(values), np.isfinite(values)
    return ratio(*(_weighted(side, weights) for side in sides))


def _weighted(parts: Array, weights: Array) -> Array:
    """Weighted sums over groups: [M, G, 1|D] and [G, D] to [M, D]."""
    if parts.shape[-1] == 1:
        return np.asarray(parts[..., 0] @ weights)
    return np.asarray((parts * weights).sum(axis=1))


def _flat(values: Array) -> Array:
    """Rows and columns as one axis."""
    return values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1])


def within_tasks(x: Array, y: Array, setting: Setting, weights: Array) -> tuple[Array, Array]:
    """Both sides standardised within tasks, over the cells where both have values."""
    labels = numbered(f"tasks of level {setting.level}", setting.tasks, x.shape[-2])
    shape = (*y.shape[:1], len(weights), *y.shape[2:])
    sides = np.full(shape, np.nan), np.full(shape, np.nan)
    for task in np.unique(labels):
        inside = labels == task
        a, b, w = x[..., inside, :], y[..., inside, :], weights[:, inside]
        w = w * (np.isfinite(a) & np.isfinite(b))
        for side, values in zip(sides, (a, b), strict=True):
            side[..., inside, :] = standardised(values, w)
    return sides
