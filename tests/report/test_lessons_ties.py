"""Lesson 2: what a tie is worth, in every statistic, and what rounding and fitting do."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import NAN, constructed, rated
from tstmeta.data import paths
from tstmeta.report.bench import Bench
from tstmeta.report.lessons import thresholds, ties
from tstmeta.stats import Plan, Setting, correlate, tie_calibrated


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny`` and ``built`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "built": constructed()}
    return made


def case(human, metric, level="source"):
    human = np.asarray(human, dtype=float)
    return ties.Case("made", human, np.asarray(metric, dtype=float), level, Plan("sources", 50))


# ----------------------------------------------------------------------------- five answers


def credited(x, y, kind):
    """Accuracy by counting pairs one at a time."""
    points, counted = 0.0, 0
    for i, j in itertools.combinations(range(len(x)), 2):
        people, metric = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
        if kind != ties.SHARED and people == 0:
            continue
        counted += 1
        if people == metric:
            points += 1
        elif metric == 0 and kind == ties.HALF:
            points += 0.5
    return points / counted if counted else NAN


@pytest.mark.parametrize("seed", range(200))
def test_accuracies_equal_a_count_of_pairs(seed):
    made = np.random.default_rng(seed)
    x, y = made.integers(0, 4, (2, 1, int(made.integers(2, 9)))).astype(float)
    if seed % 3 == 0:
        y[0, 0] = NAN
    both = np.isfinite(x + y)
    for name, statistic, _ in ties.STATISTICS[2:]:
        found = correlate(x, y, Setting(statistic)).value
        assert found == pytest.approx(credited(x[both], y[both], name), nan_ok=True), name


def test_a_handful_of_rewrites_shows_what_each_statistic_punishes():
    rows = ties.handful().set_index("metric")
    perfect = rows.loc["people", ["tau-b", ties.WRONG, ties.HALF, ties.SHARED]]
    assert perfect.tolist() == pytest.approx([1] * 4)
    broken = rows.loc["breaks the ties"]
    assert broken[ties.WRONG] == broken[ties.HALF] == 1
    assert broken["tau-b"] < 1
    assert broken[ties.SHARED] < 1
    two = rows.loc["two grades"]
    assert two["tau-c"] >= rows.loc["people", "tau-c"]
    assert two[ties.WRONG] < two[ties.HALF]
    alike = rows.loc["all alike"]
    assert math.isnan(alike["tau-b"])
    assert (alike[ties.WRONG], alike[ties.HALF]) == (0, 0.5)
    assert rows.loc["turned round", "tau-b"] == pytest.approx(-1)
    text = check(ties.table(ties.handful()).text).text
    assert "−1.00" in text
    assert "1 2 2.5 3 3.5 4 5" in text


def test_values_leave_out_sources_that_people_tie_but_for_shared_ties():
    human = [[1, 2, 3], [2, 2, 2]]
    found = ties.values(case(human, [[1, 2, 3], [1, 2, 3]]), np.array([[1.0, 2, 3], [1, 2, 3]]))
    assert found["tau-b"] == found["tau-c"] == found[ties.WRONG] == found[ties.HALF] == 1
    assert found[ties.SHARED] == 0.5
    missing = case([[1, 2, 3], [NAN, NAN, NAN]], [[1, 2, 3], [1, 2, 3]])
    assert ties.values(missing, missing.metric)["tau-b"] == 1


def test_a_source_in_which_the_metric_ties_everything_is_no_agreement():
    metric = np.array([[1.0, 2, 3], [5, 5, 5]])
    found = ties.values(case([[1, 2, 3], [1, 2, 3]], metric), metric)
    assert found["tau-b"] == found["tau-c"] == found[ties.WRONG] == 0.5
    assert found[ties.HALF] == 0.75


# -------------------------------------------------------------------------------- rounding


@pytest.mark.parametrize("grades", [2, 3, 5, 10])
def test_grades_are_equally_full_and_keep_the_order(grades):
    scores = np.random.default_rng(0).normal(size=(40, 10))
    scores[0, 0] = NAN
    cut = ties.cut(scores, grades)
    assert math.isnan(cut[0, 0])
    given = np.isfinite(scores)
    counts = np.bincount(cut[given].astype(int))
    assert len(counts) == grades
    assert counts.min() > 0.9 * counts.max() - 1
    order = np.argsort(scores[given])
    assert (np.diff(cut[given][order]) >= 0).all()


def test_no_grades_at_all_leave_the_scores_whole_and_nothing_is_cut_from_nothing():
    scores = np.array([[0.3, 0.1], [NAN, 0.2]])
    assert ties.cut(scores, 0) is scores
    assert np.isnan(ties.cut(np.full((2, 2), NAN), 3)).all()
    assert (ties.cut(np.ones((2, 2)), 3) == ties.cut(np.ones((2, 2)), 3)[0, 0]).all()


@pytest.fixture(scope="module")
def rows():
    return ties.along([ties.world(seed=3)])


def test_in_the_simulated_world_the_curves_go_where_the_page_says(rows):
    found = rows.pivot_table(index="grades", columns="statistic", values="value")
    whole = found.loc[0]
    assert (found[ties.WRONG].drop(0) < whole[ties.WRONG]).all()
    assert found[ties.WRONG].drop(0).is_monotonic_increasing
    assert (found[ties.HALF].drop(0) <= whole[ties.HALF] + 0.001).all()
    assert found.loc[5, "tau-b"] > whole["tau-b"] + 0.01
    assert found.loc[2, "tau-c"] > whole["tau-c"]
    assert found.loc[5, ties.SHARED] < whole[ties.SHARED]


def test_where_people_tie_half_of_all_pairs_a_shared_tie_is_worth_rounding_for():
    world = ties.world(grades=2, seed=3)
    whole, cut = (ties.values(world, ties.cut(world.metric, g))[ties.SHARED] for g in (0, 2))
    assert cut > whole + 0.1


def test_tau_of_grades_is_that_of_scipy():
    world = ties.world(sources=20, systems=6)
    cut = ties.cut(world.metric, 3)
    pairs = [(a, b) for a, b in zip(world.human, cut, strict=True) if len(set(a)) > 1]
    each = [kendalltau(a, b).statistic if len(set(b)) > 1 else 0.0 for a, b in pairs]
    assert ties.values(world, cut)["tau-b"] == pytest.approx(np.mean(each))


def test_games_are_differences_of_the_values_and_coins_help_only_where_ties_are_wrong():
    world = ties.world(sources=100, seed=5)
    found = ties.games(world).set_index("statistic")
    expected = ties.values(world, ties.cut(world.metric, 5))
    for name, row in found.iterrows():
        assert row["rounded"] == pytest.approx(expected[name])
        assert row["rounding"] == pytest.approx(row["rounded"] - row["whole"])
        assert row["flipping"] == pytest.approx(row["coins"] - row["rounded"])
        for game in ties.GAMES:
            assert row[f"{game} low"] <= row[game] <= row[f"{game} high"]
    assert found.loc[ties.WRONG, "flipping low"] > 0
    assert found.loc[ties.HALF, "flipping"] == pytest.approx(0, abs=0.01)
    assert found.loc["tau-b", "flipping high"] < 0


def test_what_is_said_of_the_games_names_those_whose_interval_is_above_zero():
    world = ties.world()
    said = ties.games_said([world]).data
    assert said.startswith("- On `simulated`, rounding raises *tau-b*; flipping raises *")
    nothing = case([[1], [2], [3]], [[1], [1], [1]], "pooled")
    assert "raises nothing for certain" in ties.games_said([nothing]).data
    shown = check(ties.games_table(ties.games(nothing)).text).text
    assert "–" in shown


def test_people_who_tie_everything_leave_only_shared_ties_with_a_value():
    found = ties.games(case([[2, 2], [3, 3]], [[1, 1], [1, 2]])).set_index("statistic")
    assert found.loc[ties.SHARED, "whole"] == 0.5
    assert found.drop(ties.SHARED)["whole"].isna().all()
    assert "–" in check(ties.games_table(found.reset_index()).text).text


def test_tasks_keep_their_size_when_sources_are_left_out():
    plan = Plan("sources", 10, strata=np.array(list("aab")))
    human = np.array([[1.0, 2], [2, 2], [1, 2]])
    strange = ties.Case("made", human, human, "source", plan)
    assert ties.games(strange, 2).set_index("statistic").loc["tau-b", "whole"] == 1


def test_the_picture_has_a_column_a_data_set_and_is_the_same_each_time(rows):
    both = pd.concat([rows, rows.assign(data="again")])
    figure = ties.picture(both).figure
    assert len(figure.axes) == 4
    assert ties.picture(rows)._repr_png_() == ties.picture(rows)._repr_png_()


# ---------------------------------------------------------------------------- how many ties


def test_shares_of_ties_are_counted_over_pairs_of_a_source(bench):
    row = ties.shares(bench, [bench.dataset("tiny")], "length-ratio").iloc[0]
    # ratings: 2 5 3.5 | 4 2 1; words over words of the source: 2/3 1 1 | 2/3 1/3 1/3
    assert (row["pairs"], row["values"]) == (6, 5)
    assert row["people"] == 0
    assert row["metric"] == pytest.approx(2 / 6)
    assert row["same text"] == 0
    assert math.isnan(row["people there"])
    assert row["apart"] == pytest.approx((3 + 1.5 + 1.5 + 2 + 3 + 1) / 6)
    assert "the same text twice" in ties.shares_said(pd.DataFrame([row])).data


def test_two_copies_of_a_text_tell_how_far_people_agree_with_themselves(bench):
    outputs = ["he ran", "he ran", "she ran home", "we ate", "we ate", "no"]
    bench._datasets["copies"] = rated("copies", outputs)
    rows = ties.shares(bench, [bench.dataset("copies")])
    row = rows.iloc[0]
    assert row["same text"] == pytest.approx(2 / 6)
    assert (row["people there"], row["apart there"]) == (0, 2.5)
    said = ties.shares_said(rows).data
    assert said.startswith("On `copies`, people tie 0% of the pairs of the same text.")
    assert "2.50 points apart" in said
    assert "people tie the same text" in check(ties.shares_table(rows).text).text


def test_without_data_the_lesson_takes_the_contrast_set(bench):
    bench._datasets["contrast"] = constructed("contrast")
    assert [data.name for data in ties.chosen(bench)] == ["contrast"]
    assert [data.name for data in ties.chosen(bench, "tiny")] == ["tiny"]
    (found,) = ties.cases(bench, [bench.dataset("built")])
    assert (found.name, found.level, found.human.shape) == ("built", "source", (2, 4))


# -------------------------------------------------------------------------------- thresholds


def test_the_case_with_most_ties_is_chosen():
    few, many = case([[1, 2, 3]], [[1, 2, 3]]), case([[1, 1, 3]], [[1, 2, 3]])
    assert thresholds.most_tied([few, many]) is many
    alone = case([[1], [1], [2]], [[1], [2], [3]], "pooled")
    assert thresholds.most_tied([few, alone]) is alone
    empty = case([[NAN, NAN]], [[1, 2]])
    assert thresholds.most_tied([empty]) is empty


def test_thresholds_of_a_case_are_those_of_the_statistic():
    world = ties.world(sources=40, systems=5, grades=3)
    (row,) = thresholds.thresholds(SimpleNamespace(), world, ["m"], seed=7).to_dict("records")
    found = tie_calibrated(world.human, world.metric, rng=np.random.default_rng(7))
    assert row["held out"] == found.value
    assert row["same data"] == found.in_sample >= row["untuned"] == found.untuned
    assert row["highest"] - row["lowest"] == pytest.approx(found.spread)
    check(thresholds.thresholds_table(pd.DataFrame([row])).text)


def test_fitting_promises_more_than_it_keeps_and_most_with_few_sources():
    world = ties.world(sources=120, systems=6, grades=3, seed=2)
    rows = thresholds.flattery(world, (10, 40), times=20, seed=1)
    assert rows["sources"].tolist() == [10, 40, 120]
    flattered = rows["same data"] - rows["held out"]
    assert (flattered > 0).all()
    assert flattered.iloc[0] > 2 * flattered.iloc[2]
    said = thresholds.flattery_said(rows, "made").data
    assert "with 10 sources the fitted threshold promises +0." in said
    assert thresholds.picture(rows, "m")._repr_png_()


def test_too_few_sources_to_hold_any_out_are_told():
    rows = thresholds.flattery(case([[1, 2, 2]], [[1, 2, 3]]), times=2)
    assert rows["sources"].tolist() == [1]
    assert "too small to hold sources out" in thresholds.flattery_said(rows, "made").data
    assert thresholds.picture(rows, "m")._repr_png_()


@needs("mir", "li2018")
def test_on_real_ratings_rounding_raises_tau_b():
    bench = Bench()
    for found in ties.cases(bench, ties.chosen(bench)):
        whole, cut = (ties.values(found, ties.cut(found.metric, g)) for g in (0, 5))
        assert cut["tau-b"] > whole["tau-b"] + 0.01
        assert cut[ties.WRONG] < whole[ties.WRONG] - 0.05
        assert cut[ties.HALF] < whole[ties.HALF]
