"""Which words of a text a question is asked about: named spans and noun phrases.

QuestEval asks about named entities and noun chunks that a parser finds (Scialom et al., 2021).  A
rule of ours stands in, which needs no model and knows English only.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from pathlib import Path

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
_CLOSED = frozenset().union(*_WORDS.values())
#: Words that may stand inside a name, besides "of".
_LINKS = frozenset({"the", "and", "de", "la", "van", "von"})
_TOKEN = re.compile(
    r"[$£€]?\d[\d,.:]*\d%?|[$£€]?\d%?|[^\W\d_]+(?:[-'’][^\W\d_]+)*|[^\w\s]", re.UNICODE
)
#: Over a letter a token: capitalised words (N), between two of them "of" (o), also with a link (l).
_NAME = re.compile("N(?:(?:o|ol|lo|oo)?N)*")
#: A determiner (D), a word in -ed or -ing (P) or another (w), then others up to what closes it.
_PHRASE = re.compile("(D?[Pw]w*)P?")


def by_rule(text: str) -> list[str]:
    """Named spans, then noun phrases, of the first sentences of an English text, each once."""
    whole = unicodedata.normalize("NFC", text)  # a letter with its accent is one sign
    names: list[str] = []
    phrases: list[str] = []
    for part in sentences(whole)[:SENTENCES]:
        tokens = list(_TOKEN.finditer(part))
        words = [token.group() for token in tokens]
        for texts, spans in ((names, _names(words)), (phrases, _phrases(words))):
            texts += [part[tokens[a].start() : tokens[b - 1].end()] for a, b in spans]
    return list(dict.fromkeys([*names, *phrases]))


def _names(words: list[str]) -> list[tuple[int, int]]:
    """Numbers, and runs of capitalised words, short links ("of the") included.

    At the start of a sentence a run needs a second capitalised word, and a sentence shouted in
    capitals has none.
    """
    letters = [place for place, word in enumerate(words) if word[0].isalpha()]
    shouted = len(letters) > 2 and sum(words[n].isupper() for n in letters) > len(letters) / 2
    tags = ""
    for word in words:
        name = word[0].isupper() and len(word) > 1 and not shouted and _tag(word) in "Pw"
        tags += "N" if name else "o" if word == "of" else "l" if word in _LINKS else " "
    runs = [match.span() for match in _NAME.finditer(tags)]
    runs = [(a, b) for a, b in runs if tags[a:b].count("N") > 1 or a != letters[0]]
    numbers = [(n, n + 1) for n, word in enumerate(words) if any(map(str.isdigit, word))]
    ends = [*((span[0], span) for span in numbers), *((span[1], span) for span in runs)]
    return [span for _, span in sorted(ends, key=lambda end: end[0])]


def _phrases(words: list[str]) -> Iterator[tuple[int, int]]:
    """A determiner, where there is one, and the words after it up to a mark or a closed word.

    A word in -ed or -ing closes a phrase, too, unless it comes first, as in "the fried rice".  Such
    a word alone is none, nor is an adjective ("was cold", "so slow").
    """
    tags = "".join(map(_tag, words))
    for match in _PHRASE.finditer(tags):
        start, end = match.span(1)
        before = _low(words[start - 1]) if start else ""
        described = before in _WORDS["degrees"] | _WORDS["states"] or _adverb(before)
        single = end - start == 1 and (described or tags[start] == "P")
        if not single and any(words[n][0].isalpha() and tags[n] != "D" for n in range(start, end)):
            yield start, end


def _tag(word: str) -> str:
    """What a token is in a phrase: D, P or w, see :data:`_PHRASE`, or C: it closes any."""
    low, letters = _low(word), word[0].isalpha()
    if letters and low in _WORDS["determiners"]:
        return "D"
    if not (letters or any(map(str.isdigit, word))) or low in _CLOSED or _adverb(low):
        return "C"
    return "P" if len(word) > 4 and low.endswith(("ed", "ing")) else "w"


def _low(word: str) -> str:
    return word.lower().replace("’", "'")


def _adverb(low: str) -> bool:
    return low.endswith("ly") and len(low) > 4
