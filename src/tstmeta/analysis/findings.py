"""What an evaluation shows: findings, and a sentence for each.

A sentence says no more than its test: without a significant difference, metrics are not equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .comparison import ALPHA, detectable
from .render import name_of, number, with_limits

if TYPE_CHECKING:
    from .evaluation import Evaluation

#: Names of a list before the rest is counted.
_LISTED = 6
#: The sentence of each kind of finding.
SENTENCES = {
    "none": "No metric has a value for {dimension} that could be compared.",
    "unfit": "No metric can be recommended: the best sentinel is significantly better than all.",
    "best": "Best agreement with the {against} of {dimension}: {label}.",
    "chance": "Best agreement with the {against} of {dimension}, with an interval that does not lie"
    " above chance ({value}): {label}.",
    "undecided": "Not significantly different from the best: {names}.",
    "worse": "Significantly worse than the best: {names}.",
    "sentinel": "Best sentinel: {label}.",
    "sentinel worse": "Significantly better than the best sentinel: {names}.",
    "sentinel undecided": "Not significantly different from the best sentinel: {names}.",
    "sentinel better": "Significantly worse than the best sentinel: {names}.",
    "tests": "All {pairs:,} pairs of rows are tested at once, at 0.05.",
    "power": "Smallest difference between {names} that these data show with 80 % power: {value}"
    " (this pair alone, at 0.05, by simulation).",
    "observed": "Observed difference between {names}: {value}.",
}


class Statement(NamedTuple):
    """Something that holds of metrics: ``kind`` is a key of :data:`SENTENCES`."""

    kind: str
    rows: list[int]  # of the frame
    value: float = math.nan


def findings(result: Evaluation) -> Iterator[Statement]:
    """Which metrics lead, how they compare with the best sentinel, and the power of the data."""
    (metrics, sentinels), frame = result.places, result.frame
    if not metrics:
        yield Statement("none", [])
        return
    differ, value = result.p <= ALPHA, frame["value"]
    worse = {
        sentinel: [at for at in metrics if differ[at, sentinel] and value[at] < value[sentinel]]
        for sentinel in sentinels
    }
    if metrics in worse.values():
        yield Statement("unfit", metrics)
    best = [place for place in metrics if frame["rank"][place] == frame["rank"][metrics[0]]]
    others, chance = metrics[len(best) :], result.analysis.setting.function.chance
    below = [place for place in others if differ[best, place].all()]
    yield Statement("chance" if (frame["low"][best] <= chance).all() else "best", best, chance)
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


def sentences(result: Evaluation) -> list[str]:
    """The findings in words; of a list without metrics nothing is written."""
    return [
        SENTENCES[statement.kind].format(
            against=result.against,
            dimension=result.dimension,
            label=_label(result, statement.rows),
            names=_names(result, statement.rows),
            pairs=result.comparisons,
            value="none" if math.isinf(statement.value) else number(statement.value),
        )
        for statement in findings(result)
        if statement.rows or statement.kind == "none"
    ]


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
