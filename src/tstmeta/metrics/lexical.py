"""Metrics that count shared words or characters: BLEU, METEOR, chrF, ROUGE, TER, PINC, edits.

The output is the candidate, and what it is compared with (source or references) is the reference
side; the one exception is ``bleu:pauli2025``, which follows its paper.  Values are those of the
upstream libraries, on the upstream scale.  Each class says how several references count.  Libraries
are imported when a metric is made, so that listing metrics stays quick.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from . import wordnet
from .base import CorpusMetric, PairMetric, Request
from .text import Stemmer, UnicodeWords, against, chosen, sentences, tokens13a


def nltk_bleu(references: Sequence[Sequence], hypothesis: Sequence) -> float:
    """NLTK's ``sentence_bleu`` with smoothing method 1, bit for bit, at twice its speed.

    Texts are sequences of hashables: token tuples, or strings, whose n-grams are then characters.
    Up to 4-grams; where none of an order matches, 0.1 counts as matched (Chen and Cherry, 2014,
    smoothing 1).  In [0, 1]; 0 when no unigram is shared.
    """
    length = len(hypothesis)
    logs = []
    for n in range(1, 5):
        made = _ngrams(hypothesis, n)
        given = _ngrams(references[0], n)
        for reference in references[1:]:
            given |= _ngrams(reference, n)
        matched = sum([min(count, given[gram]) for gram, count in made.items() if gram in given])
        if n == 1 and not matched:
            return 0.0
        logs.append(0.25 * math.log((matched or 0.1) / max(1, length - n + 1)))
    closest = min((abs(len(text) - length), len(text)) for text in references)[1]
    brevity = 1.0 if length > closest else math.exp(1 - closest / length)
    return brevity * math.exp(math.fsum(logs))


def _ngrams(tokens: Sequence, n: int) -> Counter:
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


class SentenceBleu(PairMetric):
    """BLEU of single sentences (Papineni et al., 2002).

    Plain: sacreBLEU's sentence BLEU (Post, 2018), effective order, 13a tokens, in [0, 100]; several
    references clip together.  ``nltk-word``: NLTK with white-space tokens and smoothing 1, in
    [0, 1].  ``pauli2025``: what the printed numbers of that paper are: NLTK given raw strings, so
    n-grams of characters, with the output in the place of the reference and the compared text in
    that of the hypothesis, in [0, 1]; the best of several references counts.  None is symmetric.
    """

    name = "bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("pauli2025", "nltk-word")
    max_tokens = None

    def __init__(self, variant: str = ""):
        self.variant = chosen(self, variant)
        if not self.variant:
            from sacrebleu.metrics import BLEU

            self._bleu = BLEU(effective_order=True)

    def fields(self) -> dict[str, object]:
        if self.variant:
            character = self.variant == "pauli2025"
            return {
                "refs": "max" if character else "clipped-together",
                "tok": "characters" if character else "white-space",
                "case": "mixed",
                "roles": "output-as-reference" if character else "output-as-hypothesis",
                "smooth": "method1-0.1",
                "scale": 1,
            }
        return {
            "refs": "clipped-together",
            "tok": "13a",
            "case": "mixed",
            "eff": "yes",
            "smooth": "exp",
            "scale": 100,
            "sacrebleu": version("sacrebleu"),
        }

    def value(self, request: Request) -> float:
        texts = against(request)
        if self.variant == "pauli2025":
            return max(nltk_bleu([request.output], text) for text in texts)
        if self.variant == "nltk-word":
            return nltk_bleu([text.split() for text in texts], request.output.split())
        return self._bleu.sentence_score(request.output, list(texts)).score


class CorpusBleu(CorpusMetric):
    """BLEU of a whole set of outputs, in [0, 100] (Papineni et al., 2002).

    An item's statistics, shape [10]: matched 1- to 4-grams, all 1- to 4-grams, output length,
    closest reference length (the shorter of two as close).  Their sum gives exactly sacreBLEU's
    ``corpus_bleu``; items may differ in their number of references, which clip together.  An item's
    own value is that of a corpus of one sentence, so 0 below four tokens.  Plain: 13a tokens,
    smoothing exp.  ``multi-bleu``: white-space tokens, case kept, no smoothing, as Moses'
    multi-bleu.perl.
    """

    name = "corpus-bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("multi-bleu",)
    max_tokens = None

    def __init__(self, variant: str = ""):
        from sacrebleu.metrics import BLEU

        plain = not chosen(self, variant)
        self._tokens, self._smoothing = ("13a", "exp") if plain else ("none", "none")
        # force: no advice on the log about texts that look tokenised.
        self._bleu = BLEU(tokenize=self._tokens, smooth_method=self._smoothing, force=True)

    def fields(self) -> dict[str, object]:
        return {
            "refs": "clipped-together",
            "tok": "white-space" if self._tokens == "none" else self._tokens,
            "case": "mixed",
            "eff": "no",
            "smooth": self._smoothing,
            "scale": 100,
            "sacrebleu": version("sacrebleu"),
        }

    def statistics(self, request: Request) -> np.ndarray:
        # sacreBLEU leaves empty references out and fails when none is left; a blank one passes.
        texts = [[text] for text in against(request) if text] or [[" "]]
        score: Any = self._bleu.corpus_score([request.output], texts)
        return np.array([*score.counts, *score.totals, score.sys_len, score.ref_len])

    def aggregate(self, total: np.ndarray) -> float:
        counts = [int(count) for count in total]
        return self._bleu.compute_bleu(
            counts[:4], counts[4:8], counts[8], counts[9], smooth_method=self._smoothing
        ).score


# ------------------------------------------------------------------------------------- METEOR


class Meteor(PairMetric):
    """METEOR (Banerjee and Lavie, 2005; parameters of Lavie and Agarwal, 2007), in [0, 1).

    NLTK's ``single_meteor_score``: exact words, then Porter stems, then WordNet synonyms; alpha
    0.9, beta 3, gamma 0.5; lower case.  (NLTK looks up the synonyms of stems: a word that is no
    word once stemmed finds none.)  Words are Penn Treebank tokens of sentences split by a rule,
    which needs no download.  The best of several references counts; not symmetric; a copy of m
    words scores 1 - 0.5 / m^3.  Without WordNet on the machine there are no synonyms, as in the
    variant ``no-synonyms``, and the signature says so.
    """

    name = "meteor"
    VARIANTS: ClassVar[tuple[str, ...]] = ("no-synonyms",)
    languages = ("en",)
    max_tokens = None

    def __init__(self, variant: str = ""):
        from nltk.tokenize import TreebankWordTokenizer
        from nltk.translate.meteor_score import single_meteor_score

        self._synonyms = not chosen(self, variant)
        self._score = single_meteor_score
        self._words = TreebankWordTokenizer().tokenize
        self._dictionary = wordnet.Dictionary(self._synonyms)
        self._stemmer = Stemmer()

    def fields(self) -> dict[str, object]:
        return {
            "refs": "max",
            "tok": "treebank",
            "split": "end-mark-then-space",
            "case": "lower",
            "stem": "porter",
            "synonyms": (self._synonyms and wordnet.version()) or "none",
            "scale": 1,
            "nltk": version("nltk"),
        }

    def value(self, request: Request) -> float:
        output = self.tokens(request.output)
        return max(
            self._score(self.tokens(text), output, stemmer=self._stemmer, wordnet=self._dictionary)
            for text in against(request)
        )

    def tokens(self, text: str) -> list[str]:
        """Penn Treebank tokens, sentence by sentence, so that every final period is a token."""
        return [word for part in sentences(text) for word in self._words(part)]


# --------------------------------------------------------------------------------------- chrF


class Chrf(PairMetric):
    """chrF2: F-score of character 1- to 6-grams, recall twice as heavy, in [0, 100].

    sacreBLEU's sentence chrF (Popović, 2015).  ``chrf++`` adds word 1- and 2-grams (Popović, 2017).
    The best of several references counts; not symmetric; white space is ignored.
    """

    name = "chrf"
    VARIANTS: ClassVar[tuple[str, ...]] = ("chrf++",)
    max_tokens = None

    def __init__(self, variant: str = ""):
        from sacrebleu.metrics import CHRF

        self._words = 2 if chosen(self, variant) else 0
        self._chrf = CHRF(word_order=self._words)

    def fields(self) -> dict[str, object]:
        return {
            "refs": "max",
            "case": "mixed",
            "eff": "yes",
            "nc": 6,
            "nw": self._words,
            "space": "no",
            "scale": 100,
            "sacrebleu": version("sacrebleu"),
        }

    def value(self, request: Request) -> float:
        return self._chrf.sentence_score(request.output, list(against(request))).score


# -------------------------------------------------------------------------------------- ROUGE


class Rouge1(PairMetric):
    """ROUGE-1: F1 of shared words, in [0, 1] (Lin, 2004), by the package rouge-score.

    Plain: lower-case words of any script, no stemming.  ``stem``: Porter stems, for English.
    ``ascii``: upstream's own tokenizer, for which a text in another script is empty.  The best of
    several references counts; symmetric.
    """

    name = "rouge1"
    VARIANTS: ClassVar[tuple[str, ...]] = ("stem", "ascii")
    max_tokens: int | None = None

    def __init__(self, variant: str = ""):
        from rouge_score.rouge_scorer import RougeScorer

        self._kind = self.name
        self._variant = chosen(self, variant)
        words = UnicodeWords(Stemmer() if variant == "stem" else None)
        self._rouge = RougeScorer([self._kind], tokenizer=None if variant == "ascii" else words)
        if variant == "stem":
            self.languages = ("en",)

    def fields(self) -> dict[str, object]:
        return {
            "refs": "max",
            "tok": "a-z0-9" if self._variant == "ascii" else "unicode-words",
            "case": "lower",
            "stem": "porter" if self._variant == "stem" else "none",
            "measure": "f1",
            "scale": 1,
            "rouge-score": version("rouge-score"),
        }

    def value(self, request: Request) -> float:
        return self._rouge.score_multi(against(request), request.output)[self._kind].fmeasure


class Rouge2(Rouge1):
    """ROUGE-2: F1 of shared word pairs, in [0, 1]; 0 for one word.  See :class:`Rouge1`."""

    name = "rouge2"


class RougeL(Rouge1):
    """ROUGE-L: F1 of the longest common subsequence of words, in [0, 1].  See :class:`Rouge1`.

    Quadratic in the number of words, hence the limit.
    """

    name = "rougeL"
    max_tokens = 1500


# --------------------------------------------------------------------------- edits and novelty


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
            "sacrebleu": version("sacrebleu"),
        }

    def value(self, request: Request) -> float:
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
            "sacrebleu": version("sacrebleu"),
        }

    def value(self, request: Request) -> float:
        output = _gram_sets(tokens13a(request.output))
        if not output:
            return self.empty_value
        texts = [_gram_sets(tokens13a(text)) for text in against(request)]
        return min(100 * _share_new(output, text) for text in texts)


def _gram_sets(tokens: list[str]) -> list[set]:
    """The sets of 1- to 4-grams of a text, as far as it is long enough to have any."""
    return [set(_ngrams(tokens, n)) for n in range(1, min(4, len(tokens)) + 1)]


def _share_new(made: list[set], given: list[set]) -> float:
    given = given + [set()] * (len(made) - len(given))
    shares = [len(new - old) / len(new) for new, old in zip(made, given, strict=False)]
    return sum(shares) / len(shares)


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
            "sacrebleu": version("sacrebleu"),
            "rapidfuzz": version("rapidfuzz"),
        }

    def value(self, request: Request) -> float:
        output = tokens13a(request.output)
        return max(self._similarity(tokens13a(text), output) for text in against(request))
