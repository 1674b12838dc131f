"""What an evaluation shows: statements, and a sentence for each that says no more than its test."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ..stats import Resample
from ..stats.significance import ALPHA
from .agreement import Analysis, correlate
from .comparison import detectable, differences
from .frame import METRIC, SENTINEL, separated
from .people import People
from .render import TableFormat, draw, name_of, number, rendered, with_limits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Names of a list before the rest is counted.
_LISTED = 6
#: The sentence of each kind of statement.
SENTENCES = {
    "none": "No metric has a value for {dimension} that could be compared.",
    "no pairs": "No source has two rewrites that people rate differently in {dimension}, so nothing"
    " can be compared at level {level}: use level pooled, or rate more rewrites of a source.",
    "nothing": "No metric agrees with the {against} of {dimension} better than {chance}, by its"
    " interval; nearest: {label}.",
    "unfit": "No metric can be recommended: the best sentinel is significantly better than all.",
    "best": "Best agreement with the {against} of {dimension}: {label}.",
    "chance": "Best agreement with the {against} of {dimension}, with an interval that does not lie"
    " above {chance}: {label}.",
    "undecided": "Not significantly different from the best: {names}.",
    "worse": "Significantly worse than the best: {names}.",
    "sentinel": "Best sentinel: {label}.",
    "sentinel worse": "Significantly better than the best sentinel: {names}.",
    "sentinel undecided": "Not significantly different from the best sentinel: {names}.",
    "sentinel better": "Significantly worse than the best sentinel: {names}.",
    "tests": "All {pairs:,} pairs of rows are tested at once, at 0.05.",
    "power": "Smallest difference at which these data show with 80 % power that {second} is worse"
    " than {first}: {value} (this pair alone, at 0.05, by simulation).",
    "observed": "Observed difference between {first} and {second}: {value}.",
}
#: The columns of :attr:`Evaluation.levels` after metric and basis.
LEVELS = "pearson pooled", "pearson source", "accuracy same-source", "pearson system"
#: What tells one evaluation from another.
KEY = ["dataset", "dimension", "statistic", "level"]


@dataclass(frozen=True)
class Evaluation:
    """A data set, one dimension of human judgement, and all metrics, in the order of ``frame``."""

    dataset: str
    dimension: str
    against: str  # what people gave, in words: ratings or labels
    items: int
    sources: int
    systems: int  # 0 where none is named
    analysis: Analysis
    frame: pd.DataFrame  # see :func:`evaluate`: metrics, best first, then sentinels and oracles
    human: People  # the human ceiling
    pairs: pd.DataFrame  # see :func:`pairs`
    order: np.ndarray  # where each row of ``frame`` stands in the pairs
    apart: bool  # whether the human ceiling is over fewer rewrites than the values
    drawn: Resample  # estimates [M], values in every resample [M, D], and the jackknife
    p: np.ndarray  # [M, M], of the difference of every two rows, corrected for all pairs
    tested: bool = True  # without tests there is no summary
    remarks: tuple[str, ...] = ()  # what the table leaves out, with counts

    @property
    def label(self) -> str:
        """The statistic as shown."""
        return self.analysis.setting.function.label

    @property
    def key(self) -> dict[str, Any]:
        """What tells it from another one."""
        return self.frame[KEY].iloc[0].to_dict()

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """Rows of the metrics that can be compared, best first, and of the best sentinel."""
        kind = self.frame["kind"].where(self.frame["rank"].notna())
        metrics, sentinels = (np.flatnonzero(kind == name).tolist() for name in (METRIC, SENTINEL))
        # by the value shown: that of random may be a mean of seeds, and its place that of one
        return metrics, sorted(sentinels, key=lambda at: -self.frame["value"][at])[:1]

    @property
    def comparisons(self) -> int:
        """How many pairs of rows are tested at once."""
        return math.comb(self.frame["rank"].count(), 2)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """Every row at other levels, values alone; system is of three systems or more."""
        table = self.frame[["metric", "basis"]].copy()
        for name in LEVELS[: 3 + (self.systems > 2)]:
            values = correlate(self.pairs, *name.split())["value"]
            table[name] = values.to_numpy()[self.order]
        return table.dropna(axis=1, how="all")

    @cached_property
    def differences(self) -> pd.DataFrame:
        """Each metric against those below it and against the best sentinel, a row a pair.

        Columns dataset, dimension, statistic, level, a, a_basis, b, b_basis, difference (a minus
        b; NaN where either has no value), low, high (95 % bootstrap interval), p (two-sided, of the
        same resamples, this pair alone), p_adjusted (max-t over all pairs of rows, see
        :func:`tstmeta.stats.simultaneous_p`), note (whether the two are over other rewrites;
        reasons for doubt).
        """
        metrics, sentinels = self.places
        compared = [*metrics, *sentinels]
        table = differences(self.analysis.matrices, self.drawn, self.p, compared)
        return table.assign(**self.key)[[*KEY, *table]]

    @cached_property
    def summary(self) -> list[str]:
        """Sentences about the best metrics, the best sentinel, and the power of the data.

        Of a list without metrics nothing is written.
        """
        return [
            SENTENCES[statement.kind].format(
                against=self.against,
                dimension=self.dimension,
                label=_label(self, statement.rows),
                names=_names(self, statement.rows),
                first=_names(self, statement.rows[:1]),
                second=_names(self, statement.rows[1:]),
                pairs=self.comparisons,
                value="none" if math.isinf(statement.value) else number(statement.value),
                chance=chance(self)[1],
                level=self.analysis.setting.level,
            )
            for statement in (statements(self) if self.tested else ())
            if statement.rows or statement.kind in ("none", "no pairs")
        ]

    def plot(self) -> Figure:
        """A forest plot: values with intervals, the human ceiling, ranks that each could have."""
        return draw([self])

    def to_latex(self) -> str:
        """The table for LaTeX (``booktabs``)."""
        return rendered([self], TableFormat.latex)


class Statement(NamedTuple):
    """Something that holds of metrics: ``kind`` is a key of :data:`SENTENCES`."""

    kind: str
    rows: list[int]  # of the frame
    value: float = math.nan


def chance(result: Evaluation) -> tuple[float, str]:
    """The value of a metric that knows nothing, in words too; that of a sentinel where none is."""
    value, name, frame = result.analysis.setting.function.chance, "chance", result.frame
    random = np.flatnonzero(frame["metric"].str.startswith("random")).tolist()
    for place in (random or result.places[1])[: math.isnan(value)]:
        value, name = frame["value"][place], f"the sentinel {frame['metric'][place]}"
    return value, f"{name} ({number(value)})"


def statements(result: Evaluation) -> Iterator[Statement]:
    """Which metrics lead, how they compare with the best sentinel, and the power of the data."""
    (metrics, sentinels), frame = result.places, result.frame
    if not metrics:
        paired = result.analysis.setting.level not in ("source", "same-source")
        yield Statement("none" if paired or separated(result.pairs) else "no pairs", [])
        return
    differ, value = result.p <= ALPHA, frame["value"]
    worse = {
        sentinel: [at for at in metrics if differ[at, sentinel] and value[at] < value[sentinel]]
        for sentinel in sentinels
    }
    if metrics in worse.values():
        yield Statement("unfit", metrics)
    best = [place for place in metrics if frame["rank"][place] == frame["rank"][metrics[0]]]
    others, least = metrics[len(best) :], chance(result)[0]
    below = [place for place in others if differ[best, place].all()]
    not_above = (frame["low"] <= least) | (value <= least)
    doubt = "nothing" if not_above[metrics].all() else "chance"
    yield Statement(doubt if not_above[best].all() else "best", best)
    yield Statement("undecided", [place for place in others if place not in below])
    yield Statement("worse", below)
    for sentinel, below in worse.items():
        apart = [place for place in metrics if differ[place, sentinel]]
        yield Statement("sentinel", [sentinel])
        yield Statement("sentinel worse", [place for place in apart if place not in below])
        yield Statement("sentinel undecided", [place for place in metrics if place not in apart])
        yield Statement("sentinel better", below)
    yield Statement("tests", metrics)
    gaps = value[metrics[0]] - value
    for place in [place for place in metrics if gaps[place] > 1e-12][:1]:  # the pair that leads
        least = detectable(result.analysis, metrics[0], place)
        if not math.isnan(least):
            yield Statement("power", [metrics[0], place], least)
            yield Statement("observed", [metrics[0], place], gaps[place])


def _label(result: Evaluation, rows: list[int]) -> str:
    """Rows of one value, with it, and how many rewrites it is over where these are not all."""
    if len(rows) != 1:
        values = result.frame["value"][rows[:1]].map(number)
        return f"{_names(result, rows)} ({result.label} {''.join(values)} each)"
    text = with_limits(*result.frame.loc[rows[0], ["value", "low", "high"]])
    human, scores = result.analysis.matrices.human, result.analysis.matrices.metrics[rows[0]]
    n = int(np.isfinite(human + scores).sum())
    over = f", over {n:,} of {result.items:,} rewrites" * (0 < n < result.items)
    return f"{_names(result, rows)} ({result.label} {text}{over})"


def _names(result: Evaluation, rows: list[int]) -> str:
    """Rows by name, as a list in a sentence; a long one ends with a count."""
    shown = [name_of(*result.frame.loc[place, ["metric", "basis"]]) for place in rows]
    if len(shown) > _LISTED:
        shown[_LISTED - 1 :] = [f"{len(shown) - _LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
