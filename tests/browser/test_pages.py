"""What a reader meets at a desk and on a phone: every page of the built book, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from . import walk

pytestmark = walk.MARKS
#: Pixels; a longer page is not read to its end.
LONGEST = 12_000


def test_the_walk_sees_the_chapters(visits: walk.Visits) -> None:
    wanted = {
        "index.html",
        *(f"book/{name}.html" for name in ("intro", "howto", "howto_judges", "api", "glossary")),
    }
    assert wanted <= set(visits)
    assert visits["book/intro.html"].facts["formulas"] > 0


@pytest.mark.parametrize("what", ["errors", "strangers", "failures"])
def test_no_page_complains_asks_another_host_or_misses_a_file(
    visits: walk.Visits, what: str
) -> None:
    assert walk.faults(visits, what) == {}


SIGNS = ("<Figure size", " object at 0x", "Traceback (most recent")
FAULTS: dict[str, Callable[[walk.Visit], Any]] = {
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
    "shows an object of Python": lambda seen: [n for n in SIGNS if n in seen.facts["text"]],
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
    assert walk.faults(visits, FAULTS[fault]) == {}


def test_every_link_inside_the_book_leads_to_a_page_and_an_anchor(
    visits: walk.Visits, address: str
) -> None:
    facts, broken = walk.facts(visits, address), []
    for page, seen in facts.items():
        for link in seen["links"]:
            place = walk.target(address, link)
            if place is None or ((walk.BOOK / place[0]).is_file() and not place[1]):
                continue
            if place[0] not in facts or place[1] not in [*facts[place[0]]["ids"], "", "#"]:
                broken.append((page, link))
    assert broken == []


def test_every_chapter_is_reached_by_links_from_the_start_page(
    visits: walk.Visits, address: str
) -> None:
    facts = walk.facts(visits, address)
    reached, todo = set(), ["index.html"]
    while todo:
        page = todo.pop()
        if page in facts and page not in reached:
            reached.add(page)
            places = (walk.target(address, link) for link in facts[page]["links"])
            todo += [place[0] for place in places if place]
    assert set(facts) - walk.MACHINERY - reached == set()


def test_no_page_is_longer_than_a_reader_scrolls(visits: walk.Visits) -> None:
    chapters = walk.chapters(visits)
    assert walk.faults(chapters, lambda seen: max(seen.facts["height"] - LONGEST, 0)) == {}


@pytest.mark.parametrize("place", [walk.BOOK.parents[2], Path.home()], ids=["checkout", "home"])
def test_no_file_of_the_book_names_a_folder_of_this_machine(place: Path) -> None:
    named = [
        path.relative_to(walk.BOOK).as_posix()
        for path in walk.BOOK.rglob("*")
        if path.is_file() and f"{place}/".encode() in path.read_bytes()
    ]
    assert named == []


def test_search_finds_a_word_from_the_search_box(browser: walk.Browser, address: str) -> None:
    with walk.opened(browser, walk.DESKTOP) as tab:
        walk.settle(tab, f"{address}/book/howto.html")
        tab.keyboard.press("Control+k")
        box = tab.locator(".search-button__search-container input[type=search], dialog input")
        expect(box.first).to_be_visible()
        box.first.fill("sentinels")
        box.first.press("Enter")
        results = tab.locator("ul.search li a")
        expect(results.first).to_be_visible()
        results.first.click()
        expect(tab.locator("article")).to_contain_text("sentinel", ignore_case=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_reader_s_colour_scheme_and_a_button_switches_it(
    browser: walk.Browser, address: str, scheme: str
) -> None:
    with walk.opened(browser, walk.DESKTOP, color_scheme=scheme) as tab:
        walk.settle(tab, f"{address}/book/intro.html")
        expect(tab.locator("html")).to_have_attribute("data-theme", scheme)
        shades = {}
        for _ in range(3):
            tab.locator("button.theme-switch-button").first.click()
            theme = tab.locator("html").get_attribute("data-theme")
            shades[theme] = tab.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert set(shades) == {"light", "dark"}
        assert shades["light"] != shades["dark"]
