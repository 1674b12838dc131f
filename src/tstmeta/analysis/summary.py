"""An evaluation in words: who leads, who stays below the sentinels, what these data could show.

A sentence says no more than its test: two metrics that cannot be told apart are not called equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from . import comparison
from .evaluation import Evaluation

#: Names of a list before the rest is counted.
_LISTED = 6


def number(value: float) -> str:
    """With three decimals, or as many as a small one needs not to read 0; never -0."""
    if not math.isfinite(value):
        return "-"
    text = f"{value:z.3f}"
    if float(text) or abs(value) < 1e-9:  # what is left of rounding is no difference
        return text if float(text) else "0"
    return np.format_float_positional(value, 1, fractional=False, trim="-")


def with_limits(value: float, low: float, high: float) -> str:
    """A value with its interval where it has one."""
    return number(value) + f" [{number(low)}, {number(high)}]" * math.isfinite(low)


def name_of(metric: str, basis: str) -> str:
    """A metric in a line of text: R- is reference-based."""
    return f"R-{metric}" if basis == "reference" else metric


def leaders(own: Evaluation) -> tuple[list[int], list[int], list[int]]:
    """Metrics that lead with one value, those that cannot be told from them, those below."""
    metrics, rank, differ = own.places[0], own.frame["rank"], own.p <= comparison.ALPHA
    first = [place for place in metrics if rank[place] == rank[metrics[0]]]
    below = [place for place in metrics[len(first) :] if differ[first, place].all()]
    return first, [place for place in metrics[len(first) :] if place not in below], below


def sentences(own: Evaluation) -> list[str]:
    """Which metric leads, which stay below the best sentinel, which difference could be shown."""
    (metrics, sentinels), value = own.places, own.frame["value"]
    if not metrics:
        return [f"No metric has a value for {own.dimension} that could be compared."]
    first, alike, below = leaders(own)
    alone, differ = len(first) == 1, own.p <= comparison.ALPHA
    agree, it, are = ("agrees", "it", "it is") if alone else ("agree", "them", "they are")
    parts = [f"{_label(own, first)} {agree} best with the {own.against} of {own.dimension}"]
    chance = own.analysis.setting.function.chance
    if (own.frame["low"][first] <= chance).all():
        intervals = "its interval does" if alone else "their intervals do"
        parts += [f"{intervals} not lie above {chance:g}, which is chance"]
    parts += [f"{names(own, alike)} cannot be told from {it}"] * bool(alike)
    parts += [f"{are} above {names(own, below)}"] * bool(below)
    pairs = math.comb(own.frame["rank"].count(), 2)
    words = [f"{'; '.join(parts)} (at 0.05 for all {pairs:,} pairs of rows)."]
    for best in sentinels:
        alike = [place for place in metrics if not differ[place, best]]
        below = [place for place in metrics if differ[place, best] and value[place] < value[best]]
        above = len(metrics) - len(alike) - len(below)
        parts = [f"below it: {names(own, below) or 'no metric'}"]
        parts += [f"{names(own, alike)} cannot be told from it"] * bool(alike)
        parts += [f"above it: {above} of {len(metrics)} metrics"]
        words.append(f"The best sentinel is {_label(own, [best])}; {'; '.join(parts)}.")
    return words + _power(own, metrics)


def _power(own: Evaluation, metrics: Sequence[int]) -> list[str]:
    """Of the pair that leads: the difference is a fact about a pair of metrics."""
    gap = own.frame["value"][metrics[0]] - own.frame["value"]
    for other in [place for place in metrics if gap[place] > 1e-12][:1]:
        least = comparison.detectable(own.analysis, metrics[0], other)
        pair = f"{names(own, [other])} is worse than {names(own, metrics[:1])}"
        if math.isinf(least):
            return [f"These data would show at no difference, with 80 % power, that {pair}."]
        if math.isfinite(least):
            words = f"With 80 % power these data would show that {pair} if the difference were"
            words += f" {number(least)} (this pair alone at 0.05, by simulation)"
            return [f"{words}; it is {number(gap[other])}."]
    return []


def _label(own: Evaluation, some: Sequence[int]) -> str:
    """Rows of one value, with it, and how many rewrites it is over where these are not all."""
    if len(some) > 1:
        return f"{names(own, some)} ({own.label} {number(own.frame['value'][some[0]])} each)"
    value, sides = with_limits(*own.frame.loc[some[0], ["value", "low", "high"]]), own.analysis[0]
    n = int(np.isfinite(sides.human + sides.metrics[some[0]]).sum())
    over = f", over {n:,} of {own.items:,} rewrites" * (0 < n < own.items)
    return f"{names(own, some)} ({own.label} {value}{over})"


def names(own: Evaluation, some: Sequence[int]) -> str:
    """Rows by name, as a list in a sentence; after some the rest is counted."""
    shown = [name_of(*own.frame.loc[place, ["metric", "basis"]]) for place in some]
    if len(shown) > _LISTED:
        shown[_LISTED - 1 :] = [f"{len(shown) - _LISTED + 1} more"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
