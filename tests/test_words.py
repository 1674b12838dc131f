"""The built book speaks the words of the field, and none of those that had to be solved."""

from __future__ import annotations

import re
from functools import cache
from html import unescape

import pytest

from tests import written

BOOK = written.ROOT / "book" / "_build" / "html"
#: Page -> the terms of what is done there.
DONE = {
    "results/02_content_preservation": (
        *("bootstrap", "confidence interval", "permutation test", "reference-free"),
        "reference-based",
    ),
    "results/03_system_ranking": ("system level", "bootstrap", "confidence interval"),
    "results/04_style_strength": ("bootstrap", "confidence interval"),
    "results/07_three_levels": ("system level",),
    "results/08_hybrids": ("cross-validated", "bootstrap"),
    "results/09_confounds": ("partial correlation",),
    "results/10_raters": ("human ceiling", "Krippendorff"),
    "results/13_references": ("reference-based",),
    "results/lesson_1_levels": ("system level", "segment level"),
    "results/lesson_3_too_small_p": ("permutation test", "bootstrap"),
    "_generated/claims": ("decision rule", "bootstrap", "confidence interval", "system level"),
    "_generated/certainty": ("bootstrap", "confidence interval"),
    "intro": ("bootstrap", "confidence interval", "system level", "reference-free"),
    "glossary": ("bootstrap", "permutation test", "sentinel metric", "segment level", "flipped"),
}
#: What is said in other words now; see the glossary.
GONE = (
    *("drawn again", "sources swapped", "off zero", "turned round", "held-out rating slot"),
    "what would carry it",
)

pytestmark = pytest.mark.skipif(not BOOK.is_dir(), reason="the book is not built (make book)")


@cache
def words(name: str) -> str:
    """The text of a page's article on one line."""
    html = (BOOK / name).read_text(encoding="utf-8")
    article = html.partition("<article")[2].partition("</article>")[0] or html
    return " ".join(unescape(re.sub(r"<[^>]+>", "", article)).split())


@pytest.mark.parametrize(
    ("page", "term"), [(page, term) for page, terms in DONE.items() for term in terms]
)
def test_what_is_done_on_a_page_has_its_name_there(page, term):
    assert term.lower() in words(f"book/{page}.html").lower()


@pytest.mark.parametrize("phrase", GONE)
def test_no_page_says_it_in_words_that_have_to_be_solved(phrase):
    pages = [path.relative_to(BOOK).as_posix() for path in BOOK.rglob("*.html")]
    assert [page for page in pages if phrase in words(page).lower()] == []
