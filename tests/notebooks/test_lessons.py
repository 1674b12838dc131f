"""What lessons 1, 2, 3 and 8 say of their worlds holds, and holds when they change."""

import numpy as np
import pandas as pd
import pytest

from tests.notebooks.cells import run

pytestmark = pytest.mark.usefixtures("bare")
WRONG, HALF, SHARED = "a tie is wrong", "a tie is half right", "a shared tie is right"


def headline(name: str, **given) -> pd.DataFrame:
    return run(name, "setup", "headline", **given)["headline"]


def test_pooled_all_three_metrics_are_equally_good_and_each_level_rewards_another():
    table = headline("lesson_1_levels", sources=400, systems=40).loc["simulated"]
    assert table["pooled"].to_numpy() == pytest.approx(1 / np.sqrt(6), abs=0.05)
    assert table["source"].idxmin() == "knows the source"
    assert table["within-system"].idxmin() == "knows the system"
    assert table["system"].idxmax() == "knows the system"
    assert table.loc["knows the system", "system"] > 0.98


def test_in_the_simulated_world_the_curves_go_where_the_page_says():
    table = headline("lesson_2_ties", dataset="contrast").loc["simulated"]
    whole, five = table["whole"], table["5 grades"]
    assert five["tau-b"] > whole["tau-b"]
    assert table.loc[WRONG].is_monotonic_increasing
    assert (table.loc[HALF] <= whole[HALF]).all()
    assert table.loc["tau-c", "2 grades"] > whole["tau-c"]
    assert five[SHARED] < whole[SHARED]


def test_where_people_tie_half_of_all_pairs_a_shared_tie_is_worth_rounding_for():
    table = headline("lesson_2_ties", dataset="contrast", grades=2).loc["simulated"]
    assert table.loc[SHARED].idxmax() == "2 grades"


def test_the_naive_way_raises_more_false_alarms_the_more_a_source_weighs():
    table = headline("lesson_3_too_small_p", replicates=200)
    assert table["naive"].iloc[-1] > 0.25
    assert table["naive"].iloc[0] < 0.12
    assert table["clustered"].between(0.01, 0.1).all()


def test_one_rewrite_a_source_leaves_both_ways_fair():
    table = headline("lesson_3_too_small_p", rewrites=1, sources=80, replicates=200)
    assert ((table > 0.01) & (table < 0.11)).all(axis=None)


@pytest.fixture(scope="module")
def hybrids():
    return run("lesson_8_in_sample", "setup", dataset="contrast")


def test_metrics_of_a_world_agree_and_resemble_each_other_as_asked_for(hybrids):
    _, people, known = hybrids["world"](3)
    assert np.corrcoef(people, known)[0, 1:] == pytest.approx(0.4, abs=0.05)
    assert np.corrcoef(known)[np.triu_indices(3, 1)] == pytest.approx(0.7, abs=0.05)


def test_the_more_noise_there_is_to_choose_from_the_more_a_hybrid_flatters_itself(hybrids):
    pool = hybrids["pools"]["noise only"]
    rows = [
        pd.DataFrame([hybrids["study"](pool, number, 20, seed) for seed in range(12)])
        for number in (3, 24)
    ]
    few, many = (table.mean() for table in rows)
    assert many["its own ratings"] > few["its own ratings"] + 0.1
    assert abs(many["new sources"]) < 0.05
    assert abs(many["nested folds"]) < 0.15
