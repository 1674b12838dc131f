"""Analyses of judges on planted data: what was planted is found, and nothing else."""

import math

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.judged import ROWS, rows_of, study
from tests.report.test_html import check
from tests.report.tiny import HOSTILE
from tstmeta.judge.treatments import treated
from tstmeta.report import (
    judge_bias,
    judge_consistency,
    judge_missing,
    judge_raters,
    judge_ratings,
    judge_rows,
)
from tstmeta.report.bench import Bench
from tstmeta.report.choices import Asked
from tstmeta.schema import TstmetaError
from tstmeta.stats import alpha, pearson

DATA = study(per_place=4.0)
RELEASED = judge_ratings.released_with(DATA)
OWN = judge_ratings.given(rows_of(DATA), [DATA])
ALL = [*RELEASED, *OWN]


def words(shown) -> str:
    """What is read on a page."""
    return shown.data if isinstance(shown, Markdown) else " ".join(check(shown.text).text)


# ------------------------------------------------------------------------------- consistency


def test_copies_are_counted_with_an_interval_and_people_beside():
    rows = judge_consistency.same_text(ALL, draws=200)
    first = rows.iloc[0]
    assert (first["pairs"], first["people"], first["of"]) == (40, 0, 40)
    ratings = RELEASED[0].ratings.to_numpy().reshape(-1, 4)
    assert first["different"] == (ratings[:, 0] != ratings[:, 3]).sum()
    assert first["low"] <= first["share"] <= first["high"]
    shown = words(judge_consistency.same_text_table(rows))
    assert "0 of 40" in shown
    assert f"{first['share']:.1%}" in shown
    assert "40 pairs of outputs are the same text" in words(judge_consistency.same_text_said(rows))
    axes = judge_consistency.gaps_picture(ALL).figure.axes
    assert sum(axis.get_visible() for axis in axes) == 3


def test_without_copies_nothing_is_drawn():
    other = judge_ratings.released_with(study(copies=False))
    rows = judge_consistency.same_text(other, draws=50)
    assert not rows["pairs"].any()
    assert "No two outputs" in words(judge_consistency.same_text_table(rows))
    assert words(judge_consistency.gaps_picture(other)) == ""


def test_noise_stands_beside_the_other_prompt_people_and_raters():
    rows = judge_consistency.noise(ALL).set_index("prompt")
    one, other = (judge.ratings.to_numpy() for judge in RELEASED)
    alone = rows.loc["asked for it alone"]
    assert alone["prompts"] == pytest.approx(np.corrcoef(one, other)[0, 1])
    assert alone["alpha"] == pytest.approx(alpha(np.stack([one, other], 1), "interval").value)
    assert alone["people"] == pytest.approx(np.corrcoef(one, DATA.means["content"])[0, 1])
    raters = DATA.raters("content").to_numpy()
    assert alone["raters"] == pytest.approx(np.corrcoef(raters.T)[0, 1])
    gaps = np.diff(one.reshape(-1, 4)[:, [0, 3]])
    assert alone["noise"] == pytest.approx(math.sqrt((gaps**2).mean() / 2))
    assert rows.loc["mine@abc", "other"] == ""
    assert "two raters, r" in words(judge_consistency.noise_table(rows.reset_index()))


def test_what_is_said_of_noise_follows_the_numbers():
    rows = pd.DataFrame({"copies": [0.9, 0.2, np.nan], "prompts": [0.5, 0.6, 0.7]})
    said = words(judge_consistency.noise_said(rows))
    assert "is 0.20 to 0.90, the correlation of two prompts 0.50 to 0.60" in said
    assert "larger in 1 of 2 rows" in said
    assert words(judge_consistency.noise_said(rows.tail(1))) == ""


def test_the_treatment_that_looks_best_is_counted():
    rows = pd.DataFrame(
        {
            "gaps": ["a", "a", "b", "b"],
            "share": 0.2,
            "treatment": ["drop", "mean"] * 2,
            "value": [0.5, 0.4, 0.3, 0.6],
            "whole": 0.5,
            "n": 9,
        }
    )
    said = words(judge_missing.said(rows))
    assert "highest with *drop* in 1 of 2 kinds, *mean* in 1 of 2 kinds" in said


def test_repeated_answers_have_an_alpha_and_released_ones_do_not():
    rows = judge_consistency.asked_again(ALL)
    assert rows["judge"].tolist() == ["small"]
    wide = OWN[0].rows.pivot_table(index="item_id", columns="sample", values="rating")
    found = alpha(wide.to_numpy(float), "interval").value
    assert rows["alpha"].iloc[0] == pytest.approx(found)
    assert rows["of_mean"].iloc[0] == pytest.approx(2 * found / (1 + found))
    assert "2.5%" in words(judge_consistency.asked_again_table(rows))
    none = judge_consistency.asked_again(RELEASED)
    assert "was asked twice" in words(judge_consistency.asked_again_table(none))


# -------------------------------------------------------------------------- length and place


def test_a_judge_that_counts_words_is_told_apart_from_one_that_does_not():
    rows = judge_bias.length(ALL, draws=200)
    found = rows[rows["measure"] == "words"].set_index("prompt")
    assert found.loc["asked for all at once", "low"] > 0.4
    assert found.loc["asked for it alone", "low"] < 0 < found.loc["asked for it alone", "high"]
    assert abs(found.loc["asked for all at once", "rater"]) < 0.2
    said = words(judge_bias.length_said(rows))
    assert "all at once" in said
    assert "judge's, people fixed" in words(judge_bias.length_table(rows))


def test_the_partial_correlation_with_length_is_that_of_the_formula():
    rows = judge_bias.length(RELEASED[1:], draws=10)
    size = DATA.items["output"].str.split().str.len().to_numpy(float)
    judged, people = RELEASED[1].ratings.to_numpy(), DATA.means["content"].to_numpy()
    (_, ab, ac), (_, _, bc), _ = np.corrcoef([size, judged, people])
    expected = (ab - ac * bc) / math.sqrt((1 - ac**2) * (1 - bc**2))
    assert rows["value"].iloc[0] == pytest.approx(expected)


def test_a_drift_along_the_file_shows_in_copies_though_systems_never_change_places():
    rows = judge_bias.places(ALL).set_index("prompt")
    alone, at_once = rows.loc["asked for it alone"], rows.loc["asked for all at once"]
    assert alone["slope"] == pytest.approx(4.0, abs=1.0)
    assert (alone["p"], alone["compared"]) == (1 / 2000, "copies")
    assert alone["higher"] > 30 > alone["lower"]
    assert at_once["p"] > 0.05
    own = rows.loc["mine@abc"]
    assert (own["compared"], own["order"]) == ("all outputs", "as asked")
    assert own["n"] == OWN[0].rows["rating"].notna().sum()
    said = words(judge_bias.places_said(rows.reset_index()))
    assert "p is below .05 in 1 of 1" in said
    assert "0.0005" in words(judge_bias.places_table(rows.reset_index()))


def test_where_a_judge_was_not_shuffled_its_copies_are_compared_in_the_order_asked():
    rows = rows_of(DATA, samples=1)
    rows["place"] = np.tile([4, 3, 2, 1], 40)
    rows["rating"] = 5.0 - rows["place"]  # the later the worse
    found = judge_bias.places(judge_ratings.given(rows, [DATA])).iloc[0]
    assert (found["compared"], found["order"]) == ("copies", "as asked")
    assert found["slope"] == pytest.approx(-1.0)
    assert (found["higher"], found["lower"]) == (0, 40)


# ------------------------------------------------------------------------------- missing


def test_gaps_at_random_cost_what_each_treatment_costs():
    rows = judge_missing.made(RELEASED[0], shares=(0.01, 0.3), times=10)
    whole = pearson(DATA.means["content"].to_numpy(), RELEASED[0].ratings.to_numpy()).value
    assert rows["whole"].unique() == [pytest.approx(whole)]
    found = rows[rows["share"] == 0.3].pivot_table(
        index="gaps", columns="treatment", values="value"
    )
    assert abs(found.loc[judge_missing.AT_RANDOM, "drop"] - whole) < 0.05
    assert found.loc[judge_missing.AT_RANDOM, "mean"] < whole - 0.05
    assert (found["worst"] < found["mean"]).all()
    # silence where it is wrong flatters a judge whose silence is dropped
    assert found.loc[judge_missing.FAR, "drop"] > whole
    few = rows[rows["share"] == 0.01]
    assert (few["high"] - few["low"] < 0.2).all()
    assert len(judge_missing.picture(rows).figure.axes) == 4
    assert "With 30% gaps" in words(judge_missing.said(rows))


def test_drawn_gaps_are_treated_as_one_by_one():
    case = judge_missing._case(RELEASED[0])
    drawn = np.array([[0, 5, 9], [1, 2, 3]])
    found = judge_missing._treated(case, drawn)
    for how, values in found.items():
        for gone, value in zip(drawn, values, strict=True):
            rating = case.rows["rating"].to_numpy(float).copy()
            rating[gone] = np.nan
            rows = treated(case.rows.assign(rating=rating), how)
            assert value == pytest.approx(pearson(case.human, rows["value"].to_numpy(float)).value)


def test_real_gaps_are_counted_and_treated():
    text = words(judge_missing.own_gaps(OWN))
    assert f"{2 * ROWS}" in text
    assert f"{OWN[0].rows['rating'].notna().sum()}" in text
    assert "None of the ratings" in words(judge_missing.own_gaps(RELEASED))
    assert judge_missing.of_first(OWN).empty  # it has gaps of its own
    assert not judge_missing.of_first(ALL).empty


# --------------------------------------------------------------------------- raters' places


def test_a_slot_of_a_survey_is_a_person_where_slots_changed_hands():
    people = judge_raters.persons(DATA, "content")
    assert people.persons
    assert people.raters == [f"r{slot} of survey {n}" for n in range(4) for slot in (1, 2)]
    each = np.isfinite(people.ratings).sum(axis=(0, 1))
    assert each.tolist() == [40] * 8
    assert (np.isfinite(people.ratings).sum(axis=2) == 2).all()


def test_a_judge_is_tested_as_it_speaks_and_mapped_with_metrics_beside():
    rows = judge_raters.in_all(ALL, beside=1)
    assert rows["name"].tolist() == [
        "flat line",
        *np.repeat([one.name for one in ALL], 2),
        "bleurt",
    ]
    assert rows["tested"].unique().tolist() == [8]
    text = words(judge_raters.table(rows))
    assert "as it speaks" in text
    assert "8" in text
    assert "`lai`, content" in words(judge_raters.said(rows))


def test_a_copy_of_one_rater_ties_with_that_rater_and_wins_as_it_speaks():
    people = DATA.raters("content")
    rows = rows_of(DATA, samples=1).assign(rating=people["r1"].to_numpy(), low=1.0, high=100.0)
    found = judge_raters.in_all(judge_ratings.given(rows, [DATA]), beside=0)
    spoken = found[found["scale"] == judge_raters.AS_IT_SPEAKS].iloc[0]
    # all ties with r1; against r2 it is the other rater itself, and always nearer
    assert spoken["rho"] == pytest.approx(1.0)
    assert spoken["ties"] == pytest.approx(0.5)
    assert spoken["omega"] == 1.0


def test_a_scale_with_other_ends_is_stretched_to_peoples():
    values = np.array([1.0, 3.0, 5.0])
    found = judge_raters._on_peoples_scale(OWN[0], values)
    assert found.tolist() == [1.0, 50.5, 100.0]
    near = judge_raters._on_peoples_scale(RELEASED[0], np.array([0.0, 90.0]))
    assert near.tolist() == [0.0, 90.0]


def test_without_single_ratings_it_says_so():
    data = study("means")
    alone = data.ratings[data.ratings["rater"] == "r1"].assign(rater="mean")
    data = type(data)(**{**data.__dict__, "ratings": alone})
    rows = judge_raters.in_all(judge_ratings.released_with(data))
    assert rows["verdict"].tolist() == ["not identifiable"]
    assert "only means of ratings were released" in words(judge_raters.said(rows))
    assert "only means of ratings were released" in words(judge_raters.table(rows))


def test_two_data_sets_at_once_are_refused():
    other = judge_ratings.released_with(study("lai@other"))
    with pytest.raises(TstmetaError, match="one dimension of one data set at a time"):
        judge_raters.as_rater([*RELEASED, *other])


def test_without_judges_each_part_says_so():
    empty = pd.DataFrame()
    for shown in (
        judge_consistency.same_text_table(empty),
        judge_consistency.noise_table(empty),
        judge_bias.length_table(judge_bias.length([])),
        judge_bias.places_table(judge_bias.places([])),
        judge_missing.own_gaps([]),
    ):
        assert "No ratings by a judge are here" in words(shown)
    assert "No single ratings" in words(judge_raters.table(judge_raters.in_all([])))
    for silent in (
        judge_consistency.same_text_said(empty),
        judge_bias.length_said(judge_bias.length([])),
        judge_bias.places_said(judge_bias.places([])),
        judge_missing.picture(judge_missing.of_first([])),
        judge_missing.said(judge_missing.of_first([])),
    ):
        assert words(silent) == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_stays_a_name(text):
    judged = judge_ratings.given(rows_of(DATA, model=text, prompt=text), [DATA])
    check(judge_consistency.same_text_table(judge_consistency.same_text(judged, 20)).text)
    check(judge_raters.table(judge_raters.in_all(judged)).text)
    assert "<script" not in words(judge_bias.places_said(judge_bias.places(judged)))
    assert "<script" not in words(judge_raters.said(judge_raters.in_all(judged)))


# ------------------------------------------------------------------ a row in other chapters


def test_the_judge_stands_beside_the_best_metric_in_the_same_draws(tmp_path):
    found = judge_rows.beside(
        Bench(tmp_path), [DATA], ["chrf", "edit-similarity", "length-ratio"], Asked(draws=100)
    )
    [one] = found
    assert one.names[0] in ("chrf (best metric)", "edit-similarity (best metric)")
    assert one.names[1:] == [judge.name for judge in RELEASED]
    assert one.usual == [0, 0, 0]
    assert one.gaps[1][0] == pytest.approx(one.estimates[1] - one.estimates[0])
    assert "best metric" in words(judge_rows.table(found))


def test_a_set_without_a_judge_has_no_row(tmp_path):
    data = study("other")
    data = type(data)(**{**data.__dict__, "scores": data.scores.iloc[:0]})
    assert judge_rows.beside(Bench(tmp_path), [data], ["chrf"]) == []
    assert "No judge's ratings" in words(judge_rows.table([]))


# --------------------------------------------------------------------------- the real ratings


@needs("lai")
def test_the_released_ratings_of_copies_are_what_a_plain_count_says():
    judged = judge_ratings.released(Bench())
    assert len(judged) == 6
    rows = judge_consistency.same_text(judged, draws=50)
    for one, row in zip(judged, rows.to_dict("records"), strict=True):
        table = one.data.items.assign(rating=one.ratings.to_numpy())
        both = table.merge(table, on=["source_id", "output"], suffixes=("", "_b"))
        both = both[both["item_id"] < both["item_id_b"]]
        assert row["pairs"] == len(both)
        assert row["different"] == (both["rating"] != both["rating_b"]).sum()
    # the page of the chapter rests on these
    assert rows["different"].tolist() == [13, 14, 19, 3, 63, 62]
    assert rows["pairs"].unique().tolist() == [302]


@needs("lai")
def test_alone_the_later_of_two_copies_is_rated_higher_and_at_once_it_is_not():
    rows = judge_bias.places(judge_ratings.released(Bench())).groupby("prompt")[["higher", "lower"]]
    found = rows.sum()
    assert found.loc["asked for it alone"].tolist() == [40, 6]
    assert found.loc["asked for all at once"].tolist() == [63, 65]
