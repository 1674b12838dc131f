"""Sphinx extension: Plotly where a page draws with it; buttons to files and to the repository.

The latter appear where ``project.urls`` in ``pyproject.toml`` names its address.
"""

import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

ROOT = Path(__file__).resolve().parents[1]
#: Where the pages of notebooks lie; the notebooks themselves lie in ``notebooks``.
RESULTS = "book/results/"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; see ``_config.yml``."""
    app.connect("config-inited", address)
    app.connect("html-page-context", plotly)
    app.connect("html-page-context", buttons, priority=502)  # after the theme's own
    return {"parallel_read_safe": True, "parallel_write_safe": True}


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


def plotly(app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """Load Plotly (5 MB) on the pages that draw with it, and on no other."""
    if "Plotly.newPlot" in context.get("body", ""):
        app.add_js_file("vendor/plotly.min.js")


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
