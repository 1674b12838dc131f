"""Means of groups, exact to the last digit."""

import math

import numpy as np
import pytest

from tstmeta.stats import means

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("values", "groups", "names", "expected"),
    [
        ([], [], [], []),
        ([1], ["a"], ["a"], [1]),
        ([NAN], ["a"], ["a"], [NAN]),
        ([NAN, 2, 4], ["a", "b", "b"], ["a", "b"], [NAN, 3]),
        ([1, NAN, 3], ["a", "a", "a"], ["a"], [2]),
        ([1, INF, 3], ["a", "a", "a"], ["a"], [2]),
        ([3, 1, 2], ["b", "a", "b"], ["b", "a"], [2.5, 1]),
    ],
)
def test_means_are_of_finite_values_in_order_of_first_appearance(values, groups, names, expected):
    found_names, found = means(values, groups)
    assert found_names == names
    assert found == pytest.approx(expected, nan_ok=True)


def test_means_do_not_depend_on_the_order_of_the_values_to_the_last_bit():
    values = np.random.default_rng(5).integers(1, 101, 90) / 3
    first = means(values, ["a"] * 90)[1][0]
    for seed in range(50):
        shuffled = np.random.default_rng(seed).permutation(values)
        assert means(shuffled, ["a"] * 90)[1][0] == first


def test_groups_with_the_same_values_are_tied_whatever_the_order():
    rng = np.random.default_rng(6)
    values = rng.integers(1, 101, 30) / 3
    both = np.concatenate([values, rng.permutation(values), values + 1])
    a, b, c = means(both, np.repeat(["a", "b", "c"], 30))[1]
    assert a == b < c
