"""Minimum detectable differences and widths, against their definitions and planted differences."""

import math

import numpy as np
import pytest
from scipy import stats

from tstmeta.stats import Plan, Setting, draw, resampled
from tstmeta.stats.power import detectable_difference, width_by_items

NAN = math.nan


def rng(*seed):
    return np.random.default_rng(seed)


def world(seed, sources=60, systems=4, noise=(1.0, 1.5, 3.0)):
    """Ratings and metrics that see them through more and more noise."""
    made = rng(seed)
    human = made.normal(size=(sources, systems))
    return human, np.stack([human + sd * made.normal(size=human.shape) for sd in noise])


@pytest.mark.parametrize("units", ["sources", "both"])
def test_the_difference_is_two_quantiles_times_the_paired_standard_error(units):
    human, metrics = world(1, systems=8)
    setting, plan = Setting("kendall", "source"), Plan(units, 200)
    found = detectable_difference(human, metrics, setting, plan, rng(2), power=0.9, alpha=0.01)
    values = resampled(human, metrics, setting, draw(plan, human.shape, rng(2)))
    factor = stats.norm.ppf(0.995) + stats.norm.ppf(0.9)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        error = np.std(values[first] - values[second], ddof=1)
        assert found.error[first, second] == pytest.approx(error)
        assert found.difference[first, second] == pytest.approx(factor * error)
    assert found.difference == pytest.approx(found.difference.T, nan_ok=True)
    assert found.observed == pytest.approx(-found.observed.T)
    assert np.isnan(np.diag(found.difference)).all()
    assert found.reason == ""


def test_what_two_metrics_share_makes_their_difference_easier_to_see():
    human, (metric, *_) = world(3)
    other = rng(4).normal(size=human.shape)
    pair = np.stack([metric, metric + 0.3 * other, human + rng(5).normal(size=human.shape)])
    found = detectable_difference(human, pair, Setting(), Plan(n=400), rng(0)).difference
    assert found[0, 1] < 0.6 * found[0, 2]


def correlated(made, size, first, second):
    """Human values and two metrics of correlation ``first`` and ``second`` with them."""
    human, *noise = made.normal(size=(3, *size))
    metrics = [
        r * human + math.sqrt(1 - r * r) * e for r, e in zip((first, second), noise, strict=True)
    ]
    return human, np.stack(metrics)


def test_a_difference_of_the_detectable_size_is_found_in_about_four_runs_of_five():
    size, first, runs, plan = (100, 1), 0.6, 800, Plan(n=200)
    second = first
    for _ in range(3):  # the detectable size depends on the two correlations themselves
        found = [
            detectable_difference(
                *correlated(rng(9, run), size, first, second), Setting(), plan, rng(run)
            )
            for run in range(20)
        ]
        second = first - float(np.mean([one.difference[0, 1] for one in found]))
    seen = 0
    for run in range(runs):
        human, metrics = correlated(rng(10, run), size, first, second)
        one = detectable_difference(human, metrics, Setting(), plan, rng(run))
        seen += abs(one.observed[0, 1]) > stats.norm.ppf(0.975) * one.error[0, 1]
    assert 0.75 <= seen / runs <= 0.85


#: human, metrics, plan, part of the reason
DOUBTFUL = {
    "all missing": (np.full((9, 4), NAN), Plan(n=20), "no pair"),
    "constant ratings": (np.ones((9, 4)), Plan(n=20), "no pair"),
    "no sources": (np.empty((0, 4)), Plan(n=20), "no pair"),
    "three sources": (rng(1).normal(size=(3, 4)), Plan(n=20), "3 sources or clusters"),
    "four systems": (rng(1).normal(size=(20, 4)), Plan("both", n=20), "4 systems"),
    "two clusters": (
        rng(1).normal(size=(20, 4)),
        Plan(n=20, clusters=np.arange(20) % 2),
        "2 sources or clusters",
    ),
}


@pytest.mark.parametrize(("human", "plan", "reason"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_doubts_are_named(human, plan, reason):
    metrics = rng(2).normal(size=(2, *human.shape))
    found = detectable_difference(human, metrics, Setting(), plan, rng(0))
    assert reason in found.reason
    assert np.isnan(found.difference).all() == (reason == "no pair")


def test_a_metric_without_scores_spoils_its_own_pairs_only():
    human, metrics = world(6)
    metrics[1] = NAN
    found = detectable_difference(human, metrics, Setting(), Plan(n=50), rng(0))
    assert np.isfinite(found.difference).tolist() == [
        [False, False, True],
        [False, False, False],
        [True, False, False],
    ]


def test_draws_without_a_value_are_counted():
    human, metrics = world(7, sources=8, systems=1)
    human[:6] = 1.0  # draws without the last two sources are constant
    found = detectable_difference(human, metrics[:2], Setting(), Plan(n=400), rng(0))
    assert found.undefined == pytest.approx((6 / 8) ** 8, abs=0.06)
    assert "no value in up to" in found.reason


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"plan": Plan("raters")}, "a plan over raters"),
        ({"power": 1.0}, "power and alpha"),
        ({"alpha": 0.0}, "power and alpha"),
        ({"metrics": np.ones((1, 60, 4))}, "two or more"),
    ],
)
def test_questions_without_sense_are_refused(changes, message):
    human, metrics = world(8)
    given = {"metrics": metrics, "setting": Setting(), "plan": Plan(n=5), "rng": rng(0)} | changes
    with pytest.raises(ValueError, match=message):
        detectable_difference(human, **given)


# ------------------------------------------------------------------------------- widths


def test_widths_follow_the_law_of_the_square_root_where_sources_are_many():
    human, metrics = world(11, sources=400)
    found = width_by_items(human, metrics[0], Setting(), [50, 100, 200, 400, 1600], rng(0), 300)
    assert found.sources == 400
    assert found.width[:4] == pytest.approx(found.law[:4], rel=0.15)
    assert found.law[-1] == pytest.approx(found.full / 2)
    assert np.isnan(found.width[-1])
    assert (found.low[:4] <= found.width[:4]).all()
    assert (found.width[:4] <= found.high[:4]).all()
    assert (np.diff(found.width[:4]) < 0).all()


def test_the_width_is_that_of_the_percentile_interval():
    human, metrics = world(12, sources=30)
    plan = Plan(n=4000)
    values = resampled(human, metrics[:1], Setting(), draw(plan, human.shape, rng(1)))[0]
    low, high = np.quantile(values, [0.05, 0.95])
    found = width_by_items(
        human, metrics[0], Setting(), [30], rng(0), 4000, subsamples=2, confidence=0.9
    )
    assert found.full == pytest.approx(high - low, rel=0.05)
    assert found.width[0] == pytest.approx(high - low, rel=0.05)


def test_sources_without_ratings_are_none():
    human, metrics = world(13, sources=40)
    bare = np.full((20, 4), NAN)
    padded = (
        np.concatenate([human, bare]),
        np.concatenate([metrics[0], rng(0).normal(size=(20, 4))]),
    )
    found = width_by_items(*padded, Setting(), [20, 50], rng(0))
    assert found.sources == 40
    assert np.isfinite(found.width).tolist() == [True, False]


def test_too_few_sources_say_so():
    human, metrics = world(14, sources=1)
    found = width_by_items(human, metrics[0], Setting(), [5], rng(0))
    assert found.reason == "fewer than two sources with ratings and scores"
    assert np.isnan(found.law).all()
    constant = width_by_items(np.ones((9, 2)), np.ones((9, 2)), Setting(), [5], rng(0))
    assert constant.reason == "no value with all sources"
    assert np.isnan(constant.width).all()


def test_sizes_and_shapes_that_do_not_fit_are_refused():
    human, metrics = world(15)
    with pytest.raises(ValueError, match="2 or more"):
        width_by_items(human, metrics[0], Setting(), [1], rng(0))
    with pytest.raises(ValueError, match="one shape"):
        width_by_items(human, metrics, Setting(), [5], rng(0))
