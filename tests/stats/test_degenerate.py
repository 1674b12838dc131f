"""Tables that hold next to nothing: a value with a reason or a clear error, never a warning."""

import math

import numpy as np
import pytest

from tests.stats.oracles import PLACES
from tstmeta.stats import (
    STATISTICS,
    ResamplingPlan,
    Setting,
    correlate,
    draw,
    estimate,
    resampled,
)

NAN, INF = math.nan, math.inf
NORMAL = np.random.default_rng(6).integers(0, 4, (5, 4)).astype(float)
ONE = np.zeros((5, 4))
HALF = np.where(np.arange(5)[:, None] < 2, NORMAL, NAN)
#: people, metric
DEGENERATE = {
    "nothing": (np.empty((0, 0)), np.empty((0, 0))),
    "no source": (np.empty((0, 4)), np.empty((0, 4))),
    "no system": (np.empty((5, 0)), np.empty((5, 0))),
    "one cell": (NORMAL[:1, :1], NORMAL[:1, :1]),
    "one system": (NORMAL[:, :1], NORMAL[:, 1:2]),
    "one source": (NORMAL[:1], NORMAL[1:2]),
    "two sources and systems": (NORMAL[:2, :2], NORMAL[2:4, 1:3]),
    "a constant metric": (NORMAL, ONE),
    "constant ratings": (ONE, NORMAL),
    "all ties": (ONE, ONE),
    "all missing": (ONE * NAN, NORMAL),
    "never both there": (HALF, np.where(np.isnan(HALF), NORMAL, NAN)),
    "infinite scores": (NORMAL, ONE + INF),
    "one system missing": (NORMAL, np.where(np.arange(4) == 1, NAN, NORMAL[::-1])),
    "equal but for rounding": (NORMAL, 0.3 + 1e-17 + ONE + np.eye(5, 4) * 1e-16),
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("name", STATISTICS)
def test_any_table_gives_a_value_or_a_reason_and_no_warning(name, case):
    human, metric = DEGENERATE[case]
    tasks = np.arange(len(human)) % 2
    for level in (level for each, level in PLACES if each == name):
        setting = Setting(name, level, tasks)
        result = correlate(human, metric, setting)
        assert math.isfinite(result.value) != bool(result.reason), (setting, result)
        assert result.n >= 0
        alone = estimate(human, metric[None], setting)[0]
        assert alone == pytest.approx(result.value, abs=1e-9, nan_ok=True), setting
        for units in ("sources", "both"):
            draws = draw(ResamplingPlan(units, 3), human.shape, np.random.default_rng(1))
            values = resampled(human, np.stack([metric, metric]), setting, draws)
            assert values.shape == (2, 3)
            assert not np.isinf(values).any()


#: people, metric, statistic, level, n and reason
REASONS = [
    (NORMAL, ONE, "pearson", "pooled", 20, "all scores are equal"),
    (ONE, NORMAL, "kendall", "system", 4, "all ratings are equal"),
    (NORMAL[:, :1], NORMAL[:, :1], "tau-c", "system", 1, "fewer than 2 systems with both values"),
    (NORMAL, ONE, "pearson", "source", 0, "no source has a value: all scores are equal"),
    (
        *(np.array([[1, 2, 3], [1, NAN, NAN]]), np.array([[1, 1, 1], [1, 2, 3]])),
        *("kendall", "source", 0),
        "no source has a value: all scores are equal, fewer than 2 items with both values",
    ),
    (NORMAL, ONE, "tau-c", "task", 0, "no task has a value: all scores are equal"),
    (NORMAL, ONE, "pearson", "within-task", 0, "in every task all ratings or all scores are equal"),
    (NORMAL * NAN, ONE, "pearson", "within-task", 0, "fewer than 3 items with both values"),
    (
        *(NORMAL * NAN, ONE, "soft-pairwise-accuracy", "system", 0),
        "no two systems share a source with both values",
    ),
]


@pytest.mark.parametrize(("human", "metric", "name", "level", "n", "reason"), REASONS)
def test_reasons_are_specific(human, metric, name, level, n, reason):
    result = correlate(human, metric, Setting(name, level, np.arange(len(human)) % 2))
    assert (result.n, result.reason) == (n, reason)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (Setting("pearsons"), "unknown statistic 'pearsons'; known: pearson, spearman"),
        (Setting("pearson", "rows"), "unknown level 'rows'; known: pooled, source"),  # type: ignore[arg-type]
        (Setting("pearson", "task", [1, 2]), "level task needs a task label"),
        (Setting("pearson", "within-task", [1, 2, 1, 2, NAN]), "level within-task needs a task"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        estimate(NORMAL, NORMAL[None], setting)
    with pytest.raises(ValueError, match=message):
        correlate(NORMAL, NORMAL, setting)
