"""Limits of one value against scipy and formulas; what is drawn, left out and counted."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tests.stats.oracles import drawn_anew, rng
from tstmeta import stats
from tstmeta.stats import Draws, ResamplingPlan, Setting, difference, draw, estimate
from tstmeta.stats.intervals import pair_of
from tstmeta.stats.limits import influence, interval

NAN = math.nan


def limits_of(values, estimate, jackknives=(), units=10**6, **options):
    left_out, counts = [np.array(side, dtype=float) for side in jackknives], {"units": units}
    if left_out:
        counts = {"units": sum(max(len(values) - 1, 0) for values in left_out) + 1}
    return interval(np.array(values, dtype=float), estimate, left_out, counts, **options)


def test_the_widened_percentile_of_a_mean_is_students_t():
    for n in (5, 8, 20, 60):
        sample = rng(n).normal(size=n)
        weights = rng(n + 1).multinomial(n, np.full(n, 1 / n), size=50_000) / n
        left_out = [np.array([np.delete(sample, i).mean() for i in range(n)])]
        result = limits_of(weights @ sample, sample.mean(), left_out, bounds=(-9.0, 9.0))
        t = scipy_stats.t.interval(0.95, n - 1, sample.mean(), sample.std(ddof=1) / math.sqrt(n))
        # a mean of so few is not normal in its tails, hence not quite
        assert result.high - result.low == pytest.approx(t[1] - t[0], rel=0.12)
        narrow = limits_of(weights @ sample, sample.mean(), bounds=(-9.0, 9.0))
        assert narrow.high - narrow.low < 0.985 * (t[1] - t[0])


def test_samples_of_units_add_up_their_variances_and_satterthwaite_counts_them():
    samples = [rng(size).normal(size=size) for size in (1, 2, 3, 7)]
    sizes = np.array([2, 3, 7])
    fair = (sizes - 1) * np.array([sample.var() for sample in samples[1:]])
    expected = fair.sum() ** 2 / (fair**2 / (sizes - 1)).sum()
    factor = math.sqrt(fair.sum() / (fair * (sizes - 1) / sizes).sum())
    for scale in (1.0, 1e-8):
        left_out = [scale * sample for sample in samples]
        assert influence(left_out, 5) == pytest.approx((expected, factor))
    for nothing in (np.full(9, 0.3), np.full(9, NAN), 1e-15 * samples[3]):
        assert influence([nothing], 5) == (4, math.sqrt(5 / 4))


def test_limits_are_quantiles_of_any_confidence():
    values = rng(5).normal(size=(2, 50))
    plain = np.quantile(values, [0.1, 0.9], axis=1, method="weibull").T
    result = stats.percentile_intervals(values, [0.0, 0.1], units=10**9, confidence=0.8)
    np.testing.assert_allclose([limit[:2] for limit in result], plain)
    [few] = stats.percentile_intervals(values[:1], [0.1], units=6)
    assert few == interval(values[0], 0.1, (), {"units": 6})
    values[:, :9] = NAN
    [holed] = stats.percentile_intervals(values[:1], [0.0], units=9, bounds=(-8, 9))
    assert holed[:2] == (-8, 9)
    drawn = drawn_anew(*data(), Setting(), ResamplingPlan(n=99), rng())
    side = (drawn.resampled[0], drawn.estimates[0], [drawn.metrics.jackknives[0][0]])
    narrow = interval(*side, {"sources": 12}, confidence=0.8)
    assert stats.confidence_intervals(drawn, confidence=0.8)[0] == narrow


draws = st.lists(st.sampled_from([-1, -0.5, 0, 0.25, 0.5, 1, NAN]), min_size=12, max_size=40)
units = st.lists(st.sampled_from([-0.5, 0, 0.2, 0.5]), min_size=2, max_size=9)
estimates = st.sampled_from([-1, -0.5, 0, 0.25, 1])


@given(draws, estimates, units)
def test_turning_the_sign_turns_the_limits(values, estimate, jackknife):
    plain = limits_of(values, estimate, [jackknife])
    negated = limits_of(np.negative(values), -estimate, [np.negative(jackknife)])
    assert (plain.low, plain.high) == pytest.approx((-negated.high, -negated.low), nan_ok=True)
    assert plain.reason == negated.reason


@given(draws, estimates, units)
def test_undefined_draws_never_narrow_an_interval(values, estimate, jackknife):
    defined = [value for value in values if not math.isnan(value)]
    full = limits_of(values, estimate, [jackknife])
    if defined:
        dropped = limits_of(defined, estimate, [jackknife])
        assert full.low <= dropped.low + 1e-12
        assert full.high >= dropped.high - 1e-12


SPREAD = [0.1, 0.2, 0.3, 0.4, 0.5] * 40
TEN = list(np.linspace(0.2, 0.4, 10))
ONE = {"confidence": 0.94, "widened": False}
SAME = "all draws that have a value give the same: they say nothing of its spread"
FAR = "a limit lies beyond the outermost of {} draws"
FEW = "7 units: over fewer than 8 it can cover less than it claims"
HOLES = "10 of 100 draws have no value and count on both sides"
#: draws, estimate, jackknives, options, limits, the reason
LITTLE = {
    "the estimate is undefined": (SPREAD, NAN, [TEN], {}, (NAN, NAN), "there is no value"),
    "no draws": ([], 0.3, [TEN], {}, (NAN, NAN), "no draw has a value"),
    "no unit": (SPREAD, 0.3, (), {"units": 0}, (NAN, NAN), "0 units: there is nothing to draw"),
    "one unit": (SPREAD, 0.3, (), {"units": 1}, (NAN, NAN), "1 unit: there is nothing to draw"),
    "all draws equal": ([0.3] * 200, 0.3, [TEN], {}, (0.3, 0.3), SAME),
    "a single draw": ([0.3], 0.3, [TEN], {}, (0.3, 0.3), SAME),
    "all draws equal but one": ([0.2] + [0.3] * 199, 0.2, (), ONE, (0.3, 0.3), ""),
    "few units": (SPREAD, 0.3, (), {"units": 7}, (0.1, 0.5), f"{FAR.format(200)}; {FEW}"),
    "enough units": (SPREAD, 0.3, (), {"units": 8}, (0.1, 0.5), ""),
    "many undefined": ([*SPREAD[:90], *[NAN] * 10], 0.3, (), {}, (-1, 1), HOLES),
    "one undefined": ([*SPREAD[:99], NAN], 0.3, (), {}, (0.1, 0.5), ""),
    "few draws": ([0.1, 0.5] * 16, 0.3, (), ONE, (0.1, 0.5), FAR.format(32)),
    "enough draws": ([0.1, 0.5] * 16 + [0.5], 0.3, (), ONE, (0.1, 0.5), ""),
    "an unmoved jackknife": (SPREAD, 0.3, [[0.3] * 9], {}, (0.1, 0.5), ""),
    "estimate above all draws": ([0.1] * 100 + [0.2] * 100, 0.9, [TEN], {}, (0.1, 0.2), ""),
}  # fmt: skip


@pytest.mark.parametrize("case", LITTLE.values(), ids=LITTLE)
def test_degenerate_draws_give_limits_with_a_reason(case):
    values, estimate, jackknives, options, limits, reason = case
    result = limits_of(values, estimate, jackknives, **options)
    assert (result.low, result.high) == pytest.approx(limits, nan_ok=True)
    assert result.reason == reason


every_units = pytest.mark.parametrize("units", ["sources", "systems", "both"])
SETTINGS = [
    Setting("pearson"),
    Setting("kendall", "source"),
    Setting("pearson", "system"),
    Setting("pairwise-accuracy", "system"),
    Setting("spearman", "within-system"),
]
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def data(shape=(12, 9), metrics=3, seed=0, holes=0.0):
    """Ratings on five points and metrics that follow them more and more."""
    random = rng(seed)
    quality = random.normal(size=shape)
    human = np.clip(np.round(3 + quality), 1, 5)
    limits = np.stack([quality + (3 - m) * random.normal(size=shape) for m in range(metrics)])
    limits[random.random(limits.shape) < holes] = NAN
    return human, limits


@every_units
@every_setting
def test_estimates_and_draws_are_those_of_the_plan(setting, units):
    human, metrics = data(holes=0.1)
    plan = ResamplingPlan(units, n=50)
    resampling = drawn_anew(human, metrics, setting, plan, rng(3))
    drawn = draw(plan, human.shape, rng(3))
    plain, centres = stats.resampled(human, metrics, setting, drawn), resampling.estimates[:, None]
    if units == "both" and setting.level == "system":  # those that vary more
        only_sources = Draws(drawn.sources, np.ones_like(drawn.systems))
        only_systems = Draws(np.ones_like(drawn.sources), drawn.systems)
        both = [stats.resampled(human, metrics, setting, d) for d in (only_sources, only_systems)]
        expected = np.where(np.var(both[0], axis=1) > np.var(both[1], axis=1), both[0].T, both[1].T)
        np.testing.assert_allclose(resampling.resampled.T, expected, atol=1e-12)
    elif units == "both":  # nearer to the estimate, each metric's draws by one factor
        factor = (resampling.resampled - centres) / (plain - centres)
        np.testing.assert_allclose(factor, np.broadcast_to(factor[:, :1], factor.shape))
        assert ((factor > 0) & (factor < 1 + 1e-9)).all()
    else:
        np.testing.assert_allclose(resampling.resampled, plain, atol=1e-12)
    np.testing.assert_allclose(resampling.estimates, estimate(human, metrics, setting), atol=1e-12)


@pytest.mark.parametrize("level", ["source", "within-system"])
@every_units
def test_a_difference_is_over_the_groups_where_both_have_a_value(level, units):
    human, metrics = data((12, 9), holes=0.1)
    metrics[0, 3:7] = 1.0
    rows = [np.delete(side, range(3, 7), -2) for side in (human, metrics)]
    if level == "within-system":
        human, metrics, *rows = (np.swapaxes(side, -2, -1) for side in (human, metrics, *rows))
    setting = Setting("kendall", level)
    resampling = drawn_anew(human, metrics, setting, ResamplingPlan(units, 60), rng())
    assert resampling.pairs.estimates[0] == pytest.approx(
        np.subtract(*estimate(*rows, setting)[:2])
    )
    assert resampling.pairs.estimates[2] == pytest.approx(np.subtract(*resampling.estimates[1:]))
    ahead, back = difference(resampling, 0, 2), difference(resampling, 2, 0)
    assert (ahead.low, ahead.high) == (-back.high, -back.low)
    assert ahead.reason.startswith(
        "over the 8 groups where both have a value (alone over 8 and 12)"
    )
    assert "groups" not in difference(resampling, 1, 2).reason


@every_setting
def test_the_jackknife_leaves_out_sources_then_systems(setting):
    human, metrics = data((6, 5), seed=2, holes=0.1)
    resampling = drawn_anew(human, metrics, setting, ResamplingPlan("both", n=2), rng())
    for axis, left_out in enumerate(resampling.metrics.jackknives):
        for unit in range(human.shape[axis]):
            smaller = [np.delete(side, unit, axis - 2) for side in (human, metrics)]
            np.testing.assert_allclose(left_out[:, unit], estimate(*smaller, setting), atol=1e-9)
    assert {name: list(n) for name, n in resampling.metrics.counts.items()} == {
        "sources": [6, 6, 6],
        "systems": [5, 5, 5],
    }


def test_strata_are_samples_of_their_own_and_cost_a_unit_each():
    human, metrics = data((7, 5))
    plan = ResamplingPlan("sources", 2, strata=[0, 0, 0, 1, 1, 1, 2])
    resampling = drawn_anew(human, metrics, Setting(), plan, rng())
    assert [side.shape for side in resampling.metrics.jackknives] == [(3, 3), (3, 3), (3, 1)]
    # the last stratum is always itself
    assert list(resampling.metrics.counts["sources"]) == [5, 5, 5]


def test_units_that_a_metric_has_nothing_of_do_not_count():
    human, metrics = data((20, 9), metrics=4)
    metrics[0, 4:] = metrics[3] = NAN
    metrics[1, :, 6:] = NAN
    resampling = drawn_anew(human, metrics, Setting(), ResamplingPlan("both", 100), rng())
    assert list(resampling.metrics.counts["sources"]) == [4, 20, 20, 0]
    assert list(resampling.metrics.counts["systems"]) == [9, 6, 9, 0]
    assert resampling.pairs.present[0][0].all()  # of a difference, units that either has
    assert resampling.fewest == 4
    reasons = [limit.reason for limit in stats.confidence_intervals(resampling)]
    assert "4 sources" in reasons[0]
    assert "6 systems" in reasons[1]
    assert reasons[2:] == ["", "there is no value"]


def test_a_row_less_itself_is_nothing_and_a_row_that_is_not_there_is_refused():
    human, metrics = data()
    metrics[1:] = -metrics[1], 0 * metrics[2]
    drawn = drawn_anew(human, metrics, Setting(), ResamplingPlan(n=99), rng())
    assert [str(end) for end in difference(drawn, 1, 1)[:2]] == ["0.0", "0.0"]  # not -0
    assert np.isnan(difference(drawn, 2, 2)[:2]).all()
    for place, (i, j) in enumerate(itertools.combinations(range(3), 2)):
        assert pair_of(drawn, i, j)[1:] == (place, 1)
        assert pair_of(drawn, j, i)[1:] == (place, -1)
    for rows in ((0, 3), (-1, 0), (3, 0)):
        with pytest.raises(IndexError, match=f"3 metrics, and no rows {rows[0]} and {rows[1]}"):
            difference(drawn, *rows)


#: cells, plan, level, whether limits of a statistic of order are widened
ORDINAL = {
    "sources of one cell": ((27, 1), ResamplingPlan(), "pooled", False),
    "sources of two": ((9, 2), ResamplingPlan(), "pooled", True),
    "systems of one cell": ((1, 9), ResamplingPlan("systems"), "pooled", False),
    "both of one cell": ((1, 9), ResamplingPlan("both"), "pooled", True),
    "clusters": ((8, 1), ResamplingPlan(clusters=[*"aabbccdd"]), "pooled", True),
    "systems at their level": ((5, 9), ResamplingPlan(), "system", False),
    "nothing": ((0, 3), ResamplingPlan(), "pooled", False),
}


@pytest.mark.parametrize(("shape", "plan", "level", "widened"), ORDINAL.values(), ids=ORDINAL)
def test_order_statistics_over_single_items_are_not_widened(shape, plan, level, widened):
    for statistic, wider in (("kendall", widened), ("spearman", widened), ("pearson", True)):
        drawn = drawn_anew(*data(shape), Setting(statistic, level), plan._replace(n=99), rng())
        assert drawn.widened == wider
        if not wider:
            limits = [limit.low for limit in stats.confidence_intervals(drawn)]
            plain = np.quantile(drawn.resampled, 0.025, axis=1, method="weibull")
            assert limits == pytest.approx(plain, nan_ok=True)


def test_accuracies_end_at_zero_and_one_correlations_at_minus_one_and_differences_at_twice_that():
    human, metrics = data((3, 3), seed=4)
    human[:, 1:] = NAN  # most draws of sources have no pair of systems
    human[0] = [1, 2, 3]
    for name, ends in (("pairwise-accuracy", (0, 1)), ("kendall", (-1, 1))):
        plan, setting = ResamplingPlan("sources", 99), Setting(name, "source")
        drawn = drawn_anew(human, metrics, setting, plan, rng())
        limits = stats.confidence_intervals(drawn)
        assert {limit[:2] for limit in limits} == {ends}
        assert difference(drawn, 0, 1)[:2] == (ends[0] - ends[1], ends[1] - ends[0])
        assert all("count on both sides" in limit.reason for limit in limits)


def test_the_variance_of_both_is_never_less_than_that_of_sources_or_of_systems_alone():
    floored, setting = 0, Setting()
    for seed in range(12):
        human, *metrics = rng(seed).normal(size=(3, 10, 8))
        metrics[1][3:] = NAN  # of few items, so that some draws have no value
        metrics[1][:, 2:] = NAN
        plan = ResamplingPlan("both", 60, strata=np.arange(10) < 3 + seed // 6 * 7)
        drawn = draw(plan, (10, 8), rng(seed))
        alone = [np.ones_like(side) for side in drawn]
        draws = drawn, Draws(drawn.sources, alone[1]), Draws(alone[0], drawn.systems)
        every = [stats.resampled(human, metrics, setting, d, [(0, 1)]) for d in draws]
        result = stats.resample(human, metrics, setting, plan, drawn)
        for place, values in enumerate(zip(*every, strict=True)):
            rows, row = (result.pairs, 0) if place == 2 else (result.metrics, place)
            defined = np.isfinite(values).all(axis=0)
            total, by_source, by_system = (side[defined].var() for side in values)
            left_out = [side[row] for side in rows.jackknives]
            fair = [(len(side) - 1) * side.var() for side in left_out]
            sources, systems = sum(fair[:-1]), fair[-1]
            both = sources + systems - max(total - by_source - by_system, 0)
            floored += both < max(sources, systems)
            # a limit lies sqrt(n / (n - 1)) further out, which the draws leave for later
            narrow = sum((len(side) - 1) ** 2 / len(side) * side.var() for side in left_out)
            expected = max(both, sources, systems) * narrow / (sources + systems)
            assert rows.resampled[row][defined].var() == pytest.approx(min(expected, total))
    assert floored > 3
