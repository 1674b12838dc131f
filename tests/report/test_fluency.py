"""Fluency against people, scales of perplexity, overall scores; chapters 6 and 8 in words."""

import math

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.test_html import Page
from tstmeta.data import load
from tstmeta.report import by_setting, hybrids_chapter
from tstmeta.report.bench import Bench
from tstmeta.report.fluency import Fluency, together
from tstmeta.report.hybrids import EQUAL, INSIDE, OUTSIDE, SINGLE, Compared


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("store"))


def test_without_ratings_of_fluency_nothing_is_compared(bench):
    part = Fluency(bench, "contrast", ["perplexity"])
    assert part.rated == []
    assert part.analyses() == []
    for shown in (part.scales(), part.overall()):
        assert isinstance(shown, Markdown)


@needs("alva")
def test_each_metric_of_fluency_stands_beside_the_sentinels(bench):
    [one] = Fluency(bench, "alva@asset", ["perplexity"], draws=20).analyses()
    rows = one.rows.set_index("metric")
    assert rows["better"]["perplexity"] == "lower"
    assert {"perplexity", "length-ratio", "random"} <= set(rows.index)


@needs("alva")
def test_a_logarithm_changes_pearson_and_not_the_order(bench):
    part = Fluency(bench, "alva@asset", ["perplexity"])
    page = Page(part.scales().text)
    data = load("alva@asset")
    human = data.means["fluency"].to_numpy()
    values = bench.scores("alva@asset", "perplexity", "none")["value"].to_numpy()
    ranks = pd.Series(-values).corr(pd.Series(human), method="spearman")
    shown = [text.replace("−", "-") for text in page.text]
    assert f"{ranks:.2f}" in shown
    assert f"{np.corrcoef(-np.log(values), human)[0, 1]:.2f}" in shown


def test_people_s_overall_is_the_geometric_mean_of_shares_of_the_scale():
    class Card:
        scale = {"style": (1.0, 5.0), "content": (0.0, 10.0)}  # noqa: RUF012

    class Data:
        card = Card()

    people = {"style": np.array([5.0, 1.0, 3.0]), "content": np.array([10.0, 10.0, 5.0])}
    assert together(Data(), people) == pytest.approx([1, 0, 0.5])


def test_a_printed_table_has_a_column_a_setting_and_every_value_once(bench):
    text = by_setting.printed(bench, "mukherjee2025", "3").text
    page = Page(text)
    assert "sentiment, en" in page.text
    assert "detoxification, hi" in page.text
    for value in ("Pearson's r, as printed, without n", "Perplexity (GPT-2)"):
        assert any(value in one for one in page.text)
    other = by_setting.printed(bench, "mukherjee2025", "3", "kendall").text
    assert other != text


# ------------------------------------------------------------------------------------- hybrids


def compared(name, more):
    """A comparison whose hybrid is better than the best single metric by ``more``."""
    rows = pd.DataFrame(
        [
            (SINGLE, INSIDE, 0.5, 0.1, 0.0, 0.2),
            (SINGLE, OUTSIDE, 0.4, math.nan, math.nan, math.nan),
            ("Hybrid-Learned", INSIDE, 0.6, 0.2, 0.1, 0.3),
            ("Hybrid-Learned", OUTSIDE, 0.45, more, more - 0.01, more + 0.01),
            (EQUAL, "nothing", 0.4, 0.0, -0.1, 0.1),
        ],
        columns=["name", "fitted", "value", "more", "more_low", "more_high"],
    )
    return Compared(name, "content", ("a", "b"), "", rows, [])


def test_the_sentences_count_where_a_hybrid_is_better_and_worse():
    said = hybrids_chapter.said([compared("one", 0.05), compared("two", -0.05)]).data
    assert "- Hybrid-Learned: better than the best single metric on 1 (`one`), worse on" in said
    assert "1 (`two`), of 2. Judged on its own ratings it looks better by up to 0.150." in said
    assert f"- {EQUAL}: better than the best single metric on 0, worse on 0, of 2." in said
    assert "No data set" in hybrids_chapter.said([]).data


def test_the_printed_weights_are_all_there_and_marked_as_published():
    page = Page(hybrids_chapter.printed_weights().text)
    assert [tag for tag, _ in page.tags].count("i") == 60 + 1


def test_noise_needs_ratings(bench):
    assert isinstance(hybrids_chapter.of_noise([bench.dataset("contrast")], "content"), Markdown)


@needs("alva")
def test_noise_that_was_fitted_and_judged_on_the_same_ratings_looks_good(bench):
    shown = hybrids_chapter.of_noise([bench.dataset("alva@asset")], "content", replicates=3)
    page = Page(shown.text)
    assert {"Hybrid-Simulation", "Hybrid-Learned"} <= set(page.text)
    assert EQUAL not in page.text


@needs("alva", "pauli")
def test_sets_are_those_whose_dimension_was_rated(bench):
    assert "pauli" not in {one.name for one in hybrids_chapter.sets(bench, "auto", "fluency")}
    assert [one.name for one in hybrids_chapter.sets(bench, "alva@asset", "style")] == [
        "alva@asset"
    ]
