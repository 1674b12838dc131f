"""Lesson 4, the confound dial: the same rewrites and scores, another mixture of cells.

The contrast set has every source in four cells, {strong, light} style shift x {content kept, one
error}.  Weighting the cells by (1 + phi)/4 where shift and error go together and by (1 - phi)/4
where they do not makes the correlation of strong shift and content error equal to phi, and keeps
both margins at one half.  Nothing is drawn for that: a mixture is a weighting of the systems (here:
cells), and the statistics take weights.  With phi = -1 two cells are left, strong shift with kept
content and light shift with an error: the design of the constructed set of pauli2025.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Sequence
from html import escape
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ...data import Dataset
from ...metrics import families, lower_is_better, resolve
from ...schema import TstmetaError
from ...stats import STATISTICS, Draws, Setting, draw, kendall, resampled
from ...stats.intervals import of_values
from .. import html
from ..bench import Bench
from ..figures import BLUE, CELLS, GREEN, GREY, ORANGE, Picture, _panels, _styled
from ..matrices import matrices
from ..tables import truth

#: Cells weigh STEP + step where shift and error go together, STEP - step elsewhere: whole numbers.
STEP = 20
#: phi = -1, the published design, then -0.9 to 0.9 by 0.05.
STEPS = np.array([-STEP, *range(-18, 19)])
TOGETHER = ("strong-error", "light")
KEPT, WRONG = ("strong", "light"), ("strong-error", "light-error")
SHOWN = (-1.0, -0.9, -0.5, 0.0, 0.5, 0.9)
#: In every dial, whatever metrics are asked for.
SENTINELS = ("copy-rate", "length-ratio", "random")
ORACLE = "style label"
AUC = "preference"
LABELS = {"pearson": "Pearson's r", "spearman": "Spearman's rho", AUC: "AUC"}
COLOURS = (BLUE, ORANGE, GREEN, "#CC79A7", "#56B4E9", "#E69F00")
_ALT = (
    "Two panels, correlation with content and AUC against phi: a line for each metric and sentinel;"
    " the line of the style label falls straight from one end to the other"
)


class Curve(NamedTuple):
    """A statistic of every metric along the dial.

    Attributes:
        lines: values ``[M, D]``, NaN where there is none.
        low, high: limits of 95 %, sources drawn again, of the same shape.
    """

    name: str
    lines: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def chance(self) -> float:
        """What a metric that knows nothing has."""
        return STATISTICS[self.name].chance

    @property
    def range(self) -> tuple[float, float]:
        """Ends of the scale."""
        return (-1.0, 1.0) if self.chance == 0 else (0.0, 1.0)


class Dial(NamedTuple):
    """What the lesson shows.

    Attributes:
        phi: ``[D]``, the first is -1.
        names, kinds, signatures: of each metric; kinds are metric, sentinel and oracle.
        curves: the statistic that was asked for, then the AUC.
        items, sources: how many there are.
    """

    phi: np.ndarray
    names: list[str]
    kinds: list[str]
    signatures: list[str]
    curves: tuple[Curve, Curve]
    items: int
    sources: int

    def at(self, phi: float) -> int:
        """Where a setting of the dial stands."""
        return int(np.abs(self.phi - phi).argmin())

    def turned(self) -> np.ndarray:
        """Whose value is surely below zero at one end and surely above at the other, ``[M]``.

        The ends are -0.9 and 0.9, the value is that of the first curve, and sure is what its
        interval leaves no doubt about.
        """
        curve, ends = self.curves[0], [self.at(-0.9), self.at(0.9)]
        below, above = curve.high[:, ends] < 0, curve.low[:, ends] > 0
        return (below[:, 0] & above[:, 1]) | (above[:, 0] & below[:, 1])


# ------------------------------------------------------------------------------- computing


def turn(
    bench: Bench,
    metrics: Sequence[str],
    statistic: str = "pearson",
    draws: int = 400,
    seed: int = 0,
) -> Dial:
    """All metrics at all settings, with intervals from ``draws`` resamples of sources.

    Raises:
        TstmetaError: an unknown metric, or a statistic without a dial.
    """
    if statistic not in ("pearson", "spearman"):
        raise TstmetaError(f"statistic is {statistic!r}; use pearson or spearman")
    dataset = bench.dataset("contrast")
    wanted = list(dict.fromkeys([*resolve(list(metrics)), *SENTINELS]))
    made = matrices(dataset, bench.table(dataset, wanted, ["source"]))
    style = made.layout.matrix(truth(dataset, "style")[0])
    upright = np.array([-1.0 if falls(name) else 1.0 for name, _ in made.names])
    scores = np.concatenate([made.metrics * upright[:, None, None], style[None]])
    by_cell = [made.layout.systems.index(cell) for cell in CELLS]
    human, scores = made.human[:, by_cell], scores[..., by_cell]
    again = draw(made.plan("sources", draws), human.shape, np.random.default_rng(seed)).sources
    sources = np.vstack([np.ones(len(human)), again])  # the first draw is the set itself
    first, second = (
        _curve(name, values(human, scores, name, sources)) for name in (statistic, AUC)
    )
    names = [*(name for name, _ in made.names), ORACLE]
    known = families()["sentinel"]
    kinds = ["sentinel" if name in known else "metric" for name in names[:-1]] + ["oracle"]
    signatures = [*made.signatures, "label by construction: 1 strong, 0 light"]
    return Dial(
        STEPS / STEP,
        names,
        kinds,
        signatures,
        (first, second),
        int(np.isfinite(human).sum()),
        len(human),
    )


def weights(steps: np.ndarray = STEPS) -> np.ndarray:
    """Weights of :data:`CELLS` at each setting, ``[D, 4]``, whole numbers with mean ``STEP``."""
    sign = np.where(np.isin(CELLS, TOGETHER), 1, -1)
    return (STEP + np.asarray(steps)[:, None] * sign).astype(float)


def values(
    human: np.ndarray, metrics: np.ndarray, statistic: str, sources: np.ndarray
) -> np.ndarray:
    """A statistic at every setting in every draw of sources, exactly: ``[M, D, B]``.

    Args:
        human: ``[S, 4]``, columns in the order of :data:`CELLS`.
        metrics: ``[M, S, 4]``.
        sources: how often each source counts, ``[B, S]``.
    """
    cells = weights()
    if statistic == AUC:
        return _auc(human, metrics, sources, cells)
    each = Draws(np.tile(sources, (len(cells), 1)), np.repeat(cells, len(sources), axis=0))
    found = resampled(human, metrics, Setting(statistic), each)
    return found.reshape(len(metrics), len(cells), len(sources))


def _auc(
    human: np.ndarray, metrics: np.ndarray, sources: np.ndarray, cells: np.ndarray
) -> np.ndarray:
    """Share of (kept, wrong) pairs that a metric puts in order, a tie being half a pair.

    A pair counts as often as both its cells do, so the pairs of two cells are compared once, and
    a mixture only weights them.
    """
    function, sums = STATISTICS[AUC], []
    for pair in product(KEPT, WRONG):
        at = [CELLS.index(cell) for cell in pair]
        x, y = human[:, at].T.reshape(1, -1), np.swapaxes(metrics[..., at], 1, 2)
        parts = function.sums(x, y.reshape(len(metrics), 1, -1), np.tile(sources, (1, 2)))
        weight = cells[:, at].prod(axis=1)[None, :, None]
        sums.append([weight * part[:, None, :] for part in parts])
    return function.finish(*(sum(parts) for parts in zip(*sums, strict=True)))


def _curve(name: str, found: np.ndarray) -> Curve:
    """Values of the set itself, and limits from the draws that follow it."""
    own, drawn = found[..., 0], found[..., 1:]
    limits = of_values(drawn.reshape(own.size, -1), own.ravel())
    low, high = (
        np.array([getattr(one, side) for one in limits]).reshape(own.shape)
        for side in ("low", "high")
    )
    return Curve(name, own, low, high)


# ------------------------------------------------------------------------------- showing


def show(made: Dial) -> html.Html:
    """The dial: lines, a slider, the four weights and the ranking; a still picture without scripts.

    It works from a file, without a server, and draws with Plotly where the page has loaded it.
    """
    page = Path(__file__).with_suffix(".html").read_text(encoding="utf-8")
    still = base64.b64encode(picture(made)._repr_png_()).decode("ascii")
    data = json.dumps(_data(made), allow_nan=False, ensure_ascii=False).replace("</", "<\\/")
    for mark, text in (("STILL", still), ("ALT", escape(_ALT, quote=True)), ("DATA", data)):
        page = page.replace(f"__{mark}__", text)
    return html.Html(page)


def _data(made: Dial) -> dict:
    """What the page's script needs; values with four decimals, None where there is none."""

    def plain(numbers: np.ndarray) -> list:
        return [[round(v, 4) if math.isfinite(v) else None for v in row] for row in numbers]

    lines = zip(made.names, _looks(made), strict=True)
    return {
        "phi": [round(float(phi), 4) for phi in made.phi],
        "cells": list(CELLS),
        "weights": plain(weights() / weights().sum(axis=1, keepdims=True)),
        "lines": [
            {"name": name, "colour": colour, "dash": dash, "falls": falls(name)}
            for name, (colour, dash) in lines
        ],
        "curves": [
            {"label": LABELS[curve.name], "chance": curve.chance, "range": curve.range}
            | {side: plain(getattr(curve, side)) for side in ("lines", "low", "high")}
            for curve in made.curves
        ],
    }


def falls(name: str) -> bool:
    """Whether less is better, against the source."""
    return name != ORACLE and lower_is_better(name, "source")


def _looks(made: Dial) -> list[tuple[str, str]]:
    """Colour and dash of each line; metrics beyond the colours, and sentinels, differ in dash."""
    dashes = ("solid", "dash", "dot", "dashdot")
    counts = dict.fromkeys(made.kinds, 0)
    looks = []
    for kind in made.kinds:
        place = counts[kind]
        counts[kind] += 1
        if kind == "metric":
            looks.append((COLOURS[place % len(COLOURS)], dashes[place // len(COLOURS) % 4]))
        else:
            looks.append((GREY, dashes[1 + place % 3]) if kind == "sentinel" else ("", "solid"))
    return looks


def picture(made: Dial) -> Picture:
    """The same without a dial: both statistics against phi."""
    return Picture(_picture(made))


@_styled
def _picture(made: Dial) -> Figure:
    figure, axes = _panels(2, 4.0, 3.6)
    styles = {"dot": ":", "dash": "--", "dashdot": "-."}
    for axis, curve in zip(axes, made.curves, strict=True):
        axis.axhline(curve.chance, color=GREY, lw=0.8)
        for name, row, (colour, dash) in zip(made.names, curve.lines, _looks(made), strict=True):
            look = {"color": colour or "#111111", "linestyle": styles.get(dash, "-")}
            axis.plot(made.phi[1:], row[1:], lw=1.4, label=name, **look)
            axis.plot(made.phi[:1], row[:1], "o", ms=4, mfc="none", color=look["color"])
        axis.set_title(LABELS[curve.name])
        axis.set(xlabel="φ of strong shift and content error", xlim=(-1.05, 0.95), ylim=curve.range)
    axes[0].set_ylabel("agreement with content")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=5, fontsize=8)
    return figure


def table(made: Dial) -> html.Html:
    """The first statistic at a few settings, the interval on pointing, and where the sign turns.

    Where it turns is told of those that surely do, see :meth:`Dial.turned`.
    """
    curve, turned, rows = made.curves[0], made.turned(), []
    for m, name in enumerate(made.names):
        row = {"metric": f"<code>{escape(name)}</code>" + " ↓" * falls(name)}
        for phi in SHOWN:
            d = made.at(phi)
            about = f"{html.signed(curve.low[m, d])} to {html.signed(curve.high[m, d])}"
            about = f"95 %: {about}; {made.signatures[m]}"
            value = html.signed(curve.lines[m, d])
            head = f"φ = {html.signed(phi, 1)}" + "\npublished design" * (phi == -1)
            row[head] = f"<span title='{escape(about, quote=True)}'>{value}</span>"
        place = crossing(made.phi, curve.lines[m]) if turned[m] else math.nan
        row["sign turns at\nφ ="] = html.signed(place)
        rows.append(row)
    frame = pd.DataFrame(rows)
    title = f"{LABELS[curve.name]} with content, n = {made.items:,} rewrites of {made.sources:,}"
    title += " sources; ↓ less is better, turned round"
    return html.table(frame, dict.fromkeys(frame.columns, str), caption=title)


def crossing(phi: np.ndarray, values: np.ndarray) -> float:
    """Where a curve goes through zero (between settings: a straight line); NaN where it does not.

    A curve that goes through more than once has no one place: NaN.
    """
    sign = np.sign(values)
    (turns,) = np.nonzero((sign[:-1] != 0) & (sign[:-1] != sign[1:]))
    if len(turns) != 1 or not sign[0] * sign[-1] < 0:
        return math.nan
    d = int(turns[0])
    return float(phi[d] + (phi[d + 1] - phi[d]) * values[d] / (values[d] - values[d + 1]))


# ------------------------------------------------------------------------------- saying


def which(dataset: Dataset) -> Markdown:
    """Say what the page rests on."""
    items, sources = len(dataset.items), dataset.items["source_id"].nunique()
    return Markdown(
        f"This page rests on the contrast set: {items:,} rewrites of {sources:,} sources. What is"
        " called content and style here is a label by construction, no rating."
    )


def told(made: Dial) -> Markdown:
    """What the first metric does between both ends, and how many change their sign."""
    curve, ends = made.curves[0], (made.at(-0.9), made.at(0.9))
    first, last = curve.lines[:, ends[0]], curve.lines[:, ends[1]]
    metrics = [m for m, kind in enumerate(made.kinds) if kind == "metric"]
    turned = int(made.turned()[metrics].sum())
    m = metrics[0] if metrics else 0
    both = np.isfinite(first) & np.isfinite(last)
    order = kendall(first[both], last[both])
    return Markdown(
        f"From φ = {html.signed(-0.9, 1)} to φ = {html.signed(0.9, 1)} `{made.names[m]}` goes from"
        f" {html.signed(first[m])} to {html.signed(last[m])}; {turned} of {len(metrics)}"
        f" metrics turn their sign. The ranking at one end, held against the ranking at the"
        f" other, has Kendall's tau-b {html.signed(order.value)} (n = {order.n}, sentinels and"
        " style label among them)."
    )


def leaders(made: Dial) -> Markdown:
    """Who leads at both ends and in the middle."""
    curve, lines = made.curves[0], []
    for phi in (-0.9, 0.0, 0.9):
        column = curve.lines[:, made.at(phi)]
        if not np.isfinite(column).any():
            continue
        m = int(np.nanargmax(column))
        shown = f"`{made.names[m]}` at {html.signed(column[m])}"
        lines.append(f"- φ = {html.signed(phi, 1)}: {shown}")
    return Markdown("\n".join(["At the top of the ranking stands", "", *lines]))


def published(made: Dial, bench: Bench) -> Markdown:
    """The end of the dial beside the subset with the cells of the published design alone."""
    curve, tied = made.curves[0], bench.dataset("contrast@tied")
    m = made.kinds.index("metric") if "metric" in made.kinds else 0
    name = made.names[m]
    scores = bench.table(tied, [name], ["source"])
    own = matrices(tied, scores)
    found = STATISTICS[curve.name](own.human.ravel(), own.metrics[0].ravel())
    oracle = curve.lines[made.names.index(ORACLE), 0]
    return Markdown(
        f"At φ = {html.signed(-1, 0)} `{name}` stands at {html.signed(curve.lines[m, 0])}, and the"
        f" style label at {html.signed(oracle)}: there, style *is* content. Computed from the two"
        f" cells alone, `{tied.name}`, `{name}` has {html.signed(found.value)} (n = {found.n:,})."
    )
