"""Counting n-grams: BLEU as NLTK computes it, the sets of PINC, and ROUGE over sets.

ROUGE over sets is how the scores released with Lai et al. (2023) were computed, by the rules that
come nearest to the released numbers.  It differs from ROUGE as Lin (2004) defines it: words are
Penn Treebank words and keep their case, a full stop ends a sentence and is dropped, an n-gram
counts once, and ROUGE-L takes the union of common subsequences of all pairs of sentences.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from .text import sentences


def nltk_bleu(references: Sequence[Sequence], hypothesis: Sequence) -> float:
    """NLTK's ``sentence_bleu`` with smoothing method 1, bit for bit, at twice its speed.

    Texts are sequences of hashables: token tuples, or strings, whose n-grams are then characters.
    Up to 4-grams; where none of an order matches, 0.1 counts as matched (Chen and Cherry, 2014,
    smoothing 1).  In [0, 1]; 0 when no unigram is shared.
    """
    length = len(hypothesis)
    logs = []
    for n in range(1, 5):
        counts = Counter(_ngrams(hypothesis, n))
        limits = Counter(_ngrams(references[0], n))
        for reference in references[1:]:
            limits |= Counter(_ngrams(reference, n))
        matched = sum([min(k, limits[gram]) for gram, k in counts.items() if gram in limits])
        if n == 1 and not matched:
            return 0.0
        logs.append(0.25 * math.log((matched or 0.1) / max(1, length - n + 1)))
    closest = min((abs(len(text) - length), len(text)) for text in references)[1]
    brevity = 1.0 if length > closest else math.exp(1 - closest / length)
    return brevity * math.exp(math.fsum(logs))


def _ngrams(tokens: Sequence, n: int) -> zip:
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def gram_sets(tokens: Sequence[str]) -> list[set]:
    """The sets of 1- to 4-grams of a text, as far as it is long enough to have any."""
    second, third, fourth = tokens[1:], tokens[2:], tokens[3:]
    grams = (
        tokens,
        zip(tokens, second, strict=False),
        zip(tokens, second, third, strict=False),
        zip(tokens, second, third, fourth, strict=False),
    )
    return [set(each) for each in grams[: len(tokens)]]


@lru_cache(maxsize=2**14)
def penn_words(text: str) -> tuple[str, ...]:
    """Penn Treebank words, sentence by sentence, so that every full stop is a word."""
    from nltk.tokenize import word_tokenize

    parts = sentences(text)
    return tuple(word for part in parts for word in word_tokenize(part, preserve_line=True))


@lru_cache(maxsize=2**14)
def penn_sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Sentences of Penn Treebank words; full stops divide them and are left out."""
    parts = (tuple(part.split()) for part in " ".join(penn_words(text)).split("."))
    return tuple(part for part in parts if part)


def set_rouge_n(text: str, output: str, n: int) -> float:
    """F1 of shared distinct n-grams, in [0, 1]; 0 where either side has none."""
    reference, candidate = (
        set(_ngrams([word for part in penn_sentences(side) for word in part], n))
        for side in (text, output)
    )
    shared = len(reference & candidate)
    if not shared:
        return 0.0
    precision, recall = shared / len(candidate), shared / len(reference)
    return 2 * precision * recall / (precision + recall)


def set_rouge_l(text: str, output: str) -> float:
    """F of the words in common subsequences of any two sentences, in [0, 1].

    With precision p and recall r over distinct words, F = (1 + b^2) p r / (r + b^2 p), b = p / r.
    """
    reference, candidate = penn_sentences(text), penn_sentences(output)
    shared: set[str] = set()
    for first in reference:
        for second in candidate:
            shared |= set(subsequence(first, second))
    if not shared:
        return 0.0
    precision = len(shared) / len({word for part in candidate for word in part})
    recall = len(shared) / len({word for part in reference for word in part})
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
