"""Statistics of two vectors: known values, scikit-learn's; what has no value says why."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from tstmeta.stats import (
    LEVELS,
    STATISTICS,
    ResamplingPlan,
    Setting,
    acc_eq,
    correlate,
    draw,
    estimate,
    resampled,
)

NAN, INF = math.nan, math.inf

#: ratings, scores, then tau-c, pairwise accuracy, preference and acc_eq with threshold 1
KNOWN = {
    "two alike": ([1, 2], [1, 3], 1, 1, 1, 1),
    "two apart": ([1, 2], [3, 1], -1, 0, 0, 0),
    "people tie": ([1, 1], [1, 3], NAN, 0, NAN, 0),
    "the metric ties": ([1, 2], [1, 1], NAN, 0, 0.5, 0),
    "both tie": ([1, 1], [2, 2], NAN, 1, NAN, 1),
    "people tie, the metric nearly": ([1, 1], [1, 2], NAN, 0, NAN, 1),
    "a small step is a tie": ([1, 2], [1, 2], 1, 1, 1, 0),
    "one swap of three": ([1, 2, 3], [1, 3, 2], 1 / 3, 2 / 3, 2 / 3, 1 / 3),
    "good and bad": ([0, 0, 1, 1], [1, 2, 2, 5], 0.75, 3 / 6, 7 / 8, 3 / 6),
    "a missing one drops its pairs": ([1, 2, NAN], [1, 3, 9], 1, 1, 1, 1),
    "an infinite one too": ([1, 2, 3], [1, 3, -INF], 1, 1, 1, 1),
}


@pytest.mark.parametrize(
    ("human", "metric", "tau", "accuracy", "auc", "near"), KNOWN.values(), ids=KNOWN
)
def test_known_values(human, metric, tau, accuracy, auc, near):
    names = ("tau-c", "pairwise-accuracy", "preference")
    result = [STATISTICS[name](human, metric).value for name in names]
    assert result == pytest.approx([tau, accuracy, auc], nan_ok=True)
    assert acc_eq(1.0)(human, metric).value == pytest.approx(near)


def test_a_statistic_of_matrices_lives_at_system_level_alone():
    name, table = "soft-pairwise-accuracy", np.arange(12.0).reshape(4, 3)
    assert correlate(table, table, Setting(name, "system")).value == pytest.approx(1)
    with pytest.raises(ValueError, match="not defined at level pooled, only at system"):
        STATISTICS[name]([1, 2, 3], [1, 2, 3])
    for level in set(LEVELS) - {"system"}:
        setting = Setting(name, level, [0, 0, 1, 1])
        for function, scores in ((estimate, table[None]), (correlate, table)):
            with pytest.raises(ValueError, match=f"not defined at level {level}, only at system"):
                function(table, scores, setting)


@pytest.mark.parametrize("size", [12, 200])
def test_preference_is_the_area_under_the_curve_where_people_say_yes_or_no(size):
    rng = np.random.default_rng(4)
    for _ in range(60):
        human, metric = rng.permutation(np.arange(size) % 3 == 0), rng.integers(0, 6, size) / 3
        area = roc_auc_score(human, metric)
        assert STATISTICS["preference"](human, metric).value == pytest.approx(area, abs=1e-12)
        draws = draw(ResamplingPlan("sources", 3), (size, 1), rng)
        result = resampled(human[:, None], metric[None, :, None], Setting("preference"), draws)
        for value, counts in zip(result[0], draws.sources, strict=True):
            if 0 < counts @ human < counts.sum():
                area = roc_auc_score(human, metric, sample_weight=counts)
                assert value == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("name", [n for n, each in STATISTICS.items() if not each.whole])
@given(
    st.lists(
        st.tuples(
            *[st.one_of(st.just(NAN), st.sampled_from([INF, -INF, 0.0]), st.floats(-1e100, 1e100))]
            * 2
        ),
        max_size=8,
    )
)
@settings(max_examples=60)
def test_any_vectors_give_a_value_in_range_or_a_reason(name, pairs):
    result = STATISTICS[name]([x for x, _ in pairs], [y for _, y in pairs])
    low = -1 if STATISTICS[name].chance == 0 else 0
    assert result.reason or low <= result.value <= 1 + 1e-12
    assert math.isnan(result.value) == bool(result.reason)
