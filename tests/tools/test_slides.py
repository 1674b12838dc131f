"""The slides of a lesson."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import book, slides

PNG = "iVBORw0KGgoAAAANSUhEUg=="
WORDS = {"title": "A line", "question": "Does it fall < 1?", "minutes": 4, "notes": "It does."}


def lesson() -> nbformat.NotebookNode:
    record = {"application/papermill.record/text/plain": "'81%'"}
    glue = new_output("display_data", record, metadata={"scrapbook": {"name": "share"}})
    figure = new_output("display_data", {"image/png": PNG})
    looks = {"mystnb": {"image": {"alt": "A line that falls"}}, "tags": ["hide-input"]}
    opening = {**WORDS, "title": "What is it?", "text": "One third: $x^2$"}
    cells = [
        new_markdown_cell("# Lesson 0: a toy\n\nMany words."),
        new_code_cell("seed: int = 0", metadata={"tags": ["parameters"]}),
        new_markdown_cell("A paragraph of the page.", metadata={"slide": opening}),
        new_code_cell("unseen = 1", outputs=[new_output("stream", text="left out")]),
        new_code_cell("draw()", outputs=[figure, glue], metadata={**looks, "slide": WORDS}),
    ]
    return new_notebook(cells=cells)


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("slides")
    nbformat.write(lesson(), place / "lesson_0_toy.ipynb")
    reveal = book.package("sphinx-revealjs", "reveal.js").parents[1]
    assert slides.write(place, place / "out", reveal) == 1
    return (place / "out" / "lesson_0_toy.html").read_text(encoding="utf-8")


def test_cells_that_are_slides_are_slides_and_no_others(page):
    cells = slides.deck(lesson()).cells
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells]
    begins = [cell for cell, kind in zip(cells, kinds, strict=True) if kind == "slide"]
    assert [cell.source for cell in begins] == ["## What is it?", "## A line"]
    assert [cell.metadata.slideshow.data.title for cell in begins] == ["What is it?", "A line"]
    left_out = ("seed", "Many words", "A paragraph", "unseen", "left out", "81%", "http")
    assert [word for word in left_out if word in page] == []
    assert "<title>Lesson 0: a toy: slides</title>" in page


def test_a_slide_has_what_the_cell_shows_its_code_the_question_and_notes_with_minutes(page):
    [picture] = re.findall(r"<img[^>]*>", page)
    assert f'src="data:image/png;base64,{PNG}"' in picture
    assert 'alt="A line that falls"' in picture
    assert "draw" in page  # hidden until C is pressed: see the tests in a browser
    assert page.count('<p class="question">Does it fall &lt; 1?</p>') == 2
    assert "One third: $x^2$" in page
    notes = re.findall(r'<aside class="notes">.*?</aside>', page, re.DOTALL)
    assert len(notes) == 2
    assert all("4 min." in note and "It does." in note for note in notes)
