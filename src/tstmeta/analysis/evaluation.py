"""Everything about one data set and one dimension: who agrees with people, and how sure that is.

One call gives values with intervals, ranks with the sets they could lie in, tests of every pair,
what is left of a value once other dimensions are held fixed, and people's own agreement beside it.
It is what ``tstmeta evaluate`` prints; each part is a function of :mod:`.agreement`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from tqdm import tqdm

from .. import stats
from ..data import Dataset, load
from ..metrics import Metric
from ..schema import TstmetaError
from ..stats.intervals import Interval, Resample, difference
from ..stats.multiple import over_pairs
from ..stats.permutation import PairTests
from . import agreement, comparison
from .agreement import Job
from .frame import METRIC, SENTINELS, Scored, pairs, scored
from .people import People, people

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Columns of :attr:`Evaluation.frame`.
COLUMNS = (
    *("metric", "basis", "dimension", "kind", "better", "value", "low", "high", "method", "n"),
    *("rank", "rank_low", "rank_high", "cluster", "partial", "given", "partial_all", "given_all"),
    *("as_rater", "against", "mean", "sd", "min", "max", "scored", "empty", "truncated", "failed"),
    *("note", "signature"),
)
#: What is held fixed for each dimension: the first alone, then all that there are.
_OTHERS = {
    "content": ("style", "fluency"),
    "style": ("content", "fluency"),
    "fluency": ("content", "style"),
}


@dataclass(frozen=True)
class Evaluation:
    """A data set, one dimension of human judgement, and all metrics.

    Arrays are in the order of ``frame``: metrics with the best first, then sentinels.  A metric of
    whole outputs has a row and NaN in the arrays.

    Attributes:
        dataset, dimension: what was asked; ``against`` says what was judged, ratings or labels.
        items, sources, systems: how many; systems is 0 where none is named.
        job: what was computed and resampled: setting, plan, confidence, seed.
        clustered: whether sources were resampled in the groups that shared their raters.
        frame: one row a metric and basis, columns :data:`COLUMNS`, see :func:`evaluate`.
        human: people's own agreement.
        resample: estimates ``[M]``, values in every draw ``[M, D]`` and the jackknife.
        tests: every pair ``[M, M]``, or None; ``tested`` says how many swaps, or why none.
    """

    dataset: str
    dimension: str
    against: str
    items: int
    sources: int
    systems: int
    job: Job
    clustered: bool
    frame: pd.DataFrame
    human: People
    resample: Resample
    tests: PairTests | None
    tested: str

    @property
    def label(self) -> str:
        """The statistic as shown."""
        return self.job.setting.function.label

    def difference(self, first: int, second: int) -> Interval:
        """Value of one row minus another's, draw by draw."""
        return difference(self.resample, first, second, confidence=self.job.confidence)

    def plot(self) -> Figure:
        """A forest plot: values with intervals, sentinels below a line, the human ceiling."""
        from .. import plot

        ceiling = pd.DataFrame([{"dataset": self.dataset, **self.human._asdict()}])
        return plot.forest(self.frame.assign(dataset=self.dataset), ceiling=ceiling)

    def to_latex(self) -> str:
        """The table for LaTeX (``booktabs``), with caption, notes and signatures."""
        from .render import to_latex

        return to_latex(self)


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
    confidence: float = 0.95,
    clustered: bool = False,
    micro: bool = False,
    undefined: float = math.nan,
    tests: bool | None = None,
    scores: pd.DataFrame | None = None,
    lower: Sequence[str] = (),
    progress: bool = False,
) -> Evaluation:
    """Hold metrics and sentinels against one dimension of human judgement.

    Args:
        data: a data set, its name, or a file of your own.
        metrics: names or families to score; sentinels and people's style rating stand beside.
        scores: a ``scores`` table to take instead of scoring.
        lower: metrics of which less is better, beside those that say so themselves.
        tests: test every pair of metrics; None does so where it takes no more than a minute.
        statistic, level, unit, draws, seed, confidence, clustered, micro, undefined: see
            :func:`tstmeta.bootstrap`.

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
        TstmetaError: what was asked for does not exist or cannot be had from these data.
    """
    data = data if isinstance(data, Dataset) else load(str(data))
    if scores is None:
        from ..scoring import score

        scores = score(data, [*metrics, *SENTINELS], progress=progress)
    if dimension == "style":
        scores = scores[~scores["metric"].isin(["human-style", "style-label"])]
    frame = pairs(data, scores, dimension, lower)
    asked = (statistic, level, unit, draws, seed, confidence, clustered, micro, undefined)
    try:
        job = next(agreement.jobs(frame, *asked))
        return _evaluated(
            data, dimension, job, frame, list(scored(data, scores)), clustered, tests, progress
        )
    except StopIteration:
        raise TstmetaError(f"{data.name}: there are no scores to evaluate") from None
    except ValueError as error:  # what the statistics refuse was a mistake in what was asked
        raise TstmetaError(str(error)) from error


def _evaluated(
    data: Dataset,
    dimension: str,
    job: Job,
    frame: pd.DataFrame,
    listed: list[Scored],
    clustered: bool,
    tests: bool | None,
    progress: bool,
) -> Evaluation:
    of_items = [one for one in listed if one.corpus is None]
    with tqdm(total=len(of_items) + 1, desc="bootstrap", disable=None if progress else True) as bar:
        own = agreement.drawn(job, bar.update)
        bar.set_description("testing pairs")
        pairwise = comparison.tested(job, own.resample, tests)
        bar.update()
    adjusted = None if pairwise.pairs is None else over_pairs(pairwise.pairs.p)
    human, as_rater = people(data, dimension, job)
    values = agreement.values(job, own).drop(columns=["dataset"])
    n = values["groups"].fillna(values["n"]).astype(int)
    values = values.assign(n=n).rename(columns={"reason": "note"})
    about = pd.DataFrame([one.about for one in of_items], index=range(len(of_items)))
    table = pd.concat(
        [
            values,
            comparison.ranks(job, own.resample, adjusted),
            _partials(job, data, dimension),
            about,
            job.made.heads["signature"],
        ],
        axis=1,
    ).assign(as_rater=as_rater, better=np.where(job.made.heads["flipped"], "lower", "higher"))
    table["cluster"] = table["cluster"].astype("Int64")
    whole = pd.DataFrame([_of_outputs(job, frame, one) for one in listed if one.corpus is not None])
    table = pd.concat([table, whole], ignore_index=True) if len(whole) else table
    table = table.assign(dimension=dimension, against=job.made.against)
    order = _order(table)
    places = np.where(order < len(of_items), order, -1)
    layout = job.made.layout
    return Evaluation(
        data.name,
        dimension,
        job.made.against,
        int(np.isfinite(job.made.human).sum()),
        len(set(layout.sources)),
        len(layout.systems) if layout.named else 0,
        job,
        clustered,
        table.reindex(columns=COLUMNS).iloc[order].reset_index(drop=True),
        human,
        _arranged(own.resample, places),
        None if pairwise.pairs is None else _pairs_arranged(pairwise.pairs, places),
        pairwise.note,
    )


def _of_outputs(job: Job, frame: pd.DataFrame, one: Scored) -> dict:
    """The row of a metric of whole outputs: one value a system, so there is nothing to resample."""
    own = frame[(frame["metric"] == one.name) & (frame["basis"] == one.basis)]
    found = agreement.at_corpus_level(own, job.setting.function.name, job.setting.level)
    note = found.reason or "one value a system: no interval and no rank"
    head = {"metric": one.name, "basis": one.basis, "kind": METRIC, "better": "higher"}
    value = {"value": found.value, "n": found.n, "method": "", "note": note}
    return head | one.about | value | {"signature": one.signature}


def _partials(job: Job, data: Dataset, dimension: str) -> pd.DataFrame:
    """The correlation over items with one other dimension, and with all others, held fixed.

    Pearson's where the statistic is, else Spearman's; within tasks where the level is of tasks.
    """
    made = job.made
    others = [name for name in _OTHERS.get(dimension, ()) if name in data.judged]
    statistic = "pearson" if job.setting.function.name == "pearson" else "spearman"
    given = np.array([made.layout.matrix(made.items[one].to_numpy(float)) for one in others])
    table: dict[str, np.ndarray | str] = {}
    for suffix, some in (("", others[:1]), ("_all", others if len(others) > 1 else [])):
        values = np.full(len(made.metrics), np.nan)
        if some:
            tasks = job.setting.tasks if "task" in job.setting.level else None
            held = given[: len(some)]
            values = stats.partial(made.human, made.metrics, held, statistic=statistic, tasks=tasks)
        table[f"partial{suffix}"] = values
        table[f"given{suffix}"] = ", ".join(some)
    return pd.DataFrame(table, index=range(len(made.metrics)))


def _order(rows: pd.DataFrame) -> np.ndarray:
    """Metrics with the best first, then sentinels; without a value last."""
    below = (rows["kind"] != METRIC).to_numpy()
    value = rows["value"].to_numpy(float)
    return np.lexsort((np.where(np.isfinite(value), -value, np.inf), below))


def _rows(array: np.ndarray, places: np.ndarray, missing: object) -> np.ndarray:
    """Rows in a new order; place -1 is a row of missing values."""
    last = np.full_like(array[:1], missing, shape=(1, *array.shape[1:]))
    return np.concatenate([array, last])[places]


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
