"""How a lesson is cut into slides."""

from __future__ import annotations

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tools import book, slides

PNG = "iVBORw0KGgoAAAANSUhEUg=="
TOP = """# Lesson 0: a toy

Read {cite:t}`pauli2025meta` and see {cite}`lai2023x, pang2019y`, or
[lesson 1](lesson_1_levels.ipynb) and [a card](../_generated/cards/contrast.md).
It is {glue:text}`share`."""
EXERCISES = """```{admonition} Exercise 1
:class: tip
What is $x^2$?
```
````{admonition} Solution
:class: dropdown
Four.

```python
tst.check("lesson-0-1", 4)
```
````"""


def lesson() -> nbformat.NotebookNode:
    record = {"application/papermill.record/text/plain": "'81%'"}
    glue = new_output("display_data", record, metadata={"scrapbook": {"name": "share"}})
    figure = new_output("display_data", {"image/png": PNG})
    alt = {"image": {"alt": "A line that falls"}}
    cells = [
        new_markdown_cell(TOP),
        new_code_cell("seed: int = 0", metadata={"tags": ["parameters"]}),
        new_code_cell("import tstmeta as tst"),
        new_code_cell("shown = 1", outputs=[new_output("stream", text="one line"), glue]),
        new_code_cell("folded()", metadata={"tags": ["hide-input"], "mystnb": alt}),
        new_markdown_cell("## Second\n\n" + "\n\n".join(["Many words. " * 30] * 4)),
        new_code_cell("long = 1\n" * 24),
        new_markdown_cell(EXERCISES),
    ]
    cells[4].outputs = [figure]
    return new_notebook(cells=cells)


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> str:
    place = tmp_path_factory.mktemp("slides")
    nbformat.write(lesson(), place / "lesson_0_toy.ipynb")
    reveal = book.package("sphinx-revealjs", "reveal.js").parents[1]
    assert slides.write(place, place / "out", reveal) == 1
    return (place / "out" / "lesson_0_toy.html").read_text(encoding="utf-8")


def test_a_heading_an_exercise_and_a_full_slide_begin_a_slide():
    cells = slides.deck(lesson()).cells
    begins: dict[str, list[str]] = {}
    for cell in cells:
        kind = cell.metadata.get("slideshow", {}).get("slide_type")
        begins.setdefault(kind, []).append(cell.source.split()[0])
    # four long paragraphs are more than a slide
    assert begins["slide"] == ["#", "folded()", "##", "Many", "long", "<div"]
    assert begins["notes"] == ["**Solution.**"]
    titles = [cells[place].metadata.slideshow.data.title for place in (0, -2)]
    assert titles == ["Lesson 0: a toy", "Second"]


def test_what_a_run_takes_and_folded_code_are_left_out_and_pictures_stay(page):
    assert not [word for word in ("seed", "folded") if word in page]
    assert not [word for word in ("shown", "one line") if word not in page]
    [picture] = re.findall(r"<img[^>]*>", page)
    assert f'src="data:image/png;base64,{PNG}"' in picture
    assert 'alt="A line that falls"' in picture


def test_roles_and_links_become_words_and_pages_of_the_book_and_no_host_is_named(page):
    words = ("Pauli (2025)", "(Lai 2023; Pang 2019)", "It is 81%.")
    links = ("../book/results/lesson_1_levels.html", "../book/_generated/cards/contrast.html")
    wanted = [*words, *(f'href="{link}"' for link in links)]
    assert [text for text in wanted if text not in page] == []
    assert [text for text in ("{cite", "admonition", "http") if text in page] == []


def test_the_solution_is_a_note(page):
    [note] = re.findall(r'<aside class="notes">.*?</aside>', page, re.DOTALL)
    assert "Four." in note
    assert page.count("Four.") == 1
