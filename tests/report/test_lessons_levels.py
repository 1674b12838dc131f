"""Lesson 1: what the simulated world must look like for its page to be true."""

import math

import numpy as np
import pytest

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.tiny import constructed, rated
from tstmeta.data import paths
from tstmeta.report.bench import Bench
from tstmeta.report.figures import Picture
from tstmeta.report.lessons import levels


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``tiny`` and ``built`` are there."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "built": constructed()}
    return made


def value(rows, metric, level):
    """One number of a table of levels."""
    row = rows[(rows["metric"] == f"knows the {metric}") & (rows["level"] == level)]
    return float(row["value"].iloc[0])


@pytest.fixture(scope="module")
def rows():
    return levels.at_each_level(*levels.world(400, 20, seed=1), draws=200, seed=1)


def test_pooled_all_three_metrics_are_equally_good(rows):
    assert levels.expected() == pytest.approx(1 / math.sqrt(6))
    for part in levels.PARTS:
        assert value(rows, part, "pooled") == pytest.approx(levels.expected(), abs=0.06)


def test_each_level_has_the_metric_that_it_rewards(rows):
    # within a source 2/3 of what varies is left to know, and half of the metric is noise
    for level, (blind, seeing) in {
        "source": ("source", ("system", "rewrite")),
        "within-system": ("system", ("source", "rewrite")),
    }.items():
        assert value(rows, blind, level) == pytest.approx(0, abs=0.05)
        for part in seeing:
            assert value(rows, part, level) == pytest.approx(0.5, abs=0.07)
    assert value(rows, "system", "system") > 0.95


def test_parts_have_variance_one_whatever_the_number_of_systems():
    human, metrics, names = levels.world(50, 3, seed=2)
    assert human.shape == (50, 3)
    assert metrics.shape == (3, 50, 3)
    assert names == ("knows the source", "knows the system", "knows the rewrite")
    many = levels.world(3000, 4, seed=3).human
    assert many.mean(axis=0).var() == pytest.approx(1, abs=0.1)


def test_the_same_seed_makes_the_same_world_and_another_another():
    assert (levels.world(seed=5).human == levels.world(seed=5).human).all()
    assert (levels.world(seed=5).human != levels.world(seed=6).human).any()


def test_intervals_hold_the_values_and_are_wide_over_few_systems(rows):
    found = rows.set_index(["metric", "level"])
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
    width = (found["high"] - found["low"]).unstack()
    assert width.loc["knows the rewrite", "system"] > 2 * width.loc["knows the rewrite", "source"]


def test_one_system_leaves_levels_of_systems_without_a_value_not_without_a_row():
    rows = levels.at_each_level(*_cut(levels.world(30, 5), 1), draws=20)
    assert len(rows) == 3 * len(levels.LEVELS)
    assert rows.loc[rows["level"] == "system", "value"].isna().all()
    assert rows.loc[rows["level"] == "pooled", "value"].notna().all()
    assert "–" in check(levels.table(rows).text).text
    assert levels.picture(rows)._repr_png_()


def _cut(world, systems):
    return world.human[:, :systems], world.metrics[:, :, :systems], world.names


def test_the_table_shows_each_value_above_its_interval(rows):
    page = check(levels.table(rows).text)
    heads = [text for text in page.text if text in levels._WORDS.values()]
    assert heads == list(levels._WORDS.values())
    shown = f"{value(rows, 'system', 'system'):.2f}"
    assert shown in page.text


def test_pictures_are_the_same_bytes_for_the_same_rows(rows):
    assert isinstance(levels.picture(rows), Picture)
    assert levels.picture(rows)._repr_png_() == levels.picture(rows)._repr_png_()
    world = levels.world(20, 4)
    assert levels.clouds(world)._repr_png_() == levels.clouds(world)._repr_png_()


def test_shares_of_variance_sum_to_one_for_ratings_and_scores(bench):
    found = levels.shares(bench, [bench.dataset("tiny"), bench.dataset("built")])
    assert found["of"].tolist() == ["content", "bleu", "content", "bleu"]
    given = found[list(levels.PARTS)].dropna()
    assert len(given)
    assert given.sum(axis=1).to_numpy() == pytest.approx(1)
    check(levels.shares_table(found).text)


def test_labels_that_no_source_and_no_system_explains_are_all_rewrite(bench):
    built = levels.shares(bench, [bench.dataset("built")]).iloc[0]
    # each source has the same four labels, and a system is wrong always or never
    assert built["source"] == pytest.approx(0, abs=1e-9)
    assert built["system"] == pytest.approx(1, abs=1e-9)


def test_metrics_of_a_data_set_are_named_and_keep_their_order(bench):
    rows = levels.real(bench, bench.dataset("tiny"), ["bleu", "length-ratio"])
    assert list(dict.fromkeys(rows["metric"])) == ["bleu", "length-ratio"]
    assert len(rows) == 2 * len(levels.LEVELS)


@needs("mir")
def test_on_mir_scores_vary_between_sources_more_than_ratings_do():
    bench = Bench()
    found = levels.shares(bench, [bench.dataset("mir")]).set_index("of")
    assert found.loc["bleu", "source"] > found.loc["content", "source"]
    assert np.isfinite(found[list(levels.PARTS)].to_numpy()).all()
