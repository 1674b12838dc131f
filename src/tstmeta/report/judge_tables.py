"""Printed tables about judges beside ours: Table 4 of lai2023, Tables 10 and 11 of pauli2025."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from . import html
from .bench import Bench
from .cells import lai2023
from .choices import Asked, Compared, compare
from .judge_consistency import NONE_HERE
from .judge_ratings import RELEASED, Given
from .ledger import ledger
from .levels import ORDER, Levels
from .published import Cell, cells, round_half_up

LEGEND = "<p class='tst-legend'><b>ours</b> [95 %] · <i>published</i> · {}</p>"
#: How lai2023 calls the two manners of asking.
_ITEMS = dict(zip(RELEASED, ("single", "multiple"), strict=True))


# --------------------------------------------------------------------- lai2023, Table 4


#: Limits by dimension, manner and level.
Limits = dict[tuple[str, str, str], tuple[float, float]]


def table_four(bench: Bench, limits: Limits) -> html.Html:
    """One dimension alone against all at once: printed, ours, status and interval, 18 cells.

    Percent at system level, Kendall's tau-b times 100 elsewhere; limits as
    :func:`limits_four` makes them.
    """
    found = ledger(lai2023.PAPER, "4", bench).set_index("cell")
    wanted = [cell for cell in cells() if (cell.paper, cell.table) == (lai2023.PAPER, "4")]
    wanted.sort(key=lambda cell: (cell.dimension, ORDER.index(cell.level)))
    lines = []
    for cell in wanted:
        entry = found.loc[cell.cell]
        about = f"n = {entry['n']}; {entry['status']}; {entry['reason']}; {entry['signature']}"
        ours = round_half_up(entry["ours"], cell.decimals) if entry["n"] else math.nan
        shown = html.status_cell(ours, cell.printed, entry["status"], about, cell.decimals)
        ends = limits.get((cell.dimension, cell.item, cell.level))
        span = f" <small>[{', '.join(html.signed(end, 1) for end in ends)}]</small>" if ends else ""
        asked = "alone" if cell.item == "single" else "all at once"
        lines.append(
            {
                "dimension": cell.dimension,
                "asked": asked,
                "level": f"{cell.level} level",
                "cell": shown + span,
            }
        )
    grid = html.pivot(pd.DataFrame(lines), ["dimension", "asked"], "level", "cell")
    return html.Html(html.table(grid, dict.fromkeys(grid.columns, str)).text + _legend())


def limits_four(bench: Bench, draws: int = 500, seed: int = 0) -> Limits:
    """95 % limits of each value of ours in Table 4, sources drawn again; none without lai."""
    found: Limits = {}
    if not bench.has("lai"):
        return found
    data = bench.dataset(lai2023.DATA)
    asked = data.scores["metric"].isin(RELEASED) & (data.scores["basis"] != "reference")
    for dimension in ("content", "style", "fluency"):
        own = data.scores[asked & (data.scores["dimension"] == dimension)]
        part = Levels(data, own, dimension, draws, seed)
        for i, (metric, _) in enumerate(part.names):
            for level in ORDER:
                value, drawn = part.estimates[level][i], part.drawn[level][i]
                one = part.interval(level, drawn, value, part.sources(level))
                found[dimension, _ITEMS[metric], level] = one.low, one.high
    return found


def overlap_said(limits: Limits) -> Markdown:
    """In how many pairs of Table 4 the two intervals overlap, and what that is worth."""
    one, other = _ITEMS.values()
    pairs = [
        (ends, limits[dimension, other, level])
        for (dimension, item, level), ends in limits.items()
        if item == one and (dimension, other, level) in limits
    ]
    if not pairs:
        return html.SILENCE
    over = sum(low <= high_b and low_b <= high for (low, high), (low_b, high_b) in pairs)
    return Markdown(
        f"The two intervals overlap in {over} of {len(pairs)} pairs of rows. That says little"
        " either way: both rows of a pair rest on the same sources."
    )


def _legend() -> str:
    return LEGEND.format(
        " · ".join(f"{mark} {escape(w)}" for mark, w in html.STATUS.values() if mark)
    )


def table_four_said(bench: Bench) -> Markdown:
    """How many of the cells match."""
    found = ledger(lai2023.PAPER, "4", bench)
    match = int((found["status"] == "match").sum())
    missing = found.loc[found["status"].str.startswith("needs"), "status"]
    if len(missing):
        return Markdown(f"*{len(missing)} of {len(found)} cells: {missing.iloc[0]}.*")
    return Markdown(f"{match} of {len(found)} printed cells come out of the released ratings.")


# ------------------------------------------------------------- pauli2025, Tables 10 and 11


def wordings(bench: Bench) -> html.Html:
    """Four wordings of the judge's prompt beside four of the likelihood method's instructions.

    Pearson's r with content.  What we cannot compute is printed alone; pointing says what it needs.
    """
    lines = []
    for table in ("10", "11"):
        found = ledger("pauli2025", table, bench).set_index("cell")
        for cell in _wordings(table):
            entry = found.loc[cell.cell]
            about = f"n = {entry['n']}; {entry['status']}; {entry['reason']}; {entry['signature']}"
            shown = html.status_cell(
                entry["ours"], cell.printed, entry["status"], about, cell.decimals
            )
            needs = "needs wording" if entry["status"] == "needs wording" else ""
            method, wording = _named(cell)
            lines.append(
                {
                    **{"method": escape(method), "wording": wording, "note": needs},
                    **{"data": cell.dataset, "cell": shown},
                }
            )
    grid = html.pivot(pd.DataFrame(lines), ["method", "wording", "note"], "data", "cell")
    order = [name for name in grid if name != "note"]
    grid = grid[[*order, "note"]].rename(columns={"note": ""})
    return html.Html(html.table(grid, dict.fromkeys(grid.columns, str)).text + _legend())


def _wordings(table: str) -> list[Cell]:
    return [
        cell
        for cell in cells()
        if (cell.paper, cell.table, cell.statistic) == ("pauli2025", table, "pearson")
    ]


def _named(cell: Cell) -> tuple[str, str]:
    """Method and number of the wording: ``prompt 1`` or ``instruct 1 (8b)``."""
    words = cell.item.split()
    size = cell.item.partition("(")[2].rstrip(")").upper()
    return (f"likelihood, {size}" if size else "judge (Llama 3)"), words[1]


def spans() -> pd.DataFrame:
    """How far the four printed wordings of a method lie apart: method, data, span, decimals."""
    rows = [
        (_named(cell)[0], cell.dataset, cell.value)
        for table in ("10", "11")
        for cell in _wordings(table)
    ]
    frame = pd.DataFrame(rows, columns=["method", "data", "value"])
    made = frame.groupby(["method", "data"], sort=False)["value"].agg(["min", "max"])
    return made.assign(span=made["max"] - made["min"]).reset_index()


def spans_said() -> Markdown:
    """The spans of the judge beside those of the likelihood method, as printed."""
    rows = spans()
    lines = []
    for method, own in rows.groupby("method", sort=False):
        widest = own.loc[own["span"].idxmax()]
        lines.append(
            f"- {method}: the four printed wordings lie {own['span'].median():.2f} apart on the"
            f" middle data set, {widest['span']:.2f} on `{widest['data']}`, where most"
            f" ({html.signed(widest['min'])} to {html.signed(widest['max'])})."
        )
    wide = rows.pivot_table(index="data", columns="method", values="span", sort=False)
    judge = wide["judge (Llama 3)"]
    more = int((wide.drop(columns=judge.name).max(axis=1) < judge - 1e-9).sum())
    lines.append(
        f"\nOn {more} of {len(wide)} data sets the judge's wordings lie further apart than those of"
        " either size of the likelihood method."
    )
    return Markdown("\n".join(lines))


# -------------------------------------------------------------------- prompts of one's own


def by_prompt(judged: Sequence[Given], how: Asked) -> list[Compared]:
    """Prompts for content, each held against the first of its judge in the same draws of sources.

    Released ratings are among them: two manners of asking are two prompts.
    """
    sets: dict[str, Dataset] = {}
    found: dict[str, list[Given]] = {}
    for one in judged:
        if one.dimension == "content":
            sets.setdefault(one.data.name, one.data)
            found.setdefault(one.data.name, []).append(one)
    made = []
    for name, own in found.items():
        vectors = {one.name: one.ratings.to_numpy(float) for one in own}
        firsts: dict[str, str] = {}
        usual = {one.name: firsts.setdefault(one.judge, one.name) for one in own}
        if len(vectors) > 1 and any(np.isfinite(one).any() for one in vectors.values()):
            made.append(compare(sets[name], vectors, usual, how))
    return made


def none_here(judged: Sequence[Given]) -> Markdown:
    """A word where no judge's ratings are here; nothing where some are."""
    return html.SILENCE if judged else NONE_HERE
