"""Simpson's paradox as a figure: a metric against people over all items and within groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from .. import stats
from ..data import Dataset
from ..schema import TstmetaError
from .bench import USABLE
from .figures import BLUE, GREEN, ORANGE, _styled
from .tables import truth

#: Colour and marker of the first, second, ... group; the two always go together.
MARKS = (
    (BLUE, "o"),
    (ORANGE, "^"),
    (GREEN, "s"),
    ("#CC79A7", "D"),
    ("#56B4E9", "v"),
    ("#B8860B", "P"),
    ("#222222", "X"),
    ("#7A4FBF", "*"),
)


def _groups(dataset: Dataset, by: str) -> tuple[np.ndarray, str]:
    """Group of each item, and what the groups are: a label, the direction or the system."""
    tried = [by] if by else ["task", "direction", "system"]
    for name in tried:
        values = dataset.items[name] if name in dataset.items else dataset.label(name)
        count = len(set(values) - {""})
        if count > 2 * len(MARKS):
            raise TstmetaError(
                f"{dataset.name}: {count} groups by {name} are too many to show. Choose others"
            )
        if count > 1:
            return values.to_numpy(str), name
    raise TstmetaError(
        f"{dataset.name}: the items are not in two groups or more by {' or '.join(tried)}. Choose a"
        " label that splits them"
    )


@_styled
def simpson(
    dataset: Dataset,
    scores: pd.DataFrame,
    metric: str,
    basis: str = "source",
    *,
    by: str = "",
    dimension: str = "content",
    seed: int = 0,
) -> Figure:
    """A metric against people over all items (dashed) and within each group (coloured lines).

    Where the dashed line and the others point in different directions, the pooled correlation is
    about the groups and not about the rewrites (Simpson 1951).  The dashed line is least squares
    over all items, the others over the items of a group.

    Args:
        by: a label, ``direction`` or ``system``; default the first of task, direction and system
            that splits the items.
        seed: of the jitter that tells equal ratings apart.

    Raises:
        TstmetaError: no such scores, nobody judged the dimension, or there are no groups (or
            more than can be told apart).
    """
    human, against = truth(dataset, dimension)
    value = _scores(dataset, scores, metric, basis)
    if not against:
        raise TstmetaError(f"{dataset.name}: nobody judged {dimension}. Choose another dimension")
    groups, what = _groups(dataset, by)
    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    axis = figure.subplots()
    spread = np.nanmax(human) - np.nanmin(human)
    jitter = np.random.default_rng(seed).uniform(-0.025, 0.025, len(human)) * spread
    faint = float(np.clip(250 / max(len(human), 1), 0.12, 0.5))
    whole: dict[str, Any] = {"color": "#111111", "lw": 2.4, "ls": (0, (5, 2))}
    handles, within = [Line2D([], [], label="all items", **whole)], []
    for number, name in enumerate(one for one in dict.fromkeys(groups.tolist()) if one):
        again = number // len(MARKS)  # the second round has other markers and dotted lines
        colour, marker = MARKS[number % len(MARKS)][0], MARKS[(number + again) % len(MARKS)][1]
        line: dict[str, Any] = {"color": colour, "lw": 2.2, "ls": (0, (1.2, 0.8)) if again else "-"}
        x, y = value[groups == name], human[groups == name]
        moved = y + jitter[groups == name]
        axis.scatter(x, moved, s=14, c=colour, marker=marker, alpha=faint, lw=0)
        _regression(axis, x, y, **line)
        within.append(stats.pearson(y, x).value)
        label = f"{name}  r = {_shown(within[-1])}"
        handles.append(Line2D([], [], marker=marker, label=label, **line))
    _regression(axis, value, human, **whole)
    given = [one for one in within if np.isfinite(one)]
    mean, pooled = float(np.mean(given)) if given else np.nan, stats.pearson(human, value).value
    about = f"pooled r = {_shown(pooled)}, mean r within {what} = {_shown(mean)}"
    axis.set_title(f"{metric} on {dataset.name}\n{about}")
    room = 0.08 * spread or 0.5
    axis.set_ylim(np.nanmin(human) - room, np.nanmax(human) + room)
    axis.set_xlabel(metric)
    axis.set_ylabel(f"{dimension} ({against})")
    figure.legend(handles=handles, loc="outside right upper", handlelength=2.6)
    return figure


def _shown(r: float) -> str:
    return f"{r:z.2f}".replace("-", "−") if np.isfinite(r) else "–"


def _scores(dataset: Dataset, scores: pd.DataFrame, metric: str, basis: str) -> np.ndarray:
    """Scores of the items in order."""
    chosen = scores[(scores["metric"] == metric) & (scores["basis"] == basis)]
    if chosen.empty:
        raise TstmetaError(f"{dataset.name}: no scores of {metric} ({basis}). Score it first")
    table = chosen.set_index("item_id").reindex(dataset.items["item_id"])
    return table["value"].where(table["status"].isin(USABLE)).to_numpy(float)


def _regression(axis: Axes, x: np.ndarray, y: np.ndarray, **options) -> None:
    """The least-squares line over the range of x, where there is one."""
    both = np.isfinite(x) & np.isfinite(y)
    r = stats.pearson(x, y).value
    if np.isfinite(r):
        slope = r * y[both].std() / x[both].std()
        ends = np.array([x[both].min(), x[both].max()])
        halo = [
            patheffects.Stroke(linewidth=options["lw"] + 1.8, foreground="white"),
            patheffects.Normal(),
        ]
        level = y[both].mean() - slope * x[both].mean()
        axis.plot(ends, level + slope * ends, path_effects=halo, **options)
