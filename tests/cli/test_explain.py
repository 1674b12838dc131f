"""``tstmeta explain`` as a user meets it: at a terminal, into files, and mistaken."""

import re

import pandas as pd
import pytest

from tests.command import command_line, table
from tests.likelihood import small
from tstmeta.schema import TstmetaError

TEXTS = ("--source", "the cat sat down", "--output", "the cat sat <b>", "--style", "formal")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a tiny model."""
    return small.saved(tmp_path_factory.mktemp("model"))


@pytest.fixture
def tstmeta(tmp_path, monkeypatch, model):
    """Run ``tstmeta explain`` with the tiny model, beside ``styled.csv``."""
    run = command_line(tmp_path, monkeypatch)
    frame = pd.read_csv(tmp_path / "mine.csv").assign(style=["formal", "formal", "", "formal"])
    frame.to_csv(tmp_path / "styled.csv", index=False)
    return lambda *words: run("explain", "--model", model, *words)


def test_a_rewrite_is_shown_with_its_values_and_a_row_a_token(tstmeta):
    rows = table(tstmeta(*TEXTS, "--format", "csv"))
    result = tstmeta(*TEXTS)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[:2] == ["source  the cat sat down", "style   formal"]
    content, lead = (pd.to_numeric(rows[name]).mean() for name in ("content", "lead"))
    assert lines[2:4] == [f"C       {content:.4f}", f"S       {lead:.4f}"]
    shown = [line for line in lines if re.match(r" +\d+  .*(style|paraphrase|repeat)", line)]
    assert len(shown) == len(rows) - 1, "the end of the turn does not count here"


def test_no_text_steers_a_terminal(tstmeta):
    evil = "\x1b[31mred\x1b[0m [bold]bold[/bold] :smile: \u202eend"
    result = tstmeta("--source", evil, "--output", evil, "--style", evil)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", result.stdout)
    assert "[bold]bold[/bold] :smile: \\u202eend" in result.stdout


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_a_data_set_becomes_a_table_with_a_row_a_token(tstmeta, tmp_path, kind):
    result = tstmeta("--data", "styled.csv", "-o", f"tokens.{kind}", "-i", "4", "-i", "2")
    assert (result.stdout, result.stderr) == ("", "")
    read = getattr(pd, f"read_{kind}")(tmp_path / f"tokens.{kind}")
    assert read["item_id"].astype(str).unique().tolist() == ["4", "2"]
    assert {"style", "paraphrase", "repeat", "best", "content", "lead", "counts"} <= set(read)


def test_items_without_a_value_are_exit_code_1_and_the_reason_is_shown(tstmeta, tmp_path):
    result = tstmeta("--data", "styled.csv", "-i", "1", "-i", "3")
    assert (result.exit_code, result.stderr) == (1, "1 without a value\n")
    assert "item    3" in result.stdout
    assert "invalid no target style" in result.stdout
    assert tstmeta("--data", "styled.csv", "--out", "tokens.csv").exit_code == 1
    assert (tmp_path / "tokens.csv").is_file()


def test_an_empty_output_has_a_value_and_a_reason(tstmeta):
    result = tstmeta("--source", "a", "--output", "", "--style", "b")
    assert result.exit_code == 0
    assert "empty   empty output" in result.stdout


MISTAKES = {
    "nothing at all": ((), "name either a text"),
    "both": (("--data", "mine.csv", "--style", "b"), "name either a text"),
    "half a rewrite": (("--source", "a", "--style", "b"), "a rewrite has a --source"),
    "half a character": (
        ("--source", "a \udcff", "--output", "b", "--style", "c"),
        "a text holds half a character",
    ),
    "all to read": (("--data", "mine.csv"), "--out FILE"),
    "an unknown item": (("--data", "mine.csv", "-i", "x"), "there is no item 'x'"),
    "an unknown data set": (("--data", "laii", "-i", "x"), "did you mean lai"),
}


@pytest.mark.parametrize(("words", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_its_remedy(tstmeta, words, message):
    result = tstmeta(*words)
    assert isinstance(result.exception, TstmetaError)
    assert message in str(result.exception)
    assert result.stdout == ""


def test_the_demonstration_model_is_called_so_on_stderr_and_an_unknown_one_is_refused(
    tmp_path, monkeypatch
):
    run = command_line(tmp_path, monkeypatch)
    assert "shows how the method works" in run("explain", *TEXTS, "--format", "json").stderr
    unknown = run("explain", *TEXTS, "--model", "nosuch")
    assert "'nosuch' names no option and no model" in str(unknown.exception)
