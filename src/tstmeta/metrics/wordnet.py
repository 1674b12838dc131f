"""Synonyms for METEOR: Princeton WordNet 3.0 as a table that comes with the package.

The table, ``wordnet.txt.xz``, has WordNet's licence at its head, a line a synset (``n car auto``)
and a line an irregular form (``n- geese goose``).  ``tools/wordnet.py`` makes it.
"""

import lzma
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

#: For signatures: the start of the SHA-256 of WordNet's files, which the table is made from.
VERSION = "wordnet-3.0-54845e21"

#: By part of speech, the endings that WordNet's own morphology replaces (its manual page
#: ``morphy(7)``), in the version of NLTK, which the values of papers come from.
ENDINGS = {
    "n": ("s-", "ses-s", "ves-f", "xes-x", "zes-z", "ches-ch", "shes-sh", "men-man", "ies-y"),
    "v": ("s-", "ies-y", "es-e", "es-", "ed-e", "ed-", "ing-e", "ing-"),
    "a": ("er-", "est-", "er-e", "est-e"),
    "r": (),
}


class Lemma(str):
    """A lemma as METEOR asks NLTK for it."""

    __slots__ = ()

    def name(self) -> str:
        return str(self)


class Synset(NamedTuple):
    """A synset as METEOR asks NLTK for it."""

    words: str

    def lemmas(self) -> list[Lemma]:
        return [Lemma(word) for word in self.words.split(" ")]


class PartOfSpeech(NamedTuple):
    """One part of speech: synsets by lower-case lemma, lemmas by irregular form."""

    synsets: dict[str, list[str]]
    irregular: dict[str, list[str]]


@lru_cache(maxsize=1)
def table() -> dict[str, PartOfSpeech]:
    """Read the table once, in half a second; about 60 MB."""
    parts = {letter: PartOfSpeech(defaultdict(list), {}) for letter in ENDINGS}
    text = lzma.decompress(Path(__file__).with_name("wordnet.txt.xz").read_bytes()).decode()
    for line in text.splitlines():
        part, _, words = line.partition(" ")
        if part in parts:
            for lemma in dict.fromkeys(words.lower().split(" ")):
                parts[part].synsets[lemma].append(words)
        elif part != "#":
            form, *lemmas = words.split(" ")
            parts[part[0]].irregular[form] = lemmas
    return parts


@lru_cache(maxsize=2**16)
def synsets(word: str) -> tuple[Synset, ...]:
    """The synsets of a word and of its base forms, as NLTK's reader gives them, in any order."""
    word = word.lower()
    lines: list[str] = []
    for letter, part in table().items():
        rules = (ending.split("-") for ending in ENDINGS[letter])
        regular = [word.removesuffix(old) + new for old, new in rules if word.endswith(old)]
        bases = part.irregular.get(word, regular)
        for base in dict.fromkeys([word, *bases]):
            lines += part.synsets.get(base, ())
    return tuple(map(Synset, lines))
