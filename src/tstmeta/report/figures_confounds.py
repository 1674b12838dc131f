"""Figures of the chapter on confounds: one function, one figure, as in :mod:`.figures`.

Each takes a table of :mod:`tstmeta.report.confounds` or :mod:`tstmeta.report.games`.  Metrics for
which less is better are turned round in those tables; an arrow down marks their names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ..metrics import families
from ..schema import TstmetaError
from .figures import BLUE, GREY, ORANGE, _panels, _styled
from .figures_simpson import MARKS, simpson
from .material import ORACLES

__all__ = [
    "discriminant_heatmap",
    "error_dots",
    "games_heatmap",
    "raw_and_partial",
    "simpson",
    "strata_dots",
]

_LINE = 0.3  # height of a row, in inches


def named(rows: pd.DataFrame) -> pd.Series:
    """What a metric is called in a figure: with its basis where there are two, and turned ones."""
    two = rows["basis"].isin(["source", "reference"]) & (
        {"source", "reference"} <= set(rows["basis"])
    )
    prefix = rows["basis"].map({"source": "S-", "reference": "R-", "none": ""}).where(two, "")
    return prefix + rows["metric"] + rows["better"].map({"lower": " ↓", "higher": ""})


def no_metrics(rows: pd.DataFrame) -> pd.Series:
    """Which rows are sentinels or oracles: rows to beat."""
    return rows["metric"].str.partition(":")[0].isin([*families()["sentinel"], *ORACLES])


def _order(rows: pd.DataFrame, value: pd.Series) -> list[str]:
    """Names from the highest value to the lowest, rows to beat after the metrics."""
    table = pd.DataFrame(
        {"name": named(rows), "beat": no_metrics(rows), "value": value.reindex(rows.index)}
    )
    table = table.groupby("name", sort=False).agg({"beat": "max", "value": "max"})
    ordered = table.sort_values(["beat", "value"], ascending=[True, False], kind="stable")
    return ordered.index.tolist()


def _rule(axis: Axes, rows: pd.DataFrame, names: Sequence[str], offset: float) -> None:
    """A line between the metrics and the rows to beat."""
    beat = set(named(rows)[no_metrics(rows)])
    first = next((place for place, name in enumerate(names) if name in beat), 0)
    if first:
        axis.axhline(first + offset, color="#222222", linewidth=1.1)


def _grid(rows: pd.DataFrame, columns: str, value: str, names: Sequence[str]) -> pd.DataFrame:
    table = rows.assign(name=named(rows))
    grid = table.pivot_table(index="name", columns=columns, values=value, sort=False, dropna=False)
    return grid.reindex(index=list(names), columns=list(dict.fromkeys(rows[columns])))


def _heat(grid: pd.DataFrame, label: str, text: str, **options) -> tuple[Figure, Axes]:
    """A heat map with the numbers in its cells and a dash where there is none."""
    size = (2.9 + 0.86 * grid.shape[1], 1.5 + _LINE * grid.shape[0])
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    axis.grid(visible=False)
    written = grid.map(lambda one: "" if pd.isna(one) else format(one, text).replace("-", "−"))
    sns.heatmap(
        grid,
        ax=axis,
        annot=written,
        fmt="",
        annot_kws={"size": 9},
        linewidths=0.8,
        linecolor="white",
        cbar_kws={"label": label, "shrink": min(1.0, 2.2 / size[1] + 0.4), "aspect": 14},
        **options,
    )
    for row, column in np.argwhere(grid.isna().to_numpy()):
        axis.text(column + 0.5, row + 0.5, "–", ha="center", va="center", color=GREY)
    axis.set(xlabel="", ylabel="")
    axis.xaxis.tick_top()
    axis.tick_params(length=0, labelsize=9.5)
    axis.tick_params(axis="y", rotation=0)
    return figure, axis


@_styled
def discriminant_heatmap(rows: pd.DataFrame, label: str = "Pearson's r") -> Figure:
    """Each metric against each human dimension; the frame is around the one that it claims.

    A trustworthy metric is bluest inside its frame.

    Args:
        rows: see :func:`tstmeta.report.confounds.discriminants`.
    """
    claimed = rows[rows["claimed"]]
    names = _order(rows, claimed["value"])
    grid = _grid(rows, "dimension", "value", names)
    figure, axis = _heat(grid, label, "z.2f", vmin=-1, vmax=1, cmap="RdBu")
    for name, dimension in zip(named(claimed), claimed["dimension"], strict=True):
        corner = list(grid.columns).index(dimension) + 0.03, names.index(name) + 0.06
        axis.add_patch(Rectangle(corner, 0.94, 0.88, fill=False, edgecolor="#111111", lw=1.6))
    _rule(axis, rows, names, 0.0)
    return figure


@_styled
def games_heatmap(rows: pd.DataFrame) -> Figure:
    """How often each metric puts a game above an honest rewrite of the same source, in per cent.

    Red: the game wins; blue: the honest rewrite wins; 50 is chance.

    Args:
        rows: see :func:`tstmeta.report.games.table_of_games`.
    """
    percent = rows.assign(wins=100 * rows["wins"])
    names = _order(rows, -percent.groupby(named(rows))["wins"].transform("mean"))
    grid = _grid(percent, "game", "wins", names)
    figure, axis = _heat(
        grid, "sources where the game wins, %", ".0f", vmin=0, vmax=100, cmap="RdBu_r"
    )
    axis.set_xticks(axis.get_xticks(), [one.replace(" ", "\n") for one in grid.columns])
    _rule(axis, rows, names, 0.0)
    return figure


@_styled
def raw_and_partial(rows: pd.DataFrame, given: str | None = None, label: str = "") -> Figure:
    """From the raw correlation (ring) to what is left with other dimensions held fixed (dot).

    One row a metric, the highest raw value on top; the thin line is the interval of what is left.

    Args:
        rows: see :func:`tstmeta.report.confounds.partials`.
        given: which partial correlation; default the one with most held fixed.
    """
    kinds = list(dict.fromkeys(rows["given"]))
    chosen = kinds[-1] if given is None else given
    if chosen not in kinds[1:]:
        known = " | ".join(kinds[1:]) or "none: no other dimension was judged"
        raise TstmetaError(f"nothing is given {chosen!r}; known: {known}")
    raw, left = (rows[rows["given"] == one] for one in ("", chosen))
    names = _order(raw, raw["value"])
    figure = Figure(figsize=(6.4, 1.3 + 0.28 * len(names)), layout="constrained")
    axis = figure.subplots()
    axis.axvline(0, color="#222222", linewidth=0.9)
    called = named(raw)
    shown = pd.concat([raw["value"], left["low"], left["high"]]).dropna()
    wide = float(shown.max() - shown.min()) if len(shown) else 0.0
    for (row, before), (_, after) in zip(raw.iterrows(), left.iterrows(), strict=True):
        place, x, y = names.index(called[row]), before["value"], after["value"]
        if abs(y - x) > 0.05 * wide:
            style = {"arrowstyle": "-|>", "color": GREY, "lw": 1.1, "shrinkB": 4}
            axis.annotate("", (y, place), (x, place), arrowprops=style)
        axis.plot([after["low"], after["high"]], [place] * 2, color=ORANGE, lw=1.4, alpha=0.6)
        axis.plot(x, place, "o", mfc="white", mec=BLUE, mew=1.5, ms=6.5)
        axis.plot(y, place, "o", color=ORANGE, ms=5)
        if not np.isfinite(y):
            text, start = ("no value", 0.0) if np.isnan(x) else ("nothing left", x)
            side = -1 if start > 0 else 1  # towards the middle
            axis.annotate(
                text,
                (start, place),
                (8 * side, 0),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="center",
                fontsize=8.5,
                color=GREY,
            )
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.set_xlabel(label or "Pearson's r with content")
    _rule(axis, raw, names, -0.5)
    handles = [
        Line2D([], [], marker="o", mfc="white", mec=BLUE, mew=1.5, lw=0, label="raw"),
        Line2D([], [], marker="o", color=ORANGE, lw=1.4, label=f"given {chosen}"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=2)
    return figure


def _dots(
    axis: Axes,
    rows: pd.DataFrame,
    by: str,
    names: Sequence[str],
    columns: tuple[str, str, str],
) -> None:
    """One line a metric, one mark a group beside the others, with its interval."""
    groups = list(dict.fromkeys(rows[by]))
    value, low, high = columns
    for number, group in enumerate(groups):
        colour, marker = MARKS[number % len(MARKS)]
        inside = rows[rows[by] == group]
        spread = 0.6 * (number - (len(groups) - 1) / 2) / max(len(groups), 2)
        y = np.array([names.index(name) for name in named(inside)]) + spread
        axis.hlines(y, inside[low], inside[high], color=colour, lw=1.3, alpha=0.6)
        axis.plot(inside[value], y, marker, color=colour, ms=5, lw=0)
    for name in named(rows[rows[value].isna()]).unique():
        if rows.loc[named(rows) == name, value].isna().all():
            middle, line = sum(axis.get_xlim()) / 2, names.index(name)
            axis.text(middle, line, "no value", va="center", fontsize=8.5, color=GREY)
    for place in range(1, len(names), 2):
        axis.axhspan(place - 0.5, place + 0.5, color="#F3F3F3", zorder=0)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(visible=False, axis="y")
    _rule(axis, rows, names, -0.5)


def _legend(figure: Figure, labels: Sequence[str]) -> None:
    """What each mark stands for, above the panels, in as many columns as there is room for."""
    handles = [
        Line2D([], [], color=MARKS[i % len(MARKS)][0], marker=MARKS[i % len(MARKS)][1], label=one)
        for i, one in enumerate(labels)
    ]
    room = max(1, int(figure.get_figwidth() * 12 / (max(map(len, labels)) + 6)))  # in columns
    columns = math.ceil(len(handles) / math.ceil(len(handles) / room))
    figure.legend(handles=handles, loc="outside upper center", ncols=columns, handlelength=1.6)


@_styled
def error_dots(rows: pd.DataFrame) -> Figure:
    """How often a metric prefers the kept rewrite to one with an error, by type of error.

    One panel for each pair of style shifts; right of the line at one half the metric sees the
    error, left of it it prefers the wrong rewrite.

    Args:
        rows: see :func:`tstmeta.report.confounds.by_error_type`.
    """
    pairs = list(dict.fromkeys(zip(rows["kept_shift"], rows["wrong_shift"], strict=True)))
    like = rows[(rows["kept_shift"] == pairs[0][0]) & (rows["wrong_shift"] == pairs[0][1])]
    names = _order(like, like.groupby(named(like))["preference"].transform("mean"))
    height = 1.2 + 0.36 * len(names)
    width = 3.9 if len(pairs) > 1 else 5.8
    figure, axes = _panels(len(pairs), width, height, most=2, sharex=True, sharey=True)
    kinds = list(dict.fromkeys(rows["error"]))
    for axis, (kept, wrong) in zip(axes, pairs, strict=True):
        inside = rows[(rows["kept_shift"] == kept) & (rows["wrong_shift"] == wrong)]
        columns = ("preference", "preference_low", "preference_high")
        _dots(axis, inside, "error", names, columns)
        axis.axvline(0.5, color="#222222", linewidth=0.9)
        title = f"{kept} kept, {wrong} with error" if kept or wrong else "kept, with error"
        axis.set_title(title, fontsize=10)
        axis.set_xlim(-0.03, 1.03)
        axis.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", ".25", ".5", ".75", "1"])
        axis.tick_params(labelbottom=True)
    figure.supxlabel("share of sources in which the kept rewrite scores better", fontsize=9.5)
    most = rows.groupby("error", sort=False)["n"].max()
    _legend(figure, [f"{kind} (n = {most[kind]:,})" for kind in kinds])
    return figure


@_styled
def strata_dots(rows: pd.DataFrame, label: str = "Pearson's r with content") -> Figure:
    """Agreement inside each stratum of items, with intervals; all items are the first mark.

    Args:
        rows: see :func:`tstmeta.report.confounds.by_style_shift` and ``by_disagreement``.
    """
    whole = rows[rows["stratum"] == rows["stratum"].iloc[0]]
    names = _order(rows, whole["value"])
    figure = Figure(figsize=(6.6, 1.3 + 0.4 * len(names)), layout="constrained")
    axis = figure.subplots()
    _dots(axis, rows, "stratum", names, ("value", "low", "high"))
    axis.axvline(0, color="#222222", linewidth=0.9)
    axis.set_xlabel(label)
    most = rows.groupby("stratum", sort=False)["n"].max()
    _legend(figure, [f"{name} (n = {most[name]:,})" for name in most.index])
    return figure
