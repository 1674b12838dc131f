"""An output that is an input, or another output, is refused by every command that writes a file."""

import inspect
import json
import os
import re
import shutil
import sys
import typing
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import typer
from nbformat.v4 import new_code_cell, new_notebook

from tests.command import command_line, commands, refusal
from tests.judge import scripted
from tstmeta import bulk, cli, label_studio, notebook
from tstmeta.cli.options import OUTPUTS, Command
from tstmeta.data import table_files
from tstmeta.judge import prompts
from tstmeta.judge.cache import AnswerCache
from tstmeta.judge.construct import run
from tstmeta.label_studio import PAIRWISE, RATING
from tstmeta.schema import TstmetaError

#: Stands for words; SERVER for the address of a server that runs while the tests do.
WORDS = {
    "JUDGE": "judge run --prompt lai2023-content REMOTE",
    "CONSTRUCT": "construct --style formal REMOTE",
    "REMOTE": "--server SERVER --model m --retries 0",
    "FAST": "--draws 10 --metric length-ratio",
}
#: Two options that name one file, the file (``@`` in the command; ``-`` without), the command.
TABLE = """
--out --data mine.csv | score --data @ --out @
--out --data mine.csv | score --data @ --out soft.csv
--out --data mine.csv | score --data @ --out hard.csv
--out --data set.csv.toml | score --data set.csv --out @
--out --data beside.csv | score --data set.csv --out @
--out --metric my.py | score --data mine.csv --metric ./my.py:share --out @
--out --data rows.parquet | score --data @ --out @
--out --data texts/a.parquet | score --data texts -m length-ratio --out @
--out --data texts | score --data @ -m length-ratio --out @
--out --store - | score --data mine.csv --out x --store x
--store --data mine.csv | score --data @ --store @
--out --data mine.csv | evaluate FAST --data @ --out @
--out --ratings ratings.csv | evaluate FAST --data plain.csv --ratings @ --out @
--out --scores scores.csv | evaluate --draws 10 --data plain.csv --scores @ --out @
--plot --data link.svg | evaluate FAST --data mine.csv --plot @
--plot --ratings rated.svg | evaluate FAST --data plain.csv --ratings ratings.csv --plot @
--plot --out - | evaluate FAST --data mine.csv --out x.svg --plot x.svg --format csv
--report --out - | evaluate FAST --data mine.csv --out x.csv --report x.csv
--plot --report - | evaluate FAST --data mine.csv --plot x.svg --report x.svg
--report --data page/values.csv | evaluate FAST --data @ --report page
--out --store - | evaluate FAST --data mine.csv --store x --out x --format csv
--out NAME mine.csv | data export @ --out @
--out --metric my.py | data export mine.csv --out @ --metric ./my.py:share
--out NAME plain.csv | data form @ --out @
--out NAME form/key.csv | data form @ --out form
--out EXPORT project.json | data import-ratings @ --data mine.csv --out @
--out --data mine.csv | data import-ratings project.json --data @ --out @
--out EXPORT ann.csv | data import-preferences @ --data mine.csv --out @
--out --data mine.csv | data import-preferences ann.csv --data @ --out @
--out --data mine.csv | JUDGE --data @ --out @
--scores-out --data mine.csv | JUDGE --data @ --scores-out @
--out --scores-out - | JUDGE --data mine.csv --out x.csv --scores-out x.csv
--cache --out paid.sqlite | JUDGE --data mine.csv --cache @ --out @
--out --cache store/judge/answers.sqlite | JUDGE --data mine.csv --out @
--cache --data mine.csv | JUDGE --data @ --cache @
--out --prompt ask.toml | judge run REMOTE --prompt @ --data mine.csv --out @
--scores-out --prompt ask.toml | judge run REMOTE --prompt @ --data mine.csv --scores-out @
--out --sources sources.csv | CONSTRUCT --sources @ --out @
--out --sources polite/polite.csv | CONSTRUCT --sources @ --out polite
--out --sources formal/rows.csv | CONSTRUCT --sources @ --out formal
--out DIR - | construct export formal --out formal
--out NOTEBOOK page.ipynb | run @ --out @
--out -p mine.csv | run page.ipynb -p dataset @ --out @
--out CORPUS corpus.csv | train style @ --out @
"""


def read_case(line: str) -> tuple[str, str, str, str]:
    """The words of a command, the two options, and the file."""
    (option, other, file), words = line.partition("|")[0].split(), line.partition("|")[2].strip()
    for short, text in WORDS.items():
        words = re.sub(rf"\b{short}\b", text, words)
    return re.sub(r"@(?=\s|$)", file, words), option, other, file.strip("-")


CASES = [read_case(line) for line in TABLE.strip().splitlines()]
#: Options that name a file or folder to read.
READ = {"scores", "ratings", "sources", "pairs", "config", "folder", "exports", "corpus"}


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder with a file of every kind that a command reads."""
    folder = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        command_line(folder, patch)
        write_inputs()
    return folder


def write_inputs():
    """Write the files into the working directory."""
    for name in ("polite", "texts", "page", "form", "formal", "store/judge"):
        Path(name).mkdir(parents=True)
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
        **dict.fromkeys(["set.csv", "plain.csv", "form/key.csv"], rows),
        **dict.fromkeys(["beside.csv", "ratings.csv"], ratings),
        "scores.csv": pd.DataFrame(scores, columns=["item_id", "metric", "value"]),
        "corpus.csv": pd.DataFrame(moods, columns=["text", "style"]),
        **dict.fromkeys(["sources.csv", "polite/polite.csv", "formal/rows.csv"], rows[["source"]]),
    }
    for name, table in tables.items():
        table.to_csv(name, index=False)
    rows.to_parquet("rows.parquet")
    rows.to_parquet("texts/a.parquet")
    Path("set.csv.toml").write_text('ratings = "beside.csv"\nscale.content = [1, 5]\n')
    Path("my.py").write_text("def share(source, output):\n    return len(output) / 100\n")
    shutil.copy(Path(prompts.__file__).with_name("prompts") / "content.toml", "ask.toml")
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


@pytest.fixture
def files(template, tstmeta, tmp_path):
    """A copy of the folder, with links to two of its files."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    for name in ("link.svg", "soft.csv"):
        os.symlink("mine.csv", name)
    os.link("ratings.csv", "rated.svg")
    os.link("mine.csv", "hard.csv")
    return tmp_path


@pytest.fixture(scope="module")
def server():
    """A server that rates everything 3."""
    with scripted.serving(lambda asked: scripted.says("3")) as running:
        yield running.url


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_an_output_that_is_an_input_is_refused(files, server, monkeypatch, capsys, case):
    """The message names both options, and no input is another."""
    words, option, other, file = case
    before = contents(files)
    monkeypatch.setattr(sys, "argv", ["tstmeta", *words.replace("SERVER", server).split()])
    with pytest.raises(SystemExit) as end:
        cli.main()
    after = contents(files)
    assert {path: after.get(path) for path in before} == before
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert option in message
    assert other in message
    assert f"Remedy: name another file or folder with {option}" in message
    assert not file or Path(file).name in message


def test_an_export_within_the_folder_of_a_construction_stays(tstmeta, files, monkeypatch):
    shutil.copy("ann.csv", "formal/ratings.csv")
    before = contents(files)
    written = lambda folder, _: run.storage.write(folder / run.RATINGS, "")  # noqa: E731
    monkeypatch.setattr(run, "import_ratings", written)
    refused = refusal(tstmeta("construct import formal formal/ratings.csv"))
    assert "which EXPORT... names" in refused
    assert contents(files) == before


def test_a_name_is_no_path(tstmeta, files):
    command = "score --data rows.parquet --metric bleu --out bleu"
    assert [tstmeta(command).exit_code for _ in range(2)] == [0, 0]


def test_the_library_refuses_too(files):
    with pytest.raises(TstmetaError, match=r"--out .* would write over .* Remedy: name another"):
        bulk.score_file("texts", ["length-ratio"], "texts/a.parquet")
    with pytest.raises(TstmetaError, match=r"--out .* would write over .* Remedy: name another"):
        notebook.run_notebook(Path("page.ipynb"), {}, Path("page.ipynb"))


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
