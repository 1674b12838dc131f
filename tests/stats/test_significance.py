"""Corrections, clusters and textbook tests against worked tables and other ways to a number."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tstmeta.stats.multiple import (
    benjamini_yekutieli,
    holm,
    over_pairs,
    significance_clusters,
    swaps_needed,
)
from tstmeta.stats.parametric import fisher, williams

NAN = math.nan
probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=12)


# --------------------------------------------------------------------------------- corrections

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
    "all missing": ([NAN, NAN], [NAN, NAN], [NAN, NAN]),
    "none": ([], [], []),
}


@pytest.mark.parametrize(("p", "by_holm", "by_yekutieli"), WORKED.values(), ids=WORKED)
def test_worked_corrections(p, by_holm, by_yekutieli):
    np.testing.assert_allclose(holm(p), by_holm, atol=1e-12)
    if by_yekutieli is not None:
        np.testing.assert_allclose(benjamini_yekutieli(p), by_yekutieli, atol=1e-12)


@pytest.mark.parametrize("correct", [holm, benjamini_yekutieli])
def test_a_table_keeps_its_shape_and_its_gaps(correct):
    table = np.random.default_rng(0).random((3, 4, 2))
    table[0, 1, 1] = table[2, 3, 0] = NAN
    before = table.copy()
    found = correct(table)
    np.testing.assert_array_equal(table, before)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(table))
    known = np.isfinite(table)
    np.testing.assert_array_equal(found[known], correct(table[known]))
    assert correct(0.04) == pytest.approx(0.04)


@pytest.mark.parametrize("correct", [holm, benjamini_yekutieli])
@pytest.mark.parametrize("wrong", [[-0.1], [0.5, 1.1], [math.inf]])
def test_what_is_no_probability_is_refused(correct, wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        correct(wrong)


@given(probabilities)
def test_holm_rejects_what_stepping_down_rejects(p):
    for alpha in (0.01, 0.05, 0.3):
        rejected, open_ = set(), sorted(range(len(p)), key=lambda i: p[i])
        while open_ and p[open_[0]] * len(open_) <= alpha:
            rejected.add(open_.pop(0))
        assert set(np.flatnonzero(holm(p) <= alpha)) == rejected


@given(probabilities, st.randoms())
def test_corrections_keep_the_order_and_do_not_see_that_of_the_rows(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    for correct in (holm, benjamini_yekutieli):
        found = correct(p)
        assert (found >= np.array(p) - 1e-15).all()
        assert (np.diff(found[np.argsort(p)]) >= 0).all()
        np.testing.assert_array_equal(correct(np.array(p)[order]), found[order])


def test_each_pair_of_a_table_counts_once():
    table = np.array([[1, 0.01, 0.02], [0.01, 1, 0.5], [0.02, 0.5, 1]])
    expected = [[NAN, 0.03, 0.04], [0.03, NAN, 0.5], [0.04, 0.5, NAN]]
    np.testing.assert_allclose(over_pairs(table), expected)
    half = np.where(np.triu(np.ones((3, 3)), 1) > 0, table, NAN)
    np.testing.assert_allclose(over_pairs(half), expected)
    by = over_pairs(table, benjamini_yekutieli)
    np.testing.assert_allclose(by[0, 1:], benjamini_yekutieli([0.01, 0.02, 0.5])[:2])


@pytest.mark.parametrize("wrong", [[[1, 0.1], [0.2, 1]], [0.1, 0.2], np.ones((2, 3))])
def test_a_table_that_is_not_of_pairs_is_refused(wrong):
    with pytest.raises(ValueError, match=r"differ|table"):
        over_pairs(wrong)


@pytest.mark.parametrize(("tests", "n"), [(1, 19), (3, 59), (66, 1319)])
def test_fewer_swaps_than_needed_find_nothing(tests, n):
    assert swaps_needed(tests) == n
    others = [1.0] * (tests - 1)
    assert holm([1 / (n + 1), *others])[0] <= 0.05 + 1e-12
    assert holm([1 / n, *others])[0] > 0.05


# ------------------------------------------------------------------------------------ clusters


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
    "rows in another order": ([0.1, 0.3, 0.2], [(1, 2), (1, 0)], [2, 1, 2]),
    "equal values share, whatever p says": ([0.3, 0.3, 0.1], EVERY, [1, 1, 2]),
    "equal but for rounding": ([0.1 + 0.2, 0.3, 0.1], EVERY, [1, 1, 2]),
    "negative values are the worst": ([-0.52, 0.46, 0.1], EVERY, [3, 1, 2]),
    "no value, no cluster": ([0.3, NAN, 0.1], [(0, 2)], [1, 0, 2]),
    "no values at all": ([NAN, NAN], [], [0, 0]),
    "one": ([0.3], [], [1]),
    "none": ([], [], []),
}


@pytest.mark.parametrize(("values", "differing", "clusters"), CLUSTERS.values(), ids=CLUSTERS)
def test_worked_clusters(values, differing, clusters):
    table = pairs(len(values), differing)
    assert significance_clusters(values, table).tolist() == clusters


def test_a_missing_p_is_no_difference_and_alpha_counts():
    table = pairs(2, [(0, 1)])
    assert significance_clusters([1, 0], table, alpha=0.01).tolist() == [1, 2]
    assert significance_clusters([1, 0], table, alpha=0.009).tolist() == [1, 1]
    assert significance_clusters([1, 0], np.full((2, 2), NAN)).tolist() == [1, 1]


def test_clusters_are_the_finest_that_lines_allow_in_any_order_of_rows():
    random = np.random.default_rng(3)
    for _ in range(1500):
        size = int(random.integers(1, 7))
        values = random.integers(0, 4, size) / 3.0
        values[random.random(size) < 0.1] = NAN
        table = np.triu(random.random((size, size)) ** 3, 1)
        table = np.where(random.random((size, size)) < 0.05, NAN, table)
        table = np.triu(table, 1) + np.triu(table, 1).T
        found = significance_clusters(values, table)
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
            assert found[i] == (0 if math.isnan(values[i]) else 1 + above)
        order = random.permutation(size)
        shuffled = significance_clusters(values[order], table[np.ix_(order, order)])
        np.testing.assert_array_equal(shuffled, found[order])


@pytest.mark.parametrize(
    ("values", "p", "alpha", "message"),
    [
        ([1, 2, 3], np.ones((2, 2)), 0.05, "do not fit"),
        ([1, 2], [[1, 0.1], [0.9, 1]], 0.05, "differ"),
        ([1, 2], np.ones((2, 2)), 0.0, "alpha"),
    ],
)
def test_clusters_of_what_does_not_fit_are_refused(values, p, alpha, message):
    with pytest.raises(ValueError, match=message):
        significance_clusters(values, p, alpha)


# ------------------------------------------------------------------------------------ textbook


def test_williams_on_a_worked_case():
    """Steiger's (1980) case: .4 and .5 over 103 items, .1 between; K is .62 by hand."""
    found = williams(0.4, 0.5, 0.1, 103)
    below = 2 * 0.62 * 102 / 100 + 0.45**2 * 0.9**3
    assert found.statistic == pytest.approx(-0.1 * math.sqrt(102 * 1.1 / below))
    assert found.statistic == pytest.approx(-0.89, abs=0.005)
    assert found.p == pytest.approx(0.37, abs=0.006)
    assert found.df == 100
    assert "independent" in found.assumption


def test_williams_equals_its_form_in_determinants_and_inverses():
    """t^2 = (n-3) d^2 / [2(1-c) (|R| / (1-c^2) + (n-3)/(n-1) q/2 )], q = m^2 (1-c)^2 / (1+c)."""
    random = np.random.default_rng(4)
    for _ in range(1000):
        n = int(random.integers(5, 60))
        table = np.corrcoef(random.normal(size=(3, n)) + random.normal() * random.normal(size=n))
        a, b, c = table[0, 1], table[0, 2], table[1, 2]
        # the part of people that the two metrics leave open, and the pull of their mean
        left = 1 - table[0, 1:] @ np.linalg.inv(table[1:, 1:]) @ table[0, 1:]
        pull = ((a + b) / 2) ** 2 * (1 - c) ** 2 / (1 + c)
        error = 2 * (1 - c) * (left + (n - 3) / (n - 1) * pull / 2) / (n - 3)
        found = williams(a, b, c, n)
        assert found.statistic == pytest.approx((a - b) / math.sqrt(error), rel=1e-8)
        assert found.p == pytest.approx(2 * scipy_stats.t.cdf(-abs(found.statistic), n - 3))


def test_williams_keeps_the_sign():
    found = williams(0.46, -0.52, -0.3, 50)
    assert found.difference == pytest.approx(0.98)
    assert found.p < 1e-4
    turned = williams(-0.52, 0.46, -0.3, 50)
    assert turned.statistic == -found.statistic
    assert williams(0.46, 0.52, 0.3, 50).p > 0.5


def test_textbook_tests_reject_as_often_as_they_say_for_independent_items():
    random, found = np.random.default_rng(6), []
    for _ in range(1500):
        human = random.normal(size=25)
        metrics = human + random.normal(size=(2, 25))
        (_, a, b), (_, _, c), _ = np.corrcoef([human, *metrics])
        apart = np.corrcoef(random.normal(size=(2, 25)))[0, 1]
        other = np.corrcoef(random.normal(size=(2, 40)))[0, 1]
        found.append((williams(a, b, c, 25).p, fisher(apart, other, 25, 40).p))
    for share in (np.array(found) <= 0.05).mean(axis=0):
        assert abs(share - 0.05) < 0.02


def test_fisher_on_a_worked_case():
    """z of .5 is .5493, of .3 .3095; the error of their difference at 103 each is .1414."""
    found = fisher(0.5, 0.3, 103, 103)
    assert found.statistic == pytest.approx((0.5493 - 0.3095) / 0.1414, abs=2e-3)
    assert found.p == pytest.approx(0.0900, abs=1e-4)
    assert fisher(0.46, -0.52, 50, 50).p < 1e-6


#: call, part of the reason
UNTESTED = {
    "Williams without a value": (lambda: williams(NAN, 0.5, 0.1, 50), "no value"),
    "Williams on three items": (lambda: williams(0.4, 0.5, 0.1, 3), "fewer than four"),
    "Williams on one metric twice": (lambda: williams(0.4, 0.4, 1.0, 50), "one but for scale"),
    "Williams on a metric turned": (lambda: williams(0.4, -0.4, -1.0, 50), "one but for scale"),
    "Fisher without a value": (lambda: fisher(0.4, NAN, 50, 50), "no value"),
    "Fisher on three items": (lambda: fisher(0.4, 0.5, 50, 3), "fewer than four"),
    "Fisher on a perfect metric": (lambda: fisher(1.0, 0.5, 50, 50), "no finite z"),
}


@pytest.mark.parametrize(("call", "reason"), UNTESTED.values(), ids=UNTESTED)
def test_what_cannot_be_tested_says_why(call, reason):
    found = call()
    assert math.isnan(found.p)
    assert reason in found.reason


def test_a_perfect_metric_is_tested_against_another():
    assert williams(1.0, 0.5, 0.5, 10).p < 0.001


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: williams(1.2, 0.5, 0.1, 50), "between -1 and 1"),
        (lambda: williams(0.9, -0.9, 0.9, 50), "no three variables"),
        (lambda: fisher(0.5, -1.1, 50, 50), "between -1 and 1"),
    ],
)
def test_correlations_that_cannot_be_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
