"""Lesson 8: what judging on its own ratings adds to a hybrid, and that folds take it away."""

import numpy as np
import pandas as pd
import pytest
from IPython.display import Markdown

from tests.helpers import needs
from tests.report.test_html import check
from tests.report.test_lessons_how_many import study as kept_words
from tests.report.tiny import constructed, rated
from tstmeta.data import paths
from tstmeta.report.bench import Bench
from tstmeta.report.lessons import in_sample
from tstmeta.report.lessons.in_sample import FOLDS, NEW, OWN, WAYS
from tstmeta.schema import TstmetaError


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"tiny": rated(), "contrast": constructed("contrast")}
    made._datasets["study"] = kept_words(40)
    return made


# ---------------------------------------------------------------------------------------- worlds


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("agreement", "alike"), [(0.4, 0.7), (0.4, 0.16), (0.9, 0.95), (0, 0)])
def test_metrics_of_a_world_agree_and_are_alike_as_asked(agreement, alike, seed):
    pool = in_sample.world(3, agreement=agreement, alike=alike, sources=6000, seed=seed)
    r = np.corrcoef([pool.people, *pool.parts.matrix])
    assert r[0, 1:] == pytest.approx([agreement] * 3, abs=0.03)
    assert r[np.triu_indices(4, 1)][3:] == pytest.approx([alike] * 3, abs=0.03)
    assert [side.var() for side in (pool.people, *pool.parts.matrix)] == pytest.approx(
        [1] * 4, abs=0.05
    )


def test_metrics_cannot_be_less_alike_than_what_they_agree_on():
    with pytest.raises(TstmetaError, match=r"alike at 0\.16 at the least; alike = 0\.1 cannot be"):
        in_sample.world(3, alike=0.1)


def test_a_part_of_every_column_belongs_to_the_source():
    origin = np.repeat(np.arange(5000).astype(str), 3)
    (column,) = in_sample._columns(origin, 1, np.random.default_rng(0))
    each = column.reshape(5000, 3)
    order = np.argsort(np.unique(origin))  # sources as they stand
    assert np.corrcoef(each[order][:, 0], each[order][:, 1])[0, 1] == pytest.approx(
        in_sample.SHARE, abs=0.04
    )


def test_a_world_of_noise_has_no_best_metric_and_others_the_one_that_agrees_best():
    assert in_sample.world(0, sources=50).best == -1
    pool = in_sample.world(3, sources=400, seed=5)
    r = [np.corrcoef(pool.people, row)[0, 1] for row in pool.parts.matrix]
    assert pool.best == int(np.argmax(r))


# --------------------------------------------------------------------------------------- studies


def test_more_candidates_are_the_same_ones_and_some_more():
    parts = in_sample.world(2, sources=30).parts
    few, many = (in_sample._with_noise(parts, n, np.random.default_rng(7)) for n in (4, 9))
    assert len(few.names) == 4
    assert len(set(many.names)) == 9
    np.testing.assert_array_equal(few.matrix, many.matrix[:4])
    np.testing.assert_array_equal(few.matrix[:2], parts.matrix)
    assert len(in_sample._with_noise(parts, 1, np.random.default_rng(0)).names) == 1


@pytest.fixture(scope="module")
def noise():
    pool = in_sample.world(0, sources=400)
    return in_sample.sweep(pool, candidates=(3, 24), sources=(20, 120), replicates=12)


def gain(rows, way, **size):
    for name, value in size.items():
        rows = rows[rows[name] == value]
    return rows.loc[rows["way"] == way, "gain"].iloc[0]


def test_noise_looks_good_on_its_own_ratings_and_on_no_others(noise):
    small = {"candidates": 24, "sources": 20}
    assert gain(noise, OWN, **small) > 0.15
    assert abs(gain(noise, FOLDS, **small)) < 0.12
    assert abs(gain(noise, NEW, **small)) < 0.03


def test_flattery_grows_with_candidates_and_shrinks_with_sources(noise):
    at = {
        (c, s): gain(noise, OWN, candidates=c, sources=s) for c, s in ((3, 20), (24, 20), (24, 120))
    }
    assert at[(3, 20)] + 0.05 < at[(24, 20)]
    assert at[(24, 120)] + 0.05 < at[(24, 20)]


def test_with_many_sources_all_three_ways_find_the_gain_there_is():
    pool = in_sample.world(3, sources=700)
    found = [in_sample.study(pool, 3, 300, seed=k) for k in range(4)]
    means = pd.DataFrame(found).mean()
    # the mean of three metrics that agree at a and are alike at b agrees at a sqrt(3 / (1 + 2 b))
    true = 0.4 * (np.sqrt(3 / (1 + 2 * 0.7)) - 1)
    assert means.to_numpy() == pytest.approx([true] * 3, abs=0.03)


def test_equal_weights_fit_nothing_so_nothing_flatters():
    pool = in_sample.world(3, sources=300)
    found = pd.DataFrame([in_sample.study(pool, 6, 40, "equal", seed=k) for k in range(6)]).mean()
    assert found[OWN] == pytest.approx(found[FOLDS], abs=0.03)


def test_a_study_is_the_same_each_time_and_another_with_another_seed():
    pool = in_sample.world(2, sources=60)
    one, again, other = (in_sample.study(pool, 5, 10, seed=k) for k in (3, 3, 4))
    assert one == again
    assert one != other


@pytest.mark.parametrize("sources", [4, 60, 100])
def test_a_study_needs_a_source_for_each_fold_and_one_left_over(sources):
    with pytest.raises(TstmetaError, match=f"a study can have 5 to 59, not {sources}"):
        in_sample.study(in_sample.world(2, sources=60), 5, sources)


def test_sizes_that_a_pool_has_no_room_for_are_left_out():
    pool = in_sample.world(4, sources=60)
    rows = in_sample.sweep(pool, candidates=(3, 6), sources=(2, 10, 30, 31), replicates=2)
    assert sorted(set(rows.loc[rows["changed"] == "sources", "sources"])) == [10, 30]
    # the metrics that there are always take part
    assert sorted(set(rows.loc[rows["changed"] == "candidates", "candidates"])) == [4, 6]
    assert set(rows.loc[rows["changed"] == "candidates", "sources"]) == {20}
    with pytest.raises(TstmetaError, match="too few to draw studies from"):
        in_sample.sweep(in_sample.world(2, sources=6), replicates=2)


# ----------------------------------------------------------------------------------------- data


def test_a_data_set_is_a_pool_of_its_judged_items_and_of_metrics_with_all_values(bench):
    data, pool = in_sample.rated(bench, "study", ["chrf", "ter", "constant"])
    assert (data.name, pool.name, pool.sources) == ("study", "study", 40)
    assert pool.parts.names[:2] == ("chrf", "ter")
    assert pool.parts.lower.tolist()[:2] == [False, True]
    np.testing.assert_allclose(pool.people, data.means["content"])


def test_without_data_the_labels_of_the_contrast_set_are_held_against(bench):
    data, pool = in_sample.rated(bench, "auto", ["chrf"])
    assert data.name == "contrast"
    assert set(pool.people) == {0.0, 1.0}


def test_what_nobody_judged_is_told(bench):
    with pytest.raises(TstmetaError, match="nobody judged fluency"):
        in_sample.rated(bench, "contrast", ["chrf"], "fluency")


def test_a_handful_of_sources_leaves_the_reason(bench):
    _, pool = in_sample.rated(bench, "tiny", ["chrf", "bleu"])
    shown = in_sample.on_ratings(pool, replicates=2)
    assert isinstance(shown, Markdown)
    assert "too few to draw studies from" in shown.data


# --------------------------------------------------------------------------------- what is shown


def test_picture_table_and_sentences_show_every_size_and_way(noise):
    shown = in_sample.picture(noise).text
    alternative = shown.partition("alt='")[2].partition("' src")[0]
    assert "noise only, from 3 to 24 metrics: its own ratings" in alternative
    assert alternative.count("new sources") == 2
    assert in_sample.picture(noise).text == shown
    text = check(in_sample.table(noise).text).text
    assert set(WAYS) <= set(text)
    assert text[0] == "Gain judged on each, mean of 12 studies ± its standard error"
    said = in_sample.said(noise).data
    assert (
        "noise only: its own ratings flatter the hybrid most with 24 metrics and 20 sources" in said
    )
    assert len(in_sample.picture_figure(noise).axes) == 2


@needs("mir")
def test_folds_come_nearer_to_the_truth_on_real_ratings_too():
    _, pool = in_sample.rated(Bench(), "mir", ["bleu", "rougeL", "meteor", "chrf", "ter"])
    found = pd.DataFrame([in_sample.study(pool, 12, 10, seed=k) for k in range(12)]).mean()
    assert found[OWN] > found[FOLDS]
    assert found[FOLDS] == pytest.approx(found[NEW], abs=0.03)
