"""The commands metrics, score and reproduce as a user meets them; mistakes of evaluate too."""

import sys

import pandas as pd
import pytest

from tests.command import command_line, table
from tstmeta import metrics, schema
from tstmeta.ledger.cells import PAPERS, cells
from tstmeta.ledger.ledger import COLUMNS
from tstmeta.metrics import catalogue
from tstmeta.models import hub
from tstmeta.schema import DataError, TstmetaError

METRIC = """
def shared(source, output):
    return float(len(set(source.split()) & set(output.split())))

def picky(source, output):
    if "went" in output:
        raise ValueError("no such word")
    return 1.0

def nowhere(source, output):
    return float("nan")
"""


@pytest.fixture
def tstmeta(tmp_path, monkeypatch):
    """Run a command on a machine without raw data and with a score store of its own."""
    return command_line(tmp_path, monkeypatch)


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


def test_metrics_lists_each_with_what_it_measures_and_what_to_do_for_a_missing_model(
    tstmeta, monkeypatch
):
    monkeypatch.setattr(hub, "here", lambda model: model.name == "embedded")
    listed = tstmeta("metrics", "--format", "csv")
    rows = table(listed).set_index("name")
    own = (rows["status"] == "ok") & (rows["family"] != catalogue.COMBINED_FAMILY)
    assert f"{own.sum()} of {len(rows)} names run here as they stand" in listed.stderr
    ours = [name for members in metrics.families().values() for name in members]
    assert rows.index.tolist() == [*ours, *catalogue.OPEN, *catalogue.COMBINED]
    runs = rows[rows["status"] == "ok"]
    assert set(runs["profile"]) == {"embedded"} == {*rows["profile"]} - {"real"}
    assert runs.loc[runs.index.isin(metrics.names(variants=True)), "signature"].ne("").all()
    assert "hf download meta-llama/Llama-3.1-8B" in rows.loc["likelihood:8b+released", "remedy"]
    assert rows.loc["corpus-bleu", "unit"] == "corpus"
    assert rows.loc["ter", "better"] == "lower"
    assert rows.loc["bleu", "bases"] == "source reference"
    assert rows.loc["likelihood", ["dimension", "bases"]].tolist() == ["content", "source"]
    assert rows.loc["likelihood-style", ["dimension", "bases"]].tolist() == ["style", "source"]


def test_score_writes_csv_to_stdout_and_what_it_did_to_stderr(tstmeta):
    result = tstmeta("score", "--data", "mine.csv", "--metric", "ter", "--metric", "pinc")
    rows = table(result)
    assert result.exit_code == 0
    assert list(rows.columns) == schema.columns("scores")
    sizes = rows.groupby(["metric", "basis"], sort=False).size()
    both = [(name, basis) for name in ("ter", "pinc") for basis in ("source", "reference")]
    assert sizes.to_dict() == dict.fromkeys(both, 4)
    assert result.stderr == "16 scores, 0 failed\n"


def test_score_writes_the_file_that_is_named(tstmeta, tmp_path):
    words = ("-d", "mine.csv", "-m", "pinc", "--basis", "source", "-o", "s.parquet")
    result = tstmeta("score", *words)
    assert (result.stdout, result.stderr) == ("", "4 scores, 0 failed, in s.parquet\n")
    assert pd.read_parquet(tmp_path / "s.parquet")["value"].notna().tolist() == [True] * 4


def test_failures_are_rows_and_named_by_metric_with_the_first_reason(tstmeta, own_metric):
    names = [f"{own_metric}:{name}" for name in ("picky", "shared", "nowhere")]
    words = [word for name in names for word in ("-m", name)]
    result = tstmeta("score", "-d", "mine.csv", *words, "--basis", "source")
    assert result.exit_code == 1
    rows = table(result)
    assert rows["metric"].unique().tolist() == names
    assert rows["status"].tolist()[:4] == ["ok", "error", "ok", "ok"]
    assert rows.loc[rows["metric"] == names[1], "value"].tolist() == ["3.0", "1.0", "3.0", "2.0"]
    assert result.stderr.splitlines() == [
        f"{names[0]}: 1 of 4 scores failed: ValueError: no such word",
        f"{names[2]}: 4 of 4 scores failed: the metric returned nan",
        "12 scores, 5 failed",
    ]


MISTAKES = {
    "an unknown metric": (["-m", "bleuu"], "no metric is called 'bleuu'; did you mean bleu"),
    "an unknown variant": (["-m", "bleu:pauli"], "did you mean bleu:pauli2025"),
    "a module without dot": (["-m", "package:f"], "no metric is called 'package:f'"),
    "a module that is not there": (["-m", "no.such:f"], "cannot import metric no.such:f"),
    "a function that is not there": (["-m", "os.path:f"], "cannot import metric os.path:f"),
    "a score file that is not there": (["--scores", "no.csv"], "there is no such file"),
    "a rating file that is not there": (["--ratings", "no.csv"], "there is no such file"),
}


@pytest.mark.parametrize("command", ["score", "evaluate"])
@pytest.mark.parametrize(("words", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named(tstmeta, command, words, message):
    result = tstmeta(command, "--data", "mine.csv", *words)
    assert isinstance(result.exception, TstmetaError)
    assert message in str(result.exception)
    assert result.stdout == ""


def test_a_broken_data_file_is_reported_with_row_and_remedy(tstmeta, tmp_path):
    (tmp_path / "bad.csv").write_text("source,output,content.r1\n,a,1\nb,c,high\n")
    result = tstmeta("evaluate", "-d", "bad.csv")
    assert isinstance(result.exception, DataError)
    assert [problem.row for problem in result.exception.problems] == [1, 2]


@pytest.mark.parametrize(
    "words",
    [
        ("score",),
        ("score", "-d", "mine.csv", "--basis", "z"),
        ("evaluate", "-d", "mine.csv", "-s", "tau"),
        ("evaluate", "-d", "mine.csv", "--dimension", "mood"),
        ("reproduce", "--nosuch"),
    ],
)
def test_a_mistyped_option_is_exit_code_2(tstmeta, words):
    result = tstmeta(*words)
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize("paper", PAPERS)
def test_reproduce_lists_every_cell_of_a_paper_without_any_data(tstmeta, paper):
    rows = table(tstmeta("reproduce", "--paper", paper, "--format", "csv"))
    assert list(rows.columns) == list(COLUMNS)
    assert rows["cell"].tolist() == [cell.cell for cell in cells() if cell.paper == paper]
    assert rows["status"].ne("").all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--paper", "pauli"), "nothing is printed under paper 'pauli'"),
        (("--paper", "lai2023", "--table", "9"), "known: lai2023 1, lai2023 2"),
        (("--table", "fig9"), "pauli2025 fig1"),
    ],
)
def test_an_unknown_paper_or_table_is_named_with_the_known_ones(tstmeta, words, message):
    result = tstmeta("reproduce", *words)
    assert isinstance(result.exception, TstmetaError)
    assert message in str(result.exception)
