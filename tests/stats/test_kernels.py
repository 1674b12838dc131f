"""Weighted sums and means against loops: all shapes of values and weights, ties, whole rows."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tstmeta.stats import (
    STATISTICS,
    ResamplingPlan,
    Setting,
    draw,
    kernels,
    matrices,
    means,
    resampled,
)
from tstmeta.stats.kernels import column_means

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("size", [128, 129, 400])
def test_long_vectors_take_blocks_and_give_the_same(size, monkeypatch):
    rng = np.random.default_rng(5)
    x, y = rng.integers(0, 9, (1, size)).astype(float), np.round(rng.normal(size=(2, 1, size)), 1)
    weights = rng.multinomial(size, np.full(size, 1 / size), 3).astype(float)
    functions = (np.multiply, np.equal)

    def values():
        pairs = kernels.pair_totals(functions, x, y, weights, 0.2)
        others = [f(side, weights) for f in (kernels.untied, kernels.standings) for side in (x, y)]
        return [*pairs, *others]

    first = values()
    for few, block in ((10**6, 2**24), (0, 2**24), (0, 1)):
        monkeypatch.setattr(kernels, "FEW", few)
        monkeypatch.setattr(kernels, "_BLOCK", block)
        for before, after in zip(first, values(), strict=True):
            np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    ("values", "groups", "names", "expected"),
    [
        ([], [], [], []),
        ([NAN], ["a"], ["a"], [NAN]),
        ([NAN, 2, 4], ["a", "b", "b"], ["a", "b"], [NAN, 3]),
        ([1, INF, 3], ["a", "a", "a"], ["a"], [2]),
        ([3, 1, 2], ["b", "a", "b"], ["b", "a"], [2.5, 1]),
    ],
)
def test_means_are_of_finite_values_in_order_of_first_appearance(values, groups, names, expected):
    found_names, result = means(values, groups)
    assert found_names == names
    assert result == pytest.approx(expected, nan_ok=True)


def test_means_of_columns_do_not_depend_on_the_order_of_rows_to_the_last_bit():
    rng = np.random.default_rng(8)
    for scale in (1.0, 1e-9, 1e9):
        column = rng.normal(size=300) * scale * 10.0 ** rng.integers(-6, 6, 300)
        moved = [rng.permutation(column) for _ in range(40)]
        table = np.stack([column, *moved], axis=1)
        means, _ = column_means(table[None], table[None, None], np.ones((1, 300)))
        assert len(set(means.ravel().tolist())) == 1


PEARSON = STATISTICS["pearson"]
CELLS = Setting(replace(PEARSON, of_rows=None))


def rows(count: int = 500):
    """Small matrices with ties, gaps, constant metrics and a far-away mean; draws of rows."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        lines, columns, metrics = rng.integers(1, 7), rng.integers(1, 5), rng.integers(1, 4)
        x = rng.integers(0, 4, (lines, columns)) / 3
        y = rng.integers(0, 4, (metrics, lines, columns)) / 7 + rng.choice([0.0, 1e6])
        x[rng.random(x.shape) < 0.15] = np.nan
        y[rng.random(y.shape) < rng.choice([0.0, 0.15])] = np.nan
        yield x, y, draw(ResamplingPlan(rng.choice(["sources", "both"]), 20), x.shape, rng)


def test_rows_and_cells_give_the_same_values_and_the_same_gaps():
    compared = 0
    for x, y, draws in rows():
        quick, slow = (resampled(x, y, setting, draws) for setting in (Setting(), CELLS))
        np.testing.assert_allclose(quick, slow, atol=1e-9)
        compared += int(np.isfinite(quick).sum())
    assert compared > 3_000


def test_pairs_of_items_are_looked_at_once_however_many_draws(monkeypatch):
    looks, signs = [], kernels._signs

    def counted(first, second, *tolerance):
        looks[-1] += np.broadcast(first, second).size
        return signs(first, second, *tolerance)

    monkeypatch.setattr(kernels, "_signs", counted)
    monkeypatch.setattr(matrices, "_ROOM", 10_000)
    rng = np.random.default_rng(0)
    human, metric = rng.normal(size=(2, 60, 4)).round(1)
    of = [draw(ResamplingPlan(n=n), human.shape, rng) for n in (1, 100)]
    for draws in of:
        looks.append(0)
        resampled(human, metric[None], Setting("kendall"), draws)
    assert looks == [2 * human.size**2] * 2  # people and the metric, each time
