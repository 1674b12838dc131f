"""A dozen figures: a frame in, matplotlib axes or a figure out; seaborn draws where it can.

Frames are those that ``tst.correlate``, ``tst.bootstrap``, ``tst.pairs`` and the like return.
Colours come from a palette that colour-blind readers can tell apart (Okabe and Ito), and shape or
position always says the same as colour.  At most two panels stand in a row, for phones.  Sentinels,
which know nothing of quality, stand below a line or are dashed.  Jitter comes from a seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import wraps
from html import escape
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .analysis.frame import METRIC, kind_of
from .data import Dataset
from .schema import TstmetaError

P = ParamSpec("P")
Drawn = TypeVar("Drawn")

BLUE, ORANGE, GREEN, GREY, INK = "#0072B2", "#D55E00", "#009E73", "#6B6B6B", "#222222"
#: Lines: a colour, a marker and a stroke each, so that none is told by its colour alone.
LINES = (
    (BLUE, "o", "-"),
    (ORANGE, "s", "-"),
    (GREEN, "^", "-"),
    ("#AA4A86", "v", "--"),
    ("#8A6500", "P", "--"),
    (INK, "X", "--"),
    ("#2B8CC4", "D", "-."),
)
#: Disagrees, nothing, agrees.
DIVERGING = LinearSegmentedColormap.from_list("orange to blue", [ORANGE, "#FFFFFF", BLUE])
DIMENSIONS = {"content": BLUE, "style": ORANGE, "fluency": GREEN, "overall": "#AA4A86"}
#: The four systems of the contrast set, as they are drawn.
CELLS = {
    "strong": "strong\nkept",
    "strong-error": "strong\nerror",
    "light": "light\nkept",
    "light-error": "light\nerror",
}
_STYLE: dict[Any, Any] = {
    "figure.dpi": 150,
    "savefig.dpi": 150,
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "text.parse_math": False,  # names of data sets and metrics are texts, not TeX
}
#: Inches of the widest figure: a page has 720 pixels.
WIDTH = 7.2


def _styled(draw: Callable[P, Drawn]) -> Callable[P, Drawn]:
    """Draw with the book's style and leave the global one alone."""

    @wraps(draw)
    def styled(*args: P.args, **options: P.kwargs) -> Drawn:
        # a notebook's backend switches interactive mode on when it is first used: not within the
        # context, which would take that back on leaving
        plt.draw_if_interactive()
        with mpl.rc_context(_STYLE):
            return draw(*args, **options)

    return styled


# ------------------------------------------------------------------------------ names and kinds


def names(frame: pd.DataFrame) -> pd.Series:
    """Metrics as they are shown: R- before a reference-based one, an arrow behind a flipped one."""
    shown = frame["metric"].astype(str)
    if "basis" in frame:
        shown = shown.where(frame["basis"] != "reference", "R-" + shown)
    if "flipped" in frame:
        shown = shown.where(~frame["flipped"].astype(bool), shown + " ↓")
    return shown


def is_metric(frame: pd.DataFrame) -> pd.Series:
    """Which rows are metrics, by the column ``kind`` or by name; the others are sentinels."""
    kind = frame["kind"] if "kind" in frame else frame["metric"].astype(str).map(kind_of)
    return kind == METRIC


def _named(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    """Rows with a value, their name as it is ``shown``, and whether each is a ``sentinel``."""
    return frame.assign(shown=names(frame), sentinel=~is_metric(frame)).dropna(subset=value)


def _drawable(frame: pd.DataFrame) -> pd.DataFrame:
    if frame.empty:
        raise TstmetaError("there is nothing to draw: no row has a value")
    return frame


def _groups(frame: pd.DataFrame, by: str | None) -> list[tuple[str, pd.DataFrame]]:
    """Parts of a frame by a column, in order of appearance; one part without the column."""
    _drawable(frame)
    if by is None or by not in frame:
        return [("", frame)]
    return [(str(name), part) for name, part in frame.groupby(by, sort=False, observed=True)]


def _panels(count: int, height: float, across: int = 2) -> tuple[Figure, list[Axes]]:
    """A figure with ``count`` axes of that height in inches, at most ``across`` in a row."""
    across = min(count, across)
    rows = math.ceil(count / across)
    size = (WIDTH if across > 1 else 0.68 * WIDTH, height * rows + 0.5)
    figure, grid = plt.subplots(rows, across, figsize=size, layout="constrained", squeeze=False)
    for spare in grid.ravel()[count:]:
        spare.set_visible(False)
    return figure, list(grid.ravel()[:count])


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is not None:
        return ax
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _points(
    axis: Axes, rows: pd.DataFrame, value: str = "value", *, lw: float = 1.8, alpha: float = 0.7
) -> None:
    """A row for each name ``shown``, the first on top: a point and its interval; sentinels grey."""
    place, metric = np.arange(len(rows)), ~rows["sentinel"].to_numpy(bool)
    for some, colour, marker in ((metric, BLUE, "o"), (~metric, GREY, "D")):
        if {"low", "high"} <= set(rows):
            low, high = rows["low"][some].astype(float), rows["high"][some].astype(float)
            axis.hlines(place[some], low, high, color=colour, lw=lw, alpha=alpha)
        axis.plot(rows[value][some], place[some], marker, color=colour, ms=4.5, zorder=4)
    axis.set_yticks(place, list(rows["shown"]), fontsize=8.5)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")


def _stack(
    frame: pd.DataFrame, value: str, label: str, up: bool = False, **drawn: float
) -> tuple[Figure, list[tuple[Axes, str, pd.DataFrame]]]:
    """A panel a data set, in each a row a name, metrics before sentinels; axes, name and rows."""
    order, ways = (["sentinel", value], [True, False]) if not up else ([value], [True])
    parts = [
        (name, rows.sort_values(order, ascending=ways, kind="stable"))
        for name, rows in _groups(frame, "dataset")
    ]
    figure, panels = _panels(len(parts), 0.8 + 0.2 * max(len(rows) for _, rows in parts))
    for axis, (name, rows) in zip(panels, parts, strict=True):
        _points(axis, rows, value, **drawn)
        axis.set_title(name)
        axis.set_xlabel(label, fontsize=8.5)
    return figure, [(axis, *part) for axis, part in zip(panels, parts, strict=True)]


def _key(colour: str, marker: str, label: str) -> Line2D:
    return Line2D([], [], color=colour, marker=marker, linestyle="", ms=5, label=label)


def _legend(figure: Figure, more: Sequence[Line2D], columns: int = 3, kinds: bool = True) -> None:
    """Below all panels."""
    both = [_key(BLUE, "o", "metric"), _key(GREY, "D", "sentinel")] if kinds else []
    figure.legend(handles=[*both, *more], loc="outside lower center", ncols=columns, fontsize=8.5)


# ------------------------------------------------------------------------------------- agreement


@_styled
def heatmap(
    frame: pd.DataFrame,
    value: str = "value",
    index: str = "metric",
    columns: str = "dataset",
    *,
    limit: float | None = 1.0,
    label: str = "",
    digits: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """A table with coloured cells: blue above 0, orange below, a dash where there is no value.

    Args:
        frame: one row a cell; order of appearance is kept, sentinels go below a rule.
        index, columns: the columns of the frame that rows and columns of the figure are.
        limit: where colours end on both sides of 0; None takes the largest value there is.
        label: of the colour bar.
    """
    rows = frame.assign(sentinel=False)
    if index == "metric":
        rows, index = frame.assign(shown=names(frame), sentinel=~is_metric(frame)), "shown"
    rows = rows.sort_values("sentinel", kind="stable")
    grid = rows.pivot_table(index=index, columns=columns, values=value, dropna=False, sort=False)
    grid = grid.reindex(index=list(dict.fromkeys(rows[index])))[list(dict.fromkeys(frame[columns]))]
    grid.columns = grid.columns.astype(str)
    words = grid.map(lambda one: "–" if one != one else f"{one:.{digits}f}".replace("-", "−"))
    tall, wide = grid.shape
    longest = max(map(len, grid.index.astype(str)), default=0)
    axis = _axes(ax, min(WIDTH, 1.5 + 0.075 * longest + 0.72 * wide), 1.1 + 0.27 * tall)
    most = limit or np.nanmax(np.abs(grid.to_numpy(float)), initial=0.0) or 1.0
    sns.heatmap(
        grid.fillna(0.0),
        ax=axis,
        vmin=-most,
        vmax=most,
        cmap=DIVERGING,
        annot=words,
        fmt="",
        annot_kws={"size": 8.5 if wide < 8 else 7},
        linewidths=0.6,
        linecolor="white",
        cbar=wide > 1,
        cbar_kws={"label": label, "shrink": 0.8, "pad": 0.02},
    )
    above = int((~rows.drop_duplicates(index)["sentinel"]).sum())
    if 0 < above < tall:
        axis.axhline(above, color=INK, lw=1.4)
    axis.set(xlabel="", ylabel="")
    axis.grid(visible=False)
    axis.tick_params(length=0, labelsize=8.5)
    axis.tick_params(axis="y", rotation=0)
    if max(map(len, grid.columns), default=0) > 9:
        axis.set_xticks(axis.get_xticks(), grid.columns, rotation=30, ha="right")
    return axis


@_styled
def forest(
    intervals: pd.DataFrame,
    ceiling: pd.DataFrame | None = None,
    *,
    chance: float = 0.0,
    label: str = "",
) -> Figure:
    """Values with confidence intervals, best first, one panel a data set; sentinels below a line.

    Args:
        intervals: what ``tst.bootstrap`` returns: metric, value, low, high; dataset, basis, kind.
        ceiling: what ``tst.ceiling`` returns; a line at ``value`` with a shade from low to high.
        chance: where a metric that knows nothing stands.
        label: of the axis, for instance the statistic.
    """
    figure, panels = _stack(_named(intervals, "value"), "value", label)
    people = pd.DataFrame(columns=["dataset", "value"]) if ceiling is None else ceiling
    limit = []
    for axis, name, rows in panels:
        axis.axvline(chance, color=GREY, lw=0.8)
        for row in people[(people["dataset"] == name) & people["value"].notna()].itertuples():
            axis.axvspan(row.low, row.high, color=ORANGE, alpha=0.15, lw=0, zorder=0)
            axis.axvline(row.value, color=ORANGE, lw=1.6, zorder=1)
            limit = [Line2D([], [], color=ORANGE, lw=2, label="human ceiling")]
        above = int((~rows["sentinel"]).sum())
        if 0 < above < len(rows):
            axis.axhline(above - 0.5, color=INK, lw=1)
    _legend(figure, limit)
    return figure


@_styled
def rank_sets(frame: pd.DataFrame) -> Figure:
    """The rank of each metric and the ranks it could have, one panel a data set.

    Args:
        frame: what ``tst.rank_sets`` returns: metric, rank, low, high and, where tests were made,
            cluster; a dotted line stands where one ends.
    """
    # half a rank on either side, so that a single rank is a bar too
    wide = {"low": frame["low"].astype(float) - 0.4, "high": frame["high"].astype(float) + 0.4}
    figure, panels = _stack(
        _named(frame.assign(**wide), "rank"), "rank", "rank", True, lw=5, alpha=0.3
    )
    keys = [Line2D([], [], color=BLUE, lw=5, alpha=0.3, label="ranks it could have")]
    for axis, _, rows in panels:
        if "cluster" in rows and rows["cluster"].notna().all():
            for last in np.flatnonzero(np.diff(rows["cluster"].astype(int))):
                line = axis.axhline(last + 0.5, color=INK, lw=0.9, ls=":", label="cluster ends")
                keys[1:] = [line]
        axis.set_xlim(0.2, len(rows) + 0.8)
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(figure, keys, 2)
    return figure


@_styled
def bump(frame: pd.DataFrame, value: str = "value", highlight: int = len(LINES)) -> Axes:
    """Ranks across data sets, best on top: who wins where.  Sentinels are dashed and grey.

    Args:
        frame: one row a data set and metric.  Only metrics with a value on all data sets count.
        highlight: so many lines stand out, those whose rank changes most.
    """
    rows = _named(frame, value)
    grid = rows.pivot_table(index="shown", columns="dataset", values=value, sort=False)
    grid = grid.reindex(columns=list(dict.fromkeys(frame["dataset"])))
    grid = _drawable(grid.dropna()).round(12)
    grid = grid.sort_values(grid.columns[0], ascending=False, kind="stable")
    ranks = grid.rank(ascending=False, method="first")
    sentinel = rows.drop_duplicates("shown").set_index("shown")["sentinel"]
    change = ranks[~sentinel[ranks.index]].diff(axis=1).abs().sum(axis=1)
    change = change[change > 0].sort_values(ascending=False, kind="stable")
    chosen = [name for name in ranks.index if name in change.index[: min(highlight, len(LINES))]]
    longest = max((len(name) for name in ranks.index), default=0)
    width = min(WIDTH, 0.8 + 1.35 * ranks.shape[1] + 0.15 * longest)
    axis = _axes(None, width, 0.8 + 0.24 * len(ranks))
    x = np.arange(ranks.shape[1])
    for name in sorted(ranks.index, key=lambda one: one in chosen):  # pale ones lie below
        colour, marker, stroke, ink, wide = "#BDBDBD", "o", "-", "#4D4D4D", 1.4
        if sentinel[name]:
            colour, marker, stroke, ink = GREY, "D", "--", GREY
        if name in chosen:
            (colour, marker, stroke), wide = LINES[chosen.index(name)], 2.4
            ink = colour
        y = ranks.loc[name].to_numpy(float)
        axis.plot(x, y, stroke, color=colour, marker=marker, ms=6, lw=wide, label=name)
        for at, shift, side in ((0, -9, "right"), (-1, 9, "left")):
            axis.annotate(
                name, (x[at], y[at]), (shift, 0), textcoords="offset points", ha=side,
                va="center", fontsize=8.5, color=ink, annotation_clip=False,
                fontweight="bold" if name in chosen else "normal",
            )  # fmt: skip
    axis.set_xticks(x, [str(name).replace("@", "\n@") for name in ranks.columns])
    axis.set_ylim(len(ranks) + 0.5, 0.5)
    axis.set_yticks([])
    axis.spines[["left", "bottom"]].set_visible(False)
    axis.grid(visible=False, axis="y")
    return axis


@_styled
def differences(
    frame: pd.DataFrame,
    value: str | None = None,
    label: str | Sequence[str] | None = None,
    *,
    xlabel: str = "",
) -> Axes:
    """Differences with intervals around 0; a point is filled where its interval excludes 0.

    Args:
        frame: low, high and the value (``difference``, as of ``tst.compare``, or ``value``).
        label: the columns that name a row; by default a − b, or the metric, with the data set
            where there are several.
    """
    value = value or ("difference" if "difference" in frame else "value")
    rows = _drawable(frame.dropna(subset=value)).reset_index(drop=True)
    if label is not None:
        parts = [rows[one].astype(str) for one in ([label] if isinstance(label, str) else label)]
    else:
        parts = [names(rows) if "a" not in rows else rows["a"] + " − " + rows["b"]]
        if "dataset" in rows and len(set(rows["dataset"])) > 1:
            parts.insert(0, rows["dataset"].astype(str))
    shown = [": ".join(words) for words in zip(*parts, strict=True)]
    longest = max(map(len, shown), default=0)
    axis = _axes(None, min(WIDTH, 3.4 + 0.075 * longest), 0.9 + 0.26 * len(rows))
    _points(axis, rows.assign(shown=shown, sentinel=False), value)
    clear = ((rows["low"] > 0) | (rows["high"] < 0)).to_numpy()
    axis.plot(
        rows[value][~clear], np.flatnonzero(~clear), "o", mfc="white", ms=3.2, mew=0, zorder=5
    )
    axis.axvline(0, color=INK, lw=0.9)
    axis.set_xlabel(xlabel or "filled: the 95 % interval excludes 0", fontsize=8.5)
    return axis


# ------------------------------------------------------------------------------------------ data


@_styled
def scatter(
    pairs: pd.DataFrame,
    x: str = "score",
    y: str = "human",
    hue: str | None = None,
    by: str | None = None,
    *,
    seed: int = 0,
    jitter: float = 0.012,
) -> Figure:
    """One point a rewrite; Pearson's r and n in the title.

    Args:
        pairs: what ``tst.pairs`` returns, or any frame with these columns.
        hue: a column with at most seven values, each with a colour and a marker of its own.
        by: a column; one panel for each of its values, two in a row.
        jitter: points whose value occurs more than once are moved by up to this share of the
            range, so that tied ratings can be told apart.
        seed: of the jitter.
    """
    rng = np.random.default_rng(seed)
    parts = [(name, part.dropna(subset=[x, y])) for name, part in _groups(pairs, by)]
    figure, panels = _panels(len(parts), 2.6)
    levels = list(dict.fromkeys(pairs[hue])) if hue else [None]
    size = 9 if max(len(part) for _, part in parts) > 300 else 16
    for axis, (name, part) in zip(panels, parts, strict=True):
        moved = {one: _jittered(part[one].to_numpy(float), jitter, rng) for one in (x, y)}
        solid = max(0.15, min(0.7, 300 / max(len(part), 1)))
        for level, (colour, marker, _) in zip(levels, LINES, strict=False):
            some = (part[hue] == level).to_numpy() if hue else np.ones(len(part), dtype=bool)
            axis.scatter(
                moved[x][some], moved[y][some], s=size, c=colour, marker=marker, alpha=solid, lw=0
            )
        varies = min(len(set(part[x])), len(set(part[y])), len(part) - 1) > 1
        r = f"r = {part[x].corr(part[y]):.2f}, ".replace("-", "−") if varies else ""
        axis.set_title(f"{name}\n{r}n = {len(part):,}".strip(), fontsize=9.5)
        axis.set_xlabel(x)
        axis.set_ylabel(y)
    if hue:
        keys = [_key(c, m, str(level)) for level, (c, m, _) in zip(levels, LINES, strict=False)]
        _legend(figure, keys, min(4, len(keys)), kinds=False)
    return figure


def _jittered(values: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Values that occur more than once, moved by up to a share of the range; [N]."""
    if not len(values):
        return values
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    reach = share * np.ptp(values) * (6 if len(count) < 4 else 1)  # labels have room between them
    return values + np.where(count[place] > 1, rng.uniform(-reach, reach, len(values)), 0.0)


@_styled
def distributions(data: Dataset | Sequence[Dataset] | pd.DataFrame) -> Figure:
    """Histograms of ratings: a row a data set, a column a dimension; the dashed line is the mean.

    A metric judged on a pile at one end has little to explain.

    Args:
        data: data sets (the mean rating of each rewrite), or a frame with dimension and value and,
            where there are several, dataset.
    """
    frame = data if isinstance(data, pd.DataFrame) else _means(data)
    frame = frame if "dataset" in frame else frame.assign(dataset="")
    sets, known = list(dict.fromkeys(frame["dataset"])), set(frame["dimension"])
    asked = [one for one in DIMENSIONS if one in known] + sorted(known - set(DIMENSIONS))
    figure, panels = _panels(len(sets) * len(asked), 1.25, len(asked))
    for place, axis in enumerate(panels):
        name, dimension = sets[place // len(asked)], asked[place % len(asked)]
        values = frame.loc[
            (frame["dataset"] == name) & (frame["dimension"] == dimension), "value"
        ].dropna()
        axis.grid(visible=False)
        axis.tick_params(labelsize=8)
        if place < len(asked):
            axis.set_title(dimension)
        if place % len(asked) == 0:
            axis.set_ylabel(str(name).replace("@", "\n@"), fontsize=8.5)
        if values.empty:
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)
            axis.text(0.5, 0.5, "not rated", ha="center", color=GREY, transform=axis.transAxes)
            continue
        low, high = math.floor(values.min()), math.ceil(values.max())
        # three bars a point, so that means of two or three ratings stand on their value
        step = 1 / 3 if high - low <= 10 else (high - low) / 20
        edges = np.arange(low - step / 2, high + step, step)
        axis.hist(values, bins=list(edges), color=DIMENSIONS.get(dimension, GREY))
        axis.axvline(values.mean(), color=INK, lw=1.2, linestyle="--")
    return figure


def _means(data: Dataset | Sequence[Dataset]) -> pd.DataFrame:
    """dataset, dimension, value: the mean rating of each rewrite."""
    chosen = [data] if isinstance(data, Dataset) else list(data)
    tables = [
        pd.DataFrame({"dataset": one.name, "dimension": name, "value": one.means[name]})
        for one in chosen
        for name in one.dimensions
    ]
    return pd.concat(tables, ignore_index=True)


@_styled
def cells(pairs: pd.DataFrame, by: str = "metric") -> Figure:
    """Scores in the four cells {strong, light} x {kept, error} of the contrast set.

    Boxes show quartiles, whiskers 5 % and 95 %.  A trustworthy content metric puts both ``kept``
    boxes above both ``error`` boxes, however strong the shift.

    Args:
        pairs: what ``tst.pairs`` returns for a set with these systems.
        by: a column; one panel for each of its values (of metrics, as they are shown).
    """
    frame = pairs.assign(metric=names(pairs)) if by == "metric" else pairs
    parts = _groups(frame, by)
    figure, panels = _panels(len(parts), 2.1)
    for axis, (name, part) in zip(panels, parts, strict=True):
        groups = [part.loc[part["system"] == cell, "score"].dropna() for cell in CELLS]
        boxes = axis.boxplot(
            groups, whis=(5, 95), widths=0.62, showfliers=False, patch_artist=True,
            medianprops={"color": INK, "linewidth": 1.6},
        )  # fmt: skip
        for box, cell in zip(boxes["boxes"], CELLS, strict=True):
            box.set(facecolor=ORANGE if cell.endswith("error") else BLUE, alpha=0.75, lw=0.8)
        axis.set_xticks(range(1, 5), list(CELLS.values()), fontsize=8.5)
        axis.set_title(name)
        axis.grid(visible=False, axis="x")
    return figure


@_styled
def lines(
    frame: pd.DataFrame,
    x: str,
    y: str,
    hue: str | None = None,
    *,
    low: str = "low",
    high: str = "high",
    ax: Axes | None = None,
) -> Axes:
    """Curves, one for each value of ``hue``, with a band where the frame has low and high."""
    axis = _axes(ax, 0.75 * WIDTH, 3.2)
    for place, (name, part) in enumerate(_groups(frame, hue)):
        colour, marker, stroke = LINES[place % len(LINES)]
        part = part.sort_values(x)
        marker = marker if len(part) < 25 else ""
        axis.plot(part[x], part[y], stroke, color=colour, marker=marker, ms=5, label=name)
        if {low, high} <= set(part):
            axis.fill_between(part[x], part[low], part[high], color=colour, alpha=0.15, lw=0)
    axis.set(xlabel=x, ylabel=y)
    if hue:
        axis.legend(fontsize=8.5)
    return axis


@_styled
def systems(frame: pd.DataFrame, value: str = "value", *, label: str = "mean rating") -> Figure:
    """Mean ratings of systems (columns system, value, low, high), one panel a data set."""
    rows = frame.assign(shown=frame["system"].astype(str), sentinel=False).dropna(subset=value)
    return _stack(rows, value, label)[0]


# ----------------------------------------------------------------------------------------- tokens

#: A token is one step paler below each of these probabilities, and how the steps are told.
STEPS = (0.5, 0.1, 0.01, 0.001)
_SHADES = ("#FFFFFF", "#FCE5C0", "#F8C382", "#EE9A4D", "#E07B39")
_SAID = ("1 in 2 or more", "to 1 in 10", "to 1 in 100", "to 1 in 1,000", "less")
LETTERS = {"style": "s", "paraphrase": "p", "repeat": "r"}


def strip(tokens: pd.DataFrame, titles: dict[str, str] | None = None) -> HTML:
    """Rewrites in which one sees which tokens the model did not foresee, and what they cost.

    Each token is shaded by its probability under the instruction that accounts for it best, has
    that instruction's letter, and a bar as long as its part of content (log probability, cut at
    -8).  The numbers stand in a table that opens below, for readers who see no colours.

    Args:
        tokens: what ``tst.explain`` returns: token, style, paraphrase, repeat, best, content;
            item_id where there are several rewrites; marked where tokens are to be outlined.
        titles: item_id -> words above a rewrite; its id by default.
    """
    named = titles or {}
    body = "".join(_rewrite(named.get(id, id), part) for id, part in _groups(tokens, "item_id"))
    steps = "".join(
        f"<span style='{_PATCH}background:{shade}'>{escape(words)}</span> "
        for shade, words in zip(_SHADES, _SAID, strict=True)
    )
    letters = ", ".join(f"{letter} = {name}" for name, letter in LETTERS.items())
    key = f"<p style='font-size:.85em'>Probability of a token: {steps}<br>Letter: {letters}.</p>"
    return HTML(f"<div>{body}{key}</div>")


_PATCH = "white-space:pre;color:#111;border:1px solid #999;border-radius:3px;padding:0 .35em;"

_MARK = "outline:2px solid #123b66;"
_MEANS = {"content": "C", "lead": "S"}


def _rewrite(title: str, part: pd.DataFrame) -> str:
    """One rewrite: its tokens in a line that wraps, and their numbers in a table."""
    blocks = []
    for row in part.itertuples(index=False):
        cost = float(row.content)
        step = sum(cost < math.log(limit) for limit in STEPS) if cost == cost else 0
        bar = round(min(-cost, 8.0) / 8.0 * 100) if cost == cost else 0
        blocks.append(
            "<span style='display:inline-block;text-align:center;margin:0 1px 4px;"
            f"vertical-align:top;min-width:1.2em'><span style='{_PATCH}background:{_SHADES[step]};"
            f"{_MARK if getattr(row, 'marked', False) else ''}"
            f"'>{escape(str(row.token))}</span><span style='display:block;"
            f"height:4px;width:{bar}%;background:{BLUE}'></span><span style='display:block;"
            f"font-size:.75em'>{LETTERS.get(str(row.best), '')}</span></span>"
        )
    columns = ["token", "best", "content", *LETTERS]
    numbers = part[columns].to_html(index=False, float_format="{:.2f}".format, border=0)
    means = [f"{name} = {part[one].mean():.3f}" for one, name in _MEANS.items() if one in part]
    mean = f": {', '.join(means)}".replace("-", "−")
    return (
        f"<p style='margin-bottom:.2em'><b>{escape(title)}</b>{mean}</p>"
        f"<div>{''.join(blocks)}</div>"
        "<details><summary>Numbers (natural logarithms)</summary>"
        f"<div style='overflow-x:auto'>{numbers}</div></details>"
    )
