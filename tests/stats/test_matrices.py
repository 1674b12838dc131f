"""Every statistic at every level, under draws, against loops over repeated rows and columns; the
weighted sums that they are made of.
"""

import math

import numpy as np
import pytest

from tests.stats import oracles
from tstmeta.stats import ResamplingPlan, Setting, correlate, draw, estimate, kernels, resampled

NAN = math.nan
everywhere = pytest.mark.parametrize(("name", "level"), oracles.PLACES)


def tables(seed, count, **size):
    rng = np.random.default_rng([seed, 1])
    for _ in range(count):
        human, metric = oracles.table(rng, **size)
        yield human, metric, rng.integers(0, 2, len(human)), rng


def near(value):
    return pytest.approx(value, abs=1e-8, nan_ok=True)


@everywhere
def test_a_table_gives_what_loops_give(name, level):
    defined = 0
    for human, metric, tasks, rng in tables(1, 120):
        setting = Setting(name, level, tasks, undefined=0.0 if rng.random() < 0.3 else NAN)
        expected = oracles.at_level(setting, human, metric)
        result = correlate(human, metric, setting)
        assert result.value == near(expected)
        assert estimate(human, metric[None], setting)[0] == near(expected)
        assert math.isnan(result.value) == bool(result.reason)
        if level == "pooled":
            assert result.n == np.isfinite(human + metric).sum()
        defined += not math.isnan(expected)
    assert defined > 40


@pytest.mark.parametrize("few", [128, 0], ids=["all pairs", "blocks"])
@everywhere
def test_draws_are_repeated_rows_and_columns(monkeypatch, name, level, few):
    monkeypatch.setattr(kernels, "FEW", few)
    monkeypatch.setattr(kernels, "_BLOCK", 12)
    defined = 0
    for human, metric, tasks, rng in tables(2, 40 if few else 20):
        setting = Setting(name, level, tasks)
        plan = ResamplingPlan(str(rng.choice(["sources", "systems", "both"])), 3)
        draws = draw(plan, human.shape, rng)
        metrics = np.stack([metric, rng.permutation(metric.ravel()).reshape(metric.shape)])
        result = resampled(human, metrics, setting, draws)
        assert result.shape == (2, 3)
        for place in np.ndindex(result.shape):
            rows, columns = (
                oracles.repeated(side[place[1]]) for side in (draws.sources, draws.systems)
            )
            expected = oracles.at_level(setting, human, metrics[place[0]], rows, columns)
            assert result[place] == near(expected)
            defined += not math.isnan(expected)
    assert defined > 30


@pytest.mark.parametrize("few", [128, 0], ids=["all pairs", "blocks"])
@pytest.mark.parametrize("draws", [1, 2, 3])
def test_sums_over_pairs_and_standings_are_loops_for_values_of_each_draw(monkeypatch, few, draws):
    monkeypatch.setattr(kernels, "FEW", few)
    monkeypatch.setattr(kernels, "_BLOCK", 12)
    rng, n = np.random.default_rng(draws), 7
    x, y = rng.integers(0, 4, (draws, n)), rng.integers(0, 4, (draws, n))
    for weights in (rng.integers(0, 3, (3, n)), rng.random((3, n))):  # counts, and no counts
        weights = weights[: 3 if draws == 1 else draws].astype(float)
        agreeing = kernels.pair_total(np.multiply, x, y, weights)
        for d, w in enumerate(weights):
            a, b = (side[d % draws] for side in (x, y))
            gaps = np.sign(np.subtract.outer(a, a)), np.sign(np.subtract.outer(b, b))
            both = np.outer(w, w) / 2
            assert agreeing[d] == pytest.approx((both * gaps[0] * gaps[1]).sum(), abs=1e-12)
            assert kernels.untied(x, weights)[d] == pytest.approx((both * gaps[0] ** 2).sum())
            assert kernels.standings(x, weights)[d] == pytest.approx(gaps[0] @ w)


@everywhere
def test_the_order_of_sources_and_of_systems_does_not_matter(name, level):
    for human, metric, tasks, rng in tables(5, 60, sources=8, systems=5):
        rows, columns = (rng.permutation(size) for size in human.shape)
        first = correlate(human, metric, Setting(name, level, tasks))
        moved = [side[rows][:, columns] for side in (human, metric)]
        second = correlate(*moved, Setting(name, level, tasks[rows]))
        assert second.value == pytest.approx(first.value, abs=1e-12, nan_ok=True)
        assert second[2:] == first[2:]


@everywhere
def test_scale_and_shift_of_either_side_do_not_matter(name, level):
    for human, metric, tasks, _ in tables(7, 40, sources=8, systems=5):
        setting = Setting(name, level, tasks)
        result = correlate(human, metric, setting).value
        assert correlate(human, 4 * metric - 8, setting).value == near(result)
        assert correlate(0.5 * human + 2, metric, setting).value == near(result)
        assert correlate(human, metric * 2.0**-70, setting).value == near(result)


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e12], ids=str)
@pytest.mark.parametrize("name", ["kendall", "spearman", "pairwise-accuracy"])
def test_systems_with_the_same_ratings_tie_whatever_the_order_of_rows(name, scale):
    rng = np.random.default_rng(10)
    tied = correlate([[1, 1, 2, 3]], [[1, 2, 3, 3]], Setting(name, "system")).value
    for _ in range(50):
        ratings = rng.normal(size=30) * scale
        balanced = np.r_[ratings[:15], -ratings[:15]]  # means to nothing, but for rounding
        human = np.stack([ratings, ratings, ratings + scale, ratings + 2 * scale], axis=1)
        metric = np.stack([balanced - scale, balanced, balanced + scale, balanced + scale], axis=1)
        for side in (human, metric):
            for column in side.T:
                rng.shuffle(column)
        assert correlate(human, metric, Setting(name, "system")).value == tied
        half = np.stack([balanced, balanced], axis=1)
        rng.shuffle(half[:, 1])
        assert estimate(half, half[None], Setting("pairwise-accuracy", "system"))[0] == 1


@everywhere
@pytest.mark.parametrize("units", ["sources", "both"])
def test_draws_in_slices_give_the_same_as_all_at_once(monkeypatch, name, level, units):
    rng = np.random.default_rng(12)
    human, metrics = rng.integers(0, 4, (6, 4)).astype(float), rng.normal(size=(2, 6, 4))
    metrics[0, 1, 2] = NAN
    draws = draw(ResamplingPlan(units, 23), (6, 4), rng)
    setting = Setting(name, level, [0, 0, 0, 1, 1, 1])
    by_draw = metrics[:, None] + rng.normal(size=(2, 23, 1, 4))
    both = [resampled(human, scores, setting, draws) for scores in (metrics, by_draw)]
    monkeypatch.setattr("tstmeta.stats.matrices._ROOM", 5 * metrics.size)
    for scores, full in zip((metrics, by_draw), both, strict=True):
        sliced = resampled(human, scores, setting, draws)
        assert sliced == pytest.approx(full, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("sources", [1, 6])
def test_two_draws_one_at_a_time_give_the_same_where_scores_differ_by_draw(monkeypatch, sources):
    rng = np.random.default_rng(13)
    human, scores = rng.normal(size=(sources, 4)), rng.normal(size=(1, 2, sources, 4))
    draws = draw(ResamplingPlan("sources", 2), human.shape, rng)
    full = resampled(human, scores, Setting("kendall", "source"), draws)
    monkeypatch.setattr("tstmeta.stats.matrices._ROOM", 1)
    sliced = resampled(human, scores, Setting("kendall", "source"), draws)
    assert sliced.tolist() == full.tolist()


def test_means_of_nothing_but_rounding_are_zero():
    columns = np.array([[0.1, 0.1, 1e-9], [0.2, 0.6, 2e-9], [-0.3, -0.7, -3e-9]])[None]
    assert not np.any(kernels.column_means(columns, columns[None], np.ones((1, 3))))


@pytest.mark.parametrize("shapes", [[(3,), (1, 3)], [(3, 2), (3, 2)], [(3, 2), (1, 2, 3)]], ids=str)
def test_what_does_not_fit_is_refused_with_what_is_needed(shapes):
    with pytest.raises(ValueError, match="needed") as raised:
        estimate(*map(np.ones, shapes), Setting())
    needed = "people [sources, systems] and metrics [metrics, sources, systems] are needed"
    assert str(raised.value) == f"{needed}, got {shapes[0]} and {shapes[1]}"
