"""ROUGE over sets of n-grams, as the scores released with Lai et al. (2023) were computed.

It differs from ROUGE as Lin (2004) defines it in ways that move correlations: words keep their
case, they are Penn Treebank words, a full stop ends a sentence and is dropped, an n-gram counts
once however often it occurs, and ROUGE-L takes the union of common subsequences of all pairs of
sentences, with an F that weighs recall by the ratio of precision to recall.  These rules were found
by holding candidates against the released numbers; the book shows how closely they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .text import sentences as text_sentences


@lru_cache(maxsize=2**14)
def words(text: str) -> tuple[str, ...]:
    """Penn Treebank words, sentence by sentence, so that every full stop is a word."""
    from nltk.tokenize import word_tokenize

    parts = text_sentences(text)
    return tuple(word for part in parts for word in word_tokenize(part, preserve_line=True))


@lru_cache(maxsize=2**14)
def sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Sentences of Penn Treebank words; full stops divide them and are left out."""
    parts = " ".join(words(text)).split(".")
    return tuple(one for part in parts if (one := tuple(part.split())))


def rouge_n(text: str, output: str, n: int) -> float:
    """F1 of shared distinct n-grams, in [0, 1]; 0 where either side has none."""
    wanted, made = (_grams(sentences(one), n) for one in (text, output))
    shared = len(wanted & made)
    if not shared:
        return 0.0
    precision, recall = shared / len(made), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def rouge_l(text: str, output: str) -> float:
    """F of the words in common subsequences of any two sentences, in [0, 1].

    With precision p and recall r over distinct words, F = (1 + b^2) p r / (r + b^2 p), b = p / r.
    """
    wanted, made = sentences(text), sentences(output)
    shared: set[str] = set()
    for first in wanted:
        for second in made:
            shared |= set(subsequence(first, second))
    if not shared:
        return 0.0
    precision = len(shared) / len({word for one in made for word in one})
    recall = len(shared) / len({word for one in wanted for word in one})
    weight = (precision / recall) ** 2
    return (1 + weight) * precision * recall / (recall + weight * precision)


def subsequence(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """A longest common subsequence; of several, the one that keeps the end of ``second``."""
    lengths = [[0] * (len(second) + 1)]
    for word in first:
        above, row = lengths[-1], [0]
        for place, other in enumerate(second):
            row.append(above[place] + 1 if word == other else max(above[place + 1], row[place]))
        lengths.append(row)
    kept: list[str] = []
    i, j = len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            kept.append(first[i - 1])
            i, j = i - 1, j - 1
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return kept[::-1]


def _grams(parts: tuple[tuple[str, ...], ...], n: int) -> set[tuple[str, ...]]:
    words = [word for part in parts for word in part]
    return set(zip(*(words[start:] for start in range(n)), strict=False))
