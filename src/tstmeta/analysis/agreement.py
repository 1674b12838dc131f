"""How far metrics agree with people: the one way from pairs to a value and an interval.

Frames in, frames out.  Each function takes the frame of :func:`tstmeta.pairs` (of one data set or
several, concatenated), lays every data set out as matrices [sources, systems] and calls
:mod:`tstmeta.stats`, where the formulas are.

Where the statistic is ``acc_eq`` its tie threshold is fitted to each metric on other sources than
it is judged on, and stays fixed over draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd

from .. import stats
from ..schema import TstmetaError
from ..stats import Correlation, Resample, ResamplingPlan, Setting, acc_eq, of_resample, ties
from .frame import corpus_metric
from .matrices import Matrices, matrices

#: Accuracy that credits ties.
ACC_EQ = "acc_eq"
#: Purposes of random numbers: a stream each, so that one does not change the draws of another.
DRAWS, TESTS, FOLDS = 0, 1, 2
#: What a row of results is of.
HEAD = ["dataset", "metric", "basis"]


class Analysis(NamedTuple):
    """One data set as matrices, and what is computed of it."""

    matrices: Matrices
    setting: Setting
    plan: ResamplingPlan
    seed: int

    def rng(self, purpose: int) -> np.random.Generator:
        """The stream of a purpose."""
        return np.random.default_rng([self.seed, purpose])

    def tie_calibrated(self, place: int) -> ties.TieCalibrated:
        """A metric's tie threshold for ``acc_eq``, and its value."""
        level = cast("ties.Level", self.setting.level)
        metric = self.matrices.metrics[place]
        return ties.tie_calibrated(self.matrices.human, metric, level, rng=self.rng(FOLDS))


def analyses(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    clustered: bool = False,
    undefined: float = math.nan,
) -> Iterator[Analysis]:
    """One for each data set of the pairs; arguments as of :func:`bootstrap`."""
    for name, frame in pairs.groupby("dataset", sort=False, observed=True):
        try:
            own = matrices(frame, level)
            setting = own.setting(statistic, level, undefined=undefined)
            yield Analysis(own, setting, own.plan(unit, draws, clustered), seed)
        except (TstmetaError, ValueError) as error:
            raise TstmetaError(f"{name}: {error}") from error


def correlate(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    *,
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
        undefined: what a group without a value counts; by default it is left out.

    Returns:
        Columns dataset, metric, basis, value, n (rewrites with both values), groups (sources,
        systems or tasks that the value is over; <NA> at level pooled), p (scipy's, which takes
        rewrites for independent; NaN at levels of groups), reason (why there is no value).

    Raises:
        TstmetaError: an unknown name, or a level that the data do not have.
    """
    rows = [
        head | _row(analysis, place, agreement(analysis, place))
        for analysis in analyses(pairs, statistic, level, undefined=undefined)
        for place, head in enumerate(analysis.matrices.heads[HEAD].to_dict("records"))
    ]
    if "statistics" in pairs:  # metrics of whole outputs
        whole = pairs[pairs["statistics"].notna()]
        for (name, metric, basis), own in whole.groupby(HEAD, sort=False, observed=True):
            value = at_corpus_level(own, statistic, level)
            n = int(((own["statistics"] != "") & own["human"].notna()).sum())
            head = {"dataset": name, "metric": metric, "basis": basis, "value": value.value}
            rows.append(head | {"n": n, "groups": value.n, "p": value.p, "reason": value.reason})
    columns = [*HEAD, "value", "n", "groups", "p", "reason"]
    return pd.DataFrame(rows, columns=columns).astype({"n": int, "groups": "Int64"})


def agreement(analysis: Analysis, place: int, fit: ties.TieCalibrated | None = None) -> Correlation:
    """The value of one metric: n is of rewrites at level pooled, of groups at levels of groups.

    ``fit`` is the tie threshold of ``acc_eq``, where it is known already.
    """
    if analysis.setting.function.name == ACC_EQ:
        fit = fit or analysis.tie_calibrated(place)
        return Correlation(fit.value, math.nan, fit.n, fit.reason)
    own = analysis.matrices
    return stats.correlate(own.human, own.metrics[place], analysis.setting)


def _row(analysis: Analysis, place: int, value: Correlation) -> dict[str, Any]:
    """value, n (rewrites), groups, p, reason of one metric."""
    pooled = analysis.setting.level in ("pooled", "within-task")
    own = analysis.matrices
    both = int((np.isfinite(own.human) & np.isfinite(own.metrics[place])).sum())
    counts = {"n": value.n, "groups": None} if pooled else {"n": both, "groups": value.n}
    return {"value": value.value, **counts, "p": value.p, "reason": value.reason}


def at_corpus_level(own: pd.DataFrame, statistic: str, level: str) -> Correlation:
    """Agreement of one corpus metric over systems; ``own`` are its pairs."""
    corpus = corpus_metric(str(own["metric"].iloc[0]))
    function = stats.STATISTICS[statistic]
    if corpus is None or level != "system":
        return Correlation(math.nan, math.nan, 0, "a metric of whole outputs: use level system")
    if function.whole is not None:
        reason = f"{function.label} needs a score for each rewrite"
        return Correlation(math.nan, math.nan, 0, reason)
    own = own[(own["statistics"] != "") & own["human"].notna() & (own["system"] != "")]
    systems = own["system"].to_numpy(str)
    names, people = stats.means(own["human"].to_numpy(float), systems)
    parts = own["statistics"].to_numpy()
    return function(people, [corpus.combine(list(parts[systems == name])) for name in names])


# ------------------------------------------------------------------------------ resampling


def resample(analysis: Analysis) -> Resample:
    """All metrics under the same draws: the bootstrap itself."""
    own, setting, plan = analysis.matrices, analysis.setting, analysis.plan
    draws = stats.draw(plan, own.human.shape, analysis.rng(DRAWS))
    if setting.function.name != ACC_EQ or not len(own.metrics):
        return stats.of_draws(own.human, own.metrics, setting, plan, draws)
    tied = [analysis.tie_calibrated(place) for place in range(len(own.metrics))]
    parts = [
        stats.of_draws(
            own.human,
            own.metrics[place : place + 1],
            setting._replace(statistic=acc_eq(fit.threshold)),
            plan,
            draws,
        )
        for place, fit in enumerate(tied)
    ]
    return parts[0]._replace(
        estimates=np.array([fit.value for fit in tied]),
        values=np.concatenate([part[1] for part in parts]),
        jackknives=_stacked([part.jackknives for part in parts]),
        given=_stacked([part.given for part in parts]),
        counts={name: np.concatenate([p.counts[name] for p in parts]) for name in parts[0].counts},
        single=all(part.single for part in parts),
        setting=setting,
    )


def _stacked(parts: Sequence[tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
    """Arrays of several metrics, sample by sample of units."""
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def bootstrap(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    clustered: bool = False,
    undefined: float = math.nan,
) -> pd.DataFrame:
    """:func:`correlate` with 95 % bootstrap confidence intervals, the same resamples for all.

    Args:
        unit: what is resampled: source (with all its rewrites; systems fixed), system, or both.
        draws: how many resamples.
        clustered: resample sources in the groups that shared their raters.

    Returns:
        Columns dataset, metric, basis, kind, value, low, high, n, groups, method (of the interval),
        reason, draws (an array: the value in each resample).

    Raises:
        TstmetaError: as :func:`correlate`, or a plan that the data do not have.
    """
    columns = [*HEAD, "kind", "value", "low", "high", "n", "groups", "method", "reason", "draws"]
    tables = [pd.DataFrame(columns=columns)] if pairs.empty else []
    for analysis in analyses(pairs, statistic, level, unit, draws, seed, clustered, undefined):
        own = resample(analysis)
        tables.append(intervals(analysis, own).assign(draws=list(own.values)))
    return (
        pd.concat(tables, ignore_index=True)[columns] if tables else pd.DataFrame(columns=columns)
    )


def intervals(analysis: Analysis, own: Resample) -> pd.DataFrame:
    """dataset, metric, basis, kind, value, low, high, method, n, groups, reason of each metric."""
    rows = []
    calibrated = analysis.setting.function.name == ACC_EQ
    for place, limit in enumerate(of_resample(own)):
        fit = analysis.tie_calibrated(place) if calibrated else None
        row = _row(analysis, place, agreement(analysis, place, fit))
        reasons = [row["reason"]]
        if math.isfinite(row["value"]):
            if fit:
                spread = f"folds differ by {fit.spread:.2g}"
                reasons.append(f"scores tie up to {fit.threshold:.3g} ({spread})")
            reasons.append(limit.reason)
        row["reason"] = "; ".join(filter(None, reasons))
        method = limit.method if math.isfinite(limit.low) else ""
        rows.append(row | {"low": limit.low, "high": limit.high, "method": method})
    columns = ["value", "low", "high", "method", "n", "groups", "reason"]
    table = pd.DataFrame(rows, columns=columns).astype({"n": int, "groups": "Int64"})
    return pd.concat([analysis.matrices.heads[[*HEAD, "kind"]], table], axis=1)


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
    for analysis in analyses(pairs, statistic):
        own = analysis.matrices
        held = np.array([own.layout.matrix(own.items[name].to_numpy(float)) for name in wanted])
        same = np.where(np.isfinite(held).all(axis=0), own.human, np.nan)
        try:
            left = stats.partials(own.human, own.metrics, held, statistic=statistic)
            plain = stats.partial(same, own.metrics, held[:0], statistic=statistic)
        except ValueError as error:
            raise TstmetaError(str(error)) from error
        parts.append(
            own.heads[[*HEAD, "kind"]].assign(
                value=plain,
                partial=[rest.value for rest in left],
                n=[rest.n for rest in left],
                reason=[rest.reason for rest in left],
            )
        )
    if not parts:
        raise TstmetaError("there are no pairs, so nothing can be held fixed")
    return pd.concat(parts, ignore_index=True)
