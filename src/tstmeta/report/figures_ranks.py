"""Who agrees most with people, and how sure that is: forests, rank sets, ranks across data sets."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .analysis import Analysis
from .asked import METRIC
from .figures import BLUE, GREEN, GREY, ORANGE, _panels, _styled
from .layout import OF_SYSTEMS

#: Highlighted lines of a bump chart: colours that colour-blind readers can tell apart, each with a
#: marker and a stroke of its own, and darker for its name.
_LINES = (
    (BLUE, "o", "-", BLUE),
    (ORANGE, "s", "-", "#B04E00"),
    (GREEN, "^", "-", "#00714F"),
    ("#CC79A7", "v", "--", "#9C4A78"),
    ("#B8860B", "P", "--", "#856108"),
    ("#222222", "X", "--", "#222222"),
    ("#56B4E9", "D", "-.", "#1C6E9E"),
)
_PALE, _TEXT = "#BDBDBD", "#4D4D4D"


def names(rows: pd.DataFrame) -> list[str]:
    """Metrics as shown: R- before those on references, an arrow where less is better."""
    prefix = rows["basis"].map({"reference": "R-"}).fillna("")
    arrow = rows["better"].map({"lower": " ↓"}).fillna("")
    return list(prefix + rows["metric"] + arrow)


def _valued(found: Analysis) -> pd.DataFrame:
    return found.rows[found.rows["value"].notna()].reset_index(drop=True)


def _rule(axis: Axes, rows: pd.DataFrame) -> None:
    """A line between metrics and sentinels."""
    metrics = int((rows["kind"] == METRIC).sum())
    if 0 < metrics < len(rows):
        axis.axhline(metrics - 0.5, color="#222222", lw=1)


def _about(found: Analysis) -> str:
    counts = f"{found.items:,} rewrites, {found.sources:,} sources"
    if found.setting.level in OF_SYSTEMS:
        counts += f", {found.systems} systems"
    return f"{found.dataset}\n{counts}"


def _below(figure: Figure, found: Analysis, what: str, width: float) -> None:
    """A line below all panels: the statistic, the level, and what bars are."""
    setting = f"{found.label} with {found.dimension}, level {found.setting.level}"
    text = f"{setting}; {what}: {100 * found.confidence:g}\u00a0%, {found.estimand}"
    lines = textwrap.wrap(text, width=int(15 * width))
    figure.supxlabel("\n".join(lines), fontsize=8.5, color=_TEXT)


def _grid(analyses: Sequence[Analysis], width: float = 3.7) -> tuple[Figure, list[Axes]]:
    """A panel for each analysis, two in a row, as high as the longest needs."""
    most = max(len(_valued(one)) for one in analyses)
    return _panels(len(analyses), width, 1.3 + 0.22 * most, most=2)


def _rows_of(axis: Axes, found: Analysis, rows: pd.DataFrame) -> None:
    """One line of the panel for each row, the first on top."""
    axis.set_yticks(np.arange(len(rows)), names(rows), fontsize=8)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.set_title(_about(found), fontsize=9)


@_styled
def forest(analyses: Sequence[Analysis]) -> Figure:
    """Values with intervals, one panel a data set; sentinels below the line.

    The orange line is the human ceiling, a held-out rater against the others, its band goes from
    the lowest rater to the highest; where single ratings are known.  An orange tick is the metric
    in that rater's place, which is what the line may be held against.
    """
    figure, axes = _grid(analyses)
    for axis, one in zip(axes, analyses, strict=True):
        rows = _valued(one)
        place = np.arange(len(rows))
        metric = (rows["kind"] == METRIC).to_numpy()
        axis.axvline(one.setting.function.chance, color=GREY, lw=0.8)
        if np.isfinite(one.human.value):
            axis.axvspan(one.human.low, one.human.high, color=ORANGE, alpha=0.15, lw=0, zorder=0)
            axis.axvline(one.human.value, color=ORANGE, lw=1.6, zorder=1)
            axis.scatter(
                rows["as_rater"].astype(float), place, s=45, c=ORANGE, marker="|", lw=1.3, zorder=3
            )
        for some, colour, marker in ((metric, BLUE, "o"), (~metric, GREY, "D")):
            axis.hlines(
                place[some], rows["low"][some], rows["high"][some], color=colour, lw=1.6, alpha=0.7
            )
            axis.plot(rows["value"][some], place[some], marker, color=colour, ms=4.5, zorder=4)
        axis.grid(visible=False, axis="y")
        _rows_of(axis, one, rows)
        _rule(axis, rows)
    handles = [
        Line2D([], [], color=BLUE, marker="o", label="metric"),
        Line2D([], [], color=GREY, marker="D", label="sentinel or oracle"),
    ]
    if any(np.isfinite(one.human.value) for one in analyses):
        handles += [
            Line2D([], [], color=ORANGE, lw=2, label="held-out rater"),
            Line2D([], [], color=ORANGE, lw=0, marker="|", ms=8, label="in the rater's place"),
        ]
    _legend(figure, handles, len(analyses))
    _below(figure, analyses[0], "intervals", 3.7 * min(2, len(analyses)))
    return figure


def _legend(figure: Figure, handles: list[Line2D], panels: int) -> None:
    """Above all panels; over a single one there is room for two words beside each other."""
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=len(handles) if panels > 1 else 2,
        fontsize=8.5,
        handletextpad=0.4,
        columnspacing=1.2,
    )


@_styled
def rank_sets(analyses: Sequence[Analysis]) -> Figure:
    """The ranks that each metric could have, all at once; the point is the rank it has.

    Points are filled and open in turn, and a dotted line is drawn, where a significance cluster
    ends.
    """
    figure, axes = _grid(analyses)
    clustered = False
    for axis, one in zip(axes, analyses, strict=True):
        rows = _valued(one).dropna(subset="rank").sort_values("rank", kind="stable")
        rows = rows.reset_index(drop=True)
        place = np.arange(len(rows))
        low, high = rows["rank_low"].astype(float), rows["rank_high"].astype(float)
        metric = (rows["kind"] == METRIC).to_numpy()
        colour = np.where(metric, BLUE, GREY)
        # half a rank on either side, so that a single rank is a bar too
        axis.hlines(place, low - 0.4, high + 0.4, color=colour, lw=5, alpha=0.3)
        cluster = rows["cluster"].fillna(1).astype(int)
        for i in place:
            face = colour[i] if cluster[i] % 2 else "white"
            marker = "o" if metric[i] else "D"
            axis.plot(
                float(rows["rank"][i]),
                i,
                marker,
                mfc=face,
                mec=colour[i],
                mew=1.3,
                ms=5 + metric[i],
            )
        ends = np.flatnonzero(np.diff(cluster)) + 0.5
        clustered |= len(ends) > 0
        for end in ends:
            axis.axhline(end, color="#222222", lw=0.9, linestyle=":")
        axis.set_xlim(0.2, len(rows) + 0.8)
        axis.set_xlabel("rank", fontsize=8.5)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        _rows_of(axis, one, rows)
    handles = [
        Line2D([], [], color=BLUE, marker="o", lw=0, label="rank"),
        Line2D([], [], color=GREY, marker="D", lw=0, label="of a sentinel or oracle"),
        Line2D([], [], color=BLUE, lw=5, alpha=0.3, label="ranks it could have"),
    ]
    if clustered:
        handles.append(Line2D([], [], color="#222222", lw=0.9, linestyle=":", label="cluster ends"))
    _legend(figure, handles, len(analyses))
    _below(figure, analyses[0], "sets of ranks", 3.7 * min(2, len(analyses)))
    return figure


@_styled
def bump(analyses: Sequence[Analysis], highlight: int = len(_LINES)) -> Figure:
    """Ranks across data sets: who wins where.  Only metrics that all data sets have a value for.

    Ranks are among those shown, sentinels among them (dotted); metrics of equal value stand side by
    side in the order of the first data set.  The lines that cross most others stand out.
    """
    ranks, sentinel = _shared(analyses)
    chosen = _busiest(ranks[~sentinel], min(highlight, len(_LINES)))
    longest = max((len(name) for name in ranks.index), default=0)
    size = (0.8 + 1.35 * len(analyses) + 0.15 * longest, 1.2 + 0.25 * len(ranks))
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    x = np.arange(len(analyses))
    # pale lines first, so that the others lie on them
    for name in sorted(ranks.index, key=lambda one: (one in chosen, one)):
        y = ranks.loc[name].to_numpy(float)
        colour, marker, stroke, width, ink = _PALE, "o", "-", 1.4, _TEXT
        if sentinel[name]:
            colour, marker, stroke, ink = GREY, "D", ":", GREY
        if name in chosen:
            colour, marker, stroke, ink = _LINES[chosen.index(name)]
            width = 2.4
        axis.plot(x, y, stroke, color=colour, marker=marker, ms=6, lw=width)
        for at, shift, side in ((0, -10, "right"), (-1, 10, "left")):
            axis.annotate(
                name,
                (x[at], y[at]),
                (shift, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=8,
                color=ink,
                fontweight="bold" if name in chosen else "normal",
            )
    labels = [one.dataset.replace("@", "\n@").replace(" (", "\n(") for one in analyses]
    axis.set_xticks(
        x, [f"{name}\nn = {one.items:,}" for name, one in zip(labels, analyses, strict=True)]
    )
    axis.set_xlim(x[0] - 0.05, x[-1] + 0.05)
    axis.set_ylim(len(ranks) + 0.5, 0.5)
    axis.set_yticks([])
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.grid(visible=False, axis="y")
    axis.tick_params(length=0, labelsize=8.5)
    first = analyses[0]
    title = f"Ranks by {first.label} with {first.dimension}, level {first.setting.level}"
    figure.suptitle(f"{title}, best on top", fontsize=10, fontweight="bold")
    about = "bold: the lines that cross most others; dotted: sentinels and oracles"
    figure.supxlabel(about, fontsize=8.5, color=_TEXT)
    return figure


def _shared(analyses: Sequence[Analysis]) -> tuple[pd.DataFrame, pd.Series]:
    """Ranks of the metrics that all have a value for, a column a data set; which are sentinels."""
    tables: list[pd.Series] = []
    kinds: dict[str, str] = {}
    for one in analyses:
        rows = _valued(one)
        tables.append(pd.Series(rows["value"].to_numpy(float), index=names(rows)))
        kinds |= dict(zip(names(rows), rows["kind"], strict=True))
    grid = pd.concat(tables, axis=1, join="inner", keys=range(len(tables)))
    # equal but for rounding is equal, and then goes by the first data set
    grid = grid.round(12).sort_values(0, ascending=False, kind="stable")
    ranks = grid.rank(ascending=False, method="first").astype(int)
    return ranks, pd.Series({name: kinds[name] != METRIC for name in ranks.index}, dtype=bool)


def _busiest(ranks: pd.DataFrame, most: int) -> list[str]:
    """The metrics whose lines cross most others, in the order of the first data set."""
    crossings = pd.Series(0, index=ranks.index)
    for left, right in zip(ranks.columns[:-1], ranks.columns[1:], strict=True):
        a, b = ranks[left].to_numpy(), ranks[right].to_numpy()
        crossed = np.sign(a[:, None] - a) * np.sign(b[:, None] - b) < 0
        crossings += crossed.sum(axis=1)
    busy = crossings[crossings > 0].sort_values(ascending=False, kind="stable").index[:most]
    return [name for name in ranks.index if name in set(busy)]
