"""The main number of every chapter: in the open, by the fast API, and as it was frozen.

A notebook's cells tagged ``parameters``, ``setup``, ``headline`` and ``fast`` run here by
themselves.  ``headline`` computes with pandas, numpy or scipy, ``fast`` the same with the API.
``tests/frozen/NAME.real.csv`` holds what came out with the real data, ``.contrast.csv`` without.
"""

import ast
import contextlib
import io
import warnings
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FROZEN = ROOT / "tests" / "frozen"
#: What a headline cell may ask of us; the rest is pandas, numpy, scipy.
ALLOWED = {"SENTINELS", "available", "load", "pairs", "score"}
#: Where a network computes, batches move the last digits.
DIGITS, NEURAL_DIGITS = 1e-9, 1e-6
NEURAL = ("05_", "11_", "12_", "13_", "lesson_6", "lesson_7")
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells(path: Path, *tags: str) -> list[str]:
    """Code of the cells with one of these tags, in order."""
    notebook = nbformat.read(path, as_version=4)
    return [
        cell.source for cell in notebook.cells if set(tags) & set(cell.metadata.get("tags", []))
    ]


@pytest.fixture(scope="module")
def frames():
    """Runs a notebook's tagged cells; gives its frames ``headline`` and ``fast``."""
    import matplotlib.pyplot as plt

    known = {}

    def run(path: Path, raw: Path | None, monkeypatch) -> tuple[pd.DataFrame, pd.DataFrame]:
        if raw is not None:
            monkeypatch.setenv("TSTMETA_DATA", str(raw))
        monkeypatch.chdir(ROOT)
        key = path, raw is None
        if key not in known:
            space: dict = {"__name__": "notebook"}
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                for source in cells(path, "parameters", "setup", "headline", "fast"):
                    exec(compile(source, str(path), "exec"), space)
            plt.close("all")
            known[key] = space["headline"], space["fast"]
        return known[key]

    return run


def agree(path: Path, kind: str, headline: pd.DataFrame, fast: pd.DataFrame) -> None:
    """The open computation, the API and the frozen frame give the same."""
    check(path, headline.copy(), frozen(path, kind, headline), "frozen")
    check(path, headline.copy(), fast.copy(), "fast")
    assert len(headline) == len(fast)
    assert len(headline) or kind == "contrast"


def check(path: Path, headline: pd.DataFrame, other: pd.DataFrame, what: str) -> None:
    """All rows and columns of ``other`` stand in the headline, with the same values."""
    digits = NEURAL_DIGITS if path.stem.startswith(NEURAL) else DIGITS
    names = list(headline.index.names)
    headline.index = headline.index.map(_text)
    other.index = other.index.map(_text)
    missing = other.index.difference(headline.index)
    assert missing.empty, f"{what}: rows are missing: {list(missing)[:5]} ({names})"
    for column in other:
        a = headline.loc[other.index, column].to_numpy(float)
        b = other[column].to_numpy(float)
        far = ~np.isclose(a, b, rtol=digits, atol=digits, equal_nan=True)
        assert not far.any(), (
            f"{what}, {column}:\n{pd.DataFrame({'ours': a, what: b}, other.index)[far]}"
        )


def _text(key: object) -> tuple[str, ...]:
    return tuple(str(one) for one in key) if isinstance(key, tuple) else (str(key),)


def frozen(path: Path, kind: str, headline: pd.DataFrame) -> pd.DataFrame:
    """The frozen frame, with the key columns that the headline has."""
    table = pd.read_csv(FROZEN / f"{path.stem}.{kind}.csv", keep_default_na=False, dtype=str)
    keys = list(headline.index.names)
    values = table.set_index(keys)
    return values.apply(pd.to_numeric, errors="coerce")


@every_notebook
def test_the_headline_cell_asks_no_more_of_us_than_data_scores_and_pairs(path):
    [source] = cells(path, "headline")
    tree = ast.parse(source)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "tst"
    }
    assert ours <= ALLOWED
    assert "headline = " in source


@every_notebook
def test_without_data_the_open_computation_the_api_and_the_frozen_frame_agree(
    path, frames, tmp_path_factory, monkeypatch
):
    empty = tmp_path_factory.getbasetemp() / "no-data"
    empty.mkdir(exist_ok=True)
    headline, fast = frames(path, empty, monkeypatch)
    agree(path, "contrast", headline, fast)


@needs("pauli", "lai", "mir", "alva", "lens", "li2018")
@every_notebook
def test_with_data_the_open_computation_the_api_and_the_frozen_frame_agree(
    path, frames, monkeypatch
):
    headline, fast = frames(path, None, monkeypatch)
    agree(path, "real", headline, fast)
