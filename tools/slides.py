"""Slides of the lessons: what a class sees of the executed notebooks, through nbconvert.

A cell whose metadata has ``slide`` is one: its title, what the cell displays (of a cell of text:
``text``), a question to the class, and notes for the speaker with minutes.  The code of the cell
appears when the speaker presses C.  reveal.js comes out of the package sphinx-revealjs: no other
host is asked.
"""

import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path

from nbformat import NotebookNode, read
from nbformat.v4 import new_markdown_cell

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = ROOT / "book" / "templates" / "slides.html.j2"
#: What a deck loads of reveal.js.
REVEAL = ("dist/reveal.css", "dist/reveal.js", "dist/theme", "plugin/notes/notes.js", "LICENSE")


def deck(notebook: NotebookNode) -> NotebookNode:
    """The slides of an executed lesson, as cells with the types that nbconvert takes."""
    cells = [part for cell in notebook.cells if "slide" in cell.metadata for part in slide(cell)]
    for place, cell in enumerate(cells):
        cell.id = f"part-{place}"
    return NotebookNode({**notebook, "cells": cells})


def slide(cell: NotebookNode) -> Iterator[NotebookNode]:
    """Title, what is shown, question and notes of one slide."""
    words = cell.metadata["slide"]
    begins = {"slide_type": "slide", "data": {"title": words["title"]}}
    yield new_markdown_cell(f"## {words['title']}", metadata={"slideshow": begins})
    if cell.cell_type == "code":
        shown = [out for out in cell.outputs if "scrapbook" not in out.get("metadata", {})]
        metadata = {key: value for key, value in cell.metadata.items() if key != "tags"}
        yield NotebookNode({**cell, "outputs": shown, "metadata": NotebookNode(metadata)})
    elif text := words.get("text"):
        yield new_markdown_cell(text)
    yield new_markdown_cell(f'<p class="question">{escape(words["question"])}</p>')
    notes = {"slideshow": {"slide_type": "notes"}}
    text = f"**{words['minutes']} min.** {words['notes']}"
    yield new_markdown_cell(text, metadata=notes)


def write(results: Path, out: Path, reveal: Path) -> int:
    """Write a deck a lesson below ``out``, with reveal.js beside them; returns how many."""
    lessons = sorted(results.glob("lesson_*.ipynb"))
    if not lessons:
        return 0
    from nbconvert import SlidesExporter

    for name in REVEAL:
        place = out / "reveal" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (reveal / name).is_dir() else shutil.copy
        copy(reveal / name, place)
    exporter = SlidesExporter(
        template_file=str(TEMPLATE), exclude_input_prompt=True, exclude_output_prompt=True
    )
    for path in lessons:
        lesson = read(path, as_version=4)
        slides = deck(lesson)
        slides.metadata["title"] = lesson.cells[0].source.partition("\n")[0].lstrip("# ")
        page, _ = exporter.from_notebook_node(slides)
        # Plotly names the host to which it could send a chart
        page = page.replace("https://plot.ly", "")
        (out / f"{path.stem}.html").write_text(page, encoding="utf-8")
    return len(lessons)
