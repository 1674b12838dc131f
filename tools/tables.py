"""Frames and facts as tables in Markdown.  Every text is escaped, as data may be hostile."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd
from pandas.io.formats.style import Styler

_BARE = re.compile(r"(<table\b[^>]*>)(?!\s*<caption)")


def raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```\n"


def table(frame: pd.DataFrame) -> str:
    """A frame, without its index, as an HTML table that scrolls inside a box of its own.

    Floats have three decimals, tiny ones a power of ten; a missing value is a dash.
    """
    plain = frame.map(lambda value: single_line(value) if isinstance(value, str) else value)
    styler = Styler(plain).hide(axis="index").format_index(escape="html", axis="columns")
    formats = {name: formatter(plain[name]) for name in plain}
    styler = styler.format(formats, escape="html", na_rep="–")
    html = styler.to_html(exclude_styles=True)
    html = re.sub(r"<td >(?=(–|−?\d[\d.,]*(e[−+]\d+)?)</td>)", "<td class='num'>", html)
    html = re.sub(r"<td >(?=[^<]{40})", "<td class='long'>", html)
    return raw(f"<div class='tst-table' tabindex='0'>{html}</div>")


def caption(cell: Any) -> None:
    """Put the caption that a cell's metadata has into each table of its output that has none."""
    if words := cell.metadata.get("caption"):
        head = f'<caption class="tst-said">{escape(words)}</caption>'
        for output in cell.outputs:
            if page := output.get("data", {}).get("text/html"):
                output["data"]["text/html"] = _BARE.sub(lambda table: table[1] + head, page)


def formatter(column: pd.Series) -> Any:
    if column.dtype == bool:
        return lambda value: "yes" if value else "no"
    if column.dtype.kind in "iu" or (column.dtype.kind == "f" and (column.dropna() % 1 == 0).all()):
        return lambda value: f"{value:,.0f}"
    return number if column.dtype.kind == "f" else None


def number(value: float, decimals: int = 3) -> str:
    """A number with a true minus sign, as a power of ten where decimals would show zero."""
    tiny = 0 < abs(value) < 0.5 * 10**-decimals
    return (f"{value:.0e}" if tiny else f"{value:z.{decimals}f}").replace("-", "−")


def facts(pairs: Mapping[str, Any]) -> str:
    """Names and values, one a line; a web address becomes a link."""
    texts = {name: escape(single_line(str(value))) for name, value in pairs.items()}
    styler = Styler(pd.DataFrame({"value": texts})).hide(axis="columns")
    styler = styler.format(hyperlinks="html").format_index(escape="html")
    return raw(f"<div class='tst-table tst-facts'>{styler.to_html(exclude_styles=True)}</div>")


def single_line(text: str) -> str:
    """White space as single blanks: a line of its own could end the fence that it stands in."""
    return " ".join(text.split())


def cell(text: str) -> str:
    """Text for a cell of a Markdown table."""
    return single_line(str(text).replace("|", "/"))
