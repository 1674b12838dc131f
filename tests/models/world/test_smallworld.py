"""The small world set: made again it is the same, and it has the contrast set's design."""

import pandas as pd
import pytest

from tstmeta.data import contrast, paths
from tstmeta.data.contrast import Span, parse_span
from tstmeta.models.world.draws import is_held_out
from tstmeta.models.world.scenes import TASKS, scene
from tstmeta.models.world.smallworld import COLUMNS, small_world, span_between


@pytest.fixture(scope="module")
def path():
    return paths.own("world", "world.csv")


@pytest.fixture(scope="module")
def frame(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def test_making_it_again_gives_the_bytes_of_the_file(path):
    assert small_world().encode() == path.read_bytes()


def test_another_seed_gives_another_set():
    assert small_world("another", sources=1) != small_world(sources=1)
    assert small_world(sources=1) == "".join(
        line
        for line in small_world(sources=2).splitlines(keepends=True)
        if "-02" not in line.split(",")[0]
    )


def test_it_has_the_form_of_the_contrast_set(frame):
    assert list(frame.columns) == list(COLUMNS) == contrast.COLUMNS
    assert len(frame) == 960
    assert frame["item_id"].is_unique
    assert set(frame["task"]) == set(TASKS)
    for cell, rows in frame.groupby(["task", "shift"]):
        counts = rows["error"].value_counts().to_dict()
        assert counts == {"none": 40, "substitution": 14, "deletion": 13, "insertion": 13}, cell


def test_lengths_and_texts_are_those_of_the_contrast_set(frame):
    lengths = pd.concat([frame["source"], frame["output"]]).str.split().str.len()
    assert lengths.between(6, 30).all()
    texts = [*frame["source"].unique(), *frame["output"]]
    assert len({text.casefold() for text in texts}) == 240 * 5


def test_the_span_turns_the_faithful_rewrite_into_the_wrong_one(frame):
    kept = frame[frame["error"] == "none"].set_index(["source_id", "shift"])["output"]
    for row in frame[frame["error"] != "none"].itertuples():
        removed, added = parse_span(row.span)
        before = kept[row.source_id, row.shift]
        assert removed in before
        assert added in row.output
        assert max(len(removed.split()), len(added.split())) <= 6
        size = len(row.output.split()) - len(before.split())
        assert size == len(added.split()) - len(removed.split())


def test_its_frames_were_kept_out_of_the_training():
    assert all(is_held_out(scene(str(n), "formal", held_out=True).event.frame) for n in range(50))


@pytest.mark.parametrize(
    ("kept", "wrong", "error", "span"),
    [
        ("We met at noon.", "We met at dawn.", "substitution", "[-noon.-]{+dawn.+}"),
        ("We met at noon.", "We met.", "deletion", "[-at noon.-]"),
        ("On Monday, we met.", "We met.", "deletion", "[-On Monday,-]"),
        ("We met.", "We met at noon.", "insertion", "{+at noon.+}"),
        ("A cap for Ida.", "A cap for Ben for Ida.", "insertion", "{+for Ben+}"),
        ("We met.", "We met.", "insertion", ""),
        ("We met.", "We met at noon.", "deletion", ""),
        ("a b c d e f g h", "i j k l m n o h", "substitution", ""),
    ],
)
def test_spans(kept, wrong, error, span):
    assert span_between(kept, wrong, error) == span
    if span:
        assert isinstance(parse_span(span), Span)
