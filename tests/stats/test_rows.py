"""Draws of whole rows, added up row by row, give what single cells give."""

from dataclasses import replace

import numpy as np
import pytest

from tstmeta.stats import STATISTICS, Draws, Plan, Setting, draw, resampled
from tstmeta.stats.rows import moments_of_rows

PEARSON = STATISTICS["pearson"]
CELLS = Setting(replace(PEARSON, of_rows=None))


def inputs(count: int = 1500):
    """Small matrices with ties, gaps, constant metrics and a far-away mean; draws of rows."""
    rng = np.random.default_rng(0)
    for _ in range(count):
        rows, columns, metrics = rng.integers(1, 7), rng.integers(1, 5), rng.integers(1, 4)
        x = rng.integers(0, 4, (rows, columns)) / 3
        y = rng.integers(0, 4, (metrics, rows, columns)) / 7 + rng.choice([0.0, 1e6])
        x[rng.random(x.shape) < 0.15] = np.nan
        y[rng.random(y.shape) < rng.choice([0.0, 0.15])] = np.nan
        yield x, y, draw(Plan("sources", 20), x.shape, rng)


def test_rows_and_cells_give_the_same_values_and_the_same_gaps():
    compared = 0
    for x, y, draws in inputs():
        quick, slow = (resampled(x, y, setting, draws) for setting in (Setting(), CELLS))
        np.testing.assert_allclose(quick, slow, atol=1e-9)
        compared += int(np.isfinite(quick).sum())
    assert compared > 10_000


def test_weights_need_not_be_counts():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(9, 4)), rng.normal(size=(3, 9, 4))
    draws = Draws(rng.random((5, 9)), np.ones((5, 4)))
    np.testing.assert_allclose(resampled(x, y, Setting(), draws), resampled(x, y, CELLS, draws))


def test_where_systems_are_drawn_too_cells_are_looked_at():
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(6, 5)), rng.normal(size=(2, 6, 5))
    draws = draw(Plan("both", 30), x.shape, rng)
    np.testing.assert_array_equal(resampled(x, y, Setting(), draws), resampled(x, y, CELLS, draws))


@pytest.mark.parametrize(
    ("y", "why"),
    [
        ([[1.0, 1, 1], [1, 1, 1]], "constant"),
        ([[1.0, 2, np.nan], [np.nan] * 3], "two cells"),
        ([[1e9, 1e9, 1e9], [1e9, 1e9, 1e9 + 1e-7]], "constant but for rounding"),
    ],
)
def test_what_has_no_spread_has_no_value(y, why):
    x = np.array([[1.0, 2, 3], [4, 5, 7]])
    sums = moments_of_rows(x, np.array([y]), np.ones((1, 2)), 3)
    assert not np.any(sums), why


def test_large_slices_and_small_ones_give_the_same(monkeypatch):
    from tstmeta.stats import matrices

    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 4)), rng.normal(size=(3, 30, 4))
    draws = draw(Plan("sources", 100), x.shape, rng)
    for setting in (Setting(), Setting("kendall", "source")):
        whole = resampled(x, y, setting, draws)
        with monkeypatch.context() as patch:
            patch.setattr(matrices, "_ROOM", 100)
            np.testing.assert_allclose(resampled(x, y, setting, draws), whole, atol=1e-12)
