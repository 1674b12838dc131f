"""How small a difference a data set can show, and how many rated sources a width of interval takes.

A difference of two metrics is judged on the same draws for both, so what they share cancels, and
the smallest detectable difference is a fact about a PAIR of metrics.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .kernels import Array, finite
from .matrices import Setting, estimate, resampled
from .resampling import Draws, ResamplingPlan, draw


class Detectable(NamedTuple):
    """Smallest true differences that a test detects, their paired bootstrap standard errors, and
    the observed differences (first less second), each ``[M, M]``.

    NaN on the diagonal of the first two, and where either metric has no value.
    """

    difference: Array
    error: Array
    observed: Array


def detectable_difference(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    plan: ResamplingPlan,
    rng: np.random.Generator,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Detectable:
    """The true difference between two metrics that a two-sided test detects with ``power``.

    (z(1 - alpha/2) + z(power)) times the standard deviation of the paired bootstrap differences,
    the usual normal approximation.  It is about differences planned for, not the power of the test
    that was run on the data at hand.

    Args:
        human, metrics: ``[S, K]`` and ``[M, S, K]``.

    Source: the minimum detectable effect of Bloom (1995), with a bootstrap standard error.
    """
    people, scores = finite(human), finite(metrics)
    m = len(scores)
    values = estimate(people, scores, setting)
    drawn = resampled(people, scores, setting, draw(plan, people.shape, rng))
    error = np.full((m, m), np.nan)
    for first, second in itertools.combinations(range(m), 2):
        gaps = drawn[first] - drawn[second]
        given = gaps[np.isfinite(gaps)]
        if len(given) > 1:
            error[first, second] = error[second, first] = np.std(given, ddof=1)
    observed = values[:, None] - values[None, :]
    error = np.where(np.isfinite(observed), error, np.nan)
    factor = stats.norm.ppf(1.0 - alpha / 2.0) + stats.norm.ppf(power)
    return Detectable(np.maximum(0.0, factor * error), error, observed)


class Widths(NamedTuple):
    """How the width of a 95 % interval depends on the number of rated sources.

    ``width`` is the mean over subsamples of each size ``[N]``, ``low`` and ``high`` their 5 % and
    95 % points, NaN where there are not so many sources; ``law`` is the width of all sources times
    sqrt(all / size), NaN where these have no width.
    """

    width: Array
    low: Array
    high: Array
    law: Array
    sources: int


def width_by_items(
    human: ArrayLike,
    metric: ArrayLike,
    setting: Setting,
    sizes: Sequence[int],
    rng: np.random.Generator,
    draws: int = 200,
) -> Widths:
    """Width of the bootstrap interval of one metric for fewer (or more) rated sources.

    For each size, twenty choices of that many sources without replacement, each bootstrapped over
    its sources.

    Args:
        human, metric: ``[S, K]``.
        sizes: numbers of sources, each at least 2.
        draws: bootstrap draws a subsample.
    """
    x, y, wanted = finite(human), finite(metric), np.asarray(sizes, dtype=int)
    rated = np.flatnonzero((np.isfinite(x) & np.isfinite(y)).any(axis=1))
    n, nothing = len(rated), np.full(len(wanted), np.nan)
    if n < 2:
        return Widths(nothing, nothing, nothing, nothing, n)

    def widths(size: int, times: int) -> tuple[float, float, float]:
        """Mean, 5 % and 95 % point over choices of so many sources; NaN of none."""
        counts = np.zeros((times * draws, len(x)))
        for block in np.split(counts, times):
            chosen = rng.choice(rated, size, replace=False)
            block[:, chosen] = rng.multinomial(size, np.full(size, 1.0 / size), size=draws)
        resamples = Draws(counts, np.ones((len(counts), x.shape[1])))
        values = np.split(resampled(x, y[None], setting, resamples)[0], times)
        known = [row[np.isfinite(row)] for row in values]
        ends = [np.quantile(row, [0.025, 0.975]) for row in known if len(row) > 1]
        if not ends:
            return math.nan, math.nan, math.nan
        each = np.array([high - low for low, high in ends])
        low, high = np.quantile(each, [0.05, 0.95])
        return float(each.mean()), float(low), float(high)

    full = widths(n, 1)[0]
    summaries = [widths(size, 20) if size <= n else (math.nan,) * 3 for size in wanted]
    mean, low, high = np.array(summaries).reshape(-1, 3).T
    return Widths(mean, low, high, full * np.sqrt(n / wanted), n)
