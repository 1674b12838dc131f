"""How small a difference a data set can show, and how many rated sources a width of interval takes.

Both rest on the bootstrap.  A difference of two metrics is judged on the same draws for both, so
what they share cancels, and the smallest detectable difference is a fact about a PAIR of metrics.
"""

from __future__ import annotations

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
    """Minimum detectable differences between metrics.

    Attributes:
        difference: smallest true difference that a test detects ``[M, M]``, NaN on the diagonal and
            where either metric has no value.
        error: paired bootstrap standard error of the difference ``[M, M]``.
        observed: first metric less second ``[M, M]``, sign kept.
        reason: why nothing is there.
    """

    difference: Array
    error: Array
    observed: Array
    reason: str = ""


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
        power, alpha: inside (0, 1).

    Source: the minimum detectable effect of Bloom (1995), with a bootstrap standard error.
    """
    people, scores = finite(human), finite(metrics)
    m = len(scores)
    values = estimate(people, scores, setting)
    drawn = resampled(people, scores, setting, draw(plan, people.shape, rng))
    error = np.full((m, m), np.nan)
    for first in range(m):
        for second in range(first + 1, m):
            gaps = drawn[first] - drawn[second]
            given = gaps[np.isfinite(gaps)]
            if len(given) > 1:
                error[first, second] = error[second, first] = np.std(given, ddof=1)
    observed = values[:, None] - values[None, :]
    error = np.where(np.isfinite(observed), error, np.nan)
    factor = stats.norm.ppf(1.0 - alpha / 2.0) + stats.norm.ppf(power)
    some = np.isfinite(error).any()
    reason = "" if some else "no pair of metrics has a value in two draws"
    return Detectable(np.maximum(0.0, factor * error), error, observed, reason)


class Widths(NamedTuple):
    """How the width of a 95 % interval depends on the number of rated sources.

    Attributes:
        sizes: numbers of sources ``[N]``.
        width: mean width over subsamples ``[N]``, NaN where there are fewer sources.
        low, high: 5 % and 95 % points of the width over subsamples ``[N]``.
        law: the width of all sources, times sqrt(all / size) ``[N]``.
        sources, full: how many rated sources there are, and the width with all of them.
        reason: why there is no value.
    """

    sizes: Array
    width: Array
    low: Array
    high: Array
    law: Array
    sources: int
    full: float
    reason: str = ""


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
    its sources.  Beyond the sources there are, the law of the square root alone speaks.

    Args:
        human, metric: ``[S, K]``.
        sizes: numbers of sources, each at least 2.
        draws: bootstrap draws a subsample.
    """
    x, y, wanted = finite(human), finite(metric), np.asarray(sizes, dtype=int)
    rated = np.flatnonzero((np.isfinite(x) & np.isfinite(y)).any(axis=1))
    n, nothing = len(rated), np.full(len(wanted), np.nan)
    if n < 2:
        reason = "fewer than two sources with ratings and scores"
        return Widths(wanted, nothing, nothing, nothing, nothing, n, math.nan, reason)

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
    reason = "" if math.isfinite(full) else "no value with all sources"
    return Widths(wanted, mean, low, high, full * np.sqrt(n / wanted), n, full, reason)
