"""Metrics that count shared words or characters: BLEU, METEOR, chrF, ROUGE, TER, PINC, edits.

Values are those of the upstream libraries, on their scale; texts in Devanagari or Bengali script
are spelt in one way first.  What each variant is for stands in its card, ``data/metric_cards``.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache, partial
from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from . import wordnet
from .base import CorpusMetric, PairMetric, Request, read_table
from .text import UnicodeWords, sacrebleu, sentences, spelt, stem, tokens13a

_FACTS = read_table("lexical.toml")


class _Lexical(PairMetric):
    """A metric of texts in one spelling; its facts, by variant, are in ``lexical.toml``."""

    max_tokens: int | None = None
    counts_words = True
    shard = 2**6
    #: Its table in that file; the name by default.
    table: ClassVar[str] = ""

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.facts = _FACTS[self.table or type(self).name][variant or "plain"]
        # dandas become separate words for tokenizers that know only ASCII marks
        self.apart = "+danda" in self.facts
        if "intl" in self.VARIANTS and not variant:
            self.for_other_languages = type(self)("intl")
            self.for_other_languages.name = self.name

    def _cut(self, request: Request) -> tuple[Request, str]:
        cut, note = super()._cut(request)
        return spelt(cut, self.apart), note


@lru_cache(maxsize=2**10)
def _counted(metric: Any, texts: tuple[str, ...]) -> Any:
    """What sacreBLEU counts in references, which many outputs share."""
    return metric._cache_references([[text] for text in texts])[0]


def sentence_score(metric: Any, output: str, texts: tuple[str, ...]) -> float:
    """sacreBLEU's ``sentence_score`` of a metric of its own, with :func:`_counted` references."""
    output, counted = metric._preprocess_segment(output), _counted(metric, texts)
    return metric._aggregate_and_compute(
        [metric._compute_segment_statistics(output, counted)]
    ).score


class SentenceBleu(_Lexical):
    """BLEU of single sentences (Papineni et al., 2002); not symmetric.

    Plain and ``intl``: sacreBLEU's, in [0, 100].  Others: NLTK's, in [0, 1]; ``pauli2025`` takes
    n-grams of characters, the output as reference and the compared text as hypothesis.
    """

    name = "bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("pauli2025", "nltk-word", "lai2023", "intl")

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.languages = ("en",) * (variant == "lai2023")
        self.counts_words = variant != "pauli2025"

    def value(self, request: Request) -> float:
        output, texts = request.output, request.against
        if self.variant in ("", "intl"):
            bleu = sacrebleu("BLEU", tokenize=self.variant or "13a", effective_order=True)
            return sentence_score(bleu, output, texts)
        from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

        bleu = partial(sentence_bleu, smoothing_function=SmoothingFunction().method1)
        if self.variant == "pauli2025":
            return max(float(bleu([output], text)) for text in texts)
        cut = penn_words if self.variant == "lai2023" else str.split
        return float(bleu([cut(text) for text in texts], cut(output)))


class CorpusBleu(_Lexical, CorpusMetric):
    """BLEU of a whole set of outputs, in [0, 100] (Papineni et al., 2002).

    An item's statistics, shape [10]: matched 1- to 4-grams, all 1- to 4-grams, output length,
    closest reference length.  Their sum gives exactly sacreBLEU's ``corpus_bleu``.
    """

    name = "corpus-bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("multi-bleu", "intl")

    @property
    def _bleu(self) -> Any:
        moses = self.variant == "multi-bleu"
        tokens, smoothing = ("none", "none") if moses else (self.variant or "13a", "exp")
        # force: no advice on the log about texts that look tokenised.
        return sacrebleu("BLEU", tokenize=tokens, smooth_method=smoothing, force=True)

    def statistics(self, request: Request) -> np.ndarray:
        # sacreBLEU leaves empty references out and fails when none is left; a blank one passes.
        texts = [[text] for text in request.against if text] or [[" "]]
        score: Any = self._bleu.corpus_score([request.output], texts)
        return np.array([*score.counts, *score.totals, score.sys_len, score.ref_len])

    def aggregate(self, total: np.ndarray) -> float:
        counts = [int(count) for count in total]
        return self._bleu.compute_bleu(
            counts[:4], counts[4:8], counts[8], counts[9], smooth_method=self._bleu.smooth_method
        ).score


class Meteor(_Lexical):
    """METEOR (Banerjee and Lavie, 2005; parameters of Lavie and Agarwal, 2007), in [0, 1), by NLTK.

    Exact words, then Porter stems, then WordNet synonyms of stems; a copy of m words scores
    1 - 0.5 / m^3; not symmetric.  ``exact``: words of any script match only as they are.
    """

    name = "meteor"
    VARIANTS: ClassVar[tuple[str, ...]] = ("no-synonyms", "exact")

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self._dictionary = SimpleNamespace(synsets=lambda word: ()) if variant else wordnet
        self._stemmer = SimpleNamespace(stem=str if variant == "exact" else stem)
        self.languages = () if variant == "exact" else ("en",)

    def pair(self, text: str, output: str) -> float:
        from nltk.translate.meteor_score import single_meteor_score  # takes long to import

        sides = self.tokens(text), self.tokens(output)
        return single_meteor_score(*sides, stemmer=self._stemmer, wordnet=self._dictionary)

    def tokens(self, text: str) -> list[str]:
        """Penn Treebank tokens, sentence by sentence, so that every final period is a token."""
        if self.variant == "exact":
            return UnicodeWords().tokenize(text)
        from nltk.tokenize import TreebankWordTokenizer

        treebank = TreebankWordTokenizer()
        return [word for part in sentences(text) for word in treebank.tokenize(part)]


class Chrf(_Lexical):
    """chrF2 (Popović, 2015): F-score of character 1- to 6-grams, in [0, 100]; not symmetric.

    ``chrf++`` adds word 1- and 2-grams (Popović, 2017).
    """

    name = "chrf"
    VARIANTS: ClassVar[tuple[str, ...]] = ("chrf++",)

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.counts_words = bool(variant)

    def value(self, request: Request) -> float:
        chrf = sacrebleu("CHRF", word_order=2 if self.variant else 0)
        return sentence_score(chrf, request.output, request.against)


class Rouge1(_Lexical):
    """ROUGE-1: F1 of shared words, in [0, 1] (Lin, 2004), by the package rouge-score.

    Plain: lower-case words of any script.  ``lai2023`` comes nearest to the scores released with
    Lai et al. (2023), see :func:`set_rouge_n` and :func:`set_rouge_l`, and alone is not symmetric.
    """

    name = "rouge1"
    table = "rouge"
    VARIANTS: ClassVar[tuple[str, ...]] = ("stem", "ascii", "lai2023")

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self._kind = type(self).name
        self.languages = ("en",) if variant else ()

    @cached_property
    def _rouge(self) -> Any:
        from rouge_score.rouge_scorer import RougeScorer

        words = UnicodeWords(stem if self.variant == "stem" else None)
        return RougeScorer([self._kind], tokenizer=None if self.variant == "ascii" else words)

    def pair(self, text: str, output: str) -> float:
        if self.variant != "lai2023":
            return self._rouge.score(text, output)[self._kind].fmeasure
        if self._kind == "rougeL":
            return set_rouge_l(text, output)
        return set_rouge_n(text, output, int(self._kind[-1]))


class Rouge2(Rouge1):
    """ROUGE-2: F1 of shared word pairs, in [0, 1]; 0 for one word.  See :class:`Rouge1`."""

    name = "rouge2"


class RougeL(Rouge1):
    """ROUGE-L: F1 of the longest common subsequence of words, in [0, 1].  See :class:`Rouge1`."""

    name = "rougeL"
    max_tokens = 1500  # time grows with the square


class Ter(_Lexical):
    """Translation edit rate (Snover et al., 2006): edits and block shifts a reference word, in %.

    sacreBLEU's, in lower case; 0 for an equal text, above 100 for an output much longer than the
    reference.  Of several references the fewest edits count, over the mean length.  Not symmetric.
    """

    name = "ter"
    higher_is_better = False
    empty_value = 100.0
    max_tokens = 100  # the search for shifts is slow

    def value(self, request: Request) -> float:
        return sacrebleu("TER").sentence_score(request.output, list(request.against)).score


class Pinc(_Lexical):
    """PINC: share of the output's n-grams that are new, in [0, 100] (Chen and Dolan, 2011, eq. 1).

    The mean over n = 1..4 of 100 (1 - |G & H| / |H|), G and H the sets of n-grams of the compared
    text and of the output; orders longer than the output are left out.  0 for a copy.
    """

    name = "pinc"
    higher_is_better = False
    empty_value = 100.0

    def pair(self, text: str, output: str) -> float:
        sides = [tokens13a(side) for side in (output, text)]
        shares = []
        for n in range(1, min(4, len(sides[0])) + 1):
            new, known = (set(_ngrams(tokens, n)) for tokens in sides)
            shares.append(len(new - known) / len(new))
        return 100 * (sum(shares) / len(shares)) if shares else self.empty_value


class EditSimilarity(_Lexical):
    """Levenshtein similarity of 13a tokens, 1 - d / max(|a|, |b|), in [0, 1]; symmetric."""

    name = "edit-similarity"

    def pair(self, text: str, output: str) -> float:
        from rapidfuzz.distance import Levenshtein  # takes long to import

        return Levenshtein.normalized_similarity(tokens13a(text), tokens13a(output))


def _ngrams(tokens: Sequence, n: int) -> zip:
    return zip(*(tokens[start:] for start in range(n)), strict=False)


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
    """ROUGE-n of lai2023: F1 of shared distinct n-grams, in [0, 1]; 0 where a side has none."""
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
    """ROUGE-L of lai2023: F of the words in common subsequences of any two sentences, in [0, 1].

    With precision p and recall r over distinct words, F = (1 + b^2) p r / (r + b^2 p), b = p / r.
    """
    from rouge_score.rouge_scorer import lcs_ind

    reference, candidate = penn_sentences(text), penn_sentences(output)
    pairs = product(reference, candidate)
    shared = {b[place] for a, b in pairs for place in lcs_ind(b, a)}
    if not shared:
        return 0.0
    precision = len(shared) / len({word for part in candidate for word in part})
    recall = len(shared) / len({word for part in reference for word in part})
    weight = (precision / recall) ** 2
    return (1 + weight) * precision * recall / (recall + weight * precision)
