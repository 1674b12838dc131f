"""On every machine each section of the built book shows what it speaks of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from lxml import etree, html

from tests.browser.walk import BOOK

#: What a page says where it has nothing to show.
SAYS_NOTHING = (
    *("built without human ratings", "othing to compare", "No two systems to compare"),
    *("No data set with ratings", "No ratings by a judge are here", "There is no curve to show"),
    *("This section needs", "Ours needs the ratings", "not on this machine: tstmeta data fetch"),
    *("the next tables are empty", "what rests on ratings is left out", "no table to show"),
    *("What rests on ratings is left out", "were not on the machine that built this page:"),
    *("is left out; get its files with", "No rewrite here has a reference"),
)
SIGNS = re.compile("|".join(map(re.escape, SAYS_NOTHING)))
#: What fills a section without a word.
PICTURES = ["img", "svg", "td", "video", "object"]


def empty_sections(page: Path) -> Iterator[tuple[str, str]]:
    """Title and reason of each section without content of its own or of its subsections."""
    whole = html.fromstring(page.read_text(encoding="utf-8"))
    etree.strip_elements(whole, "script", "style", etree.Comment, with_tail=False)
    for section in whole.xpath("//article//section"):
        title, *own = [part for part in section if part.tag not in ("section", "span")]
        if why := reason(own, section.find(".//section") is not None):
            yield title.text_content().rstrip("#"), why


def reason(own: list[html.HtmlElement], has_more: bool) -> str:
    """Why the parts of a section below its heading show nothing; empty where they do."""
    cells = [part for part in own if "cell" in part.classes]
    prose = [part for part in own if part not in cells]
    outputs = [out for cell in cells for out in cell.find_class("cell_output")]
    if says := SIGNS.search(" ".join(part.text_content() for part in [*prose, *outputs])):
        return f"says: {says.group()}"
    if not has_more and not any(map(full, own)):
        return "nothing stands below the heading"
    if any(table.find(".//td") is None for part in own for table in part.iter("table")):
        return "a table has no row"
    mute = any(map(shows, cells)) and not any(map(full, outputs))
    return "no cell shows anything" if mute else ""


def shows(cell: html.HtmlElement) -> bool:
    """Whether a code cell is there to show something, and not only to define or to set."""
    if {"tag_parameters", "tag_setup"} & set(cell.classes):
        return False
    sources = cell.xpath(".//*[contains(@class, 'cell_input')]//pre")
    body = [node for source in sources for node in ast.parse(source.text_content()).body]
    body = [node for node in body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return any(isinstance(node, ast.Expr) for top in body for node in ast.walk(top))


def full(part: html.HtmlElement) -> bool:
    return bool(part.text_content().strip()) or any(True for _ in part.iter(*PICTURES))


@cache
def empty(folder: Path = BOOK) -> dict[str, list[tuple[str, str]]]:
    """Empty sections by page."""
    pages = {page: list(empty_sections(page)) for page in sorted(folder.rglob("*.html"))}
    return {str(page.relative_to(folder)): listed for page, listed in pages.items() if listed}


CODE = "<div class='cell'><div class='cell_input'><pre>{}</pre></div>{}</div>"
SHOWS = "<div class='cell_output'><table><tr><td>1</td></tr></table></div>"


@pytest.mark.parametrize(
    ("below", "why"),
    [
        ("<p>Words.</p>", ""),
        (CODE.format("plot(x)", SHOWS), ""),
        (CODE.format("def f():\n    g()", ""), ""),
        ("<section><h2>More</h2><p>Words.</p></section>", ""),
        ("", "nothing stands below the heading"),
        (CODE.format("plot(x)", ""), "no cell shows anything"),
        (CODE.format("x", "<div class='cell_output'><p>Nothing to compare: no</p></div>"), "says"),
        (CODE.format("x", SHOWS.replace("td", "th")), "a table has no row"),
    ],
)
def test_a_section_that_shows_nothing_is_seen(tmp_path, below, why):
    page = tmp_path / "page.html"
    page.write_text(f"<article><section><h1>A title<a>#</a></h1>{below}</section></article>")
    assert [title for title, _ in empty_sections(page)] == ["A title"] * bool(why)
    assert all(given.startswith(why) for _, given in empty_sections(page))


@pytest.mark.skipif(not (BOOK / "index.html").is_file(), reason="the book is not built: make book")
def test_no_section_of_the_book_is_empty():
    assert len(list(BOOK.rglob("*.html"))) > 50
    assert empty() == {}
