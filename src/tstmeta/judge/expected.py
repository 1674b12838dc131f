"""The rating that a judge expects: the mean over the rating tokens, weighted by their probability.

Liu et al. (2023, Section 2, "Scoring Function"; liu2023geval).  It needs every rating to be one
token; where an answer does not show that, there is no expected rating, and the row says why.
"""

import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .base import Reply, TokenChoice

#: Longest scale whose ratings are looked up among the tokens.
_MOST = 1000
#: Characters that may share a token with a rating, as in ``' 4'`` or ``'"4'``.
_AROUND = " \t\r\n\"'`*:([{,}]).Ġ▁"


class Expected(NamedTuple):
    """An expected rating.

    Attributes:
        value: on the scale of the values; NaN where it cannot be known.
        mass: the probability that the rating tokens have together, from 0 to 1; NaN likewise.
        logprobs: what the server returned (``none``, ``chosen only``, ``top 5``), and why that
            gives no expected rating.
    """

    value: float
    mass: float
    logprobs: str


def ratings_of(low: float, high: float) -> dict[str, float]:
    """The whole ratings of a scale as they are written; none where its ends are not whole."""
    if not (float(low).is_integer() and float(high).is_integer()) or high - low > _MOST:
        return {}
    return {str(rating): float(rating) for rating in range(int(low), int(high) + 1)}


def expect(reply: Reply, start: int, end: int, values: Mapping[str, float]) -> Expected:
    """The expected rating where the chosen one stands in the text of an answer.

    ``values``: a rating as it is written, casefolded -> its value.
    """
    if not reply.tokens:
        return Expected(math.nan, math.nan, "none")
    most = max(len(token.alternatives) for token in reply.tokens)
    if not most:
        return Expected(math.nan, math.nan, "chosen only")
    place, why = _place(reply, start, end)
    if not why and not _whole(place, reply.tokens, values):
        why = "ratings of several digits may be several tokens"
    masses = {} if why else _masses(reply.tokens[place], values)
    mass = math.fsum(masses.values())
    if not why and not 0 < mass < 1 + 1e-3:  # servers round; more than one is no distribution
        why = f"the probabilities of the ratings sum to {mass:.3g}"
    if why:
        return Expected(math.nan, math.nan, f"top {most}; {why}")
    mean = math.fsum(value * share for value, share in masses.items()) / mass
    mean = min(max(mean, min(masses)), max(masses))  # rounding may take it off the scale
    return Expected(mean, min(mass, 1.0), f"top {most}")


def _place(reply: Reply, start: int, end: int) -> tuple[int, str]:
    """The number of the token that is the rating, or why there is none."""
    if start < 0:
        return -1, "the rating stands at no one place"
    before = "".join(token.token for token in reply.tokens).find(reply.text)
    if before < 0:
        return -1, "the tokens do not spell the answer"
    at = 0
    for place, token in enumerate(reply.tokens):
        if at <= before + start < at + len(token.token):
            if at + len(token.token) < before + end:
                return -1, "the rating is more than one token"
            if _bare(token.token) != _bare(reply.text[start:end]):
                return -1, "the rating shares its token with other words"
            return place, ""
        at += len(token.token)
    return -1, "no token stands in the rating's place"


def _whole(place: int, tokens: Sequence[TokenChoice], values: Mapping[str, float]) -> bool:
    """Whether each rating can be one token: tokenizers part all digits, or keep up to three."""
    if all(len(text) == 1 or not text.isdigit() for text in values):
        return True
    texts = (tokens[place].token, *(token for token, _ in tokens[place].alternatives))
    return any(len(bare) > 1 and bare.isdigit() for bare in map(_bare, texts))


def _masses(token: TokenChoice, values: Mapping[str, float]) -> dict[float, float]:
    """Value -> probability; tokens that write the same rating in two ways are added up."""
    # the chosen token is among the alternatives with some servers, and missing there with some
    choices = {**dict(token.alternatives), token.token: token.logprob}
    masses: dict[float, float] = {}
    for text, logprob in choices.items():
        value = values.get(_bare(text))
        if value is not None:
            masses[value] = masses.get(value, 0.0) + math.exp(min(logprob, 1.0))
    return masses


def _bare(token: str) -> str:
    """A token without what may stand around a rating, with digits of all scripts as 0 to 9."""
    plain = "".join(str(unicodedata.decimal(sign, sign)) for sign in token)
    return plain.strip(_AROUND).casefold()
