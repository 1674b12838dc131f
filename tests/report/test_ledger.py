"""The ledger: nothing left out, only known statuses, and the numbers that must come out."""

import itertools
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.report.test_published import cell
from tstmeta.data import paths
from tstmeta.report import ledger as ledgers
from tstmeta.report.bench import Bench
from tstmeta.report.cells import pang2019
from tstmeta.report.ledger import COLUMNS, PAPERS, Answer, Needs, counts, ledger
from tstmeta.report.published import cells, remarks
from tstmeta.schema import TstmetaError

pytestmark = pytest.mark.xdist_group("ledger")  # it is computed once
EVERYTHING = ("pauli", "lai", "mir", "li2018", "dualrl", "ziegen")


@cache
def with_data() -> pd.DataFrame:
    """The whole ledger from what is on this machine, made once."""
    return ledger().set_index("cell")


@pytest.fixture
def nothing(tmp_path, monkeypatch):
    """A machine without raw data."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    return Bench(tmp_path / "store")


# ---------------------------------------------------------------------------- nothing left out


def is_complete(rows: pd.DataFrame) -> None:
    """Every cell once, in order, with the columns asked for and a known status."""
    assert tuple(rows.columns) == COLUMNS
    assert ",".join(COLUMNS) == "cell,paper,table,printed,ours,n,signature,status,reason"
    expected = [(one.cell, one.paper, one.table, one.printed) for one in cells()]
    given = rows[["cell", "paper", "table", "printed"]].itertuples(index=False, name=None)
    assert list(given) == expected
    kind = rows["status"].str.partition(" ")[0]
    assert set(kind) <= {"match", "differs", "misprint", "printed-only", "needs"}
    needed = rows[kind == "needs"]
    assert needed["status"].str.len().gt(len("needs ")).all()
    assert needed["ours"].isna().all()
    assert needed["n"].eq(0).all()
    assert needed["signature"].eq("").all()
    computed = rows[kind != "needs"]
    assert np.isfinite(computed["ours"]).all()
    assert computed["n"].gt(0).all()
    assert computed["signature"].ne("").all()
    assert computed.loc[kind.isin(["differs", "misprint"]), "reason"].ne("").all()


def test_with_what_is_here_every_cell_has_a_row():
    is_complete(with_data().reset_index())


def test_without_data_every_cell_still_has_a_status(nothing):
    rows = ledger(bench=nothing)
    is_complete(rows)
    table = counts(rows).set_index("paper")
    assert table.loc["all", ["match", "differs"]].tolist() == [0, 0]
    assert table.loc["all", "needs"] > 1900
    missing = rows[rows["status"].str.endswith(" data")]
    assert set(missing["status"]) >= {"needs pauli data", "needs lai data", "needs mir data"}
    assert missing["reason"].str.startswith("tstmeta data fetch ").all()


def test_what_follows_from_printed_numbers_needs_no_data(request):
    here = with_data()  # before the machine has no data: it is made once
    without = ledger(bench=request.getfixturevalue("nothing")).set_index("cell")
    assert (without["status"] == "printed-only").sum() > 100
    same = without.index[without["status"] == "printed-only"]
    pd.testing.assert_frame_equal(without.loc[same], here.loc[same])
    assert set(here.index[here["status"] == "printed-only"]) == set(same)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_part_of_the_ledger_is_that_part(paper, nothing):
    whole = ledger(bench=nothing)
    own = whole[whole["paper"] == paper]
    pd.testing.assert_frame_equal(ledger(paper, bench=nothing), own.reset_index(drop=True))
    table = own["table"].iloc[-1]
    part = own[own["table"] == table].reset_index(drop=True)
    pd.testing.assert_frame_equal(ledger(paper, table, nothing), part)


def test_a_table_of_all_papers_can_be_asked_for(nothing):
    assert set(ledger(table="5", bench=nothing)["paper"]) == {
        *("pauli2025", "mukherjee2025", "pang2019")
    }


@pytest.mark.parametrize(
    ("paper", "table", "known"),
    [("nobody", None, "pauli2025"), ("lai2023", "7", "lai2023 4"), (None, "77", "pauli2025 fig1")],
)
def test_what_is_not_printed_is_refused_with_what_is(paper, table, known):
    with pytest.raises(TstmetaError, match="nothing is printed under paper") as raised:
        ledger(paper, table)
    assert known in str(raised.value)


# ------------------------------------------------------------------------------------- counts


def test_counts_are_by_paper_and_status_and_add_up(nothing):
    rows = ledger(bench=nothing)
    table = counts(rows)
    assert list(table.columns) == [
        *("paper", "match", "printed-only", "differs", "misprint", "needs", "cells")
    ]
    assert table["paper"].tolist() == [*PAPERS, "all"]
    assert table["cells"].tolist() == [*rows.groupby("paper").size()[list(PAPERS)], 2100]
    assert table.iloc[:, 1:-1].sum(axis=1).tolist() == table["cells"].tolist()


def test_all_that_is_needed_counts_as_needs():
    status = ["needs a", "needs b c", "match", "needs a"]
    table = counts(pd.DataFrame({"paper": "lai2023", "status": status}))
    assert table["needs"].tolist() == [3, 3]
    assert table["match"].tolist() == [1, 1]


# ------------------------------------------------------------------------------- the judgement

NAN = math.nan
#: printed, answer, status, part of the reason
JUDGED = {
    "equal": ("0.50", Answer(0.5049, 9, "s"), "match", ""),
    "equal by half up": ("0.51", Answer(0.505, 9, "s"), "match", ""),
    "equal with a reason": ("0.50", Answer(0.5, 9, "s", "raw"), "match", "raw"),
    "not equal": ("0.50", Answer(0.51, 9, "s"), "differs", "the reason is not known"),
    "the sign counts": ("0.50", Answer(-0.5, 9, "s"), "differs", ""),
    "not equal, a reason": ("0.50", Answer(0.51, 9, "s", "ties"), "differs", "ties"),
    "no value": ("0.50", Answer(NAN, 9, "s"), "differs", "no value can be computed"),
    "no value, a reason": ("0.50", Answer(NAN, 2, "s", "few"), "differs", "few"),
    "rounded twice": ("0.27", Answer(0.2649526, 9, "s", via=3), "match", "0.265, then 0.27"),
    "not even rounded twice": ("0.27", Answer(0.2644, 9, "s", via=3), "differs", "not known"),
    "recomputed, equal": ("0.41", Answer(0.412, 3, "s", "", 0.40, 0.42), "printed-only", ""),
    "within the rounding": (
        "0.45",
        Answer(0.4567, 3, "s", "", 0.452, 0.461),
        "printed-only",
        "equal within the rounding",
    ),
    "just within": ("0.45", Answer(0.46, 3, "s", "", 0.455, 0.465), "printed-only", "within"),
    "outside of the rounding": (
        "0.43",
        Answer(0.41, 3, "s", "", 0.405, 0.415),
        "misprint",
        "does not follow from the other printed numbers",
    ),
}


@pytest.mark.parametrize(("printed", "answer", "status", "reason"), JUDGED.values(), ids=JUDGED)
def test_a_status_follows_from_the_printed_and_our_number(printed, answer, status, reason):
    found, why = ledgers._judge(cell(printed, cell="x.y"), answer)
    assert found == status
    assert reason in why
    assert (why == "") == (reason == "" and status in ("match", "printed-only"))


def test_a_remark_counts_only_where_the_numbers_differ(monkeypatch):
    monkeypatch.setattr(ledgers, "remarks", lambda: {"x.y": ("misprint", "a digit is missing")})
    one = cell("0.50", cell="x.y")
    assert ledgers._judge(one, Answer(0.51, 9, "s")) == ("misprint", "a digit is missing")
    both = ledgers._judge(one, Answer(0.51, 9, "s", "raw"))
    assert both == ("misprint", "a digit is missing; raw")
    assert ledgers._judge(one, Answer(0.5, 9, "s")) == ("match", "")
    recomputed = Answer(0.4, 9, "s", "", 0.4, 0.4)
    assert ledgers._judge(one, recomputed) == ("misprint", "a digit is missing")


def test_what_is_needed_is_the_status():
    row = ledgers._row(cell("0.50", cell="x.y", note="from the text"), Needs("a model"))
    assert math.isnan(row[4])
    assert row[5:] == (0, "", "needs a model", "from the text")


# -------------------------------------------------------------------- numbers that must come out

PAULI = {
    "t1": "style-content.lai style-fluency.lai fluency-content.lai style-content.mir",
    "t2": " ".join(
        f"{item}.constructed-{task}"
        for item, task in itertools.product(
            ("alpha", "style-ge3-percent"),
            ("sentiment", "detoxify", "catchy", "polite", "persuasive", "formal"),
        )
    )
    + " alpha.constructed-all",
    "t3": "s-bleu.mir s-bleu.lai r-bleu.lai s-meteor.mir s-meteor.lai",
    "t4": "s-bleu.lai",
    "t5": "s-bleu.constructed-all s-bleu.constructed-sentiment s-bleu.constructed-detoxify"
    " s-bleu.constructed-catchy s-bleu.constructed-polite s-bleu.constructed-persuasive"
    " s-bleu.constructed-formal r-bleu.constructed-sentiment r-bleu.constructed-detoxify"
    " r-meteor.constructed-sentiment r-meteor.constructed-detoxify s-meteor.constructed-sentiment"
    " s-meteor.constructed-detoxify s-meteor.constructed-catchy s-meteor.constructed-polite",
    "t9": "s-bleu.mir s-bleu.mir.pvalue s-bleu.lai s-bleu.lai.pvalue"
    " s-meteor.mir s-meteor.mir.pvalue s-meteor.lai s-meteor.lai.pvalue",
}
MUST_MATCH = [f"pauli2025.{table}.{key}" for table, keys in PAULI.items() for key in keys.split()]
METEOR = [key for key in MUST_MATCH if "-meteor." in key]


def with_wordnet() -> bool:
    from tstmeta.metrics import get

    return "synonyms:none" not in str(get("meteor").signature("source"))


@needs("pauli", "lai", "mir")
@pytest.mark.parametrize("key", [key for key in MUST_MATCH if key not in METEOR])
def test_this_number_of_pauli2025_comes_out(key):
    row = with_data().loc[key]
    assert row["status"] == "match", row["ours"]


@needs("pauli", "lai", "mir")
@pytest.mark.parametrize("key", METEOR)
def test_this_meteor_of_pauli2025_comes_out(key):
    if not with_wordnet():
        pytest.skip("METEOR without WordNet has no synonyms and other values")
    row = with_data().loc[key]
    assert row["status"] == "match", row["ours"]


#: what the issue asks for, as printed in the paper
PRINTED = {
    "pauli2025.t5.s-bleu.constructed-all": -0.17,
    "pauli2025.t5.s-bleu.constructed-sentiment": -0.82,
    "pauli2025.t5.s-bleu.constructed-detoxify": -0.45,
    "pauli2025.t5.s-bleu.constructed-catchy": -0.12,
    "pauli2025.t5.s-bleu.constructed-polite": -0.10,
    "pauli2025.t5.s-bleu.constructed-persuasive": -0.05,
    "pauli2025.t5.s-bleu.constructed-formal": -0.21,
    "pauli2025.t5.r-bleu.constructed-sentiment": -0.50,
    "pauli2025.t5.r-bleu.constructed-detoxify": -0.45,
    "pauli2025.t5.r-meteor.constructed-sentiment": -0.17,
    "pauli2025.t5.r-meteor.constructed-detoxify": -0.39,
    "pauli2025.t1.style-content.lai": 0.387,
    "pauli2025.t1.style-fluency.lai": 0.692,
    "pauli2025.t1.fluency-content.lai": 0.705,
    "pauli2025.t1.style-content.mir": -0.342,
    "pauli2025.t3.s-bleu.mir": 0.50,
    "pauli2025.t3.s-bleu.lai": 0.47,
    "pauli2025.t3.r-bleu.lai": 0.27,
    "pauli2025.t3.s-meteor.mir": 0.49,
    "pauli2025.t3.s-meteor.lai": 0.48,
    "pauli2025.t4.s-bleu.lai": 0.40,
    "pauli2025.t9.s-bleu.mir": 0.61,
    "pauli2025.t9.s-bleu.lai": 0.36,
    "pauli2025.t9.s-meteor.mir": 0.52,
    "pauli2025.t9.s-meteor.lai": 0.50,
    "pang2019.t6.untransferred.bleu": 31.4,
    "pang2019.t6.template.bleu": 18.0,
    "pang2019.t6.delete-retrieve.bleu": 12.6,
}


def test_the_cells_that_must_match_are_those_that_are_meant():
    values = {one.cell: one.value for one in cells()}
    assert {key: values[key] for key in PRINTED} == PRINTED
    assert set(MUST_MATCH) <= set(values)
    assert len(MUST_MATCH) == 4 + 13 + 5 + 1 + 15 + 8


@needs("li2018", "dualrl")
@pytest.mark.parametrize(
    ("system", "preparation"),
    [("untransferred", "tokenised"), ("template", "raw"), ("delete-retrieve", "raw")],
)
def test_bleu_of_pang2019_comes_out_and_names_the_preparation_of_references(system, preparation):
    row = with_data().loc[f"pang2019.t6.{system}.bleu"]
    assert row["status"] == "match"
    assert row["signature"].endswith(f"|references:{preparation}")
    assert row["reason"].startswith(f"{preparation} references; ")
    assert row["n"] == 1000


@needs("lai")
@pytest.mark.parametrize(
    ("table", "least", "of"), [("1", 116, 117), ("2", 26, 45), ("3", 24, 27), ("4", 18, 18)]
)
def test_a_table_of_lai2023_comes_out(table, least, of):
    rows = with_data()
    own = rows[(rows["paper"] == "lai2023") & (rows["table"] == table)]
    assert len(own) == of
    assert (own["status"] == "match").sum() >= least
    assert set(own["status"]) <= {"match", "misprint", "differs"}
    assert set(own.index[own["status"] != "match"]) <= set(remarks())


def test_all_mean_ranks_follow_from_printed_cells():
    rows = with_data()
    ranks = rows[rows.index.str.endswith(".mean-rank")]
    assert len(ranks) == 27
    assert set(ranks["status"]) == {"printed-only"}


@needs(*EVERYTHING)
def test_every_remark_is_needed_and_every_difference_is_remarked_or_explained():
    rows = with_data()
    for key, (status, reason) in remarks().items():
        assert rows.loc[key, "status"] == status, key
        assert rows.loc[key, "reason"].startswith(reason), key
    off = rows[rows["status"].isin(["differs", "misprint"])]
    assert off["reason"].ne("the reason is not known").all()


# ------------------------------------------------------------------------- recomputed by hand


def test_the_mean_rank_of_one_metric_by_hand():
    table = [one for one in cells() if (one.paper, one.table) == ("pauli2025", "4")]
    source = [one for one in table if one.basis == "source" and one.statistic == "pearson"]
    columns = sorted({one.dataset for one in source} - {"avg"})
    assert len(columns) == 3
    places = []
    for column in columns:
        values = {one.metric: one.value for one in source if one.dataset == column}
        own = values["BLEU"]
        better, same = sum(v > own for v in values.values()), sum(v == own for v in values.values())
        places.append(better + (same + 1) / 2)
    row = with_data().loc["pauli2025.t4.s-bleu.avg.mean-rank"]
    assert row["ours"] == pytest.approx(sum(places) / 3)


@pytest.mark.parametrize(
    ("acc", "sim", "pp", "value"),
    [
        (0.63, 0.9, 40, 0),  # at the threshold of Acc
        (0.5, 0.9, 40, 0),
        (0.9, 0.71, 40, 0),
        (0.9, 0.9, 97, 0),
        (0.9, 0.9, 200, 0),
        (0.9, 0.9, -37, 0),
        (0.9, 0.9, 30, (27 * 19 * 67) ** (1 / 3)),  # the lower end of the two sides
        (0.9, 0.9, 20, (27 * 19 * 57) ** (1 / 3)),
        (1, 1, 30, (37 * 29 * 67) ** (1 / 3)),
    ],
)
def test_gm_of_pang2019_is_never_negative(acc, sim, pp, value):
    assert pang2019.gm(acc, sim, pp) == pytest.approx(value)


def test_the_ledger_is_the_same_twice(nothing):
    pd.testing.assert_frame_equal(ledger(bench=nothing), ledger(bench=nothing))
