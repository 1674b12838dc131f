"""Minimum detectable differences, against their definition and planted differences."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from tests.stats.oracles import noisy, rng
from tstmeta.stats import ResamplingPlan, Setting, draw, estimate, resample
from tstmeta.stats.power import detectable_difference, tilted

NAN = math.nan


#: setting, units, cells; limits over single items are not widened
CASES = [
    (Setting("pearson", "source"), "sources", (60, 4)),
    (Setting(), "both", (20, 12)),
    (Setting("spearman"), "sources", (200, 1)),
    (Setting(), "sources", (7, 60)),
]


@pytest.mark.parametrize(("setting", "units", "shape"), CASES)
def test_four_of_five_draws_of_the_tilted_scores_lie_beyond_the_reach(setting, units, shape):
    human, metrics = noisy(1, shape, (1.0, 1.5, 3.0))
    human[0, 0] = metrics[:, -1, 0] = NAN
    plan = ResamplingPlan(units, n=400)
    result = detectable_difference(human, metrics[0], metrics[1:], setting, plan, rng(2))
    draws, n = draw(plan, human.shape, rng(2)), shape[1] if units == "both" else shape[0]
    for place, other in enumerate(metrics[1:]):
        size = result[place]

        def off(angle, other=other, size=size):
            pair = [metrics[0], tilted(human, other, angle)]
            return np.subtract(*estimate(human, pair, setting)) - size

        worse = tilted(human, other, optimize.brentq(off, -1.57, 1.57))
        drawn = resample(human, [metrics[0], worse], setting, plan, draws)
        gaps, reach = drawn.pairs.resampled[0], stats.norm.ppf(0.975)
        if drawn.widened:
            reach = stats.t.ppf(0.975, n - 1) * math.sqrt(n / (n - 1))
        reach *= gaps.std(ddof=1)
        assert np.mean(gaps > reach) == pytest.approx(0.8, abs=0.011)


def test_a_tilt_ends_at_people_and_at_their_opposite_and_passes_the_scores():
    human, metrics = noisy(2, (60, 4), (1.0, 1.5, 3.0))
    tilts = np.linspace(-math.pi / 2, math.pi / 2, 9)
    values = estimate(human, [tilted(human, 3 * metrics[1], tilt) for tilt in tilts], Setting())
    assert values[[0, -1]] == pytest.approx([-1, 1])
    assert values[4] == pytest.approx(estimate(human, metrics, Setting())[1])
    assert (np.diff(values) > 0).all()


def test_what_cannot_be_detected_or_has_no_value_says_so():
    human, metrics = noisy(3, (60, 4), (1.0, 1.5, 3.0))
    others, plan = np.stack([metrics[1], 0 * metrics[1]]), ResamplingPlan(n=99)
    result = detectable_difference(human, -human, others, Setting(), plan, rng())
    assert result[0] == math.inf  # nothing is worse than the opposite of people
    assert np.isnan(result[1])
    # of one source there is nothing to draw; of two one degree of freedom reaches too far
    for sources, expected in ((1, NAN), (2, math.inf)):
        few = human[:sources], metrics[0, :sources], metrics[:1, :sources]
        result = detectable_difference(*few, Setting(), plan, rng())
        assert result == pytest.approx([expected], nan_ok=True)


@pytest.mark.parametrize("statistic", ["pearson", "pairwise-accuracy"])
def test_a_metric_that_sees_nothing_or_nothing_but_people_cannot_be_tilted(statistic):
    human, metrics = noisy(4, (60, 4), (1.0, 1.5, 3.0))
    others = np.stack([0 * human + 2, human, 3 - 0.1 * human, metrics[1]])
    plan, setting = ResamplingPlan(n=99), Setting(statistic)
    result = detectable_difference(human, metrics[0], others, setting, plan, rng())
    assert np.isnan(result).tolist() == [True, True, True, False]
    constant = detectable_difference(0 * human, metrics[0], others, setting, plan, rng())
    assert not np.isfinite(constant).any()
