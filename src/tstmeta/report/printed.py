"""Printed numbers of a paper beside ours as a grid, for tables that need more than two names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape

import pandas as pd

from . import html
from .bench import Bench
from .ledger import ledger
from .published import Cell, round_half_up


def grid(
    bench: Bench,
    cells: Sequence[Cell],
    row: Callable[[Cell], str],
    column: Callable[[Cell], str],
) -> html.Html:
    """Ours in bold, the printed number in italics, a mark for the status; rows and columns as met.

    Args:
        cells: cells of one table of one paper, in the order to be shown.
        row, column: the name of a cell's row and of its column; a new line breaks a heading.
    """
    found = ledger(cells[0].paper, cells[0].table, bench).set_index("cell")
    lines = []
    for cell in cells:
        entry = found.loc[cell.cell]
        about = f"n = {entry['n']}; {entry['status']}; {entry['reason']}; {entry['signature']}"
        ours = round_half_up(entry["ours"], cell.decimals) if entry["n"] else math.nan
        shown = html.status_cell(ours, cell.printed, entry["status"], about, cell.decimals)
        lines.append({"": escape(row(cell)), "column": column(cell), "cell": shown})
    made = html.pivot(pd.DataFrame(lines), [""], "column", "cell")
    legend = " · ".join(f"{mark} {words}" for mark, words in html.STATUS.values() if mark)
    note = f"<p class='tst-legend'><b>ours</b> · <i>published</i> · {escape(legend)}</p>"
    return html.Html(html.table(made, dict.fromkeys(made.columns, str)).text + note)
