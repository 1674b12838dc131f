"""Choices inside a method, each held against the usual one in the same draws of sources.

Paired so, a difference can be told from chance even where both values are uncertain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .. import stats
from ..data import Dataset
from ..stats.intervals import Interval, difference, of_resample, resample
from ..stats.matrices import Level
from . import asked, html
from .figures import BLUE, GREY, Picture, _panels, _styled
from .layout import CLUSTERS, TASKS, Layout
from .matrices import Matrices
from .tables import truth

_NOTHING = Markdown("*Nothing to compare: no choice has a value on the data that is here.*")


class Compared(NamedTuple):
    """Choices on one data set, under the same draws.

    Attributes:
        data, n, against, label: what was held against what, by which statistic.
        names: of the choices.
        estimates, spans: value and interval of each.
        usual: for each choice the row that it is held against (a row of its own: itself).
        gaps: value minus that of the usual choice, with its interval.
    """

    data: str
    n: int
    against: str
    label: str
    names: list[str]
    estimates: list[float]
    spans: list[Interval]
    usual: list[int]
    gaps: list[tuple[float, Interval]]

    def others(self) -> list[int]:
        """Rows that are held against another row, and have a value."""
        found = [i for i, row in enumerate(self.usual) if row != i]
        return [i for i in found if math.isfinite(self.gaps[i][0])]

    def told(self, i: int) -> bool:
        """Whether a difference can be told from zero."""
        low, high = self.gaps[i][1].low, self.gaps[i][1].high
        return low > 0 or high < 0


class Asked(NamedTuple):
    """What is computed: statistic, level, draws, seed."""

    statistic: str = "pearson"
    level: Level = "pooled"
    draws: int = 500
    seed: int = 0


def compare(
    data: Dataset, vectors: Mapping[str, np.ndarray], usual: Mapping[str, str], how: Asked
) -> Compared:
    """Hold vectors of scores [items] against content, and each against its usual choice.

    Raises:
        TstmetaError: a statistic, level or plan that these data do not have.
    """
    statistic, level, draws, seed = how
    asked.choice(data, "content", statistic, level, tuple(stats.STATISTICS))
    layout = Layout.of(data, level)
    human, against = truth(data, "content")
    names = list(vectors)
    made = Matrices(
        layout.matrix(human),
        layout.matrix(np.array([vectors[name] for name in names], dtype=float)),
        [(name, "source") for name in names],
        names,
        layout,
        layout.labels(data, TASKS),
        layout.labels(data, CLUSTERS),
        against,
    )
    asked.resampling(made, level, "sources", False, draws, 0.95, seed)
    setting = made.setting(statistic, level)
    rng = np.random.default_rng(seed)
    drawn = resample(made.human, made.metrics, setting, made.plan("sources", draws), rng)
    rows = [names.index(usual[name]) for name in names]
    gaps = [
        (float(drawn.estimates[i] - drawn.estimates[row]), difference(drawn, i, row))
        for i, row in enumerate(rows)
    ]
    n = int((np.isfinite(human) & np.isfinite(vectors[names[0]])).sum())
    values = [float(value) for value in drawn.estimates]
    label = setting.function.label
    return Compared(data.name, n, against, label, names, values, of_resample(drawn), rows, gaps)


def table(found: Sequence[Compared]) -> html.Html | Markdown:
    """A table a data set: value, interval, and the difference from the usual choice."""
    parts = []
    for one in found:
        rows = []
        for i, name in enumerate(one.names):
            gap, span = one.gaps[i]
            usual = one.usual[i] == i
            rows.append(
                {
                    "choice": name,
                    one.label: html.signed(one.estimates[i], 3),
                    "95% interval": _limits(one.spans[i]),
                    "difference": "usual" if usual else html.signed(gap, 3),
                    "its 95% interval": "" if usual else _limits(span),
                }
            )
        caption = f"{one.data}: against content ({one.against}), n = {one.n:,}; sources drawn"
        parts.append(html.table(pd.DataFrame(rows), caption=caption).text)
    return html.Html("".join(parts)) if parts else _NOTHING


def _wide(found: Interval) -> str:
    width = found.high - found.low
    return f"{width:.3f} wide" if math.isfinite(width) else "not known"


def _limits(found: Interval) -> str:
    if not math.isfinite(found.low):
        return "–"
    return f"{html.signed(found.low, 3)} to {html.signed(found.high, 3)}"


def figure(found: Sequence[Compared]) -> Picture | Markdown:
    """Differences from the usual choice with their intervals, one panel a data set."""
    shown = [one for one in found if one.others()]
    return Picture(gaps(shown)) if shown else _NOTHING


@_styled
def gaps(found: Sequence[Compared]) -> Figure:
    """Filled points lie where the interval is off zero, open ones where it is not."""
    most = max(len(one.others()) for one in found)
    # one scale for all, so that a difference looks as large as it is
    # one panel alone is as wide as two, or its letters would be twice as large on the page
    width = 7.4 if len(found) == 1 else 3.7
    drawn, axes = _panels(len(found), width, 1.0 + 0.25 * most, most=2, sharex=True)
    for axis, one in zip(axes, found, strict=True):
        rows = one.others()
        axis.axvline(0, color="#222222", lw=0.9)
        for place, i in enumerate(rows):
            value, span = one.gaps[i]
            colour = BLUE if one.told(i) else GREY
            axis.hlines(place, span.low, span.high, color=colour, lw=1.6, alpha=0.8)
            axis.plot(value, place, "o", color=colour, mfc=colour if one.told(i) else "white", ms=5)
        axis.set_yticks(range(len(rows)), [one.names[i] for i in rows], fontsize=8.5)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_title(f"{one.data}\nn = {one.n:,}", fontsize=9)
        axis.grid(visible=False, axis="y")
        axis.xaxis.set_major_locator(MaxNLocator(5))
        axis.tick_params(axis="x", labelbottom=True, labelsize=8)
    drawn.supxlabel(
        f"difference in {found[0].label} with content; intervals 95\u00a0%, sources drawn;"
        " filled: off zero",
        fontsize=8.5,
    )
    return drawn


def said(found: Sequence[Compared]) -> Markdown:
    """What the choices do, beside what the draw of the sources does."""
    lines, told, largest = [], 0, (0.0, "")
    total = 0
    for one in found:
        others = one.others()
        if not others:
            continue
        finite = [value for value in one.estimates if math.isfinite(value)]
        first = one.spans[one.usual[others[0]]]
        off = [i for i in others if one.told(i)]
        lines.append(
            f"- `{one.data}`: from {html.signed(min(finite), 3)} to {html.signed(max(finite), 3)},"
            f" a span of {max(finite) - min(finite):.3f}; the interval of the usual choice alone is"
            f" {_wide(first)}. {len(off)} of {len(others)} differences are off zero."
        )
        told, total = told + len(off), total + len(others)
        for i in others:
            if abs(one.gaps[i][0]) > abs(largest[0]):
                largest = one.gaps[i][0], f"`{one.names[i]}` on `{one.data}`"
    if not total:
        return _NOTHING
    end = f"In all, {told} of {total} differences can be told from zero"
    if largest[1]:
        end += f"; the largest is {html.signed(largest[0], 3)} ({largest[1]})"
    return Markdown("\n".join([*lines, "", f"{end}."]))


def short(found: Mapping[str, Sequence[Compared]]) -> Markdown:
    """A line for each kind of choice: how many differences can be told from zero, the largest."""
    lines = []
    for kind, each in found.items():
        gaps = [(one.gaps[i][0], one, i) for one in each for i in one.others()]
        if not gaps:
            continue
        gap, one, i = max(gaps, key=lambda row: abs(row[0]))
        told = sum(one.told(i) for _, one, i in gaps)
        lines.append(
            f"- {kind}: {told} of {len(gaps)} differences can be told from zero; the largest is"
            f" {html.signed(gap, 3)} (`{one.names[i]}` on `{one.data}`)."
        )
    return Markdown("\n".join(lines)) if lines else _NOTHING


def of(found: Sequence[Compared], name: str) -> Markdown:
    """What one choice changes, data set by data set, with its interval."""
    lines = [
        f"- `{one.data}`: {html.signed(one.gaps[i][0], 3)} ({_limits(one.gaps[i][1])})"
        for one in found
        for i in one.others()
        if one.names[i].rpartition(", ")[2] == name
    ]
    return Markdown("\n".join(lines)) if lines else _NOTHING
