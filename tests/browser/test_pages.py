"""What a reader meets at a desk: every page of the built book, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from . import walk

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(walk.missing()), reason=walk.missing()),
]
Visits = dict[str, walk.Visit]
#: Pixels; a longer page is not read to its end.
LONGEST = 12_000


def test_the_walk_sees_the_chapters(visits: Visits) -> None:
    wanted = {
        "index.html",
        *(f"book/{name}.html" for name in ("intro", "howto", "api", "glossary")),
    }
    assert wanted <= set(visits)


@pytest.mark.parametrize("what", ["errors", "strangers", "failures"])
def test_no_page_complains_asks_another_host_or_misses_a_file(visits: Visits, what: str) -> None:
    assert walk.faults(visits, what) == {}


def test_every_link_inside_the_book_leads_to_a_page_and_an_anchor(
    visits: Visits, address: str
) -> None:
    broken = []
    for page, seen in visits.items():
        for link in seen.facts["links"]:
            place = walk.target(address, link)
            if place is None or ((walk.BOOK / place[0]).is_file() and not place[1]):
                continue
            if place[0] not in visits or place[1] not in [*visits[place[0]].facts["ids"], "", "#"]:
                broken.append((page, link))
    assert broken == []


def test_every_chapter_is_reached_by_links_from_the_start_page(
    visits: Visits, address: str
) -> None:
    reached, todo = set(), ["index.html"]
    while todo:
        page = todo.pop()
        if page in visits and page not in reached:
            reached.add(page)
            places = (walk.target(address, link) for link in visits[page].facts["links"])
            todo += [place[0] for place in places if place]
    assert set(walk.chapters(visits)) - reached == set()


def test_every_image_has_alternative_text_and_is_there(visits: Visits) -> None:
    bare = [
        (page, image["src"])
        for page, seen in visits.items()
        for image in seen.facts["images"]
        if not image["alt"].strip() or (image["shown"] and not image["loaded"])
    ]
    assert bare == []


def test_every_chapter_has_one_heading_a_title_and_a_language(visits: Visits) -> None:
    found = {
        page: (len(seen.facts["headings"]), bool(seen.facts["title"]), seen.facts["language"])
        for page, seen in walk.chapters(visits).items()
        if page != "index.html"  # only sends the reader on
    }
    assert found == dict.fromkeys(found, (1, True, "en"))


def test_no_page_is_longer_than_a_reader_scrolls(visits: Visits) -> None:
    long = {page: seen.facts["height"] for page, seen in walk.chapters(visits).items()}
    assert {page: height for page, height in long.items() if height > LONGEST} == {}


def test_every_formula_is_typeset(visits: Visits) -> None:
    counts = {
        page: (seen.facts["formulas"], seen.facts["typeset"]) for page, seen in visits.items()
    }
    assert counts["book/intro.html"][0] > 0
    assert {page: pair for page, pair in counts.items() if pair[0] > pair[1]} == {}


def test_every_interactive_chart_is_drawn(visits: Visits) -> None:
    empty = {
        page: (seen.facts["charts"], seen.facts["drawn"])
        for page, seen in visits.items()
        if seen.facts["charts"] > seen.facts["drawn"]
    }
    assert empty == {}


@pytest.mark.parametrize("sign", ["<Figure size", " object at 0x", "Traceback (most recent"])
def test_no_page_shows_a_python_object_or_a_traceback(visits: Visits, sign: str) -> None:
    assert [page for page, seen in visits.items() if sign in seen.facts["text"]] == []


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


def test_search_says_when_it_finds_nothing(browser: walk.Browser, address: str) -> None:
    with walk.opened(browser, walk.DESKTOP) as tab:
        walk.settle(tab, f"{address}/search.html?q=xyzzyplugh")
        expect(tab.locator("#search-results")).to_contain_text("did not match any documents")
