"""Rewritten arguments: verified items, and ratings of a form that was inferred."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data.raw import change, complaint
from tests.data.tables import leaked, write_table
from tests.helpers import needs
from tstmeta.data import Dataset, ziegen
from tstmeta.data.files import UnverifiedForm
from tstmeta.data.paths import raw

PEOPLE = ["made-up-judge-a", "made-up-judge-b"]
ITEMS, RESULTS = str(ziegen.ITEMS), str(ziegen.RESULTS)


def answer(item: str, judge: str, *options: int) -> dict[str, object]:
    """A row of the results file; options are numbered as on the page, through all questions."""
    result = {f"otherErrorQuestion{n}": f"other{o}" for n, o in enumerate(options, 1)}
    return {
        "a_id": 1,
        "user_id": judge,
        "post_id": item,
        "post_text": "Buses\nare late.",
        "annotation_date": "2024-01-01",
        "result": repr({"post_id": item, **result}),
        "issue": "Buses:",
        "comments": "",
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two arguments, each rewritten by a system and one also by a person."""
    texts = {"1_human": "Please,\nbe on time.", "1_40a-60ss": "Be on time.", "2_instruct": "Hm."}
    rows = [
        {
            "id": name,
            "source": f"You fools,\nargument {name[0]}!",
            "rewrite": text,
            "issue": "Buses:",
            "batch": 2,
        }
        for name, text in texts.items()
    ]
    write_table(tmp_path / ITEMS, rows)
    return tmp_path


@pytest.fixture
def rated(root: Path) -> Path:
    rows = [
        answer("1_human", PEOPLE[0], 5, 6, 13),
        answer("1_human", PEOPLE[1], 4, 10, 15),
        answer("1_40a-60ss", PEOPLE[1], 1, 8, 11),
    ]
    write_table(root / RESULTS, rows)
    return root


def load(root: Path) -> Dataset:
    with pytest.warns(UnverifiedForm, match="inferred from a sibling study"):
        return ziegen.load(root)


def test_without_ratings_there_are_items_and_no_warning(root: Path) -> None:
    loaded = ziegen.load(root)
    items = loaded.items.set_index("item_id")
    assert list(items.index) == ["1_human", "1_40a-60ss", "2_instruct"]
    assert items["system"].tolist() == ["human", "40a-60ss", "instruct"]
    assert items["source_id"].tolist() == ["1", "1", "2"]
    assert items["is_reference"].tolist() == [True, False, False]
    assert items["references"].tolist() == [["Please,\nbe on time."]] * 2 + [[]]
    assert set(items["style"]) == {"appropriate"}
    assert loaded.label("batch").tolist() == ["2"] * 3
    assert loaded.ratings.empty


def test_options_are_turned_into_one_to_five(rated: Path) -> None:
    loaded = load(rated)
    found = {dimension: loaded.raters(dimension).iloc[:2] for dimension in loaded.dimensions}
    assert found["style"].loc["1_human"].to_dict() == {"r1": 5.0, "r2": 4.0}
    assert found["content"].loc["1_human"].to_dict() == {"r1": 1.0, "r2": 5.0}
    assert found["fluency"].loc["1_human"].to_dict() == {"r1": 3.0, "r2": 5.0}
    assert found["content"].loc["1_40a-60ss", "r2"] == 3.0
    assert not leaked(loaded, PEOPLE)


def test_a_second_judgement_by_the_same_person_is_another_rater(rated: Path) -> None:
    change(rated / RESULTS, PEOPLE[1], PEOPLE[0])
    assert load(rated).raters("style").loc["1_human"].dropna().tolist() == [5.0, 4.0]


def test_a_cell_is_never_run(rated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_table(rated / RESULTS, [{**answer("1_human", "x", 5), "result": "print('run')"}])
    with pytest.warns(UnverifiedForm):
        assert "not a Python dict literal" in complaint(ziegen.load, rated)
    assert capsys.readouterr().out == ""


BROKEN: list[tuple[str, str, Callable[[Path], object], list[str]]] = [
    ("a missing file", ITEMS, Path.unlink, ["study_pairs.csv", "missing"]),
    ("a missing column", ITEMS, lambda p: change(p, "rewrite", "text"), ["column rewrite"]),
    ("an id twice", ITEMS, lambda p: change(p, "1_40a-60ss", "1_human"), ["row 2", "already"]),
    (
        "an odd id",
        ITEMS,
        lambda p: change(p, "2_instruct", "2instruct"),
        ["row 3", "number_system"],
    ),
    ("two sources", ITEMS, lambda p: change(p, "fools", "people"), ["row 2", "source"]),
    ("a cut dict", RESULTS, lambda p: change(p, "}", ""), ["row 1", "dict literal"]),
    ("a list", RESULTS, lambda p: write_table(p, [_list()]), ["row 1", "dict literal"]),
    ("a wrong option", RESULTS, lambda p: change(p, "other5", "other6"), ["row 1", "Question1"]),
    ("no answer", RESULTS, lambda p: change(p, "Question3", "Question9"), ["row 1", "Question3"]),
    ("an unknown item", RESULTS, lambda p: change(p, ",1_human,", ",9_human,"), ["9_human"]),
]


def _list() -> dict[str, object]:
    return {**answer("1_human", "x", 5, 6, 11), "result": "['other5']"}


@pytest.mark.filterwarnings("ignore::tstmeta.data.files.UnverifiedForm")
@pytest.mark.parametrize(
    ("file", "harm", "expected"),
    [pytest.param(*case[1:], id=case[0]) for case in BROKEN],
)
def test_broken_files_are_reported(
    rated: Path, file: str, harm: Callable[[Path], object], expected: list[str]
) -> None:
    harm(rated / file)
    message = complaint(ziegen.load, rated)
    assert all(text in message for text in expected), message


@needs("ziegen")
def test_real_items() -> None:
    items = ziegen.load(raw("ziegen")).items
    assert items.groupby("system").size().to_dict() == dict.fromkeys(
        ("human", "instruct", "40a-60ss", "50a-50ss", "60a-40ss", "10a-00ss"), 225
    )
    assert items["source_id"].nunique() == items["source"].nunique() == 225
    assert set(items["references"].map(len)) == {1}
