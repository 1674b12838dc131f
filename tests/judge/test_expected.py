"""Expected ratings: by hand on small distributions, and why there is none."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.judge.answers import read
from tstmeta.judge.base import Reply, TokenChoice
from tstmeta.judge.expected import expect, ratings_of
from tstmeta.judge.prompts import load

FIVE = ratings_of(1, 5)
HUNDRED = ratings_of(0, 100)


def choice(token, probability=1.0, **others):
    """A chosen token and the tokens that could stand in its place, by probability."""
    rivals = {token: probability, **others}
    return TokenChoice(
        token,
        math.log(probability),
        tuple((name, math.log(share)) for name, share in rivals.items()),
    )


def reply(*tokens, text=None):
    """An answer that its tokens spell."""
    return Reply(text="".join(t.token for t in tokens) if text is None else text, tokens=tokens)


TWO_DIGITS = choice("80", 0.5, **{"75": 0.3, "100": 0.1, "8": 0.1})


@pytest.mark.parametrize(
    ("token", "values", "mean"),
    [
        (TokenChoice("4", math.log(0.5), (("5", math.log(0.25)),)), FIVE, (4 * 2 + 5) / 3),
        (TWO_DIGITS, HUNDRED, 80 * 0.5 + 75 * 0.3 + 100 * 0.1 + 8 * 0.1),
    ],
    ids=["the chosen token is not listed", "the tokenizer keeps digits together"],
)
def test_the_mean_by_hand(token, values, mean):
    found = expect(reply(token), 0, len(token.token), values)
    assert found.value == pytest.approx(mean)


@given(
    st.dictionaries(st.sampled_from("12345"), st.floats(0.01, 1), min_size=1),
    st.floats(min_value=0.0, max_value=1.0),
)
def test_the_mean_is_that_of_the_renormalised_distribution(shares, rest):
    total = sum(shares.values()) + rest
    tokens = {name: share / total for name, share in shares.items()}
    chosen = max(tokens, key=tokens.get)
    found = expect(reply(choice(chosen, tokens[chosen], **tokens)), 0, 1, FIVE)
    mass = sum(tokens.values())
    assert found.mass == pytest.approx(mass)
    assert found.value == pytest.approx(sum(int(n) * p for n, p in tokens.items()) / mass)
    assert 1 <= found.value <= 5


@pytest.mark.parametrize(
    ("tokens", "start", "end", "values", "why"),
    [
        ((), 0, 1, FIVE, "none"),
        ((TokenChoice("4", -0.1),), 0, 1, FIVE, "chosen only"),
        ((choice("8", 1, **{"9": 0.1}), choice("0")), 0, 2, HUNDRED, "more than one token"),
        ((choice("8", 0.6, **{"9": 0.4}),), 0, 1, HUNDRED, "may be several tokens"),
        ((choice("4", 0.6, **{"5": 0.4}),), 0, 1, {}, "sum to 0"),
        ((choice("is4", 0.6, **{"5": 0.4}),), 2, 3, FIVE, "shares its token"),
        ((choice("4", 0.9, **{"5": 0.9}),), 0, 1, FIVE, "sum to 1."),
        ((TokenChoice("4", -0.1, (("5", math.nan),)),), 0, 1, FIVE, "sum to nan"),
    ],
)
def test_where_there_is_none_the_reason_is_told(tokens, start, end, values, why):
    found = expect(reply(*tokens, text=None if tokens else "4"), start, end, values)
    assert math.isnan(found.value)
    assert math.isnan(found.mass)
    assert why in found.logprobs


def test_each_rating_of_a_json_answer_has_its_own_distribution():
    tokens = [choice(token) for token in ('{"', "meaning", '":', " ")]
    tokens += [choice("4", 0.5, **{"5": 0.5})]
    tokens += [choice(token) for token in (",", ' "', "style", '":', " ")]
    tokens += [choice("2", 0.75, **{"1": 0.25}), choice("}")]
    (row,) = read(reply(*tokens), load("pauli2025"), 1)
    assert (row["content"].value, row["content"].expected) == (4, pytest.approx(4.5))
    assert (row["style"].value, row["style"].expected) == (2, pytest.approx(1.75))
    assert row["style"].mass == pytest.approx(1)
    assert row["style"].logprobs == "top 2"


def test_each_rewrite_of_a_source_has_its_own_distribution():
    rows = [("2", "70", {"60": 0.5}), ("1", "80", {"100": 0.5})]
    tokens = [choice('{"ratings": [')]
    for number, rating, others in rows:
        tokens += [choice(f'{{"number": {number}, "content": '), choice(rating, 0.5, **others)]
        tokens += [choice("}" + ("]}" if number == "1" else ", "))]
    found = read(reply(*tokens), load("lai2023-content"), 2)
    assert [row["content"].value for row in found] == [80, 70]
    assert [row["content"].expected for row in found] == [pytest.approx(90), pytest.approx(65)]


def test_a_rating_that_stands_at_no_one_place_has_no_expected_one():
    whole = '{"meaning": 4, "style": 2}'
    tokens = [choice(sign) for sign in f" {whole} {whole}"]
    (row,) = read(reply(*tokens, text=f"{whole} {whole}"), load("pauli2025"), 1)
    assert row["content"].value == 4
    assert math.isnan(row["content"].expected)
    assert "no one place" in row["content"].logprobs


def test_lines_and_words_have_expected_ratings_too():
    answer = reply(choice("Rating:"), choice(" "), choice("4", 0.5, **{"3": 0.5}), choice("."))
    assert read(answer, load("content"), 1)[0]["content"].expected == pytest.approx(3.5)
    answer = reply(choice("Yes", 0.6, **{"No": 0.2, "yes": 0.1, "I": 0.1}), choice("."))
    binary = read(answer, load("mukherjee2025-binary"), 1)[0]["style"]
    assert binary.expected == pytest.approx(0.7 / 0.9)
    assert binary.mass == pytest.approx(0.9)
    pair = read(reply(choice("1", 0.8, **{"2": 0.2})), load("pair"), 2)
    assert [row["overall"].expected for row in pair] == [pytest.approx(0.8), pytest.approx(0.2)]


@given(st.text(), st.lists(st.tuples(st.text(max_size=3), st.floats(-20, 1))), st.integers(0, 9))
def test_no_tokens_raise(text, pairs, start):
    tokens = tuple(TokenChoice(token, logprob, tuple(pairs)) for token, logprob in pairs)
    found = expect(Reply(text=text, tokens=tokens), start, start + 1, FIVE)
    assert math.isnan(found.value) or 1 <= found.value <= 5
    rows = read(Reply(text=json.dumps({"content": 4}), tokens=tokens), load("content"), 1)
    assert rows[0]["content"].value == 4
