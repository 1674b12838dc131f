"""Non-inferiority and equivalence: p by its definition, beside the interval, and by simulation."""

import math

import pytest

from benchmarks import simulated
from tests.stats.oracles import draws_of, noisy, rng
from tstmeta.stats import (
    ResamplingPlan,
    Setting,
    difference,
    equivalent,
    noninferior,
    of_draws,
    resample,
)

ITEMS, NOISE, SETTING = (60, 1), (1.0, 1.2, 0.8), Setting("kendall")


def test_p_is_the_share_of_draws_beyond_the_margin_the_data_counted_with_them():
    drawn = resample(*noisy(1, ITEMS, NOISE), SETTING, ResamplingPlan(n=199), rng())
    for first, second in ((0, 1), (1, 0), (2, 1), (0, 2)):
        gaps = drawn.values[first] - drawn.values[second]
        for margin in (0.0, 0.03, 0.1, 0.9):
            worse, better = (gaps <= -margin).sum() + 1, (gaps >= margin).sum() + 1
            assert noninferior(drawn, first, second, margin) == pytest.approx(worse / 200)
            both = equivalent(drawn, first, second, margin)
            assert both == pytest.approx(max(worse, better) / 200)
    assert noninferior(drawn, 0, 1, 2.5) == pytest.approx(1 / 200)  # never 0


PLANS = [(ITEMS, {}), ((12, 6), {}), ((12, 1), {"strata": [0, 1, 2, 3] * 3})]
PLANS += [((12, 6), {"units": units}) for units in ("systems", "both")]


@pytest.mark.parametrize(("shape", "plan"), PLANS)
def test_p_is_below_five_percent_where_the_interval_of_ninety_lies_inside_the_margin(shape, plan):
    for seed in range(15):
        how = ResamplingPlan(n=2000, **plan)
        drawn = resample(*noisy(seed, shape, NOISE), Setting(), how, rng(seed))
        limits = difference(drawn, 0, 1, confidence=0.9)
        step = 0.04 * (limits.high - limits.low)
        for more in (-step, step):
            if limits.low < -step:
                assert (noninferior(drawn, 0, 1, more - limits.low) < 0.05) == (more > 0)
            farther = max(-limits.low, limits.high) + more
            assert (equivalent(drawn, 0, 1, farther) < 0.05) == (more > 0)


def test_what_has_no_value_has_no_p_and_a_margin_is_not_below_zero():
    human, metrics = noisy(2, ITEMS, NOISE)
    metrics[1] = 0
    drawn = resample(human, metrics, SETTING, ResamplingPlan(n=20), rng())
    assert math.isnan(noninferior(drawn, 0, 1, 0.1))
    assert math.isnan(equivalent(drawn, 0, 1, 0.1))
    for margin in (-0.1, math.nan, math.inf):
        with pytest.raises(ValueError, match="a margin is a number from 0 up"):
            noninferior(drawn, 0, 2, margin)


@pytest.mark.nightly
@pytest.mark.parametrize("function", [noninferior, equivalent])
def test_at_the_margin_five_percent_are_rejected(function):
    random, plan, shape, hits = rng(5), ResamplingPlan(n=300), (100, 1), 0
    for draws in draws_of(plan, shape, 3000, random):
        sample = simulated.normal(random, shape, (0.5, 0.7))
        hits += function(of_draws(*sample, Setting(), plan, draws), 0, 1, 0.2) <= 0.05
    assert 0.035 <= hits / 3000 <= 0.065
