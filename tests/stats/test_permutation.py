"""Permutation tests: what may not matter, what they find, and where there is nothing to find."""

import dataclasses
import itertools
import math

import numpy as np
import pytest

from tstmeta.stats import LEVELS, Setting, acc_eq
from tstmeta.stats import permutation as perm

from .test_swapping import NAN, every_units, rng, swapped_one_by_one

# --------------------------------------------------------------------------------- properties


@every_units
@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_no_order_matters(name, units):
    shape = (3, 3) if units == "both" else (5, 4)
    setting = Setting(name, "pooled")
    for seed in range(15):
        random = rng(seed)
        human, *metrics = random.integers(0, 4, (4, *shape)).astype(float)
        metrics = np.array(metrics)
        metrics[0, 0, 0] = NAN
        rows, columns, order = (random.permutation(size) for size in (*shape, 3))
        plain = perm.all_pairs(human, metrics, setting, units=units, rng=rng())
        at = np.ix_(rows, columns)
        shuffled = perm.all_pairs(
            human[at], metrics[order][:, *at], setting, units=units, rng=rng()
        )
        np.testing.assert_allclose(shuffled.p, plain.p[np.ix_(order, order)], atol=1e-12)
        np.testing.assert_array_equal(plain.p, plain.p.T)
        np.testing.assert_allclose(plain.difference, -plain.difference.T)


def many(shape=(12, 5), metrics=4, seed=1):
    random = rng(seed)
    human = random.integers(1, 6, shape).astype(float)
    return human, human + random.normal(size=(metrics, *shape)) * np.arange(1, metrics + 1)[
        :, None, None
    ]


def test_random_swaps_give_the_same_answer_there_and_back():
    human, metrics = many()
    for setting in (Setting(), Setting("kendall", "source"), Setting("pearson", "system")):
        there = perm.permutation_test(human, metrics[0], metrics[3], setting, n=200, rng=rng(7))
        back = perm.permutation_test(human, metrics[3], metrics[0], setting, n=200, rng=rng(7))
        assert (there.p, there.difference) == (back.p, pytest.approx(-back.difference))


def test_all_pairs_are_the_tests_of_two_with_the_same_swaps():
    human, metrics = many()
    metrics[1, 2:4, 0] = NAN
    setting = Setting("kendall", "source")
    tests = perm.all_pairs(human, metrics, setting, n=100, rng=rng(2), enumerate_up_to=1)
    for i, j in itertools.permutations(range(4), 2):
        alone = perm.permutation_test(
            human, metrics[i], metrics[j], setting, n=100, rng=rng(2), enumerate_up_to=1
        )
        of_table = tests.test(i, j)
        assert of_table.difference == pytest.approx(alone.difference)
        assert dataclasses.replace(of_table, difference=alone.difference) == alone
    assert np.isnan(np.diag(tests.p)).all()
    assert tests.reasons[1][1] == "the same metric"


def test_neither_shift_nor_scale_of_a_metric_matters_but_its_sign_does():
    human, metrics = many()
    for setting in (Setting(), Setting("kendall", "system"), Setting("spearman", "source")):
        plain = perm.permutation_test(human, *metrics[:2], setting, rng=rng())
        for factor, offset in ((1e-6, 3.0), (1e150, 0.0), (5.0, -100.0)):
            moved = perm.permutation_test(
                human, factor * metrics[0] + offset, metrics[1], setting, rng=rng()
            )
            assert moved.p == plain.p
    turned = perm.permutation_test(human, metrics[0], -metrics[0], Setting(), rng=rng())
    assert turned.difference > 1
    assert turned.p < 0.05  # equal but for the sign is not equal


@every_units
@pytest.mark.parametrize("level", LEVELS)
def test_neither_do_units_of_the_ratings_however_large(level, units):
    human, metrics = many((8, 4), 2)
    setting = Setting("pearson", level, tasks=[0, 0, 0, 0, 1, 1, 1, 1])
    plain = perm.permutation_test(human, *metrics, setting, units=units, n=30, rng=rng())
    for factor in (1e-200, 1e200):
        found = perm.permutation_test(
            factor * human, *metrics, setting, units=units, n=30, rng=rng()
        )
        assert found.p == plain.p


def test_a_larger_difference_is_not_less_significant():
    human, _ = many((30, 5))
    noise = rng(4).normal(size=(2, 30, 5))
    found = [
        perm.permutation_test(
            human, human + noise[0], human + spread * noise[1], Setting(), n=400, rng=rng(1)
        ).p
        for spread in (1.0, 1.5, 2.5, 6.0)
    ]
    assert found[0] > 0.1
    assert found == sorted(found, reverse=True)
    assert found[-1] == 1 / 401


def test_one_sided_tests_share_out_the_two_sided_one():
    human, metrics = many((8, 4), 2)
    p = {
        side: perm.permutation_test(human, *metrics, Setting(), rng=rng(), alternative=side).p
        for side in ("two-sided", "greater", "less")
    }
    assert p["greater"] + p["less"] >= 1
    assert p["two-sided"] == pytest.approx(2 * min(p["greater"], p["less"]))
    back = perm.permutation_test(human, *metrics[::-1], Setting(), rng=rng(), alternative="less")
    assert back.p == p["greater"]


def test_sources_of_a_cluster_are_swapped_together():
    human, metrics = many((6, 4), 2)
    labels = ["b", "a", "b", "c", "a", "c"]
    found = perm.permutation_test(human, *metrics, Setting(), rng=rng(), clusters=labels)
    assert (found.n, found.draws, found.smallest) == (3, 8, 0.25)
    assert "cluster" in found.null
    clusters = np.array([1, 0, 1, 2, 0, 2])
    flips = np.array(list(itertools.product([0, 1], repeat=3)))[:, clusters]
    difference, after = swapped_one_by_one(human, *metrics, Setting(), "inputs", flips)
    assert found.p == np.mean(np.abs(after) >= abs(difference) - 1e-9)
    cells = perm.permutation_test(
        human, *metrics, Setting(), units="both", rng=rng(), clusters=labels
    )
    assert (cells.n, cells.draws) == (12, 4096)


def test_what_a_cell_without_a_rating_or_a_score_says_does_not_matter():
    human, metrics = many((8, 4), 2)
    metrics[0, 2, 1] = human[3, 3] = NAN
    plain = perm.permutation_test(human, *metrics, Setting(), rng=rng())
    metrics[1, 2, 1], metrics[:, 3, 3] = 1e6, (-1e6, 77)
    assert perm.permutation_test(human, *metrics, Setting(), rng=rng()) == plain


# -------------------------------------------------------------------------------- degenerate

ONES, RAMP = np.ones((4, 3)), np.arange(12.0).reshape(4, 3) % 5
CURVE = (RAMP - 1) ** 2

#: human, first, second, setting, keywords; p, smallest, part of the reason
DEGENERATE = {
    "a constant first metric": ((RAMP, ONES, CURVE), Setting(), {}, NAN, "equal: the first metric"),
    "a constant second": ((RAMP, CURVE, ONES), Setting(), {}, NAN, "equal: the second metric"),
    "two constants": ((RAMP, ONES, 2 * ONES), Setting(), {}, NAN, "equal: both metrics"),
    "a constant that has a value": (
        (RAMP, ONES, CURVE),
        Setting("pairwise-accuracy"),
        {},
        NAN,
        "all scores are equal: the first metric",
    ),
    "the same metric twice": ((RAMP, CURVE, CURVE), Setting(), {}, 1, "the same in every cell"),
    "the same but for scale": ((RAMP, CURVE, 9 * CURVE - 7), Setting(), {}, 1, "the same in every"),
    "one source": ((RAMP[:1], CURVE[:1], -RAMP[:1]), Setting(), {}, 1, "a single unit"),
    "one system": (
        (RAMP[:, :1], CURVE[:, :1], -RAMP[:, :1]),
        Setting(),
        {"units": "systems"},
        1,
        "a single unit",
    ),
    "one system at its level": (
        (RAMP[:, :1], CURVE[:, :1], -RAMP[:, :1]),
        Setting("pearson", "system"),
        {},
        NAN,
        "no value in this setting: both metrics",
    ),
    "two cells": ((RAMP[:2, :1], CURVE[:2, :1], -RAMP[:2, :1]), Setting(), {}, NAN, "no value"),
    "equal ratings": ((ONES, CURVE, -RAMP), Setting(), {}, NAN, "no value in this setting: both"),
    "no rating": ((ONES * NAN, CURVE, -RAMP), Setting(), {}, NAN, "no cell has a human value"),
    "no score": ((RAMP, CURVE, ONES * NAN), Setting(), {}, NAN, "no cell has a human value"),
    "a threshold on the scores": ((RAMP, CURVE, -RAMP), Setting(acc_eq(0.5)), {}, NAN, "threshold"),
    "scores beyond the digits": (
        (RAMP, CURVE, np.exp(-90 * RAMP)),
        Setting("kendall"),
        {},
        NAN,
        "differ by too little",
    ),
}


@pytest.mark.parametrize(
    ("matrices", "setting", "keywords", "p", "reason"), DEGENERATE.values(), ids=DEGENERATE
)
def test_what_cannot_be_tested_says_why(matrices, setting, keywords, p, reason):
    found = perm.permutation_test(*matrices, setting, rng=rng(), **keywords)
    assert found.p == pytest.approx(p, nan_ok=True)
    assert reason in found.reason
    if p == 1:
        assert found.smallest == 1
    else:
        assert math.isnan(found.smallest)


def test_swaps_that_leave_a_metric_without_a_value_count_as_large():
    human = np.array([[1.0, 2, 3]])
    first, second = np.array([[0.0, 0, 1]]), np.array([[0.0, 1, 0]])
    found = perm.permutation_test(human, first, second, Setting(), units="systems", rng=rng())
    # swapping the second or the third system alone makes one metric constant
    assert found.undefined == 4
    assert found.p == 1


#: matrices, keywords, message
WRONG = {
    "shapes": ((RAMP, RAMP, RAMP[:2]), {}, "two matrices of one shape"),
    "people of another shape": ((RAMP[:2], RAMP, RAMP), {}, r"metrics \[metrics, sources"),
    "no source": ((RAMP[:0], RAMP[:0], RAMP[:0]), {}, "there is no cell"),
    "units": ((RAMP, RAMP, CURVE), {"units": "raters"}, "unknown unit 'raters'"),
    "alternative": ((RAMP, RAMP, CURVE), {"alternative": "more"}, "unknown alternative"),
    "no swap": ((RAMP, RAMP, CURVE), {"n": 0}, "at least one swap"),
    "clusters": ((RAMP, RAMP, CURVE), {"clusters": [1, 2]}, r"needed is \(4,\)"),
    "clusters of systems": (
        (RAMP, RAMP, CURVE),
        {"units": "systems", "clusters": [1, 1, 2, 2]},
        "clusters are of sources",
    ),
}


@pytest.mark.parametrize(("matrices", "keywords", "message"), WRONG.values(), ids=WRONG)
def test_what_makes_no_sense_is_refused(matrices, keywords, message):
    with pytest.raises(ValueError, match=message):
        perm.permutation_test(*matrices, Setting(), rng=rng(), **keywords)


@every_units
def test_the_null_hypothesis_is_named(units):
    human, metrics = many((6, 3), 2)
    found = perm.permutation_test(human, *metrics, Setting(), units=units, n=20, rng=rng())
    assert "exchangeability" in found.null
    assert {"inputs": "source", "systems": "system", "both": "cell"}[units] in found.null


# -------------------------------------------------------------------------------- simulation


@every_units
def test_under_the_null_p_is_uniform(units):
    """Two metrics that are people plus noise of one kind; whole sources and systems differ too."""
    random, found = rng(11), []
    for _ in range(400):
        human = random.normal(size=(12, 8)) + random.normal(size=(12, 1))
        noise = random.normal(size=(2, 12, 8))
        if units == "inputs":
            noise += random.normal(size=(2, 12, 1))
        if units == "systems":
            noise += random.normal(size=(2, 1, 8))
        found.append(
            perm.permutation_test(
                human, *(human + noise), Setting(), units=units, n=99, rng=random, enumerate_up_to=2
            ).p
        )
    for level in (0.05, 0.2, 0.5, 0.8):
        share = np.mean(np.array(found) <= level)
        assert abs(share - level) < 3.3 * math.sqrt(level * (1 - level) / 400)


@every_units
@pytest.mark.parametrize("level", ["pooled", "source", "system"])
def test_a_planted_difference_is_found(units, level):
    random = rng(12)
    human = random.normal(size=(40, 9)) + random.normal(size=9)
    good = human + 0.3 * random.normal(size=human.shape)
    poor = random.normal(size=human.shape) + random.normal(size=9)
    found = perm.permutation_test(
        human, good, poor, Setting("pearson", level), units=units, rng=rng()
    )
    assert found.difference > 0.2
    assert found.p < 0.05
