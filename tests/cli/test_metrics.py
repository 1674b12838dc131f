"""The commands metrics, score, explain and reproduce as a user meets them."""

import re

import pandas as pd
import pytest

from tests.command import refusal, success, table
from tests.likelihood import small
from tstmeta import schema
from tstmeta.ledger.cells import cells
from tstmeta.ledger.ledger import COLUMNS
from tstmeta.metrics import catalogue, registry
from tstmeta.models import hub

TEXTS = "--source 'the cat sat down' --output 'the cat sat <b>' --style formal"


def test_metrics_lists_each_with_what_it_measures_and_what_to_do_for_a_missing_model(
    tstmeta, monkeypatch
):
    monkeypatch.setattr(hub, "here", lambda model: model.profile == "embedded")
    listed = tstmeta("metrics --format csv")
    rows = table(listed).set_index("name")
    ready = (rows["status"] == "ok") & (rows["family"] != catalogue.COMBINED_FAMILY)
    assert f"{ready.sum()} of {len(rows)} names run here as they stand" in listed.stderr
    ours = [name for members in registry.families().values() for name in members]
    assert rows.index.tolist() == [*ours, *catalogue.OPEN, *catalogue.COMBINED]
    runs = rows[rows["status"] == "ok"]
    assert {*rows["profile"]} == {"embedded", "real"}
    real = {*runs.index[runs["profile"] == "real"]}  # those of models that may have been fetched
    least = {"judge", "judge:style"}
    assert least <= real <= {*least, "ted", "smatch-dep", "synwmd"}
    assert runs.loc[runs.index.isin(registry.names(variants=True)), "signature"].ne("").all()
    assert "hf download meta-llama/Llama-3.1-8B" in rows.loc["likelihood:8b+released", "remedy"]
    assert rows.loc["corpus-bleu", "unit"] == "corpus"
    assert rows.loc["ter", "better"] == "lower"
    assert rows.loc["bleu", "bases"] == "source reference"
    assert rows.loc["likelihood", ["dimension", "bases"]].tolist() == ["content", "source"]
    assert rows.loc["likelihood-style", ["dimension", "bases"]].tolist() == ["style", "source"]


def test_score_writes_csv_to_stdout_or_the_file_that_is_named(tstmeta, tmp_path):
    result = tstmeta("score --data mine.csv --metric ter --metric pinc")
    rows = table(result)
    assert list(rows.columns) == schema.columns("scores")
    sizes = rows.groupby(["metric", "basis"], sort=False).size()
    both = [(name, basis) for name in ("ter", "pinc") for basis in ("source", "reference")]
    assert sizes.to_dict() == dict.fromkeys(both, 4)
    assert result.stderr == "16 scores, 0 failed\n"
    result = tstmeta("score -dmine.csv -mpinc --basis source -os.parquet")
    assert (result.stdout, result.stderr) == ("", "4 scores, 0 failed, in s.parquet\n")
    assert pd.read_parquet(tmp_path / "s.parquet")["value"].notna().tolist() == [True] * 4


def test_a_mistyped_option_is_exit_code_2(tstmeta):
    result = tstmeta("evaluate -d mine.csv -s tau")
    assert (result.exit_code, result.stdout) == (2, "")


def test_reproduce_lists_every_cell_of_a_paper_without_any_data(tstmeta):
    rows = table(tstmeta("reproduce --paper pang2019 --format csv"))
    assert list(rows.columns) == list(COLUMNS)
    assert rows["cell"].tolist() == [cell.cell for cell in cells("pang2019")]
    assert rows["status"].ne("").all()


@pytest.fixture
def explain(tstmeta, tmp_path):
    """Run ``tstmeta explain`` with a tiny model."""
    model = small.saved(tmp_path / "model")
    return lambda words: tstmeta(f"explain --model {model} {words}")


def test_a_rewrite_is_shown_with_its_values_and_a_row_a_token(explain):
    rows = table(explain(f"{TEXTS} --format csv"))
    result = success(explain(TEXTS))
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
    result = success(explain("--source a --output '' --style b"))
    assert "empty   empty output" in result.stdout
    result = explain("--source a --output b --style ''")
    assert (result.exit_code, result.stderr) == (1, "no value\n")
    assert "invalid no target style" in result.stdout


def test_a_model_that_is_absent_is_refused_with_what_to_do(tstmeta, monkeypatch):
    monkeypatch.setattr(hub, "here", lambda model: False)
    absent = refusal(tstmeta(f"explain {TEXTS}"))
    assert absent == "smollm2-135m is not here: tstmeta models fetch smollm2-135m"
