"""Everything about one data set and one dimension: who agrees with people, and how sure that is.

One call gives values with intervals, ranks with the sets they could lie in, tests of every pair,
what is left of a value once other dimensions are held fixed, and people's own agreement beside it.
It is what ``tstmeta evaluate`` prints; each part is a function of :mod:`.agreement`,
:mod:`.comparison` or :mod:`.people`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset, load
from ..metrics import Metric
from ..schema import TstmetaError
from ..stats import Interval, PairTests, Resample
from . import comparison, render
from .agreement import Analysis, analyses, at_corpus_level, intervals, resample
from .frame import METRIC, SENTINELS, Scored, pairs, scored
from .people import People, people

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What is held fixed for each dimension: the first alone, then all that there are.
_OTHERS = {
    "content": ("style", "fluency"),
    "style": ("content", "fluency"),
    "fluency": ("content", "style"),
}


@dataclass(frozen=True)
class Evaluation:
    """A data set, one dimension of human judgement, and all metrics.

    Attributes:
        dataset, dimension: what was evaluated; ``against`` says what people gave, ratings or
            labels.
        items, sources, systems: how many; systems is 0 where none is named.
        analysis: what was computed and resampled: matrices, setting, plan, seed.
        frame: one row a metric and basis, see :func:`evaluate`; metrics with the best first, then
            sentinels.
        human: people's own agreement.
        drawn: estimates ``[M]``, values in every draw ``[M, D]`` and the jackknife.
        tests: every pair ``[M, M]``, or None; ``tested`` says how many swaps, or why none.

    Arrays are in the order of ``frame``, with NaN for a metric of whole outputs.
    """

    dataset: str
    dimension: str
    against: str
    items: int
    sources: int
    systems: int
    analysis: Analysis
    frame: pd.DataFrame
    human: People
    drawn: Resample
    tests: PairTests | None
    tested: str

    @property
    def label(self) -> str:
        """The statistic as shown."""
        return self.analysis.setting.function.label

    def difference(self, first: int, second: int) -> Interval:
        """Value of one row of the frame minus another's, draw by draw."""
        return stats.difference(self.drawn, first, second)

    def plot(self) -> Figure:
        """A forest plot: values with intervals, sentinels below a line, the human ceiling."""
        from .. import plot  # needs the extra for drawing

        ceiling = pd.DataFrame([{"dataset": self.dataset, **self.human._asdict()}])
        return plot.forest(self.frame.assign(dataset=self.dataset), ceiling=ceiling)

    def to_latex(self) -> str:
        """The table for LaTeX (``booktabs``), with caption, notes and signatures."""
        return render.rendered([self], render.TableFormat.latex)


def evaluate(
    data: Dataset | str | Path,
    metrics: Sequence[str | Metric] = ("lexical",),
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    tests: bool | None = None,
    scores: pd.DataFrame | None = None,
    lower: Sequence[str] = (),
) -> Evaluation:
    """Hold metrics and sentinels against one dimension of human judgement.

    Args:
        data: a data set, its name, or a file of your own.
        metrics: names or families to score; sentinels and people's style rating stand beside.
        scores: a ``scores`` table to take instead of scoring.
        lower: metrics of which less is better, beside those that say so themselves.
        tests: test every pair of metrics; None does so where it takes no more than a minute.
        statistic, level, unit, draws, seed: see :func:`tstmeta.bootstrap`.

    Returns:
        ``frame`` has these columns: metric, basis, dimension, kind (metric, sentinel, oracle),
        better (higher, or lower and then flipped), value, low, high, method (of the interval), n
        (rewrites, or groups at a level of groups), rank, rank_low, rank_high (among all rows with a
        value, and the ranks it could have), cluster (1 is best; a new one begins where a test
        parts a row from all above), partial and partial_all (the correlation over rewrites,
        Pearson's or Spearman's, with given and given_all held fixed), as_rater (the metric in the
        place of a rater), against, mean, sd, min, max, scored, empty, truncated, failed (of the
        scores as they are), note, signature.

    Raises:
        TstmetaError: what does not exist or cannot be had from these data.
    """
    data = data if isinstance(data, Dataset) else load(str(data))
    if scores is None:
        from ..scoring import score

        scores = score(data, [*metrics, *SENTINELS], progress=False)
    if dimension == "style":
        scores = scores[~scores["metric"].isin(["human-style", "style-label"])]
    frame = pairs(data, scores, dimension, lower)
    try:
        analysis = next(analyses(frame, statistic, level, unit, draws, seed))
        return _evaluated(data, dimension, analysis, frame, list(scored(data, scores)), tests)
    except StopIteration:
        raise TstmetaError(f"{data.name}: there are no scores to evaluate") from None
    except ValueError as error:  # what the statistics refuse, such as a seed below 0
        raise TstmetaError(str(error)) from error


def _evaluated(
    data: Dataset,
    dimension: str,
    analysis: Analysis,
    frame: pd.DataFrame,
    listed: list[Scored],
    tests: bool | None,
) -> Evaluation:
    own, layout = analysis.matrices, analysis.matrices.layout
    drawn = resample(analysis)
    pairwise, note = comparison.tested(analysis, drawn, tests)
    human, as_rater = people(data, dimension, own, analysis.setting)
    values = intervals(analysis, drawn).drop(columns="dataset")
    values["n"] = values["groups"].fillna(values["n"]).astype(int)
    abouts = [metric.about for metric in listed if metric.corpus is None]
    table = pd.concat(
        [
            values.rename(columns={"reason": "note"}),
            comparison.ranks(drawn, pairwise),
            _partials(analysis, data, dimension),
            pd.DataFrame(abouts, index=values.index),
            own.heads["signature"],
        ],
        axis=1,
    ).assign(as_rater=as_rater, better=np.where(own.heads["flipped"], "lower", "higher"))
    table["cluster"] = table["cluster"].astype("Int64")
    whole = [_of_outputs(analysis, frame, metric) for metric in listed if metric.corpus]
    table = pd.concat([table, pd.DataFrame(whole)], ignore_index=True) if whole else table
    table = table.assign(dimension=dimension, against=own.against)
    value = table["value"].to_numpy(float)  # metrics with the best first, then sentinels
    order = np.lexsort(
        (np.where(np.isfinite(value), -value, np.inf), (table["kind"] != METRIC).to_numpy())
    )
    places = np.where(order < len(abouts), order, -1)
    return Evaluation(
        dataset=data.name,
        dimension=dimension,
        against=own.against,
        items=int(np.isfinite(own.human).sum()),
        sources=len(set(layout.sources)),
        systems=len(layout.systems) if layout.named else 0,
        analysis=analysis,
        frame=table.reindex(columns=render.COLUMNS).iloc[order].reset_index(drop=True),
        human=human,
        drawn=_arranged(drawn, places),
        tests=pairwise and _tests_arranged(pairwise, places),
        tested=note,
    )


def _of_outputs(analysis: Analysis, frame: pd.DataFrame, metric: Scored) -> dict:
    """The row of a metric of whole outputs: one value a system, so there is nothing to resample."""
    own = frame[(frame["metric"] == metric.name) & (frame["basis"] == metric.basis)]
    value = at_corpus_level(own, analysis.setting.function.name, analysis.setting.level)
    return {
        **{"metric": metric.name, "basis": metric.basis, "kind": METRIC, "better": "higher"},
        **{"value": value.value, "n": value.n, "method": "", **metric.about},
        "note": value.reason or "one value a system: no interval and no rank",
        "signature": metric.signature,
    }


def _partials(analysis: Analysis, data: Dataset, dimension: str) -> pd.DataFrame:
    """The correlation over items with one other dimension, and with all others, held fixed.

    Pearson's where the statistic is, else Spearman's; within tasks where the level is of tasks.
    """
    own, setting = analysis.matrices, analysis.setting
    others = [name for name in _OTHERS.get(dimension, ()) if name in data.judged]
    statistic = "pearson" if setting.function.name == "pearson" else "spearman"
    given = np.array([own.layout.matrix(own.items[name].to_numpy(float)) for name in others])
    tasks = setting.tasks if "task" in setting.level else None
    table: dict[str, np.ndarray | str] = {}
    for suffix, some in (("", others[:1]), ("_all", others if len(others) > 1 else [])):
        values = np.full(len(own.metrics), np.nan)
        if some:
            held = given[: len(some)]
            values = stats.partial(own.human, own.metrics, held, statistic=statistic, tasks=tasks)
        table[f"partial{suffix}"] = values
        table[f"given{suffix}"] = ", ".join(some)
    return pd.DataFrame(table, index=own.heads.index)


def _rows(array: np.ndarray, places: np.ndarray, missing: object = np.nan) -> np.ndarray:
    """Rows in a new order; place -1 is a row of missing values."""
    last = np.full_like(array[:1], missing, shape=(1, *array.shape[1:]))
    return np.concatenate([array, last])[places]


def _arranged(drawn: Resample, places: np.ndarray) -> Resample:
    return drawn._replace(
        estimates=_rows(drawn.estimates, places),
        values=_rows(drawn.values, places),
        jackknives=tuple(_rows(left_out, places) for left_out in drawn.jackknives),
        given=tuple(_rows(given, places, False) for given in drawn.given),
        counts={name: _rows(count, places, 0) for name, count in drawn.counts.items()},
    )


def _tests_arranged(tests: PairTests, places: np.ndarray) -> PairTests:
    def both_ways(table: np.ndarray, missing: object = np.nan) -> np.ndarray:
        return _rows(_rows(table, places, missing).T, places, missing).T

    reasons = np.array(tests.reasons, dtype=object).reshape(tests.p.shape)
    return tests._replace(
        difference=both_ways(tests.difference),
        p=both_ways(tests.p),
        n=both_ways(tests.n, 0),
        smallest=both_ways(tests.smallest),
        reasons=both_ways(reasons, "a metric of whole outputs").tolist(),
        undefined=both_ways(tests.undefined, 0),
    )
