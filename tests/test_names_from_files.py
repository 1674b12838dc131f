"""A name that a file holds is looked up among registered metrics; it never imports anything."""

import io
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.command import CSV, score_file, success
from tstmeta.analysis.frame import lower_is_better
from tstmeta.data import load
from tstmeta.data.table_files import read_scores
from tstmeta.metrics import registry

#: A module that leaves a mark when it is imported, and holds a function that could be a metric.
PLANTED = """\
from pathlib import Path
Path({mark!r}).touch()
def function(source, output):
    return 1.0
"""
NAME = "planted.inner:function"
BASES = ("source", "reference", "none")


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """The mark of a module that is planted in the working directory and on the path."""
    package, left = tmp_path / "planted", tmp_path / "it-ran"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text(PLANTED.format(mark=str(left)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield left
    for name in [name for name in sys.modules if name.partition(".")[0] == "planted"]:
        del sys.modules[name]


def test_a_score_file_runs_no_code(tstmeta, tmp_path, mark):
    scores = score_file(tmp_path / "scores.csv", NAME)
    found = success(tstmeta("evaluate", "--data", "mine.csv", "--scores", scores, "--draws", "20"))
    assert "planted" in found.stdout
    assert not mark.exists()


def test_the_same_function_named_as_a_metric_is_computed(tstmeta, mark):
    success(tstmeta("score", "--data", "mine.csv", "--metric", "./planted/inner.py:function"))
    assert mark.exists()


def test_no_lookup_about_a_name_imports(mark):
    assert not any(registry.lower_is_better(NAME, basis) for basis in BASES)
    assert not any(lower_is_better(NAME, basis) for basis in BASES)
    assert registry.known(NAME) is None
    with pytest.raises(registry.UnknownMetric):
        registry.get(NAME)
    assert not mark.exists()


def test_parts_of_gm_from_a_file_run_no_code(tmp_path, mark):
    from tstmeta.combine import gm_scores

    (tmp_path / "mine.csv").write_text(CSV)
    data = load(str(tmp_path / "mine.csv"))
    acc, sim, pp = (NAME, "planted.inner:second", "planted.inner:third")
    parts = pd.DataFrame({"metric": [acc, sim, pp], "value": [0.64, 0.72, 30.0]})
    data.items[["item_id"]].merge(parts, how="cross").to_csv(tmp_path / "parts.csv", index=False)
    scores = read_scores(tmp_path / "parts.csv", data)
    values = gm_scores(data, scores, names=(acc, sim, pp))["value"]
    assert values.to_numpy() == pytest.approx(67 ** (1 / 3))
    assert not mark.exists()


@pytest.mark.parametrize(
    ("name", "lower"),
    [
        *(("ter", True), ("perplexity:/on/another/machine", True), ("perplexity:\0", True)),
        *(("random:7", False), ("ter:v1.2", False), ("sim:vectors=/no/file", False)),
        *(("released:ter", False), ("likelihood:/on/another/machine", False)),
        ("masked-cosine:planted.inner:function", False),
    ],
)
def test_any_words_in_a_file_have_a_direction(name, lower, mark):
    assert registry.lower_is_better(name, "none") is lower
    assert not mark.exists()


@pytest.mark.parametrize("form", ["sim:vectors={}", "masked-bleu:{}", "likelihood:{}", "wmd:{}"])
@pytest.mark.parametrize("ending", [".csv", ".toml#mine", ".txt"])
def test_no_file_that_a_name_names_is_opened(tmp_path, monkeypatch, form, ending):
    monkeypatch.chdir(tmp_path)
    file = f"./named{ending}"
    Path(file.partition("#")[0]).write_text("x")
    opened = []
    real = io.open

    def watched(path, *args, **options):
        opened.append(str(path))
        return real(path, *args, **options)

    monkeypatch.setattr("builtins.open", watched)
    monkeypatch.setattr("io.open", watched)
    assert not registry.lower_is_better(form.format(file), "reference") or form == "wmd:{}"
    assert not [path for path in opened if "named" in path]
