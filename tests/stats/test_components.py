"""Variance components: planted ones are found, and what cannot be told says so."""

import math

import numpy as np
import pytest

from tstmeta.stats.components import components

NAN = math.nan


def planted(rng, sources, systems, source, system, rewrite):
    a = rng.normal(scale=math.sqrt(source), size=(sources, 1))
    b = rng.normal(scale=math.sqrt(system), size=(1, systems))
    return a + b + rng.normal(scale=math.sqrt(rewrite), size=(sources, systems))


@pytest.mark.parametrize("shares", [(0.6, 0.1, 0.3), (0.0, 0.5, 0.5), (0.2, 0.0, 0.8)])
def test_planted_shares_are_found_on_average(shares):
    rng = np.random.default_rng(0)
    found = [components(planted(rng, 200, 60, *shares))[:3] for _ in range(60)]
    assert np.mean(found, axis=0) == pytest.approx(shares, abs=0.03)


def test_shares_add_up_to_one_and_do_not_depend_on_scale_or_order():
    rng = np.random.default_rng(1)
    matrix = planted(rng, 12, 5, 1, 1, 1)
    found = components(matrix)
    assert sum(found[:3]) == pytest.approx(1)
    turned = components(7 - 3 * matrix[rng.permutation(12)][:, rng.permutation(5)])
    assert turned[:5] == pytest.approx(found[:5])


def test_pure_cases_are_pure():
    rows, columns = np.arange(6.0)[:, None], np.arange(4.0)[None, :]
    assert components(rows + 0 * columns)[:3] == pytest.approx((1, 0, 0))
    assert components(0 * rows + columns)[:3] == pytest.approx((0, 1, 0))


def test_rows_with_a_gap_and_empty_columns_are_left_out():
    rng = np.random.default_rng(2)
    matrix = planted(rng, 8, 4, 1, 1, 1)
    wider = np.column_stack([matrix, np.full(8, NAN)])
    holed = np.vstack([wider, [1, NAN, 2, 3, NAN]])
    assert components(holed)[:5] == pytest.approx(components(matrix)[:5])


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (np.ones((4, 3)), "all values are equal"),
        ([[1, 2, 3]], "fewer than two whole rows or columns"),
        ([[1], [2]], "fewer than two whole rows or columns"),
        (np.full((4, 3), NAN), "fewer than two whole rows or columns"),
        (np.empty((0, 0)), "fewer than two whole rows or columns"),
    ],
)
def test_what_cannot_be_told_says_why(matrix, reason):
    found = components(matrix)
    assert found.reason == reason
    assert math.isnan(found.source)


def test_a_vector_is_refused():
    with pytest.raises(ValueError, match="matrix"):
        components([1, 2, 3])
