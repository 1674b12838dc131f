"""What a reader meets at a desk and on a phone: every page of the built book, in a browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import walk

pytestmark = walk.MARKS
#: Pixels; a longer page is not read to its end.
LONGEST = 10_000


def test_the_walk_sees_the_chapters(visits: walk.Visits) -> None:
    assert {"index.html", "book/howto.html", "book/api.html", "genindex.html"} <= set(visits)
    assert visits["book/intro.html"].facts["formulas"] > 0


FAULTS: dict[str, Callable[[walk.Visit], Any]] = {
    "complains": lambda seen: seen.errors,
    "asks another host": lambda seen: seen.strangers,
    "misses a file": lambda seen: seen.failures,
    "is longer than a reader scrolls": lambda seen: (
        seen.page not in walk.MACHINERY and max(seen.facts["height"] - LONGEST, 0)
    ),
    "has an image without alternative text, or without the image": lambda seen: [
        image["src"]
        for image in seen.facts["images"]
        if not image["alt"].strip() or (image["shown"] and not image["loaded"])
    ],
    "has a formula that is not typeset": lambda seen: (
        seen.facts["formulas"] > seen.facts["typeset"]
    ),
    "has a chart that is not drawn": lambda seen: seen.facts["charts"] > seen.facts["drawn"],
    "has a table without a link to it as CSV": lambda seen: (
        seen.page not in walk.MACHINERY and seen.facts["tables"] != seen.facts["sheets"]
    ),
    "shows a mark of Markdown": lambda seen: seen.facts["marks"],
    "scrolls sideways on a phone": lambda seen: (
        seen.phone["width"] > walk.PHONE[0] and seen.phone["width"]
    ),
    "cuts off what is wide on a phone": lambda seen: seen.phone["cut"],
    "hides the name or the value of a row on a phone": lambda seen: seen.phone["hidden"],
    "has a text that hardly stands out in light": lambda seen: seen.faint.get("light"),
    "has a text that hardly stands out in dark": lambda seen: seen.faint.get("dark"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_no_page(visits: walk.Visits, fault: str) -> None:
    seen = {page: FAULTS[fault](visit) for page, visit in visits.items()}
    assert {page: what for page, what in seen.items() if what} == {}


def test_every_link_inside_the_book_leads_to_a_page_and_an_anchor() -> None:
    broken = [
        (page, place, anchor)
        for page in walk.pages()
        for place, anchor in walk.links(page)
        if not (walk.BOOK / place).is_file() or (anchor and anchor not in walk.anchors(place))
    ]
    assert broken == []


def test_every_chapter_is_reached_by_links_from_the_start_page() -> None:
    missing = set(walk.pages()) - walk.MACHINERY - {"index.html"}
    todo = ["book/intro.html"]  # to which index.html sends
    while todo:
        new = {place for place, _ in walk.links(todo.pop())} & missing
        missing -= new
        todo += new
    assert missing == set()


@pytest.mark.parametrize("place", [walk.BOOK.parents[2], Path.home()], ids=["checkout", "home"])
def test_no_file_of_the_book_names_a_folder_of_this_machine(place: Path) -> None:
    named = [
        path.relative_to(walk.BOOK).as_posix()
        for path in walk.BOOK.rglob("*")
        if path.is_file()
        and path.suffix != ".wasm"  # Pyodide was made in a /root
        and f"{place}/".encode() in path.read_bytes()
    ]
    assert named == []
