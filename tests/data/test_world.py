"""The small world: the contrast set's design, its own name, and nothing of the contrast set."""

import re

import pandas as pd
import pytest

from tests.data import raw
from tests.data.test_contrast import bare, turns
from tstmeta import data
from tstmeta.data import contrast, paths, world
from tstmeta.data.contrast import parse_span


@pytest.fixture(scope="module")
def dataset():
    return data.load("world")


@pytest.fixture(scope="module")
def frame():
    """The file as it is, one row a rewrite."""
    return pd.read_csv(paths.own("world", world.FILE), dtype=str, keep_default_na=False)


def test_it_loads_under_its_own_name_with_the_design_of_the_contrast_set(dataset):
    other = data.load("contrast")
    assert dataset.name == "world"
    for column in ("system", "source_id", "item_id", "style"):
        assert set(dataset.items[column]) == set(other.items[column]), column
    for label in ("task", "shift"):
        counts = dataset.label(label).value_counts().to_dict()
        assert counts == other.label(label).value_counts().to_dict()
    assert (pd.crosstab(dataset.label("shift"), dataset.label("error") == "none") == 240).all(None)
    for table in (dataset.items, dataset.labels):
        assert set(table["dataset"]) == {"world"}


def test_it_has_no_ratings(dataset):
    assert dataset.dimensions == []
    assert dataset.ratings.empty
    assert dataset.preferences.empty


def test_the_loader_gives_the_file(dataset, frame):
    assert dataset.items["output"].tolist() == frame["output"].tolist()
    assert dataset.items["source"].tolist() == frame["source"].tolist()
    assert dataset.label("span").tolist() == frame["span"].tolist()


def test_the_error_is_one_edit_of_neighbouring_words_and_the_span_says_it(frame):
    kept = frame[frame["error"] == "none"].set_index(["source_id", "shift"])["output"]
    wrong = frame[frame["error"] != "none"]
    assert len(wrong) == 480
    for row in wrong.itertuples():
        removed, added = parse_span(row.span)
        assert turns(kept[row.source_id, row.shift], removed, added, row.output), row.item_id


def test_no_sentence_is_one_of_the_contrast_set(frame):
    other = data.load("contrast").items
    theirs = {" ".join(bare(text)) for text in [*other["source"], *other["output"]]}
    ours = {" ".join(bare(text)) for text in [*frame["source"], *frame["output"]]}
    assert not ours & theirs


def test_subsets_are_named_after_this_set():
    names = data.subsets("world")
    assert names == [*(f"world@{task}" for task in contrast.TASKS), "world@tied"]
    for name in names:
        part = data.load(name)
        assert part.name == name
        assert len(part.items) == (480 if name == "world@tied" else 160)
    tied = data.load("world@tied")
    strong, whole = tied.label("shift") == "strong", tied.label("error") == "none"
    assert (strong == whole).all()


def test_a_broken_file_is_reported_with_its_row(tmp_path):
    header = "item_id,task,source_id,source,output,style,shift,error,span"
    row = "a-strong,formal,a,yo Ben is in,Good day; Ben is present.,formal,huge,none,"
    raw.write(tmp_path / world.FILE, [header, row])
    assert re.search("world.csv.*row 1, column shift: unknown", raw.complaint(world.load, tmp_path))
    assert "the file is missing" in raw.complaint(world.load, tmp_path / "nowhere")
