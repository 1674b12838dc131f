"""QuestEval's arithmetic by hand, and the records that say why."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.metrics import questions
from tstmeta.metrics.questions import Asked, Record, summed, token_f1


@pytest.mark.parametrize(
    ("expected", "found", "f1"),
    [
        ("", "", 1),
        ("the", "", 1),
        ("the soup", "", 0),
        ("", "soup", 0),
        ("The Soup!", "a soup", 1),
        ("the cold soup", "soup", 2 / 3),
        ("soup", "unanswerable", 0),
        ("a b c d", "b d e", 4 / 6),
        ("big big dog", "big dog dog", 2 / 3),
        ("anthem", "them", 0),
        ("it's", "its", 1),
        ("京都 です", "京都", 2 / 3),
    ],
)
def test_f1_of_words_is_that_of_squad(expected, found, f1):
    assert token_f1(expected, found) == pytest.approx(f1)


@given(st.text("ab ,.T", max_size=12), st.text("ab ,.T", max_size=12))
def test_f1_is_symmetric_and_one_only_for_equal_words(one, other):
    value = token_f1(one, other)
    assert value == token_f1(other, one)
    assert 0 <= value <= 1
    assert token_f1(one, one) == 1


def asked(side, answerable, f1, alike=0.6):
    return Asked(side, "what?", "soup", "stew", answerable, f1, alike)


#: Two questions from the output, three from the source.
FIVE = [
    asked("precision", 0.9, 1.0),
    asked("precision", 0.3, 0.5),
    asked("recall", 0.8, 0.0),
    asked("recall", 0.6, 0.25),
    asked("recall", 0.1, 0.5),
]


def test_the_equations_take_f1_one_way_and_answerability_the_other():
    found = summed(FIVE)
    assert found.precision == pytest.approx(0.75)
    assert found.recall == pytest.approx(0.5)
    assert found.score == pytest.approx(2 * 0.75 * 0.5 / 1.25)


def test_the_released_rule_averages_three_numbers_of_both_sides():
    found = summed(FIVE, "released")
    assert found.precision == pytest.approx((0.9 + 1 + 0.3 + 0.5 + 2 * 0.6) / 6)
    assert found.recall == pytest.approx((0.8 + 0 + 0.6 + 0.25 + 0.1 + 0.5 + 3 * 0.6) / 9)
    assert found.score == pytest.approx((found.precision + found.recall) / 2)


def test_its_first_version_averages_two_numbers_and_needs_no_third():
    found = summed([one._replace(alike=float("nan")) for one in FIVE], "released-0.1")
    assert found.precision == pytest.approx((0.9 + 1 + 0.3 + 0.5) / 4)
    assert found.recall == pytest.approx((0.8 + 0 + 0.6 + 0.25 + 0.1 + 0.5) / 6)
    assert found.score == pytest.approx((found.precision + found.recall) / 2)


ASKED = st.builds(
    asked,
    st.sampled_from(["precision", "recall"]),
    *[st.floats(-0.01, 1.01, allow_nan=False)] * 3,
)


@given(st.lists(ASKED, max_size=7), st.sampled_from([("released", 3), ("released-0.1", 2)]))
def test_released_rules_are_upstreams_arithmetic_list_by_list(rows, rule):
    """A list for each kind of number, each clipped, all lists of a side as one; 0 without any."""
    name, kinds = rule

    def side(which):
        own = [row for row in rows if row.side == which]
        lists = [[getattr(row, kind) for row in own] for kind in ("answerable", "f1", "alike")]
        flat = [min(max(value, 0.0), 1.0) for each in lists[:kinds] for value in each]
        return sum(flat) / len(flat) if flat else 0.0

    wanted = (side("recall") + side("precision")) / 2
    assert summed(rows, name).score == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("rule", "score"), [("equation", 0), ("released-0.1", (0.9 + 1 + 0.3 + 0.5) / 8)]
)
def test_a_side_without_questions_counts_nothing(rule, score):
    found = summed(FIVE[:2], rule)
    assert found.recall == 0
    assert found.score == pytest.approx(score)
    assert summed([], rule) == (0, 0, 0)


def test_a_probability_that_misses_its_bounds_by_a_rounding_is_clipped():
    both = [asked("precision", 0, 1 + 1e-7), asked("recall", 1 + 1e-7, 0)]
    assert summed(both) == (1, 1, 1)


ONE = Record("the soup", "the stew", (FIVE[0], FIVE[3]))
TWO = Record("<b>\u2028\ud800", "line\nline", ())


def test_records_come_back_as_they_were_kept(tmp_path):
    path = tmp_path / "questions" / "file.jsonl"
    questions.keep(path, [ONE])
    questions.keep(path, [TWO])
    assert list(questions.records(path)) == [ONE, TWO]
    assert len(path.read_text().splitlines()) == 2


def test_a_number_that_there_is_not_is_null_in_the_file(tmp_path):
    path = tmp_path / "file.jsonl"
    questions.keep(path, [Record("a", "b", (asked("recall", 1, 1, alike=float("nan")),))])
    assert "NaN" not in path.read_text()
    [record] = questions.records(path)
    assert math.isnan(record.asked[0].alike)


def test_texts_asked_again_count_once_and_the_last_time(tmp_path):
    path = tmp_path / "file.jsonl"
    again = ONE._replace(asked=(FIVE[1],))
    questions.keep(path, [ONE, TWO, again])
    assert list(questions.records(path)) == [again, TWO]


@pytest.mark.parametrize("rest", ['["cut', "{}", "[1, 2]", '["a", "b", [["few"]]]', "null", "\xff"])
def test_a_damaged_line_is_dropped_and_the_next_one_is_not(tmp_path, rest):
    path = tmp_path / "file.jsonl"
    questions.keep(path, [ONE])
    with open(path, "ab") as file:
        file.write(rest.encode("latin-1"))
    questions.keep(path, [TWO])
    assert list(questions.records(path)) == [ONE, TWO]


def test_a_table_has_the_worst_answers_of_two_texts_first(tmp_path):
    path = tmp_path / "file.jsonl"
    questions.keep(path, [ONE, Record("the soup", "a bowl", (FIVE[2],))])
    table = questions.table(path)
    assert list(table.columns) == ["against", "output", *Asked._fields]
    assert table["f1"].tolist() == [0.25, 1.0, 0.0]
    assert questions.table(path, output="a bowl")["answerable"].tolist() == [0.8]
    assert questions.table(path, "the soup", "the stew")["side"].tolist() == ["recall", "precision"]
    assert questions.table(path, "nothing").empty


def test_where_nothing_was_kept_the_table_is_empty(tmp_path):
    table = questions.table(tmp_path / "none.jsonl")
    assert table.empty
    assert "question" in table.columns


def test_a_line_is_plain_json(tmp_path):
    path = tmp_path / "file.jsonl"
    questions.keep(path, [ONE])
    against, output, rows = json.loads(path.read_text())
    assert (against, output) == ("the soup", "the stew")
    assert rows[0][:4] == ["precision", "what?", "soup", "stew"]
