"""The ledger: nothing left out, only known statuses, and the numbers that must come out."""

import csv
import io
import math
from functools import cache
from importlib.machinery import SourceFileLoader

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

import tstmeta as tst
from tests.helpers import needs
from tests.ledger.test_cells import cell
from tests.test_frozen import ACCEPTED, CHECK
from tests.tools.test_pages import is_whole
from tstmeta import console
from tstmeta.data import paths
from tstmeta.ledger import Inputs, counts, ledger, reproduce
from tstmeta.ledger.cells import PAPERS, cells, remarks
from tstmeta.ledger.inputs import Answer, settings, settings_of
from tstmeta.schema import TstmetaError

EVERYTHING = ("pauli", "lai", "mir", "li2018", "dualrl", "ziegen", "mis")


HERE = Inputs()


@cache
def with_data() -> pd.DataFrame:
    """The whole ledger from what is on this machine."""
    return reproduce(inputs=HERE).set_index("cell")


def is_complete(rows: pd.DataFrame) -> None:
    """Every cell once, in order, with the columns asked for and a known status."""
    assert ",".join(rows.columns) == "cell,paper,table,printed,ours,n,signature,status,reason"
    expected = [(cell.cell, cell.paper, cell.table, cell.printed) for cell in cells()]
    given = rows[["cell", "paper", "table", "printed"]].itertuples(index=False, name=None)
    assert list(given) == expected
    kind = rows["status"].str.partition(" ")[0]
    assert set(kind) <= set(ledger.STATUSES)
    computed = kind != "needs"
    assert rows.loc[~computed, "status"].str.len().gt(len("needs ")).all()
    for holds in (np.isfinite(rows["ours"]), rows["n"].gt(0), rows["signature"].ne("")):
        assert holds.eq(computed).all()
    assert rows.loc[kind != "match", "reason"].ne("").all()


def test_with_what_is_here_every_cell_has_a_row_and_every_recipe_is_used():
    rows = with_data().reset_index()
    is_complete(rows)
    is_whole(rows)
    used = {id(settings_of(cell)) for cell in cells()}
    assert {id(entry) for entries in settings().values() for entry in entries} == used


@pytest.mark.nightly
def test_without_raw_files_cells_follow_from_what_is_passed_on_or_say_what_they_need(
    monkeypatch, tmp_path
):
    here = with_data()  # before the machine has no data
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    rows = reproduce()
    is_complete(rows)
    is_whole(rows)
    table = counts(rows).set_index("paper")
    assert table.index.tolist() == [*PAPERS, "all"]
    assert table["cells"].tolist() == [*rows.groupby("paper").size()[list(PAPERS)], 2289]
    assert (table.loc["lai2023", "needs"], table.loc["pauli2025", "match"] > 60) == (0, True)
    missing = rows[rows["status"].str.endswith(" data")]
    assert set(missing["status"]) == {"needs mir data", "needs li2018 data", "needs mis data"}
    assert missing["reason"].str.startswith("tstmeta data fetch ").all()
    own = rows.set_index("cell")
    own = own[~own["status"].str.startswith("needs")]
    assert len(own[own["status"] == "printed-only"]) > 100
    assert own["ours"].sub(here.loc[own.index, "ours"]).abs().max() < 1e-9
    assert own["status"].equals(here.loc[own.index, "status"])


def test_a_part_of_the_ledger_is_the_same_rows_and_beside_the_printed_table_they_stand_tidy():
    rows = with_data().reset_index()
    for part in ({"paper": "pang2019"}, {"table": "5"}, {"paper": "lai2023", "table": "4"}):
        own = rows[(rows[list(part)] == part).all(axis=1)].reset_index(drop=True)
        pd.testing.assert_frame_equal(reproduce(**part, inputs=HERE)[[*own]], own)
    frame = tst.published("pauli2025", 3, inputs=HERE)
    assert set(frame["label"]) >= {"S-BLEU", "R-BLEU", "QuestEval"}
    assert frame.loc[frame["label"] == "R-BLEU", "basis"].eq("reference").all()
    own = reproduce("pauli2025", "3", inputs=HERE)
    pd.testing.assert_frame_equal(frame[list(ledger.COLUMNS)], own)
    assert frame.loc[0, ["value", "decimals", "statistic"]].tolist() == [0.5, 2, "pearson"]
    with pytest.raises(TstmetaError, match=r"nothing is printed under paper .* lai2023 4"):
        reproduce("lai2023", "9")


UNKNOWN, REMARK = "the reason is not known", "a digit is missing"
ROUNDED = "rounded in two steps: 0.265, then 0.27"
FOLLOWS = "follows from other printed numbers"
OFF = "does not follow from the other printed numbers"
WITHIN = "equal within the rounding of the printed inputs"


@pytest.mark.parametrize(
    ("printed", "answer", "status", "reason"),
    [
        ("0.51", Answer(0.505, 9, "s"), "match", ""),  # by half up
        ("0.50", Answer(0.5, 9, "s", "raw"), "match", "raw"),
        ("0.50", Answer(0.51, 9, "s"), "differs", UNKNOWN),
        ("0.50", Answer(0.51, 9, "s", "ties"), "differs", "ties"),
        ("0.50", Answer(math.nan, 9, "s"), "differs", "no value can be computed"),
        ("0.27", Answer(0.2649526, 9, "s", via=3), "match", ROUNDED),
        ("0.27", Answer(0.2644, 9, "s", via=3), "differs", UNKNOWN),
        ("0.41", Answer(0.412, 3, "s", "", 0.40, 0.42), "printed-only", FOLLOWS),
        ("0.45", Answer(0.46, 3, "s", "", 0.455, 0.465), "printed-only", WITHIN),
        ("0.43", Answer(0.41, 3, "s", "", 0.405, 0.415), "misprint", OFF),
        # a remark counts only where the numbers differ
        ("0.60", Answer(0.61, 9, "s"), "misprint", REMARK),
        ("0.60", Answer(0.61, 9, "s", "raw"), "misprint", f"{REMARK}; raw"),
        ("0.60", Answer(0.4, 9, "s", "", 0.4, 0.4), "misprint", REMARK),
        ("0.60", Answer(0.6, 9, "s"), "match", ""),
    ],
)
def test_a_status_follows_from_the_printed_and_our_number_and_from_a_remark(
    printed, answer, status, reason, monkeypatch
):
    monkeypatch.setattr(ledger, "remarks", lambda: {"0.60": ("misprint", REMARK)})
    assert ledger.status_of(cell(printed, cell=printed), answer) == (status, reason)


@needs("li2018", "dualrl", "mis")
def test_of_pang2019_bleu_and_21_of_36_percentages_of_preferences_come_out():
    rows = with_data()
    own = rows[rows["signature"].str.startswith("share of comparisons")]
    assert own["status"].value_counts().to_dict() == {"match": 21, "differs": 15}
    for system, references in (("untransferred", "tokenised"), ("template", "raw")):
        row = rows.loc[f"pang2019.t6.{system}.bleu"]
        assert (row["status"], row["n"]) == ("match", 1000)
        assert row["signature"].endswith(f"|references:{references}")


@needs("pauli", "lai", "mir")
def test_the_numbers_of_pauli2025_and_lai2023_that_come_out_from_data():
    rows = with_data()
    rows = rows[~((rows["paper"] == "pauli2025") & rows["table"].isin(["7", "8"]))]
    assert (rows.loc[rows["paper"] == "pauli2025", "status"] == "match").sum() >= 69
    lai = rows[rows["paper"] == "lai2023"]
    sums = (lai["status"] == "match").groupby(lai["table"]).agg(["sum", "size"])
    assert sums["size"].tolist() == [117, 45, 27, 18, 117, 45, 27]
    assert sums["sum"].ge([116, 26, 24, 18, 115, 44, 25]).all()
    assert set(lai["status"]) <= {"match", "misprint", "differs"}
    assert set(lai.index[lai["status"] != "match"]) <= set(remarks())


@needs(*EVERYTHING)
@pytest.mark.skipif(not CHECK.is_file(), reason="the frozen files are not beside the checkout")
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # the program closes no file
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_no_frozen_cell_has_moved(monkeypatch):
    frozen = SourceFileLoader("frozen", str(CHECK)).load_module()
    text = console.to_csv(with_data().reset_index())  # what `tstmeta reproduce` prints
    monkeypatch.setattr(frozen, "run", lambda *words: list(csv.DictReader(io.StringIO(text))))
    moved = frozen.ledger(CHECK.parents[1] / "frozen", write=False, quick=True)
    with ACCEPTED.open(encoding="utf-8") as file:
        accepted = {(row["key"], row["column"]): row for row in csv.DictReader(file)}
    assert [row for row in moved if not frozen.meant(accepted, row)] == []


@needs(*EVERYTHING)
def test_every_remark_is_needed_and_every_difference_is_remarked_or_explained():
    rows = with_data()
    for key, (status, reason) in remarks().items():
        assert rows.loc[key, "status"] == status, key
        assert rows.loc[key, "reason"].startswith(reason), key
    off = rows[rows["status"].isin(["differs", "misprint"])]
    assert off["reason"].ne("the reason is not known").all()


def test_the_mean_rank_of_a_metric_is_that_of_scipy():
    table = pd.DataFrame(cells("pauli2025", "4"))
    table = table[(table["statistic"] == "pearson") & (table["dataset"] != "avg")]
    wide = table.pivot_table("value", "dataset", "metric")
    ranks = pd.DataFrame(rankdata(-wide, axis=1), wide.index, wide.columns)
    row = with_data().loc["pauli2025.t4.s-bleu.avg.mean-rank"]
    assert row["ours"] == pytest.approx(ranks["BLEU"].mean())


@needs("mir")
def test_the_tie_of_mir_is_broken_by_rounding_and_the_exact_value_is_given():
    row, kept = with_data().loc["pauli2025.t9.s-bleu.mir"], 41 / math.sqrt(66 * 65)
    assert row["ours"] == pytest.approx(40 / 66)
    assert row["reason"] == (
        "people rate ARAE_lambda_1 and CAAE_rho_0_1 exactly alike, but numpy.mean rounds their"
        " means 4e-16 apart, which breaks the tie;"
        f" with the tie kept the value is {kept:.3f}"
    )
    assert row["signature"].endswith("|kendall:system|data:mir|means:numpy")
