"""The contrast set: the design of its file, and spans."""

import itertools
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.metric_cards import parse_span
from tstmeta import data
from tstmeta.data import contrast, paths
from tstmeta.judge.construct.checks import Span, format_span, span_of

KINDS = {(True, True): "substitution", (True, False): "deletion", (False, True): "insertion"}


def file():
    """The file as it is, one row a rewrite."""
    return pd.read_csv(paths.project("contrast", "contrast.csv"), dtype=str, keep_default_na=False)


def bare(text):
    """Words without case and outer punctuation, which an edit may have to adapt."""
    return [re.sub(r"^\W+|\W+$", "", word).lower() for word in text.split()]


def test_the_error_is_one_edit_of_neighbouring_words_and_the_span_says_it():
    frame = file()
    kept = frame[frame["error"] == "none"].set_index(["source_id", "shift"])["output"]
    for row in frame[frame["error"] != "none"].itertuples():
        removed, added = parse_span(row.span)
        assert KINDS[bool(removed), bool(added)] == row.error, row.item_id
        assert max(len(removed.split()), len(added.split())) <= 6, row.item_id
        assert turns(kept[row.source_id, row.shift], removed, added, row.output), row.item_id


def turns(kept, removed, added, wrong):
    """Whether some place in ``kept`` has ``removed`` and gives ``wrong`` with ``added`` there."""
    out, put = removed.split(), added.split()
    before, after = kept.split(), wrong.split()
    return any(
        before[at : at + len(out)] == out
        and after[at : at + len(put)] == put
        and bare(" ".join(before[:at])) == bare(" ".join(after[:at]))
        and bare(" ".join(before[at + len(out) :])) == bare(" ".join(after[at + len(put) :]))
        for at in range(len(before) + 1)
    )


def test_the_loader_gives_the_file_and_no_ratings():
    dataset, frame = data.load("contrast"), file()
    for column in ("item_id", "source_id", "source", "output", "style"):
        assert dataset.items[column].tolist() == frame[column].tolist(), column
    for label in ("task", "shift", "error", "span"):
        assert dataset.label(label).tolist() == frame[label].tolist(), label
    cells = frame["shift"] + (frame["error"] != "none").map({True: "-error", False: ""})
    assert dataset.items["system"].tolist() == cells.tolist()
    assert dataset.labels["name"].value_counts()["span"] == 480
    assert dataset.ratings.empty


def test_each_task_is_a_subset_and_so_is_what_ties_style_and_content():
    tasks = [f"contrast@{task}" for task in contrast.TASKS]
    assert data.subsets("contrast") == [*tasks, "contrast@tied"]
    for subset in tasks:
        part = data.load(subset)
        assert (part.name, len(part.items)) == (subset, 160)
        assert set(part.label("task")) == {subset.partition("@")[2]}
    part = data.load("contrast@tied")
    strong, kept = part.label("shift") == "strong", part.label("error") == "none"
    assert (strong == kept).all()
    assert (strong.sum(), len(strong)) == (240, 480)
    with pytest.raises(data.UnknownDataset, match="contrast@formal"):
        data.load("contrast@formall")


def test_every_task_has_every_cell_forty_times():
    frame = file()
    cells = pd.crosstab(frame["task"], [frame["shift"], frame["error"] == "none"])
    assert (cells == 40).all(axis=None)


@pytest.mark.parametrize(
    ("kept", "wrong", "span"),
    [
        ("Same, words.", "same words", ("", "")),  # case and outer punctuation are no edit
        ("A cap for Ida.", "A cap for Ben for Ida.", ("", "for Ben")),
        ("We meet, as ever, at six.", "We meet at six.", ("as ever,", "")),
        ("Ann saw Ben.", "Ben saw Ann.", ("Ann saw Ben.", "Ben saw Ann.")),
        ("שלום עולם", "שלום לך", ("עולם", "לך")),
    ],
)
def test_span_of_is_the_smallest_run_of_words_that_changed(kept, wrong, span):
    assert span_of(kept, wrong) == Span(*span)


words = st.text(alphabet="abcAB", min_size=1, max_size=3)
runs = st.lists(words, max_size=5).map(" ".join)


@given(runs, runs)
def test_the_span_gives_the_other_text_and_no_shorter_edit_does(kept, wrong):
    removed, added = span_of(kept, wrong)
    assert turns(kept, removed, added, wrong)
    before, after = bare(kept), bare(wrong)
    sizes = [
        (end - start, len(after) - len(before) + end - start)
        for start, end in itertools.combinations_with_replacement(range(len(before) + 1), 2)
        if len(after) - len(before) + end - start >= 0
        and before[:start] == after[:start]
        and before[end:] == after[len(after) - len(before) + end :]
    ]
    assert min(sizes) == (len(removed.split()), len(added.split()))


def test_a_span_is_read_as_it_was_written():
    for span, text in ((("a", "b"), "[-a-]{+b+}"), (("a", ""), "[-a-]"), (("", "b"), "{+b+}")):
        assert format_span(Span(*span)) == text
        assert parse_span(text) == span
