"""Partial correlation: what a metric and people share once other variables are held fixed."""

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, column_means, finite
from .matrices import Setting, resampled, within_tasks
from .resampling import Draws, everything
from .statistic import STATISTICS, ratio

#: A share of variance below this is rounding: what is left then says nothing.
_NOTHING = 1e-10


def partial(
    human: ArrayLike,
    metrics: ArrayLike,
    controls: ArrayLike,
    *,
    statistic: str = "pearson",
    draws: Draws | None = None,
) -> Array:
    """Correlation of what control variables leave unexplained in human values and in scores.

    Both sides are regressed on all controls by least squares; the value is the Pearson correlation
    of the residuals (Whittaker 1990, Section 5.7), signs kept.  Spearman does the same on average
    ranks, and Kendall's partial tau (Kendall 1942, Partial Rank Correlation, Biometrika 32) on the
    signs of all pairs of items.  All follow from the correlations of every two variables over the
    items that have all values.

    Args:
        human, metrics: ``[S, K]`` and ``[M, S, K]``.
        controls: ``[G, S, K]``; with G = 0 the plain correlation.
        statistic: ``pearson``, ``spearman`` or ``kendall`` (tau-b).
        draws: weightings, the same for all metrics.

    Returns:
        ``[M]``, or ``[M, D]`` with draws; NaN where fewer than G + 3 items have all values, where
        human values or the metric are constant, or where controls are constant, collinear, or
        explain either side altogether.
    """
    known = [name for name, function in STATISTICS.items() if function.has_partial]
    if statistic not in known:
        raise ValueError(f"no partial {statistic!r}; known: {', '.join(known)}")
    x, y, z = _checked(human, metrics, controls)
    weightings = everything(x.shape) if draws is None else draws
    results = np.full((len(y), len(weightings)), np.nan)
    for result, metric in zip(results, y, strict=True):
        sides = _complete(x, metric, z)
        table = np.ones((len(sides), len(sides), len(weightings)))
        for place in range(len(sides) - 1):
            others = resampled(sides[place], sides[place + 1 :], Setting(statistic), weightings)
            table[place, place + 1 :] = table[place + 1 :, place] = others
        enough = _items(np.isfinite(sides[0]), weightings) >= len(z) + 3
        result[:] = np.where(enough, _partial(table), np.nan)
    return results if draws is not None else results[:, 0]


def partial_at(
    human: ArrayLike, metrics: ArrayLike, controls: ArrayLike, setting: Setting
) -> Array:
    """:func:`partial` at the level of a setting ``[M]``.

    Over all items (pooled; within-task, of tasks where neither human values nor the metric are
    constant), over means of systems of the items that have all values (system), or in each group of
    items that has a value, and then averaged.
    """
    x, y, z = _checked(human, metrics, controls)
    level, name = setting.level, setting.function.name
    if level == "pooled":
        return partial(x, y, z, statistic=name)
    if level in ("system", "within-task"):
        sides = [_at_level(_complete(x, metric, z), setting) for metric in y]
        return np.array([partial(s[0], s[1:2], s[2:], statistic=name)[0] for s in sides])
    if level == "within-system":
        x, y, z = (side.swapaxes(-1, -2) for side in (x, y, z))
    groups = [slice(line, line + 1) for line in range(len(x))]
    values = np.array([partial(x[g], y[:, g], z[:, g], statistic=name) for g in groups])
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def _complete(human: Array, metric: Array, controls: Array) -> Array:
    """Human values, a metric and the controls ``[2 + G, S, K]``, NaN unless an item has all."""
    sides = np.stack([human, metric, *controls])
    return np.where(np.isfinite(sides).all(axis=0), sides, np.nan)


def _at_level(sides: Array, setting: Setting) -> Array:
    """The variables ``[2 + G, S, K]`` as means of systems ``[2 + G, 1, K]``, or standardised within
    tasks (0 where a control is constant).
    """
    sides = sides[:, None]
    if setting.level == "system":
        first, others = column_means(sides[0], sides[1:], np.ones((1, sides.shape[2])))
        return np.concatenate([first[:1], others])
    first, others = within_tasks(sides[0], sides[1:], setting, np.ones(sides.shape[1:]))
    first, others = first[:, 0], others[:, 0]
    others[1:] = np.where(np.isfinite(others[0]), np.nan_to_num(others[1:]), np.nan)
    return np.concatenate([first[:1], others])


def _items(cells: Array, draws: Draws) -> Array:
    """How many of the cells ``[S, K]`` are in each draw ``[D]``."""
    return ((draws.sources > 0) @ cells.astype(float) * (draws.systems > 0)).sum(axis=1)


def _partial(table: Array) -> Array:
    """Correlation of the first two of 2 + G variables, the others held fixed, from the correlations
    of all ``[2 + G, 2 + G, D]``: ``[D]``.
    """
    table = np.moveaxis(table, -1, 0)
    sound = np.isfinite(table).all(axis=(1, 2))
    table = np.where(sound[:, None, None], table, np.eye(table.shape[1]))
    held = table[:, 2:, 2:]
    sound &= np.linalg.eigvalsh(held).min(axis=1, initial=1.0) > _NOTHING
    held = np.where(sound[:, None, None], held, np.eye(held.shape[1]))
    rest = table[:, :2, :2] - table[:, :2, 2:] @ np.linalg.solve(held, table[:, 2:, :2])
    sound &= np.minimum(rest[:, 0, 0], rest[:, 1, 1]) > _NOTHING
    values = rest[:, 0, 1] / np.sqrt(np.where(sound, rest[:, 0, 0] * rest[:, 1, 1], 1.0))
    sound &= np.abs(values) < 1.00001  # beyond rounding, no variables have such covariances
    return np.where(sound, np.clip(values, -1.0, 1.0), np.nan)


def _checked(
    human: ArrayLike, metrics: ArrayLike, controls: ArrayLike
) -> tuple[Array, Array, Array]:
    x, y, z = finite(human), finite(metrics), finite(controls)
    if not x.shape == y.shape[1:] == z.shape[1:]:
        raise ValueError(
            "people [sources, systems], metrics and controls [several, sources, systems] of one"
            f" shape are needed, got {x.shape}, {y.shape} and {z.shape}"
        )
    return x, y, z
