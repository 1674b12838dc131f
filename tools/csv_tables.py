"""Every table of the built book as CSV beside it: a file, and a link that takes no room.

A file and a link of plain HTML work from the disk and without a script.  The page is changed at the
link alone: the rest stays byte by byte.
"""

import itertools
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pandas as pd
from lxml import html

from tstmeta import console, storage

#: Folder of the files, below that of the built pages.
FOLDER = "_tables"
#: Boxes that scroll: the link stands before them, or it would scroll away.
_CLASS = r"\bclass=[\"'][^\"']*\b(?:tst-|output|cell_output|pst-)"
_BOX = rf"<div(?:(?![^>]*\bclass=)|[^>]*{_CLASS})[^>]*>"
_TABLE = re.compile(
    rf"(?P<box>(?:(?:{_BOX}|<style[^<]*</style>)\s*)*)(?P<table><table\b.*?</table>)", re.DOTALL
)
_LINK = '<div class="tst-csv"><a href="{}" download>CSV<span> of this table</span></a></div>\n'
#: A number as pages show it: a true minus sign, commas between thousands.
_NUMBER = re.compile(r"[−-]?\d{1,3}(,\d{3})+(\.\d+)?|−\d+(\.\d+)?(e[−+]?\d+)?")
_MISSING = ("–", "-")


def write(book: Path) -> int:
    """Write the tables of all pages below a folder, with a link before each; gives their number."""
    count = 0
    for path in sorted(book.rglob("*.html")):
        name = path.relative_to(book)
        text = path.read_text(encoding="utf-8")
        if name.parts[0] != "_static" and "<table" in text:
            fresh, n = _TABLE.subn(partial(_linked, book, name, itertools.count(1)), text)
            path.write_text(fresh, encoding="utf-8")
            count += n
    return count


def _linked(book: Path, page: Path, places: Iterator[int], match: re.Match[str]) -> str:
    """A table with the link before its box; an index of Sphinx is no table."""
    if "indextable" in match["table"][:200]:
        return match[0]
    file = Path(FOLDER, page.parent, f"{page.stem}-{next(places)}.csv")
    storage.write(book / file, console.to_csv(frame(match["table"]), for_people=True))
    return _LINK.format("../" * len(page.parent.parts) + file.as_posix()) + match[0]


def frame(table: str) -> pd.DataFrame:
    """A table of HTML as texts: one head, its rows joined; spans repeated; numbers plain."""
    cells: dict[tuple[int, int], str] = {}
    root = html.fragment_fromstring(table)
    rows = root.xpath("(./thead | ./tbody | ./tfoot | .)/tr")
    for y, row in enumerate(rows):
        x = 0
        for cell in row.xpath("./th | ./td"):
            while (y, x) in cells:
                x += 1
            down, right = (int(cell.get(f"{way}span", 1)) for way in ("row", "col"))
            text = _text(cell)
            cells |= {(y + i, x + j): text for i in range(down) for j in range(right)}
    width = 1 + max((x for _, x in cells), default=-1)
    texts = [[cells.get((y, x), "") for x in range(width)] for y in range(len(rows))]
    top = len(root.xpath("./thead/tr"))
    columns = zip(*texts[:top], strict=True)
    heads = [" ".join(dict.fromkeys(filter(None, column))) for column in columns]
    return pd.DataFrame(texts[top:], columns=heads or [""] * width)


def _text(cell: html.HtmlElement) -> str:
    """A cell on one line, as a spreadsheet reads it."""
    for part in cell.xpath(".//br | .//small | .//p | .//li"):
        part.tail = f" {part.tail or ''}"
    text = " ".join(cell.text_content().split())
    if text in _MISSING:
        return ""
    return text.replace(",", "").replace("−", "-") if _NUMBER.fullmatch(text) else text
