"""Sphinx extension: load Plotly (5 MB) on the pages that draw with it, and on no other."""

from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx; see ``_config.yml``."""

    def plotly(app: Sphinx, _name: str, _file: str, context: dict[str, Any], _tree: Any) -> None:
        if "Plotly.newPlot" in context.get("body", ""):
            app.add_js_file("vendor/plotly.min.js")

    app.connect("html-page-context", plotly)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
