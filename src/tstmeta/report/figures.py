"""Figures of the notebooks: one function, one figure; data in, matplotlib figure out.

Colours come from a palette that colour-blind readers can tell apart (Okabe and Ito), and shape or
position always says the same as colour.  Nothing here draws at random: jitter comes from a seed.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import stats
from ..data import Dataset
from .tables import truth

P = ParamSpec("P")


class Picture(NamedTuple):
    """A figure that a notebook shows as PNG; the same figure gives the same bytes."""

    figure: Figure

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.figure.savefig(buffer, format="png", dpi=180, metadata={"Software": None})
        return buffer.getvalue()


BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#6B6B6B"
DIMENSION_COLOURS = {"content": BLUE, "style": ORANGE, "fluency": GREEN, "overall": "#CC79A7"}
CELLS = ("strong", "strong-error", "light", "light-error")
_STYLE: dict[Any, Any] = {
    "figure.dpi": 150,
    "font.size": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "axes.grid": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "text.parse_math": False,  # names of data sets and tasks are texts, not TeX
}


def _styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw with the book's style and leave the global one alone."""

    @wraps(draw)
    def styled(*args: P.args, **options: P.kwargs) -> Figure:
        with mpl.rc_context(_STYLE):
            return draw(*args, **options)

    return styled


def _panels(n: int, width: float, height: float, most: int = 3, **options):
    """A figure with n panels, at most ``most`` in a row; returns it and its axes."""
    columns = min(n, most)
    rows = math.ceil(n / columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options).ravel()
    for spare in axes[n:]:
        spare.set_visible(False)
    return figure, list(axes[:n])


def _scale(dataset: Dataset, dimension: str) -> tuple[float, float]:
    """Lowest and highest rating possible, or the lowest and highest given where none is stated."""
    values = dataset.means[dimension]
    return dataset.card.scale.get(dimension, (float(values.min()), float(values.max())))


@_styled
def rating_distributions(datasets: Sequence[Dataset]) -> Figure:
    """How the items' mean ratings are spread: one row a data set, one column a dimension.

    The dashed line is the mean.  A metric judged on a pile at one end has little to explain.
    Scales of up to ten points get three bars a point, so that means of two or three ratings stand
    on their value.
    """
    dimensions = ("content", "style", "fluency")
    figure, axes = _panels(3 * len(datasets), 2.6, 1.55)
    for place, axis in enumerate(axes):
        data, dimension = datasets[place // 3], dimensions[place % 3]
        if place < 3:
            axis.set_title(dimension)
        if place % 3 == 0:
            axis.set_ylabel(data.name.replace("@", "\n@"), fontsize=8)
        axis.grid(visible=False)
        if dimension not in data.dimensions:
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_visible(False)
            axis.text(0.5, 0.5, "not rated", ha="center", color=GREY, transform=axis.transAxes)
            continue
        values = data.means[dimension].dropna().to_numpy()
        low, high = _scale(data, dimension)
        step = 1 / 3 if high - low <= 10 else (high - low) / 20
        edges = np.arange(low - step / 2, high + step, step)
        axis.hist(values, bins=edges, color=DIMENSION_COLOURS[dimension])
        axis.axvline(values.mean(), color="#222222", linewidth=1.2, linestyle="--")
        axis.set_xlim(low - step, high + step)
        axis.tick_params(labelsize=7.5)
    return figure


@_styled
def style_content(datasets: Sequence[Dataset], seed: int = 0) -> Figure:
    """Mean style rating against mean content rating, one point an item, one panel a data set.

    The title gives Pearson's r of the two human dimensions: how much of one could be guessed from
    the other.  Points are moved a little (seeded) so that equal ones can be told apart.
    """
    chosen = [data for data in datasets if {"style", "content"} <= set(data.dimensions)]
    figure, axes = _panels(len(chosen), 3.0, 2.9)
    rng = np.random.default_rng(seed)
    for axis, data in zip(axes, chosen, strict=True):
        both = data.means[["style", "content"]].dropna()
        scale = [_scale(data, dimension) for dimension in ("style", "content")]
        noise = rng.uniform(-0.012, 0.012, both.shape) * [high - low for low, high in scale]
        x, y = (both.to_numpy() + noise).T
        axis.scatter(x, y, s=7, alpha=max(0.12, min(0.6, 250 / len(both))), color=BLUE, lw=0)
        r = stats.pearson(both["style"], both["content"])
        axis.set_title(data.name, fontsize=9, pad=16)
        about = f"r = {r.value:z.2f}, n = {r.n:,}".replace("-", "−")
        axis.text(0, 1.03, about, fontsize=8.5, color=GREY, transform=axis.transAxes)
        axis.set_xlabel("style strength")
        axis.set_xlim(scale[0][0] - 0.3, scale[0][1] + 0.3)
        if axis in axes[::3]:
            axis.set_ylabel("content preservation")
    return figure


@_styled
def cells(dataset: Dataset, scores: pd.DataFrame, names: Sequence[tuple[str, str]]) -> Figure:
    """Metric values in the four cells {strong, light} x {kept, error}, one panel a metric.

    Boxes show quartiles, whiskers 5 % and 95 %, the line the median.  A trustworthy content metric
    puts both `kept` boxes above both `error` boxes.

    Args:
        names: (metric, basis) pairs to show.
    """
    shift, error = dataset.label("shift"), dataset.label("error")
    cell = shift.str.cat(np.where(error == "none", "", "-error"))
    figure, axes = _panels(len(names), 2.5, 2.5)
    for axis, (metric, basis) in zip(axes, names, strict=True):
        rows = scores[(scores["metric"] == metric) & (scores["basis"] == basis)]
        value = rows.set_index("item_id")["value"].reindex(dataset.items["item_id"])
        groups = [value[cell == name].dropna().to_numpy() for name in CELLS]
        boxes = axis.boxplot(
            groups,
            whis=(5, 95),
            widths=0.62,
            showfliers=False,
            patch_artist=True,
            medianprops={"color": "#111111", "linewidth": 1.6},
        )
        for box, name in zip(boxes["boxes"], CELLS, strict=True):
            box.set(facecolor=ORANGE if name.endswith("error") else BLUE, alpha=0.75, lw=0.8)
        axis.set_xticks(
            [1, 2, 3, 4], ["strong\nkept", "strong\nerror", "light\nkept", "light\nerror"]
        )
        axis.tick_params(axis="x", labelsize=7.5)
        axis.set_title(metric)
        axis.grid(visible=False, axis="x")
    return figure


@_styled
def agreement_heatmap(rows: pd.DataFrame, label: str = "Pearson's r", rule: str = "") -> Figure:
    """Agreement of metrics (rows) on data sets or tasks (columns), blue agrees, red disagrees.

    Args:
        rows: columns ``metric``, ``data``, ``value``; order of appearance is kept.
        rule: a metric above which a line is drawn, such as the first sentinel.
    """
    grid = rows.pivot_table(index="metric", columns="data", values="value", sort=False)
    grid = grid.reindex(
        index=list(dict.fromkeys(rows["metric"])), columns=list(dict.fromkeys(rows["data"]))
    )
    size = (2.6 + 0.78 * grid.shape[1], 1.1 + 0.27 * grid.shape[0])
    figure = Figure(figsize=size, layout="constrained")
    axis = figure.subplots()
    axis.grid(visible=False)
    sns.heatmap(
        grid,
        ax=axis,
        vmin=-1,
        vmax=1,
        cmap="RdBu",
        annot=True,
        fmt=".2f",
        annot_kws={"size": 8},
        linewidths=0.6,
        linecolor="white",
        cbar_kws={"label": label, "shrink": 0.8},
    )
    for row, column in np.argwhere(grid.isna().to_numpy()):
        axis.text(column + 0.5, row + 0.5, "–", ha="center", va="center", color=GREY)
    if rule and rule in grid.index:
        axis.axhline(grid.index.get_loc(rule), color="#222222", linewidth=1.2)
    axis.set(xlabel="", ylabel="")
    axis.tick_params(length=0, labelsize=8.5)
    axis.set_xticks(axis.get_xticks(), list(grid.columns), rotation=30, ha="right")
    return figure


@_styled
def by_task(
    dataset: Dataset, scores: pd.DataFrame, metric: str, basis: str = "source", seed: int = 0
) -> Figure:
    """A metric against content, one panel a task: where the verdict changes with the task."""
    tasks = dataset.label("task")
    names = list(dict.fromkeys(tasks))
    rows = scores[(scores["metric"] == metric) & (scores["basis"] == basis)]
    value = rows.set_index("item_id")["value"].reindex(dataset.items["item_id"]).to_numpy()
    human, against = truth(dataset, "content")
    spread = np.nanmax(human) - np.nanmin(human) if against else 0.0
    shift = dataset.label("shift").to_numpy()
    figure, axes = _panels(len(names), 2.6, 2.5, sharex=True, sharey=True)
    rng = np.random.default_rng(seed)
    for axis, name in zip(axes, names, strict=True):
        for kind, colour, marker in (("strong", BLUE, "o"), ("light", ORANGE, "^")):
            inside = (tasks.to_numpy() == name) & (shift == kind)
            jitter = rng.uniform(-0.03, 0.03, inside.sum()) * spread
            axis.scatter(
                value[inside], human[inside] + jitter, s=9, c=colour, marker=marker, alpha=0.6, lw=0
            )
        inside = tasks.to_numpy() == name
        r = stats.pearson(human[inside], value[inside])
        axis.set_title(f"{name}   r = {r.value:z.2f}".replace("-", "−"))
    _label_grid(axes, metric, f"content ({against})")
    handles = [
        mpl.lines.Line2D([], [], color=c, marker=m, lw=0, markersize=5, label=f"{k} shift")
        for k, c, m in (("strong", BLUE, "o"), ("light", ORANGE, "^"))
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure


def _label_grid(axes: Sequence[Axes], x: str, y: str) -> None:
    for i, axis in enumerate(axes):
        if i % 3 == 0:
            axis.set_ylabel(y, fontsize=8)
        if i >= len(axes) - 3:
            axis.set_xlabel(x)
