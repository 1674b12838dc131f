"""An evaluation in words: who leads, who stays below the sentinels, what these data could show.

A sentence says no more than its test: two metrics that cannot be told apart are not called equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import comparison
from .frame import METRIC, SENTINEL

if TYPE_CHECKING:
    from .evaluation import Evaluation

#: Names of a list before the rest is counted.
_LISTED = 6


def number(value: float, digits: int = 3) -> str:
    """With so many decimals, or as many as a small one needs not to read 0; never -0."""
    if not math.isfinite(value):
        return "-"
    text = f"{value:z.{digits}f}"
    if float(text) or abs(value) < 1e-12:  # what is left of rounding is no difference
        return text if float(text) else "0"
    return np.format_float_positional(value, 1, fractional=False, trim="-")


def probability(p: float) -> str:
    """With three decimals, or that it is below them."""
    return "<0.001" if p < 0.001 else number(p)


def with_limits(value: float, low: float, high: float) -> str:
    """A value with its interval where it has one."""
    return number(value) + f" [{number(low)}, {number(high)}]" * math.isfinite(low)


def name_of(metric: str, basis: str) -> str:
    """A metric in a line of text: R- is reference-based."""
    return f"R-{metric}" if basis == "reference" else metric


def places(own: Evaluation) -> tuple[list[int], int | None]:
    """Rows of the metrics that can be compared, best first, and of the best sentinel."""
    ranked = own.frame["rank"].notna()
    metrics = np.flatnonzero(ranked & (own.frame["kind"] == METRIC)).tolist()
    sentinels = np.flatnonzero(ranked & (own.frame["kind"] == SENTINEL)).tolist()
    return metrics, next(iter(sentinels), None)  # they stand best first


def sentences(own: Evaluation) -> list[str]:
    """Which metric leads, which stay below the best sentinel, which difference could be shown."""
    metrics, sentinel = places(own)
    if not metrics:
        return [f"No metric has a value for {own.dimension} that could be compared."]
    first, *rest = metrics
    alike = [place for place in rest if not _differ(own, first, place)]
    lead = f"{_name(own, first)} agrees best with the {own.against} of {own.dimension}"
    lead += f" ({own.label} {_value(own, first)})"
    if alike:
        lead += f"; {_names(own, alike)} cannot be told from it"
    if others := [place for place in rest if place not in alike]:
        lead += f"; it is above {_names(own, others)}"
    rows = len(own.frame["rank"].dropna())
    lead += f" (at 0.05 for all {rows * (rows - 1) // 2:,} pairs of rows)." if rest else "."
    words = [lead, _of_sentinel(own, metrics, sentinel), _power(own, first, rest)]
    return [sentence for sentence in words if sentence]


def _of_sentinel(own: Evaluation, metrics: Sequence[int], sentinel: int | None) -> str:
    if sentinel is None:
        return ""
    value = own.frame["value"]
    alike = [place for place in metrics if not _differ(own, place, sentinel)]
    apart = [place for place in metrics if place not in alike]
    below = [place for place in apart if value[place] < value[sentinel]]
    parts = [f"{_names(own, below) or 'no metric'} {'are' if len(below) > 1 else 'is'} below it"]
    if alike:
        parts.append(f"{_names(own, alike)} cannot be told from it")
    parts.append(f"{len(apart) - len(below)} of {len(metrics)} metrics are above it")
    parts = parts if apart else ["no metric can be told from it"]
    best = f"{_name(own, sentinel)} ({_value(own, sentinel)})"
    return f"The best sentinel is {best}: {'; '.join(parts)}."


def _power(own: Evaluation, first: int, rest: Sequence[int]) -> str:
    """Of the pair that leads: the difference is a fact about a pair of metrics."""
    gap = own.frame["value"][first] - own.frame["value"]
    other = next((place for place in rest if gap[place] > 1e-12), None)
    if other is None:
        return ""
    least = comparison.detectable(own.analysis, first, other)
    pair = f"{_name(own, other)} is worse than {_name(own, first)}"
    if math.isnan(least):
        return ""
    if math.isinf(least):
        return f"No difference is so large that these data would show with 80 % power that {pair}."
    return (
        f"With 80 % power these data would show that {pair} if the difference were {number(least)}"
        f" (this pair alone at 0.05, by simulation); it is {number(gap[other])}."
    )


def _differ(own: Evaluation, first: int, second: int) -> bool:
    return bool(own.p[first, second] <= comparison.ALPHA)


def _value(own: Evaluation, place: int) -> str:
    return with_limits(*own.frame.loc[place, ["value", "low", "high"]])


def _name(own: Evaluation, place: int) -> str:
    return name_of(*own.frame.loc[place, ["metric", "basis"]])


def _names(own: Evaluation, some: Sequence[int]) -> str:
    names = [_name(own, place) for place in some]
    if len(names) > _LISTED:
        names[_LISTED - 1 :] = [f"{len(names) - _LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
