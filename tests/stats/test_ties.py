"""Ties credited: the fitted threshold against trying all, and what cross-fitting holds out."""

import itertools
import math

import numpy as np
import pytest

from tests.stats import oracles
from tstmeta.stats import (
    ResamplingPlan,
    Setting,
    draw,
    estimate,
    of_draws,
    of_resample,
    resampled,
    tie_calibrated,
)
from tstmeta.stats.ties import held_out, pairs_once

NAN = math.nan
LEVELS = ("pooled", "source")
every_level = pytest.mark.parametrize("level", LEVELS)


def tables(seed, count, **size):
    rng = np.random.default_rng([seed, 7])
    for _ in range(count):
        human, metric = oracles.table(rng, **size)
        yield human, np.round(metric * 4) / 4, rng


def items_of(human, metric, level, sources):
    """Groups of items with both values: all cells of the sources, or one group a source."""
    groups = [[((s, k), human[s, k], metric[s, k]) for k in range(human.shape[1])] for s in sources]
    groups = [list(itertools.chain(*groups))] if level == "pooled" else groups
    return [oracles.complete(group) for group in groups]


def judged(human, metric, level, sources, threshold):
    """Right pairs of each group and all its pairs, for groups that have pairs."""
    result = []
    for items in items_of(human, metric, level, sources):
        right = pairs = 0
        for (_, a, b), (_, c, d) in itertools.combinations(items, 2):
            tied = abs(b - d) <= threshold
            right += (a == c) if tied else (a - c) * (b - d) > 0
            pairs += 1
        if pairs:
            result.append((right, pairs))
    return result


def accuracy(human, metric, level, sources, threshold):
    shares = [right / pairs for right, pairs in judged(human, metric, level, sources, threshold)]
    return math.fsum(shares) / len(shares) if shares else NAN


def best(human, metric, level, sources):
    """Every observed difference is tried; the smallest of the best."""
    scores = [b for items in items_of(human, metric, level, sources) for _, _, b in items]
    tried = sorted({0.0, *(abs(b - d) for b, d in itertools.combinations(scores, 2))})
    values = [accuracy(human, metric, level, sources, threshold) for threshold in tried]
    if math.isnan(values[0]):
        return NAN, NAN
    top = max(values)
    return next(pair for pair in zip(tried, values, strict=True) if pair[1] >= top - 1e-12)


@every_level
def test_the_fitted_threshold_is_the_best_of_all_that_can_be_tried(level):
    fitted = 0
    for human, metric, rng in tables(1, 250):
        threshold, _ = best(human, metric, level, range(len(human)))
        result = tie_calibrated(human, metric, level, rng=rng)
        assert result.threshold == pytest.approx(threshold, abs=1e-12, nan_ok=True)
        fitted += result.threshold > 0
    assert fitted > 50


@every_level
def test_the_value_is_over_held_out_sources_with_the_threshold_of_the_others(level):
    compared = 0
    for human, metric, rng in tables(3, 120, sources=9, systems=4):
        seed = int(rng.integers(1000))
        result = tie_calibrated(human, metric, level, rng=np.random.default_rng(seed))
        some = [s for s in range(len(human)) if np.isfinite(human[s] + metric[s]).any()]
        if len(some) < 2 or math.isnan(result.threshold):
            assert result.reason
            continue
        order = np.random.default_rng(seed).permutation(some)
        dealt = np.array_split(order, min(5, len(some)))
        right, total, thresholds = 0.0, 0, []
        for fold in dealt:
            threshold = best(human, metric, level, [s for s in some if s not in fold])[0]
            thresholds.append(threshold)
            if math.isnan(threshold):
                continue
            for hits, pairs in judged(human, metric, level, fold, threshold):
                right += hits / pairs if level == "source" else hits
                total += 1 if level == "source" else pairs
        assert result.thresholds == pytest.approx(np.array(thresholds), abs=1e-12, nan_ok=True)
        assert result.n == total
        assert result.value == pytest.approx(right / total if total else NAN, nan_ok=True)
        assert bool(result.reason) == math.isnan(result.value)
        if not result.reason:
            assert result.spread == pytest.approx(np.nanmax(thresholds) - np.nanmin(thresholds))
            compared += 1
    assert compared > 50


@every_level
@pytest.mark.parametrize("units", ["sources", "systems", "both"])
def test_draws_judge_each_source_with_the_threshold_of_the_other_folds(level, units):
    for human, metric, rng in tables(4, 12, sources=9, systems=4):
        fit = tie_calibrated(human, metric, level, rng=rng)
        setting = Setting(held_out([fit], level), level)
        assert estimate(human, metric[None], setting)[0] == pytest.approx(fit.value, nan_ok=True)
        draws = draw(ResamplingPlan(units, 15), human.shape, rng)
        values = resampled(human, metric[None], setting, draws)[0]
        for weights, value in zip(zip(*draws, strict=True), values, strict=True):
            rows, columns = (np.repeat(np.arange(len(w)), w.astype(int)) for w in weights)
            right, total = 0.0, 0
            for fold in np.flatnonzero(np.isfinite(fit.thresholds)):
                parts = oracles.accuracy(fit.thresholds[fold])
                inside = [s for s in rows if fit.folds[s] == fold]
                for group in [[s] for s in inside] if level == "source" else [inside]:
                    items = oracles.complete(oracles.cells(human, metric, group, columns))
                    pairs, alike = parts(items)
                    if pairs:
                        right += alike / pairs if level == "source" else alike
                        total += 1 if level == "source" else pairs
            assert value == pytest.approx(right / total if total else NAN, nan_ok=True)


def test_metrics_are_compared_over_the_sources_that_both_have():
    compared, plan = 0, ResamplingPlan(n=9)
    for human, metric, rng in tables(8, 30, sources=9, systems=4):
        metrics = metric, np.where(np.arange(len(human))[:, None] % 2, metric, NAN)
        fits = [tie_calibrated(human, each, rng=rng) for each in metrics]
        setting = Setting(held_out(fits, "source"), "source")
        drawn = of_draws(human, metrics, setting, plan, draw(plan, human.shape, rng))
        shares = np.full((2, len(human)), NAN)
        for m, (each, fit) in enumerate(zip(metrics, fits, strict=True)):
            for s in np.flatnonzero(fit.folds >= 0):
                threshold = fit.thresholds[fit.folds[s]]
                if np.isfinite(threshold):
                    shares[m, s] = accuracy(human, each, "source", [s], threshold)
        gaps = (shares[0] - shares[1])[np.isfinite(shares).all(axis=0)]
        expected = gaps.mean() if len(gaps) else NAN
        assert drawn.of_pairs.estimates[0] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert drawn.groups.tolist() == np.isfinite(shares).tolist()
        compared += len(gaps) > 1
    assert compared > 10


def test_pooled_differences_are_brought_to_their_own_variance():
    random, plan = oracles.rng(6), ResamplingPlan(n=60)
    human, *noise = random.normal(size=(7, 12, 3))
    metrics = np.stack([np.full_like(human, NAN), *(human + each for each in noise)])
    fits = [tie_calibrated(human, metric, "pooled", rng=random) for metric in metrics]
    setting = Setting(held_out(fits, "pooled"), "pooled")
    drawn = of_draws(human, metrics, setting, plan, draw(plan, human.shape, random))
    once = pairs_once(drawn)
    np.testing.assert_array_equal(once.of_pairs.values, pairs_once(drawn.of_pairs).values)
    assert once.values[1:].std() < drawn.values[1:].std()  # the first metric has no value
    assert once.of_pairs.values[6:].std() < drawn.of_pairs.values[6:].std()


def intervals(level, shape, repeats, seed):
    """Values and their intervals of data sets of five-point ratings, and draws less the values."""
    random, plan, rows = oracles.rng(seed), ResamplingPlan(n=400), []
    for draws in oracles.draws_of(plan, shape, repeats, random):
        human = random.normal(size=shape)
        metric = human + 1.3 * random.normal(size=shape)
        human = np.digitize(human, (-1.2, -0.4, 0.4, 1.2))
        fit = tie_calibrated(human, metric, level, rng=random)
        setting = Setting(held_out([fit], level), level)
        drawn = of_draws(human, metric[None], setting, plan, draws)
        drawn = pairs_once(drawn) if level == "pooled" else drawn
        [limits] = of_resample(drawn)
        rows.append((fit.value, limits.low, limits.high, np.nanmean(drawn.values) - fit.value))
    return np.array(rows).T


@every_level
def test_draws_lie_about_the_cross_validated_value(level):
    value, low, high, off = intervals(level, (20, 4), 40, 1)
    assert abs(off.mean()) < 0.003  # under one threshold for all they lay .01 to .02 above
    assert np.mean((low <= value.mean()) & (value.mean() <= high)) > 0.8


def test_no_interval_of_a_small_pool_is_without_width():
    value, low, high, _ = intervals("pooled", (10, 3), 60, 3)  # a fifth had none
    assert (high - low > 0.05).all()
    assert np.mean((low <= value.mean()) & (value.mean() <= high)) > 0.85


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        (np.empty((0, 3)), np.empty((0, 3)), "no two items with both values to compare"),
        (np.ones((4, 1)), np.ones((4, 1)), "no two items with both values to compare"),
        (np.ones((1, 3)), np.ones((1, 3)), "fewer than two sources with both values"),
        (
            [[1, 2, 3], [1, NAN, NAN]],
            [[1, 2, 3], [1, 2, 3]],
            "no fold has pairs both inside and outside of it",
        ),
    ],
)
def test_what_cannot_be_calibrated_says_why(human, metric, reason):
    result = tie_calibrated(human, metric, rng=np.random.default_rng(1))
    assert (result.reason, result.n) == (reason, 0)
    assert math.isnan(result.value)
    assert math.isnan(result.spread)
