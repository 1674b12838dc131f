"""Ratings come back from Label Studio, nobody is named, and every broken export is reported."""

import io
import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.data.studio import (
    ANN,
    BEN,
    FORMATS,
    MAIL,
    annotation,
    exported,
    flat,
    made,
    result,
    table,
)
from tstmeta import cli, data
from tstmeta.data import Dataset, label_studio
from tstmeta.data.label_studio import form_id, read_export, tasks
from tstmeta.schema import DataError


@pytest.fixture(scope="module")
def toy():
    return made([4, 4, 4, 4])


@pytest.fixture(scope="module")
def contrast():
    return data.load("contrast")


@pytest.fixture
def save(tmp_path):
    def write(export, name="export.json"):
        path = tmp_path / name
        path.write_text(export if isinstance(export, str) else json.dumps(export), "utf-8")
        return path

    return write


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
