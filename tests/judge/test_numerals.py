"""Ratings in words: what counts as one, and what does not."""

from __future__ import annotations

import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.judge.numerals import Scale, decide, labelled, plain, readings, words

FIVE, HUNDRED = Scale(1, 5), Scale(0, 100)


def rating(text, scale=FIVE):
    return decide(readings(text, scale), scale)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("4", 4),
        (" 4\n", 4),
        ("4.", 4),
        ("**4**", 4),
        ("[4]", 4),
        ('"4"', 4),
        ("4.5", 4.5),
        ("4,5", 4.5),
        ("4/5", 4),
        ("4 / 5", 4),
        ("4 out of 5", 4),
        ("4 of 5", 4),
        ("It deserves 4/5 because little is lost.", 4),
        ("I'd say 4 out of 5.", 4),
        ("Rating: 4", 4),
        ("**Rating:** 4", 4),
        ("Rating = 4", 4),
        ("Rating - 4", 4),
        ("Rating\n4", 4),
        ("The rating is 4.", 4),
        ("I rate it 4 because 2 words are lost.", 4),
        ("I would give this rewrite a 4.", 4),
        ("Score: 4 (on a scale of 1 to 5)", 4),
        ("On a scale from 1-5 I give it a 4.", 4),
        ("4\n\nThe rewrite has 2 errors.", 4),
        ("4 - the rewrite drops 2 words", 4),
        ("The source has 3 words, the rewrite 7.\n\n4", 4),
        ("4 of the 5 facts are kept. Rating: 2", 2),
        ("4 stars", 4),
        ("Rating (on a scale of 1 to 5): 4", 4),
        ("Fluency rating (on a scale of 1 to 5) = 4", 4),
        ("Meaning preservation score (1-5): **4**", 4),
        ("The final answer is \\boxed{4}.", 4),
        ("Rating: 4 on a Likert scale", 4),
        ("Rating: 4\n- 2 errors found", 4),
        ("Rating: 4. Rating: 4", 4),
        ("४", 4),
        ("৪", 4),
        ("٤", 4),
        ("\uff14", 4),
        ("रेटिंग: ४/५", 4),
        ("রেটিং: ৪", 4),
        ("४।", 4),
    ],
)
def test_ratings_as_judges_write_them(text, value):
    assert rating(text).value == value


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no rating found"),
        ("four", "no rating found"),
        ("I cannot rate this text.", "no rating found"),
        ("The rewrite has 3 errors.", "no rating found"),
        ("4 of 5 facts are kept.", "no rating found"),
        ("3 words are lost", "no rating found"),
        ("4-letter words are lost", "no rating found"),
        ("4th", "no rating found"),
        ("v4", "no rating found"),
        ("I gave 3 reasons", "no rating found"),
        ("1-5", "no rating found"),
        ("1 to 5", "no rating found"),
        ("7 of 5", "7 is not from 1 to 5"),
        ("7/5", "7 is not from 1 to 5"),
        ("0", "0 is not from 1 to 5"),
        ("6", "6 is not from 1 to 5"),
        ("-4", "-4 is not from 1 to 5"),
        ("5.1", "5.1 is not from 1 to 5"),
        ("999999999999", "1e+12 is not from 1 to 5"),
        ("8/10", "another scale"),
        ("80%", "another scale"),
        ("4%", "another scale"),
        ("4-5", "interval"),
        ("4 or 5", "interval"),
        ("Rating: 3 to 4", "interval"),
        ("1,000", "thousands"),
        ("Rating: 3. On reflection, rating: 4", "two different ratings"),
        ("4/5 at first, then 3/5", "two different ratings"),
        ("3\n4", "two different ratings"),
        ("4\nRating: 2", "two different ratings"),
    ],
)
def test_what_is_no_rating_says_why(text, why):
    found = rating(text)
    assert math.isnan(found.value)
    assert why in found.why


@pytest.mark.parametrize(
    ("text", "value"),
    [("80", 80), ("80%", 80), ("80 %", 80), ("80/100", 80), ("100", 100), ("0", 0), ("62.5", 62.5)],
)
def test_a_scale_to_a_hundred_takes_percent(text, value):
    assert rating(text, HUNDRED).value == value


@pytest.mark.parametrize("scale", [FIVE, HUNDRED, Scale(0, 1), Scale(1, 10), Scale(0.5, 7.5)])
@given(text=st.text(alphabet=st.sampled_from(list("0123456789 /.,-:%*\nofatingrRsce४৫"))))
def test_a_rating_is_on_the_scale_and_stands_where_it_says(scale, text):
    found = rating(text, scale)
    if found.why:
        assert math.isnan(found.value)
    else:
        assert scale.low <= found.value <= scale.high
        written = plain(text)[found.start : found.end].replace("−", "-").replace(",", ".")
        assert float(written) == found.value


@given(st.text())
def test_digits_of_all_scripts_are_read_place_by_place(text):
    read = plain(text)
    assert len(read) == len(text)
    for before, after in zip(text, read, strict=True):
        digit = unicodedata.decimal(before, None)
        assert after == (before if digit is None else str(digit))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Meaning: 4, Style: 3", 4),
        ("meaning is 4", 4),
        ("- **Meaning preservation**: 4/5\n- **Style**: 3/5", 4),
        ("“meaning”: 4", 4),
        ("meaning=4;style=3", 4),
        ("4 for meaning", None),
        ("The meaning has 3 parts.", None),
        ("Demeaning: 4", None),
        ("Rating: 4", None),
    ],
)
def test_a_rating_of_one_of_several_dimensions_stands_behind_its_name(text, value):
    found = decide(labelled(text, FIVE, ["meaning"]), FIVE)
    assert found.value == value if value else found.why == "no rating found"


YES_NO = {"yes": 1.0, "no": 0.0, "हाँ": 1.0, "না": 0.0}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", 1),
        ("Yes.", 1),
        ("**NO**", 0),
        ("No, it is not.", 0),
        ("Answer: yes", 1),
        ('{"answer": "no"}', 0),
        ("The answer is yes.", 1),
        ("It is polite throughout.\nYes", 1),
        ("हाँ", 1),
        ("না।", 0),
        ("no problem at all", None),
        ("The answer is no different", None),
        ("yes and no", None),
        ("yesterday", None),
        ("nobody", None),
        ("Yes.\nNo.", None),
        ("", None),
    ],
)
def test_answers_of_one_word(text, value):
    found = decide(words(text, YES_NO), Scale(0, 1))
    assert found.value == value if value is not None else found.why
