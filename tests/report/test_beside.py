"""Tests side by side: the pairs shown, and each p from where it should come."""

import math

import pytest

from tests.report.tiny import rated
from tstmeta.report import beside, certainty
from tstmeta.report.bench import Bench

METRICS = ["rouge1", "rougeL", "ter", "sentinel"]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_the_best_metric_meets_the_second_the_last_and_the_best_sentinel(bench):
    data = rated()
    (found,) = certainty.analyses(bench, [data], METRICS, draws=20)
    rows = found.rows
    pairs = beside._pairs(rows)
    kinds = [(rows["kind"][a], rows["kind"][b]) for a, b in pairs]
    assert kinds == [("metric", "metric")] * 2 + [("metric", "sentinel")]
    assert {first for first, _ in pairs} == {0}
    text = beside.table(bench, [data], [found]).text
    assert text.count("<tr>") == 1 + len(pairs)
    assert "ter ↓" in text


def test_without_pearson_over_all_nothing_is_shown(bench):
    data = rated()
    found = certainty.analyses(bench, [data], METRICS, statistic="kendall", draws=20)
    assert "only" in beside.table(bench, [data], found).data
    assert "No pair" in beside.table(bench, [data], []).data


@pytest.mark.parametrize(
    ("value", "shown"), [(math.nan, "–"), (0.0001, "< 0.001"), (0.0421, "0.042"), (1.0, "1.000")]
)
def test_a_p_is_never_shown_as_zero(value, shown):
    assert beside._p(value) == shown
