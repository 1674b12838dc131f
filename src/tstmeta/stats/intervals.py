"""Intervals from resampling: how far a value, or a difference of two metrics, can be trusted.

Everything comes from one set of draws (:mod:`tstmeta.stats.resampling`), the same for all metrics,
so that differences are paired.  How limits come from draws stands in :mod:`tstmeta.stats.limits`;
here it is decided what is drawn, left out and asked for.

``auto`` is BCa for Pearson's r at system level with systems drawn, where skewness is large and each
unit is one item, and the percentile for everything else and for differences: with clusters or ties
BCa takes noise for bias, and covers less.  Statistics of order (all but Pearson's r) over the units
that are drawn spread more in resamples than in samples, because a unit that is drawn twice makes no
pair with itself; so they are widened by narrowness alone, and not at all at system level.
``benchmarks/coverage.py`` measures what all this covers.

What an interval is about is the plan's ``estimand``.  Plan ``both`` counts the noise of single
cells with the sources and again with the systems, and so covers more than it claims (Owen 2007, The
Pigeonhole Bootstrap, Annals of Applied Statistics 1).  Nothing here mends noise in the means of
systems: it pulls a correlation over systems towards zero, the draws' as well as the estimate.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array
from .limits import FEW_UNITS, Interval, Method, Terms, Widening, interval, of_values
from .matrices import Setting, estimate, resampled, snapped
from .resampling import Draws, Plan, clusters_of, draw, leave_one_out

__all__ = [
    "FEW_UNITS",
    "Interval",
    "Method",
    "Resample",
    "difference",
    "intervals",
    "of_draws",
    "of_resample",
    "of_values",
    "rater_means",
    "resample",
]


class Resample(NamedTuple):
    """Estimates of several metrics and what resampling made of them.

    Attributes:
        estimates: ``[M]``.
        values: ``[M, D]``, a column a draw.
        jackknives: values with one unit left out, ``[M, U]`` for each sample of units: sources (or
            clusters) of each stratum, systems, raters.
        given: whether a metric has anything of that unit, ``[M, U]`` for each sample.
        counts: units by kind, ``[M]`` each; of n strata's units, n - 1 do not count, as each
            stratum has its own mean.
        setting: what was computed.
        plan: what was drawn.
    """

    estimates: Array
    values: Array
    jackknives: tuple[Array, ...]
    given: tuple[Array, ...]
    counts: dict[str, Array]
    setting: Setting
    plan: Plan

    @property
    def fewest(self) -> int:
        """Units that the metric with the fewest has, of the kind that has the fewest."""
        some = np.isfinite(self.estimates)
        return min((int(n[some].min()) for n in self.counts.values() if some.any()), default=0)


def intervals(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    plan: Plan,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
    method: Method = "auto",
) -> list[Interval]:
    """An interval for each metric ``[M, S, K]`` against people ``[S, K]``, from the same draws.

    For a plan over raters ``human`` holds their single ratings ``[S, K, R]``.

    Raises:
        ValueError: shapes that do not fit, an unknown method, a confidence outside (0, 1).
    """
    made = resample(human, metrics, setting, plan, rng)
    return of_resample(made, confidence=confidence, method=method)


def resample(
    human: ArrayLike, metrics: ArrayLike, setting: Setting, plan: Plan, rng: np.random.Generator
) -> Resample:
    """Draw once for all metrics; intervals, differences and rank sets come from the result.

    Shapes and errors as for :func:`intervals`.
    """
    x = np.asarray(human, dtype=float)
    _check(x, np.asarray(metrics), plan)
    raters = x.shape[2] if plan.units == "raters" else 0
    return of_draws(x, metrics, setting, plan, draw(plan, x.shape[:2], rng, raters=raters))


def of_draws(
    human: ArrayLike, metrics: ArrayLike, setting: Setting, plan: Plan, draws: Draws
) -> Resample:
    """The same from draws that were made, or stored, before; ``plan`` is what made them."""
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    _check(x, y, plan)
    if plan.units == "raters":
        return _over_raters(x, y, setting, plan, draws)
    values = resampled(x, y, setting, draws)
    jackknives, given, counts = _jackknives(x, y, setting, plan)
    return Resample(estimate(x, y, setting), values, jackknives, given, counts, setting, plan)


def _check(human: Array, metrics: Array, plan: Plan) -> None:
    axes = "[sources, systems, raters]" if plan.units == "raters" else "[sources, systems]"
    fits = metrics.ndim == 3 and metrics.shape[1:] == human.shape[:2]
    if human.ndim != axes.count(",") + 1 or not fits:
        raise ValueError(
            f"people {axes} and metrics [metrics, sources, systems] are needed,"
            f" got {human.shape} and {metrics.shape}"
        )


def _jackknives(
    human: Array, metrics: Array, setting: Setting, plan: Plan
) -> tuple[tuple[Array, ...], tuple[Array, ...], dict[str, Array]]:
    """The jackknives of a plan over sources, systems or both, as :class:`Resample` holds them."""
    both = np.isfinite(human) & np.isfinite(metrics)
    jackknives: list[Array] = []
    given: list[Array] = []
    counts: dict[str, Array] = {}
    for kept in leave_one_out(plan, human.shape):
        left_out = resampled(human, metrics, setting, kept)
        if (kept.sources == 0).any():
            there = both.any(axis=2) @ (kept.sources == 0).T  # [M, clusters]
            strata = clusters_of(plan, len(human))[1]
            name = "sources" if plan.clusters is None else "clusters"
        else:
            there, strata, name = both.any(axis=1), np.zeros(len(kept), dtype=int), "systems"
        samples = [strata == one for one in np.unique(strata)]
        jackknives += [left_out[:, inside] for inside in samples]
        given += [there[:, inside] for inside in samples]
        free = [np.maximum(there[:, inside].sum(axis=1) - 1, 0) for inside in samples]
        counts[name] = sum(free, np.zeros(len(metrics), dtype=int)) + there.any(axis=1)
    return tuple(jackknives), tuple(given), counts


def _over_raters(
    cube: Array, metrics: Array, setting: Setting, plan: Plan, draws: Draws
) -> Resample:
    """The same where raters are drawn: people's means differ by draw."""
    sources, systems, raters = cube.shape
    given = [(np.isfinite(cube) & np.isfinite(one)[..., None]).any(axis=(0, 1)) for one in metrics]
    there = np.array(given, dtype=bool).reshape(len(metrics), raters)

    def values(counts: Array) -> Array:
        some = Draws(np.ones((len(counts), sources)), np.ones((len(counts), systems)), counts)
        return resampled(rater_means(cube, some), metrics, setting, some)

    if draws.raters is None:
        raise ValueError("a plan over raters needs draws of raters")
    return Resample(
        values(np.ones((1, raters)))[:, 0],
        values(draws.raters),
        (values(1.0 - np.eye(raters)),),
        (there,),
        {"raters": there.sum(axis=1)},
        setting,
        plan,
    )


def rater_means(cube: ArrayLike, draws: Draws) -> Array:
    """Means over the raters of each draw: single ratings ``[S, K, R]`` to ``[D, S, K]``.

    A cell that no drawn rater rated is NaN in that draw.

    Raises:
        ValueError: the draws hold no raters, or another number of them.
    """
    ratings, counts = np.asarray(cube, dtype=float), draws.raters
    if ratings.ndim != 3 or counts is None or counts.shape[1] != ratings.shape[2]:
        raise ValueError("ratings [sources, systems, raters] and draws of as many raters needed")
    given = np.isfinite(ratings)
    weight = np.tensordot(counts, given.astype(float), axes=(1, 2))
    summed = np.tensordot(counts, np.where(given, ratings, 0.0), axes=(1, 2))
    return snapped(np.where(weight > 0, summed / np.where(weight > 0, weight, 1.0), np.nan))


# ---------------------------------------------------------------------------- from a resample


def of_resample(
    made: Resample, *, confidence: float = 0.95, method: Method = "auto"
) -> list[Interval]:
    """An interval for each metric."""
    if method == "auto" and _smooth(made.setting):
        single = made.setting.level == "system" and made.plan.units == "systems"
        method = "bca" if single else "percentile"
    terms = Terms(confidence, method, _widening(made.setting, made.plan), _bounds(made.setting))
    found = []
    for m, (values, value) in enumerate(zip(made.values, made.estimates, strict=True)):
        left_out = [j[m, g[m]] for j, g in zip(made.jackknives, made.given, strict=True)]
        counts = {name: int(count[m]) for name, count in made.counts.items()}
        found.append(interval(values, float(value), left_out, counts, terms))
    return found


def difference(
    made: Resample,
    first: int,
    second: int,
    *,
    confidence: float = 0.95,
    method: Method = "auto",
) -> Interval:
    """The first metric's value minus the second's, draw by draw; both are given by row number.

    ``auto`` is the percentile.
    """
    low, high = _bounds(made.setting)
    terms = Terms(confidence, method, _widening(made.setting, made.plan), (low - high, high - low))
    left_out = [
        (j[first] - j[second])[g[first] | g[second]]
        for j, g in zip(made.jackknives, made.given, strict=True)
    ]
    counts = {name: int(min(n[first], n[second])) for name, n in made.counts.items()}
    values = made.values[first] - made.values[second]
    value = float(made.estimates[first] - made.estimates[second])
    return interval(values, value, left_out, counts, terms)


def _smooth(setting: Setting) -> bool:
    """A statistic of moments, not of order."""
    return setting.function.name == "pearson"


def _widening(setting: Setting, plan: Plan) -> Widening:
    """See the top of this module; a mean over the units drawn is a mean, of whatever statistic."""
    mean_over = {"source": "sources", "within-system": "systems"}.get(setting.level)
    if _smooth(setting) or plan.units in (mean_over, "raters"):
        return "t"
    return "none" if setting.level == "system" else "narrow"


def _bounds(setting: Setting) -> tuple[float, float]:
    """Accuracies lie between 0 and 1, correlations between -1 and 1."""
    return (-1.0, 1.0) if setting.function.chance == 0 else (0.0, 1.0)
