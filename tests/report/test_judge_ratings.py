"""Ratings by judges: released ones, and tables of one's own, which are checked at the door."""

import numpy as np
import pandas as pd
import pytest

from tests.report.judged import ROWS, rows_of, study
from tests.report.tiny import rated
from tstmeta.console import write_table
from tstmeta.data import paths
from tstmeta.report import judge_ratings
from tstmeta.report.bench import Bench
from tstmeta.schema import TstmetaError, validate

DATA = study()


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A machine without raw data; ``lai`` is made up."""
    monkeypatch.setenv("TSTMETA_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(paths, "external", lambda: tmp_path / "external")
    made = Bench(tmp_path / "store")
    made._datasets |= {"lai": DATA, "lai@lai2023": DATA, "tiny": rated()}
    return made


def test_released_ratings_are_told_by_manner_and_dimension_and_counted_once():
    found = judge_ratings.released_with(DATA)
    assert [one.name for one in found] == [
        "ChatGPT, asked for it alone",
        "ChatGPT, asked for all at once",
    ]
    assert {one.dimension for one in found} == {"content"}
    assert [len(one.rows) for one in found] == [ROWS, ROWS]
    scores = DATA.scores[DATA.scores["metric"] == "released:chatgpt"]
    expected = scores[scores["basis"] == "source"].set_index("item_id")["value"]
    pd.testing.assert_series_equal(found[0].ratings, expected, check_names=False)
    pd.testing.assert_series_equal(found[0].human, DATA.means["content"], check_names=False)
    assert found[0].rows["source_id"].tolist() == DATA.items["source_id"].tolist()


def test_a_set_without_a_judge_has_none(bench):
    assert judge_ratings.released_with(rated()) == []
    assert judge_ratings.collect(bench, "tiny") == []
    assert judge_ratings.released(Bench(bench.store)) == []


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_table_of_ones_own_comes_back_as_it_was_written(bench, tmp_path, ending):
    rows, path = rows_of(DATA), tmp_path / f"ratings.{ending}"
    write_table(rows, path)
    released, own = judge_ratings.released_with(DATA), judge_ratings.given(rows, [DATA])
    found = judge_ratings.collect(bench, "auto", str(path))
    assert [one.name for one in found] == [one.name for one in [*released, *own]]
    assert found[-1].name == "small, mine@abc"
    assert found[-1].scale == (1.0, 5.0)
    assert not found[-1].released
    pd.testing.assert_series_equal(found[-1].ratings, own[0].ratings)
    assert judge_ratings.collect(bench, "lai", str(path))[-1].name == found[-1].name


def test_the_rating_of_an_item_is_the_mean_of_its_samples():
    rows = rows_of(DATA)
    [found] = judge_ratings.given(rows, [DATA])
    first = rows[rows["item_id"] == "s1-B"]["rating"]
    assert found.ratings["s1-B"] == first.mean()
    assert found.of_sample(1)["s1-B"] == first.iloc[1]
    # the first item has no rating in the first sample, and one in the second
    assert np.isnan(found.of_sample(0)["s0-A"])
    assert np.isfinite(found.ratings["s0-A"])


def test_ratings_stand_as_scores_like_any_metric():
    [found] = judge_ratings.given(rows_of(DATA, samples=1), [DATA])
    table = validate(found.scores(), "scores")
    assert set(table["status"]) == {"ok", "invalid"}
    assert table["metric"].unique().tolist() == ["small, mine@abc"]


def test_prompts_and_models_are_judges_of_their_own_and_pairs_are_left_out():
    rows = pd.concat(
        [
            rows_of(DATA),
            rows_of(DATA, prompt="other"),
            rows_of(DATA, model="large"),
            rows_of(DATA, rival="s0-B"),
        ]
    )
    found = judge_ratings.given(rows, [DATA])
    assert [one.name for one in found] == ["small, mine@abc", "small, other@abc", "large, mine@abc"]
    assert all(len(one.rows) == 2 * ROWS for one in found)


def test_ratings_of_another_data_set_are_refused(bench, tmp_path):
    path = tmp_path / "ratings.csv"
    write_table(rows_of(DATA), path)
    with pytest.raises(TstmetaError, match="the ratings are of lai, and the page is about tiny"):
        judge_ratings.collect(bench, "tiny", str(path))
    with pytest.raises(TstmetaError, match="none of the rated items is in lai"):
        judge_ratings.given(rows_of(DATA).assign(item_id="x"), [DATA])


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_ids_that_look_like_numbers_stay_texts(tmp_path, ending):
    path = tmp_path / f"ratings.{ending}"
    write_table(rows_of(DATA).head(1).assign(item_id="007", prompt_hash="12e3"), path)
    rows = judge_ratings.read(path)
    assert rows[["item_id", "prompt_hash"]].to_numpy().tolist() == [["007", "12e3"]]


def test_a_few_unknown_items_are_refused_and_named():
    rows = rows_of(DATA, samples=1)
    rows.loc[3, "item_id"] = "stranger"
    with pytest.raises(TstmetaError, match=f"1 of {ROWS} rated items are not in lai: stranger"):
        judge_ratings.given(rows, [DATA])


def test_items_outside_a_part_of_the_data_set_are_counted_and_said(bench, tmp_path):
    part = DATA.where(DATA.items["system"] != "D", "lai@lai2023")
    bench._datasets["lai@lai2023"] = part
    path = tmp_path / "ratings.csv"
    write_table(rows_of(DATA), path)
    found = judge_ratings.collect(bench, "lai@lai2023", str(path))
    assert found[-1].outside == 40
    assert len(found[-1].rows) == 2 * 120
    assert "40 rated items are left out" in judge_ratings.outside_said(found).data
    assert judge_ratings.outside_said(found[:-1]).data == ""
    with pytest.raises(TstmetaError, match="rated items are not in"):
        judge_ratings.given(rows_of(DATA), [part])


def test_of_a_table_about_several_sets_a_page_takes_its_own(bench, tmp_path):
    path = tmp_path / "ratings.csv"
    strangers = rows_of(DATA).assign(dataset="elsewhere")
    write_table(pd.concat([rows_of(DATA), strangers]), path)
    found = judge_ratings.collect(bench, "lai", str(path))
    assert [one.judge for one in found] == ["ChatGPT", "ChatGPT", "small"]
    with pytest.raises(TstmetaError, match="the ratings are of elsewhere"):
        judge_ratings.collect(bench, "auto", str(path))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.csv", None, "cannot be read"),
        ("ratings.xlsx", b"x", "ends with .csv, .json, .parquet"),
        ("other.csv", b"a,b\n1,2\n", "has no column dataset, item_id"),
        ("broken.json", b"{", "cannot be read"),
        ("broken.parquet", b"no", "cannot be read"),
        ("empty.csv", b"", "cannot be read"),
    ],
)
def test_a_file_that_is_none_is_told_with_the_remedy(tmp_path, name, content, said):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TstmetaError) as raised:
        judge_ratings.read(path)
    assert said in str(raised.value)
    assert str(path) in str(raised.value)
