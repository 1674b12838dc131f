"""Who agrees most with people, and how sure that is: forests, rank sets, ranks across data sets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .analysis import Analysis
from .figures import BLUE, GREEN, GREY, ORANGE, _panels, _styled

#: Lines of a bump chart: colours that colour-blind readers can tell apart, then the same dashed.
_LINES = (BLUE, ORANGE, GREEN, "#CC79A7", "#B8860B", "#56B4E9", "#222222")


def names(rows: pd.DataFrame) -> list[str]:
    """Metrics as shown: R- before those on references, an arrow where less is better."""
    prefix = rows["basis"].map({"reference": "R-"}).fillna("")
    arrow = rows["better"].map({"lower": " ↓"}).fillna("")
    return list(prefix + rows["metric"] + arrow)


def _valued(found: Analysis) -> pd.DataFrame:
    return found.rows[found.rows["value"].notna()].reset_index(drop=True)


def _rule(axis: Axes, rows: pd.DataFrame) -> None:
    """A line between metrics and sentinels."""
    metrics = int((rows["kind"] == "metric").sum())
    if 0 < metrics < len(rows):
        axis.axhline(metrics - 0.5, color="#222222", lw=1)


def _about(found: Analysis) -> str:
    n = f"{found.items:,} rewrites"
    return f"{found.dataset}\n{n}, {found.sources:,} sources"


@_styled
def forest(analyses: Sequence[Analysis]) -> Figure:
    """Values with intervals, one panel a data set; sentinels below the line.

    The orange band is the human ceiling, a held-out rater against the others, where single ratings
    are known.
    """
    most = max(len(_valued(one)) for one in analyses)
    figure, axes = _panels(len(analyses), 3.7, 1.2 + 0.22 * most, most=2)
    ceiling = False
    for axis, one in zip(axes, analyses, strict=True):
        rows = _valued(one)
        place = np.arange(len(rows))
        metric = (rows["kind"] == "metric").to_numpy()
        axis.axvline(one.setting.function.chance, color=GREY, lw=0.8)
        if np.isfinite(one.human.value):
            ceiling = True
            axis.axvspan(one.human.low, one.human.high, color=ORANGE, alpha=0.18, lw=0)
            axis.axvline(one.human.value, color=ORANGE, lw=1.6)
        for some, colour, marker in ((metric, BLUE, "o"), (~metric, GREY, "D")):
            axis.hlines(
                place[some], rows["low"][some], rows["high"][some], color=colour, lw=1.6, alpha=0.7
            )
            axis.plot(rows["value"][some], place[some], marker, color=colour, ms=4.5)
        axis.set_yticks(place, names(rows), fontsize=8)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.grid(visible=False, axis="y")
        axis.set_title(_about(one), fontsize=9)
        _rule(axis, rows)
    handles = [
        Line2D([], [], color=BLUE, marker="o", label="metric"),
        Line2D([], [], color=GREY, marker="D", label="sentinel or oracle"),
    ]
    if ceiling:
        handles.append(Line2D([], [], color=ORANGE, lw=2, label="held-out rater"))
    ncols = 3 if len(analyses) > 1 else 2  # three do not fit over a single panel
    figure.legend(handles=handles, loc="outside upper center", ncols=ncols)
    first = analyses[0]
    figure.supxlabel(
        f"{first.label} with {first.dimension}, {first.confidence:.0%} intervals", fontsize=9
    )
    return figure


@_styled
def rank_sets(analyses: Sequence[Analysis]) -> Figure:
    """The ranks that each metric could have, all at once; the point is the rank it has.

    Filled and open points change where a significance cluster ends.
    """
    most = max(len(_valued(one)) for one in analyses)
    figure, axes = _panels(len(analyses), 3.7, 1.2 + 0.22 * most, most=2)
    for axis, one in zip(axes, analyses, strict=True):
        rows = _valued(one).sort_values("rank", kind="stable").reset_index(drop=True)
        place = np.arange(len(rows))
        low, high = rows["rank_low"].astype(float), rows["rank_high"].astype(float)
        colour = np.where(rows["kind"] == "metric", BLUE, GREY)
        axis.hlines(place, low, high, color=colour, lw=5, alpha=0.3)
        cluster = rows["cluster"].fillna(0).astype(int)
        for i in place:
            face = colour[i] if cluster[i] % 2 else "white"
            axis.plot(float(rows["rank"][i]), i, "o", mfc=face, mec=colour[i], mew=1.3, ms=5.5)
        ends = np.flatnonzero(np.diff(cluster)) + 0.5
        for end in ends:
            axis.axhline(end, color="#222222", lw=0.9, linestyle=":")
        axis.set_yticks(place, names(rows), fontsize=8)
        axis.set_ylim(len(rows) - 0.4, -0.6)
        axis.set_xlim(0.4, len(rows) + 0.6)
        axis.set_xlabel("rank")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.set_title(_about(one), fontsize=9)
    return figure


@_styled
def bump(analyses: Sequence[Analysis]) -> Figure:
    """Ranks across data sets: who wins where.  Only metrics that all data sets have a value for.

    Ranks are among those shown, sentinels among them (dashed).
    """
    tables = []
    for one in analyses:
        rows = _valued(one)
        tables.append(pd.Series(rows["value"].to_numpy(), index=names(rows), name=one.dataset))
    grid = pd.concat(tables, axis=1, join="inner")
    kinds = dict(zip(names(analyses[0].rows), analyses[0].rows["kind"], strict=True))
    ranks = grid.rank(ascending=False, method="average")
    figure = Figure(
        figsize=(2.9 + 1.35 * len(analyses), 1.0 + 0.27 * len(ranks)), layout="constrained"
    )
    axis = figure.subplots()
    x = np.arange(len(analyses))
    order = ranks.iloc[:, 0].sort_values(kind="stable").index
    number = 0
    for name in order:
        sentinel = kinds.get(name, "metric") != "metric"
        colour = GREY if sentinel else _LINES[number % len(_LINES)]
        style = "--" if sentinel else "-" if number < len(_LINES) else "-."
        number += not sentinel
        axis.plot(x, ranks.loc[name], style, color=colour, marker="o", ms=6, lw=1.8)
        ends = ((x[0], -10, "right"), (x[-1], 10, "left"))
        for at, shift, side in ends:
            axis.annotate(
                name,
                (at, ranks.loc[name].iloc[int(at)]),
                (shift, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=8,
                color=colour,
            )
    axis.set_xticks(x, [one.dataset.replace("@", "\n@").replace(" (", "\n(") for one in analyses])
    axis.set_xlim(x[0] - 0.05, x[-1] + 0.05)
    axis.set_ylim(len(ranks) + 0.5, 0.5)
    axis.set_yticks([])
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.grid(visible=False, axis="y")
    axis.tick_params(length=0, labelsize=8.5)
    axis.set_title(f"Ranks by {analyses[0].label} with {analyses[0].dimension}, best on top")
    return figure
