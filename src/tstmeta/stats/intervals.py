"""Intervals from resampling: how far a value, or a difference of two metrics, can be trusted.

Everything comes from one set of draws, the same for all metrics, so that differences are paired;
:mod:`.limits` makes limits of them.  ``benchmarks/coverage.py`` says what they cover: plan ``both``
covers more than it claims (Owen 2007, The Pigeonhole Bootstrap, Annals of Applied Statistics 1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array
from .limits import Interval, Method, interval
from .matrices import Setting, resampled
from .resampling import Draws, ResamplingPlan, clusters_of, draw, leave_one_out

#: Below so many systems BCa of a statistic of order covers too little (``benchmarks/coverage.py``).
FEW_SYSTEMS = 20


class Resample(NamedTuple):
    """Estimates of several metrics ``[M]`` and their values in every draw ``[M, D]``.

    Attributes:
        jackknives: values with one unit left out, ``[M, U]`` for each sample of units: sources (or
            clusters) of each stratum, systems.
        given: whether a metric has anything of that unit, alike.
        counts: units by kind, ``[M]`` each, n - 1 fewer where there are n strata.
        single: whether each unit is one item.
    """

    estimates: Array
    values: Array
    jackknives: tuple[Array, ...]
    given: tuple[Array, ...]
    counts: dict[str, Array]
    single: bool
    setting: Setting
    plan: ResamplingPlan

    @property
    def fewest(self) -> int:
        """Units of the kind and of the metric that have the fewest."""
        some = np.isfinite(self.estimates)
        return min((int(n[some].min()) for n in self.counts.values() if some.any()), default=0)

    @property
    def widened(self) -> bool:
        """Not for statistics of order over single items: one that is drawn twice makes no pair with
        itself, so a resample spreads enough.
        """
        return self.setting.function.name == "pearson" or not self.single

    @property
    def bounds(self) -> tuple[float, float]:
        """Ends of the scale: accuracies lie between 0 and 1, correlations between -1 and 1."""
        return (-1.0 if self.setting.function.chance == 0 else 0.0, 1.0)


def resample(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    plan: ResamplingPlan,
    rng: np.random.Generator,
) -> Resample:
    """Draw once for all metrics ``[M, S, K]`` and people ``[S, K]``."""
    return of_draws(human, metrics, setting, plan, draw(plan, np.shape(metrics)[-2:], rng))


def of_draws(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    plan: ResamplingPlan,
    draws: Draws,
    values: Array | None = None,
) -> Resample:
    """The same from draws at hand, and their ``values`` ``[M, D]`` if computed already."""
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    values = resampled(x, y, setting, draws) if values is None else values
    estimates = resampled(x, y, setting)[:, 0]
    both = np.isfinite(x) & np.isfinite(y)
    jackknives: list[Array] = []
    given: list[Array] = []
    counts: dict[str, Array] = {}
    for kept in leave_one_out(plan, x.shape):
        left_out = resampled(x, y, setting, kept)
        if (kept.sources == 0).any():
            some = both.any(axis=2) @ (kept.sources == 0).T  # [M, clusters]
            strata = clusters_of(plan, len(x))[1]
            name = "sources" if plan.clusters is None else "clusters"
        else:
            some, strata, name = both.any(axis=1), np.zeros(len(kept), dtype=int), "systems"
        samples = [strata == stratum for stratum in np.unique(strata)]
        jackknives += [left_out[:, inside] for inside in samples]
        given += [some[:, inside] for inside in samples]
        free = [np.maximum(some[:, inside].sum(axis=1) - 1, 0) for inside in samples]
        counts[name] = sum(free, np.zeros(len(y), dtype=int)) + some.any(axis=1)
    alone = plan.units != "both" and plan.clusters is None
    most = both.sum(axis=2 if plan.units == "sources" else 1).max(initial=0)
    single = setting.level == "system" or (alone and bool(most <= 1))
    units = tuple(jackknives), tuple(given), counts, single
    return Resample(estimates, values, *units, setting, plan)


def of_resample(
    resample: Resample, *, confidence: float = 0.95, method: Method = "auto"
) -> list[Interval]:
    """An interval for each metric."""
    return [
        _warned(
            interval(
                values,
                float(resample.estimates[m]),
                [j[m, g[m]] for j, g in zip(resample.jackknives, resample.given, strict=True)],
                {name: int(count[m]) for name, count in resample.counts.items()},
                confidence=confidence,
                method=method,
                widened=resample.widened,
                bounds=resample.bounds,
            ),
            resample,
        )
        for m, values in enumerate(resample.values)
    ]


def _warned(limits: Interval, resample: Resample) -> Interval:
    """BCa of a statistic of order over few systems says that it covers less than it claims."""
    systems = resample.counts.get("systems", np.array([FEW_SYSTEMS])).max(initial=0)
    if limits.method != "bca" or systems >= FEW_SYSTEMS:
        return limits
    if resample.setting.function.name == "pearson":
        return limits
    doubt = (
        f"BCa of a rank statistic over {systems} systems: below {FEW_SYSTEMS} it covers less than"
        " it claims; use the percentile"
    )
    return limits._replace(reason="; ".join(filter(None, [limits.reason, doubt])))


def difference(
    resample: Resample,
    first: int,
    second: int,
    *,
    confidence: float = 0.95,
    method: Method = "auto",
) -> Interval:
    """The metric in row ``first`` minus that in row ``second``, draw by draw."""
    low, high = resample.bounds
    left_out = [
        (j[first] - j[second])[g[first] | g[second]]
        for j, g in zip(resample.jackknives, resample.given, strict=True)
    ]
    limits = interval(
        resample.values[first] - resample.values[second],
        float(resample.estimates[first] - resample.estimates[second]),
        left_out,
        {name: int(min(n[first], n[second])) for name, n in resample.counts.items()},
        confidence=confidence,
        method=method,
        widened=resample.widened,
        bounds=(low - high, high - low),
    )
    return _warned(limits, resample)
