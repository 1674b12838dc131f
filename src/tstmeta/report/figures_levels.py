"""Figures of notebook 07: metrics from level to level, and against source and reference."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from .figures import BLUE, GREEN, GREY, ORANGE, _panels, _styled

#: Line styles and colours that lines take in turn, so that colour is never the only sign.
_COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ("-", "--", ":", "-.")


@_styled
def ranks(rows: pd.DataFrame) -> Figure:
    """Ranks of metrics, one column a level, the best on top; a line follows each metric.

    Metrics with the same value stand beside each other.  Rulers, which know nothing of content, are
    grey.

    Args:
        rows: columns ``metric``, ``level``, ``value``, ``ruler``, levels and metrics in order.
    """
    levels = list(dict.fromkeys(rows["level"]))
    order = list(dict.fromkeys(rows["metric"]))
    ruler = dict(zip(rows["metric"], rows["ruler"], strict=True))
    grid = rows.pivot_table(index="metric", columns="level", values="value", sort=False)
    grid = grid.reindex(index=order, columns=levels)
    place = grid.rank(ascending=False, method="first")
    figure = Figure(figsize=(7.6, 1.0 + 0.27 * len(order)), layout="constrained")
    axis = figure.subplots()
    real = [name for name in order if not ruler[name]]
    for name in order:
        number = real.index(name) if name in real else 0
        axis.plot(
            place.loc[name],
            color=GREY if ruler[name] else _COLOURS[number % len(_COLOURS)],
            linestyle=_DASHES[number // len(_COLOURS) % len(_DASHES)],
            linewidth=1.0 if ruler[name] else 2.0,
            alpha=0.6 if ruler[name] else 1.0,
            marker="o",
            markersize=3.5 if ruler[name] else 5.5,
        )
    for side, level in ((-1, levels[0]), (1, levels[-1])):
        x = -0.06 if side < 0 else len(levels) - 0.94
        for name, spot in place[level].dropna().items():
            value = f"{grid.loc[name, level]:z.1f}".replace("-", "−")
            text = f"{name}  {value}" if side < 0 else f"{value}  {name}"
            align = "right" if side < 0 else "left"
            colour = GREY if ruler[name] else "#111111"
            axis.text(x, spot, text, ha=align, va="center", fontsize=8.5, color=colour)
    axis.set_xlim(-0.02, len(levels) - 0.98)
    axis.invert_yaxis()
    axis.set(yticks=[], ylabel="")
    axis.set_xticks(range(len(levels)), [f"{level} level" for level in levels])
    axis.xaxis.tick_top()
    axis.tick_params(length=0, labelsize=9.5)
    axis.spines[:].set_visible(False)
    axis.grid(visible=False, axis="y")
    return figure


@_styled
def pairs(rows: pd.DataFrame, labels: Mapping[str, str]) -> Figure:
    """Two kinds of value for each metric side by side, with intervals, one panel a level or set.

    Args:
        rows: columns ``metric``, ``panel``, ``kind`` (two of them), ``value``, ``low``, ``high``.
        labels: what is on the axis of each panel.
    """
    panels, metrics, kinds = (
        list(dict.fromkeys(rows[name])) for name in ("panel", "metric", "kind")
    )
    figure, axes = _panels(len(panels), 2.9, 1.1 + 0.36 * len(metrics), sharey=True)
    marks = dict(zip(kinds, ((BLUE, "o", -0.14), (ORANGE, "^", 0.14)), strict=True))
    for axis, panel in zip(axes, panels, strict=True):
        for kind, (colour, marker, shift) in marks.items():
            own = rows[(rows["panel"] == panel) & (rows["kind"] == kind)].set_index("metric")
            own = own.reindex(metrics)
            y = np.arange(len(metrics)) + shift
            axis.hlines(y, own["low"], own["high"], color=colour, linewidth=1.3, alpha=0.7)
            axis.plot(own["value"], y, marker, color=colour, markersize=5)
        if rows["value"].min() < 0:
            axis.axvline(0, color="#222222", linewidth=0.8)
        axis.set_title(panel)
        axis.set_xlabel(labels[panel])
        axis.set_yticks(range(len(metrics)), metrics)
        axis.tick_params(axis="y", length=0)
    axes[0].invert_yaxis()
    handles = [
        mpl.lines.Line2D([], [], color=c, marker=m, lw=1.3, markersize=5, label=kind)
        for kind, (c, m, _) in marks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
    return figure
