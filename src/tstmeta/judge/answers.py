"""What a judge answered: a rating, or the status of an answer that has none.

The text is read in :mod:`.reading`; an answer in another form than was asked for is ``invalid``.
The reader never sees the texts that were judged.
"""

import math
import re
from typing import NamedTuple

from ..schema import Status
from .base import Reply
from .prompts import Prompt
from .reading import PlacedRating, readings, without_thoughts

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000
#: How a refusal in words begins; many servers never fill the field that is meant for it.
_REFUSAL = re.compile(
    r"\W{0,20}((i('m| am)? |my )?(so |very )?(sorry|apolog\w+|unfortunately)\b"
    r"|i (can('|no)t|can not|won't|will not|must decline|do(n't| not) feel comfortable)\b"
    r"|i('m| am) (unable|not able)\b|as an? (ai|(large )?language model)\b)",
    re.I,
)


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
    if not why:
        rows = readings(reply.text, prompt, items, cut=reply.finish == "length")
        ratings = [{name: _rating(row[name], reply) for name in row} for row in rows]
        is_rated = any(rating.status is Status.OK for row in ratings for rating in row.values())
        opening = without_thoughts(reply.text).lstrip()[:300].replace("’", "'")
        if is_rated or not _REFUSAL.match(opening):
            if prompt.unit == "pair":
                [(name, second)] = ratings[1].items()
                ratings[1] = {name: second._replace(value=1 - second.value)}
            return ratings
        status, why = Status.REFUSED, f"a refusal in words; the answer: {_shown(reply.text)}"
    rating = Rating(math.nan, status, _shown(why, SHOWN + 100))
    return [dict.fromkeys(prompt.dimensions, rating)] * items


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


def _rating(reading: PlacedRating, reply: Reply) -> Rating:
    if reading.why:
        status = Status.TRUNCATED if reply.finish == "length" else Status.INVALID
        return Rating(math.nan, status, f"{reading.why}; the answer: {_shown(reply.text)}")
    return Rating(reading.value, Status.OK, "", _shown(reading.explanation))


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: cut, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def ratings_of(low: float, high: float) -> dict[str, float]:
    """The whole ratings of a scale as written; none if it is long, or its ends are not whole."""
    if not (float(low).is_integer() and float(high).is_integer()) or high - low > 1000:
        return {}
    return {str(rating): float(rating) for rating in range(int(low), int(high) + 1)}
