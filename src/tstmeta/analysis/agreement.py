"""The agreement of metrics with human ratings: from pairs to a value and an interval.

Each data set of a frame of :func:`tstmeta.pairs` is laid out as matrices [sources, systems]; the
formulas are in :mod:`tstmeta.stats`.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..schema import TstmetaError
from ..stats import Correlation, Draws, Resample, ResamplingPlan, Setting
from ..stats.limits import FEW_UNITS
from ..stats.resampling import clusters_of
from .frame import corpus_metric
from .matrices import Matrices, matrices

#: Purposes of random numbers: a stream each, so that one does not change the draws of another.
DRAWS, TESTS = 0, 1
#: What a row of results is of.
HEAD = ["dataset", "metric", "basis"]
#: At level system: the lowest and highest value with one system left out, and whose absence moves
#: the value most.
WITHOUT = ["without_low", "without_high", "without"]
_NOTHING_LEFT = "too few rewrites have all values, or some of these are all equal or collinear"


class Analysis(NamedTuple):
    """One data set as matrices, and the setting and resampling plan for it."""

    matrices: Matrices
    setting: Setting
    plan: ResamplingPlan
    seed: int

    def rng(self, purpose: int) -> np.random.Generator:
        """The stream of a purpose."""
        return np.random.default_rng([self.seed, purpose])

    def of(self, places: Sequence[int] | np.ndarray) -> "Analysis":
        """The same of some metrics, in this order."""
        heads = self.matrices.heads.iloc[places].reset_index(drop=True)
        laid = self.matrices._replace(metrics=self.matrices.metrics[places], heads=heads)
        return self._replace(matrices=laid)


def analyses(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    undefined: float = math.nan,
) -> Iterator[Analysis]:
    """One for each data set of the pairs; arguments as of :func:`bootstrap`."""
    for name, frame in pairs.groupby("dataset", sort=False, observed=True):
        try:
            laid = matrices(frame, level)
            setting = laid.setting(statistic, level, undefined=undefined)
            plan = laid.plan(unit, draws)
            analysis = Analysis(laid, setting, plan, seed)
            analysis.rng(DRAWS)  # refuses a seed below 0
        except (TstmetaError, ValueError) as error:
            raise TstmetaError(f"{name}: {error}") from error
        yield analysis


def correlate(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    *,
    undefined: float = math.nan,
) -> pd.DataFrame:
    """The agreement of each metric with human ratings, a row a data set and metric.

    Args:
        pairs: see :func:`tstmeta.pairs`.
        statistic: a name of ``tstmeta.stats.STATISTICS``: pearson, spearman, kendall (tau-b),
            pairwise-accuracy (a tie of both is right), accuracy (AUC).
        level: pooled (all rewrites), source (within each source, then averaged), same-source (all
            pairs of rewrites of one source; Pearson's r: about the source's means), within-system,
            system (over means of systems), within-task (pooled, standardised within tasks).
        undefined: what a group without a value counts; by default it is left out.

    Returns:
        Columns dataset, metric, basis, value, n (rewrites with both values), groups (sources,
        systems or tasks that the value is over; <NA> at level pooled), p (scipy's, which takes
        rewrites, or systems, for independent; NaN at other levels), reason (why there is no value,
        or a doubt, such as that systems are few); at level system also without_low, without_high
        (lowest and highest value with any one system left out) and without (the system whose
        absence moves it most; empty where none does).

    Raises:
        TstmetaError: an unknown name, or a level that the data do not have.
    """
    rows = []
    for analysis in analyses(pairs, statistic, level, undefined=undefined):
        for place, head in enumerate(analysis.matrices.heads[HEAD].to_dict("records")):
            rows.append(head | _row(analysis, place, agreement(analysis, place)))
    if "statistics" in pairs:
        corpus = pairs[pairs["statistics"].notna()]
        for key, table in corpus.groupby([*HEAD, "signature"], sort=False, observed=True):
            rows.append(dict(zip(HEAD, key, strict=False)) | _corpus_row(table, statistic, level))
    columns = [*HEAD, "value", "n", "groups", "p", "reason", *WITHOUT * (level == "system")]
    return pd.DataFrame(rows, columns=columns).astype({"n": int, "groups": "Int64"})


def agreement(analysis: Analysis, place: int) -> Correlation:
    """The value of one metric: n is of rewrites at level pooled, of groups at levels of groups."""
    human, metrics = analysis.matrices.human, analysis.matrices.metrics
    return stats.correlate(human, metrics[place], analysis.setting)


def _row(analysis: Analysis, place: int, value: Correlation) -> dict[str, Any]:
    """The columns of :func:`correlate` for one metric."""
    if analysis.setting.level in ("pooled", "within-task"):
        return value._asdict() | {"groups": None}
    human, scores = analysis.matrices.human, analysis.matrices.metrics[place]
    n = int(np.isfinite(human + scores).sum())
    row = value._asdict() | {"n": n, "groups": value.n}
    if analysis.setting.level != "system":
        return row
    systems = analysis.matrices.layout.systems
    row |= _without(human, scores, analysis.setting, value.value, systems)
    return row | {"reason": joined(row["reason"], few_systems(analysis.setting.level, value.n))}


def _corpus_row(table: pd.DataFrame, statistic: str, level: str) -> dict[str, Any]:
    """The row of a corpus metric: its value over all outputs of a system beside the mean rating."""
    table = table[(table["statistics"] != "") & table["human"].notna()]
    none = {"value": math.nan, "p": math.nan, "n": len(table), "groups": 0}
    if level != "system":
        return none | {"reason": "a metric of whole outputs: use level system"}
    corpus = corpus_metric(str(table["metric"].iloc[0])) if len(table) else None
    if corpus is None:
        return none | {"reason": "no statistics to add up"}
    systems = table[table["system"] != ""].groupby("system", sort=False, observed=True)
    # exact sums: systems with the same ratings have the same mean
    human = systems["human"].agg(fmean)
    values = systems["statistics"].agg(lambda texts: corpus.combine(list(texts)))
    values = -values if table["flipped"].iloc[0] else values
    sides = human.to_numpy(float)[None], values.to_numpy(float)[None], Setting(statistic, "system")
    value = stats.correlate(*sides)
    reason = joined(value.reason, few_systems(level, value.n))
    row = value._asdict() | _without(*sides, value.value, human.index.tolist())
    return row | {"n": len(table), "groups": value.n, "reason": reason}


def few_systems(level: str, systems: int) -> str:
    """The doubt about a value at level system that is over few of them; empty elsewhere."""
    if level != "system" or not 1 < systems < FEW_UNITS:
        return ""
    least = 2.0 / math.factorial(systems)
    return f"{systems} systems say little of others; no order of them has a p below {least:.1g}"


def joined(*reasons: str) -> str:
    """Reasons, without empty ones."""
    return "; ".join(filter(None, reasons))


def _without(
    human: np.ndarray, metric: np.ndarray, setting: Setting, value: float, systems: Sequence[str]
) -> dict[str, Any]:
    """The columns :data:`WITHOUT`."""
    left_out = Draws(np.ones(human.shape[::-1]), 1.0 - np.eye(len(systems)))
    used = np.isfinite(human + metric).any(axis=0)
    values = stats.resampled(human, metric[None], setting, left_out)[0, used]
    if not np.isfinite(values).any():
        return dict(zip(WITHOUT, (math.nan, math.nan, ""), strict=True))
    moved = np.nan_to_num(np.abs(values - value), nan=np.inf)
    most = str(np.asarray(systems)[used][moved.argmax()]) if moved.max() > 1e-12 else ""
    return dict(zip(WITHOUT, (np.nanmin(values), np.nanmax(values), most), strict=True))


def resample(analysis: Analysis) -> Resample:
    """All metrics under the same draws."""
    human, metrics = analysis.matrices.human, analysis.matrices.metrics
    draws = stats.draw(analysis.plan, human.shape, analysis.rng(DRAWS))
    return stats.resample(human, metrics, analysis.setting, analysis.plan, draws)


def bootstrap(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    undefined: float = math.nan,
) -> pd.DataFrame:
    """:func:`correlate` with 95 % bootstrap confidence intervals, the same resamples for all.

    Args:
        pairs, statistic, level, undefined: see :func:`correlate`.
        unit: what is resampled: source (with all its rewrites; systems fixed), system, or both.
        draws: how many resamples.
        seed: of all that is random.

    Returns:
        Columns dataset, metric, basis, kind, value, low, high, n, groups, reason, draws (an array:
        the value in each resample, with ``both`` brought to the variance of crossed samples, see
        :mod:`tstmeta.stats.intervals`); at level system also those of :func:`correlate`.

    Raises:
        TstmetaError: as :func:`correlate`, or a plan that the data do not have.
    """
    columns = [*HEAD, "kind", "value", "low", "high", "n", "groups", "reason", "draws"]
    columns += WITHOUT * (level == "system")
    tables = [pd.DataFrame(columns=columns)]
    for analysis in analyses(pairs, statistic, level, unit, draws, seed, undefined):
        drawn = resample(analysis)
        tables.append(intervals(analysis, drawn).assign(draws=list(drawn.resampled))[columns])
    return pd.concat(tables[1:] or tables, ignore_index=True)


def intervals(analysis: Analysis, drawn: Resample) -> pd.DataFrame:
    """The columns of :func:`bootstrap` but for the draws."""
    rows = []
    for place, limit in enumerate(stats.confidence_intervals(drawn)):
        row = _row(analysis, place, agreement(analysis, place))
        if math.isfinite(row["value"]):
            row["reason"] = joined(row["reason"], limit.reason)
        rows.append(row | {"low": limit.low, "high": limit.high})
    columns = ["value", "low", "high", "n", "groups", "reason", *WITHOUT]
    table = pd.DataFrame(rows, columns=columns).astype({"n": int, "groups": "Int64"})
    return pd.concat([analysis.matrices.heads[[*HEAD, "kind"]], table], axis=1)


def partial(
    pairs: pd.DataFrame,
    given: str | Sequence[str] = "style",
    statistic: str = "pearson",
    *,
    draws: int = 0,
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of a metric with one human dimension while others are held fixed.

    Args:
        pairs: see :func:`tstmeta.pairs`.
        given: columns of the pairs: a dimension, or several.
        statistic: pearson, spearman or kendall.
        draws, seed: of the bootstrap over sources for 95 % intervals; 0 draws give none.

    Returns:
        Columns dataset, metric, basis, kind, value (the plain correlation over the same rewrites),
        partial, n, reason, low, high, note (doubts about the interval).  A data set without the
        given columns has NaN and the reason.

    Raises:
        TstmetaError: another statistic, fewer than 0 draws, a dimension that no data set has, or a
            column that is not numbers.
    """
    dimensions = [given] if isinstance(given, str) else list(given)
    if missing := [name for name in dimensions if name not in pairs]:
        raise TstmetaError(f"no data set has human values of {', '.join(missing)}")
    tables = []
    for analysis in analyses(pairs, statistic, seed=seed):
        analysis = analysis._replace(plan=analysis.plan._replace(n=draws))
        try:
            tables.append(_held_fixed(analysis, dimensions))
        except ValueError as error:
            how = f"{statistic} given {', '.join(dimensions)} with {draws} draws"
            raise TstmetaError(f"{how}: {error}") from error
    if not tables:
        raise TstmetaError("there are no pairs, so nothing can be held fixed")
    return pd.concat(tables, ignore_index=True)


def _held_fixed(analysis: Analysis, dimensions: Sequence[str]) -> pd.DataFrame:
    """The rows of :func:`partial` for one data set."""
    human, metrics = analysis.matrices.human, analysis.matrices.metrics
    held, statistic = analysis.matrices.item_values(dimensions), analysis.setting.function.name
    sample = stats.draw(analysis.plan, human.shape, analysis.rng(DRAWS))
    rated = np.where(np.isfinite(held).all(axis=0), human, np.nan)
    complete = np.isfinite(rated + metrics)
    table = analysis.matrices.heads[[*HEAD, "kind"]].copy()
    table["value"] = stats.partial(rated, metrics, held[:0], statistic=statistic)
    table["partial"] = stats.partial(human, metrics, held, statistic=statistic)
    table["n"] = complete.sum((1, 2))
    table["reason"] = np.where(table["partial"].notna(), "", _NOTHING_LEFT)
    drawn = stats.partial(human, metrics, held, statistic=statistic, draws=sample)
    strata, rows = clusters_of(analysis.plan, len(human))[1], []
    for row, value, cells in zip(drawn, table["partial"], complete, strict=True):
        used = strata[cells.any(axis=1)]  # of the sources with a complete rewrite
        units = len(used) - len(np.unique(used)) + 1
        [limits] = stats.percentile_intervals(row[None], [value], units=units)
        note = limits.reason if analysis.plan.n and math.isfinite(value) else ""
        rows.append((limits.low, limits.high, note))
    return pd.concat([table, pd.DataFrame(rows, columns=["low", "high", "note"])], axis=1)
