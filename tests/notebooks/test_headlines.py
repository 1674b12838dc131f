"""The main number of every chapter: in the open, by the fast API, and as it was frozen.

``headline`` computes with pandas, numpy or scipy, ``fast`` the same with the API; their frames are
those of the book, if that is up to date.  ``data/frozen/NAME.csv`` holds what came out with all
rated data sets.  ``make test`` compares what can be computed from the numbers that are passed on,
``make nightly``, whose book has the raw files, every row.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.notebooks.cells import NOTEBOOKS, cells, run
from tools.ship import BESIDE
from tstmeta.analysis.committed import read_frozen
from tstmeta.data import has_numbers, names, paths
from tstmeta.metrics import get

ROOT = Path(__file__).parents[2]
#: What the notebooks computed when the book was built.
FRAMES = ROOT / ".build" / "frames"
#: What a headline cell may ask of us; the rest is pandas, numpy, scipy.
ALLOWED = {"SENTINELS", "available", "load", "pairs", "score"}
#: Where a network computes, batches move the last digits.
DIGITS, NEURAL_DIGITS = 1e-9, 1e-6
#: Another processor trains other models of Yelp: their rows end so.
TRAINED, TRAINED_DIGITS = (":yelp", "+yelp", ":yelp-cnn"), 0.02
NEURAL = ("05_", "11_", "12_", "13_", "lesson_6", "lesson_7")
#: Elsewhere the rows of these metrics alone.
NETWORKS = {"bertscore", "cosine", "likelihood", "likelihood-style", "masked-bleu", "sim", "wmd"}
every_notebook = pytest.mark.parametrize("name", sorted(p.stem for p in NOTEBOOKS.glob("*.ipynb")))


#: Notebooks some of whose rows need texts: they score anew, or not all scores are passed on.
FROM_TEXTS = ("13_references", "18_choosing", "23_acc_sim_pp")


def agree(name: str, headline: pd.DataFrame, fast: pd.DataFrame, whole: bool) -> None:
    """The open computation and the API give the same, and what was frozen, all of it or a part."""
    assert len(headline) == len(fast) > 0
    check(name, headline.copy(), fast.copy(), "fast")
    old = frozen(name, headline)
    here = {_text(key) for key in headline.index}
    kept = [whole or _text(key) in here or not may_lack(name, _text(key)[0]) for key in old.index]
    if whole and get("cosine:mpnet").missing:  # its scores of sets that are not passed on
        kept = [_text(key) in here or ":mpnet" not in " ".join(_text(key)) for key in old.index]
    check(name, headline.copy(), old[kept], "frozen")


def may_lack(name: str, first: str) -> bool:
    """Whether the book of a machine without raw files lacks a row, by its first key."""
    base = re.sub("[@ ].*", "", first)
    return name in FROM_TEXTS or (base in names() and not has_numbers(base))


def check(name: str, headline: pd.DataFrame, other: pd.DataFrame, what: str) -> None:
    """All rows and columns of ``other`` stand in the headline, with the same values."""
    names = list(headline.index.names)
    headline.index = headline.index.map(_text)
    other.index = other.index.map(_text)
    missing = other.index.difference(headline.index)
    assert missing.empty, f"{what}: rows are missing: {list(missing)[:5]} ({names})"
    parts = [[part.removeprefix("−").partition(":")[0] for part in key] for key in other.index]
    network = [name.startswith(NEURAL) or not NETWORKS.isdisjoint(key) for key in parts]
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


def _text(key: object) -> tuple[str, ...]:
    return tuple(str(one) for one in key) if isinstance(key, tuple) else (str(key),)


def frozen(name: str, headline: pd.DataFrame) -> pd.DataFrame:
    """The frozen frame, with the key columns that the headline has."""
    table = pd.read_csv(paths.project("frozen", f"{name}.csv"), keep_default_na=False, dtype=str)
    return table.set_index(list(headline.index.names)).apply(pd.to_numeric, errors="coerce")


@every_notebook
def test_the_headline_cell_asks_no_more_of_us_than_data_scores_and_pairs(name):
    [source] = cells(name, "headline")
    assert "import " not in source
    assert set(re.findall(r"\btst\.(\w+)", source)) <= ALLOWED
    assert "headline = " in source


def frames_of_book(name: str) -> list[pd.DataFrame] | None:
    """Headline and fast frame of the built book; None where code or notebook changed since."""
    files = [FRAMES / f"{name}.{kind}.parquet" for kind in ("headline", "fast")]
    read = [NOTEBOOKS / f"{name}.ipynb", *(ROOT / "src").rglob("*.py")]
    if not all(file.is_file() for file in files):
        return None
    built = min(file.stat().st_mtime for file in files)
    is_new = built > max(path.stat().st_mtime for path in read)
    return [pd.read_parquet(file) for file in files] if is_new else None


def computed(name: str) -> list[pd.DataFrame]:
    space = run(name, "setup", "headline", "fast")
    return [space["headline"], space["fast"]]


@every_notebook
def test_what_is_passed_on_gives_in_the_open_by_the_api_and_as_frozen_the_same(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.delenv("TSTMETA_DATA", raising=False)
    agree(name, *(frames_of_book(name) or computed(name)), whole=False)


@pytest.mark.nightly
@pytest.mark.timeout(3600)  # where nothing was scored before
@needs("pauli", "lai", "mir", "alva", "lens", "li2018")
@every_notebook
def test_the_raw_files_give_every_frozen_row(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    if name.startswith(("04_", "06_", "22_", "23_")) and (lack := get("perplexity:yelp").missing):
        pytest.skip(f"{lack}; make book does it")
    if name.startswith("27_") and (lack := get("cosine:mpnet").missing):
        pytest.skip(lack)
    frames = frames_of_book(name)
    if frames is None or len(frames[0]) < len(frozen(name, frames[0])):  # the book of make test
        frames = computed(name)
    agree(name, *frames, whole=True)


@pytest.mark.parametrize("name", BESIDE)
def test_a_frame_beside_the_headline_is_the_frozen_one(name):
    file = FRAMES / f"{BESIDE[name]}.parquet"
    if not file.is_file():
        pytest.skip("no book (make book)")
    built = pd.read_parquet(file)
    pd.testing.assert_frame_equal(built, read_frozen(name), check_dtype=False, rtol=1e-9)
