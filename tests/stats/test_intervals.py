"""Intervals of metrics: what is drawn, left out and counted, and what happens where little is."""

import math

import numpy as np
import pytest

from tstmeta.stats import Plan, Setting, draw, estimate, everything, resampled
from tstmeta.stats.intervals import (
    difference,
    intervals,
    of_draws,
    of_resample,
    rater_means,
    resample,
)

NAN = math.nan
UNITS = ("sources", "systems", "both")
every_units = pytest.mark.parametrize("units", UNITS)
SETTINGS = [
    Setting("pearson"),
    Setting("kendall", "source"),
    Setting("pearson", "system"),
    Setting("pairwise-accuracy", "system"),
    Setting("spearman", "within-system"),
]
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def rng(seed=0):
    return np.random.default_rng(seed)


def data(shape=(12, 9), metrics=3, seed=0, holes=0.0):
    """Ratings on five points and metrics that follow them more and more."""
    random = rng(seed)
    quality = random.normal(size=shape)
    human = np.clip(np.round(3 + quality), 1, 5)
    found = np.stack([quality + (3 - m) * random.normal(size=shape) for m in range(metrics)])
    found[random.random(found.shape) < holes] = NAN
    return human, found


# ------------------------------------------------------------------------------------- draws


@every_units
@every_setting
def test_estimates_and_draws_are_those_of_the_plan(setting, units):
    human, metrics = data(holes=0.1)
    plan = Plan(units, n=50)
    made = resample(human, metrics, setting, plan, rng(3))
    drawn = draw(plan, human.shape, rng(3))
    np.testing.assert_array_equal(made.values, resampled(human, metrics, setting, drawn))
    np.testing.assert_array_equal(made.estimates, estimate(human, metrics, setting))
    again = of_draws(human, metrics, setting, plan, drawn)
    np.testing.assert_array_equal(again.values, made.values)


def test_the_same_draws_serve_all_metrics():
    human, metrics = data()
    plan = Plan("both", n=200)
    together = intervals(human, metrics, Setting(), plan, rng(1))
    turned = intervals(human, metrics[::-1], Setting(), plan, rng(1))
    alone = [intervals(human, one[None], Setting(), plan, rng(1))[0] for one in metrics]
    for a, b, c in zip(together, turned[::-1], alone, strict=True):
        assert a[:2] == pytest.approx(b[:2], abs=1e-12)
        assert a[:2] == pytest.approx(c[:2], abs=1e-12)


# --------------------------------------------------------------------------------- jackknives


@every_setting
def test_the_jackknife_leaves_out_sources_then_systems(setting):
    human, metrics = data((6, 5), seed=2, holes=0.1)
    made = resample(human, metrics, setting, Plan("both", n=2), rng())
    for axis, left_out in enumerate(made.jackknives):
        for unit in range(human.shape[axis]):
            smaller = [np.delete(one, unit, axis - 2) for one in (human, metrics)]
            np.testing.assert_allclose(left_out[:, unit], estimate(*smaller, setting), atol=1e-9)
    assert {name: list(n) for name, n in made.counts.items()} == {
        "sources": [6, 6, 6],
        "systems": [5, 5, 5],
    }


def test_the_jackknife_leaves_out_clusters_whole():
    human, metrics = data((6, 5))
    plan = Plan("sources", 2, clusters=["b", "a", "b", "c", "c", "c"])
    made = resample(human, metrics, Setting(), plan, rng())
    for place, cluster in enumerate("abc"):
        kept = [name != cluster for name in plan.clusters]
        expected = estimate(human[kept], metrics[:, kept], Setting())
        np.testing.assert_allclose(made.jackknives[0][:, place], expected)
    assert list(made.counts["clusters"]) == [3, 3, 3]


def test_strata_are_samples_of_their_own_and_cost_a_unit_each():
    human, metrics = data((7, 5))
    plan = Plan("sources", 2, strata=[0, 0, 0, 1, 1, 1, 2])
    made = resample(human, metrics, Setting(), plan, rng())
    assert [each.shape for each in made.jackknives] == [(3, 3), (3, 3), (3, 1)]
    assert list(made.counts["sources"]) == [5, 5, 5]  # the last stratum is always itself


def test_units_that_a_metric_has_nothing_of_do_not_count():
    human, metrics = data((20, 9))
    metrics[0, 4:] = NAN
    metrics[1, :, 6:] = NAN
    made = resample(human, metrics, Setting(), Plan("both", 100), rng())
    assert list(made.counts["sources"]) == [4, 20, 20]
    assert list(made.counts["systems"]) == [9, 6, 9]
    assert made.fewest == 4
    reasons = [one.reason for one in of_resample(made)]
    assert "4 sources" in reasons[0]
    assert "6 systems" in reasons[1]
    assert reasons[2] == ""


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(("units", "name"), [("sources", "7 sources"), ("systems", "7 systems")])
def test_fewer_than_eight_units_are_told(units, name, method):
    shape = (7, 20) if units == "sources" else (20, 7)
    for one in intervals(*data(shape), Setting(), Plan(units, 500), rng(), method=method):
        assert one.reason == f"{name}: over fewer than 8 it can cover less than it claims"
    shape = (8, 20) if units == "sources" else (20, 8)
    for one in intervals(*data(shape), Setting(), Plan(units, 500), rng(), method=method):
        assert one.reason == ""


# -------------------------------------------------------------------------------- the limits


@every_units
def test_auto_is_the_percentile(units):
    made = resample(*data(), Setting(), Plan(units, 200), rng())
    assert of_resample(made) == of_resample(made, method="percentile")
    assert {one.method for one in of_resample(made, method="bca")} == {"bca"}


def test_order_statistics_over_single_items_are_not_widened():
    human, metrics = data((1, 9))
    plan = Plan("systems", 999)
    for statistic, widened in (("kendall", False), ("spearman", False), ("pearson", True)):
        made = resample(human, metrics, Setting(statistic, "system"), plan, rng())
        for one, values in zip(of_resample(made), made.values, strict=True):
            plain = np.quantile(values, [0.025, 0.975], method="weibull")
            assert (one.low < plain[0] - 1e-9) == widened
            assert one.low == pytest.approx(plain[0]) or widened
    # the same cells as rows of one, and as rows of three
    for shape, widened in (((27, 1), False), ((9, 3), True)):
        human, metrics = data(shape)
        made = resample(human, metrics, Setting("kendall"), Plan("sources", 999), rng())
        (low, *_), values = of_resample(made)[0], made.values[0]
        plain = np.quantile(values, 0.025, method="weibull")
        assert (low < plain - 1e-9) == widened


def test_accuracies_end_at_zero_and_one_and_correlations_at_minus_one():
    human, metrics = data((3, 3), seed=4)
    human[:, 1:] = NAN  # most draws of sources have no pair of systems
    human[0] = [1, 2, 3]
    for name, ends in (("pairwise-accuracy", (0, 1)), ("kendall", (-1, 1))):
        found = intervals(human, metrics, Setting(name, "source"), Plan("sources", 99), rng())
        assert {one[:2] for one in found} == {ends}
        assert all(one.undefined > 20 for one in found)
        assert all("count on both sides" in one.reason for one in found)


def test_an_interval_holds_its_estimate_and_grows_with_confidence():
    human, metrics = data()
    for setting in SETTINGS:
        made = resample(human, metrics, setting, Plan("both", 500), rng())
        narrow, wide = (of_resample(made, confidence=c) for c in (0.8, 0.99))
        for value, inner, outer in zip(made.estimates, narrow, wide, strict=True):
            assert outer.low <= inner.low <= value <= inner.high <= outer.high


# -------------------------------------------------------------------------------- difference


@pytest.mark.parametrize("method", ["auto", "bca"])
@every_setting
def test_a_difference_is_paired_and_turns_with_its_order(setting, method):
    made = resample(*data(seed=5), setting, Plan("sources", 400), rng())
    ahead = difference(made, 2, 0, method=method)
    back = difference(made, 0, 2, method=method)
    assert (ahead.low, ahead.high) == pytest.approx((-back.high, -back.low))
    assert ahead.low <= made.estimates[2] - made.estimates[0] <= ahead.high


def test_a_metric_and_nearly_the_same_differ_by_little():
    human, metrics = data((60, 4), metrics=1)
    metrics = np.concatenate([metrics, metrics + 0.01 * rng(1).normal(size=metrics.shape)])
    made = resample(human, metrics, Setting(), Plan("sources", 400), rng())
    of_one, apart = of_resample(made)[0], difference(made, 0, 1)
    assert apart.high - apart.low < 0.05 * (of_one.high - of_one.low)


def test_a_metric_differs_from_itself_by_nothing_and_the_reason_says_it():
    made = resample(*data(), Setting(), Plan("sources", 100), rng())
    found = difference(made, 1, 1)
    assert (found.low, found.high) == (0, 0)
    assert "give the same" in found.reason


def test_undefined_draws_of_a_difference_reach_over_twice_the_scale():
    human, metrics = data((3, 3), seed=4)
    human[1:] = NAN
    made = resample(human, metrics, Setting("kendall"), Plan("sources", 99), rng())
    found = difference(made, 0, 1)
    assert math.isnan(found.low)  # one source alone
    human, metrics = data((9, 2), seed=4)
    human[2:, 1] = NAN
    made = resample(human, metrics, Setting("kendall", "source"), Plan("sources", 99), rng())
    assert difference(made, 0, 1)[:2] == (-2, 2)


# ------------------------------------------------------------------------------------ raters


def cube(shape=(10, 8, 5), holes=0.2, seed=0):
    random = rng(seed)
    ratings = random.integers(1, 6, shape).astype(float)
    ratings[random.random(shape) < holes] = NAN
    return ratings


def test_means_of_drawn_raters_equal_a_loop():
    ratings = cube((4, 3, 5), holes=0.6)
    drawn = draw(Plan("raters", 40), (4, 3), rng(), raters=5)
    found = rater_means(ratings, drawn)
    for d, s, k in np.ndindex(found.shape):
        repeated = np.repeat(ratings[s, k], drawn.raters[d].astype(int))
        given = repeated[np.isfinite(repeated)]
        expected = given.mean() if len(given) else NAN
        assert found[d, s, k] == pytest.approx(expected, nan_ok=True)
    assert np.isnan(found).any()


def test_raters_are_drawn_and_left_out():
    ratings, (_, metrics) = cube(), data((10, 8))
    made = resample(ratings, metrics, Setting(), Plan("raters", 300), rng())
    means = np.nanmean(ratings, axis=2)
    np.testing.assert_allclose(made.estimates, estimate(means, metrics, Setting()))
    for rater in range(5):
        less = np.nanmean(np.delete(ratings, rater, axis=2), axis=2)
        expected = estimate(less, metrics, Setting())
        np.testing.assert_allclose(made.jackknives[0][:, rater], expected)
    for value, one in zip(made.estimates, of_resample(made, method="bca"), strict=True):
        assert one.low < value < one.high
        assert "5 raters" in one.reason


def test_draws_without_raters_are_refused():
    human, metrics = data()
    with pytest.raises(ValueError, match="raters"):
        rater_means(human[..., None], everything(human.shape))
    with pytest.raises(ValueError, match="raters"):
        of_draws(human[..., None], metrics, Setting(), Plan("raters"), everything(human.shape))


# -------------------------------------------------------------------------------- degenerate


def changed(change, shape=(10, 9)):
    human, metrics = data(shape)
    return change(human.copy(), metrics.copy())


#: what is changed, units drawn, whether there are limits, what the reason says
DEGENERATE = {
    "a constant metric": (lambda h, m: (h, 0 * m + 2), "sources", False, "there is no value"),
    "all ratings equal": (lambda h, m: (0 * h + 2, m), "both", False, "there is no value"),
    "all scores missing": (lambda h, m: (h, NAN * m), "systems", False, "there is no value"),
    "all ratings missing": (lambda h, m: (NAN * h, m), "sources", False, "there is no value"),
    "one source": (lambda h, m: (h[:1], m[:, :1]), "sources", False, "1 source: there is nothing"),
    "one system": (lambda h, m: (h[:, :1], m[..., :1]), "both", False, "1 system: there is"),
    "a copy of the ratings": (lambda h, m: (h, 0 * m + h), "sources", True, "give the same"),
    "the ratings turned": (lambda h, m: (h, 0 * m - h), "both", True, "give the same"),
    "three sources": (lambda h, m: (h[:3], m[:, :3]), "sources", True, "3 sources"),
    "two systems": (lambda h, m: (h[:, :2], m[..., :2]), "systems", True, "2 systems"),
    "no sources": (lambda h, m: (h[:0], m[:, :0]), "systems", False, "there is no value"),
}


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("case", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_input_gives_a_reason(case, method):
    change, units, limits, reason = case
    human, metrics = changed(change)
    for name in ("pearson", "kendall"):
        found = intervals(human, metrics, Setting(name), Plan(units, 60), rng(), method=method)
        for one in found:
            assert reason in one.reason
            assert math.isfinite(one.low) == math.isfinite(one.high) == limits
            assert -1 <= one.low <= one.high <= 1 or not limits


def test_no_metrics_have_no_intervals():
    human, metrics = data()
    assert intervals(human, metrics[:0], Setting(), Plan("sources", 9), rng()) == []


WRONG = {
    "one metric without its axis": ((5, 4), (5, 4), "sources"),
    "other sources": ((5, 4), (2, 6, 4), "sources"),
    "means where raters are drawn": ((5, 4), (2, 5, 4), "raters"),
    "raters where sources are drawn": ((5, 4, 3), (2, 5, 4), "sources"),
}


@pytest.mark.parametrize("case", WRONG.values(), ids=WRONG)
def test_shapes_that_do_not_fit_are_refused(case):
    human, metrics, units = case
    with pytest.raises(ValueError, match="are needed, got"):
        intervals(np.ones(human), np.ones(metrics), Setting(), Plan(units), rng())


# ---------------------------------------------------------------------------------- coverage


def test_clustered_items_are_covered_where_the_naive_interval_fails():
    random, true, hits, naive = rng(7), 0.5, 0, 0
    plan, setting = Plan("sources", 400), Setting()
    shape, repeats = (30, 5), 250
    for repeat in range(repeats):
        if repeat % 25 == 0:
            drawn = draw(plan, shape, random)
        shared, own = random.normal(size=(2, *shape[:1], 1)), random.normal(size=(2, *shape))
        human, other = np.sqrt(0.6) * shared + np.sqrt(0.4) * own
        metric = true * human + math.sqrt(1 - true**2) * other
        made = of_draws(human, metric[None], setting, plan, drawn)
        (one,) = of_resample(made)
        hits += one.low <= true <= one.high
        z = math.atanh(made.estimates[0])
        naive += abs(z - math.atanh(true)) <= 1.96 / math.sqrt(human.size - 3)
    assert hits / repeats > 0.9  # three standard errors below 0.95 is 0.909
    assert naive / repeats < 0.88
