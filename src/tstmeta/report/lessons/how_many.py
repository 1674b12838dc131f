"""Lesson 5: how many rated items do I need?

Two questions hide in one.  How wide is an interval with so many sources (measured, and by the law
of the square root)?  And how far must two metrics lie apart to be told apart?  What more systems
and more raters buy stands in :mod:`.more_systems` and :mod:`.more_raters`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from ...data import Dataset
from ...schema import TstmetaError
from ...stats.matrices import Level
from ...stats.power import FEW_UNITS, Detectable, detectable_difference, width_by_items
from ...stats.resampling import Units
from .. import chapters, html
from ..bench import Bench
from ..figures import BLUE, GREEN, ORANGE, Picture, _panels, _styled
from ..layout import known
from ..matrices import Matrices, matrices

#: Data sets of the lesson, with output of systems.
DATA = ("mir", "lai@pauli2025", "lens@simpda_2022")
SIZES = (10, 20, 40, 80, 160, 320, 640)
#: Below, the law of the square root is not to be trusted.
FEWEST = 10
#: Differences that are rounding.
EQUAL = 1e-9
#: What a difference is looked for in: words, statistic, level.
VIEWS: tuple[tuple[str, str, Level], ...] = (
    ("Pearson, pooled", "pearson", "pooled"),
    ("tau-b, per source", "kendall", "source"),
    ("tau-b, system means", "kendall", "system"),
)
#: Colour and marker of the first, second, ... line.
LOOKS = ((BLUE, "o"), (ORANGE, "s"), (GREEN, "^"), ("#CC79A7", "D"))


def chosen(bench: Bench, dataset: str = "auto") -> list[Dataset]:
    """The data sets of the lesson that are here (else the contrast set), or one by name."""
    sets = chapters.present(bench, DATA) if dataset == "auto" else [bench.dataset(dataset)]
    return sets or [bench.dataset("contrast")]


def _matrices(bench: Bench, data: Dataset, names: Sequence[str], level: str = "pooled") -> Matrices:
    wanted = list(dict.fromkeys(names))
    return matrices(data, bench.table(data, wanted, ["source"]), "content", level)


# ------------------------------------------------------------------------------------- widths


def widths(
    bench: Bench,
    datasets: Sequence[Dataset],
    names: Sequence[str],
    sizes: Sequence[int] = SIZES,
    seed: int = 0,
) -> pd.DataFrame:
    """Width of the interval of pooled Pearson by number of sources, measured and by the law.

    Returns:
        One row a data set, metric and number of sources: data, metric, sources (there are), size,
        width, low, high (measured on subsamples, NaN beyond the sources there are), law.
    """
    rows = []
    for data in datasets:
        found = _matrices(bench, data, names)
        for (metric, _), scores in zip(found.names, found.metrics, strict=True):
            rng = np.random.default_rng(seed)
            one = width_by_items(found.human, scores, found.setting(), sizes, rng, 300)
            for place, size in enumerate(sizes):
                head = {"data": data.name, "metric": metric, "sources": one.sources, "size": size}
                values = {
                    name: float(getattr(one, name)[place])
                    for name in ("width", "low", "high", "law")
                }
                rows.append(head | values)
    return pd.DataFrame(rows)


def widths_picture(rows: pd.DataFrame) -> Picture:
    """Rows of :func:`widths`: marks are measured, dashed lines the law; one panel a data set."""
    return Picture(_widths_picture(rows))


@_styled
def _widths_picture(rows: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(rows["data"]))
    figure, axes = _panels(len(names), 3.1 if len(names) > 1 else 4.6, 3.0, sharey=True)
    for axis, name in zip(axes, names, strict=True):
        own = rows[rows["data"] == name]
        for place, metric in enumerate(dict.fromkeys(own["metric"])):
            colour, marker = LOOKS[place % len(LOOKS)]
            one = own[own["metric"] == metric]
            axis.plot(one["size"], one["law"], color=colour, lw=1.1, linestyle="--")
            axis.plot(one["size"], one["width"], color=colour, marker=marker, ms=5, label=metric)
            axis.fill_between(one["size"], one["low"], one["high"], color=colour, alpha=0.12, lw=0)
        _logarithmic(axis, sorted(set(rows["size"])))
        axis.set_title(f"{name}: {own['sources'].iloc[0]} sources", fontsize=9)
        axis.set_xlabel("sources")
    axes[0].set_ylabel("width of the 95 % interval")
    figure.legend(handles=axes[0].get_lines()[1::2], loc="outside lower center", ncols=4)
    return figure


def _logarithmic(axis, sizes: Sequence[int]) -> None:
    axis.set(xscale="log", yscale="log")
    axis.set_xticks(sizes, [str(size) for size in sizes], rotation=30)
    heights = [0.05, 0.1, 0.2, 0.4, 0.8]
    axis.set_yticks(heights, [f"{height:g}" for height in heights])
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.minorticks_off()


# -------------------------------------------------------------------------------- differences


def _detectable(
    bench: Bench,
    data: Dataset,
    names: Sequence[str],
    statistic: str,
    level: Level,
    units: Units,
    power: float,
    draws: int,
    seed: int,
) -> tuple[Detectable, Matrices]:
    """What a data set can show between any two of the metrics."""
    known(statistic, level)
    found = _matrices(bench, data, names, level)
    if len(found.metrics) < 2:
        raise TstmetaError(
            f"{data.name}: of {', '.join(names)}, fewer than two have scores of single rewrites;"
            " take others"
        )
    rng = np.random.default_rng(seed)
    setting, plan = found.setting(statistic, level), found.plan(units, draws)
    return detectable_difference(found.human, found.metrics, setting, plan, rng, power=power), found


def _of_systems(data: Dataset) -> bool:
    """Whether the rewrites come from named systems, not from kinds of change made on purpose."""
    return bool((data.items["system"] != "").any() and (data.label("shift") == "").all())


def detectable(
    bench: Bench,
    datasets: Sequence[Dataset],
    pairs: Sequence[tuple[str, str]],
    power: float = 0.8,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Minimum detectable differences of pairs of metrics in each view, two ways of drawing.

    Returns:
        One row a data set, pair and view: data, pair, view, observed (first less second), sources
        (detectable when sources are drawn), both (when systems are drawn too), note.
    """
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    rows = []
    for data in datasets:
        systems = _of_systems(data)
        for view, statistic, level in VIEWS:
            head = {"data": data.name, "view": view}
            if level == "system" and not systems:
                rows += [head | _row(pair) | {"note": "no systems"} for pair in pairs]
                continue
            found: dict[str, Detectable] = {}
            for units in ("sources", "both") if systems else ("sources",):
                found[units], own = _detectable(
                    bench, data, names, statistic, level, units, power, draws, seed
                )
            order = [metric for metric, _ in own.names]
            rows += [head | _row(pair, order, found) for pair in pairs]
    made = pd.DataFrame(rows)
    return made.sort_values(["data", "pair"], key=_as_they_came, kind="stable")


def _row(
    pair: tuple[str, str],
    order: Sequence[str] = (),
    found: Mapping[str, Detectable] | None = None,
) -> dict:
    row = {"pair": f"{pair[0]} – {pair[1]}", "observed": math.nan, "sources": math.nan}
    row |= {"both": math.nan, "note": ""}
    for units, one in (found or {}).items():
        if set(pair) <= set(order):
            place = order.index(pair[0]), order.index(pair[1])
            row |= {units: float(one.difference[place]), "observed": float(one.observed[place])}
            row |= {"note": one.reason}
    return row


def _as_they_came(column: pd.Series) -> pd.Series:
    return pd.Series(pd.factorize(column)[0], column.index)


def detectable_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`detectable`: a view a column; small, the same with systems drawn too."""
    grid = html.pivot(
        rows.assign(cell=[_cell(row) for row in rows.to_dict("records")]),
        ["data", "pair"],
        "view",
        "cell",
    )
    made = html.table(grid, dict.fromkeys(grid.columns[2:], str))
    note = (
        "<p class='tst-legend'>large: sources drawn · small: systems drawn too · in brackets:"
        f" observed · *: fewer than {FEW_UNITS} systems, a guess · none: no difference that there"
        " can be is found reliably</p>"
    )
    return html.Html(made.text + note)


def _cell(row: dict) -> str:
    if math.isnan(row["sources"]):
        return "–"
    few = "*" if "too few" in row["note"] else ""
    both = "" if math.isnan(row["both"]) else f"<br><small>{_size(row['both'])}{few}</small>"
    return f"{_size(row['sources'])} ({html.signed(row['observed'])}){both}"


def _size(value: float) -> str:
    """A difference; two correlations lie at most 2 apart."""
    return html.signed(value) if value <= 2 else "none"


class Needed(NamedTuple):
    """How many sources it takes to tell two metrics apart.

    Attributes:
        sources: the number, rounded up; NaN where it cannot be said.
        here: rated sources of the data set.
        detectable: the difference that these can show.
        observed: first metric less second, on these.
        reason: why there is no number, or why to doubt it.
    """

    sources: float
    here: int
    detectable: float
    observed: float
    reason: str = ""

    def to_find(self, difference: float) -> Needed:
        """The same for another difference.

        Raises:
            TstmetaError: a difference that is not above 0.
        """
        if not difference > 0:
            raise TstmetaError(f"difference {difference} cannot be looked for: give one above 0")
        if not self.detectable > 0:
            return self
        sources = math.ceil(self.here * (self.detectable / difference) ** 2)
        return self._replace(sources=float(sources))


def needed(
    bench: Bench,
    dataset: str | Dataset,
    first: str,
    second: str,
    difference: float,
    power: float = 0.8,
    *,
    statistic: str = "pearson",
    level: Level = "pooled",
    draws: int = 1000,
    seed: int = 0,
) -> Needed:
    """Sources like these that it takes to find a true difference of two metrics, systems kept.

    By the law of the square root: the standard error shrinks with the root of the number of
    sources, so a difference half as large takes four times as many.

    Raises:
        TstmetaError: a difference that is not above 0, a power outside (0, 1), one metric twice,
            or an unknown metric, statistic or level.
    """
    data = bench.dataset(dataset) if isinstance(dataset, str) else dataset
    if first == second:
        raise TstmetaError(f"two different metrics are needed, got {first} twice")
    if not 0 < power < 1:
        raise TstmetaError(f"power {power} is no chance: give a number between 0 and 1, as 0.8")
    one, found = _detectable(
        bench, data, (first, second), statistic, level, "sources", power, draws, seed
    )
    given = np.isfinite(found.human) & np.isfinite(found.metrics).all(axis=0)
    here = len(set(np.asarray(found.layout.sources)[given.any(axis=1)]))
    least, observed = (float(side[0, 1]) for side in (one.difference, one.observed))
    equal = least < EQUAL
    reason = "the two metrics are equal in every draw" if equal else one.reason
    made = Needed(math.nan, here, 0.0 if equal else least, observed, reason)
    return made.to_find(difference)


def needed_table(
    bench: Bench,
    datasets: Sequence[Dataset],
    first: str,
    second: str,
    differences: Sequence[float] = (0.02, 0.05, 0.1, 0.2),
    power: float = 0.8,
    seed: int = 0,
) -> html.Html:
    """:func:`needed` for several differences, one row a data set."""
    rows = []
    for data in datasets:
        found = needed(bench, data, first, second, differences[0], power, seed=seed)
        row = {"data": data.name, "sources here": found.here}
        row |= {f"to find {one:g}": _count(found.to_find(one).sources) for one in differences}
        rows.append(row)
    return html.table(pd.DataFrame(rows))


def needed_said(
    found: Needed, name: str, first: str, second: str, difference: float, power: float
) -> Markdown:
    """One answer as a sentence."""
    if math.isnan(found.sources):
        return Markdown(f"On `{name}` there is no answer: {found.reason}.")
    enough = "which is enough" if found.sources <= found.here else "which is not enough"
    return Markdown(
        f"To find a true difference of {difference:g} between `{first}` and `{second}` with a"
        f" chance of {power:.0%}, it takes about **{_count(found.sources)} sources** like those of"
        f" `{name}`. There are {found.here:,}, {enough}: they show differences from"
        f" {found.detectable:.3f} up."
    )


def _count(value: float) -> str:
    """A number of sources, not more exact than the law, which fails for very few."""
    if math.isnan(value):
        return "–"
    if value < FEWEST:
        return f"fewer than {FEWEST}"
    step = 10 ** max(0, math.floor(math.log10(max(1.0, value))) - 1)
    return f"{math.ceil(value / step) * step:,}"
