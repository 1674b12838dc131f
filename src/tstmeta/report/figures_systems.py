"""Figures of notebook 03: systems by metric and by people, and how sure people are of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .figures import BLUE, GREY, _panels, _styled


@_styled
def scatter(
    systems: Sequence[str],
    people: np.ndarray,
    panels: Sequence[tuple[str, float, np.ndarray]],
    label: str,
    against: str,
) -> Figure:
    """Mean score against people's verdict, one point a system, one panel a metric.

    Points carry the system's place by people, 1 = best; the names stand below.

    Args:
        people: mean ratings, or labels by construction, ``[K]``.
        panels: metric, its agreement, its mean scores ``[K]``.
        label: the statistic of the agreement.
        against: what ``people`` are, in words.
    """
    order = np.argsort(-people, kind="stable")
    place = {int(k): str(i + 1) for i, k in enumerate(order)}
    figure, axes = _panels(len(panels), 3.6, 3.1, most=2)
    for axis, (name, value, scores) in zip(axes, panels, strict=True):
        axis.scatter(scores, people, s=95, color=BLUE, alpha=0.85, lw=0)
        for k, number in place.items():
            if np.isfinite(scores[k]) and np.isfinite(people[k]):
                axis.text(
                    *(scores[k], people[k], number),
                    ha="center",
                    va="center",
                    fontsize=6.5,
                    color="white",
                    fontweight="bold",
                )
        axis.margins(0.12)
        axis.set_title(f"{name}   {label} {value:z.2f}".replace("-0", "−0"), fontsize=9)
        axis.set_xlabel("mean score", fontsize=8)
        axis.set_ylabel(against, fontsize=8)
        axis.tick_params(labelsize=7.5)
    _key(figure, [f"{place[int(k)]}  {systems[k]}" for k in order])
    return figure


def _key(figure: Figure, names: Sequence[str]) -> None:
    """Numbers and names in columns below the panels."""
    columns = 3 if max(map(len, names), default=0) < 24 else 2
    rows = -(-len(names) // columns)
    figure.set_size_inches(figure.get_figwidth(), figure.get_figheight() + 0.17 * rows + 0.1)
    figure.legend(
        [Line2D([], [], lw=0) for _ in names],
        list(names),
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        handlelength=0,
        handletextpad=0,
        columnspacing=2.0,
    )


@_styled
def means(panels: Sequence[tuple[str, str, pd.DataFrame]]) -> Figure:
    """People's verdict on systems with intervals, one panel a data set, the best system on top.

    Args:
        panels: name of a data set, what people are there, and rows with ``system``, ``mean``,
            ``low``, ``high``.
    """
    most = max(len(rows) for *_, rows in panels)
    figure, axes = _panels(len(panels), 3.6, 0.9 + 0.22 * most, most=2)
    for axis, (name, against, rows) in zip(axes, panels, strict=True):
        y = np.arange(len(rows))
        axis.hlines(y, rows["low"], rows["high"], color=BLUE, linewidth=2)
        axis.plot(rows["mean"], y, "o", color=BLUE, markersize=5)
        axis.set_yticks(y, rows["system"], fontsize=8)
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.tick_params(axis="y", length=0)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel(against, fontsize=8, color=GREY)
    return figure
