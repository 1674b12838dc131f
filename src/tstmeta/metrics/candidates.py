"""Which words of a text a question is asked about: named spans and noun phrases.

QuestEval asks about named entities and noun chunks that a parser finds (Scialom et al., 2021).  A
rule of ours stands in, which needs no model and knows English only.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .text import sentences

#: How upstream's program limits questions about a long text: those of its first sentences.
SENTENCES = 5
#: The rule in signatures; its number goes up when its answers change.
RULE = f"rule-1,{SENTENCES} sentences"

_WORDS = {
    kind: frozenset(words.split())
    for kind, words in tomllib.loads(
        (Path(__file__).parent / "closed_words.toml").read_text(encoding="utf-8")
    ).items()
}
#: Words after which a single word is an adjective.
_DESCRIBING = _WORDS["degrees"] | _WORDS["states"]
_CLOSED = frozenset().union(*_WORDS.values())
#: Words that may stand inside a name.
_LINKS = frozenset({"of", "the", "and", "de", "la", "van", "von"})
_TOKEN = re.compile(
    r"[$£€]?\d[\d,.:]*\d%?|[$£€]?\d%?|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[^\w\s]", re.UNICODE
)


class _Token(NamedTuple):
    text: str
    low: str
    start: int
    end: int
    word: bool
    number: bool
    determiner: bool
    participle: bool  # it ends as a form of a verb does: "told" does not, "served" does
    closed: bool  # no noun phrase goes on here


def _token(match: re.Match[str]) -> _Token:
    text = match.group()
    low = text.lower().replace("’", "'")
    word, number = text[0].isalpha(), any(map(str.isdigit, text))
    participle = len(text) > 4 and low.endswith(("ed", "ing"))
    closed = not (word or number) or low in _CLOSED or _adverb(low)
    determiner = low in _WORDS["determiners"]
    return _Token(text, low, *match.span(), word, number, determiner, participle, closed)


def by_rule(text: str) -> list[str]:
    """Named spans, then noun phrases, of the first sentences of an English text, each once."""
    whole = unicodedata.normalize("NFC", text)  # a letter with its accent is one sign
    spans: list[str] = []
    phrases: list[str] = []
    for part in sentences(whole)[:SENTENCES]:
        tokens = list(map(_token, _TOKEN.finditer(part)))
        spans += _named(part, tokens)
        phrases += _phrases(part, tokens)
    return list(dict.fromkeys([*spans, *phrases]))


def _named(text: str, tokens: list[_Token]) -> Iterator[str]:
    """Numbers, and runs of capitalised words, short links ("of the") included.

    At the start of a sentence a run needs a second capitalised word, and a sentence shouted in
    capitals has none.
    """
    words = [token for token in tokens if token.word]
    shouted = len(words) > 2 and sum(token.text.isupper() for token in words) > len(words) / 2
    capitals = {
        token.start
        for token in words
        if token.text[0].isupper() and len(token.text) > 1 and not (token.closed or shouted)
    }
    start = words[0].start if words else -1
    run: list[_Token] = []
    for place, token in enumerate([*tokens, None]):
        if token is not None and token.number:
            yield token.text
        if token is not None and token.start in capitals:
            run.append(token)
        elif not (run and token is not None and _links(tokens, place, capitals)):
            if run and (len(run) > 1 or run[0].start != start):
                yield text[run[0].start : run[-1].end]
            run = []


def _links(tokens: list[_Token], place: int, capitals: set[int]) -> bool:
    """Whether a token is a link of a name: one or two of them between two capitalised words."""
    first = end = place
    while first > 0 and tokens[first - 1].text in _LINKS:
        first -= 1
    while end < len(tokens) and tokens[end].text in _LINKS:
        end += 1
    joined = any(token.text == "of" for token in tokens[first:end])
    ends = end < len(tokens) and tokens[end].start in capitals
    return end > place and joined and ends and end - first <= 2


def _phrases(text: str, tokens: list[_Token]) -> Iterator[str]:
    """A determiner, where there is one, and the words after it up to a mark or a closed word.

    A word in -ed or -ing closes a phrase, too, unless it comes first, as in "the fried rice".
    """
    run: list[_Token] = []
    before = ""
    for token in [*tokens, None]:
        if token is not None and token.word and token.determiner:
            yield from _phrase(text, run, before)
            run, before = [token], ""
        elif (
            token is None
            or token.closed
            or (token.participle and not all(earlier.determiner for earlier in run))
        ):
            yield from _phrase(text, run, before)
            run, before = [], token.low if token is not None else ""
        else:
            run.append(token)


def _phrase(text: str, run: list[_Token], before: str) -> Iterator[str]:
    """The text of a run, if it is a phrase; ``before`` is the word that stands before it.

    A single word is none if it is an adjective ("was cold", "so slow") or ends in -ed or -ing.
    """
    if not any(token.word and not token.determiner for token in run):
        return
    described = before in _DESCRIBING or _adverb(before)
    if len(run) > 1 or not (described or run[0].participle):
        yield text[run[0].start : run[-1].end]


def _adverb(low: str) -> bool:
    return low.endswith("ly") and len(low) > 4
