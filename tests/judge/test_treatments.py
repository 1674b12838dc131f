"""Answers that are no rating: left out, filled in or taken for the worst; never in silence."""

import math

import numpy as np
import pandas as pd
import pytest

from tstmeta.judge.treatments import TREATMENTS, counted, treated
from tstmeta.schema import TstmetaError

NONE = math.nan


def rows(ratings, dimension="content", low=1.0, **same):
    """Rows of one judge; NaN is an answer without a rating."""
    about = {"server": "s", "model": "m", "revision": "", "prompt": "p", "prompt_hash": "h"}
    about |= {"dataset": "d", "asked_how": "a"}
    made = pd.DataFrame({"rating": ratings, "expected": [NONE] * len(ratings)})
    status = ["invalid" if math.isnan(one) else "ok" for one in ratings]
    return made.assign(dimension=dimension, low=low, status=status, **{**about, **same})


CASES = {
    "drop": ("drop", [4, NONE, 2], [4, NONE, 2], [False, False, False]),
    "mean": ("mean", [4, NONE, 2], [4, 3, 2], [False, True, False]),
    "worst": ("worst", [4, NONE, 2], [4, 1, 2], [False, True, False]),
    "mean of nothing": ("mean", [NONE, NONE], [NONE, NONE], [False, False]),
    "worst of nothing": ("worst", [NONE, NONE], [1, 1], [True, True]),
    "nothing is missing": ("mean", [4, 2], [4, 2], [False, False]),
    "no rows": ("mean", [], [], []),
}


@pytest.mark.parametrize(("how", "given", "wanted", "filled"), CASES.values(), ids=CASES)
def test_a_treatment_does_what_it_says(how, given, wanted, filled):
    before = rows(given)
    found = treated(before, how)
    np.testing.assert_array_equal(found["value"].to_numpy(float), wanted)
    assert found["filled"].tolist() == filled
    pd.testing.assert_frame_equal(before, rows(given))  # the rows themselves never change
    pd.testing.assert_series_equal(found["rating"], before["rating"])


@pytest.mark.parametrize(
    "other", ["dimension", "model", "prompt_hash", "server", "revision", "dataset", "asked_how"]
)
def test_the_mean_is_over_one_judge_and_dimension(other):
    both = pd.concat([rows([4, NONE]), rows([1, NONE], **{other: "style"})], ignore_index=True)
    assert treated(both, "mean")["value"].tolist() == [4, 4, 1, 1]


def test_the_worst_is_the_low_end_of_each_prompts_own_scale():
    both = pd.concat([rows([NONE], low=0.0), rows([NONE], low=1.0)], ignore_index=True)
    assert treated(both, "worst")["value"].tolist() == [0, 1]


def test_expected_ratings_are_treated_by_themselves():
    made = rows([5, 5, NONE]).assign(expected=[4.5, NONE, NONE])
    assert treated(made, "mean", "expected")["value"].tolist() == [4.5, 4.5, 4.5]


@pytest.mark.parametrize(("how", "value"), [("best", "rating"), ("mean", "status")])
def test_what_is_no_treatment_is_refused_with_those_that_there_are(how, value):
    with pytest.raises(TstmetaError, match=r"drop, mean, worst|rating or expected"):
        treated(rows([1]), how, value)


def test_every_treatment_is_put_into_words():
    assert list(TREATMENTS) == ["drop", "mean", "worst"]
    for how in TREATMENTS:
        treated(rows([1, NONE]), how)


def test_counts_of_statuses_add_up():
    made = pd.concat([rows([1, NONE, 2]), rows([NONE], dimension="style")], ignore_index=True)
    made.loc[1, "status"] = "refused"
    made.loc[2, "status"] = "truncated"
    found = counted(made).set_index("dimension")
    statuses = ["ok", "empty", "truncated", "refused", "invalid", "error"]
    assert (found[statuses].sum(axis=1) == found["rows"]).all()
    assert found.loc["content", ["rows", "rated", "ok", "refused", "truncated"]].tolist() == [
        *(3, 2, 1, 1, 1)
    ]
    assert found.loc["style", ["rows", "rated", "invalid"]].tolist() == [1, 0, 1]
