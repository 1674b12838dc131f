"""Refusals in plain words: an answer without a rating that begins like one has that status."""

from __future__ import annotations

import pytest

from tests.judge.test_answers import ALL, BINARY, JOINT, KINDS, NUMBER, PAIR, values
from tstmeta.judge.answers import read
from tstmeta.judge.base import Reply
from tstmeta.judge.construct import checks
from tstmeta.judge.refusals import REFUSAL, declines
from tstmeta.schema import Status


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't help with that.",
        "I’m sorry, but I can’t assist with this request.",
        "Sorry, I cannot rate such content.",
        "I apologize, but I am not able to judge this text.",
        "I'm very sorry. I won't do that.",
        "I cannot assist with that request.",
        "I can't rate this.",
        "I'm unable to help with this.",
        "Unfortunately, I cannot comply.",
        "As an AI language model, I cannot rate hate speech.",
        "I must decline.",
        "**I'm sorry**, I can't help.",
    ],
)
@pytest.mark.parametrize("prompt", KINDS, ids=lambda prompt: prompt.name)
def test_a_refusal_in_plain_words_is_refused_and_keeps_its_words(prompt, text):
    items = {"item": 1, "pair": 2, "source": 3}[prompt.unit]
    for row in read(Reply(text=f"<think>Hm.</think>\n{text}"), prompt, items):
        for rating in row.values():
            assert rating.status is Status.REFUSED
            assert text in rating.detail
            assert rating.value != rating.value


@pytest.mark.parametrize(
    ("text", "prompt", "items", "wanted"),
    [
        ("I'm sorry, I can't help with that.", ALL, 2, [["refused"] * 2] * 3),
        ("I'm sorry, I can't say much.\nRating: 4", NUMBER, 1, [[4]]),
        ("I'm sorry, I can't say much.\nRating: 7", NUMBER, 1, [["invalid"]]),
        ("I'm sorry, I can't say much. {\"meaning\": 4}", JOINT, 1, [[4], ["invalid"]]),
        ("I'm sorry, I can't say.\nAnswer: no", BINARY, 1, [[0]]),
        ("I'm sorry, I can't like it.\n1", PAIR, 2, [[1, 0]]),
        ("The rewrite says: I'm sorry, I can't help.", NUMBER, 1, [["invalid"]]),
        ("I am sorry.", NUMBER, 1, [["invalid"]]),
        ("I cannot see a difference.", NUMBER, 1, [["invalid"]]),
        ("Sorry state of a text.", NUMBER, 1, [["invalid"]]),
        ("", NUMBER, 1, [["invalid"]]),
    ],
)
def test_only_an_answer_without_a_rating_that_begins_so_is_a_refusal(text, prompt, items, wanted):
    assert values(text, prompt, items) == wanted


def test_a_refusal_that_was_cut_is_one():
    assert values("I'm sorry, I can't help with", finish="length") == [["refused"]]


def test_a_long_answer_is_looked_at_where_it_begins():
    assert not declines("The rewrite is polite. " * 20_000 + "I'm sorry, I can't help.")
    assert declines("I'm sorry, I can't help. " * 20_000)


def test_the_checks_of_a_construction_know_the_same_refusals():
    assert checks.REFUSAL is REFUSAL
    assert checks.refusal("I'm sorry, but I can't do it.", "Anna sleeps.")
    assert checks.refusal("I’m sorry, but I can’t do it.", "Anna sleeps.")
    assert not checks.refusal("I’m sorry, but I can’t do it.", "I'm sorry, but I can't.")


def test_one_that_does_not_feel_comfortable_rating_has_declined():
    assert declines("I don't feel comfortable rating this.")
    assert not declines("I don't feel it keeps the meaning. Rating: 2")
