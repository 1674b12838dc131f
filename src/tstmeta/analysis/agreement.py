"""How far metrics agree with people: the one way from pairs to a value and an interval.

Frames in, frames out.  Each function takes the frame of :func:`tstmeta.pairs` (of one data set or
several, concatenated), lays every data set out as matrices [sources, systems] and asks
:mod:`tstmeta.stats`, where the formulas are.

Where the statistic is ``acc_eq`` its tie threshold is fitted to each metric on other sources than
it is judged on, and stays fixed over draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from .. import stats
from ..schema import TstmetaError
from ..stats import Correlation, Setting, acc_eq, ties
from ..stats.intervals import Resample, of_draws, of_resample
from ..stats.resampling import Plan
from .frame import corpus_metric
from .matrices import Matrices, matrices

#: Accuracy that credits ties.
ACC_EQ = "acc_eq"
#: Metrics resampled at once, so that a bar can move.
_CHUNK = 8
#: Purposes of random numbers: a stream each, so that one does not change the draws of another.
DRAWS, TESTS, FOLDS = 0, 1, 2
#: What a row of results is of.
HEAD = ["dataset", "metric", "basis"]


class Job(NamedTuple):
    """One data set and what is asked of it."""

    made: Matrices
    setting: Setting
    plan: Plan
    confidence: float
    seed: int

    def rng(self, purpose: int) -> np.random.Generator:
        """The stream of a purpose."""
        return np.random.default_rng([self.seed, purpose])


def jobs(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    clustered: bool = False,
    micro: bool = False,
    undefined: float = math.nan,
) -> Iterator[Job]:
    """A job for each data set of the pairs; arguments as of :func:`bootstrap`."""
    if seed < 0:
        raise TstmetaError(f"seed {seed}: a whole number from 0 up is needed")
    if not 0 < confidence < 1:
        raise TstmetaError(f"confidence {confidence:g} is not between 0 and 1; usual is 0.95")
    for name, frame in pairs.groupby("dataset", sort=False, observed=True):
        try:
            made = matrices(frame, level)
            setting = made.setting(statistic, level, micro=micro, undefined=undefined)
            yield Job(made, setting, made.plan(unit, draws, clustered), confidence, seed)
        except (TstmetaError, ValueError) as error:
            raise TstmetaError(f"{name}: {error}") from error


def correlate(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    *,
    micro: bool = False,
    undefined: float = math.nan,
) -> pd.DataFrame:
    """How far each metric agrees with people, a row a data set and metric.

    Args:
        pairs: see :func:`tstmeta.pairs`.
        statistic: a name of ``tstmeta.stats.STATISTICS``: pearson, spearman, kendall (tau-b),
            tau-c, pairwise-accuracy, acc_eq, preference (AUC), difference-pearson,
            soft-pairwise-accuracy.
        level: pooled (all rewrites), source (within each source, then averaged), within-system,
            system (over means of systems), task, within-task (pooled, standardised within tasks).
        micro: add the sums of groups up instead of averaging their values.
        undefined: what a group without a value counts; by default it is left out.

    Returns:
        Columns dataset, metric, basis, value, n (rewrites with both values), groups (sources,
        systems or tasks that the value is over; <NA> at level pooled), p (scipy's, which takes
        rewrites for independent; NaN at levels of groups), reason (why there is no value).

    Raises:
        TstmetaError: an unknown name, or a level that the data do not have.
    """
    rows = []
    for job in jobs(pairs, statistic, level, micro=micro, undefined=undefined):
        both = (np.isfinite(job.made.human) & np.isfinite(job.made.metrics)).sum(axis=(1, 2))
        for place, head in enumerate(job.made.heads[HEAD].to_dict("records")):
            found = agreement(job, place)
            pooled = level in ("pooled", "within-task")
            n = found.n if pooled else int(both[place])
            own = {"n": n, "groups": None if pooled else found.n}
            rows.append(
                head | {"value": found.value} | own | {"p": found.p, "reason": found.reason}
            )
    rows += _corpus_rows(pairs, statistic, level)
    columns = [*HEAD, "value", "n", "groups", "p", "reason"]
    return pd.DataFrame(rows, columns=columns).astype({"n": int, "groups": "Int64"})


def agreement(job: Job, place: int, tied: ties.TieCalibrated | None = None) -> Correlation:
    """The value of one metric: n is of rewrites at level pooled, of groups at levels of groups."""
    metric = job.made.metrics[place]
    if job.setting.function.name == ACC_EQ:
        tied = tied or _calibrated(job, metric)
        return Correlation(tied.value, math.nan, tied.n, tied.reason)
    return stats.correlate(job.made.human, metric, job.setting)


def _calibrated(job: Job, metric: np.ndarray) -> ties.TieCalibrated:
    level = cast("ties.Level", job.setting.level)
    return ties.tie_calibrated(job.made.human, metric, level, rng=job.rng(FOLDS))


def _corpus_rows(pairs: pd.DataFrame, statistic: str, level: str) -> list[dict]:
    """Metrics of whole outputs: one value a system, from the sum of its items' statistics."""
    if "statistics" not in pairs:
        return []
    rows = []
    given = pairs[pairs["statistics"].notna()]
    for (name, metric, basis), own in given.groupby(HEAD, sort=False, observed=True):
        found = at_corpus_level(own, statistic, level)
        head = {"dataset": name, "metric": metric, "basis": basis, "value": found.value}
        n = int(((own["statistics"] != "") & own["human"].notna()).sum())
        rows.append(head | {"n": n, "groups": found.n, "p": found.p, "reason": found.reason})
    return rows


def at_corpus_level(own: pd.DataFrame, statistic: str, level: str) -> Correlation:
    """Agreement of one corpus metric over systems; ``own`` are its pairs."""
    corpus = corpus_metric(str(own["metric"].iloc[0]))
    if corpus is None or level != "system":
        return Correlation(math.nan, math.nan, 0, "a metric of whole outputs: use level system")
    function = stats.STATISTICS[statistic]
    if function.whole is not None:
        reason = f"{function.label} needs a score for each rewrite"
        return Correlation(math.nan, math.nan, 0, reason)
    own = own[(own["statistics"] != "") & own["human"].notna() & (own["system"] != "")]
    systems = own["system"].to_numpy(str)
    names, people = stats.means(own["human"].to_numpy(float), systems)
    parts = own["statistics"].to_numpy()
    return function(people, [corpus.combine(list(parts[systems == name])) for name in names])


# ------------------------------------------------------------------------------ resampling


class Drawn(NamedTuple):
    """All metrics of a job under the same draws, and fitted tie thresholds where there are any."""

    resample: Resample
    thresholds: list[ties.TieCalibrated]


def drawn(job: Job, step: Callable[[int], object] = lambda done: None) -> Drawn:
    """All metrics under the same draws, some at a time; ``step`` hears of how many are done."""
    made, setting = job.made, job.setting
    calibrated = setting.function.name == ACC_EQ
    parts, thresholds = [], []
    size = 1 if calibrated else _CHUNK
    for start in range(0, max(len(made.metrics), 1), size):
        metrics, own = made.metrics[start : start + size], setting
        if calibrated and len(metrics):
            tied = _calibrated(job, metrics[0])
            thresholds.append(tied)
            own = setting._replace(statistic=acc_eq(tied.threshold))
        draws = stats.draw(job.plan, made.human.shape, job.rng(DRAWS))
        own_values = stats.resampled(made.human, metrics, own, draws)  # the bootstrap itself
        parts.append(of_draws(made.human, metrics, own, job.plan, draws, own_values))
        step(len(metrics))
    whole = _joined(parts)
    if thresholds:
        whole = whole._replace(estimates=np.array([tied.value for tied in thresholds]))
    return Drawn(whole._replace(setting=setting), thresholds)


def _joined(parts: Sequence[Resample]) -> Resample:
    """The metrics of several calls, with the same draws, as one."""

    def tuples(name: str) -> tuple[np.ndarray, ...]:
        kinds = zip(*(getattr(part, name) for part in parts), strict=True)
        return tuple(np.concatenate(each) for each in kinds)

    return parts[0]._replace(
        estimates=np.concatenate([part.estimates for part in parts]),
        values=np.concatenate([part[1] for part in parts]),
        jackknives=tuples("jackknives"),
        given=tuples("given"),
        single=all(part.single for part in parts),
        counts={name: np.concatenate([p.counts[name] for p in parts]) for name in parts[0].counts},
    )


def bootstrap(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    confidence: float = 0.95,
    clustered: bool = False,
    micro: bool = False,
    undefined: float = math.nan,
) -> pd.DataFrame:
    """:func:`correlate` with bootstrap confidence intervals, all metrics in the same resamples.

    Args:
        unit: what is resampled: source (with all its rewrites; systems fixed), system, or both.
        draws: how many resamples.
        clustered: resample sources in the groups that shared their raters.
        confidence: of the intervals.

    Returns:
        Columns dataset, metric, basis, kind, value, low, high, n, groups, method (of the interval),
        reason, draws (an array: the value in each resample).

    Raises:
        TstmetaError: as :func:`correlate`, or a plan that the data do not have.
    """
    rows = []
    asked = (statistic, level, unit, draws, seed, confidence, clustered, micro, undefined)
    for job in jobs(pairs, *asked):
        own = drawn(job)
        table = values(job, own)
        table["draws"] = list(own.resample.values)
        rows.append(table)
    columns = [*HEAD, "kind", "value", "low", "high", "n", "groups", "method", "reason", "draws"]
    return pd.concat(rows, ignore_index=True)[columns] if rows else pd.DataFrame(columns=columns)


def values(job: Job, own: Drawn) -> pd.DataFrame:
    """dataset, metric, basis, kind, value, low, high, method, n, groups, reason of each metric."""
    rows = []
    for place, limit in enumerate(of_resample(own.resample, confidence=job.confidence)):
        tied = own.thresholds[place] if own.thresholds else None
        found = agreement(job, place, tied)
        reasons = [found.reason]
        if tied is not None and math.isfinite(tied.value):
            fit = f"scores tie up to {tied.threshold:.3g} (folds differ by {tied.spread:.2g})"
            reasons.append(fit)
        if math.isfinite(found.value):
            reasons.append(limit.reason)
        pooled = job.setting.level in ("pooled", "within-task")
        both = np.isfinite(job.made.human) & np.isfinite(job.made.metrics[place])
        rows.append(
            {
                "value": found.value,
                "low": limit.low,
                "high": limit.high,
                "method": limit.method if math.isfinite(limit.low) else "",
                "n": found.n if pooled else int(both.sum()),
                "groups": None if pooled else found.n,
                "reason": "; ".join(reason for reason in reasons if reason),
            }
        )
    columns = ["value", "low", "high", "method", "n", "groups", "reason"]
    table = pd.DataFrame(rows, columns=columns).astype({"n": int, "groups": "Int64"})
    return pd.concat([job.made.heads[[*HEAD, "kind"]], table], axis=1)


# --------------------------------------------------------------------------------- partial


def partial(
    pairs: pd.DataFrame, given: str | Sequence[str] = "style", statistic: str = "pearson"
) -> pd.DataFrame:
    """What is left of a metric's agreement once other human dimensions are held fixed.

    Args:
        given: columns of the pairs: a dimension, or several.
        statistic: pearson or spearman.

    Returns:
        Columns dataset, metric, basis, kind, value (the plain correlation over the same rewrites),
        partial, n, reason.  A data set without the given columns has NaN and the reason.

    Raises:
        TstmetaError: another statistic, or a dimension that no data set has.
    """
    wanted = [given] if isinstance(given, str) else list(given)
    if missing := [name for name in wanted if name not in pairs]:
        raise TstmetaError(f"no data set has human values of {', '.join(missing)}")
    parts = []
    for job in jobs(pairs, statistic):
        made = job.made
        held = np.array([made.layout.matrix(made.items[name].to_numpy(float)) for name in wanted])
        try:
            left = stats.partials(made.human, made.metrics, held, statistic=statistic)
        except ValueError as error:
            raise TstmetaError(str(error)) from error
        both = np.isfinite(held).all(axis=0)
        plain = stats.partial(np.where(both, made.human, np.nan), made.metrics, held[:0],
                              statistic=statistic)  # fmt: skip
        parts.append(
            made.heads[[*HEAD, "kind"]].assign(
                value=plain,
                partial=[one.value for one in left],
                n=[one.n for one in left],
                reason=[one.reason for one in left],
            )
        )
    if not parts:
        raise TstmetaError("there are no pairs, so nothing can be held fixed")
    return pd.concat(parts, ignore_index=True)
