"""Lesson 1: what a correlation at each level means.

A rating has three parts: what the source makes easy or hard, what the system does everywhere, and
what went well or wrong in this one rewrite.  A metric may know any of them.  In a simulated world
each of three metrics knows exactly one part, equally well, so that all three look the same when
everything is pooled, and entirely different at the other levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ...data import Dataset
from ...stats import Plan, Setting
from ...stats.components import components
from ...stats.intervals import intervals
from ...stats.matrices import Level, estimate
from .. import html
from ..bench import Bench
from ..figures import BLUE, GREEN, GREY, ORANGE, Picture, _panels, _styled
from ..layout import Layout
from ..matrices import matrices
from ..tables import truth

LEVELS: tuple[Level, ...] = ("pooled", "source", "within-system", "system")
_WORDS = {
    "pooled": "pooled",
    "source": "per source",
    "within-system": "per system",
    "system": "system means",
}
PARTS = ("source", "system", "rewrite")
_COLOURS = (BLUE, ORANGE, GREEN)
_MARKERS = ("o", "s", "^")


class World(NamedTuple):
    """Ratings ``[S, K]`` and the scores ``[3, S, K]`` of metrics that know one part each."""

    human: np.ndarray
    metrics: np.ndarray
    names: tuple[str, ...]


def world(sources: int = 100, systems: int = 10, seed: int = 0) -> World:
    """Ratings as a sum of three independent parts of variance 1; metrics as one part plus noise.

    Noise has variance 1 too, so each metric correlates with the ratings at 1 / sqrt(6) over a
    large pool.
    """
    rng = np.random.default_rng(seed)
    parts = [
        _whitened(rng.normal(size=(sources, 1))) * np.ones((1, systems)),
        _whitened(rng.normal(size=(1, systems))) * np.ones((sources, 1)),
        rng.normal(size=(sources, systems)),
    ]
    noise = rng.normal(size=(3, sources, systems))
    names = tuple(f"knows the {part}" for part in PARTS)
    return World(sum(parts, np.zeros((sources, systems))), np.array(parts) + noise, names)


def _whitened(values: np.ndarray) -> np.ndarray:
    """To mean 0 and variance 1, so that a small number of systems has the variance meant."""
    return (values - values.mean()) / values.std()


def expected() -> float:
    """What each metric of the world reaches when everything is pooled."""
    return 1 / math.sqrt(3 * 2)


def at_each_level(
    human: np.ndarray,
    metrics: np.ndarray,
    names: Sequence[str],
    statistic: str = "pearson",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """One row a metric and level: value, low, high (sources drawn; at system level systems)."""
    rows = []
    for level in LEVELS:
        setting = Setting(statistic, level)
        plan = Plan("systems" if level == "system" else "sources", draws)
        values = estimate(human, metrics, setting)
        found = intervals(human, metrics, setting, plan, np.random.default_rng(seed))
        for name, value, interval in zip(names, values, found, strict=True):
            rows.append(
                {
                    "metric": name,
                    "level": level,
                    "value": float(value),
                    "low": interval.low,
                    "high": interval.high,
                    "note": interval.reason,
                }
            )
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`at_each_level` as a grid, metric by level, intervals below the values."""
    cell = [
        f"{html.signed(row['value'])}<br><small>{html.signed(row['low'])} to"
        f" {html.signed(row['high'])}</small>"
        if math.isfinite(row["value"])
        else "–"
        for row in rows.to_dict("records")
    ]
    shown = rows.assign(cell=cell, level=rows["level"].map(_WORDS))
    grid = html.pivot(shown, ["metric"], "level", "cell")
    return html.table(grid, dict.fromkeys(grid.columns[1:], str))


def picture(rows: pd.DataFrame, label: str = "Pearson's r") -> Picture:
    """Rows of :func:`at_each_level` as dots with intervals, one group a level."""
    return Picture(_picture(rows, label))


@_styled
def _picture(rows: pd.DataFrame, label: str) -> Figure:
    figure, (axis,) = _panels(1, 6.4, 3.1)
    names = list(dict.fromkeys(rows["metric"]))
    for i, name in enumerate(names):
        own = rows[rows["metric"] == name]
        x = np.arange(len(own)) + 0.2 * (i - (len(names) - 1) / 2)
        spread = [own["value"] - own["low"], own["high"] - own["value"]]
        axis.errorbar(
            x,
            own["value"],
            yerr=np.nan_to_num(np.maximum(spread, 0)),
            fmt=_MARKERS[i % 3],
            color=_COLOURS[i % 3],
            capsize=3,
            markersize=6,
            label=name,
        )
    axis.axhline(0, color=GREY, linewidth=0.8)
    axis.set_xticks(range(len(LEVELS)), [_WORDS[level] for level in LEVELS])
    axis.set_ylabel(label)
    axis.grid(visible=False, axis="x")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def clouds(made: World) -> Picture:
    """The three metrics against the ratings; the large marks are the systems' means."""
    return Picture(_clouds(made))


@_styled
def _clouds(made: World) -> Figure:
    figure, axes = _panels(3, 2.6, 2.6, sharey=True)
    for axis, name, scores, colour in zip(axes, made.names, made.metrics, _COLOURS, strict=True):
        axis.scatter(scores, made.human, s=5, color=colour, alpha=0.25, lw=0)
        means = scores.mean(axis=0), made.human.mean(axis=0)
        axis.scatter(*means, s=42, color=colour, edgecolor="#222222", lw=0.9, zorder=3)
        axis.set_title(name)
        axis.set_xlabel("metric")
    axes[0].set_ylabel("rating")
    return figure


def shares(bench: Bench, datasets: Sequence[Dataset], metric: str = "bleu") -> pd.DataFrame:
    """Where the variance of content ratings and of a metric's scores lies, in each data set."""
    rows = []
    for data in datasets:
        human, against = truth(data, "content")
        layout = Layout.of(data)
        found = [("content", components(layout.matrix(human)))] if against else []
        scores = matrices(data, bench.table(data, [metric], ["source"]))
        found += [(metric, components(one)) for one in scores.metrics]
        for what, one in found:
            rows.append(
                {
                    "data": data.name,
                    "of": what,
                    **{part: getattr(one, part) for part in PARTS},
                    "sources": one.sources,
                    "systems": one.systems,
                    "note": one.reason,
                }
            )
    return pd.DataFrame(rows)


def shares_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`shares`, in percent."""
    formats = {part: lambda value: "–" if math.isnan(value) else f"{value:.0%}" for part in PARTS}
    return html.table(rows.drop(columns="note"), formats)


def real(bench: Bench, dataset: Dataset, names: Sequence[str], seed: int = 0) -> pd.DataFrame:
    """:func:`at_each_level` for metrics of a real data set."""
    found = matrices(dataset, bench.table(dataset, names, ["source"]))
    return at_each_level(found.human, found.metrics, [name for name, _ in found.names], seed=seed)
