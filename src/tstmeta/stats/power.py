"""How small a difference a data set can show, and how many rated sources a width of interval takes.

Both rest on the bootstrap that gives the intervals.  A difference of two metrics is judged on the
same draws for both, so what they share (hard sources, noisy raters) cancels, and the smallest
detectable difference is a fact about a PAIR of metrics on a data set: similar metrics can be told
apart at a distance at which others cannot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .kernels import Array
from .matrices import Setting, estimate, resampled
from .resampling import Draws, Plan, draw

#: Units below which a bootstrap standard error is too small on average to be trusted.
FEW_UNITS = 8


class Detectable(NamedTuple):
    """Minimum detectable differences between metrics.

    Attributes:
        difference: smallest true difference found with the given power ``[M, M]``, at least 0, NaN
            on the diagonal and where either metric has no value.
        error: paired bootstrap standard error of the difference ``[M, M]``.
        observed: first metric less second ``[M, M]``, sign kept.
        power, alpha: as asked for; alpha two-sided.
        undefined: largest share of draws in which a pair had no difference.
        reason: why nothing is there, or why to doubt what is.
    """

    difference: Array
    error: Array
    observed: Array
    power: float
    alpha: float
    undefined: float
    reason: str = ""


def detectable_difference(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    plan: Plan,
    rng: np.random.Generator,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
) -> Detectable:
    """The true difference between two metrics that a two-sided test finds with ``power``.

    (z(1 - alpha/2) + z(power)) times the standard error of the difference, which is the standard
    deviation of the paired bootstrap draws: the usual normal approximation, with the chance of
    finding the wrong sign left out.  It is about differences planned for; computed from the data at
    hand it is not the power of the test that was made on them.  A value beyond the range of the
    statistic (2 for correlations) says that no difference at all can be counted on to be found.

    Args:
        human: ``[S, K]``; metrics: ``[M, S, K]``, two or more.
        plan: what is resampled; not ``raters``, whose draws need single ratings.

    Raises:
        ValueError: fewer than two metrics, a plan over raters, or levels outside (0, 1).

    Source: the minimum detectable effect of Bloom (1995), with a bootstrap standard error.
    """
    if plan.units == "raters":
        raise ValueError("a plan over raters changes the ratings: give one over sources or systems")
    if not (0 < power < 1 and 0 < alpha < 1):
        raise ValueError(f"power and alpha lie between 0 and 1, got {power} and {alpha}")
    scores = np.asarray(metrics, dtype=float)
    if scores.ndim != 3 or len(scores) < 2:
        raise ValueError(f"metrics [two or more, sources, systems] are needed, got {scores.shape}")
    people, m = np.asarray(human, dtype=float), len(scores)
    values, drawn = np.full(m, np.nan), np.empty((m, 0))
    if people.size:
        values = estimate(people, scores, setting)
        drawn = resampled(people, scores, setting, draw(plan, people.shape, rng))
    error, missing = np.full((m, m), np.nan), 0.0
    for first in range(m):
        for second in range(first + 1, m):
            gaps = drawn[first] - drawn[second]
            given = gaps[np.isfinite(gaps)]
            missing = max(missing, 1.0 - len(given) / max(1, len(gaps)))
            if len(given) > 1:
                error[first, second] = error[second, first] = np.std(given, ddof=1)
    observed = values[:, None] - values[None, :]
    error = np.where(np.isfinite(observed), error, np.nan)
    factor = stats.norm.ppf(1.0 - alpha / 2.0) + stats.norm.ppf(power)
    reason = _doubt(error, plan, people, missing)
    return Detectable(
        np.maximum(0.0, factor * error), error, observed, power, alpha, missing, reason
    )


def _doubt(error: Array, plan: Plan, human: Array, missing: float) -> str:
    if not np.isfinite(error).any():
        return "no pair of metrics has a value in two draws"
    given = np.isfinite(human)
    labels = np.arange(len(human)) if plan.clusters is None else np.asarray(plan.clusters)
    sources = len(np.unique(labels[given.any(axis=1)]))
    systems = int(given.any(axis=0).sum())
    doubts = [
        f"{count} {what} resampled: too few for a trustworthy standard error"
        for what, count, is_drawn in (
            ("sources or clusters", sources, plan.units in ("sources", "both")),
            ("systems", systems, plan.units in ("systems", "both")),
        )
        if is_drawn and count < FEW_UNITS
    ]
    if missing > 0:
        doubts.append(f"no value in up to {missing:.0%} of the draws")
    return "; ".join(doubts)


# ----------------------------------------------------------------------------------- widths


class Widths(NamedTuple):
    """How the width of an interval depends on the number of rated sources.

    Attributes:
        sizes: numbers of sources ``[N]``.
        width: mean width of the percentile interval over subsamples ``[N]``, NaN where more sources
            were asked for than there are, or nothing could be computed.
        low, high: 5 % and 95 % points of the width over subsamples ``[N]``: what another choice of
            sources of that number would have given.
        law: the width of all sources, times sqrt(all / size) ``[N]``.
        sources: how many rated sources there are.
        full: the width with all of them.
        confidence: of the interval.
        reason: why there is no value.
    """

    sizes: Array
    width: Array
    low: Array
    high: Array
    law: Array
    sources: int
    full: float
    confidence: float
    reason: str = ""


def width_by_items(
    human: ArrayLike,
    metric: ArrayLike,
    setting: Setting,
    sizes: Sequence[int],
    rng: np.random.Generator,
    draws: int = 200,
    *,
    subsamples: int = 20,
    confidence: float = 0.95,
) -> Widths:
    """Width of the bootstrap interval of one metric for fewer (or more) rated sources.

    For each size, ``subsamples`` choices of that many sources without replacement; each is
    bootstrapped over its sources (all rewrites of a source together).  Beyond the sources there
    are, the law of the square root alone speaks.  Where it and the subsamples part, there are too
    few sources for the law, or for the interval.

    Args:
        human, metric: ``[S, K]``.
        sizes: numbers of sources, each at least 2.
        draws: bootstrap draws a subsample.

    Raises:
        ValueError: shapes that do not fit, or sizes below 2.
    """
    x, y = np.asarray(human, dtype=float), np.asarray(metric, dtype=float)
    if x.ndim != 2 or x.shape != y.shape:
        raise ValueError(f"two matrices of one shape are needed, got {x.shape} and {y.shape}")
    wanted = np.asarray(sizes, dtype=int)
    if wanted.ndim != 1 or (wanted < 2).any():
        raise ValueError(f"sizes are numbers of sources, 2 or more, got {list(sizes)}")
    rated = np.flatnonzero((np.isfinite(x) & np.isfinite(y)).any(axis=1))
    n = len(rated)
    nothing = np.full(len(wanted), np.nan)
    if n < 2:
        reason = "fewer than two sources with ratings and scores"
        return Widths(wanted, nothing, nothing, nothing, nothing, n, math.nan, confidence, reason)

    def widths(size: int, times: int) -> Array:
        return _widths(x, y, setting, rated, size, times, draws, confidence, rng)

    full = _mean(widths(n, 1))
    found = np.array([_summary(widths(size, subsamples) if size <= n else None) for size in wanted])
    mean, low, high = found.reshape(-1, 3).T
    law = full * np.sqrt(n / wanted)
    reason = "" if math.isfinite(full) else "no value with all sources"
    return Widths(wanted, mean, low, high, law, n, full, confidence, reason)


def _widths(x, y, setting, rated, size, times, draws, confidence, rng) -> Array:
    """Widths ``[times]`` of intervals from ``size`` of the rated sources."""
    counts = np.zeros((times, draws, len(x)))
    for place in range(times):
        chosen = rng.choice(rated, size, replace=False)
        counts[place][:, chosen] = rng.multinomial(size, np.full(size, 1.0 / size), size=draws)
    flat = counts.reshape(times * draws, len(x))
    plan = Draws(flat, np.ones((len(flat), x.shape[1])))
    values = resampled(x, y[None], setting, plan)[0].reshape(times, draws)
    tail = (1.0 - confidence) / 2.0
    found = np.full(times, np.nan)
    for place, row in enumerate(values):
        given = row[np.isfinite(row)]
        if len(given) > 1:
            low, high = np.quantile(given, [tail, 1.0 - tail])
            found[place] = high - low
    return found


def _mean(values: Array) -> float:
    given = values[np.isfinite(values)]
    return float(given.mean()) if len(given) else math.nan


def _summary(values: Array | None) -> tuple[float, float, float]:
    given = np.empty(0) if values is None else values[np.isfinite(values)]
    if not len(given):
        return math.nan, math.nan, math.nan
    low, high = np.quantile(given, [0.05, 0.95])
    return float(given.mean()), float(low), float(high)
