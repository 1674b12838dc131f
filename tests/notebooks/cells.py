"""Run the tagged cells of a notebook by themselves, as a reader of its exercises would."""

import contextlib
import io
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def cells(name: str, *tags: str) -> list[str]:
    """Code of the cells with one of these tags, or of all cells of code, in order."""
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    tagged = [cell for cell in code if set(tags) & set(cell.metadata.get("tags", []))]
    return [cell.source for cell in (tagged if tags else code)]


def run(name: str, *tags: str, **given) -> dict:
    """The names that the tagged cells define, with some parameters changed."""
    space: dict = {"__name__": "notebook"}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for source in cells(name, "parameters"):
            exec(compile(source, name, "exec"), space)
        assert set(given) <= set(space)
        space.update(given)
        for source in cells(name, *tags):
            exec(compile(source, name, "exec"), space)
    plt.close("all")
    return space
