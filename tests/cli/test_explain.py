"""``tstmeta explain`` as a user meets it: at a terminal, as a table, and mistaken."""

import re

import pandas as pd
import pytest

from tests.command import refusal, table
from tests.likelihood import small
from tstmeta.models import hub

TEXTS = "--source 'the cat sat down' --output 'the cat sat <b>' --style formal"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of a tiny model."""
    return small.saved(tmp_path_factory.mktemp("model"))


@pytest.fixture
def explain(tstmeta, model):
    """Run ``tstmeta explain`` with the tiny model."""
    return lambda words: tstmeta(f"explain --model {model} {words}")


def test_a_rewrite_is_shown_with_its_values_and_a_row_a_token(explain):
    rows = table(explain(f"{TEXTS} --format csv"))
    result = explain(TEXTS)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[:2] == ["source  the cat sat down", "style   formal"]
    content, lead = (pd.to_numeric(rows[name]).mean() for name in ("content", "lead"))
    assert lines[2:4] == [f"C       {content:.4f}", f"S       {lead:.4f}"]
    shown = [line for line in lines if re.match(r" +\d+  .*(style|paraphrase|repeat)", line)]
    assert len(shown) == len(rows) - 1, "the end of the turn does not count here"


def test_no_text_steers_a_terminal(explain):
    evil = "'\x1b[31mred\x1b[0m [bold]bold[/bold] :smile: \u202eend'"
    result = explain(f"--source {evil} --output {evil} --style {evil}")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", result.stdout)
    assert "[bold]bold[/bold] :smile: \\u202eend" in result.stdout


def test_an_empty_output_has_a_value_and_no_style_has_none(explain):
    result = explain("--source a --output '' --style b")
    assert result.exit_code == 0
    assert "empty   empty output" in result.stdout
    result = explain("--source a --output b --style ''")
    assert (result.exit_code, result.stderr) == (1, "no value\n")
    assert "invalid no target style" in result.stdout


def test_a_model_that_is_absent_is_refused_with_what_to_do(tstmeta, monkeypatch):
    monkeypatch.setattr(hub, "here", lambda model: False)
    absent = refusal(tstmeta(f"explain {TEXTS}"))
    assert absent == "smollm2-135m is not here: tstmeta models fetch smollm2-135m"
