"""Correlations against scipy and against brute force, and what happens where there is none."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tstmeta.stats import STATISTICS, Correlation, kendall, pearson, spearman

NAN, INF = math.nan, math.inf
SCIPY = {
    "pearson": scipy_stats.pearsonr,
    "spearman": scipy_stats.spearmanr,
    "kendall": scipy_stats.kendalltau,
}
#: as they are asked for by name; what is not scipy's is in test_statistic.py
BY_NAME = {name: STATISTICS[name] for name in SCIPY}
every_statistic = pytest.mark.parametrize("statistic", BY_NAME.values(), ids=BY_NAME)


# ------------------------------------------------------------------------------------- tables

#: ratings, scores, then what Pearson, Spearman and Kendall give
KNOWN = {
    "the same order": ([1, 2, 3], [1, 2, 3], 1, 1, 1),
    "the reverse order": ([1, 2, 3], [3, 2, 1], -1, -1, -1),
    "one swap of three": ([1, 2, 3], [1, 3, 2], 0.5, 0.5, 1 / 3),
    "no agreement": ([1, 2, 1, 2], [1, 1, 2, 2], 0, 0, 0),
    "a curve keeps the order": ([1, 2, 3, 4], [1, 10, 100, 1000], 0.8241, 1, 1),
    "a tie in the ratings": ([1, 1, 2], [1, 2, 3], math.sqrt(3) / 2, math.sqrt(3) / 2, 0.8165),
    "ties on both sides": ([1, 1, 2, 2], [1, 1, 2, 3], 0.9045, 0.9428, 0.8944),
    "a missing rating is dropped": ([1, NAN, 2, 3], [1, 9, 3, 2], 0.5, 0.5, 1 / 3),
    "a missing score is dropped": ([1, 9, 2, 3], [1, NAN, 3, 2], 0.5, 0.5, 1 / 3),
    "an infinite score is dropped": ([1, 9, 2, 3], [1, -INF, 3, 2], 0.5, 0.5, 1 / 3),
    "negative numbers": ([-3, -2, -1], [-1, -2, -3], -1, -1, -1),
    "very small numbers": ([1e-300, 2e-300, 3e-300], [3, 2, 1], -1, -1, -1),
    "very large numbers": ([1e150, 2e150, 3e150], [1, 3, 2], 0.5, 0.5, 1 / 3),
}


@pytest.mark.parametrize(("human", "metric", "r", "rho", "tau"), KNOWN.values(), ids=KNOWN)
def test_known_values(human, metric, r, rho, tau):
    found = [function(human, metric) for function in (pearson, spearman, kendall)]
    assert [one.value for one in found] == pytest.approx([r, rho, tau], abs=1e-4)
    assert {one.reason for one in found} == {""}


#: ratings, scores, pairs left, reason
DEGENERATE = {
    "nothing": ([], [], 0, "fewer than three pairs"),
    "one pair": ([1], [2], 1, "fewer than three pairs"),
    "two pairs": ([1, 2], [1, 2], 2, "fewer than three pairs"),
    "two pairs left": ([1, 2, NAN], [1, 2, 3], 2, "fewer than three pairs"),
    "all missing": ([NAN] * 4, [1, 2, 3, 4], 0, "fewer than three pairs"),
    "never both there": ([1, NAN, 2, NAN], [NAN, 1, NAN, 2], 0, "fewer than three pairs"),
    "infinite ones do not count": ([1, 2, INF, -INF], [1, 2, 3, 4], 2, "fewer than three pairs"),
    "constant ratings": ([2, 2, 2], [1, 2, 3], 3, "all ratings are equal"),
    "constant scores": ([1, 2, 3], [0, 0, 0], 3, "all scores are equal"),
    "both constant": ([1, 1, 1], [0, 0, 0], 3, "all ratings are equal"),
    "constant where both are there": ([2, 2, 2, 3], [1, 2, 3, NAN], 3, "all ratings are equal"),
    "equal but for rounding": ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], 3, "all ratings are equal"),
    "equal to thirteen digits": ([1, 2, 3], [1, 1, 1 + 1e-13], 3, "all scores are equal"),
}


@every_statistic
@pytest.mark.parametrize(("human", "metric", "n", "reason"), DEGENERATE.values(), ids=DEGENERATE)
def test_what_has_no_correlation_says_why(statistic, human, metric, n, reason):
    found = statistic(human, metric)
    assert math.isnan(found.value)
    assert math.isnan(found.p)
    assert (found.n, found.reason) == (n, reason)


@every_statistic
def test_a_small_spread_that_is_more_than_rounding_counts(statistic):
    assert statistic([1, 2, 3], [1, 1 + 1e-9, 1 + 2e-9]).value == pytest.approx(1)


@every_statistic
@pytest.mark.parametrize(
    ("human", "metric"), [([1, 2], [1, 2, 3]), ([[1, 2, 3]], [[1, 2, 3]]), (1, 1)]
)
def test_vectors_of_other_shapes_are_refused(statistic, human, metric):
    with pytest.raises(ValueError, match="two vectors of one length are needed"):
        statistic(human, metric)


def test_integers_and_truth_values_are_numbers():
    assert pearson([True, False, True], np.array([3, 1, 3])).value == pytest.approx(1)


# ------------------------------------------------------------------------------------ oracles


def draws(seed: int, count: int = 1000, missing: float = 0.15):
    """Random small vectors, most with ties and many with missing values; seeded."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(3, 11))
        pair = [
            rng.integers(0, int(rng.integers(2, 7)), n) / float(rng.choice([1, 3, 7]))
            if rng.random() < 0.8
            else rng.normal(size=n)
            for _ in range(2)
        ]
        for vector in pair:
            if rng.random() < 0.5:
                vector[rng.random(n) < missing] = NAN
        yield pair


def complete(x, y):
    both = ~np.isnan(x) & ~np.isnan(y)
    return x[both], y[both]


def defined(x, y) -> bool:
    return len(x) > 2 and len(set(x)) > 1 and len(set(y)) > 1


def brute_pearson(x, y) -> float:
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    above = math.fsum((a - mx) * (b - my) for a, b in zip(x, y, strict=True))
    spread = math.fsum((a - mx) ** 2 for a in x) * math.fsum((b - my) ** 2 for b in y)
    return above / math.sqrt(spread)


def brute_ranks(x) -> list[float]:
    """Average ranks: one more than the smaller ones, ties share."""
    return [sum(b < a for b in x) + (sum(b == a for b in x) + 1) / 2 for a in x]


def brute_kendall(x, y) -> float:
    """tau-b from its definition: concordant less discordant over untied pairs of each side."""
    score, in_x, in_y = 0, 0, 0
    for i, j in itertools.combinations(range(len(x)), 2):
        dx, dy = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
        score, in_x, in_y = score + dx * dy, in_x + abs(dx), in_y + abs(dy)
    return score / math.sqrt(in_x * in_y)


BRUTE = {
    "pearson": brute_pearson,
    "spearman": lambda x, y: brute_pearson(brute_ranks(x), brute_ranks(y)),
    "kendall": brute_kendall,
}


@pytest.mark.parametrize("name", SCIPY)
def test_values_agree_with_brute_force_on_ties_and_missing_values(name):
    compared = 0
    for x, y in draws(seed=1):
        found = STATISTICS[name](x, y)
        x, y = complete(x, y)
        assert found.n == len(x)
        if defined(x, y):
            compared += 1
            assert found.value == pytest.approx(BRUTE[name](x, y), abs=1e-12)
        else:
            assert math.isnan(found.value)
            assert found.reason
    assert compared > 800


@pytest.mark.parametrize("name", SCIPY)
def test_values_and_p_values_agree_with_scipy(name):
    compared = 0
    for x, y in draws(seed=2):
        found = STATISTICS[name](x, y)
        x, y = complete(x, y)
        if defined(x, y):
            compared += 1
            expected = SCIPY[name](x, y)
            assert found.value == pytest.approx(expected.statistic, abs=1e-12)
            if expected.pvalue > 0:
                assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
            else:
                assert found.p == pytest.approx(2 / math.factorial(len(x)))
    assert compared > 800


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("n", [3, 4, 60, 400])
def test_no_p_value_is_zero_even_on_a_line(name, n):
    x = np.arange(float(n))
    for y in (2 * x + 1, -x):
        found = STATISTICS[name](x, y)
        assert abs(found.value) == pytest.approx(1)
        assert 0 < found.p <= max(2.1 / math.factorial(min(n, 150)), 1e-15)


def test_the_exact_p_of_kendall_counts_orders():
    human, metric = [1, 2, 3, 4, 5], [2, 1, 3, 5, 4]
    found = kendall(human, metric)
    orders = [brute_kendall(human, order) for order in itertools.permutations(metric)]
    as_far = sum(abs(tau) >= abs(found.value) - 1e-12 for tau in orders)
    assert found.p == pytest.approx(as_far / math.factorial(5))


# --------------------------------------------------------------------------------- properties


@every_statistic
def test_the_order_of_items_does_not_matter(statistic):
    rng = np.random.default_rng(3)
    for x, y in draws(seed=3, count=300):
        order = rng.permutation(len(x))
        first, second = statistic(x, y), statistic(x[order], y[order])
        assert first == pytest.approx(second, abs=1e-12, nan_ok=True)


@every_statistic
def test_turning_one_side_turns_the_sign_and_nothing_else(statistic):
    for x, y in draws(seed=4, count=300):
        found, turned = statistic(x, y), statistic(x, -y)
        assert turned.value == pytest.approx(-found.value, abs=1e-12, nan_ok=True)
        assert turned.p == pytest.approx(found.p, abs=1e-12, nan_ok=True)
        assert turned[2:] == found[2:]


@every_statistic
def test_the_two_sides_can_be_exchanged(statistic):
    for x, y in draws(seed=5, count=300):
        one, other = statistic(x, y), statistic(y, x)
        assert one.value == pytest.approx(other.value, abs=1e-12, nan_ok=True)
        assert one.p == pytest.approx(other.p, abs=1e-12, nan_ok=True)


@every_statistic
def test_shift_and_scale_do_not_matter(statistic):
    for x, y in draws(seed=6, count=300):
        moved = statistic(4 * x - 8, 0.5 * y + 2)
        assert moved.value == pytest.approx(statistic(x, y).value, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("statistic", [spearman, kendall])
def test_rank_statistics_see_only_the_order(statistic):
    for x, y in draws(seed=7, count=300):
        bent = statistic(x, np.sign(y) * y**2)
        assert bent.value == pytest.approx(statistic(x, y).value, abs=1e-12, nan_ok=True)


@every_statistic
@given(
    st.lists(
        st.tuples(
            *[st.one_of(st.just(NAN), st.sampled_from([INF, -INF, 0.0]), st.floats(-1e6, 1e6))] * 2
        ),
        max_size=12,
    )
)
def test_any_input_gives_a_value_in_range_or_a_reason(statistic, pairs):
    found = statistic([x for x, _ in pairs], [y for _, y in pairs])
    assert isinstance(found, Correlation)
    if found.reason:
        assert math.isnan(found.value)
        assert math.isnan(found.p)
    else:
        assert -1 <= found.value <= 1
        assert 0 <= found.p <= 1


@every_statistic
def test_the_input_is_not_changed(statistic):
    human, metric = np.array([1.0, NAN, 3.0, 2.0]), np.array([1.0, 2.0, INF, 4.0])
    copies = human.copy(), metric.copy()
    statistic(human, metric)
    np.testing.assert_array_equal(human, copies[0])
    np.testing.assert_array_equal(metric, copies[1])
