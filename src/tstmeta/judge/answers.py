"""Reading what a judge answered: a rating, or a row that says why there is none.

Nothing is ever put in a rating's place.  A refusal, an answer that was cut short, a rating off the
scale or two that differ are rows with a status and the raw words.  The reader never sees the texts
that were judged, so nothing in them can change how an answer is read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import NamedTuple

from ..schema import Status
from . import expected, numerals
from .base import Reply
from .lists import Points
from .loose import documents
from .numerals import Reading, Scale
from .parts import NONE, SCORES, Found, aloud, keys_of, leaves_of, reasons_in, valued
from .prompts import Prompt
from .refusals import declines
from .several import several

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000
_YES_NO = {
    **dict.fromkeys(("yes", "true", "1", "हाँ", "हां", "হ্যাঁ"), 1.0),
    **dict.fromkeys(("no", "false", "0", "नहीं", "না"), 0.0),
}
_FIRST = {
    **dict.fromkeys(("1", "a", "first", "the first", "rewrite 1", "text 1"), 1.0),
    **dict.fromkeys(("2", "b", "second", "the second", "rewrite 2", "text 2"), 0.0),
    **dict.fromkeys(("tie", "equal", "neither", "both", "same"), 0.5),
}
_CHOICES = (*numerals.LABELS, "better", "best", "winner", "choice", "choose", "prefer", "preferred")
#: Nothing but a scale's end and signs, up to the end of the answer.
_SAID = re.compile(r"(?:\s{0,3}(?:/|out of|of)\s{0,3}\d{1,6})?(?:\s?(?:points?|stars?))?[\W_]*\Z")
_BETTER = r"(?=[ \t]{1,3}(?:is|does it)(?: clearly| slightly| much)?[ \t]{1,3}(?:the )?better)"


class Rating(NamedTuple):
    """One rating, or why there is none.

    Attributes:
        value: on the prompt's scale; NaN unless ``status`` is ok.
        status: ok, refused, truncated (the answer ended before the rating did), invalid, error.
        detail: why there is no value, and the raw answer; empty for a rating.
        explanation: the judge's reasons, if it gave any where a JSON answer has them.
        expected: the mean over all ratings, weighted by their probability; NaN where unknown.
        mass: the probability that all ratings had together at this place.
        logprobs: what log-probabilities came, or why they give no expected rating.
    """

    value: float
    status: Status
    detail: str
    explanation: str = ""
    expected: float = math.nan
    mass: float = math.nan
    logprobs: str = ""


def read(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, Rating]]:
    """The ratings in an answer.

    Args:
        reply: what came back.
        prompt: what was asked.
        items: how many rewrites it was asked about.

    Returns:
        A dict dimension -> rating for each rewrite, in the order they were asked in; always
        ``items`` long with all dimensions.  For a pair, 1 stands with the better rewrite, 0 with
        the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    if why:
        rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
        return [dict.fromkeys(prompt.dimensions, rating) for _ in range(items)]
    text = aloud(reply.text)
    if prompt.unit == "source":
        found = several(text, reply.finish == "length", prompt, items)
    elif prompt.answer in ("yes-no", "first"):
        found = [_word(text, prompt)] * items
    else:
        found = [_one(text, prompt)]
    if declines(text) and _nothing(found, text, prompt):
        why = f"a refusal in words; the answer: {_shown(reply.text)}"
        rating = Rating(math.nan, Status.REFUSED, why)
        return [dict.fromkeys(prompt.dimensions, rating) for _ in range(items)]
    ratings = [
        {name: _rating(one.get(name, Found(NONE)), reply, prompt) for name in prompt.dimensions}
        for one in found
    ]
    if prompt.answer == "first":
        ratings[1:] = [{name: _other(one) for name, one in row.items()} for row in ratings[1:]]
    return ratings


def _no_answer(reply: Reply) -> tuple[Status, str]:
    """Status and words of an answer without words; ok and nothing if there are some to read."""
    if reply.failure:
        return Status.ERROR, reply.failure
    if reply.refusal:
        return Status.REFUSED, reply.refusal
    if reply.finish == "content_filter":
        said = f": {_shown(reply.text)}" if reply.text else ""
        return Status.REFUSED, f"held back by the server's content filter{said}"
    if not reply.text.strip():
        if reply.finish == "length":
            return Status.TRUNCATED, "cut short before its first word"
        return Status.INVALID, "an empty answer"
    return Status.OK, ""


def _rating(found: Found, reply: Reply, prompt: Prompt) -> Rating:
    reading, scale = found.reading, Scale(prompt.low, prompt.high)
    cut = reply.finish == "length"
    why = reading.why
    if cut and not why and prompt.answer in ("json", "number"):
        why = _half(reading, reply.text, scale)
    if cut and not why and found.spoken:
        why = _unsure(reading, aloud(reply.text))
    if why:
        missing = reading.start < 0 or not reading.why
        status = Status.TRUNCATED if cut and missing else Status.INVALID
        return Rating(math.nan, status, f"{why}; the answer: {_shown(reply.text)}")
    values = {"yes-no": _YES_NO, "first": _FIRST}.get(prompt.answer)
    known = expected.words_of(values) if values else expected.ratings_of(scale)
    mean = expected.expect(reply, reading.start, reading.end, known)
    explanation = _shown(found.explanation)
    return Rating(reading.value, Status.OK, "", explanation, mean.value, mean.mass, mean.logprobs)


def _half(reading: Reading, text: str, scale: Scale) -> str:
    """What is wrong where an answer was cut right behind a rating that could have gone on.

    "4" is whole on a scale from 1 to 5, for no rating there has two digits; "1" is not to 100.
    """
    goes_on = reading.end >= len(text) and reading.value * 10 <= scale.high
    return "cut short, perhaps inside the rating" if goes_on else ""


def _unsure(reading: Reading, text: str) -> str:
    """What is wrong with a rating in words that were cut: it may have been a thought or a point.

    Only the last thing said is a rating there, or what stands in whole JSON.
    """
    if any(leaf.start <= reading.start < leaf.end for leaf in leaves_of(text)):
        return ""
    if not _SAID.match(text, reading.end):
        return "cut short while it spoke on behind a rating"
    if Points(numerals.plain(text)).has(reading.start, reading.end, at_end=True):
        return "cut short behind a number that may count a list"
    return ""


def _nothing(found: Iterable[dict[str, Found]], text: str, prompt: Prompt) -> bool:
    """Whether no rating was found in an answer, neither a good one nor a bad one."""
    all_found = [one.reading for row in found for one in row.values()]
    if not all(reading.why for reading in all_found):
        return False
    if all(reading.start < 0 for reading in all_found):
        return True
    return not numerals.readings(text, Scale(prompt.low, prompt.high))


def _other(rating: Rating) -> Rating:
    """The rating of the second of a pair."""
    return rating._replace(value=1 - rating.value, expected=1 - rating.expected)


def _word(text: str, prompt: Prompt) -> dict[str, Found]:
    """An answer in one word."""
    if prompt.answer == "first":
        found = numerals.words(text, _FIRST, _CHOICES, _BETTER)
    else:
        found = numerals.words(text, _YES_NO, (*numerals.LABELS, *prompt.dimensions))
    reading = numerals.decide(found, Scale(0, 1))
    return {prompt.dimensions[0]: Found(reading, spoken=True)}


def _one(text: str, prompt: Prompt) -> dict[str, Found]:
    """The ratings of one rewrite: from JSON where there is some, else from words."""
    docs = documents(text)
    branches = [branch for doc in docs for branch in doc.branches()]
    reasons = reasons_in(branches)
    scale, found = Scale(prompt.low, prompt.high), {}
    for dimension in prompt.dimensions:
        keys = keys_of(prompt, dimension)
        values = [value for branch in branches for value in branch.get(*keys)]
        if not values and len(prompt.dimensions) == 1:
            values = [value for branch in branches for value in branch.get(*SCORES)]
        if values:
            reading = numerals.decide([valued(value, scale) for value in values], scale)
        elif len(prompt.dimensions) == 1:
            labels = (*numerals.LABELS, *keys)
            reading = numerals.decide(numerals.readings(text, scale, labels), scale)
        else:
            reading = numerals.decide(numerals.labelled(text, scale, keys), scale)
        found[dimension] = Found(reading, reasons, spoken=not values)
    return found


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: at most so long, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"
