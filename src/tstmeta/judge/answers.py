"""What a judge answered: a rating, or the status of an answer that has none.

The text is read in :mod:`.reading`; an answer in another form than was asked for is ``invalid``.
The reader never sees the texts that were judged.

Beside the chosen rating stands the expected one, where log-probabilities came: the mean over the
rating tokens, weighted by their probability (Liu et al., 2023, Section 2, "Scoring Function";
liu2023geval).  It needs every rating to be one token.
"""

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from ..schema import Status
from .base import Reply
from .prompts import Prompt
from .reading import WORDS, PlacedRating, readings, without_thoughts

#: Most characters of an answer that a row keeps; the whole answer stays in the store of answers.
SHOWN = 2_000
#: How a refusal in words begins; many servers never fill the field that is meant for it.
_REFUSAL = re.compile(
    r"\W{0,20}((i('m| am)? |my )?(so |very )?(sorry|apolog\w+|unfortunately)\b"
    r"|i (can('|no)t|can not|won't|will not|must decline|do(n't| not) feel comfortable)\b"
    r"|i('m| am) (unable|not able)\b|as an? (ai|(large )?language model)\b)",
    re.I,
)
#: Characters that may share a token with a rating, as in ``' 4'`` or ``'"4'``.
_AROUND = " \t\r\n\"'`‘’“”*:([{,}]).Ġ▁"


class Rating(NamedTuple):
    """One rating, or why there is none.

    Attributes:
        value: on the prompt's scale; NaN unless ``status`` is ok.
        detail: why there is no value, and the raw answer; empty for a rating.
        expected: on the scale; NaN where it cannot be known.
        mass: the probability that the rating tokens have together, from 0 to 1; NaN likewise.
        logprobs: what the server returned (``none``, ``chosen only``, ``top 5``), and why that
            gives no expected rating.
    """

    value: float
    status: Status
    detail: str
    explanation: str = ""
    expected: float = math.nan
    mass: float = math.nan
    logprobs: str = ""


def read(reply: Reply, prompt: Prompt, items: int) -> list[dict[str, Rating]]:
    """A dict dimension -> rating for each of so many rewrites, in the order they were shown in.

    For a pair, 1 stands with the better rewrite, 0 with the other one, .5 with both in a tie.
    """
    status, why = _no_answer(reply)
    if not why:
        rows = readings(reply.text, prompt, items, cut=reply.finish == "length")
        ratings = [{name: _rating(row[name], reply, prompt) for name in row} for row in rows]
        is_rated = any(rating.status is Status.OK for row in ratings for rating in row.values())
        opening = without_thoughts(reply.text).lstrip()[:300].replace("’", "'")
        if is_rated or not _REFUSAL.match(opening):
            if prompt.unit == "pair":
                [(name, second)] = ratings[1].items()
                value, expected = 1 - second.value, 1 - second.expected
                ratings[1] = {name: second._replace(value=value, expected=expected)}
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


def _rating(reading: PlacedRating, reply: Reply, prompt: Prompt) -> Rating:
    if reading.why:
        status = Status.TRUNCATED if reply.finish == "length" else Status.INVALID
        return Rating(math.nan, status, f"{reading.why}; the answer: {_shown(reply.text)}")
    values = WORDS.get(prompt.answer) or ratings_of(*prompt.scale)
    mean = expect(reply, reading.start, reading.end, values)
    return Rating(reading.value, Status.OK, "", _shown(reading.explanation), *mean)


def _shown(text: str, most: int = SHOWN) -> str:
    """A text as a row keeps it: cut, and in characters that can be written."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"


def ratings_of(low: float, high: float) -> dict[str, float]:
    """The whole ratings of a scale as written; none if it is long, or its ends are not whole."""
    if not (float(low).is_integer() and float(high).is_integer()) or high - low > 1000:
        return {}
    return {str(rating): float(rating) for rating in range(int(low), int(high) + 1)}


def expect(
    reply: Reply, start: int, end: int, values: Mapping[str, float]
) -> tuple[float, float, str]:
    """Expected rating, mass and words; ``values``: a rating as it is written -> its value."""
    most = max((len(token.alternatives) for token in reply.tokens), default=0)
    if not most:
        return math.nan, math.nan, "chosen only" if reply.tokens else "none"
    masses = _masses(reply, start, end, values)
    mass = math.fsum(masses.values())
    if not masses:
        why = "the rating is not one token, or other ratings may be several"
    elif not 0 < mass < 1 + 1e-3:  # servers round; more than one is no distribution
        why = f"the probabilities of the ratings sum to {mass:.3g}"
    else:
        mean = math.fsum(value * share for value, share in masses.items()) / mass
        mean = min(max(mean, min(masses)), max(masses))  # rounding may take it off the scale
        return mean, min(mass, 1.0), f"top {most}"
    return math.nan, math.nan, f"top {most}; {why}"


def _masses(reply: Reply, start: int, end: int, values: Mapping[str, float]) -> dict[float, float]:
    """Value -> probability in the place of the rating; none where it is not a token of its own."""
    at = -"".join(token.token for token in reply.tokens).find(reply.text)
    for token in reply.tokens if start >= 0 >= at else ():
        at += len(token.token)
        if at > start:
            break
    else:
        return {}
    # the chosen token is among the alternatives with some servers, and missing there with some
    choices = {**dict(token.alternatives), token.token: token.logprob}
    # tokenizers part all digits, or keep up to three
    parted = not any(len(bare) > 1 and bare.isdigit() for bare in map(_bare, choices))
    if _bare(token.token) != _bare(reply.text[start:end]) or (
        parted and any(len(text) > 1 and text.isdigit() for text in values)
    ):
        return {}
    masses: dict[float, float] = {}
    for text, logprob in choices.items():  # one rating may be written in two ways
        if (value := values.get(_bare(text))) is not None:
            masses[value] = masses.get(value, 0.0) + math.exp(min(logprob, 1.0))
    return masses


def _bare(token: str) -> str:
    """A token without what may stand around a rating, with digits of all scripts as 0 to 9."""
    plain = "".join(str(unicodedata.decimal(sign, sign)) for sign in token)
    return plain.strip(_AROUND).casefold()
