"""Weighted sums against loops: both ways to take pairs, all shapes of values and weights."""

import itertools
import math

import numpy as np
import pytest

from tests.stats import oracles
from tstmeta.stats import kernels

#: leading shapes of x, y and weights, and whether values and weights differ by draw
SHAPES = {
    "one vector": ((), (), (), False, False),
    "metrics": ((), (2,), (), False, False),
    "groups": ((3,), (2, 3), (), False, False),
    "groups with gaps": ((2, 3), (2, 3), (2, 3), False, False),
    "people differ by draw": ((3,), (2, 3), (), True, False),
    "scores differ by draw": ((), (2,), (), False, True),
    "both differ by draw": ((2, 3), (2, 3), (2, 3), True, True),
}
D = 4
every_shape = pytest.mark.parametrize("case", SHAPES)
both_ways = pytest.mark.parametrize("few", [128, 0], ids=["all pairs", "blocks"])


def inputs(case, seed, n=6):
    rng = np.random.default_rng(seed)
    of_x, of_y, of_w, x_differs, y_differs = SHAPES[case]
    x = rng.integers(0, 4, (*of_x, D if x_differs else 1, n)).astype(float)
    y = rng.integers(0, 5, (*of_y, D if y_differs else 1, n)) / 3
    return x, y, rng.integers(0, 4, (*of_w, D, n)).astype(float)


def one_by_one(*arrays):
    """The vectors at each place and draw."""
    lead = np.broadcast_shapes(*(a.shape[:-1] for a in arrays), (D,))
    wide = [np.broadcast_to(a, (*lead, a.shape[-1])) for a in arrays]
    for place in np.ndindex(lead):
        yield place, *(a[place] for a in wide)


@pytest.fixture
def paths(monkeypatch, few):
    monkeypatch.setattr(kernels, "FEW", few)
    monkeypatch.setattr(kernels, "_BLOCK", 8)


@every_shape
def test_totals_are_weighted_sums(case):
    x, _, weights = inputs(case, 1)
    found = kernels.total(x, weights)
    for place, values, counts in one_by_one(x, weights):
        assert np.broadcast_to(found, found.shape)[place] == pytest.approx(values @ counts)


@pytest.mark.parametrize("tolerance", [0.0, 0.4, 1.0])
@both_ways
@every_shape
@pytest.mark.usefixtures("paths")
def test_pairs_are_those_of_different_items(case, tolerance):
    x, y, weights = inputs(case, 2)
    functions = (lambda a, b: a * b, lambda a, b: np.abs(a) + 0 * b, lambda a, b: 1.0 * (a == b))
    found = kernels.pair_totals(functions, x, y, weights, tolerance)
    for place, of_x, of_y, counts in one_by_one(x, y, weights):
        expected = np.zeros(3)
        for i, j in itertools.combinations(range(len(of_x)), 2):
            a, gap = np.sign(of_x[i] - of_x[j]), of_y[i] - of_y[j]
            b = 0.0 if abs(gap) <= tolerance else np.sign(gap)
            expected += counts[i] * counts[j] * np.array([a * b, abs(a), a == b])
        sums = [np.broadcast_to(one, (*np.shape(found[0])[:-1], D))[place] for one in found]
        assert sums == pytest.approx(expected)


@both_ways
@every_shape
@pytest.mark.usefixtures("paths")
def test_standings_are_average_ranks_of_repeated_items(case):
    x, _, weights = inputs(case, 3)
    found = kernels.standings(x, weights)
    for place, values, counts in one_by_one(x, weights):
        drawn = oracles.repeated(counts)
        ranks = oracles.average_ranks([values[i] for i in drawn])
        standing = [found[place][i] / 2 + (len(drawn) + 1) / 2 for i in drawn]
        assert standing == pytest.approx(ranks)


@both_ways
@every_shape
@pytest.mark.usefixtures("paths")
def test_different_values_with_weight_are_counted(case):
    x, _, weights = inputs(case, 4)
    found = kernels.distinct(x, weights)
    for place, values, counts in one_by_one(x, weights):
        assert found[place] == len(set(values[counts > 0]))


@pytest.mark.parametrize("n", [7, 49, 98, 103])
def test_as_many_equal_values_as_you_like_are_one(n):
    assert kernels.distinct(np.ones((1, n)), np.ones((1, n))) == [1]


@pytest.mark.parametrize("size", [128, 129, 400])
def test_long_vectors_take_blocks_and_give_the_same(size, monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 9, (1, size)).astype(float), np.round(rng.normal(size=(2, 1, size)), 1)
    weights = rng.multinomial(size, np.full(size, 1 / size), 3).astype(float)
    functions = (lambda a, b: a * b, lambda a, b: 1.0 * (a == b))
    first = [*kernels.pair_totals(functions, x, y, weights, 0.2), kernels.standings(x, weights)]
    for few, block in ((10**6, 2**24), (0, 2**24), (0, 1)):
        monkeypatch.setattr(kernels, "FEW", few)
        monkeypatch.setattr(kernels, "_BLOCK", block)
        again = [*kernels.pair_totals(functions, x, y, weights, 0.2), kernels.standings(x, weights)]
        for one, two in zip(first, again, strict=True):
            np.testing.assert_array_equal(one, two)


def test_weights_that_are_no_counts_keep_their_precision(monkeypatch):
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(2, 1, 60))
    weights = rng.random((2, 60))
    functions = (lambda a, b: a * b,)
    (whole,) = kernels.pair_totals(functions, x, y, weights)
    monkeypatch.setattr(kernels, "FEW", 0)
    (blocks,) = kernels.pair_totals(functions, x, y, weights)
    assert blocks == pytest.approx(whole, rel=1e-13)


@both_ways
@pytest.mark.usefixtures("paths")
def test_gaps_too_wide_for_a_number_are_gaps():
    x = np.array([[-1.7e308, 0.0, 1.7e308]])
    functions = (lambda a, b: a * b,)
    for tolerance in (0.0, 1e300):
        (found,) = kernels.pair_totals(functions, x, x, np.ones((1, 3)), tolerance)
        assert found.tolist() == [3]


@pytest.mark.parametrize("largest", [1e-300, 1e-200, 1e-3, 1.0, 1e100, 1e200, 1.7e308])
def test_tamed_values_keep_their_proportions_and_can_be_squared(largest):
    values = np.array([[0.0, -largest, largest / 3, math.nan], [1.0, 2.0, -3.0, 4.0]])
    found = kernels.tamed(values, axis=1)
    np.testing.assert_array_equal(found[1], values[1])
    assert found[0, 2] / found[0, 1] == values[0, 2] / values[0, 1]
    assert 0 < found[0, 1] ** 2 < math.inf
    if 1e-100 < largest < 1e100:
        assert found is values


@pytest.mark.parametrize("factor", [1e-300, 1.0, 1e300])
def test_a_standard_deviation_of_any_size(factor):
    values = np.array([1.0, 4.0, 4.0, -7.5])
    assert kernels.deviation(values * factor) / factor == pytest.approx(np.std(values, ddof=1))
    assert kernels.deviation(values[1:3]) == 0
    assert math.isnan(kernels.deviation(values[:1]))
