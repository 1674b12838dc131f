"""Tables and examples as HTML.  Every text is escaped: texts of data sets may be hostile."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from html import escape, unescape
from typing import NamedTuple

import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from ..data.contrast import parse_span

#: A mark and a word for each status, so that colour is never the only sign.
STATUS = {
    "match": ("✓", "match"),
    "printed-only": ("○", "follows from printed numbers"),
    "differs": ("✗", "differs"),
    "misprint": ("†", "misprint"),
    "needs": ("", "published, not computed here"),
}

#: A cell with more characters on a line is broken over several lines.
LONG = 28


class Silence(Markdown):
    """Shows nothing at all, where an empty text would leave its name on the page."""

    def _ipython_display_(self) -> None:
        """Nothing."""


#: What a part of a page returns when there is nothing to say.
SILENCE = Silence("")


class Html(NamedTuple):
    """A fragment of HTML that a notebook shows."""

    text: str

    def _repr_html_(self) -> str:
        return self.text


def table(
    frame: pd.DataFrame,
    formats: Mapping[str, Callable[[object], str]] | None = None,
    caption: str = "",
) -> Html:
    """A data frame as a table that scrolls inside its own box; the index is not shown.

    ``formats`` maps a column to a function that returns HTML and must escape; other columns are
    escaped here.  Floats have three decimals, a missing value is a dash.
    """
    formats = formats or {}
    heads = [escape(str(name)).replace("\n", "<br>") for name in frame.columns]
    head = "".join(f"<th scope='col'>{name}</th>" for name in heads)
    lines = []
    for row in frame.to_dict("records"):
        cells = []
        for name, value in row.items():
            text = formats[name](value) if name in formats else escape(_plain(value))
            number = isinstance(value, int | float) and not isinstance(value, bool)
            kind = " class=num" if number else " class=long" if _long(text) else ""
            cells.append(f"<td{kind}>{text}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return Html(
        "<div class='tst-table' tabindex='0'><table>"
        f"{title}<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _long(text: str) -> bool:
    """Whether the longest line of a cell is prose, which may be broken; numbers and names stay."""
    lines = re.sub(r"<(?!br)[^>]*>", "", text).split("<br>")
    return max(len(unescape(line)) for line in lines) > LONG


def _plain(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return signed(value, 3)
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def signed(value: float, decimals: int = 2) -> str:
    """A number with a true minus sign, or a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    return f"{value:z.{decimals}f}".replace("-", "−")


def percent(value: object) -> str:
    """A share of 1 as a percentage with one decimal, or a dash where there is none."""
    share = float(value)  # type: ignore[arg-type]
    return f"{share:.1%}" if math.isfinite(share) else "–"


def status_cell(ours: float, printed: str, status: str, title: str, decimals: int) -> str:
    """Our value beside the printed one, with the status as class, mark and words for readers."""
    kind = status.partition(" ")[0]
    mark, words = STATUS[kind]
    own = "" if math.isnan(ours) else f"<b>{signed(ours, decimals)}</b> "
    sign = f" <abbr title='{escape(words)}'>{mark}</abbr>" if mark else ""
    return (
        f"<span class='tst-cell tst-{kind}' title='{escape(title, quote=True)}'>"
        f"{own}<i>{escape(printed.replace('-', '−'))}</i>{sign}</span>"
    )


def folded(title: str, text: str) -> str:
    """HTML that stays behind its title until a reader opens it: details, never a result alone."""
    return f"<details class='tst-more'><summary>{escape(title)}</summary>{text}</details>"


def facts(pairs: list[tuple[str, str]]) -> Html:
    """Name and value, one a line; a value that is a web address becomes a link."""
    lines = []
    for name, value in pairs:
        text = escape(value)
        if value.startswith("https://") and " " not in value:
            text = f"<a href='{escape(value, quote=True)}'>{text}</a>"
        lines.append(f"<tr><th scope='row'>{escape(name)}</th><td>{text}</td></tr>")
    return Html(f"<div class='tst-table tst-facts'><table>{''.join(lines)}</table></div>")


def breakable(text: str) -> str:
    """A key or signature, escaped, that may be broken after its delimiters and nowhere else."""
    return re.sub(r"([.|:-])", r"\1<wbr>", escape(text))


def code(text: str) -> str:
    """Escaped text in which `names` between backticks stand as code."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(text))


def pivot(rows: pd.DataFrame, row: list[str], column: str, cell: str) -> pd.DataFrame:
    """Long rows as a grid of ready-made HTML cells, rows and columns in order of appearance."""
    order = list(dict.fromkeys(rows[column]))
    grid = rows.pivot_table(index=row, columns=column, values=cell, aggfunc="first", sort=False)
    grid = grid.reindex(columns=order).fillna("")
    grid.columns.name = None
    return grid.reset_index()


def examples(dataset: Dataset, item_ids: list[str]) -> Html:
    """Rewrites with their sources; on the contrast set the changed words are marked.

    Raises:
        PermissionError: the licence of the data set does not let us print its sentences.
    """
    if not dataset.card.may_show_examples:
        raise PermissionError(f"sentences of {dataset.name!r} may not be printed")
    items = dataset.items.set_index("item_id")
    spans = dataset.label("span")
    blocks = []
    for source_id in dict.fromkeys(items.loc[item_ids, "source_id"]):
        chosen = [one for one in item_ids if items["source_id"][one] == source_id]
        first = items.loc[chosen[0]]
        lines = [f"<dt>source</dt><dd>{escape(first['source'])}</dd>"]
        for one in chosen:
            text = mark(items["output"][one], spans.get(one, ""))
            lines.append(f"<dt>{escape(items['system'][one])}</dt><dd>{text}</dd>")
        head = f"<p class='tst-target'>target style: {escape(first['style'])}</p>"
        blocks.append(f"<div class='tst-example'>{head}<dl>{''.join(lines)}</dl></div>")
    return Html("".join(blocks))


def mark(text: str, span: str) -> str:
    """An output as HTML with the added words marked and the removed ones struck out."""
    if not span:
        return escape(text)
    removed, added = parse_span(span)
    gone = f"<del>{escape(removed)}</del>" if removed else ""
    if not added:
        return f"{escape(text)} <small>(left out: {gone})</small>"
    before, found, after = text.partition(added)
    if not found:
        return f"{escape(text)} {gone}<ins>{escape(added)}</ins>"
    return f"{escape(before)}{gone}{' ' * bool(gone)}<ins>{escape(added)}</ins>{escape(after)}"
