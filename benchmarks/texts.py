"""The pairs that the benchmarks score: the contrast set's, and random ones of the same shape."""

from __future__ import annotations

import random
from typing import NamedTuple

from tstmeta.data import load


class Pair(NamedTuple):
    """A source and one rewrite of it."""

    source: str
    output: str


def contrast_pairs(n: int) -> list[Pair]:
    """Up to ``n`` pairs of the contrast set, four rewrites a source, all in ASCII.

    Only ASCII, because rouge-score's own tokenizer drops other letters and ours keeps them.
    """
    items = load("contrast").items
    pairs = map(Pair, items["source"], items["output"])
    return [pair for pair in pairs if (pair.source + pair.output).isascii()][:n]


def random_pairs(n: int, rewrites: int, seed: int) -> list[Pair]:
    """``n`` pairs, ``rewrites`` a source: words of the contrast set in random order.

    Sources have 6 to 30 words; in a rewrite every word is kept (.7), replaced (.15), dropped (.1)
    or followed by another (.05).  Words come as often as in the contrast set.
    """
    rng = random.Random(seed)
    words = " ".join(pair.source for pair in contrast_pairs(10**6)).split()
    pairs: list[Pair] = []
    while len(pairs) < n:
        source = rng.choices(words, k=rng.randint(6, 30))
        for _ in range(rewrites):
            pairs.append(Pair(" ".join(source), _rewritten(source, words, rng)))
    return pairs[:n]


def _rewritten(source: list[str], words: list[str], rng: random.Random) -> str:
    made: list[str] = []
    for word in source:
        draw = rng.random()
        if draw < 0.7:
            made.append(word)
        elif draw < 0.85:
            made.append(rng.choice(words))
        elif draw < 0.9:
            made += [word, rng.choice(words)]
    return " ".join(made or source[:1])
