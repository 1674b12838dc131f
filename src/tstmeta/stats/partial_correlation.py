"""Partial correlation: what a metric and people share once other variables are held fixed."""

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, finite, misfit
from .matrices import Setting, resampled
from .resampling import Draws, everything
from .statistic import STATISTICS

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
    x, y, z = finite(human), finite(metrics), finite(controls)
    if not x.shape == y.shape[1:] == z.shape[1:]:
        several = "metrics and controls [several, sources, systems] of one shape"
        raise misfit(f"people [sources, systems], {several}", x, y, z)
    weightings = everything(x.shape) if draws is None else draws
    results = np.full((len(y), len(weightings)), np.nan)
    for result, metric in zip(results, y, strict=True):
        sides = np.stack([x, metric, *z])
        sides = np.where(np.isfinite(sides).all(axis=0), sides, np.nan)
        table = np.ones((len(sides), len(sides), len(weightings)))
        for place in range(len(sides) - 1):
            others = resampled(sides[place], sides[place + 1 :], Setting(statistic), weightings)
            table[place, place + 1 :] = table[place + 1 :, place] = others
        rows, columns = (counts > 0 for counts in weightings)
        items = (rows @ np.isfinite(sides[0]).astype(float) * columns).sum(axis=1)  # [D]
        result[:] = np.where(items >= len(z) + 3, _partial(table), np.nan)
    return results if draws is not None else results[:, 0]


def _partial(table: Array) -> Array:
    """``[D]`` of the first two of 2 + G variables, from all correlations ``[2 + G, 2 + G, D]``."""
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
