"""The commands metrics, score and reproduce as a user meets them; mistakes of evaluate too."""

import pandas as pd

from tests.command import table
from tstmeta import schema
from tstmeta.ledger.cells import cells
from tstmeta.ledger.ledger import COLUMNS
from tstmeta.metrics import catalogue, registry
from tstmeta.models import hub


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
