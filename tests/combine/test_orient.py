"""Direction, scale and zeros inside a geometric mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean

from tstmeta.combine.parts import FLOOR, Scaling, geometric_mean, lower_is_better

UP = np.array([False])


@pytest.mark.parametrize(
    ("name", "basis", "lower", "expected"),
    [
        ("ter", "source", (), True),
        ("style-emd", "source", (), False),
        ("style-emd", "reference", (), True),
        ("style-emd", "reference", ("style-emd",), True),
        ("released:gpt2_ppl", "none", (), False),
        ("released:gpt2_ppl", "none", ("released:gpt2_ppl",), True),
        ("nobody-registered-this", "source", (), False),
        ("nobody-registered-this", "source", ("nobody-registered-this",), True),
    ],
)
def test_a_metric_says_itself_whether_less_is_better(name, basis, lower, expected):
    assert lower_is_better(name, basis, lower) is expected


def test_training_ends_become_the_floor_and_one_and_what_lies_beyond_is_cut():
    scale = Scaling.fitted(np.linspace(0.0, 1.0, 41)[None], UP)
    low, high = 0.025, 0.975
    result = scale(np.array([[-5.0, low, 0.5, high, 9.0]]))[0]
    assert result == pytest.approx([FLOOR, FLOOR, FLOOR + (1 - FLOOR) / 2, 1.0, 1.0])


@pytest.mark.parametrize(
    ("train", "new", "expected"),
    [
        ([3.0] * 9, [0.0, 3.0, 7.0], [1.0, 1.0, 1.0]),  # constant: a factor without effect
        ([np.nan] * 9, [1.0, np.nan], [1.0, np.nan]),  # nothing known of it
        ([1.0] * 99 + [0.0], [0.0, 1.0], [FLOOR, 1.0]),  # the quantiles coincide, the ends do not
        ([-2.0, -1.0] * 9, [-2.0, -1.0], [FLOOR, 1.0]),  # negative values (BLEURT)
    ],
)
def test_metrics_that_hardly_vary_are_scaled_too(train, new, expected):
    scale = Scaling.fitted(np.array([train]), UP)
    assert scale(np.array([new]))[0] == pytest.approx(expected, nan_ok=True)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30),
    st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=10),
    st.booleans(),
)
def test_a_scaled_value_is_always_above_zero_and_at_most_one(train, values, lower):
    result = Scaling.fitted(np.array([train]), np.array([lower]))(np.array([values]))
    assert (result >= FLOOR - 1e-12).all()
    assert (result <= 1 + 1e-12).all()


@given(
    st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=2, max_size=5),
    st.integers(0, 99),
)
def test_the_mean_is_that_of_scipy(rows, seed):
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(rows))
    result = geometric_mean(np.array(rows), weights)
    assert result == pytest.approx(
        gmean(np.array(rows), axis=0, weights=np.tile(weights[:, None], 4))
    )


def test_a_part_without_weight_may_be_missing():
    values = np.array([[0.5, 0.5], [np.nan, 0.5]])
    assert geometric_mean(values, np.array([1.0, 0.0])).tolist() == [0.5, 0.5]
    assert np.isnan(geometric_mean(values, np.ones(2))[0])
