"""Partial correlations from pairs: corrected where single ratings are, else with the reason."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tstmeta as tst
from tests.analysis.many import rated, scored
from tests.analysis.tiny import constructed, scores
from tstmeta.analysis.frame import pairs
from tstmeta.data import Dataset

DATA = rated()
SCORES = scored(DATA, good=0.4, poor=4.0)
PAIRS = pairs(DATA, SCORES)


def test_single_ratings_correct_it_and_sources_are_resampled():
    own = tst.partial(PAIRS.iloc[::-1], data=[DATA], draws=200).set_index("metric").loc["good"]
    good = PAIRS[PAIRS["metric"] == "good"].set_index("item_id")
    raters = [DATA.raters(name).loc[good.index] for name in ("content", "style")]
    sides = [*(table.mean(axis=1) for table in raters), good["score"]]
    covariance = pd.concat(sides, axis=1).cov().to_numpy(copy=True)
    for (i, a), (j, b) in itertools.product(enumerate(raters), repeat=2):
        two = itertools.permutations(a, 2)
        covariance[i, j] = np.mean([a[one].cov(b[other]) for one, other in two])
    inverse = np.linalg.inv(covariance)
    expected = -inverse[0, 2] / np.sqrt(inverse[0, 0] * inverse[2, 2])
    assert own["corrected"] == pytest.approx(expected)
    assert own["corrected_low"] < expected < own["corrected_high"]
    assert own["low"] < own["partial"] < own["high"]
    # style is content turned round here, so that many draws are such as no variables could have
    assert own["undefined"] > 0.05
    assert f"{200 * own['undefined']:.0f} of 200 draws have no value and count" in own["note"]
    plain = tst.partial(PAIRS, data=DATA).set_index("metric").loc["good"]
    for column in ("partial", "corrected"):
        assert plain[column] == pytest.approx(own[column])
    assert plain[["low", "corrected_low"]].isna().all()


def test_units_are_the_sources_that_a_metric_has_and_both_intervals_say_so():
    few = PAIRS["source_id"].isin(["s0", "s1", "s2", "s12", "s13", "s14"])  # of two tasks
    rows = tst.partial(PAIRS[few | (PAIRS["metric"] == "poor")], data=DATA, draws=50)
    notes = rows.set_index("metric")["note"]
    assert notes["good"].count("; 5 units: over fewer than 8 it can cover less") == 2
    assert "units" not in notes["poor"]


@pytest.mark.parametrize(
    ("how", "what"), [({"draws": -1}, "-1 draws"), ({"given": "system"}, "system is not")]
)
def test_what_cannot_be_held_fixed_or_drawn_is_refused(how, what):
    with pytest.raises(tst.TstmetaError, match=what):
        tst.partial(PAIRS, **how)


def test_a_crowd_of_raters_keeps_its_levels_and_the_note_says_so():
    ratings = DATA.ratings.copy()
    source = ratings["item_id"].map(DATA.items.set_index("item_id")["source_id"])
    ratings["rater"] = ratings["rater"].astype(str) + source.astype(str)
    crowd = Dataset.of("many", DATA.items, DATA.card, ratings=ratings)
    notes = tst.partial(pairs(crowd, SCORES), data=crowd)["note"]
    assert notes.str.startswith("raters rated too little to take off their levels").all()
    assert not tst.partial(PAIRS, data=DATA)["note"].str.contains("levels").any()


def not_corrected():
    means, built = rated(raters=False), constructed()
    yield pairs(means, scored(means, good=0.4)), {"data": means}
    yield pairs(built, scores(built, range(8))), {"data": built}
    yield PAIRS, {"data": DATA, "statistic": "spearman"}
    yield PAIRS, {}


def test_what_is_not_corrected_says_why():
    for frame, how in not_corrected():
        rows = tst.partial(frame, **how)
        assert rows["corrected"].isna().all()
        assert rows["note"].str.contains("neither means nor labels tell how much noise").all()


def test_slots_are_said_and_a_lone_rater_too():
    rows = tst.partial(PAIRS.assign(dataset="lai@x"), data=replace(DATA, name="lai@x"))
    assert rows["note"].str.endswith("taken for one person in all dimensions of an item").all()
    assert rows["corrected"].notna().all()
    first = DATA.ratings[DATA.ratings["rater"] == "r1"]
    alone = Dataset.of("many", DATA.items, ratings=first)
    rows = tst.partial(pairs(alone, SCORES), data=alone)
    assert rows["note"].str.startswith("no rewrites with two raters").all()
    assert rows["corrected"].isna().all()
