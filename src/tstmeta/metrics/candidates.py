"""Which words of a text a question is asked about: named spans and noun phrases.

QuestEval asks about named entities and noun chunks that a parser finds (Scialom et al., 2021).  A
parser of spaCy is taken where one is given; else a rule of ours stands in, which needs no model and
knows English only.

The rule.  A noun phrase is a determiner, where there is one, and the words after it up to the next
mark or *closed* word: one that is no part of a noun phrase (pronouns, prepositions, conjunctions,
auxiliaries, question words, common adverbs and verbs, words in -ly).  Inside a phrase a word in -ed
or -ing closes it too, unless it comes first, as in "the fried rice".  A single word without
determiner is no phrase after a form of "be" or its like, nor after an adverb in -ly or of degree:
there it is an adjective ("was cold", "so slow").  A named span is a run of capitalised words, short
links ("of the") included; at the start of a sentence it needs a second capitalised word, and a
sentence shouted in capitals has none.  A number is a named span, and a part of the phrase that it
stands in ("5 stars").  A single word in -ed or -ing without determiner is no phrase.
"""

from __future__ import annotations

import importlib
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..schema import TstmetaError
from .text import sentences

#: How upstream's program limits questions about a long text: those of its first sentences.
SENTENCES = 5
#: The parser that upstream's program takes.
PARSER = "en_core_web_sm"

_WORDS = {
    kind: frozenset(words.split())
    for kind, words in tomllib.loads(
        (Path(__file__).parent / "closed_words.toml").read_text(encoding="utf-8")
    ).items()
}
_DETERMINERS = _WORDS["determiners"]
#: Words after which a single word is an adjective.
_DESCRIBING = _WORDS["degrees"] | _WORDS["states"]
_CLOSED = frozenset().union(*_WORDS.values())
#: Words that may stand inside a name.
_LINKS = frozenset({"of", "the", "and", "de", "la", "van", "von"})
_TOKEN = re.compile(
    r"[$£€]?\d[\d,.:]*\d%?|[$£€]?\d%?|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[^\w\s]", re.UNICODE
)


class Candidates(NamedTuple):
    """A way to find answers to ask about; ``name`` stands in the signature."""

    name: str
    find: Callable[[str], list[str]]


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def participle(self) -> bool:
        """Whether the word ends as a form of a verb does: "told" does not, "served" does."""
        return len(self.text) > 4 and self.low.endswith(("ed", "ing"))

    @property
    def low(self) -> str:
        return self.text.lower().replace("’", "'")

    @property
    def word(self) -> bool:
        return self.text[0].isalpha()

    @property
    def number(self) -> bool:
        return any(sign.isdigit() for sign in self.text)


def by_rule(text: str) -> list[str]:
    """Named spans, then noun phrases, of the first sentences of an English text, each once."""
    whole = unicodedata.normalize("NFC", text)  # a letter with its accent is one sign
    first = [one for one in sentences(whole)[:SENTENCES] if one.strip()]
    tokens = [(one, list(_tokens(one))) for one in first]
    spans = [span for one, row in tokens for span in _named(one, row)]
    phrases = [phrase for one, row in tokens for phrase in _phrases(one, row)]
    return list(dict.fromkeys([*spans, *phrases]))


def by_parser(pipeline: Any) -> Candidates:
    """Entities, then noun chunks, as a pipeline of spaCy finds them in the first sentences.

    Repeats are kept, as upstream's program keeps them: each weighs.

    Args:
        pipeline: makes of a text an object with ``ents`` and ``noun_chunks``.
    """
    about = getattr(pipeline, "meta", {})
    name = f"{about.get('lang', '')}_{about.get('name', 'parser')}-{about.get('version', '')}"

    def find(text: str) -> list[str]:
        parsed = pipeline(" ".join(sentences(text)[:SENTENCES]))
        return [one.text for found in (parsed.ents, parsed.noun_chunks) for one in found]

    return Candidates(f"{name.strip('_-')},{SENTENCES} sentences", find)


def parser_missing() -> str:
    """What to do when spaCy or its English parser is not here; empty when both are."""
    if find_spec("spacy") and find_spec(PARSER):
        return ""
    return (
        f"the parser is not here: pip install spacy, then python -m spacy download {PARSER}; or "
        "leave the word spacy out, and a rule finds what to ask about"
    )


def spacy() -> Candidates:
    """Candidates by spaCy's small English parser, as upstream's program finds them.

    Raises:
        TstmetaError: spaCy or the parser is not installed; says what to do.
    """
    if absent := parser_missing():
        raise TstmetaError(absent)
    return by_parser(importlib.import_module("spacy").load(PARSER))


#: The rule of ours; its number goes up when its answers change.
RULE = Candidates(f"rule-1,{SENTENCES} sentences", by_rule)


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        yield _Token(match.group(), match.start(), match.end())


def _named(text: str, tokens: list[_Token]) -> Iterator[str]:
    words = [token for token in tokens if token.word]
    big = [token for token in words if token.text[0].isupper() and len(token.text) > 1]
    shouted = len(words) > 2 and sum(token.text.isupper() for token in words) > len(words) / 2
    names = set() if shouted else {token.start for token in big if not _closes(token)}
    run: list[_Token] = []
    for place, token in enumerate([*tokens, None]):
        if token is not None and token.number:
            yield token.text
        if token is not None and token.start in names:
            run.append(token)
        elif not (run and token is not None and _links(tokens, place, names)):
            if run and (len(run) > 1 or run[0].start != _start(tokens)):
                yield text[run[0].start : run[-1].end]
            run = []


def _links(tokens: list[_Token], place: int, names: set[int]) -> bool:
    """Whether a token is a link of a name: one or two of them between two capitalised words."""
    ahead = tokens[place : place + 3]
    kept = 0
    while kept < len(ahead) and ahead[kept].text in _LINKS:
        kept += 1
    behind = place - 1
    while behind >= 0 and tokens[behind].text in _LINKS:
        behind -= 1
    joined = "of" in {one.text for one in tokens[behind + 1 : place + kept]}
    ended = kept < len(ahead) and ahead[kept].start in names
    return kept > 0 and joined and ended and place + kept - behind <= 3


def _start(tokens: list[_Token]) -> int:
    return next((token.start for token in tokens if token.word), -1)


def _phrases(text: str, tokens: list[_Token]) -> Iterator[str]:
    run: list[_Token] = []
    before = ""
    for token in [*tokens, None]:
        if token is not None and token.word and token.low in _DETERMINERS:
            yield from _phrase(text, run, before)
            run, before = [token], ""
        elif token is None or _closes(token) or (token.participle and _has_word(run)):
            yield from _phrase(text, run, before)
            run, before = [], token.low if token is not None else ""
        else:
            run.append(token)


def _phrase(text: str, run: list[_Token], before: str) -> Iterator[str]:
    """The text of a run, if it is a phrase; ``before`` is the word that stands before it."""
    if not any(token.word and token.low not in _DETERMINERS for token in run):
        return
    described = before in _DESCRIBING or _adverb(before)
    if len(run) > 1 or not (described or run[0].participle):
        yield text[run[0].start : run[-1].end]


def _closes(token: _Token) -> bool:
    low = token.low
    if not (token.word or token.number):
        return True
    return low in _CLOSED or _adverb(low)


def _adverb(low: str) -> bool:
    return low.endswith("ly") and len(low) > 4


def _has_word(run: list[_Token]) -> bool:
    return any(token.low not in _DETERMINERS for token in run)
