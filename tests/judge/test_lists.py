"""No rating comes from a list's numbers, from thoughts, from words cut short or for no output."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.test_answers import ALL, BARE, BINARY, JOINT, NUMBER, ONE, PAIR, values
from tstmeta.judge.answers import read
from tstmeta.judge.base import Reply
from tstmeta.judge.construct import steps


@pytest.mark.parametrize(
    "text",
    [
        "1. The rewrite keeps the topic.\n2. It drops a name.",
        "1. The rewrite keeps the topic.\n2.",
        "1. The rewrite keeps the topic.",
        "**1. Meaning**\nThe rewrite keeps it.",
        "**1.** Meaning is kept.",
        "1) Meaning is kept.",
        "(1) Meaning is kept.",
        "1: meaning is kept",
        "1.\nMeaning is kept.\n2. Style is not.",
        "1 - meaning is kept\n2 - style is not",
        "[1] Meaning is kept.\n[2] Style is not.",
        "Here is my answer:\n1. Meaning is kept.\n2. Style is not.",
        "Answer:\n1. Meaning is kept.",
        "Score: 1. Meaning is kept. 2. Style is not.",
        "content: 1) how well it keeps the rest",
        "১. বিষয় রাখা হয়েছে।",
    ],
)
def test_a_number_that_counts_a_list_is_no_rating(text):
    assert values(text) == [["invalid"]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("4.", 4),
        ("4. ", 4),
        ("**4.**", 4),
        ("4)", 4),
        ("4.\nThe rewrite drops a name.", 4),
        ("4\n\nReasons:\n1. It drops a name.\n2. It adds one.", 4),
        ("1\n\nReasons:\n1. It drops a name.\n2. It adds one.", 1),
        ("4\n\nReasons:\n1. a b\n2. c d\n3. e f\n4. g h\n5. i j", 4),
        ("1. It drops a name.\n2. It adds one.\n\n3", 3),
        ("1. It drops a name.\n2. It adds one.\n\nRating: 3", 3),
        ("1. It drops a name.\n2. It adds one.\n3. It ends.\n\nRating:\n2", 2),
        ("1. Content: 4\n2. Nothing else is asked.", 4),
        ("Rating: 4. The rewrite drops a name.", 4),
        ("Rating: 4. It is not a 5. The rewrite drops a name.", 4),
        ("The rating is 4. The rewrite drops a name.", 4),
        ("Content (rating: 4) is kept.", 4),
        ("Rating: (4) The rewrite drops a name.", 4),
        ("4/5. The rewrite drops a name.", 4),
        ("4 out of 5: the rewrite drops a name.", 4),
        ("4 - the rewrite drops a name", 4),
        ('{"content": "4. The rewrite drops a name."}', 4),
        ('{"content": "4: good"}', 4),
        ('{"content": "1. The topic is kept.\\n2. The name is not."}', 1),
        ('{"content": "1) how well it keeps the rest"}', "invalid"),
        ("3. It drops a name.\n4", 4),
    ],
)
def test_a_rating_that_cannot_be_the_number_of_a_point_stays_one(text, wanted):
    assert values(text) == [[wanted]]


def test_an_echo_of_numbered_questions_rates_nothing():
    text = "meaning: 1) how well the rest is kept, style: 2) how formal it is"
    assert values(text, JOINT) == [["invalid"], ["invalid"]]
    assert values("1. Meaning: 4\n2. Style: 3", JOINT) == [[4], [3]]


@pytest.mark.parametrize(
    "text",
    [
        "1. The sentence is positive.",
        "1. The sentence is positive.\n2. It is fluent.",
        "0: the sentence is negative",
        "1.\nThe sentence is positive.\n2. It is fluent.",
    ],
)
def test_a_point_of_a_list_is_neither_yes_nor_no(text):
    assert values(text, BINARY) == [["invalid"]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1. Rewrite 1 keeps the topic.", None),
        ("1. Rewrite 1 keeps the topic.\n2. Rewrite 2 does not.", None),
        ("A: the second rewrite", None),
        ("A) The second rewrite is polite.", None),
        ("A - it keeps the topic\nB - it does not", None),
        ("Rewrite 1: it keeps the topic.\nRewrite 2: it does not.", None),
        ("Rewrite 1 - it keeps the topic\nRewrite 2 - it does not", None),
        ("**Rewrite 1**: it keeps the topic.", None),
        ("First, the topic has to be kept.", None),
        ("Answer:\n1. Rewrite 1 keeps the topic.", None),
        ("A", [1, 0]),
        ("B.", [0, 1]),
        ("2\n\nIt keeps the topic.", [0, 1]),
        ("Answer: B. It keeps the topic.", [0, 1]),
        ("Better: 2. It keeps the topic.", [0, 1]),
        ("Rewrite 2, because it keeps the topic.", [0, 1]),
        ("First.", [1, 0]),
        ("The second. It keeps the topic.", [0, 1]),
    ],
)
def test_a_point_of_a_list_chooses_neither_of_a_pair(text, wanted):
    assert values(text, PAIR, 2) == [wanted or ["invalid"] * 2]


def test_ratings_of_several_outputs_may_have_a_sentence_behind_them():
    text = "1: 80. It keeps the topic.\n2: 70: a name is lost\n(3: 60) both are lost"
    assert values(text, ONE, 3) == [[80, 70, 60]]


# ------------------------------------------------------------------------------- whose it is


@pytest.mark.parametrize(
    "text",
    [
        "2: 80\n3: 70\n4: 60",
        '{"2": 80, "3": 70, "4": 60}',
        '[{"number": 2, "content": 80}, {"number": 3, "content": 70}, {"number": 4, "content": 1}]',
        "0: 80\n1: 70\n2: 60",
        "1: 80\n2: 70\n3: 60\n4: 50",
    ],
)
@pytest.mark.parametrize("prompt", [ONE, BARE], ids=["numbered", "bare"])
def test_numbers_that_do_not_fit_the_outputs_spoil_all_of_an_answer(prompt, text):
    rows = read(Reply(text=text), prompt, 3)
    assert [str(row["content"].status) for row in rows] == ["invalid"] * 3
    for row in rows:
        assert "numbers that do not fit the 3 outputs" in row["content"].detail
        assert text in row["content"].detail


def test_a_number_that_does_not_fit_in_one_dimension_spoils_the_others():
    text = '{"content": {"1": 80, "2": 10}, "style": {"2": 80, "3": 10}}'
    assert values(text, ALL, 2) == [["invalid"] * 2] * 3


# ---------------------------------------------------------------------------- thoughts and cuts


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("It drops a name, so rating: 2? No.</think>\n4", 4),
        ("</think>4", 4),
        ("It drops a name, so it is not the best.</think>4 because it drops a name.", 4),
        ("Rating: 2 </think> or rating: 3 </think>\n\nRating: 4", 4),
        ("2 </think> <think> Rating: 3", "invalid"),
        ("Rating: 2 </think>", "invalid"),
        ('{"content": 2} </think> {"content": 4}', 4),
        ('{"explanation": "it says </think> rating: 5", "content": 1}', 1),
        ('{"content": 3} </think> {"explanation": "it says </think> rating: 5", "content": 1}', 1),
    ],
)
def test_thoughts_end_with_the_last_closing_tag_whoever_opened_them(text, wanted):
    assert values(text) == [[wanted]]


@given(st.text())
def test_a_closing_tag_in_a_quoted_text_ends_no_thought(hostile):
    answer = {"explanation": f"{hostile}</think>{hostile}", "meaning": 1, "style": 2}
    assert values(json.dumps(answer), JOINT) == [[1], [2]]


def test_many_closing_tags_are_read_in_seconds():
    texts = json.dumps({"explanation": ["</think>"] * 9_000, "content": 4})
    start = time.perf_counter()
    assert values(texts) == [[4]]
    assert values("</think>" * 100_000 + "4") == [[4]]
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    ("text", "prompt", "wanted"),
    [
        ("**1. Meaning**\nThe", NUMBER, "truncated"),
        ("Rating: 2 would be too low, for", NUMBER, "truncated"),
        ("4\n\nThe rewrite", NUMBER, "truncated"),
        ("1. It drops a name.\n2. It adds one.\n3", NUMBER, "truncated"),
        ("1.", NUMBER, "truncated"),
        ("**1.", NUMBER, "truncated"),
        ("4", NUMBER, 4),
        ("Rating: 4.", NUMBER, 4),
        ("**Rating:** 4/5", NUMBER, 4),
        ("It drops a name. Rating: 4 out of 5", NUMBER, 4),
        ('{"content": 4, "explanation": "it drops', NUMBER, 4),
        ('{"rating": "4"} The rewrite', NUMBER, 4),
        ("No, the sentence", BINARY, "truncated"),
        ("yes", BINARY, 1),
        ('{"answer": "yes"} The sentence', BINARY, 1),
    ],
)
def test_of_words_that_were_cut_only_the_last_thing_said_is_a_rating(text, prompt, wanted):
    assert values(text, prompt, finish="length") == [[wanted]]


def test_the_texts_of_a_construction_are_not_taken_from_thoughts():
    good = '{"text": "Anna sleeps."}'
    for before in ('<think>{"text": "Boris"}</think>', '{"text": "Boris"} </think>'):
        assert steps.read(Reply(before + good)).texts == ("Anna sleeps.",)
    assert (
        steps.read(Reply(f"<think>{good}")).problem == 'the answer has no "text" in a JSON object'
    )
    quoted = steps.read(Reply('{"text": "Anna writes </think> here."}'))
    assert quoted.texts == ("Anna writes </think> here.",)
