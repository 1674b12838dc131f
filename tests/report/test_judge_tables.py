"""Printed tables about judges, and what asking costs."""

import re

import numpy as np
import pytest
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.judged import rows_of, study
from tests.report.test_html import check
from tests.report.tiny import rated
from tstmeta.data import paths
from tstmeta.judge.prompts import load
from tstmeta.report import judge_cost, judge_missing, judge_ratings, judge_tables
from tstmeta.report.bench import Bench
from tstmeta.report.choices import Asked
from tstmeta.report.published import cells
from tstmeta.stats import pearson

DATA = study()


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    return Bench(tmp_path / "store")


def words(shown) -> str:
    """What is read on a page."""
    return shown.data if isinstance(shown, Markdown) else " ".join(check(shown.text).text)


@needs("lai")
def test_all_eighteen_cells_of_table_four_match_and_have_an_interval():
    bench = Bench()
    limits = judge_tables.limits_four(bench, draws=50)
    page = judge_tables.table_four(bench, limits)
    page_words = check(page.text)
    assert page.text.count("tst-match") == 18
    assert len(re.findall(r"<small>\[[^]]+\]</small>", page.text)) == 18
    assert " ".join(page_words.text).count("✓") == 19  # and one in the legend
    assert words(judge_tables.table_four_said(bench)).startswith("18 of 18")


def test_without_data_table_four_stands_as_published(bench):
    text = judge_tables.table_four(bench, judge_tables.limits_four(bench)).text
    assert text.count("tst-needs") == 18
    assert "<small>" not in text
    assert "needs lai data" in words(judge_tables.table_four_said(bench))


def test_overlaps_of_intervals_are_counted_by_hand():
    limits = {
        ("content", "single", "system"): (0.0, 2.0),
        ("content", "multiple", "system"): (1.0, 3.0),
        ("style", "single", "system"): (0.0, 1.0),
        ("style", "multiple", "system"): (2.0, 3.0),
    }
    assert "overlap in 1 of 2 pairs" in words(judge_tables.overlap_said(limits))
    assert words(judge_tables.overlap_said({})) == ""


def test_both_methods_stand_with_four_wordings_and_unpublished_words_say_so(bench):
    page = judge_tables.wordings(bench)
    text = words(page)
    assert text.count("needs wording") == 9  # three of four rows, three methods
    for method in ("judge (Llama 3)", "likelihood, 3B", "likelihood, 8B"):
        assert text.count(method) == 4
    printed = [
        cell.printed
        for cell in cells()
        if cell.paper == "pauli2025" and cell.table in ("10", "11") and cell.statistic == "pearson"
    ]
    assert sorted(re.findall(r"<i>([^<]*)</i> *</span>", page.text)) == sorted(printed)


def test_spans_are_those_of_the_printed_values():
    rows = judge_tables.spans().set_index(["method", "data"])
    assert rows.loc[("judge (Llama 3)", "ziegen"), "span"] == pytest.approx(0.62 - 0.43)
    assert rows.loc[("judge (Llama 3)", "mir"), "span"] == pytest.approx(0.36 - 0.17)
    said = words(judge_tables.spans_said())
    assert "0.19" in said
    assert "On 5 of 6 data sets" in said


def test_prompts_are_held_against_the_first_of_their_judge():
    judged = judge_ratings.released_with(DATA)
    judged += judge_ratings.given(rows_of(DATA), [DATA])
    judged += judge_ratings.given(rows_of(DATA, seed=5, prompt="other"), [DATA])
    [found] = judge_tables.by_prompt(judged, Asked(draws=50))
    assert found.usual == [0, 0, 2, 2]
    human = DATA.means["content"].to_numpy()
    for one, value in zip(judged, found.estimates, strict=True):
        assert value == pytest.approx(pearson(human, one.ratings.to_numpy()).value)
    assert judge_tables.by_prompt(judged[:1], Asked(draws=50)) == []
    assert words(judge_tables.none_here(judged)) == ""
    assert "No ratings by a judge" in words(judge_tables.none_here([]))


def test_unparsed_answers_stand_as_published_with_what_they_could_move(bench):
    judged = judge_ratings.released_with(DATA)
    text = words(judge_missing.printed(bench, judged, times=5))
    assert "2928" in text
    assert "0.44%" in text
    assert "r moves by at most" in text
    assert "r moves by at most" not in words(judge_missing.printed(bench, []))
    assert "(Pauli et al., 2025)" in words(judge_missing.treatments())


# ---------------------------------------------------------------------------------- cost


def test_requests_are_counted_by_unit():
    rows = judge_cost.cost(DATA).set_index("prompt")
    assert rows.loc["pauli2025", ["requests", "ratings"]].tolist() == [160, 320]
    assert rows.loc["lai2023-content", ["requests", "ratings"]].tolist() == [40, 160]
    assert rows.loc["lai2023-all", ["requests", "ratings"]].tolist() == [40, 480]
    # every two of four outputs in both orders
    assert rows.loc["pair", ["requests", "ratings"]].tolist() == [40 * 12, 40 * 12]
    assert rows.loc["pauli2025", "answers"] == 160 * load("pauli2025").sampling.max_tokens
    assert (rows["each"] == rows["tokens"] / rows["ratings"]).all()


def test_samples_multiply_and_fewer_sources_cost_less():
    once = judge_cost.cost(DATA, ["lai2023-all"]).iloc[0]
    thrice = judge_cost.cost(DATA, ["lai2023-all"], samples=3).iloc[0]
    some = judge_cost.cost(DATA, ["lai2023-all"], sources=4).iloc[0]
    assert thrice["requests"] == 3 * once["requests"]
    assert some["requests"] == 4
    assert np.isclose(thrice["tokens"], 3 * once["tokens"], atol=3)


def test_money_is_said_only_with_a_price():
    rows = judge_cost.cost(DATA, ["lai2023-all"])
    assert "money" not in words(judge_cost.table(rows))
    assert f"{rows['tokens'].iloc[0] * 1000 / 1e6:,.2f}" in words(judge_cost.table(rows, 1000.0))


def test_a_prompt_that_cannot_be_asked_says_why():
    data = rated()
    data = data.where(data.items["system"] == "A", "alone")
    rows = judge_cost.cost(data, ["pair", "pauli2025"])
    assert "compares two rewrites" in rows["note"].iloc[0]
    assert rows["requests"].isna().tolist() == [True, False]
    assert "–" in words(judge_cost.table(rows))
