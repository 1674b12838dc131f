"""The notebooks of the book: how they are written, that they run, what they refuse."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import papermill
import pytest

from tests.helpers import needs
from tstmeta import data
from tstmeta.cli.run import _pairs
from tstmeta.data import paths
from tstmeta.notebook import ParameterError, check, parameters, run_notebook
from tstmeta.schema import TstmetaError

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: What `make book` made of them, with the data that is here.
RESULTS = FOLDER.parent / "book" / "results"
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code(path: Path) -> list[nbformat.NotebookNode]:
    """Code cells but the one of parameters."""
    cells = nbformat.read(path, as_version=4).cells
    return [
        cell
        for cell in cells
        if cell.cell_type == "code" and "parameters" not in cell.metadata.get("tags", [])
    ]


# ------------------------------------------------------------------------ how they are written


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS][:2] == ["01_datasets", "02_content_preservation"]


@every_notebook
def test_a_notebook_is_valid_and_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None
    assert "papermill" not in notebook.metadata
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)


@every_notebook
def test_its_parameters_have_types_and_stand_first(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells[0].metadata["tags"] == ["parameters"]
    known = parameters(path)
    assert "seed" in known
    assert check(path, {name: parameter.default for name, parameter in known.items()})


@every_notebook
def test_plain_papermill_reads_every_parameter_with_its_help(path):
    declared = papermill.inspect_notebook(str(path))
    known = parameters(path)
    assert list(declared) == list(known)
    for name, parameter in known.items():
        assert declared[name]["inferred_type_name"] == parameter.type
        assert parameter.help, f"{name} says nothing of itself"


#: What a notebook may import: what readers know, and us.
LIBRARIES = {
    *("numpy", "pandas", "scipy", "seaborn", "matplotlib", "plotly", "sklearn", "IPython"),
    *("myst_nb", "tqdm", "warnings", "itertools", "functools", "math", "fractions", "typing"),
    *("collections", "dataclasses", "difflib", "tstmeta"),
}
#: Lines of a cell that readers see, and of one that only draws and is folded.
MOST, MOST_FOLDED = 26, 45
FOLDED = {"hide-input", "remove-input"}


@every_notebook
def test_cells_are_short_and_reach_for_no_file_and_no_network(path):
    for cell in code(path):
        lines = [line for line in cell.source.splitlines() if line.strip()]
        folded = FOLDED & set(cell.metadata.get("tags", []))
        assert len(lines) <= (MOST_FOLDED if folded else MOST), cell.source
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Import):
                assert {alias.name.split(".")[0] for alias in node.names} <= LIBRARIES
            if isinstance(node, ast.ImportFrom):
                assert (node.module or "").split(".")[0] in LIBRARIES
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in {"open", "exec", "eval", "__import__"}


@every_notebook
def test_the_code_that_teaches_is_not_folded(path):
    cells = code(path)
    folded = [cell for cell in cells if FOLDED & set(cell.metadata.get("tags", []))]
    assert len(folded) < len(cells) / 2
    assert not [c for c in folded if {"headline", "fast"} & set(c.metadata["tags"])]
    assert any("pd." in cell.source or "np." in cell.source for cell in cells)


@every_notebook
def test_prose_stands_between_the_results(path):
    cells = nbformat.read(path, as_version=4).cells
    assert cells[0].cell_type == "markdown"
    assert cells[0].source.startswith("# ")
    assert sum(cell.cell_type == "markdown" for cell in cells) >= len(cells) / 4


# ------------------------------------------------------------------------------- that they run


def output_text(notebook: nbformat.NotebookNode) -> str:
    """Everything that cells put out, images apart."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            texts += [output.get("text", "")]
            texts += [str(v) for k, v in output.get("data", {}).items() if "image" not in k]
    return "\n".join(texts)


def run(place: Path, name: str, *words: str, raw: str | None = None) -> nbformat.NotebookNode:
    """Run a notebook as a user does and read what comes out."""
    out = place / f"{name}.ipynb"
    command = [sys.executable, "-m", "tstmeta", "run", name, *words, "--out", str(out)]
    environment = {**os.environ, **({} if raw is None else {"TSTMETA_DATA": raw})}
    done = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return nbformat.read(out, as_version=4)


def check_run(path: Path, notebook: nbformat.NotebookNode) -> None:
    """Every cell ran, nothing was said on stderr, nothing tells of time or place, and every picture
    has a text for those who cannot see it."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.execution_count is not None
            assert [o.text for o in cell.outputs if o.get("name") == "stderr"] == []
            if any("image/png" in output.get("data", {}) for output in cell.outputs):
                alternative = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
                assert len(alternative) > 20, cell.source
    text = nbformat.writes(notebook)
    assert "papermill" not in notebook.metadata
    assert "start_time" not in text
    assert str(path.parent) not in text


WITHOUT = "**This page was built without human ratings**"
WITH = re.compile(r"\*\*This page was built with real human ratings\*\*: (.*)\.")


def says_what_it_rests_on(path: Path) -> bool:
    """Chapters do; a lesson that makes its own world need not."""
    return "tst.about(" in path.read_text(encoding="utf-8")


@pytest.mark.nightly
@every_notebook
def test_without_data_a_notebook_shows_the_contrast_set_and_says_so(path, tmp_path):
    if any((paths.external() / name).is_dir() for name in data.names()):
        pytest.skip("data/external holds raw data, so there is no 'without'")
    notebook = run(tmp_path, path.stem, raw=str(tmp_path / "none"))
    check_run(path, notebook)
    text = output_text(notebook)
    assert not WITH.search(text)
    assert (WITHOUT in text) == says_what_it_rests_on(path)


@pytest.mark.nightly
@needs("pauli", "lai", "mir")
@every_notebook
def test_with_data_a_notebook_shows_real_ratings_and_says_whose(path, tmp_path):
    made = RESULTS / path.name  # `make test` has just built the book
    notebook = nbformat.read(made, as_version=4) if made.is_file() else run(tmp_path, path.stem)
    check_run(path, notebook)
    text = output_text(notebook)
    assert WITHOUT not in text
    assert bool(WITH.search(text)) == says_what_it_rests_on(path)


def test_chapters_say_what_they_rest_on():
    chapters = [path for path in NOTEBOOKS if path.stem[0].isdigit()]
    assert chapters
    assert all(says_what_it_rests_on(path) for path in chapters)


WITH_DATASET = [path for path in NOTEBOOKS if "dataset" in parameters(path)]


@pytest.mark.nightly
@pytest.mark.parametrize("path", WITH_DATASET, ids=lambda path: path.stem)
def test_a_file_of_ones_own_is_a_parameter(path, tmp_path):
    rows = [
        f"they said thing {i},it was said {i * i},{'AB'[i % 2]},{i % 5 + 1},{i % 4 + 1}"
        for i in range(12)
    ]
    (tmp_path / "mine.csv").write_text(
        "\n".join(["source,output,system,content.r1,style.r1", *rows, ""])
    )
    words = ["-p", "dataset", "mine.csv"]
    known = parameters(path)
    words += ["--profile", "embedded"] if "profile" in known else []
    words += ["-p", "metrics", "rouge1,pinc"] if "metrics" in known else []
    words += ["-p", "level=system"] if "level" in known else []
    words += ["-p", "statistic", "kendall"] if "statistic" in known else []
    notebook = run(tmp_path, path.stem, *words, raw=str(tmp_path / "none"))
    check_run(path, notebook)
    assert "**This page was built with real human ratings**: `mine`." in output_text(notebook)
    [injected] = [c for c in notebook.cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert 'dataset = "mine.csv"' in injected.source


# --------------------------------------------------------------------------- how they are asked


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        ({"datset": "lai"}, ["datset: unknown, did you mean dataset?"]),
        ({"zzz": 1}, ["zzz: unknown"]),
        ({"dataset": 3}, ["dataset: must be str, got 3"]),
        ({"seed": "x"}, ["seed: must be int, got 'x'"]),
        ({"seed": True}, ["seed: must be int, got True"]),
        ({"seed": 1.5, "dataset": None}, ["seed: must be int, got 1.5", "dataset: must be str"]),
    ],
)
def test_an_unknown_or_ill_typed_parameter_is_refused_with_those_there_are(given, faults):
    path = NOTEBOOKS[0]
    with pytest.raises(ParameterError) as raised:
        check(path, given)
    message = str(raised.value)
    assert message.startswith(f"{path.name} cannot use:\n")
    for fault in faults:
        assert fault in message
    for parameter in parameters(path).values():
        assert f"  {parameter}" in message


def test_a_refused_parameter_runs_nothing(tmp_path):
    out = tmp_path / "out.ipynb"
    with pytest.raises(ParameterError):
        run_notebook(NOTEBOOKS[0], {"nosuch": 1}, out)
    assert not out.exists()


def test_the_command_refuses_it_with_exit_code_2(tmp_path):
    command = [sys.executable, "-m", "tstmeta", "run", "01_datasets", "-p", "seed", "many"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: 01_datasets.ipynb cannot use:\n  seed: must be int")
    assert "It takes:\n  dataset: str = 'auto'" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("names", "rest", "pairs"),
    [
        ([], [], {}),
        (["a"], ["1"], {"a": "1"}),
        (["a=1"], [], {"a": "1"}),
        (["a", "b=2", "c"], ["1", "3"], {"a": "1", "b": "2", "c": "3"}),
        (["a=b=c"], [], {"a": "b=c"}),
        (["a="], [], {"a": ""}),
    ],
)
def test_parameters_are_typed_as_name_and_value(names, rest, pairs):
    assert _pairs(names, rest) == pairs


@pytest.mark.parametrize("content", ["[]", "{}", '{"cells": 3}', '{"nbformat": 4, "cells": [3]}'])
def test_json_that_is_no_notebook_is_told(tmp_path, content):
    path = tmp_path / "no.ipynb"
    path.write_text(content)
    with pytest.raises(TstmetaError, match=r"no\.ipynb is not a Jupyter notebook"):
        parameters(path)
