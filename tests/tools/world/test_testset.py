"""The small world set: made again it is the same, and it has the contrast set's design."""

import pandas as pd
import pytest

from tools.world.scenes import TASKS
from tools.world.testset import small_world, span_between
from tstmeta.data import contrast, paths
from tstmeta.data.contrast import Span, parse_span

PATH = paths.own("world", "world.csv")
FRAME = pd.read_csv(PATH, dtype=str, keep_default_na=False)


def test_making_it_again_gives_the_bytes_of_the_file_and_another_seed_another_set():
    assert small_world().encode() == PATH.read_bytes()
    assert small_world("another", sources=1) != small_world(sources=1)


def test_it_has_the_form_of_the_contrast_set():
    assert tuple(FRAME.columns) == tuple(contrast.COLUMNS)
    assert len(FRAME) == 960
    assert set(FRAME["task"]) == set(TASKS)
    for cell, rows in FRAME.groupby(["task", "shift"]):
        counts = rows["error"].value_counts().to_dict()
        assert counts == {"none": 40, "substitution": 14, "deletion": 13, "insertion": 13}, cell
    lengths = pd.concat([FRAME["source"], FRAME["output"]]).str.split().str.len()
    assert lengths.between(6, 30).all()
    texts = [*FRAME["source"].unique(), *FRAME["output"]]
    assert len({text.casefold() for text in texts}) == 240 * 5


def test_the_span_turns_the_faithful_rewrite_into_the_wrong_one():
    kept = FRAME[FRAME["error"] == "none"].set_index(["source_id", "shift"])["output"]
    for row in FRAME[FRAME["error"] != "none"].itertuples():
        removed, added = parse_span(row.span)
        before = kept[row.source_id, row.shift]
        assert removed in before
        assert added in row.output
        assert max(len(removed.split()), len(added.split())) <= 6
        size = len(row.output.split()) - len(before.split())
        assert size == len(added.split()) - len(removed.split())


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
    assert not span or isinstance(parse_span(span), Span)
