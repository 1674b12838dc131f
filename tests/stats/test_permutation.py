"""Permutation tests: what may not matter, what they find, and where there is nothing to find."""

import itertools
import math

import numpy as np
import pytest

from tstmeta.stats import Setting, acc_eq, permutation_test

from .oracles import rng
from .test_swapping import NAN, swapped_by_hand


def many(shape=(12, 5)):
    random = rng(1)
    human = random.integers(1, 6, shape).astype(float)
    return human, human + random.normal(size=(2, *shape)) * [[[1]], [[2]]]


def test_neither_shift_nor_scale_of_a_metric_matters_but_its_sign_does():
    human, metrics = many()
    for setting in (Setting(), Setting("kendall", "system"), Setting("spearman", "source")):
        plain = permutation_test(human, *metrics, setting, rng=rng())
        for factor, offset in ((1e-6, 3.0), (1e100, 0.0), (5.0, -100.0)):
            moved = permutation_test(
                human, factor * metrics[0] + offset, metrics[1], setting, rng=rng()
            )
            assert moved.p == plain.p
    turned = permutation_test(human, metrics[0], -metrics[0], Setting(), rng=rng())
    assert turned.difference > 1
    assert turned.p < 0.05  # equal but for the sign is not equal


def test_sources_of_a_cluster_are_swapped_together():
    human, metrics = many((6, 4))
    labels = ["b", "a", "b", "c", "a", "c"]
    result = permutation_test(human, *metrics, Setting(), rng=rng(), clusters=labels)
    assert (result.n, result.draws, result.smallest) == (3, 8, 0.25)
    assert "cluster" in result.null
    clusters = np.array([1, 0, 1, 2, 0, 2])
    flips = np.array(list(itertools.product([0, 1], repeat=3)))[:, clusters]
    difference, after = swapped_by_hand(human, *metrics, Setting(), "inputs", flips)
    assert result.p == np.mean(np.abs(after) >= abs(difference) - 1e-9)
    cells = permutation_test(human, *metrics, Setting(), units="both", rng=rng(), clusters=labels)
    assert (cells.n, cells.draws) == (12, 4096)
    for units, wrong, those in (("systems", labels, "4 systems"), ("inputs", labels[:5], "6 sou")):
        with pytest.raises(ValueError, match=f"clusters are labels of the {those}"):
            permutation_test(human, *metrics, Setting(), units=units, rng=rng(), clusters=wrong)
    how = {"units": "systems", "clusters": ["A", "B", "A", "B"]}
    twice = permutation_test(human, *metrics, Setting(), rng=rng(), **how)
    assert (twice.n, twice.draws) == (2, 4)


ONES, RAMP = np.ones((4, 3)), np.arange(12.0).reshape(4, 3) % 5
CURVE = (RAMP - 1) ** 2

COLUMN = (RAMP[:, :1], CURVE[:, :1], -RAMP[:, :1])
R = Setting()
#: human, first, second, setting, keywords; p, part of the reason
DEGENERATE = {
    "a constant first metric": ((RAMP, ONES, CURVE), R, {}, NAN, "scores of one metric are"),
    "a constant second": ((RAMP, CURVE, ONES), R, {}, NAN, "scores of one metric are equal"),
    "two constants": ((RAMP, ONES, 2 * ONES), R, {}, NAN, "scores of both metrics are"),
    "a constant that has a value": (
        *((RAMP, ONES, CURVE), Setting("pairwise-accuracy"), {}, NAN),
        "all scores of one metric are equal",
    ),
    "the same metric twice": ((RAMP, CURVE, CURVE), R, {}, 1, "the same in every cell"),
    "the same but for scale": ((RAMP, CURVE, 9 * CURVE - 7), R, {}, 1, "the same in every"),
    "nothing": ((RAMP[:0], CURVE[:0], RAMP[:0]), R, {}, NAN, "no cell has a human value"),
    "one source": ((RAMP[:1], CURVE[:1], -RAMP[:1]), R, {}, 1, "a single unit"),
    "one system": (COLUMN, R, {"units": "systems"}, 1, "a single unit"),
    "one system at its level": (COLUMN, Setting("pearson", "system"), {}, NAN, "no value in this"),
    "two cells": (tuple(side[:2] for side in COLUMN), R, {}, NAN, "no value"),
    "equal ratings": ((ONES, CURVE, -RAMP), R, {}, NAN, "no value in this setting: both"),
    "no rating": ((ONES * NAN, CURVE, -RAMP), R, {}, NAN, "no cell has a human value"),
    "a threshold on the scores": ((RAMP, CURVE, -RAMP), Setting(acc_eq(0.5)), {}, NAN, "threshold"),
    "scores beyond the digits": (
        *((RAMP, CURVE, np.exp(-90 * RAMP)), Setting("kendall"), {}, NAN),
        "differ by too little",
    ),
}


@pytest.mark.parametrize(
    ("matrices", "setting", "keywords", "p", "reason"), DEGENERATE.values(), ids=DEGENERATE
)
def test_what_cannot_be_tested_says_why(matrices, setting, keywords, p, reason):
    result = permutation_test(*matrices, setting, rng=rng(), **keywords)
    assert result.p == pytest.approx(p, nan_ok=True)
    assert reason in result.reason
    if p == 1:
        assert result.smallest == 1
    else:
        assert math.isnan(result.smallest)


def test_swaps_that_leave_a_metric_without_a_value_count_as_large():
    human = np.array([[1.0, 2, 3]])
    first, second = np.array([[0.0, 0, 1]]), np.array([[0.0, 1, 0]])
    result = permutation_test(human, first, second, Setting(), units="systems", rng=rng())
    # swapping the second or the third system alone makes one metric constant
    assert result.p == 1


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="are needed, got"):
        permutation_test(RAMP[:2], RAMP, RAMP, Setting(), rng=rng())
    with pytest.raises(ValueError, match="unknown unit 'raters'; known: inputs, systems, both"):
        permutation_test(RAMP, RAMP, CURVE, Setting(), units="raters", rng=rng())
