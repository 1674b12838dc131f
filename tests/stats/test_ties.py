"""Ties credited: the fitted threshold against trying all, and what cross-fitting holds out."""

import itertools
import math

import numpy as np
import pytest

from tests.stats import oracles
from tstmeta.stats import ResamplingPlan, Setting, draw, estimate, resampled, tie_calibrated
from tstmeta.stats.ties import held_out

NAN = math.nan


def tables(seed, count, **size):
    rng = np.random.default_rng([seed, 7])
    for _ in range(count):
        human, metric = oracles.table(rng, **size)
        yield human, np.round(metric * 4) / 4, rng


def judged(human, metric, sources, threshold):
    """The share of right pairs of each source that has pairs."""
    result = []
    for s in sources:
        items = oracles.complete(oracles.cells(human, metric, [s], range(human.shape[1])))
        right = [
            (a == c) if abs(b - d) <= threshold else (a - c) * (b - d) > 0
            for (_, a, b), (_, c, d) in itertools.combinations(items, 2)
        ]
        result += [sum(right) / len(right)] if right else []
    return result


def accuracy(human, metric, sources, threshold):
    shares = judged(human, metric, sources, threshold)
    return math.fsum(shares) / len(shares) if shares else NAN


def best(human, metric, sources):
    """Every observed difference is tried; the smallest threshold of the best."""
    scores = metric[list(sources)][np.isfinite(human + metric)[list(sources)]]
    tried = sorted({0.0, *(abs(b - d) for b, d in itertools.combinations(scores, 2))})
    values = [accuracy(human, metric, sources, threshold) for threshold in tried]
    top = max(values)
    return next((t for t, v in zip(tried, values, strict=True) if v >= top - 1e-12), NAN)


def test_the_fitted_threshold_is_the_best_of_all_that_can_be_tried():
    fitted = 0
    for human, metric, rng in tables(1, 250):
        result = tie_calibrated(human, metric, rng=rng)
        expected = best(human, metric, range(len(human)))
        assert result.threshold == pytest.approx(expected, abs=1e-12, nan_ok=True)
        fitted += result.threshold > 0
    assert fitted > 50


def test_the_value_is_over_held_out_sources_with_the_threshold_of_the_others():
    compared = 0
    for human, metric, rng in tables(3, 120, sources=9, systems=4):
        seed = int(rng.integers(1000))
        result = tie_calibrated(human, metric, rng=np.random.default_rng(seed))
        rated = [s for s in range(len(human)) if np.isfinite(human[s] + metric[s]).any()]
        if len(rated) < 2 or math.isnan(result.threshold):
            assert result.reason
            continue
        order = np.random.default_rng(seed).permutation(rated)
        shares, thresholds = [], []
        for fold in np.array_split(order, min(5, len(rated))):
            threshold = best(human, metric, [s for s in rated if s not in fold])
            thresholds.append(threshold)
            shares += judged(human, metric, fold, threshold) if threshold >= 0 else []
        assert result.thresholds == pytest.approx(np.array(thresholds), abs=1e-12, nan_ok=True)
        assert result.n == len(shares)
        expected = math.fsum(shares) / len(shares) if shares else NAN
        assert result.value == pytest.approx(expected, nan_ok=True)
        assert bool(result.reason) == math.isnan(result.value)
        if not result.reason:
            assert result.spread == pytest.approx(np.nanmax(thresholds) - np.nanmin(thresholds))
            compared += 1
    assert compared > 50


@pytest.mark.parametrize("units", ["sources", "systems", "both"])
def test_draws_judge_each_source_with_the_threshold_of_the_other_folds(units):
    for human, metric, rng in tables(4, 12, sources=9, systems=4):
        fit = tie_calibrated(human, metric, rng=rng)
        setting = Setting(held_out([fit]), "source")
        assert estimate(human, metric[None], setting)[0] == pytest.approx(fit.value, nan_ok=True)
        draws = draw(ResamplingPlan(units, 15), human.shape, rng)
        values = resampled(human, metric[None], setting, draws)[0]
        for weights, value in zip(zip(*draws, strict=True), values, strict=True):
            rows, columns = (oracles.repeated(counts) for counts in weights)
            shares = []
            for s in rows:
                threshold = fit.by_source[s]
                items = oracles.complete(oracles.cells(human, metric, [s], columns))
                pairs, alike = oracles.accuracy(threshold)(items)
                shares += [alike / pairs] if pairs and threshold >= 0 else []
            assert value == pytest.approx(np.mean(shares) if shares else NAN, nan_ok=True)


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
