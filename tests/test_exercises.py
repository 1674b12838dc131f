"""Exercises that check an answer: what is right, what is not, and what the file keeps to itself."""

import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tstmeta as tst
from tests.helpers import nightly_but
from tools import ship as tool
from tstmeta import exercises
from tstmeta.notebook import parameters

ROWS = exercises.rows()
LESSONS = sorted({tool.lesson(name) for name in ROWS})
#: Lessons whose answers take a moment.
QUICK = ("lesson_3", "lesson_4", "lesson_5", "lesson_7", "lesson_9")


def rows_of(path) -> dict[str, dict[str, str]]:
    return {name: row for name, row in ROWS.items() if tool.lesson(name) == path}


@pytest.mark.parametrize(
    ("exercise", "wrong", "right"),
    [
        ("lesson-4-1", "left", "Right "),
        ("lesson-4-2", 1, -1.004),
        ("lesson-4-3", {"bleu", "pinc"}, ["style-label", "length-ratio"]),
    ],
)
def test_an_answer_is_right_or_not_yet_with_a_hint(exercise, wrong, right):
    verdict = tst.check(exercise, right)
    assert (bool(verdict), repr(verdict)) == (True, "right")
    verdict = tst.check(exercise, wrong)
    assert (bool(verdict), repr(verdict)) == (False, f"not yet. {verdict.hint}")
    assert len(verdict.hint) > 40
    assert verdict.hint.endswith("with its own metrics.)") == (exercise == "lesson-4-3")


#: What wrong ideas give: each is a slip that a class has made or will make.
SLIPS = {
    "lesson-1-3": [0, 0.25, 0.5, 0.7],  # nothing; half of the rewrite's; as much; pooled
    "lesson-2-1": ["tau-b", "tau-c", "a tie is wrong", "a tie is half right"],
    "lesson-2-3": ["second", "both", "neither"],
    # no alarm at all; the naive way with single rewrites; ties to the number of rewrites
    "lesson-3-2": [0, 0.01, 0.1, 0.2, 0.36, 0.5, 0.8, 0.95],
    "lesson-4-1": ["left", "middle"],
    "lesson-4-2": [1, 0.5, 0, -0.5, -0.9],  # the correlation with error; half; the value at 0.9
    "lesson-4-3": [["style-label"], ["length-ratio"], ["style-label", "length-ratio", "random"]],
    "lesson-5-1a": [1.41, 2, 3, 8, 16],  # the root; proportional; a cube; the square again
    "lesson-5-1b": [1.19, 1.29, 1.41, 2, 4],  # ratio of chances; unsquared; its square
    "lesson-6-1": [-1.25, -0.47, 0.51, -1.38],  # C; over n; as a cost; the token still in the sum
    "lesson-7-1": ["training", "both"],
    "lesson-8-3": [0, 0.1, 0.25, 0.28],  # no gain; half of it; its own ratings
    "lesson-9-2": [0.38, 0.39, 0.4, 0.421],  # times .95 or its root; unchanged; without the root
}


@pytest.mark.parametrize(("exercise", "answers"), SLIPS.items())
def test_the_answers_of_wrong_ideas_are_refused(exercise, answers):
    for answer in answers:
        assert not tst.check(exercise, answer), answer


@given(st.floats(-1e3, 1e3), st.sampled_from([0.005, 0.02, 0.3, 2.0]), st.floats(-0.999, 0.999))
def test_within_the_tolerance_is_right_and_twice_as_far_is_not(true, tolerance, share):
    row = {"exercise": "x", "kind": "number", "tolerance": str(tolerance), "salt": "s"}
    right = tool.accepted(row, true)
    assert exercises.hashed(row, exercises.form(row, true + share * tolerance)) in right
    for far in (true - 2.001 * tolerance, true + 2.001 * tolerance):
        assert exercises.hashed(row, exercises.form(row, far)) not in right


@pytest.mark.parametrize(
    ("exercise", "answer", "words"),
    [
        ("lesson-4-2", "-1", "lesson-4-2 takes a number, got '-1'"),
        ("lesson-4-2", np.nan, "takes a number, got nan"),
        ("lesson-4-1", 3, "takes one name, got 3"),
        ("lesson-4-3", "bleu", "takes a set or list of names, got 'bleu'"),
        ("lesson-4-3", [1, 2], r"takes a set or list of names, got \[1, 2\]"),
        ("lesson-4-9", 1, "'lesson-4-9'; there are lesson-4-1, lesson-4-2, lesson-4-3$"),
        (4, 1, "no exercise is called 4; there are lesson-1-3"),
    ],
)
def test_a_slip_is_told_in_words(exercise, answer, words):
    with pytest.raises(tst.TstmetaError, match=words):
        tst.check(exercise, answer)


def test_numbers_are_of_any_library_and_names_in_any_order():
    for number in (np.float32(-1), np.int64(-1), -0.9999999999999996):
        assert tst.check("lesson-4-2", number)
    row = {**ROWS["lesson-4-3"], "hashes": ""}
    [right] = tool.accepted(row, ["bleu", "chrf"])
    for kind in (set, tuple, pd.Index):
        assert exercises.hashed(row, exercises.form(row, kind([" CHRF", "bleu"]))) == right


@pytest.mark.parametrize("path", nightly_but(LESSONS, *QUICK))
def test_the_file_holds_what_the_solutions_of_the_lessons_compute(path):
    blank = {name: {**row, "hashes": ""} for name, row in rows_of(path).items()}
    assert tool.hashed(blank).to_dict("records") == [*rows_of(path).values()]


def test_every_lesson_has_a_checked_exercise_and_names_those_that_it_has():
    notebooks = sorted((tool.ROOT / "notebooks").glob("lesson_*.ipynb"))
    assert notebooks == LESSONS
    assert len(rows_of(tool.lesson("lesson-4-1"))) >= 2
    for path in notebooks:
        cells = nbformat.read(path, as_version=4).cells
        named = {name for cell in cells for name in re.findall(r"check\(\"([^\"]+)\"", cell.source)}
        assert named == set(rows_of(path))
        known = parameters(path)
        for row in rows_of(path).values():
            assert set(re.findall(r"\w+", row["parameters"])) - {"and"} <= set(known)
