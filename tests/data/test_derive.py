"""Data sets made of data sets."""

from __future__ import annotations

from tstmeta.data import Dataset, derive
from tstmeta.data.tables import items_table, labels_table


def small() -> Dataset:
    items = items_table(
        "made",
        item_id=["s1-a", "s1-b", "s2-a"],
        source_id=["s1", "s1", "s2"],
        system=["a", "b", "a"],
        style=["up", "up", "down"],
        direction=["u", "u", "d"],
        source=["one", "one", "two"],
        output=["ONE", "One", "t"],
        references=[["1"], ["1"], ["2", "ii"]],
    )
    return Dataset.of("made", items, labels=labels_table("made", ["s1-a"], task=["x"]))


def test_other_references_leave_the_first_data_set_as_it_was() -> None:
    first = small()
    second = derive.with_references(first, [["a"], [], ["b", "c"]], "made@other")
    assert second.name == "made@other"
    assert second.items["references"].tolist() == [["a"], [], ["b", "c"]]
    assert first.items["references"].tolist() == [["1"], ["1"], ["2", "ii"]]
    assert second.labels.equals(first.labels)


def test_the_untransferred_system_repeats_each_source_once() -> None:
    copied = derive.untransferred(small(), "made@untransferred")
    columns = ["item_id", "source_id", "system", "style", "direction", "source", "output"]
    assert copied.items[columns].to_numpy().tolist() == [
        ["s1-untransferred", "s1", "untransferred", "up", "u", "one", "one"],
        ["s2-untransferred", "s2", "untransferred", "down", "d", "two", "two"],
    ]
    assert copied.items["references"].tolist() == [["1"], ["2", "ii"]]
    assert copied.items["dataset"].eq("made").all()
    assert copied.ratings.empty
