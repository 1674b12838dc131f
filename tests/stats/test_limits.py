"""Limits from draws against scipy, against the formulas by hand, and where there are none."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tests.stats.oracles import rng
from tstmeta.stats.limits import FEW_UNITS, interval

NAN = math.nan
PLAIN = {"widened": False, "bounds": (-100.0, 100.0)}


def limits_of(values, estimate, jackknives=(), units=None, **options):
    left_out = [np.array(each, dtype=float) for each in jackknives]
    counts = {} if units is None else {"units": units}
    if left_out:
        counts = {"units": sum(max(len(each) - 1, 0) for each in left_out) + 1}
    return interval(np.array(values, dtype=float), estimate, left_out, counts, **options)


def without_one(sample, statistic):
    return np.array([statistic(np.delete(sample, i)) for i in range(len(sample))])


def assert_same_place(result, peer):
    """Scipy takes quantiles at 1 + (D - 1) p instead of (D + 1) p: at most two draws apart."""
    ordered = np.sort(peer.bootstrap_distribution)
    places = np.searchsorted(ordered, [result[:2], peer.confidence_interval])
    assert np.abs(places[0] - places[1]).max() <= 2


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", [np.mean, np.var], ids=["mean", "variance"])
def test_limits_of_one_sample_are_scipys_from_the_same_draws(method, statistic):
    for seed in range(5):
        sample = rng(seed).exponential(size=25)
        peer = scipy_stats.bootstrap(
            (sample,), statistic, method=method, n_resamples=4999, rng=rng(seed)
        )
        result = limits_of(
            peer.bootstrap_distribution,
            statistic(sample),
            [without_one(sample, statistic)],
            method=method,
            **PLAIN,
        )
        assert_same_place(result, peer)


def test_bca_of_two_samples_is_scipys_from_the_same_draws():
    first, second = rng(1).exponential(size=12), rng(2).normal(size=30) ** 2
    peer = scipy_stats.bootstrap(
        (first, second),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        method="BCa",
        n_resamples=4999,
        rng=rng(3),
    )
    jackknives = [
        without_one(first, np.mean) - second.mean(),
        first.mean() - without_one(second, np.mean),
    ]
    value = first.mean() - second.mean()
    result = limits_of(peer.bootstrap_distribution, value, jackknives, method="bca", **PLAIN)
    assert_same_place(result, peer)


def bca_by_hand(values, estimate, jackknife, confidence):
    """Efron and Tibshirani (1993), equations 14.10, 14.14 and 14.15; ties count half."""
    norm, mean = scipy_stats.norm, sum(jackknife) / len(jackknife)
    cubes = sum((mean - each) ** 3 for each in jackknife)
    squares = sum((mean - each) ** 2 for each in jackknife)
    a = cubes / (6 * squares**1.5) if squares > 0 else 0.0
    below = sum(each < estimate for each in values) + sum(each == estimate for each in values) / 2
    z0 = norm.ppf((below + 0.5) / (len(values) + 1))
    limits = []
    for tail in ((1 - confidence) / 2, (1 + confidence) / 2):
        z = norm.ppf(tail)
        share = norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        limits.append(np.quantile(values, share, method="weibull"))
    return limits


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95])
def test_bca_equals_the_formula_by_hand_with_ties(confidence):
    for seed in range(300):
        random = rng(seed)
        values = random.integers(-5, 6, 40) / 5
        estimate, jackknife = random.integers(-4, 5) / 5, random.integers(-4, 5, 9) / 5
        result = limits_of(
            values, estimate, [jackknife], confidence=confidence, method="bca", **PLAIN
        )
        expected = bca_by_hand(values.tolist(), estimate, jackknife.tolist(), confidence)
        assert [result.low, result.high] == pytest.approx(expected, abs=1e-9)


def test_the_widened_percentile_of_a_mean_is_students_t():
    for n in (5, 8, 20, 60):
        sample = rng(n).normal(size=n)
        weights = rng(n + 1).multinomial(n, np.full(n, 1 / n), size=50_000) / n
        result = limits_of(
            weights @ sample, sample.mean(), [without_one(sample, np.mean)], bounds=(-9.0, 9.0)
        )
        t = scipy_stats.t.interval(0.95, n - 1, sample.mean(), sample.std(ddof=1) / math.sqrt(n))
        # a mean of so few is not normal in its tails, hence not quite
        assert result.high - result.low == pytest.approx(t[1] - t[0], rel=0.12)
        narrow = limits_of(weights @ sample, sample.mean(), bounds=(-9.0, 9.0))
        assert narrow.high - narrow.low < 0.985 * (t[1] - t[0])


draws = st.lists(st.sampled_from([-1, -0.5, 0, 0.25, 0.5, 1, NAN]), min_size=12, max_size=40)
units = st.lists(st.sampled_from([-0.5, 0, 0.2, 0.5]), min_size=2, max_size=9)
methods = st.sampled_from(["percentile", "bca"])
estimates = st.sampled_from([-1, -0.5, 0, 0.25, 1])


@given(draws, estimates, units, methods)
def test_turning_the_sign_turns_the_limits(values, estimate, jackknife, method):
    plain = limits_of(values, estimate, [jackknife], method=method)
    turned = limits_of(np.negative(values), -estimate, [np.negative(jackknife)], method=method)
    assert (plain.low, plain.high) == pytest.approx((-turned.high, -turned.low), nan_ok=True)
    assert plain.reason == turned.reason


@given(draws, estimates, units)
def test_undefined_draws_never_narrow_an_interval(values, estimate, jackknife):
    defined = [value for value in values if not math.isnan(value)]
    whole = limits_of(values, estimate, [jackknife])
    assert whole.undefined == len(values) - len(defined)
    assert whole.draws == len(values)
    if defined:
        dropped = limits_of(defined, estimate, [jackknife])
        assert whole.low <= dropped.low + 1e-12
        assert whole.high >= dropped.high - 1e-12


SPREAD = [0.1, 0.2, 0.3, 0.4, 0.5] * 40
TEN = list(np.linspace(0.2, 0.4, 10))
#: draws, estimate, jackknives, options, limits, what the reason says
DEGENERATE = {
    "the estimate is undefined": (SPREAD, NAN, [TEN], {}, (NAN, NAN), "there is no value"),
    "no draws": ([], 0.3, [TEN], {}, (NAN, NAN), "no draw has a value"),
    "one unit": (SPREAD, 0.3, (), {"units": 1}, (NAN, NAN), "nothing to draw"),
    "all draws equal": ([0.3] * 200, 0.3, [TEN], {}, (0.3, 0.3), "give the same"),
    "few units": (SPREAD, 0.3, (), {"units": FEW_UNITS - 1}, (0.1, 0.5), "fewer than 8"),
    "many undefined": ([*SPREAD[:90], *[NAN] * 10], 0.3, (), {}, (-1, 1), "10 of 100 draws"),
    "few draws": ([0.1, 0.5] * 5, 0.3, (), {}, (0.1, 0.5), "beyond the outermost of 10"),
    "a unit that cannot be left out": (
        [*SPREAD], 0.3, [[NAN, *TEN]], {"method": "bca"}, (0.1, 0.5), "instead of BCa"
    ),
    "an unmoved jackknife": (SPREAD, 0.3, [[0.3] * 9], {"method": "bca"}, (0.1, 0.5), ""),
    "estimate above all draws": ([0.1] * 100 + [0.2] * 100, 0.9, [TEN], {}, (0.1, 0.2), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_draws_give_limits_with_a_reason(case):
    values, estimate, jackknives, options, limits, reason = case
    result = limits_of(values, estimate, jackknives, **options)
    assert (result.low, result.high) == pytest.approx(limits, nan_ok=True)
    assert reason in result.reason
    assert bool(result.reason) == bool(reason)
    assert result.draws == len(values)


def test_a_confidence_in_percent_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        limits_of([0.1, 0.2], 0.1, confidence=95)
