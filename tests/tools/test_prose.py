"""What a reader of the built book sees: no debug output, no hole, numbered figures."""

import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from lxml import html

from tests.test_notebooks import NOTEBOOKS, every_notebook
from tests.written import ROOT

BOOK = ROOT / "book" / "_build" / "html"
PAGES = [*sorted(BOOK.glob("book/**/*.html")), BOOK / "index.html"]
#: What no reader should meet, by what it is; the last in chapters, for tables have tiny numbers.
DEBUG = {
    "type": r"\bdtype: |\bnp\.(float|int|str|bool)|<class '",
    "repr": r"Name: \w+, Length|<pandas\.|<Axes|<Figure size|\bobject at 0x",
    "traceback": r"Traceback \(most recent",
    "address": r"\bADDRESS\b",
    "typed number": r"\b[Cc]hapters? \d",
    "noise": r"\d[eE][-−]1\d",
}
#: A dash, or nothing, where a sentence has a number.
HOLE = re.compile(
    r"(?<![\w%)\]])–(?![\w(\[])|\b(nan|NaN) (of|in|to|%)|\b(of|in|is|are) (nan|NaN)\b"
)
#: Where a dash is none: cells of tables, signatures, titles of works.
ELSEWHERE = "ancestor::td or ancestor-or-self::*[contains(@class, 'py ') or @class='citation']"
built = pytest.mark.skipif(not (BOOK / "index.html").is_file(), reason="no book (make book)")
every_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


@cache
def article(path: Path) -> html.HtmlElement:
    page = html.fromstring(path.read_bytes().decode())
    [main] = page.xpath("//article") or [page]
    for code in main.xpath(".//div[contains(@class, 'cell_input')] | .//script | .//style"):
        code.drop_tree()
    return main


@built
@every_page
def test_no_page_shows_debug_output_a_hole_or_an_empty_section(path):
    main, is_chapter = article(path), path.parent.name == "results"
    text = " ".join(main.text_content().split())
    kinds = [*DEBUG] if is_chapter else [*DEBUG][:-1]
    assert [kind for kind in kinds if re.search(DEBUG[kind], text)] == []
    assert "nan" not in {cell.text_content().strip().lower() for cell in main.iter("td")}
    prose = main.xpath(f"(.//p | .//li)[not({ELSEWHERE})]")
    sentences = [" ".join(part.text_content().split()) for part in prose]
    assert [text for text in sentences if HOLE.search(text)] == []
    bare = main.xpath(".//section[count(*) = 1 and count(h1 | h2 | h3 | h4) = 1]")
    assert [section.text_content() for section in bare] == []


@built
@every_notebook
def test_figures_have_numbers_and_captions_and_a_rewrite_comes_first(path):
    main = article(BOOK / "book" / "results" / f"{path.stem}.html")
    pictures = main.xpath(".//div[contains(@class, 'cell_output')]//img")
    captions = [picture.xpath("string(ancestor::figure[1]/figcaption)") for picture in pictures]
    assert [text for text in captions if not re.match(r"\s*Figure [\d.]+ \S", text)] == []
    assert main.xpath("string(.//div[contains(@class, 'cell_output')]//table[not(caption)])") == ""
    [example, *_] = main.xpath(".//table[caption[starts-with(normalize-space(), 'Source:')]]")
    assert example.xpath("count(preceding::h2)") <= 1, "the rewrite stands on the first screen"


@every_notebook
def test_a_page_begins_folded_and_ends_with_what_to_take_away(path):
    cells = nbformat.read(path, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert all("hide-input" in cell.metadata["tags"] for cell in code[:2])
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    [ending] = [text for text in texts if "## What you can take away" in text]
    assert len(re.findall(r"^- ", ending.partition("take away")[2], re.M)) == 3


def test_the_notebooks_have_a_third_fewer_words_than_they_had():
    read = [nbformat.read(path, as_version=4).cells for path in NOTEBOOKS]
    texts = [cell.source for cells in read for cell in cells if cell.cell_type == "markdown"]
    assert len(" ".join(texts).split()) <= 33_000


def test_the_class_plan_names_headings_that_the_lessons_have():
    plan = (ROOT / "book" / "teach_class.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\*([A-Z][^*|]{3,})\*", plan.partition("## A lab")[0]))
    lessons = [path.read_text(encoding="utf-8") for path in NOTEBOOKS if "lesson" in path.name]
    headings = set(re.findall(r"## ([^\\\"]+)(?:\\n)?\"", "".join(lessons)))
    assert named - {heading.strip() for heading in headings} == set()
