"""The commands metrics, score, evaluate and reproduce as a user meets them."""

import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tstmeta import cli, metrics, schema
from tstmeta.data import paths
from tstmeta.report.ledger import COLUMNS, PAPERS
from tstmeta.report.published import cells
from tstmeta.schema import DataError, TstmetaError

CSV = """\
source,output,system,reference,content.ann,content.bob,style.ann
the cat sat down,the cat was sitting down,A,the cat took a seat,5,4,2
he ran to the shop,he went,B,he was running to the shop,2,1,4
we like tea,we like tea,A,tea is what we like,5,5,1
please call me,do not call me,B,kindly ring me,1,2,3
"""
METRIC = """
def shared(source, output):
    return float(len(set(source.split()) & set(output.split())))

def picky(source, output):
    if "went" in output:
        raise ValueError("no such word")
    return 1.0
"""


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command on a machine without raw data and with a score store of its own."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "raw"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    monkeypatch.setattr(paths, "scores", lambda: tmp_path / "store")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text(CSV)

    def run(*words):
        return CliRunner().invoke(cli.app, [str(word) for word in words])

    return run


@pytest.fixture
def own_metric(tmp_path, monkeypatch):
    """A package with two metrics; gives its module's name."""
    package = tmp_path / "cli_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "own.py").write_text(METRIC)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "cli_package.own"
    for name in [name for name in sys.modules if name.startswith("cli_package")]:
        del sys.modules[name]


def table(result) -> pd.DataFrame:
    """The CSV on stdout, which must be all there is on it."""
    assert result.exception is None or result.exit_code == 1
    return pd.read_csv(io.StringIO(result.stdout), keep_default_na=False)


# ------------------------------------------------------------------------------------- metrics


def test_metrics_lists_each_with_what_it_measures(tstmeta):
    found = table(tstmeta("metrics", "--format", "csv"))
    assert found["name"].tolist() == [
        name for members in metrics.families().values() for name in members
    ]
    assert set(found["status"]) == {"ok"}
    assert found["signature"].is_unique
    rows = found.set_index("name")
    assert rows.loc["corpus-bleu", "unit"] == "corpus"
    assert rows.loc["ter", "better"] == "lower"
    assert set(found["bases"]) == {"source reference"}


def test_metrics_as_json_is_json_and_as_table_is_not_cut(tstmeta):
    found = json.loads(tstmeta("metrics", "--format", "json").stdout)
    assert len(found) == len(metrics.names())
    plain = tstmeta("metrics").stdout
    assert len(plain.splitlines()) == len(found) + 1
    assert all(row["signature"] in plain for row in found)


# --------------------------------------------------------------------------------------- score


def test_score_writes_csv_to_stdout_and_what_it_did_to_stderr(tstmeta):
    result = tstmeta("score", "--data", "mine.csv", "--metric", "ter", "--metric", "pinc")
    found = table(result)
    assert result.exit_code == 0
    assert list(found.columns) == schema.columns("scores")
    assert found.groupby(["metric", "basis"], sort=False).size().to_dict() == {
        ("ter", "source"): 4,
        ("ter", "reference"): 4,
        ("pinc", "source"): 4,
        ("pinc", "reference"): 4,
    }
    assert result.stderr == "16 scores, 0 failed\n"


@pytest.mark.parametrize("name", ["s.csv", "s.json", "s.parquet"])
def test_score_writes_the_file_that_is_named(tstmeta, tmp_path, name):
    result = tstmeta("score", "-d", "mine.csv", "-m", "pinc", "--basis", "source", "-o", name)
    assert result.stdout == ""
    assert result.stderr == f"4 scores, 0 failed, in {name}\n"
    read = {"csv": pd.read_csv, "json": pd.read_json, "parquet": pd.read_parquet}
    found = read[name.partition(".")[2]](tmp_path / name)
    assert found["value"].notna().all()
    assert len(found) == 4


def test_scores_as_json_can_be_read_as_scores(tstmeta):
    result = tstmeta("score", "-d", "mine.csv", "-m", "copy-rate", "--format", "json")
    assert [row["value"] for row in json.loads(result.stdout)][:4] == [0.75, 0.2, 1, 2 / 3]


def test_parquet_on_stdout_is_refused(tstmeta):
    result = tstmeta("score", "-d", "mine.csv", "-m", "constant", "--format", "parquet")
    assert isinstance(result.exception, TstmetaError)
    assert "--out" in str(result.exception)


def test_what_is_named_by_module_and_function_is_scored(tstmeta, own_metric):
    found = table(tstmeta("score", "-d", "mine.csv", "-m", f"{own_metric}:shared"))
    assert found["value"].tolist() == [3, 1, 3, 2, 2, 1, 3, 1]
    assert set(found["metric"]) == {f"{own_metric}:shared"}


def test_a_failed_score_is_a_row_and_exit_code_1(tstmeta, own_metric):
    result = tstmeta("score", "-d", "mine.csv", "-m", f"{own_metric}:picky", "--basis", "source")
    found = table(result)
    assert result.exit_code == 1
    assert found["status"].tolist() == ["ok", "error", "ok", "ok"]
    assert result.stderr == "4 scores, 1 failed\nfirst failure: ValueError: no such word\n"


def test_the_store_is_used_again(tstmeta, own_metric, tmp_path):
    def words(*more):
        return tstmeta("score", "-d", "mine.csv", "-m", f"{own_metric}:shared", *more)

    first = words()
    files = {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir()}
    assert words().stdout == first.stdout
    assert {path.name: path.read_bytes() for path in (tmp_path / "store").iterdir()} == files
    assert words("--store", tmp_path / "other").stdout == first.stdout
    assert {path.name for path in (tmp_path / "other").iterdir()} == set(files)


def test_scores_of_a_file_stand_below_computed_ones(tstmeta, tmp_path):
    (tmp_path / "comet.csv").write_text("item_id,metric,value\n1,comet,0.9\n3,comet,0.8\n")
    both = table(tstmeta("score", "-d", "mine.csv", "-m", "constant", "--scores", "comet.csv"))
    assert both["metric"].tolist() == ["constant"] * 8 + ["comet"] * 2
    alone = table(tstmeta("score", "-d", "mine.csv", "--scores", "comet.csv"))
    assert alone["metric"].tolist() == ["comet"] * 2


# ------------------------------------------------------------------------------------- evaluate


def test_one_call_scores_and_sums_up_a_file_with_every_lexical_metric(tstmeta):
    result = tstmeta("evaluate", "--data", "mine.csv", "--format", "csv")
    assert result.exit_code == 0
    found = table(result)
    for family in ("lexical", "sentinel"):
        for name in metrics.families()[family]:
            rows = found[found["metric"] == name]
            pairs = list(zip(rows["basis"], rows["dimension"], strict=True))
            assert pairs == [(b, d) for b in ("source", "reference") for d in ("content", "style")]
    assert found[found["metric"] == "human-style"]["dimension"].tolist() == ["content", "style"]
    assert set(found["scored"]) == {4}
    assert set(found["failed"]) == {0}
    assert set(found["against"]) == {"mean human rating"}


def test_agreement_is_what_the_scores_and_ratings_give(tstmeta):
    scores = table(tstmeta("score", "-d", "mine.csv", "-m", "rouge1", "--basis", "source"))
    found = table(tstmeta("evaluate", "-d", "mine.csv", "-m", "rouge1", "--format", "csv"))
    human: dict[str, list[float]] = {"content": [4.5, 1.5, 5, 1.5], "style": [2, 4, 1, 3]}
    rows = found[found["basis"] == "source"].set_index("dimension")
    for dimension, ratings in human.items():
        expected = np.corrcoef(ratings, scores["value"])[0, 1]
        assert rows.loc[dimension, "value"] == pytest.approx(expected)
        assert rows.loc[dimension, "n"] == 4
    assert rows.loc["content", "mean"] == pytest.approx(scores["value"].mean())


@pytest.mark.parametrize(
    ("words", "n", "note"),
    [
        (("--level", "pooled"), 4, ""),
        (("--level", "system"), 2, "fewer than 3 systems with both values"),
        (
            ("--level", "within-system"),
            0,
            "no system has a value: fewer than 3 items with both values (2)",
        ),
        (
            ("--level", "source"),
            0,
            "no source has a value: fewer than 3 items with both values (4)",
        ),
        (("--statistic", "kendall"), 4, ""),
        (("-s", "spearman", "-l", "pooled"), 4, ""),
    ],
)
def test_level_and_statistic_can_be_chosen(tstmeta, words, n, note):
    found = table(tstmeta("evaluate", "-d", "mine.csv", "-m", "rouge1", *words, "--format", "csv"))
    assert set(found["n"]) == {n}
    assert set(found["note"]) == {note}


def test_dimensions_can_be_chosen(tstmeta):
    words = ("evaluate", "-d", "mine.csv", "-m", "ter", "--format", "csv", "--dimension")
    assert set(table(tstmeta(*words, "style"))["dimension"]) == {"style"}
    found = table(tstmeta(*words, "fluency"))
    assert set(found["note"]) == {"nothing to compare with: no ratings of fluency"}


def test_without_ratings_the_scores_are_described(tstmeta, tmp_path):
    (tmp_path / "plain.csv").write_text("source,output\na b,a b\na b,\n")
    words = ("evaluate", "-d", "plain.csv", "-m", "copy-rate", "-m", "rouge1", "--format", "csv")
    found = table(tstmeta(*words)).set_index("metric")
    assert found["dimension"].tolist() == ["", ""]
    assert found.loc["copy-rate", ["mean", "min", "max", "scored", "empty"]].tolist() == [
        *(0.5, 0, 1, 2, 0)
    ]
    assert found.loc["rouge1", "empty"] == 1
    assert set(found["note"]) == {"nothing to compare with: no ratings"}


def test_where_nothing_can_be_scored_the_table_has_its_header_only(tstmeta, tmp_path):
    (tmp_path / "plain.csv").write_text("source,output\na,b\n")
    words = ("-d", "plain.csv", "-m", "pinc", "--basis", "reference", "--format")
    for command, columns in (("score", schema.columns("scores")), ("evaluate", None)):
        found = table(tstmeta(command, *words, "csv"))
        assert len(found) == 0
        assert list(found.columns)[:1] == (columns or ["metric"])[:1]
    assert json.loads(tstmeta("evaluate", *words, "json").stdout) == []


def test_ratings_may_come_in_a_second_file(tstmeta, tmp_path):
    (tmp_path / "plain.csv").write_text("item_id,source,output\nx,a,b\ny,a,c d\nz,a,d e f\n")
    (tmp_path / "ratings.csv").write_text(
        "item_id,dimension,rater,value\nx,style,r1,1\ny,style,r1,2\nz,style,r1,3\n"
    )
    words = ("-d", "plain.csv", "--ratings", "ratings.csv", "-m", "output-only", "--format", "csv")
    [row] = table(tstmeta("evaluate", *words)).to_dict("records")
    assert (row["dimension"], row["n"], row["value"]) == ("style", 3, pytest.approx(1))


def test_a_score_file_called_like_a_corpus_metric_is_taken_item_by_item(tstmeta, tmp_path):
    (tmp_path / "f.csv").write_text(
        "item_id,metric,value\n1,corpus-bleu,3\n2,corpus-bleu,1\n3,corpus-bleu,4\n"
    )
    words = ("evaluate", "-d", "mine.csv", "--scores", "f.csv", "--format", "csv")
    found = table(tstmeta(*words)).set_index("dimension")
    assert found.loc["content", "n"] == 3
    assert found.loc["content", "mean"] == pytest.approx(8 / 3)


def test_the_table_for_reading_has_a_title_and_is_not_cut(tstmeta):
    shown = tstmeta("evaluate", "-d", "mine.csv", "-m", "bleu").stdout
    assert shown.startswith("mine: 4 rewrites; pearson, level pooled\n")
    assert str(metrics.get("bleu").signature("reference")) in shown


# --------------------------------------------------------------------------------- mistakes

MISTAKES = {
    "an unknown metric": (["-m", "bleuu"], "no metric is called 'bleuu'; did you mean bleu"),
    "an unknown variant": (["-m", "bleu:pauli"], "did you mean bleu:pauli2025"),
    "a module without dot": (["-m", "package:f"], "no metric is called 'package:f'"),
    "a module that is not there": (["-m", "no.such:f"], "cannot import metric no.such:f"),
    "a function that is not there": (["-m", "os.path:f"], "cannot import metric os.path:f"),
    "an unknown basis": (["--basis", "src"], "unknown basis src; known: source, reference, none"),
    "two unknown bases": (["--basis", "z", "--basis", "a"], "unknown basis z, a; known"),
    "a score file that is not there": (["--scores", "no.csv"], "there is no such file"),
    "a rating file that is not there": (["--ratings", "no.csv"], "there is no such file"),
}


@pytest.mark.parametrize("command", ["score", "evaluate"])
@pytest.mark.parametrize(("words", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told(tstmeta, command, words, message):
    result = tstmeta(command, "--data", "mine.csv", *words)
    assert isinstance(result.exception, TstmetaError)
    assert message in str(result.exception)
    assert result.stdout == ""


def test_unknown_data_and_dimensions_are_told(tstmeta):
    assert "did you mean lai" in str(tstmeta("score", "-d", "laii").exception)
    unknown = tstmeta("evaluate", "-d", "mine.csv", "-m", "ter", "--dimension", "mood")
    assert "unknown dimension mood; known: content" in str(unknown.exception)


def test_a_broken_data_file_is_reported_with_row_and_remedy(tstmeta, tmp_path):
    (tmp_path / "bad.csv").write_text("source,output,content.r1\n,a,1\nb,c,high\n")
    result = tstmeta("evaluate", "-d", "bad.csv")
    assert isinstance(result.exception, DataError)
    assert [problem.row for problem in result.exception.problems] == [1, 2]


@pytest.mark.parametrize(
    "words", [("score",), ("evaluate", "-d", "mine.csv", "-s", "tau"), ("reproduce", "--nosuch")]
)
def test_a_mistyped_option_is_exit_code_2(tstmeta, words):
    result = tstmeta(*words)
    assert result.exit_code == 2
    assert result.stdout == ""


# ------------------------------------------------------------------------------------ reproduce


@pytest.mark.parametrize("paper", PAPERS)
def test_reproduce_lists_every_cell_of_a_paper_without_any_data(tstmeta, paper):
    found = table(tstmeta("reproduce", "--paper", paper, "--format", "csv"))
    assert list(found.columns) == list(COLUMNS)
    assert found["cell"].tolist() == [cell.cell for cell in cells() if cell.paper == paper]
    assert found["status"].ne("").all()


def test_reproduce_of_one_table_as_json(tstmeta):
    found = json.loads(
        tstmeta("reproduce", "--paper", "pang2019", "--table", "2", "--format", "json").stdout
    )
    assert {row["table"] for row in found} == {"2"}
    assert {row["ours"] for row in found if row["status"].startswith("needs")} == {None}


def test_reproduce_for_reading_begins_with_the_counts(tstmeta):
    shown = tstmeta("reproduce", "--paper", "pang2019", "--table", "4").stdout
    assert shown.startswith("Cells by status\n")
    assert "pang2019.t4" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--paper", "pauli"), "nothing is printed under paper 'pauli'"),
        (("--paper", "lai2023", "--table", "9"), "known: lai2023 1, lai2023 2"),
        (("--table", "fig9"), "pauli2025 fig1"),
    ],
)
def test_an_unknown_paper_or_table_is_told_with_the_known_ones(tstmeta, words, message):
    result = tstmeta("reproduce", *words)
    assert isinstance(result.exception, TstmetaError)
    assert message in str(result.exception)


# ---------------------------------------------------------------------------------- as a program


def test_the_program_keeps_stdout_pure_and_ends_with_the_right_code(tmp_path):
    (tmp_path / "mine.csv").write_text(CSV)

    def program(*words):
        command = [sys.executable, "-m", "tstmeta", *words]
        environment = {**os.environ, "PYTHONWARNINGS": "default", "TSTMETA_DATA": str(tmp_path)}
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=120
        )

    words = ("-d", "mine.csv", "-m", "bleu", "-m", "chrf", "--store", "s")
    done = program("evaluate", *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 8
    assert done.stderr == ""
    failed = program("score", *words, "--basis", "src")
    assert (failed.returncode, failed.stdout) == (2, "")
    assert failed.stderr == "error: unknown basis src; known: source, reference, none\n"
