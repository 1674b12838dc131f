"""Slides of the lessons: the same executed notebooks, cut into screens, through nbconvert.

No cell is tagged by hand.  A heading or an exercise begins a slide, a solution becomes a note of
the speaker, folded cells show what they draw, and the rest is put together until a slide is full
(``book/templates/slides.html.j2`` draws smaller what is still too large).  reveal.js comes out of
the package sphinx-revealjs: no other host is asked.
"""

import re
import shutil
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from nbformat import NotebookNode, read
from nbformat.v4 import new_markdown_cell

ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = ROOT / "book" / "templates" / "slides.html.j2"
#: What a deck loads of reveal.js.
REVEAL = ("dist/reveal.css", "dist/reveal.js", "dist/theme", "plugin/notes/notes.js", "LICENSE")
#: Pixels that the content of a slide may take, and about what is taken by a line of text or code,
#: by the row of a table and by a figure.
ROOM, LINE, CODE, ROW, FIGURE = 600, 37, 25, 34, 430
#: A box of MyST with its title and text, or a heading.
BLOCK = re.compile(r"^(`{3,})\{admonition\} (.*)\n(?::.*\n)*((?s:.*?))^\1$|^(#+ .*)$", re.M)
#: A link to another page of the book.
LINK = re.compile(r"\]\((?:\.\./(\w+/)?)?([\w/]+)\.(ipynb|md)\)")
#: What is shown: heading, exercise, notes or part; the cell; about its height in pixels.
Piece = tuple[str, NotebookNode, float]


def deck(notebook: NotebookNode) -> NotebookNode:
    """The cells of an executed lesson, in pieces, with the types that nbconvert takes."""
    shown: list[NotebookNode] = []
    left, title = 0.0, ""
    for kind, cell, height in pieces(notebook):
        title = cell.source.lstrip("# ").strip() if kind == "heading" else title
        # a slide that has hardly begun takes what follows, however large
        full = height > left and left < 0.75 * ROOM
        if kind == "notes":
            cell.metadata["slideshow"] = {"slide_type": "notes"}
        elif full or kind in ("heading", "exercise"):
            cell.metadata["slideshow"] = {"slide_type": "slide", "data": {"title": title}}
            left = ROOM
        left -= height
        cell.id = f"part-{len(shown)}"
        shown.append(cell)
    return NotebookNode({**notebook, "cells": shown})


def pieces(notebook: NotebookNode) -> Iterator[Piece]:
    """What of a lesson is shown, in order; code and each of its outputs apart."""
    for cell in map(deepcopy, notebook.cells):
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "markdown":
            yield from texts(plain(cell.source, notebook))
            continue
        if tags & {"parameters"} or re.search(r"import tstmeta|tst\.about\(", cell.source):
            continue  # what a run takes, and what it rests on, stand on the page
        if not tags & {"hide-input", "remove-input"}:
            code = NotebookNode({**cell, "outputs": [], "metadata": NotebookNode()})
            yield "part", code, CODE * len(cell.source.splitlines())
        hidden = NotebookNode({**cell.metadata, "transient": {"remove_source": True}})
        for output in cell.outputs:
            if "scrapbook" not in output.get("metadata", {}):
                alone = NotebookNode({**cell, "outputs": [output], "metadata": hidden})
                yield "part", deepcopy(alone), drawn(output)


def drawn(output: NotebookNode) -> float:
    """About how high an output is drawn."""
    data = output.get("data", {})
    page = data.get("text/html", "")
    if "image/png" in data or "Plotly" in page:
        return FIGURE
    if "<table" in page:
        return ROW * (page.count("<tr") + 1)
    return CODE * (len((output.get("text") or data.get("text/plain", "")).splitlines()) + 1)


def texts(source: str) -> Iterator[Piece]:
    """Headings, boxes, notes and paragraphs of a cell of text."""
    end = 0
    for block in [*BLOCK.finditer(source), None]:
        before = source[end : block.start() if block else None].strip()
        for paragraph in filter(None, re.split(r"\n\n+", before)):
            lines = 1 + len(paragraph) // 95 + len(re.findall(r"\n(?:\||- |\d\. )", paragraph))
            yield "part", new_markdown_cell(paragraph), LINE * lines + 20
        if block is None:
            return
        _, title, text, heading = block.groups()
        end = block.end()
        if heading:
            yield "heading", new_markdown_cell(heading), 2 * LINE
        elif title in ("Solution", "What to look for"):
            yield "notes", new_markdown_cell(f"**{title}.** {text}"), 0
        else:
            kind = "exercise" if title.startswith("Exercise") else "part"
            box = new_markdown_cell(f'<div class="box">\n\n**{title}**\n\n{text}\n\n</div>')
            yield kind, box, LINE * (2 + len(text) / 90 + text.count("\n\n"))


def plain(source: str, notebook: NotebookNode) -> str:
    """Text without roles of MyST: glued numbers, citations and links to the book's pages."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    glued = {
        output.metadata.scrapbook.name: next(iter(output.data.values())).strip("'")
        for output in outputs
        if "scrapbook" in output.get("metadata", {})
    }
    source = re.sub(r"\{glue:text\}`(\w+)`", lambda role: glued[role[1]], source)
    source = re.sub(r"\{cite(:\w)?\}`([^`]+)`", lambda role: cited(role[2], role[1]), source)
    return LINK.sub(lambda link: f"](../book/{link[1] or 'results/'}{link[2]}.html)", source)


def cited(keys: str, role: str | None) -> str:
    """Name and year, as a key begins with them: (Pauli 2025), or in a sentence Pauli (2025)."""
    works = [re.match(r"(\D+)(\d+)", key.strip()).groups() for key in keys.split(",")]
    if role == ":t":
        return "; ".join(f"{name.title()} ({year})" for name, year in works)
    return "(" + "; ".join(f"{name.title()} {year}" for name, year in works) + ")"


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
        slides = deck(read(path, as_version=4))
        slides.metadata["title"] = slides.cells[0].source.lstrip("# ")
        page, _ = exporter.from_notebook_node(slides)
        # Plotly names the host to which it could send a chart
        page = page.replace("https://plot.ly", "")
        (out / f"{path.stem}.html").write_text(page, encoding="utf-8")
    return len(lessons)
