"""The main number of every chapter: in the open, by the fast API, and as it was frozen.

A notebook's cells tagged ``parameters``, ``setup``, ``headline`` and ``fast`` run here by
themselves without data; with data their frames are those of the book, if that is up to date.
``headline`` computes with pandas, numpy or scipy, ``fast`` the same with the API.
``data/frozen/NAME.csv`` holds what came out with the real data, ``tests/frozen`` without any.
"""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.notebooks.cells import NOTEBOOKS, cells, run
from tstmeta.metrics import get

ROOT = Path(__file__).parents[2]
#: What was frozen: with the real data, and without any.
FROZEN = {"real": "data/frozen/{}.csv", "contrast": "tests/frozen/{}.contrast.csv"}
#: What the notebooks computed when the book was built.
FRAMES = ROOT / ".build" / "frames"
#: What a headline cell may ask of us; the rest is pandas, numpy, scipy.
ALLOWED = {"SENTINELS", "available", "load", "pairs", "score"}
#: Where a network computes, batches move the last digits.
DIGITS, NEURAL_DIGITS = 1e-9, 1e-6
#: Another processor trains other models of Yelp: their rows end so.
TRAINED, TRAINED_DIGITS = (":yelp", "+yelp"), 0.02
NEURAL = ("05_", "11_", "12_", "13_", "lesson_6", "lesson_7")
#: Elsewhere the rows of these metrics alone.
NETWORKS = {"bertscore", "cosine", "likelihood", "likelihood-style", "masked-bleu", "sim", "wmd"}
every_notebook = pytest.mark.parametrize("name", sorted(p.stem for p in NOTEBOOKS.glob("*.ipynb")))


def agree(name: str, kind: str, headline: pd.DataFrame, fast: pd.DataFrame) -> None:
    """The open computation, the API and the frozen frame give the same."""
    check(name, headline.copy(), frozen(name, kind, headline), "frozen")
    check(name, headline.copy(), fast.copy(), "fast")
    assert len(headline) == len(fast)
    assert len(headline) or kind == "contrast"


def check(name: str, headline: pd.DataFrame, other: pd.DataFrame, what: str) -> None:
    """All rows and columns of ``other`` stand in the headline, with the same values."""
    names = list(headline.index.names)
    headline.index = headline.index.map(_text)
    other.index = other.index.map(_text)
    missing = other.index.difference(headline.index)
    assert missing.empty, f"{what}: rows are missing: {list(missing)[:5]} ({names})"
    network = [name.startswith(NEURAL) or any(map(_by_network, key)) for key in other.index]
    # both ways compute from the same scores; what was frozen had scores of other batches
    digits = np.where(network, NEURAL_DIGITS, DIGITS) if what == "frozen" else DIGITS
    for column in other:
        a = headline.loc[other.index, column].to_numpy(float)
        b = other[column].to_numpy(float)
        if what == "frozen":
            here = [any(part.endswith(TRAINED) for part in key) for key in other.index]
            digits = np.where(here, TRAINED_DIGITS, digits)
        far = ~np.isclose(a, b, rtol=digits, atol=digits, equal_nan=True)
        assert not far.any(), (
            f"{what}, {column}:\n{pd.DataFrame({'ours': a, what: b}, other.index)[far]}"
        )


def _by_network(part: str) -> bool:
    return part.removeprefix("−").partition(":")[0] in NETWORKS


def _text(key: object) -> tuple[str, ...]:
    return tuple(str(one) for one in key) if isinstance(key, tuple) else (str(key),)


def frozen(name: str, kind: str, headline: pd.DataFrame) -> pd.DataFrame:
    """The frozen frame, with the key columns that the headline has."""
    table = pd.read_csv(ROOT / FROZEN[kind].format(name), keep_default_na=False, dtype=str)
    keys = list(headline.index.names)
    values = table.set_index(keys)
    return values.apply(pd.to_numeric, errors="coerce")


@every_notebook
def test_the_headline_cell_asks_no_more_of_us_than_data_scores_and_pairs(name):
    [source] = cells(name, "headline")
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
    name, tmp_path, monkeypatch
):
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path))
    monkeypatch.chdir(ROOT)
    space = run(name, "setup", "headline", "fast")
    agree(name, "contrast", space["headline"], space["fast"])


def of_the_book(name: str) -> list[pd.DataFrame] | None:
    """Headline and fast frame of the built book; None where code or notebook changed since."""
    files = [FRAMES / f"{name}.{kind}.parquet" for kind in ("headline", "fast")]
    read = [NOTEBOOKS / f"{name}.ipynb", *(ROOT / "src").rglob("*.py")]
    if not all(file.is_file() for file in files):
        return None
    built = min(file.stat().st_mtime for file in files)
    is_new = built > max(path.stat().st_mtime for path in read)
    return [pd.read_parquet(file) for file in files] if is_new else None


@needs("pauli", "lai", "mir", "alva", "lens", "li2018")
@every_notebook
def test_with_data_the_open_computation_the_api_and_the_frozen_frame_agree(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    if name.startswith(("04_", "06_")) and (lack := get("perplexity:yelp").missing):
        pytest.skip(f"{lack}; make book does it")
    frames = of_the_book(name)
    if frames is None:
        space = run(name, "setup", "headline", "fast")
        frames = [space["headline"], space["fast"]]
    agree(name, "real", *frames)
