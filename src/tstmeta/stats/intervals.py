"""Intervals from resampling: how far a value, or a difference of two metrics, can be trusted.

Everything comes from one set of draws, the same for all metrics, so that differences are paired.
Draws of sources and systems count the noise of cells too often, and are brought to the variance of
crossed samples.

Limits are quantiles of the draws (the percentile bootstrap), at t(n - 1) sqrt(n / (n - 1)) instead
of z, as a sample drawn from itself varies too little (Hesterberg 2015, What Teachers Should Know
About the Bootstrap, The American Statistician 69).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array
from .matrices import Setting, resampled, with_value
from .resampling import Draws, ResamplingPlan, clusters_of, draw, leave_one_out, systems_of

#: Below this number of units no interval can be relied on to cover what it claims.
FEW_UNITS = 8
#: A larger share of undefined draws is reported.
SMALL_SHARE = 0.01
#: Draws closer than this to the estimate equal it.
_ROUNDING = 1e-12


class Interval(NamedTuple):
    """Limits of a value; NaN where there are none.

    Of so many draws ``undefined`` have no value; ``reason`` says why there are no limits, or why
    they may cover less than they claim.
    """

    low: float
    high: float
    draws: int
    undefined: int
    reason: str = ""


class Resample(NamedTuple):
    """Estimates of several metrics ``[M]`` and their values in every draw ``[M, D]``.

    Attributes:
        jackknives: values with one unit left out, ``[M, U]`` for each sample of units: sources (or
            clusters) of each stratum, systems.
        given: whether a metric has anything of that unit, alike.
        counts: units by kind, ``[M]`` each, n - 1 fewer where there are n strata.
        single: whether each unit is one item.
        systems: how many of them each metric has a value of ``[M]``, drawn or not.
        groups: groups that each metric has a value in ``[M, G]``.
        of_pairs: the same of the differences of all pairs i < j of metrics, in order, at levels of
            groups over the groups where both have a value; pairs have none.
    """

    estimates: Array
    values: Array
    jackknives: tuple[Array, ...]
    given: tuple[Array, ...]
    counts: dict[str, Array]
    single: bool
    setting: Setting
    plan: ResamplingPlan
    systems: Array
    groups: Array
    of_pairs: Resample = cast("Resample", None)

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
    human: ArrayLike, metrics: ArrayLike, setting: Setting, plan: ResamplingPlan, draws: Draws
) -> Resample:
    """The same from draws at hand."""
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    m, pairs = len(y), np.transpose(np.triu_indices(len(y), 1))

    def values_of(draws: Draws | None) -> Array:
        return resampled(x, y, setting, draws, pairs)

    estimates = values_of(None)[:, 0]
    both = np.isfinite(x) & np.isfinite(y)
    jackknives: list[Array] = []
    given: list[Array] = []
    counts: dict[str, Array] = {}
    for kept in leave_one_out(plan, x.shape):
        left_out = values_of(kept)
        if (kept.systems == 1).all():
            name = "sources" if plan.clusters is None else "clusters"
            own, strata = clusters_of(plan, len(x))
            some = _any(both.any(axis=2), own)  # [M, units]
        else:
            name, own = "systems", systems_of(plan, x.shape[1])
            some, strata = _any(both.any(axis=1), own), np.zeros(len(kept), dtype=int)
        if len(kept) < len(strata):  # of very many there is no jackknife
            left_out = np.full((len(left_out), len(strata)), np.nan)
        of_strata = [strata == stratum for stratum in np.unique(strata)]
        jackknives += [left_out[:, inside] for inside in of_strata]
        given += [some[:, inside] for inside in of_strata]
        free = [some[:, inside].sum(axis=1) - 1 for inside in of_strata]
        counts[name] = np.maximum(free, 0).sum(axis=0, dtype=int) + some.any(axis=1)
    if plan.units == "both":
        of_sources = values_of(Draws(draws.sources, np.ones_like(draws.systems)))
        of_systems = values_of(Draws(np.ones_like(draws.sources), draws.systems))
        if setting.level == "system":
            values = _wider(of_sources, of_systems)
        else:
            all_three = values_of(draws), of_sources, of_systems
            values = _crossed(estimates, *all_three, jackknives)
    else:
        values = values_of(draws)
    alone = plan.units != "both" and plan.clusters is None and plan.columns is None
    number = systems_of(plan, x.shape[1])
    most = both.sum(axis=2 if plan.units == "sources" else 1).max(initial=0)
    single = setting.level == "system" or (alone and bool(most <= 1))
    whole = Resample(
        estimates[:m],
        values[:m],
        tuple(left_out[:m] for left_out in jackknives),
        tuple(given),
        counts,
        single,
        setting,
        plan,
        systems=(both.any(axis=1) @ (number[:, None] == np.unique(number))).sum(axis=1),
        groups=with_value(x, y, setting),
    )
    i, j = pairs.T
    of_pairs = whole._replace(
        estimates=estimates[m:],
        values=values[m:],
        jackknives=tuple(left_out[m:] for left_out in jackknives),
        given=tuple(some[i] | some[j] for some in given),  # units that either has anything of
        counts={name: np.minimum(n[i], n[j]) for name, n in counts.items()},
        systems=np.minimum(whole.systems[i], whole.systems[j]),
    )
    return whole._replace(of_pairs=of_pairs)


def _any(cells: Array, labels: Array) -> Array:
    """Of ``[M, n]``, whether any of those with a label are true: ``[M, labels]``."""
    some = np.zeros((len(cells), int(labels.max(initial=-1)) + 1), dtype=bool)
    for row, own in zip(some, cells, strict=True):
        row[labels[own]] = True
    return some


def _crossed(
    estimates: Array, both: Array, sources: Array, systems: Array, jackknives: Sequence[Array]
) -> Array:
    """Draws of sources and systems ``[R, D]``, brought to the variance of crossed samples.

    What is of single cells counts once where sources vary, once where systems do, and three times
    in draws of both (Owen 2007, The Pigeonhole Bootstrap, Annals of Applied Statistics 1).  The
    right variance is the sum of the first two less that of cells (Cameron, Gelbach and Miller 2011,
    Robust Inference With Multiway Clustering, Journal of Business & Economic Statistics 29, Section
    2), and no less than the larger.  The two are the jackknife's, which are not too small over few
    units (Efron and Stein 1981, The Jackknife Estimate of Variance, Annals of Statistics 9); that
    of cells is what draws of both vary more than draws of either together.  Quantiles are taken
    further out later, for which the variance is narrowed here.
    """
    some = np.isfinite(both) & np.isfinite(sources) & np.isfinite(systems)
    total, *drawn = (_variances(part, some) for part in (both, sources, systems))
    cells = np.maximum(total - sum(drawn), 0.0)
    fair, narrow = np.zeros((2, 2, len(both)))
    for place, left_out in enumerate(jackknives):
        n, kind = left_out.shape[1], int(place == len(jackknives) - 1)  # systems come last
        fair[kind] += (n - 1) * left_out.var(axis=1)
        narrow[kind] += (n - 1) ** 2 / n * left_out.var(axis=1)
    known = np.isfinite(fair).all(axis=0) & (fair.sum(axis=0) > 0)
    fair, narrow = np.where(known, [fair, narrow], np.stack([drawn, drawn]))
    wanted = np.maximum(fair.max(axis=0), fair.sum(axis=0) - cells) * narrow.sum(axis=0)
    allowed = total * fair.sum(axis=0)
    factor = np.sqrt(np.where(wanted < allowed, wanted / np.where(allowed > 0, allowed, 1.0), 1.0))
    return estimates[:, None] + factor[:, None] * (both - estimates[:, None])


def _wider(sources: Array, systems: Array) -> Array:
    """The same at level system: the draws ``[R, D]`` that vary more.

    Means of systems carry the noise of their cells, so drawing systems has it, and drawing sources
    as well would count it twice; what all systems share of a source moves all means alike.
    """
    first, second = (_variances(part, np.isfinite(part)) for part in (sources, systems))
    return np.where((first > second)[:, None], sources, systems)


def _variances(values: Array, some: Array) -> Array:
    """Of some values of each row; row by row, as all pairs of metrics are many numbers."""
    return np.array([r[s].var() if s.any() else 0.0 for r, s in zip(values, some, strict=True)])


def of_resample(resample: Resample, *, confidence: float = 0.95) -> list[Interval]:
    """An interval for each metric."""
    places = range(len(resample.estimates))
    return [_limits(resample, m, resample.bounds, confidence) for m in places]


def pair_of(resample: Resample, first: int, second: int) -> tuple[Resample, int, int]:
    """Rows, the row among them and its sign (0 of itself), of one metric minus another."""
    m = len(resample.estimates)
    if not (-m <= first < m and -m <= second < m):
        raise IndexError(f"there are {m} metrics, and no rows {first} and {second}")
    if (first := first % m) == (second := second % m):
        return resample, first, 0
    i, j = sorted((first, second))
    return resample.of_pairs, i * (2 * m - i - 1) // 2 + j - i - 1, 1 if i == first else -1


def difference(
    resample: Resample, first: int, second: int, *, confidence: float = 0.95
) -> Interval:
    """The metric in row ``first`` minus that in row ``second``, draw by draw; the reason says where
    it is over other groups than one of the two.
    """
    low, high = resample.bounds
    rows, place, sign = pair_of(resample, first, second)
    limits = _limits(rows, place, (low - high, high - low), confidence)
    ends = sorted((sign * limits.low + 0.0, sign * limits.high + 0.0))  # no -0
    limits = limits._replace(low=ends[0], high=ends[1])
    has = resample.groups[[first, second]]
    both, alone = has.all(axis=0).sum(), sorted(has.sum(axis=1).tolist())
    if alone[1] == both:
        return limits
    where = f"over the {both:,} groups where both have a value (alone over {alone[0]:,} and"
    where += f" {alone[1]:,})"
    return limits._replace(reason="; ".join(filter(None, [where, limits.reason])))


def _limits(resample: Resample, m: int, bounds: tuple[float, float], confidence: float) -> Interval:
    """The limits of a row."""
    return interval(
        resample.values[m],
        float(resample.estimates[m]),
        [j[m, g[m]] for j, g in zip(resample.jackknives, resample.given, strict=True)],
        {name: int(count[m]) for name, count in resample.counts.items()},
        confidence=confidence,
        widened=resample.widened,
        bounds=bounds,
    )


def of_values(
    values: ArrayLike,
    estimates: ArrayLike,
    *,
    units: int | None = None,
    confidence: float = 0.95,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> list[Interval]:
    """Percentile intervals from draws at hand ``[M, D]``, and their estimates ``[M]``.

    Args:
        units: how many units were drawn; without it nothing is widened.
        bounds: ends of the scale, which stand for undefined draws.
    """
    drawn, centres = np.asarray(values, dtype=float), np.asarray(estimates, dtype=float)
    counts = {} if units is None else {"units": units}
    return [
        interval(row, float(centre), [], counts, confidence=confidence, bounds=bounds)
        for row, centre in zip(drawn, centres, strict=True)
    ]


def interval(
    values: Array,
    estimate: float,
    jackknives: Sequence[Array],
    counts: Mapping[str, int],
    *,
    confidence: float = 0.95,
    widened: bool = True,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Interval:
    """The limits of one value.

    Undefined draws are never left out: each counts on both sides, and a limit that falls among them
    is the end of the scale.

    Args:
        values: ``[D]``.
        jackknives: values with one unit left out, ``[U]`` for each independent sample of units.
        counts: units by kind (``systems``: 8); the fewest rule.
        widened: whether quantiles are taken further out for the units being few.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    ordered = np.sort(values[np.isfinite(values)])
    draws, undefined = len(values), len(values) - len(ordered)
    name, n = min(counts.items(), key=lambda count: count[1], default=("units", None))
    nothing = ""
    if not math.isfinite(estimate):
        nothing = "there is no value"
    elif not len(ordered):
        nothing = "no draw has a value"
    elif n is not None and n < 2:
        nothing = f"{n} {name[:-1] if n else name}: there is nothing to draw"
    if nothing:
        return Interval(math.nan, math.nan, draws, undefined, nothing)
    (freedom, narrowness), reasons = influence(jackknives, n), []
    z = float(special.ndtri(0.5 * (1.0 + confidence)))
    if widened and math.isfinite(freedom):
        z = float(special.stdtrit(freedom, 0.5 * (1.0 + confidence)))
    if widened:
        z *= narrowness
    shares = (float(special.ndtr(-z)), float(special.ndtr(z)))
    # undefined draws lie at the far end of either side
    low = _quantile(np.concatenate([np.full(undefined, bounds[0]), ordered]), shares[0])
    high = _quantile(np.concatenate([ordered, np.full(undefined, bounds[1])]), shares[1])
    if ordered[-1] - ordered[0] <= _ROUNDING and abs(ordered[0] - estimate) <= _ROUNDING:
        reasons.append("all draws that have a value give the same: they say nothing of its spread")
    elif min(shares[0], 1.0 - shares[1]) < 1.0 / (draws + 1):
        reasons.append(f"a limit lies beyond the outermost of {draws} draws")
    if n is not None and n < FEW_UNITS:
        reasons.append(f"{n} {name}: over fewer than {FEW_UNITS} it can cover less than it claims")
    if undefined > SMALL_SHARE * draws:
        reasons.append(f"{undefined} of {draws} draws have no value and count on both sides")
    return Interval(low, high, draws, undefined, "; ".join(reasons))


def influence(jackknives: Sequence[Array], n: int | None) -> tuple[float, float]:
    """Degrees of freedom, and by how much quantiles are taken further out.

    The influence of unit i of n is (n - 1) (mean of the jackknife - its value without i); squares
    of independent samples are added up, n being Satterthwaite's (1946) number.
    """
    squares = fair = spread = 0.0
    for left_out in jackknives:
        if (units := len(left_out)) < 2:
            continue  # a sample of one unit always is itself
        influence = (units - 1) * (left_out.mean() - left_out)
        plug_in = float((influence**2).sum()) / units**2
        squares += plug_in
        fair += plug_in * units / (units - 1)
        spread += (plug_in * units / (units - 1)) ** 2 / (units - 1)
    if not math.isfinite(squares) or squares <= _ROUNDING**2:
        # units cannot be left out, or make no difference alone
        return (math.inf, 1.0) if n is None else (n - 1.0, math.sqrt(n / (n - 1.0)))
    return fair**2 / spread, math.sqrt(fair / squares)


def _quantile(ordered: Array, share: float) -> float:
    """The value at (D + 1) p of ordered draws, between neighbours on a line."""
    place = min(max(share * (len(ordered) + 1) - 1.0, 0.0), len(ordered) - 1.0)
    before = int(place)
    after = min(before + 1, len(ordered) - 1)
    return float(ordered[before] + (place - before) * (ordered[after] - ordered[before]))
