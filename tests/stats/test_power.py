"""Minimum detectable differences and widths, against their definitions and planted differences."""

import math

import numpy as np
import pytest
from scipy import stats

from tests.stats.oracles import rng
from tstmeta.stats import ResamplingPlan, Setting, draw, resampled
from tstmeta.stats.power import detectable_difference, width_by_items

NAN = math.nan


def world(seed, sources=60, systems=4, noise=(1.0, 1.5, 3.0)):
    """Ratings and metrics that see them through more and more noise."""
    random = rng(seed)
    human = random.normal(size=(sources, systems))
    return human, np.stack([human + sd * random.normal(size=human.shape) for sd in noise])


@pytest.mark.parametrize("units", ["sources", "both"])
def test_the_difference_is_two_quantiles_times_the_paired_standard_error(units):
    human, metrics = world(1, systems=8)
    setting, plan = Setting("kendall", "source"), ResamplingPlan(units, 200)
    result = detectable_difference(human, metrics, setting, plan, rng(2), power=0.9, alpha=0.01)
    values = resampled(human, metrics, setting, draw(plan, human.shape, rng(2)))
    factor = stats.norm.ppf(0.995) + stats.norm.ppf(0.9)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        error = np.std(values[first] - values[second], ddof=1)
        assert result.error[first, second] == pytest.approx(error)
        assert result.difference[first, second] == pytest.approx(factor * error)
    assert result.difference == pytest.approx(result.difference.T, nan_ok=True)
    assert result.observed == pytest.approx(-result.observed.T)
    assert np.isnan(np.diag(result.difference)).all()


def correlated(random, size, first, second):
    """Human values and two metrics of correlation ``first`` and ``second`` with them."""
    human, *noise = random.normal(size=(3, *size))
    metrics = [
        r * human + math.sqrt(1 - r * r) * e for r, e in zip((first, second), noise, strict=True)
    ]
    return human, np.stack(metrics)


@pytest.mark.nightly
def test_a_difference_of_the_detectable_size_is_found_in_about_four_runs_of_five():
    size, first, runs, plan = (100, 1), 0.6, 800, ResamplingPlan(n=200)
    second = first
    for _ in range(3):  # the detectable size depends on the two correlations themselves
        result = [
            detectable_difference(
                *correlated(rng(9, run), size, first, second), Setting(), plan, rng(run)
            )
            for run in range(20)
        ]
        second = first - float(np.mean([each.difference[0, 1] for each in result]))
    seen = 0
    for run in range(runs):
        human, metrics = correlated(rng(10, run), size, first, second)
        each = detectable_difference(human, metrics, Setting(), plan, rng(run))
        seen += abs(each.observed[0, 1]) > stats.norm.ppf(0.975) * each.error[0, 1]
    assert 0.75 <= seen / runs <= 0.85


def test_widths_follow_the_law_of_the_square_root_where_sources_are_many():
    human, metrics = world(11, sources=400)
    result = width_by_items(human, metrics[0], Setting(), [50, 100, 200, 400, 1600], rng(0), 300)
    assert result.sources == 400
    assert result.width[:4] == pytest.approx(result.law[:4], rel=0.15)
    assert result.law[-1] == pytest.approx(result.law[3] / 2)
    assert np.isnan(result.width[-1])
    assert (result.low[:4] <= result.width[:4]).all()
    assert (result.width[:4] <= result.high[:4]).all()
    assert (np.diff(result.width[:4]) < 0).all()


def test_the_width_is_that_of_the_percentile_interval():
    human, metrics = world(12, sources=30)
    plan = ResamplingPlan(n=4000)
    values = resampled(human, metrics[:1], Setting(), draw(plan, human.shape, rng(1)))[0]
    low, high = np.quantile(values, [0.025, 0.975])
    result = width_by_items(human, metrics[0], Setting(), [30], rng(0), 2000)
    assert result.law[0] == pytest.approx(high - low, rel=0.05)
    assert result.width[0] == pytest.approx(high - low, rel=0.05)


@pytest.mark.parametrize("shape", [(1, 4), (9, 2)], ids=["one source", "constant ratings"])
def test_where_there_is_no_width_there_is_no_law(shape):
    result = width_by_items(np.ones(shape), np.ones(shape), Setting(), [5], rng(0))
    assert result.sources == shape[0]
    assert np.isnan([result.width, result.low, result.high, result.law]).all()
