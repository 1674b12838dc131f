"""Pairwise forms: blind comparisons with sides drawn go out, preferences come back."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from tests import studio
from tests.command import success
from tests.studio import ANN, BEN
from tstmeta import data
from tstmeta.label_studio import PAIRWISE, read_export, tasks
from tstmeta.schema import DataError, TstmetaError

#: Twelve sources with three systems each, and one with a single rewrite.
TOY = studio.dataset([3] * 12 + [1])
SYSTEM = TOY.items.set_index("item_id")["system"]
QUESTIONS = [*PAIRWISE.questions]


def answers(task):
    """Of one to whom the later text has the content, the earlier the style, and A the fluency."""
    return ("B", "A", "A") if task["A"] < task["B"] else ("A", "B", "A")


def filled(todo):
    sheet = todo.copy()
    sheet[QUESTIONS] = [answers(task) for task in todo.to_dict("records")]
    return sheet


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save(table, name="all.csv"):
    table.to_csv(name, index=False)
    return Path(name)


def test_every_two_systems_meet_once_a_source_with_blind_and_balanced_sides():
    todo = tasks(TOY, 0, PAIRWISE)
    assert not any(word in todo.to_csv(index=False) for word in ("light", "strong", "error"))
    assert len({frozenset(pair) for pair in todo.index}) == len(todo) == 12 * 3
    systems = pd.Series([(SYSTEM[a], SYSTEM[b]) for a, b in todo.index])
    assert systems.value_counts().tolist() == [6] * 6
    assert not todo.duplicated(["batch", "source_text"]).any()
    text = TOY.items.set_index("item_id")["output"]
    assert [*zip(todo["A"], todo["B"], strict=True)] == [(text[i], text[j]) for i, j in todo.index]
    assert not todo.index.equals(tasks(TOY, 1, PAIRWISE).index)


def test_preferences_come_back_from_exports_and_sheets_whichever_side_was_shown():
    first, second = tasks(TOY, 1, PAIRWISE), filled(tasks(TOY, 2, PAIRWISE))
    export = [
        {"data": t, "annotations": [studio.annotation(p, answers(t), PAIRWISE) for p in (ANN, BEN)]}
        for t in first.to_dict("records")
    ]
    Path("all.json").write_text(json.dumps(export))
    second.iloc[4:, -3:] = ""  # these were left out
    several = save(pd.concat([second.assign(rater=name) for name in ("mean", "r7")]), "both.csv")
    table = read_export([Path("all.json"), save(second), several], TOY, PAIRWISE)
    value = table.set_index(["dimension", "rater", "item_a", "item_b"])["value"]
    assert (set(value["content"]), set(value["style"])) == ({"b"}, {"a"})
    raters = {"r1": first, "r2": first, "r3": second[:4], "r4": second[:4], "r5": second[:4]}
    for rater, todo in raters.items():
        fluency = value["fluency"][rater]
        assert len(fluency) == len(todo)
        assert ((fluency == "a") == fluency.index.isin(todo.index)).all()


BROKEN = [
    ({"better_style": "a"}, "column better_style: bad value 'a'", "one of A, B, tie"),
    ({"B": "x"}, "column form_id: the raters saw another text", "name the data set"),
    ({"rater": ""}, "column rater: missing value", "name who rated"),
    ({"rater": "Ann"}, "the same person rated this before", "delete one of the two"),
]


@pytest.mark.parametrize(("change", "what", "remedy"), BROKEN)
def test_a_broken_row_is_reported_with_file_row_column_and_remedy(change, what, remedy):
    five = filled(tasks(TOY, 0, PAIRWISE))[:5]
    sheet = pd.concat([five.assign(rater=name) for name in ("Ann", "Ben")], ignore_index=True)
    sheet.loc[7, [*change]] = [*change.values()]
    with pytest.raises(DataError) as caught:
        read_export([save(sheet)], TOY, PAIRWISE)
    [line] = str(caught.value).splitlines()[1:]
    assert re.search(f"all.csv, row 8.*{what}.*Remedy: .*{remedy}", line)


def test_systems_are_needed():
    with pytest.raises(TstmetaError, match=r"two systems in one style\. Remedy: name the system"):
        tasks(studio.dataset([1, 1]), form=PAIRWISE)


def test_a_file_of_outputs_gets_its_preferences_on_the_command_line(tstmeta):
    table = TOY.items[["source", "output", "system", "style"]]
    save(table.assign(output="=1\x07 " + table["output"]), "ends.csv")  # a formula, a control
    where = "--where system=light --where system=strong"
    success(tstmeta(f"data form ends.csv --pairwise {where} --limit 6 -o f"))
    sheet = pd.read_csv("f/comparisons.csv").assign(**dict.fromkeys(QUESTIONS, "A"))
    assert sheet["A"].str.startswith("'=1\\x07").all()
    words = f"data import-preferences {save(sheet)} --data ends.csv --out preferences.csv"
    success(tstmeta(words))
    Path("ends.csv.toml").write_text('preferences = "preferences.csv"\n')
    actual = data.load("ends.csv").preferences
    assert len(actual) == 9
    pd.testing.assert_frame_equal(actual, pd.read_csv("preferences.csv", dtype=str))
