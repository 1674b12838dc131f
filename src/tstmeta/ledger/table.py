"""Printed numbers beside ours, for a page: a table as the paper has it, and a list of cells."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from html import escape

import pandas as pd
from pandas.io.formats.style import Styler

from ..schema import TstmetaError
from .cells import round_half_up

#: A mark and words for each status, so that colour is never the only sign.
MARKS = {
    "match": ("✓", "match"),
    "printed-only": ("○", "follows from printed numbers"),
    "differs": ("✗", "differs"),
    "misprint": ("†", "misprint"),
    "needs": ("", "published, not computed here"),
}
#: Keys up to so many characters stand on one line.
_SHORT = 30
_SHOWN = ("ours", "printed", "value", "status", "decimals")
LEGEND = "ours (published) · " + " · ".join(" ".join(two) for two in MARKS.values() if two[0])


def text_of(ours: float, printed: str, value: float, status: str, decimals: int) -> str:
    """``0.47 (0.47) ✓``; where there is nothing of ours the printed number alone, in brackets."""
    mark = MARKS[status.partition(" ")[0]][0]
    shown = f"({printed})"
    if not pd.isna(ours):
        if status == "match" and round_half_up(ours, decimals) != round_half_up(value, decimals):
            decimals += 1  # the printed number was reached by rounding twice
        shown = f"{round_half_up(ours, decimals):.{decimals}f} {shown} {mark}"
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

    Raises:
        TstmetaError: two numbers of the frame fall into one cell.
    """
    by = [[one] if isinstance(one, str) else list(one) for one in (rows, columns)]
    if (twice := frame.duplicated([*by[0], *by[1]])).any():
        raise TstmetaError(
            f"rows {by[0]} and columns {by[1]} do not tell {frame['cell'][twice].iloc[0]} from"
            " another cell: choose among the rows first, or name more columns"
        )
    about = "n = " + frame["n"].astype(str) + "; " + frame["status"] + "; " + frame["reason"]
    parts = frame.assign(
        text=[text_of(*five) for five in zip(*(frame[name] for name in _SHOWN), strict=True)],
        kind="tst-" + frame["status"].str.partition(" ")[0],
        about=[escape(text) for text in about + "; " + frame["signature"]],
    )
    grids = {}
    for name in ("text", "kind", "about"):
        grid = parts.pivot_table(name, by[0], by[1], aggfunc="first", sort=False)
        grid.columns.names, grid.index.names = [None] * len(by[1]), [None] * len(by[0])
        grids[name] = grid.fillna("")
    style = _styler(grids["text"])
    style.format(_html, escape="html").format_index(escape="html", axis=0)
    style.format_index(escape="html", axis=1).set_td_classes(grids["kind"])
    style.set_tooltips(grids["about"], as_title_attribute=True)
    return style.set_caption(escape(f"{caption}. {LEGEND}" if caption else LEGEND))


def _html(text: str) -> str:
    """The parts of a cell, escaped before: ours bold, the printed number in italics."""
    ours, bracket, rest = text.partition("(")
    printed, _, mark = rest.partition(")")
    bold = f"<b>{ours.strip()}</b> " if ours else ""
    return f"{bold}<i>({printed})</i>{mark}" if bracket else text


def listing(rows: pd.DataFrame) -> Styler:
    """Rows of :func:`reproduce` as a list; pointing at our value shows its signature."""
    decimals = rows["printed"].str.rstrip("*%").str.partition(".")[2].str.len()
    ours = [
        "–" if pd.isna(value) else f"{value:z.{places + 2 if places else 0}f}"
        for value, places in zip(rows["ours"], decimals, strict=True)
    ]
    kind = rows["status"].str.partition(" ")[0]
    again = (rows["reason"] == rows["reason"].shift()) & (rows["reason"] != "")
    shown = pd.DataFrame(
        {
            "cell": rows["cell"].str.split(".", n=2).str[2],
            "published": rows["printed"].str.replace("-", "−"),
            "ours": pd.Series(ours, rows.index).str.replace("-", "−"),
            "n": ["–" if not n else f"{n:,}" for n in rows["n"]],
            "status": kind.map(lambda name: MARKS[name][0]) + " " + rows["status"],
            "reason": rows["reason"].mask(again, "as above"),
        }
    )
    style = _styler(shown).hide(axis="index").format(escape="html")
    style.format(_unbroken, subset=["status"], escape="html")
    style.format(_key, subset=["cell"], escape="html")
    classes = pd.DataFrame("num", shown.index, ["published", "ours", "n"]).assign(
        status="tst-" + kind, reason="long"
    )
    titles = pd.DataFrame({"ours": rows["signature"].map(escape)})
    return style.set_td_classes(classes).set_tooltips(titles, as_title_attribute=True)


def _unbroken(status: str) -> str:
    """A status on one line, unless it says what is needed."""
    needs = status.lstrip().startswith("needs")
    return status if needs else f"<span style='white-space:nowrap'>{status}</span>"


def _key(key: str) -> str:
    """A key on one line where it is short, else broken after its delimiters only."""
    if len(key) <= _SHORT:
        return f"<span style='white-space:nowrap'>{key}</span>"
    return re.sub(r"([.:-])", r"\1<wbr>", str(key))  # it comes as Markup, which would escape more


def _styler(frame: pd.DataFrame) -> Styler:
    """A Styler whose id follows from what it shows: the same input gives the same bytes."""
    return Styler(frame, uuid=hashlib.sha256(frame.to_csv().encode()).hexdigest()[:8])
