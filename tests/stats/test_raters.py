"""Held-out raters against loops over cells; alpha against its package."""

import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats import oracles
from tests.stats.oracles import ratings
from tstmeta.stats import Setting, alpha, ceiling

NAN = math.nan

LEVELS = ("pooled", "source", "within-system", "system")


def ceiling_by_hand(cube, metric, setting):
    """Per rater: value, the metric's value, number of cells."""
    values = []
    for rater in range(cube.shape[-1]):
        others, rated, side = np.full((3, *metric.shape), NAN)
        for cell in np.ndindex(metric.shape):
            rest = [v for r, v in enumerate(cube[cell]) if r != rater and v > 0]
            if rest and cube[(*cell, rater)] > 0 and math.isfinite(metric[cell]):
                others[cell] = sum(rest) / len(rest)
                rated[cell], side[cell] = cube[(*cell, rater)], metric[cell]
        both = [oracles.at_level(setting, others, table) for table in (rated, side)]
        values.append((*both, int(np.isfinite(rated).sum())))
    return values


def averaged(pairs):
    known = [(value, weight) for value, weight in pairs if math.isfinite(value) and weight]
    return sum(v * w for v, w in known) / sum(w for _, w in known) if known else NAN


@pytest.mark.parametrize("statistic", ["pearson", "kendall"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_held_out_rater_and_a_metric_equal_loops_over_cells(statistic, level):
    rng = np.random.default_rng([LEVELS.index(level), len(statistic)])
    for _ in range(150):
        cube = ratings(rng)
        metric = rng.integers(0, 4, cube.shape[:2]).astype(float)
        metric[rng.random(metric.shape) < 0.1] = NAN
        setting = Setting(statistic, level)
        result = ceiling(cube, setting, metric[None])
        wanted = ceiling_by_hand(cube, metric, setting)
        assert result.by_rater == pytest.approx([w[0] for w in wanted], nan_ok=True, abs=1e-7)
        assert result.value == pytest.approx(
            averaged([(w[0], w[2]) for w in wanted]), nan_ok=True, abs=1e-7
        )
        same = [(w[1], w[2] if math.isfinite(w[0]) else 0) for w in wanted]
        assert result.metrics[0] == pytest.approx(averaged(same), nan_ok=True, abs=1e-7)
        assert math.isfinite(result.value) == (result.reason == "")


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)), st.sampled_from(LEVELS))
def test_the_order_of_raters_changes_nothing(seed, order, level):
    cube = ratings(np.random.default_rng(seed), (5, 4, 4), top=6) / 3
    metric = np.random.default_rng(seed + 1).normal(size=(1, 5, 4))
    first, second = (
        ceiling(c, Setting("kendall", level), metric) for c in (cube, cube[..., order])
    )
    assert second.value == pytest.approx(first.value, nan_ok=True)
    assert second.by_rater == pytest.approx(first.by_rater[list(order)], nan_ok=True)
    assert second.metrics == pytest.approx(first.metrics, nan_ok=True)


def test_everything_faces_the_cells_that_all_metrics_scored():
    rng = np.random.default_rng(2)
    cube = ratings(rng, (10, 4, 3), missing=0.1, top=6)
    metric, gaps, absent = rng.normal(size=(3, 10, 4))
    gaps[:4], absent[:] = NAN, NAN
    result = ceiling(cube, Setting(), [metric, gaps, absent])
    alone = ceiling(cube[4:], Setting(), [metric[4:], gaps[4:]])
    assert result.value == pytest.approx(alone.value)
    assert result.metrics[:2] == pytest.approx(alone.metrics)
    assert math.isnan(result.metrics[2])
    assert result.n == alone.n
    every = averaged([w[::2] for w in ceiling_by_hand(cube, metric, Setting())])
    assert ceiling(cube, Setting()).value == pytest.approx(every)
    scored = np.where(np.isfinite(cube).sum(axis=2) > 1, NAN, metric)
    assert ceiling(cube, Setting(), [scored]).reason == "no cell with two ratings has scores"


def cube_of(*layers):
    return np.moveaxis(np.array(layers, dtype=float), 0, -1)


RATER = [[1, 2, 3], [2, 3, 1]]
NONE = np.full((2, 3), NAN)
#: cube, reason
DEGENERATE = {
    "no raters": (np.empty((2, 3, 0)), "not identifiable: no single ratings"),
    "all missing": (cube_of(NONE, NONE), "not identifiable: no single ratings"),
    "one rater": (cube_of(RATER), "no cell has ratings from two raters"),
    "a constant rater": (cube_of(RATER, np.ones((2, 3))), "no rater has a value"),
}


@pytest.mark.parametrize(("cube", "reason"), DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("level", LEVELS)
def test_what_has_no_ceiling_says_why(cube, reason, level):
    result = ceiling(cube, Setting("pearson", level), np.zeros((1, *cube.shape[:2])))
    assert math.isnan(result.value)
    assert np.isnan(result.metrics).all()
    assert (result.n, result.reason) == (0, reason)


SCALES = ("ordinal", "interval")
#: matrix [items, raters], items with two ratings, raters who gave one of them, reason
NO_ALPHA = {
    "no items": (np.empty((0, 3)), 0, 0, "no item has ratings from two raters"),
    "never two on one item": ([[1, NAN], [NAN, 2]], 0, 0, "no item has ratings from two raters"),
    "all equal": ([[2, 2], [2, 2]], 2, 2, "all ratings are equal"),
    "others only on single ratings": ([[2, 2], [1, NAN]], 1, 2, "all ratings are equal"),
}


@pytest.mark.parametrize(("matrix", "n", "raters", "reason"), NO_ALPHA.values(), ids=NO_ALPHA)
@pytest.mark.parametrize("level", SCALES)
def test_what_has_no_alpha_says_why(matrix, n, raters, reason, level):
    result = alpha(matrix, level)
    assert math.isnan(result.value)
    assert result[1:] == (n, raters, reason)


@pytest.mark.parametrize("level", SCALES)
def test_alpha_agrees_with_the_package_krippendorff(level):
    compared, rng = 0, np.random.default_rng(1)
    for _ in range(300):
        shape = rng.integers(2, 9), rng.integers(2, 6)
        matrix = rng.integers(1, int(rng.integers(3, 7)), shape).astype(float)
        matrix[rng.random(shape) < rng.choice([0, 0.2, 0.5])] = NAN
        result = alpha(matrix, level)
        paired = [row for row in matrix if (~np.isnan(row)).sum() > 1]
        assert result.n == len(paired)
        if not result.reason:
            compared += 1
            expected = krippendorff.alpha(reliability_data=matrix.T, level_of_measurement=level)
            assert result.value == pytest.approx(expected, abs=1e-12)
            assert result.raters == np.isfinite(paired).any(axis=0).sum()
            assert level == "interval" or alpha(matrix) == result
    assert compared > 250


def test_what_is_no_level_is_refused():
    with pytest.raises(ValueError, match="unknown level 'ratio'; known: ordinal, interval"):
        alpha([[1, 2], [2, 3]], "ratio")  # type: ignore[arg-type]
