"""An output that is an input, or another output, is refused by every command that writes a file."""

import inspect
import json
import os
import shutil
import sys
import typing
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import typer
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

from tests.command import command_line
from tests.judge import scripted
from tstmeta import bulk, cli, label_studio, notebook
from tstmeta.cli.options import OUTPUTS, Command
from tstmeta.data import paths, table_files
from tstmeta.judge import prompts
from tstmeta.judge.cache import AnswerCache
from tstmeta.judge.construct import run
from tstmeta.label_studio import PAIRWISE, RATING
from tstmeta.schema import MissingData, TstmetaError

#: SERVER stands for the address of a server that runs while the tests do.
SERVER = "--server SERVER --model m --retries 0"
JUDGE = f"judge run --prompt lai2023-content {SERVER}"
CONSTRUCT = f"construct --style formal {SERVER}"
FAST = "--draws 10 --no-tests --metric length-ratio"

#: The words of a command, the two options that name one file, and that file.
CASES = [
    ("score --data mine.csv --out mine.csv", "--out", "--data", "mine.csv"),
    ("score --data mine.csv --out ./formal/../mine.csv", "--out", "--data", "mine.csv"),
    ("score --data set.csv --out set.csv.toml", "--out", "--data", "set.csv.toml"),
    ("score --data set.csv --out beside.csv", "--out", "--data", "beside.csv"),
    ("score --data mine.csv --metric ./my.py:share --out my.py", "--out", "--metric", "my.py"),
    ("score --data rows.parquet --out rows.parquet", "--out", "--data", "rows.parquet"),
    ("score --data texts --out texts/a.parquet", "--out", "--data", "texts/a.parquet"),
    ("score --data texts --out texts", "--out", "--data", "texts"),
    ("score --data x.corpus.csv --out x.parquet", "--out", "--data", "x.corpus.csv"),
    ("score --data mine.csv --out x --store x", "--out", "--store", ""),
    ("score --data mine.csv --store mine.csv", "--store", "--data", "mine.csv"),
    (f"evaluate {FAST} --data mine.csv --out mine.csv", "--out", "--data", "mine.csv"),
    (
        f"evaluate {FAST} --data plain.csv --ratings ratings.csv --out ratings.csv",
        *("--out", "--ratings", "ratings.csv"),
    ),
    (
        "evaluate --draws 10 --data plain.csv --scores scores.csv --out scores.csv",
        *("--out", "--scores", "scores.csv"),
    ),
    (
        "evaluate --draws 10 --data mine.csv --metric ./my.py:share --out my.py --format csv",
        *("--out", "--metric", "my.py"),
    ),
    (f"evaluate {FAST} --data mine.csv --plot link.svg", "--plot", "--data", "link.svg"),
    (
        f"evaluate {FAST} --data plain.csv --ratings ratings.csv --plot rated.svg",
        *("--plot", "--ratings", "rated.svg"),
    ),
    (
        f"evaluate {FAST} --data mine.csv --out x.svg --plot x.svg --format csv",
        "--plot",
        "--out",
        "",
    ),
    (f"evaluate {FAST} --data mine.csv --out x.csv --report x.csv", "--report", "--out", ""),
    (f"evaluate {FAST} --data mine.csv --plot x.svg --report x.svg", "--plot", "--report", ""),
    (
        f"evaluate {FAST} --data page/values.csv --report page",
        *("--report", "--data", "page/values.csv"),
    ),
    (
        f"evaluate {FAST} --data plain.csv --ratings report/values.csv --report report",
        *("--report", "--ratings", "report/values.csv"),
    ),
    (f"evaluate {FAST} --data mine.csv --store x --out x --format csv", "--out", "--store", ""),
    ("data export mine.csv --out mine.csv", "--out", "NAME", "mine.csv"),
    ("data export mine.csv --out my.py --metric ./my.py:share", "--out", "--metric", "my.py"),
    ("data form plain.csv --out plain.csv", "--out", "NAME", "plain.csv"),
    ("data form form/key.csv --out form", "--out", "NAME", "form/key.csv"),
    (
        "data import-ratings project.json --data mine.csv --out project.json",
        *("--out", "EXPORT", "project.json"),
    ),
    (
        "data import-ratings project.json --data mine.csv --out mine.csv",
        *("--out", "--data", "mine.csv"),
    ),
    (
        "data import-preferences ann.csv --data mine.csv --out ann.csv",
        *("--out", "EXPORT", "ann.csv"),
    ),
    (
        "data import-preferences ann.csv --data mine.csv --out mine.csv",
        *("--out", "--data", "mine.csv"),
    ),
    (f"{JUDGE} --data mine.csv --out mine.csv", "--out", "--data", "mine.csv"),
    (f"{JUDGE} --data set.csv --out beside.csv", "--out", "--data", "beside.csv"),
    (f"{JUDGE} --data mine.csv --scores-out mine.csv", "--scores-out", "--data", "mine.csv"),
    (f"{JUDGE} --data mine.csv --out x.csv --scores-out x.csv", "--out", "--scores-out", ""),
    (
        f"{JUDGE} --data mine.csv --cache paid.sqlite --out paid.sqlite",
        *("--cache", "--out", "paid.sqlite"),
    ),
    (
        f"{JUDGE} --data mine.csv --cache paid.sqlite --scores-out paid.sqlite",
        *("--cache", "--scores-out", "paid.sqlite"),
    ),
    (
        f"{JUDGE} --data mine.csv --out store/judge/answers.sqlite",
        *("--out", "--cache", "store/judge/answers.sqlite"),
    ),
    (f"{JUDGE} --data mine.csv --cache mine.csv", "--cache", "--data", "mine.csv"),
    (
        f"judge run {SERVER} --prompt ask.toml --data mine.csv --out ask.toml",
        *("--out", "--prompt", "ask.toml"),
    ),
    (
        f"judge run {SERVER} --prompt ask.toml --data mine.csv --scores-out ask.toml",
        *("--scores-out", "--prompt", "ask.toml"),
    ),
    (
        f"{CONSTRUCT} --sources sources.csv --out sources.csv",
        *("--out", "--sources", "sources.csv"),
    ),
    (
        f"{CONSTRUCT} --sources polite/polite.csv --out polite",
        *("--out", "--sources", "polite/polite.csv"),
    ),
    (
        f"{CONSTRUCT} --sources formal/rows.csv --out formal",
        *("--out", "--sources", "formal/rows.csv"),
    ),
    ("construct export formal --out formal", "--out", "DIR", ""),
    ("run page.ipynb --out page.ipynb", "--out", "NOTEBOOK", "page.ipynb"),
    ("run page.ipynb -p dataset mine.csv --out mine.csv", "--out", "-p", "mine.csv"),
    ("train lexicon --corpus corpus.csv --out corpus.csv", "--out", "--corpus", "corpus.csv"),
    (
        "train lexicon --corpus corpus.csv --keep-out mine.csv --out mine.csv",
        *("--out", "--keep-out", "mine.csv"),
    ),
    ("train idf --data mine.csv --out link.json", "--out", "--data", "link.json"),
]
#: Options that name a file or folder to read.
READ = {"scores", "ratings", "sources", "pairs", "config", "folder", "exports"}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a file of every kind that a command reads."""
    command_line(tmp_path, monkeypatch)
    for folder in (
        "polite",
        "texts",
        "report",
        "page",
        "form",
        "task",
        "formal",
        "tuned",
        "store/judge",
    ):
        Path(folder).mkdir(parents=True)
    texts = {
        "source": ["He ran.", "It was bad."] * 2,
        "output": ["he went", "it was", "ran", "bad"],
    }
    rows = pd.DataFrame(texts).assign(system=list("AABB"), style="formal", item_id=list("abcd"))
    rows.assign(**{"content.ann": [1, 2, 3, 4]}).to_csv("mine.csv", index=False)
    rated = [(item, "content", rater, n) for n, item in enumerate("abcd", 1) for rater in "xy"]
    ratings = pd.DataFrame(rated, columns=["item_id", "dimension", "rater", "value"])
    scores = [(item, "theirs", n) for n, item in enumerate("abcd")]
    moods = [(f"the soup {n} was {mood}", mood) for n in range(300) for mood in ("good", "bad")]
    tables = {
        **dict.fromkeys(["set.csv", "plain.csv", "form/key.csv", "x.corpus.csv"], rows),
        **dict.fromkeys(["beside.csv", "ratings.csv"], ratings),
        "report/values.csv": ratings,
        "scores.csv": pd.DataFrame(scores, columns=["item_id", "metric", "value"]),
        "corpus.csv": pd.DataFrame(moods, columns=["text", "style"]),
        **dict.fromkeys(["sources.csv", "polite/polite.csv", "formal/rows.csv"], rows[["source"]]),
        "p.csv": pd.DataFrame({"text": ["a"], "paraphrase": ["b"]}),
    }
    for name, table in tables.items():
        table.to_csv(name, index=False)
    rows.to_parquet("rows.parquet")
    rows.to_parquet("texts/a.parquet")
    rows.to_json("task/docs.jsonl", orient="records", lines=True)
    Path("set.csv.toml").write_text('ratings = "beside.csv"\nscale.content = [1, 5]\n')
    Path("my.py").write_text("def share(source, output):\n    return len(output) / 100\n")
    shutil.copy(Path(prompts.__file__).with_name("prompts") / "content.toml", "ask.toml")
    shutil.copy(paths.project("transfer", "models.toml"), "models.toml")
    data = table_files.read("mine.csv")
    sheet = label_studio.tasks(data, form=PAIRWISE)
    sheet.assign(**dict.fromkeys(PAIRWISE.questions, "A")).to_csv("ann.csv", index=False)
    choices = [{"from_name": q, "value": {"choices": ["3"]}} for q in RATING.questions]
    export = [
        {"data": task, "annotations": [{"completed_by": 1, "result": choices}]}
        for task in label_studio.tasks(data).to_dict("records")
    ]
    Path("project.json").write_text(json.dumps(export))
    for name in ("paid.sqlite", "store/judge/answers.sqlite"):
        AnswerCache(Path(name)).__exit__()
    cell = new_code_cell('dataset: str = "contrast"  # a set', metadata={"tags": ["parameters"]})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=[cell], metadata=kernel), "page.ipynb")
    shutil.copy("mine.csv", "page/values.csv")
    os.symlink("mine.csv", "link.svg")
    os.link("ratings.csv", "rated.svg")
    os.link("mine.csv", "link.json")
    return tmp_path


@pytest.fixture(scope="module")
def server():
    """A server that rates everything 3."""
    with scripted.serving(lambda asked: scripted.says("3")) as running:
        yield running.url


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refuses(files, server, monkeypatch, capsys, case, command=cli.app):
    """Hold a command to it: the message names both options, and no input is another."""
    words, option, other, file = case
    before = contents(files)
    monkeypatch.setattr(sys, "argv", ["tstmeta", *words.replace("SERVER", server).split()])
    with pytest.raises(SystemExit) as end:
        cli.main(command)
    after = contents(files)
    assert {path: after.get(path) for path in before} == before
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert option in message
    assert other in message
    assert f"Remedy: name another file or folder with {option}" in message
    assert not file or Path(file).name in message


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_an_output_that_is_an_input_is_refused(files, server, monkeypatch, capsys, case):
    refuses(files, server, monkeypatch, capsys, case)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_are_followed(files, server, monkeypatch, capsys, link):
    link("mine.csv", "other.csv")
    row = ("score -d mine.csv -o other.csv", "--out", "--data", "mine.csv")
    refuses(files, server, monkeypatch, capsys, row)


def test_an_export_within_the_folder_of_a_construction_stays(files, monkeypatch):
    shutil.copy("ann.csv", "formal/ratings.csv")
    before = contents(files)
    monkeypatch.setattr(
        run, "import_ratings", lambda folder, _: run.storage.write(folder / run.RATINGS, "")
    )
    result = CliRunner().invoke(cli.app, ["construct", "import", "formal", "formal/ratings.csv"])
    assert isinstance(result.exception, TstmetaError)
    assert "which EXPORT... names" in str(result.exception)
    assert contents(files) == before


def test_a_folder_may_hold_an_input_that_is_not_written_over(files, monkeypatch):
    call = command_line(files, monkeypatch)
    assert call("data", "form", "plain.csv", "--out", ".").exit_code == 0


def test_a_name_is_no_path(files, monkeypatch):
    Path("yelp").mkdir()
    call = command_line(files, monkeypatch)
    result = call("train", "lexicon", "--corpus", "yelp", "--out", "yelp.csv")
    assert isinstance(result.exception, MissingData)
    words = ("score", "--data", "rows.parquet", "--metric", "bleu", "--out", "bleu")
    assert call(*words).exit_code == 0
    assert call(*words).exit_code == 0


def test_the_library_refuses_too(files):
    with pytest.raises(TstmetaError, match=r"--out .* would write over .* Remedy: name another"):
        bulk.score_file("texts", ["length-ratio"], "texts/a.parquet", progress=False)
    with pytest.raises(TstmetaError, match=r"--out .* would write over .* Remedy: name another"):
        notebook.run_notebook(Path("page.ipynb"), {}, Path("page.ipynb"))


def commands(command, *words):
    """Commands and groups below one, by their words."""
    yield " ".join(words), command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *words, name)


def test_every_output_of_every_command_stands_in_the_table():
    known = dict(commands(typer.main.get_command(cli.app)))
    covered = set()
    for words, *pair, _ in CASES:
        name = max((name for name in known if f"{words} ".startswith(f"{name} ")), key=len)
        covered |= {(name, label) for label in pair}
    for name, command in known.items():
        types = typing.get_type_hints(inspect.unwrap(command.callback or commands))
        for parameter in command.params:
            writes = "to write" in (getattr(parameter, "help", None) or "")
            if writes or "Path" in str(types.get(parameter.name)):
                assert parameter.name in {*OUTPUTS, *READ}, f"{name}: {parameter.name}"
            if parameter.name in OUTPUTS and name != "reproduce":  # which reads no file
                assert (name, parameter.opts[0]) in covered, f"{name}: {parameter.name}"
                assert isinstance(command, Command) or name == "construct"
