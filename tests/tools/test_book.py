"""The steps of the book and the task graph that orders them."""

import runpy
import shutil
import tarfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from doit.loader import load_tasks

from experiments.training.loop import read_report
from tests.helpers import ROOT, python
from tests.models import style
from tests.test_notebook import written
from tools import book, kernels
from tstmeta import scoring
from tstmeta.models import classifiers, hub
from tstmeta.models.causal import Backbone
from tstmeta.schema import TstmetaError


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with nothing in it but the book's configuration."""
    monkeypatch.setattr(book, "ROOT", tmp_path)
    (tmp_path / "_config.yml").touch()
    return tmp_path


def test_pages_appear_whole_or_not_at_all(home, monkeypatch):
    from tools import pages

    old = home / "book" / "_generated" / "old.md"
    old.parent.mkdir(parents=True)
    old.write_text("# Before")

    def fails(folder: Path) -> None:
        (folder / "half.md").touch()
        raise TstmetaError("a card is broken")

    monkeypatch.setattr(pages, "write", fails)
    with pytest.raises(TstmetaError, match="a card is broken"):
        book.pages()
    assert [path.name for path in old.parent.iterdir()] == ["old.md"]

    monkeypatch.setattr(pages, "write", lambda folder: (folder / "new.md").touch())
    book.pages()
    assert [path.name for path in old.parent.iterdir()] == ["new.md"]


def test_pyodide_is_taken_out_of_the_package_that_is_known(home, monkeypatch):
    with tarfile.open(home / "made.tgz", "w:gz") as made:
        for name in book.PYODIDE_FILES:
            made.addfile(tarfile.TarInfo(f"package/{name}"))
    npm = home / "npm"
    npm.write_text(f"#!/bin/sh\ncp {home}/made.tgz pyodide-1.tgz\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{home}:/usr/bin:/bin")
    monkeypatch.setattr(book, "PYODIDE", ("1", "another"))
    with pytest.raises(TstmetaError, match="not the package that this project knows"):
        book.pyodide()
    digest = sha256((home / "made.tgz").read_bytes()).hexdigest()
    monkeypatch.setattr(book, "PYODIDE", ("1", digest))
    assert {path.name for path in book.pyodide().iterdir()} == {*book.PYODIDE_FILES}


def test_a_book_with_a_warning_is_not_put_in_place(home, capfd):
    (home / "_config.yml").write_text("title: A book\nonly_build_toc_files: true\n")
    (home / "_toc.yml").write_text("format: jb-book\nroot: page\n")
    built = home / "book" / "_build" / "html" / "index.html"
    built.parent.mkdir(parents=True)
    built.write_text("the earlier book")
    (home / "page.md").write_text("# A page\n\n[nowhere](nowhere.md)\n")
    with pytest.raises(TstmetaError, match="was not built"):
        book.build()
    assert "nowhere.md" in capfd.readouterr().err
    assert built.read_text() == "the earlier book"


def test_a_book_without_its_chapters_is_not_put_in_place(home, monkeypatch):
    monkeypatch.setattr(book.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    (home / "book" / "results").mkdir(parents=True)
    (home / "book" / "results" / "01_lost.ipynb").touch()
    with pytest.raises(TstmetaError, match="without pages: 01_lost"):
        book.build()
    assert not (home / "book" / "_build").exists()


def graph(folder: Path, **variables: str) -> dict:
    """The tasks of a copy of dodo.py in a folder of a few files, by name."""
    (folder / "dodo.py").write_text((ROOT / "dodo.py").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("TSTMETA_DATA", raising=False)
        for name, value in variables.items():
            patch.setenv(name, value)
        tasks = load_tasks(runpy.run_path(str(folder / "dodo.py")))
    return {task.name: (task.file_dep, task.targets) for task in tasks if not task.has_subtask}


#: What a notebook reads in a folder of a few files.
READ = {
    *("notebooks/01_first.ipynb", "tools/book.py", "tools/kernels.py", "requirements.lock"),
    "src/tstmeta/metrics/lexical.py",
    "src/tstmeta/models/weights/unigrams/smollm2-135m.csv",
    *("data/contrast/polite.csv", "data/ratings/lai/items.parquet", "data/frozen/01_first.csv"),
    "data/external/mir/items.csv",
}
OTHERS = {
    *("book/templates/data.md.j2", "book/intro.md", "book/results/01_first.ipynb"),
    *("elsewhere/lens/items.csv", "src/tstmeta/__pycache__/x.py"),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path in (tmp_path / name for name in READ | OTHERS):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_a_task_runs_again_when_its_source_code_data_or_versions_change(tree):
    tasks = graph(tree)
    pages = {"tools/book.py", "book/templates/data.md.j2", "data/contrast/polite.csv"}
    assert pages <= set(tasks["pages"][0])
    needs, makes = tasks["book"]
    assert {"book/intro.md", "book/results/01_first.ipynb", ".build/pages.json"} <= set(needs)
    assert makes == ["book/_build/html/index.html"]
    assert {"src/tstmeta/metrics/lexical.py", "pyproject.toml"} < set(tasks["types"][0])
    needs, makes = tasks["notebooks:01_first"]
    frames = [f".build/frames/01_first.{kind}.parquet" for kind in kernels.FRAMES]
    assert makes == ["book/results/01_first.ipynb", *frames]
    assert set(needs) == READ
    assert set(tasks["scores:mir"][0]) <= set(needs)


def test_only_data_that_is_here_and_not_passed_on_is_scored(tree):
    assert [name for name in graph(tree) if name.startswith("scores")] == ["scores:mir"]
    elsewhere = str(tree / "elsewhere")
    tasks = graph(tree, TSTMETA_DATA=elsewhere)
    assert "scores:lens@simpda_2022" in tasks
    assert f"{elsewhere}/lens/items.csv" in tasks["notebooks:01_first"][0]
    shutil.rmtree(tree / "data" / "external")
    assert not [name for name in graph(tree) if name.startswith("scores")]


def test_models_of_yelp_are_trained_before_its_sets_are_scored_and_only_where_it_is(tree):
    assert not [name for name in graph(tree) if name.startswith("train")]
    for name in ("yelp", "mir"):
        path = tree / "elsewhere" / name / "sentences.txt"
        path.parent.mkdir()
        path.touch()
    tasks = graph(tree, TSTMETA_DATA=str(tree / "elsewhere"))
    trained = [path for name in tasks if name.startswith("train:") for path in tasks[name][1]]
    models = ("yelp-lm", "yelp-style", "yelp-cnn")
    assert trained == [f"data/scores/models/{model}/training.json" for model in models]
    assert set(trained) <= set(tasks["scores:mir"][0]) & set(tasks["notebooks:01_first"][0])
    assert not set(trained) & set(tasks["scores:lens@simpda_2022"][0])
    assert str(tree / "elsewhere/mir/sentences.txt") in tasks["train:yelp-lm"][0]


def test_a_model_is_trained_once_and_one_that_was_trained_otherwise_makes_room(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    style.corpus().rename(columns={"part": "split"}).to_csv("mine.csv", index=False)
    for bits in (6, 6, 7):
        course = f"classifier --corpus mine.csv --set epochs=1 --set bits={bits}"
        model = Backbone("yelp", str(tmp_path / "model"), course=course)
        monkeypatch.setitem(classifiers.MODELS, "yelp", model)
        book.train("yelp-style")
        assert read_report(model.folder)["options"]["bits"] == bits
    monkeypatch.setitem(classifiers.MODELS, "yelp", replace(model, course="classifier --corpus x"))
    with pytest.raises(TstmetaError, match="no corpus is called 'x'"):
        book.train("yelp-style")
    assert read_report(model.folder)["options"]["bits"] == 7, "a mistake removes no model"


def test_a_metric_that_cannot_run_here_is_left_out_with_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(hub, "here", lambda model: False)
    assert book.runnable(["bleu", "likelihood"]) == ["bleu"]
    assert "likelihood is left out: " in capsys.readouterr().err


def test_scores_that_fail_stop_the_book(monkeypatch):
    table = pd.DataFrame({"status": ["ok", "error"], "detail": ["", "broken"]})
    monkeypatch.setattr(scoring, "score", lambda given, wanted, bases: table)
    with pytest.raises(TstmetaError, match="contrast: 1 scores failed; first: broken"):
        book.scores("contrast")


#: A page that a kernel draws and prints; see :mod:`tools.kernels`.
PAGE = """
import matplotlib.pyplot as plt
import pandas as pd
plt.plot([1, 2])
plt.show()
print(pd.get_option("display.max_columns"))
headline = fast = pd.DataFrame({"r": [seed / 2]})
"""


def test_a_copied_kernel_draws_and_prints_as_any_other_and_a_fault_does_not_stop_the_next(tmp_path):
    (tmp_path / "notebooks").mkdir()
    for name, code in (("broken", "1 / 0"), ("whole", PAGE)):
        written(tmp_path / "notebooks" / f"{name}.ipynb", code, takes="seed: int = 1")
    code = "import sys, pathlib as p; from tools import kernels; kernels.ROOT = p.Path(sys.argv[1])"
    code += "; kernels.IMPORTED[:] = kernels.IMPORTED[1:9]; kernels.main()"  # no data, no models
    done = python("-c", code, tmp_path, input="broken\nwhole\n", cwd=ROOT, timeout=300)
    assert done.stdout.split() == ["failed", "ok"], done.stderr
    assert "broken.ipynb: cell 3 failed with ZeroDivisionError" in done.stderr
    result = nbformat.read(tmp_path / "book" / "results" / "whole.ipynb", as_version=4)
    figure, text = result.cells[-1].outputs
    assert "image/png" in figure.data
    assert text.text == "20\n"
    frames = [tmp_path / ".build" / "frames" / f"whole.{kind}.parquet" for kind in kernels.FRAMES]
    assert [pd.read_parquet(path)["r"].tolist() for path in frames] == [[0.5], [0.5]]
