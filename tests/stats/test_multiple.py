"""Corrections and clusters against worked tables and other ways to a number."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.stats import benjamini_yekutieli, holm, significance_clusters

NAN = math.nan
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


#: p, Holm by hand (times 5, 4, 3, 2, 1 in order), Benjamini-Yekutieli by hand
#: (times 5 / rank times 1 + 1/2 + 1/3 + 1/4 + 1/5 = 137/60)
WORKED = {
    "five in order": (
        [0.01, 0.02, 0.03, 0.04, 0.05],
        [0.05, 0.08, 0.09, 0.09, 0.09],
        [0.05 * 137 / 60] * 5,
    ),
    "five in disorder": (
        [0.04, 0.001, 0.5, 0.012, 0.03],
        [0.09, 0.005, 0.5, 0.048, 0.09],
        [0.05 * 137 / 60, 0.005 * 137 / 60, 1.0, 0.03 * 137 / 60, 0.05 * 137 / 60],
    ),
    "one": ([0.03], [0.03], [0.03]),
    "two that tie": ([0.02, 0.02], [0.04, 0.04], [0.03, 0.03]),
    "no p above one": ([0.6, 0.9], [1.0, 1.0], [1.0, 1.0]),
    "missing ones do not count": ([NAN, 0.02, NAN, 0.02], [NAN, 0.04, NAN, 0.04], None),
    "none": ([], [], []),
}


@pytest.mark.parametrize(("p", "by_holm", "by_yekutieli"), WORKED.values(), ids=WORKED)
def test_worked_corrections(p, by_holm, by_yekutieli):
    np.testing.assert_allclose(holm(p), by_holm, atol=1e-12)
    if by_yekutieli is not None:
        np.testing.assert_allclose(benjamini_yekutieli(p), by_yekutieli, atol=1e-12)


@given(probabilities)
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
    "all differ": ([0.3, 0.2, 0.1], EVERY, [1, 2, 3]),
    "none differ": ([0.3, 0.2, 0.1], [], [1, 1, 1]),
    "the best differs from both": ([0.3, 0.2, 0.1], [(0, 1), (0, 2)], [1, 2, 2]),
    "the best and the worst alone": ([0.3, 0.2, 0.1], [(0, 2)], [1, 1, 1]),
    "neighbours differ, the ends do not": ([0.3, 0.2, 0.1], [(0, 1), (1, 2)], [1, 1, 1]),
    "equal values share, whatever p says": ([0.3, 0.3, 0.1], EVERY, [1, 1, 2]),
    "equal but for rounding": ([0.1 + 0.2, 0.3, 0.1], EVERY, [1, 1, 2]),
    "negative values are the worst": ([-0.52, 0.46, 0.1], EVERY, [3, 1, 2]),
    "no value, no cluster": ([0.3, NAN, 0.1], [(0, 2)], [1, 0, 2]),
    "no values at all": ([NAN, NAN], [], [0, 0]),
    "none": ([], [], []),
}


@pytest.mark.parametrize(("values", "differing", "clusters"), CLUSTERS.values(), ids=CLUSTERS)
def test_worked_clusters(values, differing, clusters):
    table = pairs(len(values), differing)
    assert significance_clusters(values, table).tolist() == clusters


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
