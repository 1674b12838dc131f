"""Krippendorff's alpha against his worked example and the package of that name."""

import math

import krippendorff
import numpy as np
import pytest

from tstmeta.stats import alpha

NAN = math.nan
LEVELS = ("ordinal", "interval")

#: The worked example of Krippendorff (2011), section C: four observers, twelve units.
WORKED: list[list[float]] = [
    [1, 1, NAN, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [NAN, 5, 5, 5],
    [NAN, NAN, 1, 1],
    [NAN, NAN, 3, NAN],
]


@pytest.mark.parametrize(("level", "value"), [("ordinal", 0.815), ("interval", 0.849)])
def test_the_worked_example_of_krippendorff(level, value):
    result = alpha(WORKED, level)
    assert result.value == pytest.approx(value, abs=5e-4)
    assert (result.n, result.raters, result.reason) == (11, 4, "")


#: matrix [items, raters], items with two ratings, raters who gave one of them, reason
DEGENERATE = {
    "no items": (np.empty((0, 3)), 0, 0, "no item has ratings from two raters"),
    "one rater": ([[1], [2]], 0, 0, "no item has ratings from two raters"),
    "never two on one item": ([[1, NAN], [NAN, 2]], 0, 0, "no item has ratings from two raters"),
    "all equal": ([[2, 2], [2, 2]], 2, 2, "all ratings are equal"),
    "others only on single ratings": ([[2, 2], [1, NAN]], 1, 2, "all ratings are equal"),
}


@pytest.mark.parametrize(("matrix", "n", "raters", "reason"), DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("level", LEVELS)
def test_what_has_no_alpha_says_why(matrix, n, raters, reason, level):
    result = alpha(matrix, level)
    assert math.isnan(result.value)
    assert result[1:] == (n, raters, reason)


@pytest.mark.parametrize("level", LEVELS)
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
    assert compared > 250


def test_what_is_no_level_is_refused():
    with pytest.raises(ValueError, match="unknown level 'ratio'; known: ordinal, interval"):
        alpha([[1, 2], [2, 3]], "ratio")  # type: ignore[arg-type]
