"""What is committed as frames: frozen aggregates, and what metrics cost."""

import pytest

import tstmeta as tst
from tools.ship import PARTS
from tstmeta.analysis.committed import read_frozen
from tstmeta.data import names, paths
from tstmeta.metrics import get
from tstmeta.schema import MissingData

FRAMES = sorted(path.stem for path in paths.project("frozen").glob("*.csv"))


def test_what_may_be_passed_on_is_computed_and_what_may_not_is_frozen(bare):
    rows = tst.frozen("02_content_preservation")
    assert list(rows) == ["dataset", "metric", "r", "n"]
    assert {"mir", "lens"} <= set(rows["dataset"].str.split("@").str[0]) <= {*names()} - {*PARTS}
    assert rows["r"].between(-1, 1).sum() > 60
    assert tst.frozen("13_references").empty
    assert "alva@asset" in set(tst.frozen("13_references", texts=True)["dataset"])


def test_a_frame_without_data_sets_gives_nothing_and_none_where_the_files_are(bare, monkeypatch):
    assert tst.frozen("lesson_3_too_small_p").empty
    assert tst.frozen("mine").empty
    monkeypatch.setattr("tstmeta.analysis.committed.available", lambda name: True)
    assert all(tst.frozen(name).empty for name in FRAMES)


def test_a_page_names_what_is_computed_without_texts_and_what_is_frozen(bare):
    frozen = tst.frozen("02_content_preservation")
    words = tst.about([tst.load("lai@pauli2025"), tst.load("contrast")], frozen)
    assert ": `lai@pauli2025` (ratings and scores without texts), `detox` (frozen agg" in words
    assert "Get the ratings with `tstmeta data fetch detox lens mir" in words
    assert words.endswith("nobody rated it.")


def test_what_is_frozen_is_aggregates_of_known_data_sets():
    known = {*names(), "simulated"}
    for name in FRAMES:
        rows = read_frozen(name)
        if rows.columns[0] == "dataset":
            assert set(rows["dataset"].str.replace(r"[@ ].*", "", regex=True)) <= known, name
        assert not {"item_id", "source_id", "rater"} & set(rows), name


def test_costs_are_of_registered_metrics_and_need_a_checkout(tmp_path, monkeypatch):
    table = tst.costs()
    assert {"bleu", "cosine"} <= set(table["metric"])
    assert table["seconds"].is_monotonic_increasing
    for metric, basis in zip(table["metric"], table["basis"], strict=True):
        assert basis in get(metric).bases
    monkeypatch.setattr(paths, "home", lambda: tmp_path)
    with pytest.raises(MissingData, match=r"python benchmarks/cost\.py"):
        tst.costs()
