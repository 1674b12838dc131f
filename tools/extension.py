"""Sphinx extension: Plotly where a page draws with it; tables as CSV; buttons to files and to the
repository, where ``project.urls`` in ``pyproject.toml`` names its address.

A table gets a file and a link of plain HTML before it, which work from the disk and without a
script.
"""

import itertools
import re
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from lxml import html
from sphinx.application import Sphinx
from sphinx.config import Config

from tstmeta import console

ROOT = Path(__file__).resolve().parents[1]
#: Where the pages of notebooks lie; the notebooks themselves lie in ``notebooks``.
RESULTS = "book/results/"
#: Extensions that work when all pages were read, and do not say that these may be read in parallel.
AFTER_READING = ("sphinx_multitoc_numbering", "sphinx_jupyterbook_latex")
#: Boxes that scroll: the link stands before them, or it would scroll away.
_CLASS = r"\bclass=[\"'][^\"']*\b(?:tst-|output|cell_output|pst-)"
_BOX = rf"<div(?:(?![^>]*\bclass=)|[^>]*{_CLASS})[^>]*>"
_TABLE = re.compile(
    rf"(?P<box>(?:(?:{_BOX}|<style[^<]*</style>)\s*)*)(?P<table><table\b.*?</table>)", re.DOTALL
)
_LINK = '<div class="tst-csv"><a href="{}" download>CSV<span> of this table</span></a></div>\n'
#: A number as pages show it: a true minus sign, commas between thousands.
_NUMBER = re.compile(r"[−-]?\d{1,3}(,\d{3})+(\.\d+)?|−\d+(\.\d+)?(e[−+]?\d+)?")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; see ``_config.yml``."""
    app.connect("config-inited", address)
    app.connect("builder-inited", side_by_side)
    app.connect("html-page-context", content)
    app.connect("html-page-context", buttons, priority=502)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def side_by_side(app: Sphinx) -> None:
    """Let several processes read pages, which Sphinx does only where every extension allows it."""
    for name in AFTER_READING:
        app.extensions[name].parallel_read_safe = True


def address(_app: Sphinx, config: Config) -> None:
    """Show the theme's buttons where there is an address that they lead to."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    if url := project.get("urls", {}).get("Repository"):
        launch = {"binderhub_url": "https://mybinder.org", "notebook_interface": "jupyterlab"}
        if url.startswith("https://github.com/"):  # Colab reads from nowhere else
            launch["colab_url"] = "https://colab.research.google.com"
        shown = (f"use_{name}_button" for name in ("repository", "issues", "edit_page"))
        options = {"repository_url": url, "repository_branch": "main", "launch_buttons": launch}
        options |= dict.fromkeys(shown, True)
        config.html_theme_options = config.html_theme_options | options


def content(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Load Plotly (5 MB) and code to try on the pages that have them; write tables as CSV."""
    if body := context.get("body"):
        if "Plotly.newPlot" in body:
            app.add_js_file("vendor/plotly.min.js")
        if "tst-try" in body and (ROOT / "book/_static/vendor/pyodide").is_dir():
            app.add_js_file("try.js", loading_method="defer")
        linked = partial(_linked, Path(app.outdir), Path(page), itertools.count(1))
        context["body"] = _TABLE.sub(linked, body)


def _linked(book: Path, page: Path, places: Iterator[int], match: re.Match[str]) -> str:
    """A table with the link before its box; the page is else as it was, byte by byte."""
    file = Path("_tables", page.parent, f"{page.name}-{next(places)}.csv")
    (book / file).parent.mkdir(parents=True, exist_ok=True)
    (book / file).write_text(console.to_csv(frame(match["table"]), for_people=True), "utf-8")
    return _LINK.format("../" * len(page.parent.parts) + file.as_posix()) + match[0]


def frame(table: str) -> pd.DataFrame:
    """A table of HTML as texts: one head, its rows joined; spans repeated; numbers plain."""
    cells: dict[tuple[int, int], str] = {}
    root = html.fragment_fromstring(table)
    rows = root.xpath("(./thead | ./tbody | ./tfoot | .)/tr")
    for y, row in enumerate(rows):
        x = 0
        for cell in row.xpath("./th | ./td"):
            while (y, x) in cells:
                x += 1
            down, right = (int(cell.get(f"{way}span", 1)) for way in ("row", "col"))
            text = _text(cell)
            cells |= {(y + i, x + j): text for i in range(down) for j in range(right)}
    width = 1 + max((x for _, x in cells), default=-1)
    texts = [[cells.get((y, x), "") for x in range(width)] for y in range(len(rows))]
    top = len(root.xpath("./thead/tr"))
    columns = zip(*texts[:top], strict=True)
    heads = [" ".join(dict.fromkeys(filter(None, column))) for column in columns]
    return pd.DataFrame(texts[top:], columns=heads or [""] * width)


def _text(cell: html.HtmlElement) -> str:
    """A cell on one line, as a spreadsheet reads it; a dash is a missing value."""
    for part in cell.xpath(".//br | .//small | .//p | .//li"):
        part.tail = f" {part.tail or ''}"
    text = " ".join(cell.text_content().split())
    text = text.replace(",", "").replace("−", "-") if _NUMBER.fullmatch(text) else text
    return "" if text in ("–", "-") else text


def buttons(_app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Point to the files that people edit: pages of data have none."""
    for group in context["header_buttons"]:
        group["buttons"] = [
            {**button, "url": button["url"].replace(f"/{RESULTS}", "/notebooks/")}
            for button in group["buttons"]
            if "/_generated/" not in page or button.get("label") != "source-edit-button"
        ]

    if page.startswith(RESULTS):
        name = page.removeprefix(RESULTS)
        shown = {
            "download-notebook": ("Download this notebook", "download", f"_static/{name}.ipynb")
        }
        if name.startswith("lesson_"):
            lesson = f"slides/{name}.html"
            shown["slides"] = ("Slides of this lesson", "chalkboard-user", lesson)
        for label, (tooltip, icon, file) in shown.items():
            button = {"type": "link", "url": context["pathto"](file, 1), "tooltip": tooltip}
            button |= {"icon": f"fas fa-{icon}", "label": f"{label}-button"}
            context["header_buttons"].append(button)
