"""The command line as a user meets it."""

import errno
import os
import shlex
import subprocess
import sys
import warnings
from unittest.mock import Mock

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from tests.command import commands, refusal, success, table
from tests.helpers import PROJECT, python
from tstmeta import cli, data
from tstmeta.data import catalogue
from tstmeta.stats import alpha


def ended(monkeypatch, *words):
    """Exit code of ``main``."""
    monkeypatch.setattr(sys, "argv", ["tstmeta", *map(str, words)])
    with pytest.raises(SystemExit) as raised:
        cli.main()
    return raised.value.code or 0


def test_a_broken_file_gives_its_report_on_stderr_and_exit_code_2(monkeypatch, capsys, tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("source,output\n,x\n")
    assert ended(monkeypatch, "data", "show", path) == 2
    assert capsys.readouterr() == (
        "",
        f"error: 1 problem found:\n{path}, row 1, column source: missing value. "
        "Remedy: fill it in or drop the row.\n",
    )


NO_ROOM = [OSError(number, os.strerror(number)) for number in (errno.ENOSPC, errno.EDQUOT)]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        *((error, 2, f"error: {error}. Remedy: make room; the same command") for error in NO_ROOM),
        (OSError(5, "Input/output error", "a.csv"), 2, "error: [Errno 5] Input/output error: 'a."),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["a full disk", "a used quota", "a broken disk", "an interruption"],
)
def test_what_ends_a_command_is_no_traceback(monkeypatch, capsys, error, code, message):
    monkeypatch.setattr(data, "load", Mock(side_effect=error))
    assert ended(monkeypatch, "data", "export", "pauli") == code
    err = capsys.readouterr().err
    assert err.startswith(message)
    assert "Traceback" not in err


#: What is typed, and what is said of it.
MISTAKES = [
    ("reproduce --paper pauli", "nothing is printed under paper 'pauli'"),
    ("reproduce --paper lai2023 --table 9", "known: lai2023 1, lai2023 2"),
    ("reproduce --table fig9", "pauli2025 fig1"),
    ("explain --source 'a \udcff' --output b --style c", "a text holds half a character"),
    ("explain --source a --output b --style c --model x", "'x' names no setting and no model"),
    ("judge run -d contrast -p content --server http://127.0.0.1:9 -m m", "no connection to"),
    ("construct export nowhere --out form", "nowhere holds no construction"),
]


@pytest.mark.parametrize(("typed", "message"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_a_mistake_of_the_user_is_named_with_what_there_is(tstmeta, typed, message):
    assert message in refusal(tstmeta(typed))


def test_a_warning_is_one_line_on_stderr(monkeypatch, capsys):
    load = catalogue.load

    def warned(name):
        warnings.warn("odd", stacklevel=2)
        return load(name)

    monkeypatch.setattr(catalogue, "load", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert ended(monkeypatch, "data", "show", "contrast") == 0
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")]
    assert line == "warning: odd"


def test_show_describes_a_file_of_yours(tstmeta):
    result = tstmeta("data show mine.csv --format csv")
    facts = table(result).set_index(["part", "what"])["value"]
    assert facts["counts"].loc[["items", "systems"]].tolist() == ["4", "2"]
    assert facts["content"].loc[["raters", "mean"]].tolist() == ["r1, r2", "3.125"]
    expected = f"{alpha([[5, 4], [2, 1], [5, 5], [1, 2]]).value:.3f} (2 raters, 4 rewrites)"
    assert facts["content", "Krippendorff's alpha (ordinal)"] == expected
    assert facts["style", "Krippendorff's alpha (ordinal)"] == "- (one rater only)"
    assert "ann" not in result.output


def test_a_data_set_that_is_not_here_has_a_card_and_its_files_are_missing(tstmeta):
    result = success(tstmeta("data show mir"))
    assert "Sentiment transfer on Yelp" in result.stdout
    assert "tstmeta data fetch mir" in result.stderr
    result = tstmeta("data check pauli --format csv")
    assert table(result)["state"].tolist() == ["missing"] * 7
    assert (result.exit_code, result.stderr) == (1, "7 files, 7 missing or wrong\n")


@pytest.mark.parametrize("name", ["items", "preferences"])
def test_a_table_can_be_exported_with_nothing_else_on_stdout(tstmeta, name):
    expected = getattr(data.load("mine.csv"), name)
    result = tstmeta(f"data export mine.csv --table {name}")
    assert (result.exit_code, result.stderr) == (0, "")
    assert table(result).shape == expected.shape
    result = tstmeta(f"data export mine.csv -t {name} --out t.parquet")
    assert (result.stdout, result.stderr) == ("", f"wrote {len(expected)} rows to t.parquet\n")
    assert pd.read_parquet("t.parquet").columns.tolist() == expected.columns.tolist()


def test_the_program_prints_plain_tables_when_piped_and_bears_a_pipe_that_closes_early(tstmeta):
    words = ("-m", "tstmeta", "data", "show", "mine.csv")
    shown = python(*words, timeout=60, env={"PYTHONWARNINGS": "default"})
    assert shown.stderr == ""
    assert "\x1b" not in shown.stdout
    assert shown.stdout.startswith("mine: mine\npart     what")
    command = f"{shlex.join([sys.executable, *words])} --format json | head -c 1"
    shown = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
    assert shown.stdout == "["
    assert "Traceback" not in shown.stderr


LISTS = {"models": "mpnet", "data list": "contrast", "metrics": "meteor"}


@pytest.mark.parametrize(("words", "shown"), [("--help", "--install-completion"), *LISTS.items()])
def test_what_only_lists_does_not_import_pandas(words, shown, tmp_path):
    assert shown in quick(*words.split(), TSTMETA_DATA=str(tmp_path))


def quick(*words, **env):
    """What the program prints without pandas."""
    code = (
        f"import sys; from tstmeta import cli; sys.argv = ['tstmeta', *{words}]\n"
        "try: cli.main()\n"
        "except SystemExit: sys.exit('pandas' in sys.modules)"
    )
    return python("-c", code, timeout=60, env=env).stdout


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("tstmeta e", "evaluate explain"),
        ("tstmeta score --metric rou", "rouge1 rouge2 rougeL"),
        ("tstmeta data fetch pauli mir", "mir"),
        ("tstmeta data export lai --table pre", "preferences"),
    ],
)
def test_a_shell_completes_commands_options_and_names(typed, completed):
    typing = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    typing["_TSTMETA_COMPLETE"] = "complete_bash"
    shown = CliRunner().invoke(cli.app, [], prog_name="tstmeta", env=typing).stdout
    assert shown.split() == completed.split()
    if "rou" in typed:
        assert quick(**typing) == shown


@pytest.mark.parametrize("words", dict(commands(typer.main.get_command(cli.app))))
def test_h_shows_the_help_of_every_command(tstmeta, words):
    shown = success(tstmeta(*words.split(), "-h"))
    assert shown.stdout.startswith("Usage: ")


#: The program, which an interrupt reaches so many seconds after Python has started.
PROGRAM = """
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from tstmeta.__main__ import main
threading.Timer({after}, os.kill, (os.getpid(), signal.SIGINT)).start()
sys.argv = ["tstmeta", "advise", "--task", "formality"]
main()
time.sleep(10)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("after", [0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
def test_an_interrupt_at_the_start_is_no_traceback(after):
    code = PROGRAM.format(after=after)
    for _ in range(2):  # a bare except in a library may swallow it once
        done = python("-c", code, codes=(0, 130, -2), timeout=60)
        if done.returncode:
            break
    assert "Traceback" not in done.stderr
    assert done.returncode in (130, -2)


def test_the_program_starts_without_the_command_line():
    module, _, name = PROJECT["project"]["scripts"]["tstmeta"].partition(":")
    heavy = "{'typer', 'importlib.metadata', 'tstmeta.cli'} & sys.modules.keys()"
    code = f"import sys; before = {heavy}; from {module} import {name}; print({heavy} - before)"
    assert python("-c", code).stdout == "set()\n"
