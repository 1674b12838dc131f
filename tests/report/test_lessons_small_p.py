"""Lesson 3: false alarms where nothing is, and the two intervals beside each other."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import constructed, rated
from tstmeta.data import paths
from tstmeta.report.bench import Bench
from tstmeta.report.lessons import small_p


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny`` and ``built`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "built": constructed()}
    return made


# ------------------------------------------------------------------------------ false alarms


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_both_sides_have_variance_one_and_the_share_of_the_source(share):
    human, metric = small_p.unrelated(share, 4000, 5, np.random.default_rng(0))
    for side in (human, metric):
        assert side.var() == pytest.approx(1, abs=0.05)
        # rewrites of one source correlate by the share that belongs to it
        assert np.corrcoef(side[:, 0], side[:, 1])[0, 1] == pytest.approx(share, abs=0.05)
    assert np.corrcoef(human.ravel(), metric.ravel())[0, 1] == pytest.approx(0, abs=0.05)


@pytest.fixture(scope="module")
def rows():
    return small_p.false_alarms(30, 8, shares=(0.0, 0.5, 0.9), replicates=200, draws=100, seed=1)


def test_the_naive_way_raises_more_false_alarms_the_more_a_source_weighs(rows):
    naive = rows["naive"].tolist()
    assert naive[0] < 0.1
    assert naive[1] > naive[0] + 0.05
    assert naive[2] > naive[1] + 0.05


def test_the_clustered_way_stays_near_five_in_a_hundred(rows):
    assert (rows["clustered"] < 0.12).all()
    assert rows["clustered"].iloc[-1] < rows["naive"].iloc[-1] / 2


def test_p_values_and_alarms_are_of_the_same_worlds(rows):
    for row in rows.to_dict("records"):
        assert len(row["p"]) == 200
        assert row["naive"] == pytest.approx((row["p"] < small_p.ALARM).mean())
        assert row["error"] == pytest.approx(math.sqrt(0.05 * 0.95 / 200))


def test_one_rewrite_a_source_leaves_both_ways_fair():
    rows = small_p.false_alarms(60, 1, shares=(0.8,), replicates=200, draws=100)
    assert rows["naive"].iloc[0] < 0.11
    assert rows["clustered"].iloc[0] < 0.13


def test_table_and_picture_show_every_share(rows):
    text = check(small_p.table(rows).text).text
    assert {"0.0%", "50.0%", "90.0%"} <= set(text)
    assert small_p.picture(rows)._repr_png_() == small_p.picture(rows)._repr_png_()


# --------------------------------------------------------------------------------- real data


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_usual_interval_is_that_of_scipy(seed, confidence):
    made = np.random.default_rng(seed)
    n = int(made.integers(4, 60))
    x, y = made.normal(size=(2, n))
    y = y + made.normal() * x
    found = scipy_stats.pearsonr(x, y)
    expected = found.confidence_interval(confidence)
    assert small_p.fisher(found.statistic, n, confidence) == pytest.approx(tuple(expected))


@pytest.mark.parametrize(("r", "n"), [(0.5, 3), (0.5, 0), (1.0, 50), (-1.0, 50)])
def test_no_usual_interval_for_three_items_or_a_perfect_line(r, n):
    assert all(math.isnan(end) for end in small_p.fisher(r, n))


def test_worth_is_the_number_of_items_whose_usual_interval_is_as_wide(bench):
    rows = small_p.real(bench, [bench.dataset("tiny")], "bleu", draws=200)
    (row,) = rows.to_dict("records")
    assert (row["data"], row["n"], row["sources"]) == ("tiny", 6, 2)
    low, high = (math.atanh(row[end]) for end in ("low", "high"))
    if math.isfinite(row["worth"]):
        half = scipy_stats.norm.ppf(0.975) / math.sqrt(row["worth"] - 3)
        assert high - low == pytest.approx(2 * half)
    check(small_p.real_table(rows).text)


def test_a_set_built_by_construction_has_a_row_too(bench):
    rows = small_p.real(bench, [bench.dataset("built")], "bleu", draws=100)
    assert rows["n"].tolist() == [8]
    assert rows["naive low"].iloc[0] < rows["r"].iloc[0] < rows["naive high"].iloc[0]


@needs("lai", "pauli")
def test_clusters_cost_items_on_lai_and_the_design_of_pauli_gives_some():
    bench = Bench()
    sets = [bench.dataset("lai@pauli2025"), bench.dataset("pauli")]
    found = small_p.real(bench, sets, "bleu", draws=1000).set_index("data")
    assert found.loc["lai@pauli2025", "worth"] < 0.8 * found.loc["lai@pauli2025", "n"]
    assert found.loc["pauli", "worth"] > found.loc["pauli", "n"]
