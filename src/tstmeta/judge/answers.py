"""What a judge answered: a rating, or the status of an answer that has none.

The text is read in :mod:`.reading`; an answer in another form than was asked for is ``invalid``.
The reader never sees the texts that were judged.
"""

import math
from typing import NamedTuple

from ..schema import Status
from .base import Reply
from .prompts import Prompt
from .reading import Reading, readings

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000


class Rating(NamedTuple):
    """One rating, or why there is none.

    Attributes:
        value: on the prompt's scale; NaN unless ``status`` is ok.
        detail: why there is no value, and the raw answer; empty for a rating.
    """

    value: float
    status: Status
    detail: str
    explanation: str = ""


def read(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, Rating]]:
    """A dict dimension -> rating for each of so many rewrites, in the order they were shown in.

    For a pair, 1 stands with the better rewrite, 0 with the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    if why:
        rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
        return [dict.fromkeys(prompt.dimensions, rating)] * items
    rows = readings(reply.text, prompt, items, cut=reply.finish == "length")
    ratings = [{name: _rating(row[name], reply) for name in row} for row in rows]
    if prompt.unit == "pair":
        [(name, second)] = ratings[1].items()
        ratings[1] = {name: second._replace(value=1 - second.value)}
    return ratings


def _no_answer(reply: Reply) -> tuple[Status, str]:
    """Status and reason of an answer without words; ok and nothing if there are some to read."""
    if reply.failure:
        return Status.ERROR, reply.failure
    if reply.refusal:
        return Status.REFUSED, reply.refusal
    if reply.finish == "content_filter":
        return Status.REFUSED, f"held back by the server's content filter: {_shown(reply.text)}"
    if not reply.text.strip():
        if reply.finish == "length":
            return Status.TRUNCATED, "cut short before its first word"
        return Status.INVALID, "an empty answer"
    return Status.OK, ""


def _rating(reading: Reading, reply: Reply) -> Rating:
    if reading.why:
        status = Status.TRUNCATED if reply.finish == "length" else Status.INVALID
        return Rating(math.nan, status, f"{reading.why}; the answer: {_shown(reply.text)}")
    return Rating(reading.value, Status.OK, "", _shown(reading.explanation))


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: cut, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"
