"""A printed table with our numbers beside the printed ones, for a page."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..data import names
from ..schema import TstmetaError
from .cells import round_half_up

if TYPE_CHECKING:  # it needs jinja2, which a table on a page has and the command line has not
    from pandas.io.formats.style import Styler

#: A mark and words for each status, so that colour is never the only sign.
MARKS = {
    "match": ("✓", "match"),
    "printed-only": ("○", "follows from printed numbers"),
    "differs": ("✗", "differs"),
    "misprint": ("†", "misprint"),
    "needs": ("", "published, not computed here"),
}
LEGEND = "ours (published) · " + " · ".join(" ".join(two) for two in MARKS.values() if two[0])


def cell_of(ours: float, printed: str, value: float, status: str, decimals: int) -> str:
    """Ours bold, the printed number in brackets and italics, a mark; printed alone without ours."""
    shown = f"<i>({escape(printed)})</i>"
    if not pd.isna(ours):
        if status == "match" and round_half_up(ours, decimals) != round_half_up(value, decimals):
            decimals += 1  # the printed number was reached by rounding twice
        mark = MARKS[status.partition(" ")[0]][0]
        shown = f"<b>{round_half_up(ours, decimals):.{decimals}f}</b> {shown} {mark}"
    return shown.replace("-", "−")


def beside(
    frame: pd.DataFrame,
    rows: str | Sequence[str] = "metric",
    columns: str | Sequence[str] = "dataset",
    caption: str = "",
) -> Styler:
    """A printed table with ours in front, the printed number in brackets and a mark.

    Args:
        frame: rows of :func:`published`; choose among them first (one statistic, say).
        rows, columns: columns of ``frame`` that make the rows and the columns.
        caption: stands before the legend.

    Returns:
        A Styler; pointing at a cell shows n, status, reason and signature.
    """
    down, right = ([name] if isinstance(name, str) else list(name) for name in (rows, columns))
    if (twice := frame.duplicated([*down, *right])).any():
        raise TstmetaError(
            f"rows {down} and columns {right} do not tell {frame['cell'][twice].iloc[0]} from"
            " another cell: choose among the rows first, or name more columns"
        )
    fields = ["ours", "printed", "value", "status", "decimals"]
    about = "n = " + frame["n"].astype(str) + "; " + frame["status"] + "; " + frame["reason"]
    parts = {
        "cell": [cell_of(*cell) for cell in frame[fields].itertuples(index=False)],
        "kind": classes_of(frame),
        "about": (about + "; " + frame["signature"]).map(escape),
    }
    grids = []
    for name in parts:
        grid = frame.assign(**parts).pivot_table(name, down, right, aggfunc="first", sort=False)
        grid.index.names, grid.columns.names = [None] * len(down), [None] * len(right)
        grids.append(grid.fillna(""))
    texts, kinds, abouts = grids
    style = styler(texts).set_td_classes(kinds).set_tooltips(abouts, as_title_attribute=True)
    style.format_index(escape="html", axis=0).format_index(escape="html", axis=1)
    return style.set_caption(escape(f"{caption}. {LEGEND}" if caption else LEGEND))


def show_published(table: Any, dataset: str) -> Any:
    """A table of printed numbers, or a line instead of it where ``dataset`` names a user's file."""
    from IPython.display import Markdown

    if dataset == "auto" or dataset.partition("@")[0] in names():
        return table
    return Markdown(f"*Left out: the printed numbers are of other data than `{dataset}`.*")


def classes_of(frame: pd.DataFrame) -> pd.Series:
    """The class of each status, for the style sheet."""
    return "tst-" + frame["status"].str.partition(" ")[0]


def styler(frame: pd.DataFrame) -> Styler:
    """A Styler whose id follows from what it shows: the same input gives the same bytes."""
    from pandas.io.formats.style import Styler

    return Styler(frame, uuid=hashlib.sha256(frame.to_csv().encode()).hexdigest()[:8])
