"""Intervals from resampling: how far a value, or a difference of two metrics, can be trusted.

Everything comes from one set of draws (:mod:`tstmeta.stats.resampling`), the same for all metrics,
so that differences are paired.  How limits come from draws stands in :mod:`tstmeta.stats.limits`;
here it is decided what is drawn, left out and asked for.

``auto`` is the percentile: from eight units up it covered at least what BCa did, or came nearer to
its claim, in the settings that ``benchmarks/coverage.py`` measures, while BCa takes the noise of
clusters and of far-out units for bias.  Quantiles are widened, but for statistics of order (all
except Pearson's r) over units of one item, such as systems at system level: a unit that is drawn
twice makes no pair with itself, so fewer pairs count in a resample, and it spreads enough.

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
from .limits import FEW_UNITS, Interval, Method, Terms, interval, of_values
from .matrices import Setting, resampled, snapped
from .resampling import Draws, Plan, clusters_of, draw, everything, leave_one_out

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
        single: whether each unit is one item.
        setting: what was computed.
        plan: what was drawn.
    """

    estimates: Array
    values: Array
    jackknives: tuple[Array, ...]
    given: tuple[Array, ...]
    counts: dict[str, Array]
    single: bool
    setting: Setting
    plan: Plan

    @property
    def fewest(self) -> int:
        """Units that the metric with the fewest has, of the kind that has the fewest."""
        some = np.isfinite(self.estimates)
        return min((int(n[some].min()) for n in self.counts.values() if some.any()), default=0)

    def terms(self, confidence: float, method: Method) -> Terms:
        """How intervals are made, see the top of this module."""
        function = self.setting.function
        order = function.name != "pearson"
        # accuracies lie between 0 and 1, correlations between -1 and 1
        bounds = (-1.0 if function.chance == 0 else 0.0, 1.0)
        return Terms(confidence, method, "none" if order and self.single else "t", bounds)


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
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    plan: Plan,
    draws: Draws,
    values: Array | None = None,
) -> Resample:
    """The same from draws that were made, or stored, before; ``plan`` is what made them.

    Args:
        values: the statistic in each draw ``[M, D]``, where it was computed already.
    """
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    _check(x, y, plan)
    if plan.units == "raters":
        return _over_raters(x, y, setting, plan, draws)
    values = resampled(x, y, setting, draws) if values is None else values
    value = resampled(x, y, setting, everything(x.shape))[:, 0]
    jackknives, given, counts = _jackknives(x, y, setting, plan)
    both = np.isfinite(x) & np.isfinite(y)
    alone = plan.units != "both" and plan.clusters is None
    most = both.sum(axis=2 if plan.units == "sources" else 1).max(initial=0)
    single = setting.level == "system" or (alone and most <= 1)
    return Resample(value, values, jackknives, given, counts, single, setting, plan)


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
        False,
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
    terms, found = made.terms(confidence, method), []
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
    """The first metric's value minus the second's, draw by draw; both are given by row number."""
    terms = made.terms(confidence, method)
    low, high = terms.bounds
    terms = terms._replace(bounds=(low - high, high - low))
    left_out = [
        (j[first] - j[second])[g[first] | g[second]]
        for j, g in zip(made.jackknives, made.given, strict=True)
    ]
    counts = {name: int(min(n[first], n[second])) for name, n in made.counts.items()}
    values = made.values[first] - made.values[second]
    value = float(made.estimates[first] - made.estimates[second])
    return interval(values, value, left_out, counts, terms)
