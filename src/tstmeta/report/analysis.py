"""Everything about one data set and one dimension: who agrees with people, and how sure that is.

One call takes a data set and its scores and gives values with intervals, ranks with the sets they
could lie in, tests of every pair, what is left of a value once other dimensions are held fixed, and
people's own agreement beside it.  The command line and the notebooks show what is in it.

A metric for which less is better (TER, a distance) is turned round before it meets people, so that
above chance always means that it agrees as it claims; its row says so.  All other signs stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from .. import stats
from ..data import Dataset
from ..schema import TstmetaError
from ..stats import Setting
from ..stats.intervals import Interval, Resample, difference
from ..stats.matrices import Level
from ..stats.multiple import over_pairs
from ..stats.permutation import PairTests
from ..stats.resampling import Plan, Units
from . import analysis_parts as parts
from . import asked
from .analysis_parts import Human, Job
from .asked import METRIC, kind_of
from .material import ORACLES, with_oracle
from .matrices import matrices
from .tables import Scored, at_corpus_level, scored, truth

#: Statistics by name; the threshold of acc_eq is fitted.
STATISTICS = tuple(stats.STATISTICS)
COLUMNS = (
    *("metric", "basis", "dimension", "kind", "better", "value", "low", "high", "method", "n"),
    *("rank", "rank_low", "rank_high", "cluster", "partial", "given", "partial_all", "given_all"),
    *("as_rater", "against", "mean", "sd", "min", "max", "scored", "empty", "truncated", "failed"),
    *("note", "signature"),
)


@dataclass(frozen=True)
class Analysis:
    """A data set, one dimension of human judgement, and all metrics.

    Arrays are in the order of ``rows``: metrics with the best first, then sentinels.  A metric of
    whole outputs has a row and NaN in the arrays.

    Attributes:
        dataset: its name.
        dimension: of human judgement; ``against`` says what was judged, ratings or labels.
        items, sources, systems: how many; systems is 0 where none is named.
        setting, plan, clustered, confidence, seed: what was computed and drawn.
        rows: one row a metric and basis, see :func:`analyse`.
        human: people's own agreement.
        made: estimates ``[M]``, values in every draw ``[M, D]`` and the jackknife.
        tests: every pair ``[M, M]``, or None; ``tested`` says how many swaps, or why none.
        adjusted: their p-values after Holm's correction ``[M, M]``, or None.
    """

    dataset: str
    dimension: str
    against: str
    items: int
    sources: int
    systems: int
    setting: Setting
    plan: Plan
    clustered: bool
    confidence: float
    seed: int
    rows: pd.DataFrame
    human: Human
    made: Resample
    tests: PairTests | None
    tested: str
    adjusted: np.ndarray | None

    @property
    def estimand(self) -> str:
        """What the intervals are about."""
        return self.plan.estimand

    @property
    def label(self) -> str:
        """The statistic as shown."""
        return self.setting.function.label

    def place(self, metric: str, basis: str | None = None) -> int:
        """The row of a metric.

        Raises:
            TstmetaError: no row of that name, or several.
        """
        named = self.rows["metric"] == metric
        found = np.flatnonzero(named if basis is None else named & (self.rows["basis"] == basis))
        if len(found) != 1:
            what = "no row is" if not len(found) else "several rows are"
            where = f" on basis {basis}" if basis else ""
            known = ", ".join(dict.fromkeys(self.rows["metric"]))
            raise TstmetaError(f"{what} called {metric!r}{where}; known: {known}")
        return int(found[0])

    def difference(self, first: int, second: int) -> Interval:
        """Value of one row minus another's, draw by draw."""
        return difference(self.made, first, second, confidence=self.confidence)


def analyse(
    dataset: Dataset,
    scores: pd.DataFrame,
    *,
    dimension: str = "content",
    statistic: str = "pearson",
    level: Level = "pooled",
    units: Units = "sources",
    clustered: bool = False,
    draws: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    tests: bool | None = None,
    micro: bool = False,
    undefined: float = math.nan,
    lower: Sequence[str] = (),
    progress: bool = False,
) -> Analysis:
    """Hold every metric of a ``scores`` table against one dimension of human judgement.

    Args:
        statistic: a name of :data:`STATISTICS`.
        level: a name of :data:`tstmeta.stats.LEVELS`.
        units: what is drawn again for intervals, and swapped by tests: sources, systems or both.
        clustered: draw sources in the groups that shared their raters.
        draws: number of draws, and the least number of swaps of a test.
        tests: test every pair of metrics; None does so where it takes no more than a minute.
        micro, undefined: see :class:`tstmeta.stats.Setting`.
        lower: metrics for which less is better, beside those that say so themselves.
        progress: show a bar on stderr (only on a terminal).

    Returns:
        ``rows`` has these columns: metric, basis, dimension, kind (metric, sentinel, oracle),
        turned (whether less was better), value, low, high, method (of the interval), n (pairs, or
        groups at a grouped level), rank, rank_low, rank_high (of all rows with a value, sentinels
        among them, and the ranks it could have), cluster (1 is best; a new one begins where a test
        parts a row from all above), partial and partial_all (the correlation over items, Pearson's
        or Spearman's, with given and given_all held fixed), as_rater (the metric in the place of a
        held-out rater), against, mean, sd, min, max, scored, empty, truncated, failed (of the
        scores as they are), note, signature.

    Raises:
        TstmetaError: what was asked for does not exist or cannot be had from these data.
    """
    asked.choice(dataset, dimension, statistic, level, STATISTICS, micro)
    scores = _shown(dataset, scores, dimension)
    made = matrices(dataset, scores, dimension, level)
    asked.resampling(made, level, units, clustered, draws, confidence, seed)
    less = asked.directions(made, lower)
    made = made._replace(metrics=np.where(less[:, None, None], -made.metrics, made.metrics))
    try:
        setting = made.setting(statistic, level, micro=micro, undefined=undefined)
        setting.function.check(level)
        plan = made.plan(units, draws, clustered)
        job = Job(dataset, made, dimension, setting, plan, confidence, seed)
        listed = list(scored(dataset, scores))
        return _analysed(job, listed, less, clustered, tests, progress)
    except ValueError as error:  # what the statistics refuse was a mistake in what was asked
        raise TstmetaError(str(error)) from error


def _shown(dataset: Dataset, scores: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """The scores with the oracle's rows, but not where it is what metrics are held against."""
    if dimension == "style":
        return scores[~scores["metric"].isin(ORACLES)]
    return with_oracle(dataset, scores)


def _analysed(
    job: Job,
    listed: list[Scored],
    less: np.ndarray,
    clustered: bool,
    tests: bool | None,
    progress: bool,
) -> Analysis:
    of_items = [one for one in listed if one.corpus is None]
    work = len(of_items) + 1
    with tqdm(total=work, desc="drawing again", disable=None if progress else True) as bar:
        drawn = parts.drawn(job, bar.update)
        made = drawn.resample
        bar.set_description("testing pairs")
        pairs, tested = parts.tested(job, made, tests)
        bar.update()
    adjusted = None if pairs is None else over_pairs(pairs.p)
    human, as_rater = parts.people(job)
    heads = [_head(job, *one) for one in zip(of_items, less, strict=True)]
    rows = pd.concat(
        [
            pd.DataFrame(heads, columns=list(heads[0]) if heads else ["kind"]),
            parts.values(job, drawn),
            parts.ranks(job, made, adjusted),
            parts.partials(job).assign(as_rater=as_rater),
        ],
        axis=1,
    )
    whole = pd.DataFrame([_of_outputs(job, one) for one in listed if one.corpus is not None])
    rows = pd.concat([rows, whole], ignore_index=True) if len(whole) else rows
    order = _order(rows)
    places = np.where(order < len(of_items), order, -1)
    return Analysis(
        dataset=job.dataset.name,
        dimension=job.dimension,
        against=job.made.against,
        items=int(np.isfinite(job.made.human).sum()),
        sources=len(set(job.made.layout.sources)),
        systems=len(job.made.layout.systems) if job.made.layout.named else 0,
        setting=job.setting,
        plan=job.plan,
        clustered=clustered,
        confidence=job.confidence,
        seed=job.seed,
        rows=rows.reindex(columns=COLUMNS).iloc[order].reset_index(drop=True),
        human=human,
        made=_arranged(made, places),
        tests=None if pairs is None else _pairs_arranged(pairs, places),
        tested=tested,
        adjusted=None if adjusted is None else _both_ways(adjusted, places, np.nan),
    )


# --------------------------------------------------------------------------------------- rows


def _head(job: Job, one: Scored, lower: bool) -> dict:
    return {
        "metric": one.name,
        "basis": one.basis,
        "dimension": job.dimension,
        "kind": kind_of(one.name),
        "better": "lower" if lower else "higher",
        "against": job.made.against,
        **one.about,
        "signature": one.signature,
    }


def _of_outputs(job: Job, one: Scored) -> dict:
    """The row of a metric of whole outputs: one value a system, so there is nothing to draw."""
    human, _ = truth(job.dataset, job.dimension)
    found = at_corpus_level(job.dataset, one, human, job.setting.function.name, job.setting.level)
    note = found.reason or "one value a system: no interval and no rank"
    return _head(job, one, False) | {"value": found.value, "n": found.n, "method": "", "note": note}


def _order(rows: pd.DataFrame) -> np.ndarray:
    """Metrics with the best first, then sentinels; without a value last."""
    below = (rows["kind"] != METRIC).to_numpy()
    value = rows["value"].to_numpy(float)
    return np.lexsort((np.where(np.isfinite(value), -value, np.inf), below))


def _rows(array: np.ndarray, places: np.ndarray, missing: object) -> np.ndarray:
    """Rows in a new order; place -1 is a row of missing values."""
    return np.concatenate([array, np.full_like(array[:1], missing, shape=(1, *array.shape[1:]))])[
        places
    ]


def _both_ways(table: np.ndarray, places: np.ndarray, missing: object) -> np.ndarray:
    return _rows(_rows(table, places, missing).T, places, missing).T


def _arranged(made: Resample, places: np.ndarray) -> Resample:
    return made._replace(
        estimates=_rows(made.estimates, places, np.nan),
        values=_rows(made.values, places, np.nan),
        jackknives=tuple(_rows(one, places, np.nan) for one in made.jackknives),
        given=tuple(_rows(one, places, False) for one in made.given),
        counts={name: _rows(one, places, 0) for name, one in made.counts.items()},
    )


def _pairs_arranged(pairs: PairTests, places: np.ndarray) -> PairTests:
    reasons = np.array(pairs.reasons, dtype=object).reshape(len(pairs.p), len(pairs.p))
    return pairs._replace(
        difference=_both_ways(pairs.difference, places, np.nan),
        p=_both_ways(pairs.p, places, np.nan),
        n=_both_ways(pairs.n, places, 0),
        smallest=_both_ways(pairs.smallest, places, np.nan),
        reasons=_both_ways(reasons, places, "a metric of whole outputs").tolist(),
        undefined=_both_ways(pairs.undefined, places, 0),
    )
