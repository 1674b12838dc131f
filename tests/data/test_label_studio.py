"""The rating form: blind tasks out, ratings back, and a report for every kind of broken export.

The exports built here have the form that Label Studio 1.23.2 writes.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tstmeta import cli, data
from tstmeta.data import Dataset, label_studio, paths
from tstmeta.data.files import items_table
from tstmeta.data.label_studio import form_id, read_export, tasks, write_form
from tstmeta.schema import DataError, TstmetaError

ANN, BEN = 48151, 7  # user numbers as a server gives them
MAIL = "someone@example.org"
CELLS = ("light", "light-error", "strong", "strong-error")


def made(sizes, styles=("formal", "polite"), name="toy"):
    """A data set with so many rewrites of each source; the styles take turns."""
    rows = [(s, n) for s, size in enumerate(sizes) for n in range(size)]
    items = items_table(
        name,
        item_id=[f"s{s}-{CELLS[n % 4]}-{n}" for s, n in rows],
        source_id=[f"s{s}" for s, _ in rows],
        system=[CELLS[n % 4] for _, n in rows],
        style=[styles[s % len(styles)] for s, _ in rows],
        source=[f"source number {s}" for s, _ in rows],
        output=[f"text {n} for source {s}" for s, n in rows],
    )
    return Dataset.of(name, items)


@pytest.fixture(scope="module")
def toy():
    return made([4, 4, 4, 4])


@pytest.fixture(scope="module")
def contrast():
    return data.load("contrast")


@pytest.fixture(scope="module")
def form():
    return ElementTree.parse(paths.own("contrast", label_studio.FORM)).getroot()


# ----------------------------------------------------------------------------- writing exports


def result(name, value, kind="choices"):
    wrapped = [str(value)] if kind == "choices" else value
    return {"from_name": name, "to_name": "output", "type": kind, "value": {kind: wrapped}}


def annotation(person, answers, **more):
    """One annotation; ``answers`` are content, style, fluency."""
    return {
        "id": more.pop("id", 1),
        "completed_by": person,
        "was_cancelled": False,
        "result": [result(n, v) for n, v in zip(label_studio.QUESTIONS, answers, strict=True)],
        **more,
    }


def exported(todo, *people, answers=lambda person, number: (5, 1 + (person + number) % 5, 3)):
    """A JSON export in which all people rated all tasks."""
    return [
        {
            "id": number,
            "data": task["data"],
            "annotations": [annotation(p, answers(p, number), id=100 * number + p) for p in people],
            "drafts": [],
            "predictions": [],
        }
        for number, task in enumerate(todo, 1)
    ]


def flat(export):
    """The same export as JSON-MIN: an annotation a record, and tasks without one."""
    return [
        {
            **task["data"],
            "id": task["id"],
            **{
                entry["from_name"]: entry["value"].get("choices", [[entry["value"]]])[0]
                for entry in one.get("result", [])
            },
            "annotator": one.get("completed_by"),
            "annotation_id": one.get("id"),
        }
        for task in export
        for one in task["annotations"] or [{}]
        if not one.get("was_cancelled")
    ]


def table(records, delimiter):
    """JSON-MIN records as CSV or TSV."""
    text = io.StringIO()
    names = sorted({name for record in records for name in record})
    writer = csv.DictWriter(text, names, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


FORMATS: dict[str, Callable[[list], str]] = {
    "export.json": json.dumps,
    "export.min.json": lambda export: json.dumps(flat(export)),
    "export.csv": lambda export: table(flat(export), ","),
    "export.tsv": lambda export: table(flat(export), "\t"),
}


@pytest.fixture
def save(tmp_path):
    def write(export, name="export.json"):
        path = tmp_path / name
        path.write_text(export if isinstance(export, str) else json.dumps(export), "utf-8")
        return path

    return write


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


# --------------------------------------------------------------------------------- round trips


@pytest.mark.parametrize("name", FORMATS)
def test_ratings_come_back_from_every_format(name, toy, save):
    todo = tasks(toy, seed=2)
    export = exported(todo, ANN, BEN)
    export[3]["annotations"] = []
    ratings = read_export(save(FORMATS[name](export), name), toy)
    item = {form_id("toy", i): i for i in toy.items["item_id"]}
    expected = {
        (item[task["data"]["item_id"]], dimension, rater): value
        for number, task in enumerate(todo, 1)
        for rater, person in (("r1", ANN), ("r2", BEN))
        for dimension, value in zip(
            ("content", "style", "fluency"), (5, 1 + (person + number) % 5, 3), strict=True
        )
        if number != 4
    }
    got = ratings.set_index(["item_id", "dimension", "rater"])["value"].to_dict()
    assert got == expected
    rated = Dataset.of("toy", toy.items, ratings=ratings)
    assert rated.dimensions == ["content", "style", "fluency"]
    assert list(rated.raters("style").columns) == ["r1", "r2"]


def test_the_contrast_set_becomes_a_rated_data_set(contrast, save):
    by_batch: dict[int, list] = {number: [] for number in (1, 2, 3, 4)}
    for task in tasks(contrast):
        by_batch[task["data"]["batch"]].append(task)
    people = {1: (1, 5), 2: (2, 5), 3: (3,), 4: (4,)}
    files = [save(exported(by_batch[b], *people[b]), f"project-{b}.json") for b in by_batch]
    ratings = read_export(files, contrast)
    rated = Dataset.of("contrast", contrast.items, ratings=ratings, labels=contrast.labels)
    assert len(rated.ratings) == (960 + 480) * 3
    assert set(rated.ratings["rater"]) == {"r1", "r2", "r3", "r4", "r5"}
    assert rated.means.notna().all(axis=None)
    assert list(rated.ratings["item_id"].unique()) == list(contrast.items["item_id"])


def test_rows_come_by_item_rater_and_dimension(toy, save):
    ratings = read_export(save(exported(tasks(toy), BEN, ANN)), toy)
    assert list(ratings["item_id"].unique()) == list(toy.items["item_id"])
    assert list(ratings["rater"][:6]) == ["r1"] * 3 + ["r2"] * 3
    assert list(ratings["dimension"][:6]) == ["content", "style", "fluency"] * 2


def test_ten_raters_are_in_the_order_of_their_numbers(toy, save):
    ratings = read_export(save(exported(tasks(toy), *range(1, 12))), toy)
    assert list(ratings["rater"][:33:3]) == [f"r{number}" for number in range(1, 12)]


def test_star_ratings_are_understood_too(toy, save):
    export = exported(tasks(toy), ANN)
    for task in export:
        names = label_studio.QUESTIONS
        task["annotations"][0]["result"] = [result(name, 4, "rating") for name in names]
    assert set(read_export(save(export), toy)["value"]) == {4.0}
    records = flat(export)
    assert set(read_export(save(records, "min.json"), toy)["value"]) == {4.0}
    cells = [{**r, **dict.fromkeys(label_studio.QUESTIONS, '[{"rating": 4}]')} for r in records]
    assert set(read_export(save(table(cells, ","), "cells.csv"), toy)["value"]) == {4.0}


def test_what_was_skipped_or_never_rated_is_left_out(toy, save):
    export = exported(tasks(toy), ANN, BEN)
    export[0]["annotations"][0].update(was_cancelled=True, result=[])
    export[1]["annotations"][1]["skipped"] = True
    export[2]["annotations"] = []
    export[3]["drafts"] = export[4]["predictions"] = [annotation(99, (1, 1, 1))]
    assert len(read_export(save(export), toy)) == (16 * 2 - 4) * 3


# ------------------------------------------------------------------------------------- privacy


@pytest.mark.parametrize(
    "person",
    [ANN, {"id": ANN, "email": MAIL, "first_name": "Some", "last_name": "One"}, {"email": MAIL}],
)
def test_nobody_is_named_in_the_ratings(person, toy, save):
    export = exported(tasks(toy), ANN)
    for task in export:
        task["annotations"][0]["completed_by"] = person
        task["annotations"][0]["result"].append(result("comment", ["I am Some One"], "text"))
    text = read_export(save(export), toy).to_csv(index=False)
    assert set(pd.read_csv(io.StringIO(text))["rater"]) == {"r1"}
    assert not any(word in text for word in (MAIL, "Some", str(ANN)))


def test_a_report_names_nobody(toy, save):
    export = exported(tasks(toy), ANN)
    for task in export:
        task["annotations"] += [annotation({"email": MAIL}, (5, 5, 5)) for _ in range(2)]
    with pytest.raises(DataError) as caught:
        read_export(save(export), toy)
    assert MAIL not in str(caught.value)


# ------------------------------------------------------------------------------- broken exports


def no_answer(task):
    del task["annotations"][0]["result"][1]


def answer(value):
    def change(task):
        task["annotations"][0]["result"][0]["value"] = value

    return change


def put(key, value):
    def change(task):
        task[key] = value

    return change


def put_data(key, value):
    def change(task):
        task["data"] = {**task["data"], key: value}

    return change


def put_annotation(key, value):
    def change(task):
        task["annotations"][0][key] = value

    return change


def twice(task):
    task["annotations"].append(annotation(ANN, (1, 1, 1)))


def two_answers(task):
    task["annotations"][0]["result"].append(result("rate_content", 2))


BROKEN = [
    (put_data("item_id", "t0"), "column item_id: no rewrite of 'toy' has the id 't0'"),
    (put_data("item_id", None), "column item_id: no rewrite of 'toy' has the id"),
    (put_data("item_id", ["t0"]), "column item_id: no rewrite of 'toy' has the id"),
    (put_data("output_text", "edited"), "column output_text: the raters saw another text"),
    (put_data("source_text", "edited"), "column source_text: the raters saw another text"),
    (put_data("style", "rude"), "column style: the raters saw another text"),
    (put("data", None), "column data: the task has no data"),
    (put("data", []), "column data: the task has no data"),
    (put("annotations", None), "column annotations: the task has no annotations"),
    (put("annotations", [3]), "column result: an annotation has no result"),
    (put_annotation("result", None), "column result: an annotation has no result"),
    (put_annotation("result", ["x"]), "column result: an annotation has no result"),
    (put_annotation("result", []), "column rate_content: no answer"),
    (put_annotation("completed_by", None), "column completed_by: it is not said who rated"),
    (put_annotation("completed_by", {}), "column completed_by: it is not said who rated"),
    (put_annotation("completed_by", []), "column completed_by: it is not said who rated"),
    (no_answer, "column rate_style: no answer. Remedy: answer all questions or skip"),
    (two_answers, "column rate_content: 2 answers to one question"),
    (twice, "the same person rated this rewrite in row 3"),
    (answer({"choices": ["6"]}), "column rate_content: '6' is not a whole number from 1 to 5"),
    (answer({"choices": ["0"]}), "not a whole number from 1 to 5"),
    (answer({"choices": ["-1"]}), "not a whole number from 1 to 5"),
    (answer({"choices": ["4.5"]}), "not a whole number from 1 to 5"),
    (answer({"choices": ["٤"]}), "not a whole number from 1 to 5"),
    (answer({"choices": ["4 - Strongly"]}), "not a whole number from 1 to 5"),
    (answer({"choices": ["3", "4"]}), "not a whole number from 1 to 5"),
    (answer({"choices": []}), "not a whole number from 1 to 5"),
    (answer({"rating": True}), "not a whole number from 1 to 5"),
    (answer({"rating": 2.5}), "not a whole number from 1 to 5"),
    (answer({"rating": float("nan")}), "not a whole number from 1 to 5"),
    (answer({}), "not a whole number from 1 to 5"),
    (answer(None), "not a whole number from 1 to 5"),
]


@pytest.mark.parametrize(("spoil", "expected"), BROKEN)
def test_a_broken_task_is_reported_with_its_row_and_a_remedy(spoil, expected, toy, save):
    export = exported(tasks(toy), ANN)
    spoil(export[2])
    with pytest.raises(DataError) as caught:
        read_export(save(export), toy)
    lines = str(caught.value).splitlines()[1:]
    assert any("export.json, row 3" in line and expected in line for line in lines)
    assert all("Remedy: " in line for line in lines)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("e.json", "", "not JSON"),
        ("e.json", "[{", "not JSON"),
        ("e.json", "[" * 200_000, "not JSON"),
        ("e.json", f"[{'9' * 5000}]", "not JSON"),
        ("e.json", '{"id": 1}', "not a list of tasks"),
        ("e.json", "[]", "no ratings"),
        ("e.json", "[1]", "row 1: not a task"),
        ("e.json", '[{"data": {}, "annotations": []}]', "no ratings"),
        ("e.json", '[{"annotation_id": 4, "annotator": 1}]', "no rewrite of 'toy' has the id ''"),
        ("e.csv", "", "empty, not even a header"),
        ("e.csv", "item_id\nt0\n", "column annotator: missing column"),
        ("e.csv", "item_id,annotator\nt0\n", "row 1: 1 cells where the header has 2"),
        ("e.csv", 'item_id,annotator\n"t0,1\n', "broken CSV"),
        ("e.csv", "item_id,annotator,annotation_id\nt0,None,1\n", "it is not said who rated"),
        ("e.csv", "item_id,annotator\nt0,1\n", "no ratings"),
    ],
)
def test_a_broken_file_is_reported_with_a_remedy(name, text, expected, toy, save):
    with pytest.raises(DataError) as caught:
        read_export(save(text, name), toy)
    assert expected in str(caught.value)
    assert all(
        "Remedy: export" in p or "Remedy: name" in p for p in str(caught.value).split("\n")[1:]
    )


@pytest.mark.parametrize("change", [{"rate_style": ""}, {"rate_style": "6"}, {"rate_style": "[4"}])
@pytest.mark.parametrize("name", ["export.min.json", "export.csv"])
def test_a_broken_row_of_a_flat_export_is_reported(name, change, toy, save):
    records = flat(exported(tasks(toy), ANN))
    records[4] |= change
    text = json.dumps(records) if name.endswith("json") else table(records, ",")
    with pytest.raises(DataError, match=rf"{name}, row 5, column rate_style"):
        read_export(save(text, name), toy)


def test_a_missing_file_and_no_file_are_reported(toy, tmp_path):
    with pytest.raises(DataError, match="the file is missing"):
        read_export(tmp_path / "nowhere.json", toy)
    with pytest.raises(DataError, match="no ratings"):
        read_export([], toy)


def test_an_export_given_twice_counts_nobody_twice(toy, save):
    path = save(exported(tasks(toy), ANN))
    with pytest.raises(DataError, match="16 problems found") as caught:
        read_export([path, path], toy)
    assert "delete one of the two annotations" in str(caught.value)


def test_formats_that_name_raters_differently_are_not_mixed(toy, save):
    halves = tasks(toy)[:8], tasks(toy)[8:]
    first = save(exported(halves[0], ANN))
    second = save(FORMATS["export.csv"](exported(halves[1], ANN)), "export.csv")
    with pytest.raises(DataError, match=r"different formats \(CSV, JSON\)"):
        read_export([first, second], toy)


def test_all_faults_of_all_files_are_listed_at_once(toy, save):
    export = exported(tasks(toy), ANN)
    no_answer(export[0])
    twice(export[5])
    with pytest.raises(DataError) as caught:
        read_export([save(export), save("[{", "broken.json")], toy)
    assert [(p.file.rpartition("/")[2], p.row) for p in caught.value.problems] == [
        ("broken.json", 1),
        ("export.json", 1),
        ("export.json", 6),
    ]


# --------------------------------------------------------------------------------- command line


def test_the_form_and_the_ratings_on_the_command_line(tmp_path, save):
    def run(*words):
        return CliRunner().invoke(cli.app, [str(word) for word in words])

    form = run("data", "form", "contrast@formal", "--out", tmp_path / "form", "--seed", 3)
    assert form.exit_code == 0, form.output
    todo = [
        task
        for number in (1, 2, 3, 4)
        for task in json.loads((tmp_path / "form" / f"tasks-{number}.json").read_text("utf-8"))
    ]
    assert todo == tasks(data.load("contrast@formal"), seed=3)
    files = [save(exported(todo[:80], ANN), "a.json"), save(exported(todo[80:], ANN), "b.json")]
    out = tmp_path / "ratings.csv"
    done = run("data", "import-ratings", *files, "--data", "contrast", "--out", out)
    assert done.exit_code == 0, done.output
    assert "480 ratings by 1 raters of 160 rewrites" in done.stderr
    pd.testing.assert_frame_equal(
        pd.read_csv(out), read_export(files, data.load("contrast")), check_dtype=False
    )
