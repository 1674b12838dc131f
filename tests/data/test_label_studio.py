"""The rating form: blind tasks in Latin-square batches, and the folder that holds them."""

import json
import re
from collections import Counter
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.studio import made
from tstmeta import data
from tstmeta.data import Dataset, label_studio, paths
from tstmeta.data.label_studio import form_id, tasks, write_form
from tstmeta.schema import DataError, TstmetaError


@pytest.fixture(scope="module")
def toy():
    return made([4, 4, 4, 4])


@pytest.fixture(scope="module")
def contrast():
    return data.load("contrast")


@pytest.fixture(scope="module")
def form():
    return ElementTree.parse(paths.own("contrast", label_studio.FORM)).getroot()


# ------------------------------------------------------------------------------------ the form


def test_the_form_asks_what_the_importer_reads(form):
    assert [tag.get("name") for tag in form.iter("Choices")] == list(label_studio.QUESTIONS)
    for question in form.iter("Choices"):
        assert [choice.get("alias") for choice in question] == ["1", "2", "3", "4", "5"]
        assert all(c.get("value").startswith(f"{c.get('alias')} - ") for c in question)
        assert question.get("choice") == "single-radio"
        assert question.get("required") == "true"
        assert question.get("requiredMessage")
    assert [tag.get("name") for tag in form.iter("TextArea")] == ["comment"]
    assert form.find(".//TextArea").get("required") is None


def test_the_form_shows_the_fields_of_a_task_as_plain_text(form, toy):
    shown = {t.get("value")[1:] for t in form.iter("Text") if t.get("value").startswith("$")}
    assert shown == set(label_studio.SHOWN)
    assert shown < set(tasks(toy)[0]["data"])
    assert "source" not in shown  # Label Studio puts its own record of the task there
    assert not list(form.iter("HyperText"))


def test_names_and_keys_of_the_form_are_unique_and_point_to_something(form):
    names = [tag.get("name") for tag in form.iter() if tag.get("name")]
    keys = [tag.get("hotkey") for tag in form.iter("Choice")]
    texts = {tag.get("name") for tag in form.iter("Text")}
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys) == 15
    assert None not in keys
    assert {tag.get("toName") for tag in form.iter() if tag.get("toName")} <= texts


def test_the_guideline_names_the_keys_of_the_form(form):
    text = " ".join(paths.own("contrast", "GUIDELINE.md").read_text("utf-8").split())
    for question in form.iter("Choices"):
        keys = " ".join(choice.get("hotkey") for choice in question)
        assert f"{label_studio.QUESTIONS[question.get('name')]} `{keys}`" in text


# ----------------------------------------------------------------------------------- blindness


def test_a_task_has_nothing_but_the_texts_the_style_and_an_opaque_id(contrast):
    todo = tasks(contrast)
    assert len(todo) == len(contrast.items)
    by_id = {form_id("contrast", item): item for item in contrast.items["item_id"]}
    items = contrast.items.set_index("item_id")
    for task in todo:
        assert set(task) == {"data"}
        shown = task["data"]
        assert set(shown) == {"item_id", "style", "source_text", "output_text", "batch"}
        assert re.fullmatch(r"t[0-9a-f]{16}", shown["item_id"])
        item = items.loc[by_id[shown["item_id"]]]
        assert shown["source_text"] == item["source"]
        assert shown["output_text"] == item["output"]
        assert shown["style"] == item["style"]
    assert len({task["data"]["item_id"] for task in todo}) == len(todo)


def test_no_batch_tells_the_cell_of_a_rewrite(contrast):
    cell = {form_id("contrast", i.item_id): i.system for i in contrast.items.itertuples()}
    counts = Counter((t["data"]["batch"], cell[t["data"]["item_id"]]) for t in tasks(contrast))
    assert len(counts) == 16
    assert set(counts.values()) == {60}
    styled = Counter(
        (t["data"]["batch"], t["data"]["style"], cell[t["data"]["item_id"]])
        for t in tasks(contrast, seed=3)
    )
    assert set(styled.values()) == {5, 10}


def test_ids_stay_the_same_whatever_the_seed_batches_and_subset(contrast):
    formal = data.load("contrast@formal")
    ids = {task["data"]["item_id"] for task in tasks(contrast)}
    assert ids == {task["data"]["item_id"] for task in tasks(contrast, batches=1, seed=9)}
    assert {task["data"]["item_id"] for task in tasks(formal)} < ids


def test_ids_differ_between_data_sets_and_need_no_separator():
    assert form_id("a", "bc") != form_id("ab", "c")
    assert form_id("toy", "1") == form_id("toy", "1")


# ------------------------------------------------------------------------------------- batches


@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=9),
    extra=st.integers(0, 3),
    seed=st.integers(0, 9),
)
@settings(max_examples=40, deadline=None)
def test_no_batch_has_two_rewrites_of_one_source(sizes, extra, seed):
    dataset = made(sizes)
    todo = tasks(dataset, batches=max(sizes) + extra if max(sizes) + extra > 1 else None, seed=seed)
    source = {form_id("toy", i.item_id): i.source_id for i in dataset.items.itertuples()}
    seen = Counter((t["data"]["batch"], source[t["data"]["item_id"]]) for t in todo)
    assert set(seen.values()) == {1}
    assert sorted(source) == sorted(t["data"]["item_id"] for t in todo)
    numbers = [t["data"]["batch"] for t in todo]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(1, max(numbers) + 1))


@given(sources=st.integers(1, 12), seed=st.integers(0, 9))
@settings(max_examples=25, deadline=None)
def test_full_designs_put_each_system_equally_often_in_each_batch(sources, seed):
    dataset = made([4] * sources)
    system = {form_id("toy", i.item_id): i.system for i in dataset.items.itertuples()}
    counts = Counter(
        (t["data"]["batch"], system[t["data"]["item_id"]]) for t in tasks(dataset, seed=seed)
    )
    assert set(counts.values()) <= {sources // 4, -(-sources // 4)}


def test_by_default_there_are_as_many_batches_as_a_source_has_rewrites():
    assert {task["data"]["batch"] for task in tasks(made([1, 3, 2]))} == {1, 2, 3}
    assert {task["data"]["batch"] for task in tasks(made([1, 1]))} == {1}


def test_one_batch_holds_all_in_an_order_of_its_own(toy):
    first, again, other = (tasks(toy, batches=1, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first != other
    assert {task["data"]["batch"] for task in first} == {1}
    in_order = [form_id("toy", item) for item in toy.items["item_id"]]
    assert [task["data"]["item_id"] for task in first] != in_order


def test_the_seed_decides_which_rewrite_goes_where(contrast):
    def first(seed):
        return {t["data"]["item_id"] for t in tasks(contrast, seed=seed) if t["data"]["batch"] == 1}

    assert first(0) == first(0)
    assert 0 < len(first(0) & first(1)) < 240


def test_a_rater_gets_no_more_than_asked_in_parts_that_are_alike(toy):
    sizes = Counter(task["data"]["batch"] for task in tasks(made([4] * 10), per_rater=4))
    assert len(sizes) == 12
    assert set(sizes.values()) == {3, 4}
    assert len({t["data"]["batch"] for t in tasks(toy, batches=1, per_rater=100)}) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batches": 2}, "cannot keep apart the 4 rewrites .* use 4 batches or more"),
        ({"batches": 0}, "count from 1"),
        ({"batches": -4}, "count from 1"),
        ({"per_rater": 0}, "count from 1"),
    ],
)
def test_impossible_batches_are_refused(toy, options, message):
    with pytest.raises(TstmetaError, match=message):
        tasks(toy, **options)


def test_rewrites_that_cannot_be_judged_are_refused(toy):
    items = toy.items.copy()
    items.loc[1, "style"] = ""
    items.loc[2, "output"] = " "
    with pytest.raises(DataError) as caught:
        tasks(Dataset.of("toy", items))
    assert [(p.row, p.column) for p in caught.value.problems] == [(2, "style"), (3, "output")]


# --------------------------------------------------------------------------------- form folders


def test_write_form_writes_the_form_a_file_a_batch_and_the_key(toy, tmp_path):
    written = write_form(toy, tmp_path / "new" / "form", seed=5)
    assert [path.name for path in written] == [
        "label_studio.xml",
        *(f"tasks-{number}.json" for number in (1, 2, 3, 4)),
        "key.csv",
    ]
    read = [task for path in written[1:-1] for task in json.loads(path.read_text("utf-8"))]
    assert read == tasks(toy, seed=5)
    key = pd.read_csv(written[-1])
    assert list(key["item_id"].map(lambda item: form_id("toy", item))) == list(key["form_id"])
    assert list(key["batch"]) == [task["data"]["batch"] for task in read]
    assert set(key["item_id"]) == set(toy.items["item_id"])
    assert written[0].read_bytes() == paths.own("contrast", label_studio.FORM).read_bytes()


def test_the_same_form_has_the_same_bytes(toy, tmp_path):
    first = {path.name: path.read_bytes() for path in write_form(toy, tmp_path)}
    assert {path.name: path.read_bytes() for path in write_form(toy, tmp_path)} == first
    assert {path.name for path in tmp_path.iterdir()} == set(first)


def test_tasks_of_another_form_are_not_mixed_in(toy, tmp_path):
    write_form(toy, tmp_path)
    with pytest.raises(TstmetaError, match=r"another form \(tasks-2.json, tasks-3.json"):
        write_form(toy, tmp_path, batches=1)


def test_a_folder_that_cannot_be_written_is_a_message(toy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TstmetaError, match="cannot write"):
        write_form(toy, tmp_path / "file" / "form")
