"""Metrics against metrics: which say the same, and how their values are spread.

The two pictures of mukherjee2025's Figures 1 to 6.  In the heat map signs stay as they are: a
distance (arrow behind its name) is negative beside a similarity that says the same.  Colours run
from blue over white to orange, which colour-blind readers tell apart.  The map is a table with
coloured cells and not an image: its numbers stay readable on a phone, can be copied and are read
out by a screen reader.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from .. import stats
from ..data import Dataset
from ..schema import TstmetaError
from . import html
from .asked import lower_is_better
from .figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from .figures_ranks import names
from .tables import judged, scored, truth

#: Statistics that treat both sides alike, so that the map is symmetric.
SYMMETRIC = ("pearson", "spearman", "kendall")
#: Bars of a distribution.
BARS = 30
_COLOURS = LinearSegmentedColormap.from_list("blue to orange", [BLUE, "#FFFFFF", ORANGE])
#: Below this value a cell is so blue that white can be read better than black (contrast 4.5).
_DARK = -0.925
_NOTHING = Markdown("*Nothing to compare: fewer than two metrics have values of single items.*")


class Correlations(NamedTuple):
    """Correlations of all pairs of metrics, each over the items that both have a value for.

    Attributes:
        dataset, statistic: what was computed.
        labels: names as shown, ``[M]``; metrics that say similar things stand together, and people
            last.
        matrix: values ``[M, M]``, symmetric, NaN where there is none; the diagonal is 1 where a
            metric varies at all.
        n: items behind each value, ``[M, M]``.
        people: how many of the last rows are mean human ratings (or labels by construction).
        left_out: metrics that have no values of single items, with the reason.
    """

    dataset: str
    statistic: str
    labels: list[str]
    matrix: np.ndarray
    n: np.ndarray
    people: int
    left_out: dict[str, str]


def correlations(
    dataset: Dataset, scores: pd.DataFrame, *, statistic: str = "spearman", people: bool = True
) -> Correlations:
    """Every metric of a ``scores`` table against every other.

    Args:
        statistic: one of :data:`SYMMETRIC`.
        people: add a row for each dimension that was judged.

    Raises:
        TstmetaError: another statistic.
    """
    if statistic not in SYMMETRIC:
        raise TstmetaError(
            f"a map of metrics against metrics cannot be of {statistic!r}, which tells people from"
            f" metrics; use one of {', '.join(SYMMETRIC)}"
        )
    labels, vectors, left_out = _vectors(dataset, scores)
    values, n = _pairs(vectors, statistic)
    order = clustered(values)
    dimensions = judged(dataset) if people and labels else []
    both = [vectors[place] for place in order]
    both += [truth(dataset, dimension)[0] for dimension in dimensions]
    values, n = _pairs(both, statistic)
    shown = [labels[place] for place in order] + [f"people: {one}" for one in dimensions]
    return Correlations(dataset.name, statistic, shown, values, n, len(dimensions), left_out)


def _vectors(
    dataset: Dataset, scores: pd.DataFrame
) -> tuple[list[str], list[np.ndarray], dict[str, str]]:
    """Names as shown, values ``[items]``, and what has none with the reason."""
    found = list(scored(dataset, scores))
    better = ["lower" if lower_is_better(one.name, one.basis) else "higher" for one in found]
    about = {
        "metric": [one.name for one in found],
        "basis": [one.basis for one in found],
        "better": better,
    }
    labels, vectors, left_out = [], [], {}
    for label, one in zip(names(pd.DataFrame(about)), found, strict=True):
        if one.corpus is not None:
            left_out[label] = "a metric of whole outputs"
        elif not np.isfinite(one.vector).any():
            left_out[label] = "no score has a value"
        else:
            labels.append(label)
            vectors.append(one.vector)
    return labels, vectors, left_out


def _pairs(vectors: Sequence[np.ndarray], statistic: str) -> tuple[np.ndarray, np.ndarray]:
    """Values ``[M, M]`` and numbers of items ``[M, M]``."""
    size = len(vectors)
    values, n = np.full((size, size), np.nan), np.zeros((size, size), dtype=int)
    for row, first in enumerate(vectors):
        for column, second in enumerate(vectors[: row + 1]):
            found = stats.STATISTICS[statistic](first, second)
            values[row, column] = values[column, row] = found.value
            n[row, column] = n[column, row] = found.n
    return values, n


def clustered(values: np.ndarray) -> list[int]:
    """An order of rows in which similar ones stand together.

    Average linkage on 1 - |correlation|, so that a distance stands beside the similarity that it
    mirrors; neighbours in the tree are turned so that they fit best.  A pair without a value counts
    as unrelated.

    Args:
        values: correlations ``[M, M]``, symmetric.
    """
    size = len(values)
    if size < 3:
        return list(range(size))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering

    apart = 1 - np.abs(np.nan_to_num(values, nan=0.0))
    # equal but for rounding is equal, whatever the machine
    distances = np.clip(apart[np.triu_indices(size, 1)].round(9), 0, 1)
    tree = linkage(distances, "average")
    return [int(place) for place in leaves_list(optimal_leaf_ordering(tree, distances))]


# ------------------------------------------------------------------------------------- heat map


def heat_map(found: Correlations) -> html.Html | Markdown:
    """The map as a table: a row and a column a metric, people last, behind a line.

    Cells are coloured by value, have their number and, on touch, their names and n; a pair without
    a value is crossed out.
    """
    if len(found.labels) < 2:
        return _NOTHING
    heads = "".join(
        f"<th scope='col'{_edge(found, -1, place)}><span>{escape(label)}</span></th>"
        for place, label in enumerate(found.labels)
    )
    lines = []
    for row, label in enumerate(found.labels):
        cells = "".join(_cell(found, row, column) for column in range(len(found.labels)))
        lines.append(f"<tr><th scope='row'>{escape(label)}</th>{cells}</tr>")
    title = f"{found.dataset}: {stats.STATISTICS[found.statistic].label}, {_counts(found)}"
    return html.Html(
        f"<div class='tst-table tst-map' tabindex='0'><table><caption>{escape(title)}</caption>"
        f"<thead><tr><td></td>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _cell(found: Correlations, row: int, column: int) -> str:
    value, edge = float(found.matrix[row, column]), _edge(found, row, column)
    about = f"{found.labels[row]} and {found.labels[column]}, n = {found.n[row, column]:,}"
    title = f" title='{escape(about, quote=True)}'"
    if math.isnan(value):
        return f"<td{edge}{title}>×</td>"
    ink = "#fff" if value < _DARK else "#000"
    look = f" style='background:{to_hex(_COLOURS((value + 1) / 2))};color:{ink}'"
    # one is a metric with itself; else the zero before the point says nothing
    text = html.signed(value, 2).replace("0.", ".", 1)
    return f"<td{edge}{title}{look}>{text.replace('1.00', '1')}</td>"


def _edge(found: Correlations, row: int, column: int) -> str:
    """The class of a cell beside the line that parts metrics from people."""
    first = len(found.labels) - found.people
    if not 0 < found.people < len(found.labels):
        return ""
    names = ["tst-below"] * (row == first) + ["tst-right"] * (column == first)
    return f" class='{' '.join(names)}'" if names else ""


def _counts(found: Correlations) -> str:
    """How many items are behind the values."""
    off = found.n[~np.eye(len(found.n), dtype=bool)]
    low, high = int(off.min(initial=10**12)), int(off.max(initial=0))
    return f"n = {high:,}" if low == high else f"n = {low:,} to {high:,}"


def told(found: Correlations) -> str:
    """The map in words: which metrics are most alike, what is nearest to people, what is missing.

    Nearest is the value furthest from zero, with its sign.
    """
    size = len(found.labels) - found.people
    pairs = [(row, column) for row in range(size) for column in range(row)]
    known = [pair for pair in pairs if math.isfinite(found.matrix[pair])]
    words = f"`{found.dataset}`, {size} metrics."
    if known:
        # in the order of the labels where two pairs are alike
        low = min(known, key=lambda pair: found.matrix[pair])
        high = max(known, key=lambda pair: found.matrix[pair])
        words += f" Most alike: {_pair(found, high)}. Most opposed: {_pair(found, low)}."
    for row in range(size, len(found.labels)):
        own = [column for column in range(size) if math.isfinite(found.matrix[row, column])]
        if own:
            near = max(own, key=lambda column: abs(found.matrix[row, column]))
            value = html.signed(float(found.matrix[row, near]), 2)
            whose = found.labels[row].replace("people: ", "people's ")
            words += f" Nearest to {whose}: {found.labels[near]}, {value}."
    if missing := len(pairs) - len(known):
        words += f" {missing} of {len(pairs)} pairs have no value."
    return words


def _pair(found: Correlations, pair: tuple[int, int]) -> str:
    first, second = (found.labels[place] for place in sorted(pair))
    return f"{first} and {second}, {html.signed(float(found.matrix[pair]), 2)}"


# -------------------------------------------------------------------------------- distributions


def distributions(dataset: Dataset, scores: pd.DataFrame) -> html.Html | Markdown:
    """How each metric's values are spread, one panel a metric, each on its own scale."""
    labels, vectors, _ = _vectors(dataset, scores)
    if not labels:
        return Markdown("*No metric has values of single items here.*")
    words = (
        f"Histograms of the values of {len(labels)} metrics on {dataset.name}: "
        + "; ".join(_told_values(*one) for one in zip(labels, vectors, strict=True))
        + "."
    )
    return described(distributions_figure(dataset.name, labels, vectors), words)


@_styled
def distributions_figure(name: str, labels: list[str], vectors: list[np.ndarray]) -> Figure:
    """Histograms; the dashed line is the mean, the title says how many share the commonest value.

    A metric whose values pile up at one end, or take few values, has little to tell items apart by,
    whatever its correlation is.
    """
    figure, axes = _panels(len(labels), 2.4, 1.6, most=3)
    for axis, label, vector in zip(axes, labels, vectors, strict=True):
        values = vector[np.isfinite(vector)]
        axis.hist(values, bins=edges(values), color=BLUE)
        axis.axvline(values.mean(), color="#222222", lw=1.1, ls="--")
        axis.set_title(label, fontsize=9)
        axis.set_xlabel(_tied(values), fontsize=8, color=GREY)
        axis.set_yticks([])
        axis.grid(visible=False)
        axis.tick_params(labelsize=8)
        axis.xaxis.set_major_locator(MaxNLocator(4))
    figure.suptitle(name, fontsize=10, fontweight="bold")
    return figure


def edges(values: np.ndarray) -> np.ndarray:
    """Edges of :data:`BARS` bars of equal width; few whole numbers get a bar each.

    A single value stands in the middle of bars that are empty.
    """
    low, high = float(values.min()), float(values.max())
    if not high - low > 1e-12 * max(abs(low), abs(high), 1e-300):
        wide = max(abs(low), 1.0) / 2
        return np.linspace(low - wide, low + wide, (BARS | 1) + 1)
    if high - low <= 2 * BARS and (values == np.round(values)).all():
        return np.arange(low - 0.5, high + 1)
    return np.linspace(low, high, BARS + 1)


def _tied(values: np.ndarray) -> str:
    """How many items have the commonest value."""
    _, counts = np.unique(values.round(9), return_counts=True)
    share = 100 * counts.max() / len(values)
    told = "< 1" if share < 1 else f"{share:.0f}"
    return f"n = {len(values):,}; commonest value {told}\u00a0%"


def _told_values(label: str, vector: np.ndarray) -> str:
    values = vector[np.isfinite(vector)]
    low, middle, high = (html.signed(float(one), 2) for one in np.quantile(values, (0.1, 0.5, 0.9)))
    return f"{label} median {middle}, one in ten below {low}, one in ten above {high}"


# --------------------------------------------------------------------------------------- pictures


def described(figure: Figure, words: str) -> html.Html:
    """A picture as HTML with the words that stand in its place for who cannot see it."""
    png = base64.b64encode(Picture(figure)._repr_png_()).decode()
    return html.Html(
        f"<figure><img alt='{escape(words, quote=True)}'"
        f" src='data:image/png;base64,{png}'></figure>"
    )
