"""Correlations against scipy, what happens where there is none, and Williams' test of two."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tstmeta.stats import STATISTICS, kendall, pearson, spearman, williams

NAN, INF = math.nan, math.inf
SCIPY = {
    "pearson": scipy_stats.pearsonr,
    "spearman": scipy_stats.spearmanr,
    "kendall": scipy_stats.kendalltau,
}
#: as they are asked for by name; what is not scipy's is in test_statistic.py
BY_NAME = {name: STATISTICS[name] for name in SCIPY}
every_statistic = pytest.mark.parametrize("statistic", BY_NAME.values(), ids=BY_NAME)


#: ratings, scores, then what Pearson, Spearman and Kendall give
KNOWN = {
    "the same order": ([1, 2, 3], [1, 2, 3], 1, 1, 1),
    "the reverse order": ([1, 2, 3], [3, 2, 1], -1, -1, -1),
    "one swap of three": ([1, 2, 3], [1, 3, 2], 0.5, 0.5, 1 / 3),
    "a curve keeps the order": ([1, 2, 3, 4], [1, 10, 100, 1000], 0.8241, 1, 1),
    "a tie in the ratings": ([1, 1, 2], [1, 2, 3], math.sqrt(3) / 2, math.sqrt(3) / 2, 0.8165),
    "ties on both sides": ([1, 1, 2, 2], [1, 1, 2, 3], 0.9045, 0.9428, 0.8944),
    "a missing rating is dropped": ([1, NAN, 2, 3], [1, 9, 3, 2], 0.5, 0.5, 1 / 3),
    "an infinite score is dropped": ([1, 9, 2, 3], [1, -INF, 3, 2], 0.5, 0.5, 1 / 3),
    "very large numbers": ([1e150, 2e150, 3e150], [1, 3, 2], 0.5, 0.5, 1 / 3),
}


@pytest.mark.parametrize(("human", "metric", "r", "rho", "tau"), KNOWN.values(), ids=KNOWN)
def test_known_values(human, metric, r, rho, tau):
    result = [function(human, metric) for function in (pearson, spearman, kendall)]
    assert [first.value for first in result] == pytest.approx([r, rho, tau], abs=1e-4)
    assert {first.reason for first in result} == {""}
    x, y = np.array([human, metric])[:, np.isfinite(human) & np.isfinite(metric)]
    for first, peer in zip(result, SCIPY.values(), strict=True):
        p = peer(x, y).pvalue or 2 / math.factorial(len(x))
        assert (first.p, first.n) == pytest.approx((p, len(x)), abs=1e-12)


FEW = "fewer than 3 items with both values"
#: ratings, scores, pairs left, reason
DEGENERATE = {
    "nothing": ([], [], 0, FEW),
    "two pairs left": ([1, 2, NAN], [1, 2, 3], 2, FEW),
    "never both there": ([1, NAN, 2, NAN], [NAN, 1, NAN, 2], 0, FEW),
    "infinite ones do not count": ([1, 2, INF, -INF], [1, 2, 3, 4], 2, FEW),
    "constant ratings": ([2, 2, 2], [1, 2, 3], 3, "all ratings are equal"),
    "constant scores": ([1, 2, 3], [0, 0, 0], 3, "all scores are equal"),
    "equal but for rounding": ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], 3, "all ratings are equal"),
    "equal to thirteen digits": ([1, 2, 3], [1, 1, 1 + 1e-13], 3, "all scores are equal"),
}


@every_statistic
@pytest.mark.parametrize(("human", "metric", "n", "reason"), DEGENERATE.values(), ids=DEGENERATE)
def test_what_has_no_correlation_says_why(statistic, human, metric, n, reason):
    result = statistic(human, metric)
    assert math.isnan(result.value)
    assert math.isnan(result.p)
    assert (result.n, result.reason) == (n, reason)


@every_statistic
@pytest.mark.parametrize(
    ("human", "metric"), [([1, 2], [1, 2, 3]), ([[1, 2, 3]], [[1, 2, 3]]), (1, 1)]
)
def test_vectors_of_other_shapes_are_refused(statistic, human, metric):
    with pytest.raises(ValueError, match="two vectors of one length are needed"):
        statistic(human, metric)


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("n", [3, 4, 60, 400])
def test_no_p_value_is_zero_even_on_a_line(name, n):
    x = np.arange(float(n))
    for y in (2 * x + 1, -x):
        result = STATISTICS[name](x, y)
        assert abs(result.value) == pytest.approx(1)
        assert 0 < result.p <= max(2.1 / math.factorial(min(n, 150)), 1e-15)


def test_williams_on_a_worked_case():
    """Steiger's (1980) case: .4 and .5 over 103 items, .1 between; K is .62 by hand."""
    result = williams(0.4, 0.5, 0.1, 103)
    below = 2 * 0.62 * 102 / 100 + 0.45**2 * 0.9**3
    assert result.statistic == pytest.approx(-0.1 * math.sqrt(102 * 1.1 / below))
    assert result.statistic == pytest.approx(-0.89, abs=0.005)
    assert result.p == pytest.approx(0.37, abs=0.006)
    assert result.df == 100


def test_williams_equals_its_form_in_determinants_and_inverses():
    """t^2 = (n-3) d^2 / [2(1-c) (|R| / (1-c^2) + (n-3)/(n-1) q/2 )], q = m^2 (1-c)^2 / (1+c)."""
    random = np.random.default_rng(4)
    for _ in range(500):
        n = int(random.integers(5, 60))
        table = np.corrcoef(random.normal(size=(3, n)) + random.normal() * random.normal(size=n))
        a, b, c = table[0, 1], table[0, 2], table[1, 2]
        # the part of people that the two metrics leave open, and the pull of their mean
        left = 1 - table[0, 1:] @ np.linalg.inv(table[1:, 1:]) @ table[0, 1:]
        pull = ((a + b) / 2) ** 2 * (1 - c) ** 2 / (1 + c)
        error = 2 * (1 - c) * (left + (n - 3) / (n - 1) * pull / 2) / (n - 3)
        result = williams(a, b, c, n)
        assert result.statistic == pytest.approx((a - b) / math.sqrt(error), rel=1e-8)
        assert result.p == pytest.approx(2 * scipy_stats.t.cdf(-abs(result.statistic), n - 3))


#: three correlations and n, part of the reason
UNTESTED = {
    "without a value": ((NAN, 0.5, 0.1, 50), "no value"),
    "on three items": ((0.4, 0.5, 0.1, 3), "fewer than four"),
    "on one metric twice": ((0.4, 0.4, 1.0, 50), "one but for scale"),
    "on a metric flipped": ((0.4, -0.4, -1.0, 50), "one but for scale"),
}


@pytest.mark.parametrize(("values", "reason"), UNTESTED.values(), ids=UNTESTED)
def test_what_williams_cannot_test_says_why(values, reason):
    result = williams(*values)
    assert math.isnan(result.p)
    assert reason in result.reason
