"""Rating forms: blind tasks in Latin squares go out, ratings come back and nobody is named."""

import json
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import studio
from tests.command import success
from tests.studio import ANN, BEN, MAIL, annotation, exported, result
from tstmeta import data
from tstmeta.console import from_inert
from tstmeta.data import Dataset, paths
from tstmeta.label_studio import PAIRWISE, RATING, form_id, read_export, tasks, write_form
from tstmeta.schema import DataError, TstmetaError


@pytest.fixture(scope="module")
def toy():
    return studio.dataset([4, 4, 4, 4])


@pytest.fixture
def save(tmp_path):
    def write(export, name="export.json"):
        path = tmp_path / name
        path.write_text(export if isinstance(export, str) else json.dumps(export), "utf-8")
        return path

    return write


@pytest.mark.parametrize("form", [RATING, PAIRWISE], ids=["ratings", "preferences"])
def test_a_form_asks_what_the_importer_reads_and_shows_a_task_as_plain_text(form):
    root, asked = ElementTree.parse(paths.project("contrast", form.file)).getroot(), {}
    for question in root.iter("Choices"):
        asked[question.get("name")] = [choice.get("alias") for choice in question]
        words = [(c.get("value").lower(), c.get("alias").lower()) for c in question]
        assert all(value.startswith(alias) for value, alias in words)
        assert question.get("required") == "true"
    assert asked == {question: [*form.answers] for question in form.questions}
    shown = {t.get("value")[1:] for t in root.iter("Text") if t.get("value").startswith("$")}
    assert shown == {*form.shown}
    assert "source" not in shown  # Label Studio puts its own record of the task there
    assert not list(root.iter("HyperText"))


def test_a_task_has_nothing_but_the_texts_the_style_and_an_opaque_id():
    contrast = data.load("contrast")
    todo = tasks(contrast)
    assert list(todo) == ["item_id", "style", "source_text", "output_text", "batch"]
    assert todo["item_id"].str.fullmatch(r"t[0-9a-f]{16}").all()
    assert todo["item_id"].is_unique
    items = contrast.items.set_index("item_id").loc[todo.index, ["style", "source", "output"]]
    assert (items.to_numpy() == todo[["style", "source_text", "output_text"]].to_numpy()).all()


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=9), seed=st.integers(0, 9))
@settings(max_examples=15, deadline=None)
def test_no_batch_has_two_rewrites_of_one_source(sizes, seed):
    dataset = studio.dataset(sizes)
    todo = tasks(dataset, seed=seed)
    todo["source_id"] = dataset.items.set_index("item_id")["source_id"]
    assert not todo.duplicated(["batch", "source_id"]).any()
    assert sorted(todo.index) == sorted(dataset.items["item_id"])
    assert todo["batch"].is_monotonic_increasing
    assert set(todo["batch"]) == set(range(1, max(sizes) + 1))


@given(sources=st.integers(1, 12), seed=st.integers(0, 9))
@settings(max_examples=10, deadline=None)
def test_full_designs_put_each_system_equally_often_in_each_batch(sources, seed):
    dataset = studio.dataset([4] * sources)
    todo = tasks(dataset, seed=seed)
    todo["system"] = dataset.items.set_index("item_id")["system"]
    assert set(todo.value_counts(["batch", "system"])) <= {sources // 4, -(-sources // 4)}


def test_rewrites_that_cannot_be_judged_are_refused(toy):
    items = toy.items.copy()
    items.loc[1, "style"] = ""
    items.loc[2, "output"] = " "
    with pytest.raises(DataError) as caught:
        tasks(Dataset.of("toy", items))
    assert [(p.row, p.column) for p in caught.value.problems] == [(2, "style"), (3, "output")]


def test_write_form_writes_the_form_a_file_a_batch_and_the_key(toy, tmp_path):
    written = write_form(toy, tmp_path / "new" / "form", seed=5)
    batches = [f"tasks-{number}.json" for number in (1, 2, 3, 4)]
    assert [path.name for path in written] == ["label_studio.xml", *batches, "key.csv"]
    todo = tasks(toy, seed=5)
    read = [task for path in written[1:-1] for task in json.loads(path.read_text("utf-8"))]
    assert read == [{"data": task} for task in todo.to_dict("records")]
    key = pd.read_csv(written[-1])
    assert list(key) == ["form_id", "item_id", "batch"]
    assert key["form_id"].tolist() == [form_id("toy", item) for item in key["item_id"]]
    assert key.set_index("item_id")["batch"].to_dict() == todo["batch"].to_dict()
    assert written[0].read_bytes() == paths.project("contrast", RATING.file).read_bytes()


def test_ids_are_no_formulas_in_the_key_and_come_back_exactly(toy, tmp_path):
    ids = [f"{sign}1+{number}" for number, sign in enumerate(["=", "@", "-", "'="] * 4)]
    hostile = Dataset.of("toy", toy.items.assign(item_id=ids))
    key = pd.read_csv(write_form(hostile, tmp_path)[-1], dtype=str)["item_id"]
    assert not key.str.match(r"[=+\-@]").any()
    assert key.map(from_inert).tolist() == tasks(hostile).index.tolist()


def test_no_form_is_written_beside_other_files(toy, tmp_path):
    (tmp_path / "comparisons.csv").write_text("answers")
    with pytest.raises(TstmetaError, match=r"maybe of another form: name an empty folder"):
        write_form(toy, tmp_path, form=PAIRWISE)
    assert [path.name for path in tmp_path.iterdir()] == ["comparisons.csv"]


def test_ratings_come_back(toy, save):
    todo = tasks(toy, seed=2)
    ratings = read_export([save(exported(todo, ANN, BEN))], toy)
    expected = {
        (item, dimension, rater): value
        for number, item in enumerate(todo.index, 1)
        for rater, person in (("r1", ANN), ("r2", BEN))
        for dimension, value in (
            ("content", 5),
            ("style", 1 + (person + number) % 5),
            ("fluency", 3),
        )
    }
    assert ratings.set_index(["item_id", "dimension", "rater"])["value"].to_dict() == expected


def test_what_was_skipped_or_never_rated_is_left_out(toy, save):
    export = exported(tasks(toy), ANN, BEN)
    export[0]["annotations"][0].update(was_cancelled=True, result=[])
    export[1]["annotations"][1]["skipped"] = True
    export[2]["annotations"] = []
    export[3]["drafts"] = export[4]["predictions"] = [annotation(99, (1, 1, 1))]
    assert len(read_export([save(export)], toy)) == (16 * 2 - 4) * 3


def test_nobody_is_named_in_the_ratings(toy, save):
    export = exported(tasks(toy), ANN)
    for task in export:
        task["annotations"][0]["completed_by"] = {"id": ANN, "email": MAIL, "first_name": "Some"}
        task["annotations"][0]["result"].append(result("comment", ["I am Some One"], "text"))
    ratings = read_export([save(export)], toy)
    assert set(ratings["rater"]) == {"r1"}
    assert not any(word in ratings.to_csv() for word in (MAIL, "Some", str(ANN)))


NO_TASK, SCALE = "not an export of rated tasks", "Remedy: use one of 1, 2, 3, 4, 5"
OTHER = "column item_id: the raters saw another text than it has"
TWICE = "person rated this before"
NOT_GIVEN = f"column rate_style: missing value. {SCALE}"
BOTH_GIVEN = f"column rate_content: bad value '5, 2'. {SCALE}"


def rating(task):
    """The first annotation of a task."""
    return task["annotations"][0]


def answer(task, **value):
    """Give another answer to the first question."""
    rating(task)["result"][0]["value"] = value


BROKEN = [
    (lambda task: task.update(data=None), NO_TASK),
    (lambda task: rating(task).update(result=["x"]), NO_TASK),
    (lambda task: rating(task).update(completed_by=None), "column rater: missing value"),
    (lambda task: task["data"].update(output_text="x"), OTHER),
    (lambda task: rating(task)["result"].pop(1), NOT_GIVEN),
    (lambda task: rating(task)["result"].append(result("rate_content", 2)), BOTH_GIVEN),
    (lambda task: task["annotations"].append(annotation(ANN, (1, 1, 1))), TWICE),
    (lambda task: answer(task, choices=["6"]), SCALE),
    (lambda task: answer(task, choices=["٤"]), SCALE),
    (lambda task: answer(task, rating=4), NO_TASK),
]


@pytest.mark.parametrize(("spoil", "expected"), BROKEN)
def test_a_broken_task_is_reported_with_its_row_and_a_remedy(spoil, expected, toy, save):
    export = exported(tasks(toy), ANN)
    spoil(export[2])
    with pytest.raises(DataError) as caught:
        read_export([save(export)], toy)
    lines = str(caught.value).splitlines()[1:]
    assert any("export.json, row 3" in line and expected in line for line in lines)
    assert all("Remedy: " in line for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NO_TASK),
        ("[" * 100_000, NO_TASK),
        ('{"id": 1}', f"row 1: {NO_TASK}"),
        ('[{"data": {}}, {"data": {}}]', f"{NO_TASK} (KeyError: 'annotations')"),
        ('[{"data": {}, "annotations": []}]', "no ratings"),
    ],
)
def test_a_broken_file_is_reported_with_a_remedy(text, expected, toy, save):
    with pytest.raises(DataError, match="Remedy: export the project again") as caught:
        read_export([save(text)], toy)
    assert expected in str(caught.value)


def test_the_form_and_the_ratings_on_the_command_line(tstmeta, tmp_path, save):
    success(tstmeta("data", "form", "contrast@formal", "--out", tmp_path / "form", "--seed", 3))
    todo = tasks(data.load("contrast@formal"), seed=3)
    first = json.loads((tmp_path / "form" / "tasks-1.json").read_text("utf-8"))
    assert first == [{"data": task} for task in todo[:40].to_dict("records")]
    files = [save(exported(todo[:80], ANN), "a.json"), save(exported(todo[80:], ANN), "b.json")]
    out = tmp_path / "ratings.csv"
    done = success(tstmeta("data", "import-ratings", *files, "--data", "contrast", "--out", out))
    assert "480 ratings by 1 raters of 160 rewrites" in done.stderr
    pd.testing.assert_frame_equal(
        pd.read_csv(out), read_export(files, data.load("contrast")), check_dtype=False
    )
