"""Tests of two metrics and of many, clusters and ranks: definitions in loops, worked cases."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tests.stats.oracles import rng
from tstmeta.stats import holm, rank_sets, significance_clusters, simultaneous_p

NAN = math.nan

#: p, Holm by hand (times 5, 4, 3, 2, 1 in order)
WORKED = {
    "five in disorder": ([0.04, 0.001, 0.5, 0.012, 0.03], [0.09, 0.005, 0.5, 0.048, 0.09]),
    "no p above one": ([0.6, 0.9], [1.0, 1.0]),
    "missing ones do not count": ([NAN, 0.02, NAN, 0.02], [NAN, 0.04, NAN, 0.04]),
    "none": ([], []),
}


@pytest.mark.parametrize(("p", "corrected"), WORKED.values(), ids=WORKED)
def test_worked_corrections(p, corrected):
    np.testing.assert_allclose(holm(p), corrected, atol=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_stepping_down_rejects(p):
    for alpha in (0.01, 0.05, 0.3):
        rejected, open_ = set(), sorted(range(len(p)), key=lambda i: p[i])
        while open_ and p[open_[0]] * len(open_) <= alpha:
            rejected.add(open_.pop(0))
        assert set(np.flatnonzero(holm(p) <= alpha)) == rejected


def pairs(size: int, differing) -> np.ndarray:
    """A table of p with .01 for the pairs that differ and .5 for the others."""
    table = np.full((size, size), 0.5)
    for i, j in differing:
        table[i, j] = table[j, i] = 0.01
    return table


EVERY = list(itertools.combinations(range(3), 2))
#: values, pairs that differ, clusters
CLUSTERS = {
    "the best differs from both": ([0.3, 0.2, 0.1], [(0, 1), (0, 2)], [1, 2, 2]),
    "neighbours differ, the ends do not": ([0.3, 0.2, 0.1], [(0, 1), (1, 2)], [1, 1, 1]),
    "equal values share, whatever p says": ([0.3, 0.3, 0.1], EVERY, [1, 1, 2]),
    "equal but for rounding": ([0.1 + 0.2, 0.3, 0.1], EVERY, [1, 1, 2]),
    "negative values are the worst": ([-0.52, 0.46, 0.1], EVERY, [3, 1, 2]),
    "no value, no cluster": ([0.3, NAN, 0.1], [(0, 2)], [1, 0, 2]),
    "none": ([], [], []),
}


@pytest.mark.parametrize(("values", "differing", "clusters"), CLUSTERS.values(), ids=CLUSTERS)
def test_worked_clusters(values, differing, clusters):
    assert significance_clusters(values, pairs(len(values), differing)).tolist() == clusters


def test_clusters_are_the_finest_that_lines_allow_in_any_order_of_rows():
    random = np.random.default_rng(3)
    for _ in range(1500):
        size = int(random.integers(1, 7))
        values = random.integers(0, 4, size) / 3.0
        values[random.random(size) < 0.1] = NAN
        table = np.triu(random.random((size, size)) ** 3, 1)
        table = np.where(random.random((size, size)) < 0.05, NAN, table)
        table = np.triu(table, 1) + np.triu(table, 1).T
        result = significance_clusters(values, table)
        for i in range(size):
            lines = {
                cut
                for cut in values[np.isfinite(values)]
                if all(
                    table[a, b] <= 0.05
                    for a in np.flatnonzero(values > cut)
                    for b in np.flatnonzero(values <= cut)
                )
                and (values > cut).any()
            }
            above = sum(values[i] <= cut for cut in lines)
            assert result[i] == (0 if math.isnan(values[i]) else 1 + above)
        order = random.permutation(size)
        shuffled = significance_clusters(values[order], table[np.ix_(order, order)])
        np.testing.assert_array_equal(shuffled, result[order])


#: So many units that nothing is widened.
MANY = 10**9


def drawn(estimates, noise=0.1, draws=500, seed=0):
    """Draws about the estimates."""
    return np.asarray(estimates)[:, None] + noise * rng(seed).normal(size=(len(estimates), draws))


def sets_of(estimates, values, units=MANY):
    return rank_sets(estimates, simultaneous_p(estimates, values, units=units))


@pytest.mark.parametrize("units", [2, 5, MANY])
def test_p_is_the_share_of_draws_whose_largest_deviation_is_as_large(units):
    for seed in range(100):
        random = rng(seed)
        estimates = random.integers(0, 5, 4) / 4
        values = drawn(estimates, noise=0.3 if units > 2 else 0.01, draws=40, seed=seed)
        values[0, : seed % 2] = NAN  # the largest deviation; one in forty may be
        seen = np.isfinite(values[0])
        pairs = list(itertools.combinations(range(4), 2))
        gaps = {(i, j): values[i] - values[j] for i, j in pairs}
        off = {(i, j): abs(gaps[i, j] - estimates[i] + estimates[j]) for i, j in pairs}
        spread = {pair: np.std(gaps[pair][seen], ddof=1) for pair in pairs}
        largest = np.max([off[pair] / spread[pair] for pair in pairs], axis=0)
        p = simultaneous_p(estimates, values, units=units)
        for i, j in pairs:
            size = abs(estimates[i] - estimates[j]) / spread[i, j]
            if units < MANY:  # at the same tail of the normal as of Student's t
                tail = scipy_stats.t.sf(size * math.sqrt((units - 1) / units), units - 1)
                size = scipy_stats.norm.isf(tail) if size else 0
            expected = (1 + (~(largest < size)).sum()) / 41 if size else 1
            assert p[i, j] == p[j, i] == pytest.approx(expected)
        for value, (best, worst), row in zip(estimates, rank_sets(estimates, p), p, strict=True):
            sure = row <= 0.05
            assert best == 1 + (sure & (estimates > value)).sum()
            assert worst == 4 - (sure & (estimates < value)).sum()


def test_a_difference_over_common_groups_parts_two_metrics_only_with_the_sign_of_their_values():
    estimates, values = [0.1, 0.5], drawn([0.1, 0.5], noise=0.01)
    gap = values[0] - values[1]
    for sign, smallest in ((1, 1 / 501), (-1, 1)):
        gaps = [sign * -0.4], [sign * gap]
        p = simultaneous_p(estimates, values, units=MANY, gaps=gaps)
        assert p[0, 1] == pytest.approx(smallest)
        p = simultaneous_p([0.5, 0.5], values, units=MANY, gaps=gaps)
        assert p[0, 1] == 1
    assert np.isnan(np.diag(p)).all()


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=6), st.integers(0, 100))
def test_a_set_holds_its_rank_and_turns_with_the_sign(steps, seed):
    estimates = np.array(steps) / 4
    values = drawn(estimates, noise=0.1, draws=200, seed=seed)
    sets = sets_of(estimates, values)
    for rank, (low, high) in zip(scipy_stats.rankdata(-estimates), sets, strict=True):
        assert 1 <= low <= rank <= high <= len(steps)
    negated = sets_of(-estimates, -values)
    n = len(steps) + 1
    assert negated == [(n - high, n - low) for low, high in sets]


APART = [0.1, 0.5, 0.9]


def holed(*holes):
    """Draws of three metrics far apart, with so many undefined for each."""
    values = drawn(APART, noise=0.02, draws=200)
    for row, (start, size) in enumerate(holes):
        values[row, start : start + size] = NAN
    return values


def test_a_metric_without_an_estimate_has_no_rank_and_takes_none():
    estimates, values = [*APART, NAN], drawn([*APART, NAN], noise=0.02)
    assert sets_of(estimates, values) == [(3, 3), (2, 2), (1, 1), (0, 0)]
    assert sets_of([NAN, NAN], np.full((2, 9), NAN)) == [(0, 0), (0, 0)]
    assert sets_of(APART, drawn(APART, noise=0.02), units=1) == [(1, 3)] * 3
    assert rank_sets([0.3, 0.3], pairs(2, [(0, 1)])) == [(1, 2)] * 2  # of equals none is above
    two = simultaneous_p([0.1, 0.9], [[0.1, 0.2], [0.9, 0.95]], units=MANY)
    assert two[0, 1] == pytest.approx(1 / 3)  # no draw, and the data


#: estimates, draws, sets
UNSURE = {
    "no draws": ([0.1, 0.9], np.empty((2, 0)), [(1, 2)] * 2),
    "too few draws for the confidence": ([0.1, 0.9], drawn([0.1, 0.9], 0.01, 5), [(1, 2)] * 2),
    "no difference ever varies": ([0.1, 0.9], drawn([0.1, 0.9], 0.0), [(1, 2)] * 2),
    "one difference never varies": (
        [0.1, 0.9, 0.5],
        np.stack([np.full(99, 0.1), np.full(99, 0.9), 0.5 + rng().normal(size=99)]),
        [(2, 3), (1, 2), (1, 3)],
    ),
    "a metric often undefined harms no other": (APART, holed((0, 50)), [(1, 3), (2, 3), (1, 2)]),
    "few are the largest deviations": (APART, holed((0, 4)), [(3, 3), (2, 2), (1, 1)]),
    "few each, but many together": (APART, holed((0, 4), (5, 4), (10, 4)), [(1, 3)] * 3),
}


@pytest.mark.parametrize("case", UNSURE.values(), ids=UNSURE)
def test_degenerate_and_undefined_draws_tell_nothing_apart_that_they_cannot(case):
    estimates, values, expected = case
    assert sets_of(estimates, values) == expected
