"""Statistics of two vectors: known values, scipy's, scikit-learn's; what has no value."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from sklearn.metrics import roc_auc_score

from tests.stats.oracles import PLACES
from tstmeta.stats import STATISTICS, ResamplingPlan, Setting, correlate, draw, estimate, resampled
from tstmeta.stats.matrices import with_value

NAN, INF = math.nan, math.inf
SCIPY = {
    "pearson": scipy_stats.pearsonr,
    "spearman": scipy_stats.spearmanr,
    "kendall": scipy_stats.kendalltau,
}
every_statistic = pytest.mark.parametrize("name", SCIPY)

#: ratings, scores, then what Pearson, Spearman and Kendall give
KNOWN = {
    "the same order": ([1, 2, 3], [1, 2, 3], 1, 1, 1),
    "one swap of three": ([1, 2, 3], [1, 3, 2], 0.5, 0.5, 1 / 3),
    "a curve keeps the order": ([1, 2, 3, 4], [1, 10, 100, 1000], 0.8241, 1, 1),
    "a tie in the ratings": ([1, 1, 2], [1, 2, 3], math.sqrt(3) / 2, math.sqrt(3) / 2, 0.8165),
    "ties on both sides": ([1, 1, 2, 2], [1, 1, 2, 3], 0.9045, 0.9428, 0.8944),
    "an infinite score is dropped": ([1, 9, 2, 3], [1, -INF, 3, 2], 0.5, 0.5, 1 / 3),
    "very large numbers": ([1e150, 2e150, 3e150], [1, 3, 2], 0.5, 0.5, 1 / 3),
}


@pytest.mark.parametrize(("human", "metric", "r", "rho", "tau"), KNOWN.values(), ids=KNOWN)
def test_known_values(human, metric, r, rho, tau):
    result = [STATISTICS[name](human, metric) for name in SCIPY]
    assert [first.value for first in result] == pytest.approx([r, rho, tau], abs=1e-4)
    assert {first.reason for first in result} == {""}
    x, y = np.array([human, metric])[:, np.isfinite(human) & np.isfinite(metric)]
    for first, peer in zip(result, SCIPY.values(), strict=True):
        p = peer(x, y).pvalue or 2 / math.factorial(len(x))
        assert (first.p, first.n) == pytest.approx((p, len(x)), abs=1e-12)


FEW = "fewer than 3 items with both values"
#: ratings, scores, pairs left, reason
DEGENERATE = {
    "nothing": ([], [], 0, FEW),
    "two pairs left": ([1, 2, NAN], [1, 2, 3], 2, FEW),
    "infinite ones do not count": ([1, 2, INF, -INF], [1, 2, 3, 4], 2, FEW),
    "constant ratings": ([2, 2, 2], [1, 2, 3], 3, "all ratings are equal"),
    "constant scores": ([1, 2, 3], [0, 0, 0], 3, "all scores are equal"),
    "equal but for rounding": ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3], 3, "all ratings are equal"),
    "equal to thirteen digits": ([1, 2, 3], [1, 1, 1 + 1e-13], 3, "all scores are equal"),
}


@every_statistic
@pytest.mark.parametrize(("human", "metric", "n", "reason"), DEGENERATE.values(), ids=DEGENERATE)
def test_what_has_no_correlation_says_why(name, human, metric, n, reason):
    result = STATISTICS[name](human, metric)
    assert math.isnan(result.value)
    assert math.isnan(result.p)
    assert (result.n, result.reason) == (n, reason)


@every_statistic
@pytest.mark.parametrize(
    ("human", "metric"), [([1, 2], [1, 2, 3]), ([[1, 2, 3]], [[1, 2, 3]]), (1, 1)]
)
def test_vectors_of_other_shapes_are_refused(name, human, metric):
    with pytest.raises(ValueError, match="two vectors of one length are needed"):
        STATISTICS[name](human, metric)


@pytest.mark.parametrize("name", SCIPY)
@pytest.mark.parametrize("n", [3, 4, 60, 400])
def test_no_p_value_is_zero_even_on_a_line(name, n):
    x = np.arange(float(n))
    for y in (2 * x + 1, -x):
        result = STATISTICS[name](x, y)
        assert abs(result.value) == pytest.approx(1)
        assert 0 < result.p <= max(2.1 / math.factorial(min(n, 150)), 1e-15)


#: ratings, scores, then pairwise accuracy and preference
PAIRS = {
    "two apart": ([1, 2], [3, 1], 0, 0),
    "people tie": ([1, 1], [1, 3], 0, NAN),
    "the metric ties": ([1, 2], [1, 1], 0, 0.5),
    "both tie": ([1, 1], [2, 2], 1, NAN),
    "one swap of three": ([1, 2, 3], [1, 3, 2], 2 / 3, 2 / 3),
    "good and bad": ([0, 0, 1, 1], [1, 2, 2, 5], 3 / 6, 7 / 8),
    "a missing one drops its pairs": ([1, 2, NAN], [1, 3, 9], 1, 1),
}


@pytest.mark.parametrize(("human", "metric", "accuracy", "auc"), PAIRS.values(), ids=PAIRS)
def test_known_values_of_pairs(human, metric, accuracy, auc):
    result = [STATISTICS[name](human, metric).value for name in ("pairwise-accuracy", "accuracy")]
    assert result == pytest.approx([accuracy, auc], nan_ok=True)


@pytest.mark.parametrize("size", [12, 200])
def test_preference_is_the_area_under_the_curve_where_people_say_yes_or_no(size):
    rng = np.random.default_rng(4)
    for _ in range(60):
        human, metric = rng.permutation(np.arange(size) % 3 == 0), rng.integers(0, 6, size) / 3
        area = roc_auc_score(human, metric)
        assert STATISTICS["accuracy"](human, metric).value == pytest.approx(area, abs=1e-12)


@pytest.mark.parametrize("name", STATISTICS)
@given(
    st.lists(
        st.tuples(*[st.sampled_from([NAN, INF, -INF, 0.0]) | st.floats(-1e100, 1e100)] * 2),
        max_size=8,
    )
)
@settings(max_examples=60)
def test_any_vectors_give_a_value_in_range_or_a_reason(name, pairs):
    result = STATISTICS[name]([x for x, _ in pairs], [y for _, y in pairs])
    low = -1 if STATISTICS[name].chance == 0 else 0
    assert result.reason or low <= result.value <= 1 + 1e-12
    assert math.isnan(result.value) == bool(result.reason)


NORMAL = np.random.default_rng(6).integers(0, 4, (5, 4)).astype(float)
ZERO = np.zeros((5, 4))
HALF = np.where(np.arange(5)[:, None] < 2, NORMAL, NAN)
#: people, metric
TABLES = {
    "nothing": (np.empty((0, 0)), np.empty((0, 0))),
    "one cell": (NORMAL[:1, :1], NORMAL[:1, :1]),
    "one system": (NORMAL[:, :1], NORMAL[:, 1:2]),
    "one source": (NORMAL[:1], NORMAL[1:2]),
    "a constant metric": (NORMAL, ZERO),
    "constant ratings": (ZERO, NORMAL),
    "all ties": (ZERO, ZERO),
    "all missing": (ZERO * NAN, NORMAL),
    "never both there": (HALF, np.where(np.isnan(HALF), NORMAL, NAN)),
    "infinite scores": (NORMAL, ZERO + INF),
    "one system missing": (NORMAL, np.where(np.arange(4) == 1, NAN, NORMAL[::-1])),
    "equal but for rounding": (NORMAL, 0.3 + 1e-17 + ZERO + np.eye(5, 4) * 1e-16),
}


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("name", STATISTICS)
def test_any_table_gives_a_value_or_a_reason_and_no_warning(name, case):
    human, metric = TABLES[case]
    tasks, varied = np.arange(len(human)) % 2, np.random.default_rng(2).normal(size=human.shape)
    for level in (level for other, level in PLACES if other == name):
        setting = Setting(name, level, tasks)
        result = correlate(human, metric, setting)
        assert math.isfinite(result.value) != bool(result.reason), (setting, result)
        assert result.n >= 0
        for metrics in (metric[None], np.stack([metric, varied])):
            value = estimate(human, metrics, setting)[0]
            assert value == pytest.approx(result.value, abs=1e-9, nan_ok=True), setting
        for units in ("sources", "both"):
            draws = draw(ResamplingPlan(units, 3), human.shape, np.random.default_rng(1))
            values = resampled(human, np.stack([metric, metric]), setting, draws)
            assert values.shape == (2, 3)
            assert not np.isinf(values).any()


def test_no_correlation_is_beyond_one_by_rounding():
    for human in np.random.default_rng(8).normal(size=(99, 6, 1)):
        values = estimate(human, [3 * human + 1, 1 - 3 * human], Setting())
        assert values == pytest.approx([1, -1])
        assert np.abs(values).max() <= 1


EQUAL = f"{FEW}, or all ratings or all scores are equal"
#: people, metric, statistic, level, n and reason
REASONS = [
    (NORMAL, ZERO, "pearson", "pooled", 20, "all scores are equal"),
    (ZERO, NORMAL, "kendall", "system", 4, "all ratings are equal"),
    (
        *(NORMAL[:, :1], NORMAL[:, :1], "pairwise-accuracy", "system", 1),
        "fewer than 2 systems with both values",
    ),
    (NORMAL, ZERO, "pearson", "source", 0, f"no source has a value: {EQUAL}"),
    (NORMAL, ZERO, "pearson", "same-source", 0, f"no source has a value: {EQUAL}"),
    (NORMAL, ZERO, "pearson", "within-system", 0, f"no system has a value: {EQUAL}"),
    (NORMAL, ZERO, "pearson", "within-task", 0, f"{FEW}, in tasks where both vary"),
]


@pytest.mark.parametrize(("human", "metric", "name", "level", "n", "reason"), REASONS)
def test_reasons_are_specific(human, metric, name, level, n, reason):
    result = correlate(human, metric, Setting(name, level, np.arange(len(human)) % 2))
    assert (result.n, result.reason) == (n, reason)


def test_n_counts_cells_of_tasks_and_only_levels_of_groups_have_groups():
    result = correlate(NORMAL, HALF, Setting("pearson", "within-task", np.arange(5) % 2))
    assert (result.n, math.isnan(result.p)) == (8, True)
    for level, groups in (("pooled", 0), ("system", 0), ("source", 5), ("within-system", 4)):
        assert with_value(NORMAL, NORMAL[None], Setting("pearson", level)).shape == (1, groups)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (Setting("pearsons"), "unknown statistic 'pearsons'; known: pearson, spearman"),
        (Setting("pearson", "rows"), "unknown level 'rows'; known: pooled, source"),  # type: ignore[arg-type]
        (Setting("pearson", "within-task", [1, 2]), "tasks of level within-task must be 5 labels"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        estimate(NORMAL, NORMAL[None], setting)
    with pytest.raises(ValueError, match=message):
        correlate(NORMAL, NORMAL, setting)
