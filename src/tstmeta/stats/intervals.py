"""Metrics, and differences of two of them, under the same draws; their intervals.

All metrics share one set of draws, so that differences are paired.  Draws of sources and systems at
once count the noise of cells too often, and are brought to the variance of crossed samples.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array
from .limits import Interval, interval
from .matrices import Setting, resampled, with_value
from .resampling import Draws, ResamplingPlan, jackknife


class Sampled(NamedTuple):
    """Values of metrics, or of differences of two: estimates ``[R]``, and in every draw ``[R, D]``.

    Attributes:
        jackknives, present: values with one unit left out, and whether a row has a value of that
            unit, ``[R, U]`` for each sample of units: sources (or clusters) of a stratum, systems.
        counts: kind of unit -> units ``[R]``, n - 1 fewer where there are n strata.
    """

    estimates: Array
    resampled: Array
    jackknives: tuple[Array, ...]
    present: tuple[Array, ...]
    counts: dict[str, Array]


class Resample(NamedTuple):
    """Metrics ``[M]`` in the same draws, and the differences of all pairs i < j of them, in order.

    Attributes:
        pairs: at levels of groups over the groups where both metrics have a value.
        groups: groups that a metric has a value in ``[M, G]``.
        widened: whether quantiles are taken further out for few units.  Not for statistics of order
            over single items: an item that is drawn twice makes no pair with itself.
    """

    metrics: Sampled
    pairs: Sampled
    groups: Array
    widened: bool
    setting: Setting

    @property
    def estimates(self) -> Array:
        """Of the metrics ``[M]``."""
        return self.metrics.estimates

    @property
    def resampled(self) -> Array:
        """Of the metrics in every draw ``[M, D]``."""
        return self.metrics.resampled

    @property
    def fewest(self) -> int:
        """Units of the kind and of the metric that have the fewest."""
        known = np.isfinite(self.estimates)
        counts = self.metrics.counts.values()
        return min((int(n[known].min()) for n in counts if known.any()), default=0)


def resample(
    human: ArrayLike, metrics: ArrayLike, setting: Setting, plan: ResamplingPlan, draws: Draws
) -> Resample:
    """All metrics ``[M, S, K]`` against people ``[S, K]`` in the draws of a plan."""
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    i, j = pairs = np.stack(np.triu_indices(len(y), 1))

    def values_in(draws: Draws | None) -> Array:
        return resampled(x, y, setting, draws, pairs.T)  # [M + pairs, D]

    rated = np.isfinite(x) & np.isfinite(y)  # [M, S, K]
    jackknives, present, counts = _left_out(rated, plan, values_in)
    estimates = values_in(None)[:, 0]
    if plan.units != "both":
        values = values_in(draws)
    else:
        by_source = values_in(Draws(draws.sources, np.ones_like(draws.systems)))
        by_system = values_in(Draws(np.ones_like(draws.sources), draws.systems))
        if setting.level == "system":  # whichever vary more: both would count cells' noise twice
            first, second = (_variances(part, np.isfinite(part)) for part in (by_source, by_system))
            values = np.where((first > second)[:, None], by_source, by_system)
        else:
            values = _crossed(estimates, values_in(draws), by_source, by_system, jackknives)
    m = len(y)
    both = Sampled(
        estimates[m:],
        values[m:],
        tuple(jackknife[m:] for jackknife in jackknives),
        tuple(units[i] | units[j] for units in present),
        {name: np.minimum(n[i], n[j]) for name, n in counts.items()},
    )
    alone = tuple(jackknife[:m] for jackknife in jackknives)
    rows = Sampled(estimates[:m], values[:m], alone, present, counts)
    drawn_alone = plan.units != "both" and plan.clusters is None and plan.columns is None
    items = rated.sum(axis=2 if plan.units == "sources" else 1)
    single = setting.level == "system" or (drawn_alone and bool(items.max(initial=0) <= 1))
    widened = not (single and setting.function.ordinal)
    return Resample(rows, both, with_value(x, y, setting), widened, setting)


def _left_out(
    rated: Array, plan: ResamplingPlan, values_in: Callable[[Draws], Array]
) -> tuple[tuple[Array, ...], tuple[Array, ...], dict[str, Array]]:
    """Jackknives, what is present, and counts; see :class:`Sampled`."""
    jackknives: list[Array] = []
    present: list[Array] = []
    counts: dict[str, Array] = {}
    for kind, draws, labels, strata in jackknife(plan, rated.shape[1:]):
        values = values_in(draws)
        cells = rated.sum(axis=1 if kind == "systems" else 2)  # [M, sources or systems]
        sizes = [np.bincount(labels, row, len(strata)) for row in cells]
        units = np.array(sizes).reshape(len(cells), len(strata)) > 0  # [M, units]
        if len(draws) < len(strata):  # very many units have no jackknife
            values = np.full((len(values), len(strata)), np.nan)
        inside = [strata == stratum for stratum in np.unique(strata)]
        jackknives += [values[:, stratum] for stratum in inside]
        present += [units[:, stratum] for stratum in inside]
        free = [units[:, stratum].sum(axis=1) - 1 for stratum in inside]
        counts[kind] = np.maximum(free, 0).sum(axis=0, dtype=int) + units.any(axis=1)
    return tuple(jackknives), tuple(present), counts


def _crossed(
    estimates: Array, both: Array, sources: Array, systems: Array, jackknives: Sequence[Array]
) -> Array:
    """Draws of sources and systems ``[R, D]``, brought to the variance of crossed samples.

    The noise of cells counts three times in draws of both (Owen 2007, The Pigeonhole Bootstrap).
    The right variance is that of sources and that of systems (the jackknife's, Efron and Stein
    1981) less that of cells (Cameron, Gelbach and Miller 2011, Robust Inference With Multiway
    Clustering, Section 2), and no less than the larger; it is narrowed here, as limits are taken
    further out later (:mod:`.limits`).
    """
    defined = np.isfinite(both) & np.isfinite(sources) & np.isfinite(systems)
    total, *drawn = (_variances(part, defined) for part in (both, sources, systems))
    cells = np.maximum(total - sum(drawn), 0.0)
    fair, narrow = np.zeros((2, 2, len(both)))  # of sources and of systems
    for place, left_out in enumerate(jackknives):
        n, kind = left_out.shape[1], int(place == len(jackknives) - 1)  # systems come last
        fair[kind] += (n - 1) * left_out.var(axis=1)
        narrow[kind] += (n - 1) ** 2 / n * left_out.var(axis=1)
    known = np.isfinite(fair).all(axis=0) & (fair.sum(axis=0) > 0)
    fair, narrow = np.where(known, [fair, narrow], np.stack([drawn, drawn]))
    right = np.maximum(fair.max(axis=0), fair.sum(axis=0) - cells)
    wanted, allowed = right * narrow.sum(axis=0), total * fair.sum(axis=0)
    factor = np.sqrt(np.where(wanted < allowed, wanted / np.where(allowed > 0, allowed, 1.0), 1.0))
    return estimates[:, None] + factor[:, None] * (both - estimates[:, None])


def _variances(values: Array, defined: Array) -> Array:
    """Variances of the defined values of a row ``[R]``; row by row, as all pairs take room."""
    rows = zip(values, defined, strict=True)
    return np.array([row[inside].var() if inside.any() else 0.0 for row, inside in rows])


def confidence_intervals(resample: Resample, *, confidence: float = 0.95) -> list[Interval]:
    """An interval for each metric."""
    rows, bounds = resample.metrics, resample.setting.function.bounds
    return [_limits(resample, rows, m, bounds, confidence) for m in range(len(rows.estimates))]


def pair_of(resample: Resample, first: int, second: int) -> tuple[Sampled, int, int]:
    """The rows, the row among them and its sign (0 of itself), of one metric minus another."""
    m = len(resample.estimates)
    if not (0 <= first < m and 0 <= second < m):
        raise IndexError(f"there are {m} metrics, and no rows {first} and {second}")
    if first == second:
        return resample.metrics, first, 0
    i, j = sorted((first, second))
    return resample.pairs, i * (2 * m - i - 1) // 2 + j - i - 1, 1 if i == first else -1


def difference(
    resample: Resample, first: int, second: int, *, confidence: float = 0.95
) -> Interval:
    """The metric in row ``first`` minus that in row ``second``, draw by draw; the reason says where
    it is over other groups than one of the two.
    """
    low, high = resample.setting.function.bounds
    rows, place, sign = pair_of(resample, first, second)
    limits = _limits(resample, rows, place, (low - high, high - low), confidence)
    ends = sorted((sign * limits.low + 0.0, sign * limits.high + 0.0))  # no -0
    limits = limits._replace(low=ends[0], high=ends[1])
    has = resample.groups[[first, second]]
    both, alone = has.all(axis=0).sum(), sorted(has.sum(axis=1).tolist())
    if alone[1] == both:
        return limits
    where = f"over the {both:,} groups where both have a value (alone over {alone[0]:,} and"
    where += f" {alone[1]:,})"
    return limits._replace(reason="; ".join(filter(None, [where, limits.reason])))


def _limits(
    resample: Resample, rows: Sampled, place: int, bounds: tuple[float, float], confidence: float
) -> Interval:
    """The interval of a row."""
    return interval(
        rows.resampled[place],
        float(rows.estimates[place]),
        [j[place, p[place]] for j, p in zip(rows.jackknives, rows.present, strict=True)],
        {name: int(count[place]) for name, count in rows.counts.items()},
        confidence=confidence,
        widened=resample.widened,
        bounds=bounds,
    )
