"""Temperature, calibration error and intervals, held against hand computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from tstmeta.models.training.classifier import (
    calibration_error,
    closeness,
    quality,
    temperature,
)


def drawn(heat, count=4000, seed=0):
    """Logits whose probabilities are right once they are divided by ``heat``."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2, (count, 3))
    labels = np.array([rng.choice(3, p=row) for row in softmax(logits, axis=1)])
    return logits * heat, labels


@pytest.mark.parametrize("heat", [0.5, 1, 3])
def test_the_temperature_is_found_that_was_put_in(heat):
    assert temperature(*drawn(heat)) == pytest.approx(heat, rel=0.1)


@pytest.mark.parametrize("labels", [[], [1, 0]])
def test_where_nothing_shows_what_it_should_be_the_temperature_is_one(labels):
    assert temperature(np.eye(2)[labels].reshape(-1, 2), np.array(labels, dtype=int)) == 1


@given(st.lists(st.tuples(st.floats(0.5, 1), st.booleans()), min_size=1, max_size=40))
def test_calibration_error_is_that_of_a_loop_over_bins(rows):
    sure = np.array([one for one, _ in rows])
    labels = np.array([0 if right else 1 for _, right in rows])
    given = np.stack([sure, 1 - sure], axis=1)
    right = given.argmax(axis=1) == labels
    wanted = 0.0
    for k in range(15):
        inside = [n for n, p in enumerate(given.max(axis=1)) if np.ceil(p * 15) == k + 1]
        if inside:
            gap = abs(np.mean(right[inside]) - np.mean(given.max(axis=1)[inside]))
            wanted += gap * len(inside) / len(rows)
    assert calibration_error(given, labels) == pytest.approx(wanted, abs=1e-12)


def test_quality_counts_each_style_taken_for_each_with_wilsons_interval():
    report = quality(np.eye(2)[[0] * 10], np.array([0] * 8 + [1] * 2), 1.0, ("a", "b"))
    assert report["confusion"] == {"a": {"a": 8, "b": 0}, "b": {"a": 2, "b": 0}}
    assert (report["accuracy"], report["n"]) == (0.8, 10)
    assert report["calibration_error"] == report["calibration_error_raw"]
    z = 1.959963984540054
    middle = (0.8 + z**2 / 20) / (1 + z**2 / 10)
    half = z * np.sqrt(0.8 * 0.2 / 10 + z**2 / 400) / (1 + z**2 / 10)
    assert (report["low"], report["high"]) == pytest.approx((middle - half, middle + half))


def test_closeness_of_values_and_its_edge():
    assert closeness(np.array([0.0, 1, 2]), np.array([1.0, 2, 3])) == {
        "pearson": pytest.approx(1),
        "mean_absolute_error": 1,
        "n": 3,
    }
    assert np.isnan(closeness(np.zeros(3), np.arange(3.0))["pearson"])
