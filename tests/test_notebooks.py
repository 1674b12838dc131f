"""The notebooks of the book: how they are written, that they run, what they refuse."""

import ast
import re
from pathlib import Path

import nbformat
import papermill
import pytest

from tests.helpers import nightly_but, python
from tstmeta.notebook import check, parameters

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
#: What `make book` made of them, with the data that is here.
RESULTS = FOLDER.parent / "book" / "results"
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@every_notebook
def test_its_parameters_have_types_and_stand_first(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells[0].metadata["tags"] == ["parameters", "hide-input"]  # folded, first
    known = parameters(path)
    assert "seed" in known
    assert check(path, {name: parameter.default for name, parameter in known.items()})
    declared = papermill.inspect_notebook(str(path))  # plain papermill reads the same
    types = {name: entry["inferred_type_name"] for name, entry in declared.items()}
    assert types == {name: parameter.type for name, parameter in known.items()}


#: What a notebook may import: what readers know, us, and runs of ours.
LIBRARIES = {
    *("numpy", "pandas", "scipy", "seaborn", "matplotlib", "plotly", "sklearn", "IPython"),
    *("myst_nb", "tqdm", "warnings", "itertools", "functools", "math", "fractions", "typing"),
    *("collections", "dataclasses", "difflib", "statsmodels", "tstmeta", "experiments"),
}


@every_notebook
def test_cells_reach_for_no_file_and_no_network(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    for node in ast.walk(ast.parse("\n".join(cell.source for cell in cells))):
        if isinstance(node, ast.Import):
            assert {alias.name.split(".")[0] for alias in node.names} <= LIBRARIES
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in LIBRARIES
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"open", "exec", "eval", "__import__"}


def output_text(notebook: nbformat.NotebookNode) -> str:
    """Everything that cells put out, images apart."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            texts += [output.get("text", "")]
            texts += [str(v) for k, v in output.get("data", {}).items() if "image" not in k]
    return "\n".join(texts)


def run(place: Path, name: str, *words: str) -> nbformat.NotebookNode:
    """Run a notebook as a user without raw files does and read what comes out."""
    out = place / f"{name}.ipynb"
    words = ("-m", "tstmeta", "run", name, *words, "--out", str(out))
    done = python(*words, cwd=place, timeout=300, env={"TSTMETA_DATA": str(place / "none")})
    assert done.stdout == ""
    return nbformat.read(out, as_version=4)


def check_run(notebook: nbformat.NotebookNode) -> None:
    """Every cell ran, nothing was said on stderr, nothing tells of time or place, and every picture
    has a text for those who cannot see it."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.execution_count is not None
            assert [o.text for o in cell.outputs if o.get("name") == "stderr"] == []
            if any("image/png" in output.get("data", {}) for output in cell.outputs):
                alternative = cell.metadata.get("mystnb", {}).get("image", {}).get("alt", "")
                assert len(alternative) > 20, cell.source
    assert str(FOLDER) not in nbformat.writes(notebook)


WITH = re.compile(r"\*\*This page was built with real human ratings\*\*: (.*)\.")


@every_notebook
def test_with_or_without_raw_files_a_notebook_shows_real_ratings_and_says_whose(path):
    result = RESULTS / path.name
    if not result.is_file():
        pytest.skip(f"book/results/{path.name} is not here (make book)")
    notebook = nbformat.read(result, as_version=4)
    check_run(notebook)
    text = output_text(notebook)
    assert "**This page was built without human ratings**" not in text
    # chapters say what they rest on; a lesson that makes its own world need not
    assert bool(WITH.search(text)) == ("tst.about(" in path.read_text(encoding="utf-8"))


#: Those that take a data set; one is run as a whole by every run of the tests.
TAKE_DATA = [path for path in NOTEBOOKS if "dataset" in parameters(path)]


@pytest.mark.parametrize("path", nightly_but(TAKE_DATA, "01_datasets"))
def test_a_file_of_ones_own_is_a_parameter(path, tmp_path):
    rows = ["source,output,system,content.r1,style.r1"]
    for i in range(12):
        rows.append(f"they said {i},it was said {i * i},{'AB'[i % 2]},{i % 5 + 1},{i % 4 + 1}")
    (tmp_path / "mine.csv").write_text("\n".join(rows))
    changes = {"dataset": "mine.csv", "profile": "embedded", "metrics": "rouge1,pinc"}
    changes |= {"level": "system", "statistic": "kendall"}
    known = parameters(path)
    words = [word for name in changes if name in known for word in ("-p", name, changes[name])]
    notebook = run(tmp_path, path.stem, *words)
    check_run(notebook)
    assert "**This page was built with real human ratings**: `mine`." in output_text(notebook)
    assert "ours (published)" not in output_text(notebook)  # no printed table, see test_pages
    [injected] = [c for c in notebook.cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert 'dataset = "mine.csv"' in injected.source


@pytest.mark.parametrize("words", [["-p", "seed"], ["seed", "1"], ["-p", "seed", "1", "2"]])
def test_a_parameter_without_its_value_is_a_usage_error(tstmeta, words):
    result = tstmeta("run", "01_datasets", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "-p NAME VALUE" in result.stderr


@every_notebook
def test_a_notebook_is_valid_and_without_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)
    assert "papermill" not in notebook.metadata
