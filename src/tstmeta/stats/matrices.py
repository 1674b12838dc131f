"""Any statistic at any level, for matrices [sources, systems], under any number of resamples.

One combinator serves all: a level says which items are looked at together, a statistic what is
computed of them, draws how often each source and system counts.  Missing cells are NaN.

================= ==================================================================
level             what is computed
================= ==================================================================
``pooled``        the statistic over all cells (dataset level)
``source``        in each row, then averaged over rows (sample level)
``within-system`` in each column, then averaged over columns
``system``        over column means, both sides over the same cells (system level)
``task``          over the cells of each task, then averaged over tasks
``within-task``   pooled, after both sides were standardised within tasks
================= ==================================================================

``micro=True`` adds up the sums of the groups before the value is finished, so that large groups
count more; the default averages the values of the groups (macro).  A statistic may be defined at
some levels only (:attr:`Statistic.levels`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from . import reasons
from .correlation import Correlation
from .kernels import Array, tamed
from .levels import column_means, snapped, standardised
from .resampling import Draws, everything
from .statistic import STATISTICS, Statistic

__all__ = [
    "LEVELS",
    "Level",
    "Setting",
    "correlate",
    "estimate",
    "resampled",
    "snapped",
]

Level = Literal["pooled", "source", "within-system", "system", "task", "within-task"]
LEVELS: tuple[Level, ...] = ("pooled", "source", "within-system", "system", "task", "within-task")
#: Numbers held at once; draws are taken in slices that stay below, small enough for a cache.
_ROOM = 2**22


class Setting(NamedTuple):
    """What is computed: a statistic at a level.

    Attributes:
        statistic: a name of :data:`STATISTICS`, or a :class:`Statistic`.
        tasks: one label a source ``[S]``, for the levels ``task`` and ``within-task``.
        micro: add up groups before finishing.
        undefined: stands for the value of a group that has none; NaN leaves the group out,
            0 counts it as no agreement, as lai2023 does.
    """

    statistic: str | Statistic = "pearson"
    level: Level = "pooled"
    tasks: ArrayLike | None = None
    micro: bool = False
    undefined: float = math.nan

    @property
    def function(self) -> Statistic:
        """The statistic itself.

        Raises:
            ValueError: no statistic of that name.
        """
        if isinstance(self.statistic, Statistic):
            return self.statistic
        if self.statistic not in STATISTICS:
            known = ", ".join(STATISTICS)
            raise ValueError(f"unknown statistic {self.statistic!r}; known: {known}")
        return STATISTICS[self.statistic]

    def __str__(self) -> str:
        return f"{self.function.name}:{self.level}{':micro' if self.micro else ''}"


def correlate(human: ArrayLike, metric: ArrayLike, setting: Setting) -> Correlation:
    """One metric ``[S, K]`` against people ``[S, K]``: value, n and a reason if there is no value.

    ``n`` counts what the statistic is over: cells (pooled; within-task, of tasks where both sides
    vary), groups that have a value (source, within-system, task; with ``micro``, groups with enough
    items) or systems.  A p-value is given where scipy has one (pooled and system); it takes items
    for independent, see :mod:`tstmeta.stats.intervals` for better.

    Raises:
        ValueError: as :func:`resampled`.
    """
    x, y = _matrices(human, metric)
    if y.ndim != 2:
        raise ValueError(f"a matrix [sources, systems] is needed, got shape {y.shape}")
    function, level = setting.function, setting.level
    value = float(resampled(x, y[None], setting, everything(x.shape))[0, 0])
    if level == "pooled":
        return (function.direct or function)(x.ravel(), y.ravel())
    if function.scale_free:
        x, y = tamed(x), tamed(y)
    if level == "system" and function.whole is None:
        of_x, of_y = column_means(x[None], y[None, None], np.ones((1, len(x))))
        found = function(of_x[0, 0], of_y[0, 0])
        why = function.why(of_x[0, 0], of_y[0, 0], items="systems") if found.reason else ""
        return found._replace(reason=why)
    n, why = _counted(x, y, setting, math.isfinite(value))
    return Correlation(value, math.nan, n, why)


def _counted(x: Array, y: Array, setting: Setting, fine: bool) -> tuple[int, str]:
    """What the value is over, and the reason where it is not ``fine``."""
    function, level = setting.function, setting.level
    both = np.isfinite(x) & np.isfinite(y)
    if function.whole is not None:
        return int(both.any(axis=0).sum()), "" if fine else function.lacking
    if level == "within-task":
        of_x, of_y = _within_tasks(x[None], y[None, None], setting, np.ones((1, *x.shape)))
        left = int((np.isfinite(of_x) & np.isfinite(of_y)).sum())
        return left, "" if fine else reasons.within_tasks(of_x, of_y, function, int(both.sum()))
    labels = _tasks(setting, len(x)) if level == "task" else None
    groups = reasons.groups_of(x, y, level, labels)
    n = len(groups)
    if setting.micro or function.pools:
        n = reasons.with_items(groups, function)
    elif math.isnan(setting.undefined):
        n = reasons.with_value(groups, function)
    return n, "" if fine else reasons.of_groups(groups, function, level.removeprefix("within-"))


def estimate(human: ArrayLike, metrics: ArrayLike, setting: Setting) -> Array:
    """Several metrics ``[M, S, K]`` against people: values ``[M]``, NaN where there is none."""
    x, y = _matrices(human, metrics)
    return resampled(x, y[None] if y.ndim == 2 else y, setting, everything(x.shape))[:, 0]


def resampled(human: ArrayLike, metrics: ArrayLike, setting: Setting, draws: Draws) -> Array:
    """The values of several metrics in every draw, the same draws for all: ``[M, D]``.

    Args:
        human: ``[S, K]``, or ``[D, S, K]`` where people's values differ by draw (raters drawn).
        metrics: ``[M, S, K]``, or ``[M, D, S, K]`` where scores differ by draw (permuted).

    Raises:
        ValueError: shapes that do not fit, an unknown level or statistic, a statistic that is not
            defined at the level, missing task labels.
    """
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    x, y = np.where(np.isfinite(x), x, np.nan), np.where(np.isfinite(y), y, np.nan)
    if x.ndim not in (2, 3) or y.ndim not in (3, 4) or x.shape[-2:] != y.shape[-2:]:
        raise ValueError(
            "people [sources, systems] and metrics [metrics, sources, systems] are needed,"
            f" got {x.shape} and {y.shape}"
        )
    if setting.level not in _LEVELS:
        raise ValueError(f"unknown level {setting.level!r}; known: {', '.join(LEVELS)}")
    function = setting.function
    function.check(setting.level)
    # a draws axis everywhere: [1|D, S, K] and [M, 1|D, S, K]
    x = x[None] if x.ndim == 2 else x
    y = y[:, None] if y.ndim == 3 else y
    if function.scale_free:
        x, y = tamed(x), tamed(y, axis=(1, 2, 3))
    sources, systems = x.shape[-2:]
    if draws.sources.shape[1] != sources or draws.systems.shape[1] != systems:
        raise ValueError(f"the draws are not of a matrix of shape {(sources, systems)}")
    if not sources * systems * len(y):
        return np.full((len(y), len(draws)), np.nan)
    size = max(1, _ROOM // max(1, len(y) * sources * systems))
    if len(x) == y.shape[1] == 1 and _whole_rows(setting, draws):
        size = max(1, _ROOM // (len(y) + sources))  # cells are added up before they meet draws
    found, start = [], 0
    for part in draws.parts(size):
        inside = slice(start, start + len(part))
        of_x = x if len(x) == 1 else x[inside]
        of_y = y if y.shape[1] == 1 else y[:, inside]
        if function.whole is not None:
            found.append(function.whole(of_x, of_y, part.sources, part.systems))
        else:
            found.append(_LEVELS[setting.level](of_x, of_y, setting, part))
        start += len(part)
    return np.concatenate(found, axis=-1) if found else np.empty((len(y), 0))


# -------------------------------------------------------------------------------- levels
# Each takes x [1|D, S, K], y [M, 1|D, S, K], and gives values [M, D].


def _whole_rows(setting: Setting, draws: Draws) -> bool:
    """Whether only rows are drawn and what their cells give does not change with the draw."""
    function = setting.function
    quick = setting.level == "source" or (setting.level == "pooled" and bool(function.of_rows))
    return function.whole is None and quick and bool((draws.systems == 1).all())


def _pooled(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    function = setting.function
    if function.of_rows and len(x) == y.shape[1] == 1 and _whole_rows(setting, draws):
        least = max(function.least, function.alone)
        return function.finish(*function.of_rows(x[0], y[:, 0], draws.sources, least))
    some = np.isfinite(x).any(axis=0) & np.isfinite(y).any(axis=(0, 1))
    cells, (rows, columns) = np.flatnonzero(some), np.nonzero(some)
    # take, unlike brackets, leaves the items of a vector side by side in memory
    weights = draws.sources.take(rows, axis=1) * draws.systems.take(columns, axis=1)
    x, y = (_flat(side).take(cells, axis=-1) for side in (x, y))
    return function.values(x, y, weights)


def _by_source(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    # groups first: [S, 1|D, K] and [M, S, 1|D, K]
    of_x, of_y = np.moveaxis(x, -2, 0), np.moveaxis(y, -2, 1)
    return _over_groups(of_x, of_y, draws.systems, draws.sources, setting)


def _within_system(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    of_x, of_y = np.moveaxis(x, -1, 0), np.moveaxis(y, -1, 1)
    return _over_groups(of_x, of_y, draws.sources, draws.systems, setting)


def _over_groups(x: Array, y: Array, weights: Array, of_groups: Array, setting: Setting) -> Array:
    """x [G, 1|D, n], y [M, G, 1|D, n], weights of items [D, n] and of groups [D, G]."""
    if x.shape[-2] == y.shape[-2] == 1 and (weights == weights[:1]).all():
        weights = weights[:1]  # only groups were drawn: their sums are the same in every draw
    sums = setting.function.sums(x, y, weights)  # each [M, G, D], or [M, G, 1]
    return _combine(sums, of_groups.T, setting)


def _combine(sums: tuple[Array, ...], of_groups: Array, setting: Setting) -> Array:
    """Groups to one value: sums [M, G, D], weights of groups [G, D]."""
    function = setting.function
    if setting.micro or function.pools:
        if not function.additive:
            raise ValueError(f"{function.label} cannot be added up over groups: use macro")
        return function.finish(*(_over(part, of_groups) for part in sums))
    values = function.finish(*sums)
    if not math.isnan(setting.undefined):
        values = np.where(np.isfinite(values), values, setting.undefined)
    given = np.isfinite(values)
    weight, summed = _over(given, of_groups), _over(np.where(given, values, 0.0), of_groups)
    return np.where(weight > 0, summed / np.where(weight > 0, weight, 1.0), np.nan)


def _over(values: Array, of_groups: Array) -> Array:
    """Weighted sums over groups: [M, G, 1|D] and [G, D] to [M, D]."""
    if values.shape[-1] == 1:
        return values[..., 0] @ of_groups
    return (values * of_groups).sum(axis=1)


def _system(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    of_x, of_y = column_means(x, y, draws.sources)
    return setting.function.values(of_x, of_y, draws.systems)


def _task(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    labels = _tasks(setting, x.shape[-2])
    groups = []
    for task in dict.fromkeys(labels.tolist()):
        inside = labels == task
        part = Draws(draws.sources[:, inside], draws.systems)
        groups.append(_sums_of(x[..., inside, :], y[..., inside, :], setting.function, part))
    sums = tuple(np.stack(parts, axis=1) for parts in zip(*groups, strict=True))
    return _combine(sums, np.ones((len(groups), len(draws))), setting)


def _sums_of(x: Array, y: Array, function: Statistic, draws: Draws) -> tuple[Array, ...]:
    weights = (draws.sources[:, :, None] * draws.systems[:, None, :]).reshape(len(draws), -1)
    sums = function.sums(_flat(x), _flat(y), weights)
    return tuple(np.broadcast_to(part, (len(y), len(draws))) for part in sums)


def _flat(values: Array) -> Array:
    """Rows and columns as one axis."""
    return values.reshape(*values.shape[:-2], values.shape[-2] * values.shape[-1])


def _within_task(x: Array, y: Array, setting: Setting, draws: Draws) -> Array:
    weights = draws.sources[:, :, None] * draws.systems[:, None, :]  # [D, S, K]
    of_x, of_y = _within_tasks(x, y, setting, weights)
    return setting.function.values(_flat(of_x), _flat(of_y), weights.reshape(len(draws), -1))


def _within_tasks(x: Array, y: Array, setting: Setting, weights: Array) -> tuple[Array, Array]:
    """Both sides standardised within tasks, over the cells where both have values."""
    labels = _tasks(setting, x.shape[-2])
    shape = (*y.shape[:1], len(weights), *y.shape[2:])
    of_x, of_y = np.full(shape, np.nan), np.full(shape, np.nan)
    for task in dict.fromkeys(labels.tolist()):
        inside = labels == task
        a, b, w = x[..., inside, :], y[..., inside, :], weights[:, inside]
        w = w * (np.isfinite(a) & np.isfinite(b))
        of_x[..., inside, :] = standardised(a, w)
        of_y[..., inside, :] = standardised(b, w)
    return of_x, of_y


_LEVELS: dict[str, Callable[[Array, Array, Setting, Draws], Array]] = {
    "pooled": _pooled,
    "source": _by_source,
    "within-system": _within_system,
    "system": _system,
    "task": _task,
    "within-task": _within_task,
}


# ------------------------------------------------------------------------------- helpers


def _matrices(human: ArrayLike, metric: ArrayLike) -> tuple[Array, Array]:
    x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
    if x.ndim != 2 or y.shape[-2:] != x.shape:
        raise ValueError(
            f"matrices [sources, systems] of one shape are needed, got {x.shape} and {y.shape}"
        )
    return np.where(np.isfinite(x), x, np.nan), np.where(np.isfinite(y), y, np.nan)


def _tasks(setting: Setting, sources: int) -> Array:
    if setting.tasks is None:
        raise ValueError(f"level {setting.level} needs a task label for each source")
    labels = np.asarray(setting.tasks)
    if labels.shape != (sources,):
        raise ValueError(f"tasks has shape {labels.shape}, needed is ({sources},)")
    if any(label is None or label != label for label in labels.tolist()):
        raise ValueError("a source has no task label")
    return labels
