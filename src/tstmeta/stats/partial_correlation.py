"""Partial correlation: what a metric and people share once something else is held fixed."""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from . import kernels
from .correlation import Correlation
from .kernels import Array, constant, finite, standardised
from .matrices import Setting
from .resampling import Draws, everything
from .statistic import ratio

#: A share of variance below this is rounding: what is left then says nothing.
_NOTHING = 1e-10
#: Numbers held at once.
_ROOM = 2**23
#: Statistics of which there is a partial one.
PARTIAL = ("pearson", "spearman", "kendall")


def partial(
    human: ArrayLike,
    metrics: ArrayLike,
    given: ArrayLike,
    *,
    statistic: str = "pearson",
    tasks: ArrayLike | None = None,
    draws: Draws | None = None,
) -> Array:
    """Correlation of what ``given`` leaves unexplained in people's values and in scores.

    Both sides are regressed on all given variables by least squares; the value is the Pearson
    correlation of the residuals (Whittaker 1990, Section 5.7), signs kept.  Spearman does the same
    on average ranks, and Kendall's partial tau (Kendall 1942, Partial Rank Correlation, Biometrika
    32) on the signs of all pairs of items.

    Args:
        human, metrics: ``[S, K]`` and ``[M, S, K]``.
        given: ``[G, S, K]``; with G = 0 the plain correlation.
        statistic: ``pearson``, ``spearman`` or ``kendall`` (tau-b).
        tasks: one label a source ``[S]``: all variables are standardised within tasks first; tasks
            where people or the metric are constant are left out.
        draws: weightings, the same for all metrics.

    Returns:
        ``[M]``, or ``[M, D]`` with draws; NaN where fewer than G + 3 items have all values, where
        people or the metric are constant, or where given variables are constant, collinear, or
        explain either side altogether.
    """
    if statistic not in PARTIAL:
        raise ValueError(f"no partial {statistic!r}; known: {', '.join(PARTIAL)}")
    x, y, z = _checked(human, metrics, given)
    labels = None if tasks is None else np.asarray(tasks)
    weightings = everything(x.shape) if draws is None else draws
    results = np.full((len(y), len(weightings)), np.nan)
    complete = np.isfinite(y) & np.isfinite(x) & np.isfinite(z).all(axis=0)
    for members, rows, columns in _alike(complete, len(z) + 3):
        main = np.concatenate([x[None], z])[:, rows, columns]  # [1 + G, n]
        sides = main[:, None], y[members][:, None, rows, columns]
        of_items = None if labels is None else labels[rows]
        size = max(1, _ROOM // ((len(z) + len(members) + 1) * len(rows)))
        if statistic == "spearman" and len(rows) <= kernels.FEW:
            size = max(1, size // len(rows))
        for start in range(0, len(weightings), size):
            inside = slice(start, start + size)
            weights = weightings.sources[inside][:, rows] * weightings.systems[inside][:, columns]
            results[members, inside] = _partial(*sides, weights, of_items, statistic)
    return results if draws is not None else results[:, 0]


def partial_at(human: ArrayLike, metrics: ArrayLike, given: ArrayLike, setting: Setting) -> Array:
    """:func:`partial` at the level of a setting ``[M]``: over all items (pooled, within-task), in
    each group of items that has a value and then averaged, or over means of systems of the items
    that have all values.
    """
    x, y, z = _checked(human, metrics, given)
    level, name = setting.level, setting.function.name
    if level in ("pooled", "within-task"):
        tasks = setting.tasks if level == "within-task" else None
        return partial(x, y, z, statistic=name, tasks=tasks)
    if level == "system":
        values, cells = np.full(len(y), np.nan), np.isfinite(y) & np.isfinite(z).all(axis=0)
        for place, metric in enumerate(np.where(cells, y, np.nan)):
            sides = np.stack([metric, *np.where(cells[place], z, np.nan)])[:, None]
            of_x, means = kernels.column_means(x[None], sides, np.ones((1, len(x))))
            values[place] = partial(of_x[0], means[:1], means[1:], statistic=name)[0]
        return values
    if level == "within-system":
        x, y, z = (side.swapaxes(-1, -2) for side in (x, y, z))
    labels = np.asarray(setting.tasks) if level == "task" else np.arange(len(x))
    groups = [labels == label for label in dict.fromkeys(labels.tolist())]
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
    given = by_two(ratings)
    complete = np.isfinite(y) & given.any(axis=-1)
    weightings = everything(x.shape) if draws is None else draws
    results = np.full((len(y), len(weightings)), np.nan)
    for members, rows, columns in _alike(complete, len(ratings) + 2):
        own = _levelled(ratings[:, rows, columns], given[rows, columns], levels_known(given))
        count, sums = given[rows, columns].sum(axis=-1), own.sum(axis=-1)
        across = sums[:, None] * sums[None] - np.einsum("inr,jnr->ijn", own, own)
        products = (across / (count * (count - 1)))[:, :, None]
        weights = weightings.sources[:, rows] * weightings.systems[:, columns]
        sides = (sums / count)[:, None], y[members][:, None, rows, columns]
        enough = (weights > 0).sum(axis=1) >= len(ratings) + 2
        values = _left(*_covariances(*sides, weights, products))
        results[members] = np.where(enough, values, np.nan)
    return results if draws is not None else results[:, 0]


def _alike(complete: Array, least: int) -> Iterator[tuple[list[int], Array, Array]]:
    """Metrics that have the same items ``[M, S, K]``, ``least`` or more, and where these are."""
    same: dict[bytes, list[int]] = {}
    for metric, cells in enumerate(complete):
        same.setdefault(cells.tobytes(), []).append(metric)
    for members in same.values():
        rows, columns = np.nonzero(complete[members[0]])
        if len(rows) >= least:
            yield members, rows, columns


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


def partials(
    human: ArrayLike, metrics: ArrayLike, given: ArrayLike, *, statistic: str = "pearson"
) -> list[Correlation]:
    """:func:`partial` with n and a reason where there is no value; without p."""
    x, y, z = _checked(human, metrics, given)
    values = partial(x, y, z, statistic=statistic)
    results = []
    for value, metric in zip(values.tolist(), y, strict=True):
        cells = np.isfinite(x) & np.isfinite(z).all(axis=0) & np.isfinite(metric)
        reason = "" if math.isfinite(value) else _why(x[cells], metric[cells], z[:, cells])
        results.append(Correlation(value, math.nan, int(cells.sum()), reason))
    return results


def _partial(main: Array, scores: Array, weights: Array, labels, statistic: str) -> Array:
    """Partial correlations ``[M, D]`` of items that have all values: people and the given
    ``[1 + G, 1, n]``, scores ``[M, 1, n]``, weights ``[D, n]``.
    """
    if labels is not None:
        main, scores = (_within(side, weights, labels) for side in (main, scores))
        varied = np.isfinite(scores)
        if len(scores) > 1 and (varied != varied[:1]).any():  # not the same tasks for all
            each = [_partial(main, metric[None], weights, None, statistic) for metric in scores]
            return np.concatenate(each)
    weights = weights * (np.isfinite(main[0]) & np.isfinite(scores[0]))
    main, scores = (np.where(np.isfinite(side), side, 0.0) for side in (main, scores))
    if statistic == "spearman":
        main, scores = (kernels.standings(side, weights) for side in (main, scores))
    enough = (weights > 0).sum(axis=1) >= len(main) + 2
    products = _of_pairs if statistic == "kendall" else _covariances
    return np.where(enough, _left(*products(main, scores, weights)), np.nan)


def _of_pairs(main: Array, scores: Array, weights: Array) -> tuple[Array, Array, Array]:
    """:func:`_covariances` of the signs of all pairs of items, so that correlations are tau-b."""

    def total(a: Array, b: Array) -> Array:
        return kernels.pair_totals((np.multiply,), a, b, weights)[0]

    inner = np.stack([np.stack([total(a, b) for b in main]) for a in main])
    outer = np.stack([total(a, scores) for a in main])
    return inner, outer, kernels.untied(scores, weights)


def _within(sides: Array, weights: Array, labels: Array) -> Array:
    """Sides ``[., 1, n]`` standardised within tasks, ``[., D, n]``; NaN where one is constant."""
    result = np.empty((len(sides), *weights.shape))
    for task in dict.fromkeys(labels.tolist()):
        inside = labels == task
        part = standardised(sides[..., inside, None], weights[:, inside, None])
        result[..., inside] = part[..., 0]
    return result


def _covariances(
    main: Array, scores: Array, weights: Array, products: Array | None = None
) -> tuple[Array, Array, Array]:
    """Covariances times n, main with main ``[1 + G, 1 + G, D]`` and with scores ``[1 + G, M, D]``,
    and variances of scores ``[M, D]``; ``products`` of main with main if not each with itself.
    """
    main, scores = (kernels.centred(side, np.isfinite(side)) for side in (main, scores))
    n = np.maximum(weights.sum(axis=1), 1e-300)
    of_main, of_scores = kernels.total(main, weights), kernels.total(scores, weights)
    rows = (main * side for side in main) if products is None else products
    inner = np.stack([kernels.total(row, weights) for row in rows])
    outer = np.stack([kernels.total(scores * side, weights) for side in main])
    own = kernels.total(scores**2, weights)
    rounding = 1e-13 * np.einsum("iid->id", inner), 1e-13 * own
    inner = inner - of_main[:, None] * of_main[None] / n
    outer = outer - of_main[:, None] * of_scores[None] / n
    own = own - of_scores**2 / n
    spread = np.einsum("iid->id", inner)
    np.einsum("iid->id", inner)[...] = np.where(spread > rounding[0], spread, 0.0)
    return inner, outer, np.where(own > rounding[1], own, 0.0)


def _left(inner: Array, outer: Array, own: Array) -> Array:
    """Correlations ``[M, D]`` of what the given variables leave of people and of scores."""
    inner, outer = np.moveaxis(inner, -1, 0), np.moveaxis(outer, -1, 0)  # [D, 1 + G, .]
    spread = np.sqrt(np.einsum("dii->di", inner))
    sound = (spread > 0).all(axis=1)
    spread = np.where(spread > 0, spread, 1.0)
    inner = inner / (spread[:, :, None] * spread[:, None, :])
    width = np.sqrt(own.T)  # [D, M]
    varied = width > 0
    outer = outer / (spread[:, :, None] * np.where(varied, width, 1.0)[:, None, :])
    table = np.where(sound[:, None, None], inner[:, 1:, 1:], np.eye(inner.shape[1] - 1))
    if table.shape[1]:
        sound &= np.linalg.eigvalsh(table)[:, 0] > _NOTHING
        table = np.where(sound[:, None, None], table, np.eye(table.shape[1]))
    weights = np.linalg.solve(table, np.concatenate([inner[:, 1:, :1], outer[:, 1:]], axis=2))
    explained = np.einsum("dgm,dgm->dm", outer[:, 1:], weights[:, :, 1:])
    by_given = np.einsum("dg,dg->d", inner[:, 1:, 0], weights[:, :, 0])
    both = outer[:, 0] - np.einsum("dg,dgm->dm", inner[:, 1:, 0], weights[:, :, 1:])
    rest_x, rest_y = (1.0 - by_given)[:, None], 1.0 - explained
    fine = sound[:, None] & varied & (rest_x > _NOTHING) & (rest_y > _NOTHING)
    values = both / np.sqrt(np.where(fine, rest_x * rest_y, 1.0))
    fine &= np.abs(values) < 1.00001  # beyond rounding, no variables have such covariances
    return np.where(fine, np.clip(values, -1.0, 1.0), np.nan).T


def _why(x: Array, y: Array, z: Array) -> str:
    if len(x) < len(z) + 3:
        return f"fewer than {len(z) + 3} items with all values"
    for name, side in (("ratings", x), ("scores", y)):
        if constant(side):
            return f"all {name} are equal"
    if any(constant(side) for side in z):
        return "a given variable is constant"
    if len(z) > 1 and np.linalg.eigvalsh(np.corrcoef(z))[0] <= _NOTHING:
        return "the given variables are collinear"
    return "the given variables leave nothing unexplained on one side"


def _checked(human: ArrayLike, metrics: ArrayLike, given: ArrayLike) -> tuple[Array, Array, Array]:
    x, y, z = finite(human), finite(metrics), finite(given)
    if not x.shape == y.shape[1:] == z.shape[1:]:
        raise ValueError(
            "people [sources, systems], metrics and given variables [several, sources, systems] of"
            f" one shape are needed, got {x.shape}, {y.shape} and {z.shape}"
        )
    return x, y, z
