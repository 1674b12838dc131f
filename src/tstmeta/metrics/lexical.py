"""Metrics that count shared words or characters: BLEU, METEOR, chrF, ROUGE, TER, PINC, edits.

Values are those of the upstream libraries, on their scale; texts in Devanagari or Bengali script
are spelt in one way first.  What each variant is for stands in its card, ``data/metric_cards``.
"""

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from . import ngrams, wordnet
from .base import CorpusMetric, PairMetric, Request
from .text import DANDA, SPELT, Stemmer, UnicodeWords, sentences, spelt, tokens13a


class _Lexical(PairMetric):
    """A metric of texts in one spelling."""

    max_tokens: int | None = None
    #: Whether dandas become words of their own, for tokenizers that know only ASCII marks.
    apart = False
    libraries: tuple[str, ...] = ("sacrebleu",)

    def _cut(self, request: Request) -> tuple[Request, str]:
        cut, note = super()._cut(request)
        return spelt(cut, self.apart), note


class SentenceBleu(_Lexical):
    """BLEU of single sentences (Papineni et al., 2002); not symmetric.

    Plain and ``intl``: sacreBLEU's (Post, 2018), effective order, in [0, 100].  The others are
    NLTK's with smoothing 1, in [0, 1].  ``pauli2025`` takes n-grams of characters, the output as
    reference and the compared text as hypothesis; there the best of several references counts,
    elsewhere they clip together.
    """

    name = "bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("pauli2025", "nltk-word", "lai2023", "intl")
    TOKENS: ClassVar = {"pauli2025": "characters", "nltk-word": "white-space", "lai2023": "penn"}

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        if variant == "lai2023":
            self.languages = ("en",)
        if variant in self.TOKENS:
            refs, roles = "clipped-together", "output-as-hypothesis"
            if variant == "pauli2025":
                refs, roles = "max", "output-as-reference"
            self.facts = (
                f"refs:{refs} tok:{self.TOKENS[variant]} case:mixed roles:{roles} "
                f"smooth:method1-0.1 scale:1 {SPELT}"
            )
            self.libraries = ()
            return
        from sacrebleu.metrics import BLEU

        self.apart = True
        tok = variant or "13a"
        self.facts = (
            f"refs:clipped-together tok:{tok} case:mixed eff:yes smooth:exp scale:100 {DANDA}"
        )
        self._bleu = BLEU(tokenize=tok, effective_order=True)
        if not variant:
            self.abroad = SentenceBleu("intl")
            self.abroad.name = self.name

    def value(self, request: Request) -> float:
        output, texts = request.output, request.against
        if self.variant == "pauli2025":
            return max(ngrams.nltk_bleu([output], text) for text in texts)
        if self.variant in self.TOKENS:
            cut = ngrams.penn_words if self.variant == "lai2023" else str.split
            return ngrams.nltk_bleu([cut(text) for text in texts], cut(output))
        return self._bleu.sentence_score(output, list(texts)).score


class CorpusBleu(_Lexical, CorpusMetric):
    """BLEU of a whole set of outputs, in [0, 100] (Papineni et al., 2002).

    An item's statistics, shape [10]: matched 1- to 4-grams, all 1- to 4-grams, output length,
    closest reference length (the shorter of two as close).  Their sum gives exactly sacreBLEU's
    ``corpus_bleu``; items may differ in their number of references, which clip together.  An item's
    own value is that of a corpus of one sentence, so 0 below four tokens.
    """

    name = "corpus-bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("multi-bleu", "intl")

    def __init__(self, variant: str = ""):
        from sacrebleu.metrics import BLEU

        super().__init__(variant)
        moses = variant == "multi-bleu"
        self.apart = not moses
        tokens, self._smoothing = ("none", "none") if moses else (variant or "13a", "exp")
        tok = "white-space" if moses else tokens
        rest = f"eff:no smooth:{self._smoothing} scale:100 {DANDA if self.apart else SPELT}"
        self.facts = f"refs:clipped-together tok:{tok} case:mixed {rest}"
        # force: no advice on the log about texts that look tokenised.
        self._bleu = BLEU(tokenize=tokens, smooth_method=self._smoothing, force=True)
        if not variant:
            self.abroad = CorpusBleu("intl")
            self.abroad.name = self.name

    def statistics(self, request: Request) -> np.ndarray:
        # sacreBLEU leaves empty references out and fails when none is left; a blank one passes.
        texts = [[text] for text in request.against if text] or [[" "]]
        score: Any = self._bleu.corpus_score([request.output], texts)
        return np.array([*score.counts, *score.totals, score.sys_len, score.ref_len])

    def aggregate(self, total: np.ndarray) -> float:
        counts = [int(count) for count in total]
        return self._bleu.compute_bleu(
            counts[:4], counts[4:8], counts[8], counts[9], smooth_method=self._smoothing
        ).score


class Meteor(_Lexical):
    """METEOR (Banerjee and Lavie, 2005; parameters of Lavie and Agarwal, 2007), in [0, 1).

    NLTK's ``single_meteor_score``: exact words, then Porter stems, then WordNet synonyms; alpha
    0.9, beta 3, gamma 0.5; lower case.  (NLTK looks up the synonyms of stems: a word that is no
    word once stemmed has none.)  The best of several references counts; not symmetric; a copy of m
    words scores 1 - 0.5 / m^3.  ``exact``: words of any script match only as they are.
    """

    name = "meteor"
    VARIANTS: ClassVar[tuple[str, ...]] = ("no-synonyms", "exact")
    languages: tuple[str, ...] = ("en",)
    libraries = ("nltk",)

    def __init__(self, variant: str = ""):
        from nltk.tokenize import TreebankWordTokenizer
        from nltk.translate.meteor_score import single_meteor_score

        super().__init__(variant)
        self._score, self._treebank = single_meteor_score, TreebankWordTokenizer().tokenize
        nothing = SimpleNamespace(synsets=lambda word: ())
        self._dictionary = nothing if variant else wordnet
        self._stemmer = SimpleNamespace(stem=str) if variant == "exact" else Stemmer()
        if variant == "exact":
            self.languages = ()

    def fields(self) -> dict[str, object]:
        if self.variant == "exact":
            tokens, rest = "unicode-words split:none", f"stem:none synonyms:none scale:1 {SPELT}"
        else:
            tokens = "treebank split:end-mark-then-space"
            synonyms = "none" if self.variant else wordnet.version() or "none"
            rest = f"stem:porter synonyms:{synonyms} scale:1 language:en"
        self.facts = f"refs:max tok:{tokens} case:lower {rest}"
        return super().fields()

    def pair(self, text: str, output: str) -> float:
        sides = self.tokens(text), self.tokens(output)
        return self._score(*sides, stemmer=self._stemmer, wordnet=self._dictionary)

    def tokens(self, text: str) -> list[str]:
        """Penn Treebank tokens, sentence by sentence, so that every final period is a token."""
        if self.variant == "exact":
            return UnicodeWords().tokenize(text)
        return [word for part in sentences(text) for word in self._treebank(part)]


class Chrf(_Lexical):
    """chrF2: F-score of character 1- to 6-grams, recall twice as heavy, in [0, 100].

    sacreBLEU's sentence chrF (Popović, 2015).  ``chrf++`` adds word 1- and 2-grams (Popović, 2017).
    The best of several references counts; not symmetric; white space is ignored.
    """

    name = "chrf"
    VARIANTS: ClassVar[tuple[str, ...]] = ("chrf++",)

    def __init__(self, variant: str = ""):
        from sacrebleu.metrics import CHRF

        super().__init__(variant)
        words, self.apart = (2, True) if variant else (0, False)
        rest = f"nw:{words} space:no scale:100 {DANDA if self.apart else SPELT}"
        self.facts = f"refs:max case:mixed eff:yes nc:6 {rest}"
        self._chrf = CHRF(word_order=words)

    def value(self, request: Request) -> float:
        return self._chrf.sentence_score(request.output, list(request.against)).score


class Rouge1(_Lexical):
    """ROUGE-1: F1 of shared words, in [0, 1] (Lin, 2004), by the package rouge-score.

    Plain: lower-case words of any script.  The best of several references counts; symmetric, but
    for ROUGE-L of ``lai2023``, see :mod:`.ngrams`.
    """

    name = "rouge1"
    VARIANTS: ClassVar[tuple[str, ...]] = ("stem", "ascii", "lai2023")

    def __init__(self, variant: str = ""):
        from rouge_score.rouge_scorer import RougeScorer

        self._kind = self.name
        super().__init__(variant)
        words = UnicodeWords(Stemmer() if variant == "stem" else None)
        self._rouge = RougeScorer([self._kind], tokenizer=None if variant == "ascii" else words)
        self.languages = ("en",) if variant else ()
        if variant == "lai2023":
            self.facts = "refs:max tok:penn case:kept count:sets sentences:full-stop scale:1"
            self.libraries = ("nltk",)
            return
        tok = "a-z0-9" if variant == "ascii" else "unicode-words"
        stem = "porter" if variant == "stem" else "none"
        rest = f"scale:1 language:{'en' if variant else 'any'} {SPELT}"
        self.facts = f"refs:max tok:{tok} case:lower stem:{stem} measure:f1 {rest}"
        self.libraries = ("rouge-score",)

    def pair(self, text: str, output: str) -> float:
        if self.variant != "lai2023":
            return self._rouge.score(text, output)[self._kind].fmeasure
        if self._kind == "rougeL":
            return ngrams.set_rouge_l(text, output)
        return ngrams.set_rouge_n(text, output, int(self._kind[-1]))


class Rouge2(Rouge1):
    """ROUGE-2: F1 of shared word pairs, in [0, 1]; 0 for one word.  See :class:`Rouge1`."""

    name = "rouge2"


class RougeL(Rouge1):
    """ROUGE-L: F1 of the longest common subsequence of words, in [0, 1].  See :class:`Rouge1`.

    Quadratic in the number of words, hence the limit.
    """

    name = "rougeL"
    max_tokens = 1500


class Ter(_Lexical):
    """Translation edit rate (Snover et al., 2006): edits and block shifts a reference word, in %.

    sacreBLEU's sentence TER, lower case, punctuation kept.  Lower is better: 0 for an equal text,
    above 100 for an output much longer than the reference.  Of several references the fewest edits
    count, over the mean length.  Not symmetric.  The search for shifts is slow, hence the limit.
    """

    name = "ter"
    higher_is_better = False
    empty_value = 100.0
    max_tokens = 100
    facts = f"refs:fewest-edits tok:tercom case:lower norm:no punct:yes scale:100 {SPELT}"

    def __init__(self) -> None:
        from sacrebleu.metrics import TER

        self._ter = TER()

    def value(self, request: Request) -> float:
        return self._ter.sentence_score(request.output, list(request.against)).score


class Pinc(_Lexical):
    """PINC: share of the output's n-grams that are new, in [0, 100] (Chen and Dolan, 2011, eq. 1).

    The mean over n = 1..4 of 100 (1 - |G & H| / |H|), G and H the sets of n-grams of the compared
    text and of the output; orders longer than the output are left out.  A smaller value counts as
    better: 0 for a copy.  Of several references the nearest counts.  Not symmetric.
    """

    name = "pinc"
    higher_is_better = False
    empty_value = 100.0
    apart = True
    facts = f"refs:min tok:13a case:mixed n:4 scale:100 {DANDA}"

    def pair(self, text: str, output: str) -> float:
        new, known = (ngrams.gram_sets(tokens13a(side)) for side in (output, text))
        if not new:
            return self.empty_value
        known += [set()] * (len(new) - len(known))  # a short text has no long n-grams
        shares = [len(own - old) / len(own) for own, old in zip(new, known, strict=False)]
        return 100 * (sum(shares) / len(shares))


class EditSimilarity(_Lexical):
    """Token-level Levenshtein similarity, 1 - d / max(|a|, |b|), in [0, 1].

    d counts inserted, deleted and replaced 13a tokens (rapidfuzz).  The best of several references
    counts; symmetric.
    """

    name = "edit-similarity"
    apart = True
    facts = f"refs:max tok:13a case:mixed scale:1 {DANDA}"
    libraries = ("sacrebleu", "rapidfuzz")

    def pair(self, text: str, output: str) -> float:
        from rapidfuzz.distance import Levenshtein

        return Levenshtein.normalized_similarity(tokens13a(text), tokens13a(output))
