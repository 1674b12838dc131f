"""An output that is an input, or another output, is refused by every command that writes a file."""

import inspect
import os
import re
import shutil
import sys
import typing
from pathlib import Path

import pandas as pd
import pytest
import typer

from tests.command import commands, refusal
from tstmeta import bulk, cli, notebook
from tstmeta.cli.options import OUTPUTS, Command
from tstmeta.judge.construct import run
from tstmeta.schema import TstmetaError

#: Stands for words; nobody listens at the server, for nothing is asked of it.
WORDS = {
    "JUDGE": "judge run --prompt lai2023-content REMOTE",
    "CONSTRUCT": "construct --style formal REMOTE",
    "REMOTE": "--server http://127.0.0.1:9/v1 --model m --retries 0",
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


#: What commands refuse to write over before they read it, and so may hold anything.
UNREAD = [
    *("ratings.csv", "scores.csv", "corpus.csv", "ann.csv", "project.json", "my.py", "ask.toml"),
    *("page.ipynb", "paid.sqlite", "store/judge/answers.sqlite"),
]


@pytest.fixture
def files(tstmeta, tmp_path):
    """A folder with what commands read, and links to two files; it is the working directory."""
    for name in ("polite", "texts", "page", "form", "formal", "store/judge"):
        Path(name).mkdir(parents=True)
    texts = {
        "source": ["He ran.", "It was bad."] * 2,
        "output": ["he went", "it was", "ran", "bad"],
    }
    rows = pd.DataFrame(texts).assign(system=list("AABB"), style="formal", item_id=list("abcd"))
    for name in ("mine.csv", "page/values.csv"):
        rows.assign(**{"content.ann": [1, 2, 3, 4]}).to_csv(name, index=False)
    sources = ("sources.csv", "polite/polite.csv", "formal/rows.csv")
    for name in ("set.csv", "beside.csv", "plain.csv", "form/key.csv", *sources, *UNREAD):
        rows.to_csv(name, index=False)
    for name in ("rows.parquet", "texts/a.parquet"):
        rows.to_parquet(name)
    Path("set.csv.toml").write_text('ratings = "beside.csv"\nscale.content = [1, 5]\n')
    for name in ("link.svg", "soft.csv"):
        os.symlink("mine.csv", name)
    os.link("ratings.csv", "rated.svg")
    os.link("mine.csv", "hard.csv")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_an_output_that_is_an_input_is_refused(files, monkeypatch, capsys, case):
    """The message names both options, and no input is another."""
    words, option, other, file = case
    before = contents(files)
    monkeypatch.setattr(sys, "argv", ["tstmeta", *words.split()])
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
