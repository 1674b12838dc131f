"""The printed hybrids against their rule, and against the best single metric in print."""

import pytest

from tests.report.test_html import check
from tstmeta.report import printed_hybrids as printed
from tstmeta.report.published import cells


@pytest.fixture(scope="module")
def choices():
    return printed.choices()


@pytest.fixture(scope="module")
def gains():
    return printed.gains()


def test_printed_choices_follow_their_rule_as_often_as_the_published_checks_say(choices):
    same = choices.groupby("hybrid")["same"].sum().to_dict()
    assert same == {"hybrid-simulation": 6, "hybrid-learned": 9}
    assert choices.groupby("hybrid").size().tolist() == [10, 10]
    odd = choices[~choices["same"]].set_index(["hybrid", "dimension", "task", "language"])
    hindi = odd.loc[("hybrid-learned", "content", "sentiment", "hi")]
    assert "BLEURT" in hindi["printed"]
    assert "TER" in hindi["rule"]


def test_a_metric_that_ties_with_the_last_one_may_stand_in_its_place(choices):
    row = choices.set_index(["hybrid", "dimension", "task", "language"]).loc[
        ("hybrid-simulation", "style", "sentiment", "en")
    ]
    assert row["same"]
    assert set(row["printed"].split(", ")) != set(row["rule"].split(", "))


def test_the_table_of_choices_shows_those_that_do_not_follow(choices):
    page = check(printed.choices_table(choices).text)
    assert "Hybrid-Simulation: 6 of 10 printed choices follow the rule" in page.text[0]
    assert [tag for tag, _ in page.tags].count("tr") == 1 + 5
    assert "Sentence Accuracy" not in " ".join(page.text)  # a tie, so that one follows


def test_a_gain_is_the_printed_hybrid_less_the_best_printed_metric(gains):
    assert len(gains) == 2 * 10
    own = [one for one in cells() if (one.paper, one.statistic) == ("mukherjee2025", "pearson")]
    for row in gains.itertuples():
        column = {
            one.metric: one.value
            for one in own
            if one.table == ("1" if row.dimension == "style" else "2")
            and (one.dataset, one.language) == (row.task, row.language)
        }
        others = ("GPT", "LLaMA", "Hybrid")
        single = [value for name, value in column.items() if not name.startswith(others)]
        assert len(single) == row.candidates
        assert row.single == max(single) == column[row.best]
        assert row.gain == pytest.approx(column[row.hybrid] - max(single))


def test_every_gain_stands_in_the_table_with_both_numbers(gains):
    text = check(printed.gains_table(gains).text).text
    row = gains[(gains["dimension"] == "content") & (gains["language"] == "bn")].iloc[0]
    assert {"BLEURT", "0.56", "0.57", "(+0.01)"} <= {one.strip() for one in text}
    assert row["gain"] == pytest.approx(0.01)
    said = printed.gains_said(gains).data
    assert f"{(gains['gain'] > 0).sum()} are above zero" in said
    assert "the lowest −0.29" in said
