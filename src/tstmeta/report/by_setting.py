"""Printed tables whose columns are settings: data set and language (mukherjee2025)."""

from __future__ import annotations

from html import escape

import pandas as pd

from .. import stats
from . import html
from .bench import Bench
from .ledger import ledger
from .published import cells


def printed(bench: Bench, paper: str, table: str, statistic: str = "pearson") -> html.Html:
    """One statistic of a printed table: metric by data set and language.

    Ours is bold where it could be computed, the printed number italic.
    """
    found = ledger(paper, table, bench).set_index("cell")
    lines = []
    for cell in cells():
        if (cell.paper, cell.table, cell.statistic) != (paper, table, statistic):
            continue
        entry = found.loc[cell.cell]
        n = f"n = {entry['n']:,}" if entry["n"] else "n is not printed"
        about = f"{n}; {entry['status']}; {entry['reason']}"
        shown = html.status_cell(entry["ours"], cell.printed, entry["status"], about, cell.decimals)
        setting = f"{cell.dataset}, {cell.language}"
        lines.append({"metric": escape(cell.metric), "setting": setting, "cell": shown})
    grid = html.pivot(pd.DataFrame(lines), ["metric"], "setting", "cell")
    caption = f"{stats.STATISTICS[statistic].label}, as printed, without n"
    made = html.table(grid, dict.fromkeys(grid.columns, str), caption=caption)
    note = "<p class='tst-legend'><i>published</i>"
    if any(found["ours"].notna()):
        marks = " · ".join(f"{mark} {words}" for mark, words in html.STATUS.values() if mark)
        note += f" · <b>ours</b> · {escape(marks)}"
    note += "</p>"
    return html.Html(made.text + note)
