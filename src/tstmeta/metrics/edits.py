"""Lexical metrics of change: how many edits, and how much is new.

They belong to the family :mod:`.lexical`, which names them and says what holds for all.
"""

from __future__ import annotations

from importlib.metadata import version

from .base import PairMetric, Request
from .ngrams import gram_sets, share_new
from .text import SPELLING, against, spelt, tokens13a


class Ter(PairMetric):
    """Translation edit rate (Snover et al., 2006): edits and block shifts a reference word, in %.

    sacreBLEU's sentence TER, lower case, punctuation kept.  Lower is better: 0 for an equal text,
    above 100 for an output much longer than the reference.  Of several references the fewest edits
    count, over the mean length.  Not symmetric.  The search for shifts is slow, hence the limit.
    """

    name = "ter"
    higher_is_better = False
    empty_value = 100.0
    max_tokens = 100

    def __init__(self) -> None:
        from sacrebleu.metrics import TER

        self._ter = TER()

    def fields(self) -> dict[str, object]:
        return {
            "refs": "fewest-edits",
            "tok": "tercom",
            "case": "lower",
            "norm": "no",
            "punct": "yes",
            "scale": 100,
            "hi-bn": SPELLING,
            "sacrebleu": version("sacrebleu"),
        }

    def value(self, request: Request) -> float:
        request = spelt(request)
        return self._ter.sentence_score(request.output, list(against(request))).score


class Pinc(PairMetric):
    """PINC: share of the output's n-grams that are new, in [0, 100] (Chen and Dolan, 2011, eq. 1).

    The mean over n = 1..4 of 100 (1 - |G & H| / |H|), G and H the sets of n-grams of the compared
    text and of the output; orders longer than the output are left out.  It measures change, so for
    content preservation a smaller value counts as better: 0 for a copy, 100 when not a word is
    shared.  Of several references the nearest counts.  Not symmetric.
    """

    name = "pinc"
    higher_is_better = False
    empty_value = 100.0
    max_tokens = None

    def fields(self) -> dict[str, object]:
        return {
            "refs": "min",
            "tok": "13a",
            "case": "mixed",
            "n": 4,
            "scale": 100,
            "hi-bn": f"{SPELLING}+danda",
            "sacrebleu": version("sacrebleu"),
        }

    def value(self, request: Request) -> float:
        request = spelt(request, apart=True)
        output = gram_sets(tokens13a(request.output))
        if not output:
            return self.empty_value
        texts = [gram_sets(tokens13a(text)) for text in against(request)]
        return min(100 * share_new(output, text) for text in texts)


class EditSimilarity(PairMetric):
    """Token-level Levenshtein similarity, 1 - d / max(|a|, |b|), in [0, 1].

    d counts inserted, deleted and replaced 13a tokens (rapidfuzz).  The best of several references
    counts; symmetric.
    """

    name = "edit-similarity"
    max_tokens = None

    def __init__(self) -> None:
        from rapidfuzz.distance import Levenshtein

        self._similarity = Levenshtein.normalized_similarity

    def fields(self) -> dict[str, object]:
        return {
            "refs": "max",
            "tok": "13a",
            "case": "mixed",
            "scale": 1,
            "hi-bn": f"{SPELLING}+danda",
            "sacrebleu": version("sacrebleu"),
            "rapidfuzz": version("rapidfuzz"),
        }

    def value(self, request: Request) -> float:
        request = spelt(request, apart=True)
        output = tokens13a(request.output)
        return max(self._similarity(tokens13a(text), output) for text in against(request))
