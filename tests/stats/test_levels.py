"""Means that tie what is equal: of groups, of columns, and within tasks."""

import math

import numpy as np
import pytest

from tstmeta.stats import means
from tstmeta.stats.levels import column_means, standardised

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


# ------------------------------------------------------------------------------------ columns


@pytest.mark.parametrize("differs", [False, True])
def test_means_of_columns_are_over_the_cells_where_both_sides_have_values(differs):
    rng = np.random.default_rng(7)
    for _ in range(60):
        x, y = rng.normal(size=(3 if differs else 1, 5, 4)), rng.normal(size=(2, 1, 5, 4))
        x[rng.random(x.shape) < 0.3] = y[rng.random(y.shape) < 0.3] = NAN
        weights = rng.integers(0, 3, (3, 5)).astype(float)
        found = column_means(x, y, weights)
        for m, d, k in np.ndindex(2, 3, 4):
            one, other = x[d if differs else 0, :, k], y[m, 0, :, k]
            both = np.isfinite(one + other) & (weights[d] > 0)
            for values, side in zip((one, other), found, strict=True):
                expected = np.average(values[both], weights=weights[d][both]) if both.any() else NAN
                assert side[m, d, k] == pytest.approx(expected, rel=1e-9, abs=1e-11, nan_ok=True)


def test_means_of_columns_do_not_depend_on_the_order_of_rows_to_the_last_bit():
    rng = np.random.default_rng(8)
    for scale in (1.0, 1e-9, 1e9):
        column = rng.normal(size=300) * scale * 10.0 ** rng.integers(-6, 6, 300)
        moved = [rng.permutation(column) for _ in range(40)]
        table = np.stack([column, *moved], axis=1)
        means, _ = column_means(table[None], table[None, None], np.ones((1, 300)))
        assert len(set(means.ravel().tolist())) == 1


def test_what_cancels_to_nothing_is_nothing():
    table = np.array([[0.1, 0.3], [0.2, -0.1], [-0.3, -0.2]])
    assert table[:, 0].sum() != 0  # by rounding alone
    means, _ = column_means(table[None], table[None, None], np.ones((1, 3)))
    assert means.tolist() == [[[0, 0]]]


def test_standardised_values_have_mean_nought_and_variance_one():
    rng = np.random.default_rng(9)
    values, weights = 1e6 + rng.normal(size=(2, 1, 6, 3)), rng.integers(0, 3, (1, 4, 6, 3)) * 1.0
    found = standardised(values, weights)
    assert (weights * found).sum(axis=(-2, -1)) == pytest.approx(np.zeros((2, 4)), abs=1e-8)
    count = weights.sum(axis=(-2, -1))
    squares = (weights * found**2).sum(axis=(-2, -1)) / count
    assert squares == pytest.approx(np.ones((2, 4)), abs=1e-8)
    assert np.isnan(standardised(np.full((1, 1, 3, 2), 0.1), np.ones((1, 1, 3, 2)))).all()
