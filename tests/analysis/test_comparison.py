"""Differences of all rows of an evaluation, against each pair alone."""

import itertools

import numpy as np
import pytest

from tests.analysis.many import rated, scored
from tstmeta import stats
from tstmeta.analysis import evaluate
from tstmeta.analysis.comparison import detectable, differences

DATA, NAMES = rated(), {"good": 0.4, "fair": 1.0, "poor": 4.0}


def test_differences_of_all_rows_are_those_of_each_two_alone_with_p_of_both_kinds():
    own = evaluate(DATA, scores=scored(DATA, **NAMES), draws=200)
    table = differences(own.analysis.matrices, own.drawn, own.p, range(3))
    assert table[["a", "b"]].to_numpy().tolist() == [
        list(two) for two in itertools.combinations(["good", "fair", "poor"], 2)
    ]
    value = dict(zip(own.frame["metric"], own.frame["value"], strict=True))
    for row in table.to_dict("records"):
        two = scored(DATA, **NAMES)
        two = two[two["metric"].isin([row["a"], row["b"]])]
        alone = evaluate(DATA, scores=two, draws=200)
        assert row["difference"] == pytest.approx(value[row["a"]] - value[row["b"]])
        assert (row["low"], row["high"]) == pytest.approx(stats.difference(alone.drawn, 0, 1)[:2])
        assert row["p"] == pytest.approx(alone.p[0, 1])
        assert 0 < row["p"] <= row["p_adjusted"] <= 1
    p = own.p[np.triu_indices(3, 1)]
    np.testing.assert_array_equal(table["p_adjusted"], p)


def test_the_detectable_difference_of_two_rows_is_that_of_the_statistics():
    own = evaluate(DATA, scores=scored(DATA, **NAMES), draws=200)
    human, metrics = own.analysis.matrices.human, own.analysis.matrices.metrics
    rng = np.random.default_rng([0, 0])
    sides = human, metrics[0], metrics[1:], own.analysis.setting, own.analysis.plan
    expected = stats.detectable_difference(*sides, rng)
    assert detectable(own.analysis, 0, 2) == expected.difference[1]
    how = {"statistic": "acc_eq", "level": "source", "draws": 20}
    none = evaluate(DATA, scores=scored(DATA, **NAMES), **how)
    assert np.isnan(detectable(none.analysis, 0, 1)), "its tie thresholds are fitted"


def test_a_tie_threshold_is_fitted_once_a_metric(monkeypatch):
    fits, fit = [], stats.tie_calibrated

    def counted(*sides, **options):
        fits.append(sides)
        return fit(*sides, **options)

    monkeypatch.setattr(stats, "tie_calibrated", counted)
    own = {"statistic": "acc_eq", "level": "source", "draws": 20, "seed": 77}
    evaluate(DATA, scores=scored(DATA, **NAMES), **own)
    assert len(fits) == len(NAMES)
