"""Synonyms for METEOR: Princeton WordNet 3.0 as a table that comes with the package.

The table, ``wordnet.txt.xz``, has WordNet's licence at its head, a line a synset (``n car auto``)
and a line an irregular form (``n- geese goose``).  ``tools/wordnet.py`` makes it.
"""

import lzma
from collections import defaultdict
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

#: By part of speech, the endings that WordNet's morphology (``morphy(7)``) replaces, as in NLTK.
ENDINGS = {
    "n": ("s-", "ses-s", "ves-f", "xes-x", "zes-z", "ches-ch", "shes-sh", "men-man", "ies-y"),
    "v": ("s-", "ies-y", "es-e", "es-", "ed-e", "ed-", "ing-e", "ing-"),
    "a": ("er-", "est-", "er-e", "est-e"),
    "r": (),
}


class Lemma(str):
    """A lemma as METEOR asks NLTK for it."""

    __slots__ = ()
    name = str.__str__


class Synset(NamedTuple):
    """A synset as METEOR asks NLTK for it."""

    words: str

    def lemmas(self) -> list[Lemma]:
        return [Lemma(word) for word in self.words.split(" ")]


@lru_cache(maxsize=1)
def table() -> dict[tuple[str, str], list[str]]:
    """Synsets by ``("n", "car")``, base forms by ``("n-", "geese")``: half a second, 60 MB."""
    entries: dict[tuple[str, str], list[str]] = defaultdict(list)
    text = lzma.decompress(Path(__file__).with_name("wordnet.txt.xz").read_bytes()).decode()
    for line in text.splitlines():
        part, _, words = line.partition(" ")
        if part in ENDINGS:
            for lemma in dict.fromkeys(words.lower().split(" ")):
                entries[part, lemma].append(words)
        elif part != "#":
            form, *lemmas = words.split(" ")
            entries[part, form] = lemmas
    return entries


@lru_cache(maxsize=2**16)
def synsets(word: str) -> tuple[Synset, ...]:
    """The synsets of a word and of its base forms, as NLTK's reader gives them, in any order."""
    word = word.lower()
    lines: list[str] = []
    for part, endings in ENDINGS.items():
        rules = (ending.split("-") for ending in endings)
        regular = [word.removesuffix(old) + new for old, new in rules if word.endswith(old)]
        bases = table().get((f"{part}-", word), regular)
        for base in dict.fromkeys([word, *bases]):
            lines += table().get((part, base), ())
    return tuple(map(Synset, lines))
