"""Hybrids inside and outside of what they were fitted on, beside the best single metric."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr

from tests.combine.made import noisy, rated, score, several
from tstmeta.combine import Settings
from tstmeta.combine.folds import folds
from tstmeta.report import hybrids
from tstmeta.report.bench import Bench
from tstmeta.report.hybrids import EQUAL, INSIDE, NOTHING, OUTSIDE, SINGLE
from tstmeta.stats import correlate

SMALL = Settings(outer=3, inner=2, trees=5)


@pytest.fixture(scope="module")
def data():
    return rated(24, 2)


@pytest.fixture(scope="module")
def compared(data):
    return hybrids.compare(data, several(data), settings=SMALL, draws=200)


def test_every_combination_stands_inside_and_outside(compared):
    pairs = list(zip(compared.rows["name"], compared.rows["fitted"], strict=True))
    names = (SINGLE, *hybrids.HYBRIDS)
    assert pairs == [(name, way) for name in names for way in (INSIDE, OUTSIDE)] + [
        (EQUAL, NOTHING)
    ]


def test_values_are_the_agreement_of_the_scores(data, compared):
    people = data.means["content"]
    own = folds(data.items["source_id"].to_numpy(str), SMALL.outer, SMALL.seed)

    def standard(values):
        groups = pd.Series(values).groupby(own)
        return (values - groups.transform("mean")) / groups.transform("std", ddof=0)

    for row, one in zip(compared.rows.itertuples(), compared.made, strict=True):
        sides = (standard(np.array(side)) for side in (people, one.made.scores["value"]))
        assert row.value == pytest.approx(pearsonr(*sides)[0])
        assert row.low < row.value < row.high
        assert row.n == len(people)
        assert row.signature == one.made.scores["signature"][0]


def test_differences_are_to_the_best_single_metric_of_other_sources(compared):
    rows = compared.rows.set_index(["name", "fitted"])
    base = rows.loc[(SINGLE, OUTSIDE)]
    assert np.isnan(base["more"])
    for key, row in rows.drop(index=[(SINGLE, OUTSIDE)]).iterrows():
        assert row["more"] == pytest.approx(row["value"] - base["value"]), key
        assert row["more_low"] <= row["more"] <= row["more_high"]


def test_the_best_single_metric_is_the_good_one(compared):
    rows = compared.rows.set_index(["name", "fitted"])
    assert rows.loc[(SINGLE, INSIDE), "chosen"] == "content-0 1.00"
    assert "in-sample" in rows.loc[(SINGLE, INSIDE), "signature"]
    assert "in-sample" not in rows.loc[(SINGLE, OUTSIDE), "signature"]


def test_mean_weights_sum_to_one(compared):
    for one in compared.made:
        weights = [float(part.rsplit(" ", 1)[1]) for part in hybrids.chosen(one.made).split(", ")]
        assert sum(weights) == pytest.approx(1.0, abs=0.04)


def test_a_released_distance_is_turned():
    data = rated(24, 2)
    far = score(data, "released:wmd", noisy(data, "content", 0.1, 3, sign=-1.0))
    found = hybrids.compare(
        data, pd.concat([several(data, noises=(9, 9)), far]), settings=SMALL, draws=50
    )
    rows = found.rows.set_index(["name", "fitted"])
    assert rows.loc[(SINGLE, OUTSIDE), "value"] > 0.8


def test_metrics_without_a_value_for_all_rated_items_are_left_out(data):
    scores = several(data)
    lost = (scores["metric"] == "content-2") & (scores["item_id"] == "i003")
    scores.loc[lost, ["value", "status"]] = [np.nan, "error"]
    left = hybrids.usable(data, scores, "content")["metric"].unique().tolist()
    assert left == ["content-0", "content-1", "content-3", "content-4"]


def test_data_sets_that_cannot_be_asked_are_left_out_with_the_reason(data, tmp_path, monkeypatch):
    bench = Bench(tmp_path)
    bare = type(data).of("bare", data.items.assign(dataset="bare"), data.card)
    few = rated(2, 1, name="few")
    monkeypatch.setattr(bench, "table", lambda one, *_: several(one))
    found = hybrids.comparisons(bench, [data, bare, few], ["any"], settings=SMALL, draws=50)
    assert [one.dataset for one in found] == ["made"]
    assert found.left_out["bare"] == "nobody rated content"
    assert "fewer than 10" in found.left_out["few"]
    text = hybrids.tables(found).text
    assert "<code>few</code> is left out" in text
    assert text.count("<caption>") == 1
    assert text.count("<details") == 1  # what the combinations are made of, folded


def test_nothing_at_all_says_so():
    assert "No data set" in hybrids.tables(hybrids.Comparisons()).data
    assert "No data set" in hybrids.picture([]).data


def test_folds_that_chose_metrics_of_other_levels_do_not_pay_for_it():
    data = rated(24, 2)
    own = folds(data.items["source_id"].to_numpy(str), SMALL.outer, SMALL.seed)
    setting = hybrids.inside_folds(data.items["source_id"].tolist(), SMALL)
    people = data.means["content"].to_numpy(float)[:, None]
    found = correlate(people, people + 100.0 * own[:, None], setting)
    assert found.value == pytest.approx(1.0)


def test_noise_looks_good_inside_and_is_nothing_outside(data):
    settings = SMALL._replace(trees=2)
    rows = hybrids.noise(data, metrics=12, replicates=30, settings=settings, seed=3)
    mean, error = (rows.set_index(["name", "fitted"])[column] for column in ("mean", "error"))
    for name in (SINGLE, "Hybrid-Simulation"):
        assert mean[name, INSIDE] > 10 * error[name, INSIDE]
        assert abs(mean[name, OUTSIDE]) < 3 * error[name, OUTSIDE]
        assert mean[name, INSIDE] - mean[name, OUTSIDE] > 0.15
    assert abs(mean[EQUAL, NOTHING]) < 3 * error[EQUAL, NOTHING]
    assert error.max() < 0.05
    assert (rows["sources"] == 24).all()


def test_noise_can_be_drawn_on_fewer_sources_and_again(data):
    first, again = (
        hybrids.noise(data, metrics=4, sources=12, replicates=2, settings=SMALL) for _ in range(2)
    )
    assert first.equals(again)
    assert set(first["sources"]) == {12}
    assert set(first["items"]) == {24.0}
    text = hybrids.noise_table(first).text
    assert "4 metrics of noise, 12 sources, 24 rewrites, 2 draws" in text


def test_the_picture_shows_each_data_set(compared):
    other = compared._replace(dataset="other")
    assert hybrids.picture([compared, other])._repr_png_()[:4] == b"\x89PNG"
    axes = hybrids.picture([compared, other]).figure.axes
    assert [axis.get_title(loc="left") for axis in axes] == ["made", "other"]
