"""Rank sets: what they hold, what they must not depend on, and what undefined values do."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from benchmarks import simulated
from tests.stats.oracles import draws_of, rng
from tstmeta import stats
from tstmeta.stats import ResamplingPlan, Setting, of_draws, simultaneous_p

NAN = math.nan


def rank_sets(estimates, values, *, confidence=0.95, units=None):
    p = simultaneous_p(estimates, values, units=units)
    return stats.rank_sets(estimates, p, confidence=confidence)


def drawn(estimates, noise=0.1, draws=500, seed=0):
    """Draws about the estimates."""
    return np.asarray(estimates)[:, None] + noise * rng(seed).normal(size=(len(estimates), draws))


def test_sets_equal_a_loop_over_pairs():
    for seed in range(200):
        random = rng(seed)
        estimates = random.integers(0, 5, 5) / 4
        values = drawn(estimates, noise=random.choice([0.05, 0.2, 0.5]), draws=60, seed=seed)
        pairs = list(itertools.permutations(range(5), 2))
        spread = {(i, j): np.std(values[i] - values[j], ddof=1) for i, j in pairs}
        gap = {(i, j): estimates[i] - estimates[j] for i, j in pairs}
        largest = sorted(
            max(abs(values[i, d] - values[j, d] - gap[i, j]) / spread[i, j] for i, j in pairs)
            for d in range(60)
        )
        bound = largest[math.ceil(0.9 * 61) - 1]
        expected = [
            (
                1 + sum(gap[j, i] > bound * spread[j, i] for j in range(5) if j != i),
                5 - sum(gap[i, j] > bound * spread[i, j] for j in range(5) if j != i),
            )
            for i in range(5)
        ]
        assert rank_sets(estimates, values, confidence=0.9) == expected


def test_p_is_the_share_of_draws_whose_largest_deviation_is_as_large():
    for seed in range(100):
        random = rng(seed)
        estimates = random.integers(0, 5, 4) / 4
        values = drawn(estimates, noise=0.3, draws=40, seed=seed)
        pairs = list(itertools.combinations(range(4), 2))
        gaps = {(i, j): values[i] - values[j] for i, j in pairs}
        off = {(i, j): abs(gaps[i, j] - estimates[i] + estimates[j]) for i, j in pairs}
        largest = np.max([off[pair] / np.std(gaps[pair], ddof=1) for pair in pairs], axis=0)
        p = simultaneous_p(estimates, values)
        for i, j in pairs:
            own = abs(estimates[i] - estimates[j]) / np.std(gaps[i, j], ddof=1)
            expected = (1 + (largest >= own).sum()) / 41 if own else 1
            assert p[i, j] == p[j, i] == pytest.approx(expected)


def test_a_difference_over_common_groups_parts_two_metrics_only_with_the_sign_of_their_values():
    estimates, values = [0.1, 0.5], drawn([0.1, 0.5], noise=0.01)
    gap = values[0] - values[1]
    for sign, smallest in ((1, 1 / 501), (-1, 1)):
        p = simultaneous_p(estimates, values, gaps=([sign * -0.4], [sign * gap]))
        assert p[0, 1] == pytest.approx(smallest)
    assert np.isnan(np.diag(p)).all()


def test_few_units_widen_the_sets():
    estimates = [0.1, 0.3, 0.5, 0.7]
    values = drawn(estimates, noise=0.035)
    sizes = [
        sum(high - low for low, high in rank_sets(estimates, values, units=units))
        for units in (3, 8, 50, None)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]
    assert rank_sets(estimates, values, units=1) == [(1, 4)] * 4


levels = st.lists(st.integers(-3, 3), min_size=1, max_size=6)


@given(levels, st.integers(0, 100))
def test_a_set_holds_its_rank_and_turns_with_the_sign(steps, seed):
    estimates = np.array(steps) / 4
    values = drawn(estimates, noise=0.1, draws=50, seed=seed)
    sets = rank_sets(estimates, values, confidence=0.8)
    for rank, (low, high) in zip(rankdata(-estimates), sets, strict=True):
        assert 1 <= low <= rank <= high <= len(steps)
    turned = rank_sets(-estimates, -values, confidence=0.8)
    n = len(steps) + 1
    assert turned == [(n - high, n - low) for low, high in sets]


APART = [0.1, 0.5, 0.9]


def holed(holes):
    """Draws of three metrics far apart, with so many undefined for each."""
    values = drawn(APART, noise=0.02, draws=200)
    for row, (start, size) in enumerate(holes):
        values[row, start : start + size] = NAN
    return values


def test_a_metric_without_an_estimate_has_no_rank_and_takes_none():
    estimates, values = [*APART, NAN], drawn([*APART, NAN], noise=0.02)
    assert rank_sets(estimates, values) == [(3, 3), (2, 2), (1, 1), (0, 0)]
    assert rank_sets([NAN, NAN], np.full((2, 9), NAN)) == [(0, 0), (0, 0)]


def test_a_metric_often_undefined_cannot_be_told_apart_and_harms_no_other():
    sets = rank_sets(APART, holed([(0, 50)]))
    assert sets == [(1, 3), (2, 3), (1, 2)]


def test_a_few_undefined_draws_count_as_the_largest_deviations():
    assert rank_sets(APART, holed([(0, 4)])) == [(3, 3), (2, 2), (1, 1)]
    # each metric loses few, all together too many
    assert rank_sets(APART, holed([(0, 4), (5, 4), (10, 4)])) == [(1, 3)] * 3


#: estimates, draws, sets
DEGENERATE = {
    "no metrics": ([], np.empty((0, 9)), []),
    "no draws": ([0.1, 0.9], np.empty((2, 0)), [(1, 2)] * 2),
    "too few draws for the confidence": ([0.1, 0.9], drawn([0.1, 0.9], 0.01, 5), [(1, 2)] * 2),
    "no difference ever varies": ([0.1, 0.9], drawn([0.1, 0.9], 0.0), [(1, 2)] * 2),
    "one difference never varies": (
        [0.1, 0.9, 0.5],
        np.stack([np.full(99, 0.1), np.full(99, 0.9), 0.5 + rng().normal(size=99)]),
        [(2, 3), (1, 2), (1, 3)],
    ),
}


@pytest.mark.parametrize("case", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_draws_tell_nothing_apart_that_they_cannot(case):
    estimates, values, expected = case
    assert rank_sets(estimates, values) == expected


def test_all_sets_hold_at_once_as_often_as_promised():
    random, shape, plan, held = rng(11), (40, 1), ResamplingPlan(n=300), 0
    for draws in draws_of(plan, shape, 300, random):
        human, metrics = simulated.normal(random, shape, (0.5,) * 5)
        resampling = of_draws(human, metrics, Setting(), plan, draws)
        sets = rank_sets(resampling.estimates, resampling.values, units=resampling.fewest)
        held += set(sets) == {(1, 5)}
    assert held / 300 > 0.91  # three standard errors below 0.95
