"""Partial correlation: what a metric and people share once something else is held fixed."""

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, centred, column_means, finite
from .matrices import Setting, resampled, within_tasks
from .resampling import Draws, everything
from .statistic import ratio

#: A share of variance below this is rounding: what is left then says nothing.
_NOTHING = 1e-10
#: Statistics of which there is a partial one.
PARTIAL = ("pearson", "spearman", "kendall")


def partial(
    human: ArrayLike,
    metrics: ArrayLike,
    given: ArrayLike,
    *,
    statistic: str = "pearson",
    draws: Draws | None = None,
) -> Array:
    """Correlation of what ``given`` leaves unexplained in people's values and in scores.

    Both sides are regressed on all given variables by least squares; the value is the Pearson
    correlation of the residuals (Whittaker 1990, Section 5.7), signs kept.  Spearman does the same
    on average ranks, and Kendall's partial tau (Kendall 1942, Partial Rank Correlation, Biometrika
    32) on the signs of all pairs of items.  All follow from the correlations of every two
    variables over the items that have all values.

    Args:
        human, metrics: ``[S, K]`` and ``[M, S, K]``.
        given: ``[G, S, K]``; with G = 0 the plain correlation.
        statistic: ``pearson``, ``spearman`` or ``kendall`` (tau-b).
        draws: weightings, the same for all metrics.

    Returns:
        ``[M]``, or ``[M, D]`` with draws; NaN where fewer than G + 3 items have all values, where
        people or the metric are constant, or where given variables are constant, collinear, or
        explain either side altogether.
    """
    if statistic not in PARTIAL:
        raise ValueError(f"no partial {statistic!r}; known: {', '.join(PARTIAL)}")
    x, y, z = _checked(human, metrics, given)
    weightings = everything(x.shape) if draws is None else draws
    results = np.full((len(y), len(weightings)), np.nan)
    for result, metric in zip(results, y, strict=True):
        sides = np.stack([x, metric, *z])
        cells = np.isfinite(sides).all(axis=0)
        sides, table = np.where(cells, sides, np.nan), np.ones((len(sides),) * 2 + result.shape)
        for place in range(len(sides) - 1):
            others = resampled(sides[place], sides[place + 1 :], Setting(statistic), weightings)
            table[place, place + 1 :] = table[place + 1 :, place] = others
        enough = _items(cells, weightings) >= len(z) + 3
        result[:] = np.where(enough, _left(table), np.nan)
    return results if draws is not None else results[:, 0]


def partial_at(human: ArrayLike, metrics: ArrayLike, given: ArrayLike, setting: Setting) -> Array:
    """:func:`partial` at the level of a setting ``[M]``: over all items (pooled; within-task, of
    tasks where neither people nor the metric are constant), in each group of items that has a value
    and then averaged, or over means of systems of the items that have all values.
    """
    x, y, z = _checked(human, metrics, given)
    level, name = setting.level, setting.function.name
    if level == "pooled":
        return partial(x, y, z, statistic=name)
    if level in ("system", "within-task"):
        values = np.empty(len(y))
        for place, metric in enumerate(y):
            sides = np.stack([x, metric, *z])
            sides = np.where(np.isfinite(sides).all(axis=0), sides, np.nan)[:, None]
            if level == "system":
                first, others = column_means(sides[0], sides[1:], np.ones((1, len(x))))
            else:
                both = within_tasks(sides[0], sides[1:], setting, np.ones((1, *x.shape)))
                first, others = (side[:, 0] for side in both)
                others[1:] = np.where(np.isfinite(others[0]), np.nan_to_num(others[1:]), np.nan)
            values[place] = partial(first[0], others[:1], others[1:], statistic=name)[0]
        return values
    if level == "within-system":
        x, y, z = (side.swapaxes(-1, -2) for side in (x, y, z))
    labels = np.asarray(setting.tasks) if level == "task" else np.arange(len(x))
    groups = [labels == label for label in np.unique(labels)]
    values = np.array([partial(x[g], y[:, g], z[:, g], statistic=name) for g in groups])
    known = np.isfinite(values)
    return ratio(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def corrected_partial(cubes: ArrayLike, metrics: ArrayLike, *, draws: Draws | None = None) -> Array:
    """Pearson's partial correlation with what raters would say on average: errors in variables.

    A rating is the item's value, the rater's level (taken off by least squares on items and raters,
    once for all draws, where :func:`levels_known`; else it is noise) and noise that a rater's
    ratings of several dimensions share.  So variances and covariances of values are those of
    ratings by two *different* raters of an item; with variances alone corrected, shared noise would
    pass for shared values.  Metrics need means only.

    Args:
        cubes: single ratings ``[1 + G, S, K, R]`` of the dimension asked about and of those given;
            layer r is one rater.  What counts is an item's ratings by the raters, two or more, who
            rated it in all dimensions.  G = 0 corrects a correlation for attenuation.
        metrics, draws: as of :func:`partial`, and so is what is returned; NaN also where the
            corrected covariances are not positive definite.

    Source: Spearman (1904) for G = 0; Fuller (1987), Measurement Error Models, Section 2.2.
    """
    ratings = finite(cubes)
    x, y, _ = _checked(ratings[0, ..., 0], metrics, ratings[..., 0])
    given, some = by_two(ratings), everything(x.shape) if draws is None else draws
    rated = np.delete(np.arange(len(ratings) + 1), 1)  # the metric stands second
    results = np.full((len(y), len(some)), np.nan)
    for result, metric in zip(results, y, strict=True):
        cells = np.isfinite(metric) & given.any(axis=-1)
        if cells.sum() < len(ratings) + 2:
            continue
        own = _levelled(ratings[:, cells], given[cells], levels_known(given))
        count, sums = given[cells].sum(axis=-1), own.sum(axis=-1)
        scores = centred(metric[cells], np.ones(len(count), dtype=bool))
        sides = np.insert(sums / count, 1, scores, axis=0)  # [2 + G, n]
        products = sides[:, None] * sides
        across = sums[:, None] * sums - np.einsum("inr,jnr->ijn", own, own)
        products[np.ix_(rated, rated)] = across / (count * (count - 1))
        rows, columns = np.nonzero(cells)
        weights = (some.sources[:, rows] * some.systems[:, columns]).T  # [n, D]
        of_sides, whole = sides @ weights, products @ weights
        table = whole - of_sides[:, None] * of_sides / np.maximum(weights.sum(axis=0), 1e-300)
        spread, rounding = (np.einsum("iid->id", each) for each in (table, 1e-13 * whole))
        width = np.sqrt(np.where(spread > rounding, spread, np.nan))
        enough = _items(cells, some) >= len(ratings) + 2
        result[:] = np.where(enough, _left(table / (width[:, None] * width)), np.nan)
    return results if draws is not None else results[:, 0]


def by_two(cubes: ArrayLike) -> Array:
    """Which ratings ``[1 + G, S, K, R]`` count: ``[S, K, R]``."""
    given = np.isfinite(finite(cubes)).all(axis=0)
    return given & (given.sum(axis=-1, keepdims=True) > 1)


def levels_known(given: Array) -> bool:
    """Whether raters rated enough ``[S, K, R]``: R levels fitted to N ratings of n items take
    (R - 1) / (N - n) of the noise with them, and make the rest of different raters dependent.
    """
    free = given.sum() - given.any(axis=-1).sum()
    return bool(given.any(axis=(0, 1)).sum() - 1 <= 0.05 * free)


def _levelled(ratings: Array, given: Array, known: bool) -> Array:
    """Ratings ``[., n, R]`` about the mean of items, without levels if known; 0 if not given."""
    ratings = np.where(given, ratings, np.nan)
    if known:
        apart = np.nansum(ratings - np.nanmean(ratings, axis=-1, keepdims=True), axis=1)
        normal = np.diag(given.sum(axis=0)) - given.T @ (given / given.sum(axis=1, keepdims=True))
        ratings = ratings - (apart @ np.linalg.pinv(normal, rcond=1e-10, hermitian=True))[:, None]
    return np.nan_to_num(ratings - np.nanmean(ratings, axis=-1).mean(axis=-1)[:, None, None])


def _items(cells: Array, draws: Draws) -> Array:
    """How many of the cells ``[S, K]`` are in each draw ``[D]``."""
    return ((draws.sources > 0) @ cells.astype(float) * (draws.systems > 0)).sum(axis=1)


def _left(table: Array) -> Array:
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


def _checked(human: ArrayLike, metrics: ArrayLike, given: ArrayLike) -> tuple[Array, Array, Array]:
    x, y, z = finite(human), finite(metrics), finite(given)
    if not x.shape == y.shape[1:] == z.shape[1:]:
        raise ValueError(
            "people [sources, systems], metrics and given variables [several, sources, systems] of"
            f" one shape are needed, got {x.shape}, {y.shape} and {z.shape}"
        )
    return x, y, z
