"""On every machine each section of the built book shows what it speaks of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, SoupStrainer, Tag

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
    whole = BeautifulSoup(page.read_bytes(), "lxml", parse_only=SoupStrainer("article"))
    for section in whole.find_all("section"):
        parts = [part for part in section.find_all(True, recursive=False) if part.name != "section"]
        title, *own = [part for part in parts if part.name != "span"]
        if why := reason(own, section.find("section") is not None):
            yield title.get_text().rstrip("#"), why


def reason(own: list[Tag], has_more: bool) -> str:
    """Why the parts of a section below its heading show nothing; empty where they do."""
    cells = [part for part in own if "cell" in part.get("class", [])]
    prose = [part for part in own if part not in cells]
    outputs = [out for cell in cells for out in cell.select(".cell_output")]
    if says := SIGNS.search(" ".join(part.get_text() for part in [*prose, *outputs])):
        return f"says: {says.group()}"
    if not has_more and not any(map(full, own)):
        return "nothing stands below the heading"
    bare = [table for part in own for table in part.find_all("table") if not table.find("td")]
    if bare:
        return "a table has no row"
    mute = any(map(shows, cells)) and not any(map(full, outputs))
    return "no cell shows anything" if mute else ""


def shows(cell: Tag) -> bool:
    """Whether a code cell is there to show something, and not only to define or to set."""
    prepares = {"tag_parameters", "tag_setup"} & set(cell["class"])
    source = None if prepares else cell.select_one(".cell_input pre")
    body = ast.parse(source.get_text()).body if source else []
    body = [node for node in body if not isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return any(isinstance(node, ast.Expr) for top in body for node in ast.walk(top))


def full(part: Tag) -> bool:
    return bool(part.get_text(strip=True) or part.find(PICTURES) or part.name in PICTURES)


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
