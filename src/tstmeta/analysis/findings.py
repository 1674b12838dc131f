"""What an evaluation shows, and sentences that say no more than their tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

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
_MOST = 6
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
        return list(sentences(self)) if self.tested else []

    def plot(self) -> Figure:
        """A forest plot: values with intervals, the human ceiling, ranks that each could have."""
        return draw([self])

    def to_latex(self) -> str:
        """The table for LaTeX (``booktabs``)."""
        return rendered([self], TableFormat.latex)


def chance(result: Evaluation) -> tuple[float, str]:
    """The value of a metric that knows nothing, in words too; that of a sentinel where none is."""
    value, name, frame = result.analysis.setting.function.chance, "chance", result.frame
    random = np.flatnonzero(frame["metric"].str.startswith("random")).tolist()
    for place in (random or result.places[1])[: math.isnan(value)]:
        value, name = frame["value"][place], f"the sentinel {frame['metric'][place]}"
    return value, f"{name} ({number(value)})"


def sentences(result: Evaluation) -> Iterator[str]:
    """Which metrics lead, how they compare with the best sentinel, and the power of the data."""
    (metrics, sentinels), frame = result.places, result.frame
    dimension, level = result.dimension, result.analysis.setting.level
    if not metrics and level in ("source", "same-source") and not separated(result.pairs):
        yield (
            f"No source has two rewrites that people rate differently in {dimension}, so nothing"
            f" can be compared at level {level}: use level pooled, or rate more rewrites of a"
            " source."
        )
        return
    if not metrics:
        yield f"No metric has a value for {dimension} that could be compared."
        return
    differ, value = result.p <= ALPHA, frame["value"]
    worse = {
        sentinel: [at for at in metrics if differ[at, sentinel] and value[at] < value[sentinel]]
        for sentinel in sentinels
    }
    if metrics in worse.values():
        yield "No metric can be recommended: the best sentinel is significantly better than all."
    best = [place for place in metrics if frame["rank"][place] == frame["rank"][metrics[0]]]
    others, (least, guess) = metrics[len(best) :], chance(result)
    not_above = (frame["low"] <= least) | (value <= least)
    people = f"the {result.against} of {dimension}"
    start = f"Best agreement with {people}"
    if not_above[metrics].all():
        start = f"No metric agrees with {people} better than {guess}, by its interval; nearest"
    elif not_above[best].all():
        start += f", with an interval that does not lie above {guess}"
    yield f"{start}: {_label(result, best)}."
    below = [place for place in others if differ[best, place].all()]
    undecided = [place for place in others if place not in below]
    yield from _listed(result, "Not significantly different from the best", undecided)
    yield from _listed(result, "Significantly worse than the best", below)
    for sentinel, below in worse.items():
        apart = [place for place in metrics if differ[place, sentinel]]
        above = [place for place in apart if place not in below]
        undecided = [place for place in metrics if place not in apart]
        yield f"Best sentinel: {_label(result, [sentinel])}."
        yield from _listed(result, "Significantly better than the best sentinel", above)
        yield from _listed(result, "Not significantly different from the best sentinel", undecided)
        yield from _listed(result, "Significantly worse than the best sentinel", below)
    yield f"All {result.comparisons:,} pairs of rows are tested at once, at 0.05."
    yield from _power(result, metrics)


def _listed(result: Evaluation, start: str, rows: list[int]) -> Iterator[str]:
    """A sentence that names rows, where there are any."""
    if rows:
        yield f"{start}: {_names(result, rows)}."


def _power(result: Evaluation, metrics: list[int]) -> Iterator[str]:
    """The detectable and the observed difference of the pair that leads."""
    gaps = result.frame["value"][metrics[0]] - result.frame["value"]
    for place in [place for place in metrics if gaps[place] > 1e-12][:1]:
        least = detectable(result.analysis, metrics[0], place)
        first, second = (_names(result, [row]) for row in (metrics[0], place))
        if not math.isnan(least):
            yield (
                f"Smallest difference at which these data show with 80 % power that {second} is"
                f" worse than {first}: {number(least) if least < math.inf else 'none'} (this pair"
                " alone, at 0.05, by simulation)."
            )
            yield f"Observed difference between {first} and {second}: {number(gaps[place])}."


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
    if len(shown) > _MOST:
        shown[_MOST - 1 :] = [f"{len(shown) - _MOST + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
