"""Metrics that count shared words or characters: BLEU, METEOR, chrF, ROUGE, TER, PINC, edits.

Values are those of the upstream libraries, on the upstream scale; they are imported when a metric
is made.  Texts in Hindi, Bengali or another language of :data:`.text.DEVANAGARI` and
:data:`.text.BENGALI` are spelt in one way first, and metrics that know only English refuse others.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from . import ngrams, wordnet
from .base import CorpusMetric, PairMetric, Request, Score
from .text import (
    DANDA,
    SPELLING,
    Stemmer,
    UnicodeWords,
    against,
    chosen,
    refused,
    sentences,
    spelt,
    stated,
    tokens13a,
)


class SentenceBleu(PairMetric):
    """BLEU of single sentences (Papineni et al., 2002).

    Plain: sacreBLEU's sentence BLEU (Post, 2018), effective order, 13a tokens, in [0, 100]; several
    references clip together.  ``nltk-word``: NLTK with white-space tokens and smoothing 1, in
    [0, 1].  ``pauli2025``: what the printed numbers of that paper are: NLTK given raw strings, so
    n-grams of characters, with the output in the place of the reference and the compared text in
    that of the hypothesis, in [0, 1]; the best of several references counts.  ``lai2023``: what the
    scores released with that paper hold, NLTK on Penn Treebank words, in [0, 1].  None is
    symmetric.
    """

    name = "bleu"
    VARIANTS: ClassVar[tuple[str, ...]] = ("pauli2025", "nltk-word", "lai2023")
    TOKENS: ClassVar = {"pauli2025": "characters", "nltk-word": "white-space", "lai2023": "penn"}
    max_tokens = None

    def __init__(self, variant: str = ""):
        self.variant = chosen(self, variant)
        if not self.variant:
            from sacrebleu.metrics import BLEU

            self._bleu = BLEU(effective_order=True)

    def fields(self) -> dict[str, object]:
        if not self.variant:
            words = f"refs:clipped-together tok:13a case:mixed eff:yes smooth:exp scale:100 {DANDA}"
            return stated(words, "sacrebleu")
        refs, roles = "clipped-together", "output-as-hypothesis"
        if self.variant == "pauli2025":
            refs, roles = "max", "output-as-reference"
        tok = self.TOKENS[self.variant]
        rest = f"roles:{roles} smooth:method1-0.1 scale:1 hi-bn:{SPELLING}"
        return stated(f"refs:{refs} tok:{tok} case:mixed {rest}")

    def value(self, request: Request) -> float:
        request = spelt(request, apart=not self.variant)
        texts = against(request)
        if self.variant == "pauli2025":
            return max(ngrams.nltk_bleu([request.output], text) for text in texts)
        if self.variant:
            cut = ngrams.penn_words if self.variant == "lai2023" else str.split
            return ngrams.nltk_bleu([cut(text) for text in texts], cut(request.output))
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
        tok = "white-space" if self._tokens == "none" else self._tokens
        rest = f"eff:no smooth:{self._smoothing} scale:100 hi-bn:{SPELLING}"
        rest += "+danda" * (self._tokens != "none")
        return stated(f"refs:clipped-together tok:{tok} case:mixed {rest}", "sacrebleu")

    def statistics(self, request: Request) -> np.ndarray:
        request = spelt(request, apart=self._tokens != "none")
        # sacreBLEU leaves empty references out and fails when none is left; a blank one passes.
        texts = [[text] for text in against(request) if text] or [[" "]]
        score: Any = self._bleu.corpus_score([request.output], texts)
        return np.array([*score.counts, *score.totals, score.sys_len, score.ref_len])

    def aggregate(self, total: np.ndarray) -> float:
        counts = [int(count) for count in total]
        return self._bleu.compute_bleu(
            counts[:4], counts[4:8], counts[8], counts[9], smooth_method=self._smoothing
        ).score


class Meteor(PairMetric):
    """METEOR (Banerjee and Lavie, 2005; parameters of Lavie and Agarwal, 2007), in [0, 1).

    NLTK's ``single_meteor_score``: exact words, then Porter stems, then WordNet synonyms; alpha
    0.9, beta 3, gamma 0.5; lower case.  (NLTK looks up the synonyms of stems: a word that is no
    word once stemmed has none.)  Words are Penn Treebank tokens of sentences split by a rule.  The
    best of several references counts; not symmetric; a copy of m words scores 1 - 0.5 / m^3.
    Without WordNet on the machine there are no synonyms, as in ``no-synonyms``, and the signature
    says so.

    Stems, synonyms and Treebank tokens are English, so other languages are refused.  ``exact`` is
    for them: words of any script, without marks, match only as they are.
    """

    name = "meteor"
    VARIANTS: ClassVar[tuple[str, ...]] = ("no-synonyms", "exact")
    languages: tuple[str, ...] = ("en",)
    max_tokens = None

    def __init__(self, variant: str = ""):
        from nltk.tokenize import TreebankWordTokenizer
        from nltk.translate.meteor_score import single_meteor_score

        self._synonyms = not chosen(self, variant)
        self._score = single_meteor_score
        self._treebank = TreebankWordTokenizer().tokenize
        nothing = SimpleNamespace(synsets=lambda word: ())
        self._dictionary = wordnet if self._synonyms else nothing
        self._exact = variant == "exact"
        self._stemmer = SimpleNamespace(stem=str) if self._exact else Stemmer()
        if self._exact:
            self.languages = ()

    def fields(self) -> dict[str, object]:
        if self._exact:
            words = f"split:none case:lower stem:none synonyms:none scale:1 hi-bn:{SPELLING}"
            return stated(f"refs:max tok:unicode-words {words}", "nltk")
        synonyms = (self._synonyms and wordnet.version()) or "none"
        words = f"case:lower stem:porter synonyms:{synonyms} scale:1 language:en"
        return stated(f"refs:max tok:treebank split:end-mark-then-space {words}", "nltk")

    def _guarded(self, request: Request) -> Score:
        return refused(self, request) or super()._guarded(request)

    def value(self, request: Request) -> float:
        request = spelt(request)
        output = self._tokens(request.output)
        return max(
            self._score(self._tokens(text), output, stemmer=self._stemmer, wordnet=self._dictionary)
            for text in against(request)
        )

    def _tokens(self, text: str) -> list[str]:
        """Penn Treebank tokens, sentence by sentence, so that every final period is a token."""
        if self._exact:
            return UnicodeWords().tokenize(text)
        return [word for part in sentences(text) for word in self._treebank(part)]


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
        words = f"nw:{self._words} space:no scale:100 hi-bn:{SPELLING}"
        words += "+danda" * bool(self._words)
        return stated(f"refs:max case:mixed eff:yes nc:6 {words}", "sacrebleu")

    def value(self, request: Request) -> float:
        request = spelt(request, apart=bool(self._words))
        return self._chrf.sentence_score(request.output, list(against(request))).score


class Rouge1(PairMetric):
    """ROUGE-1: F1 of shared words, in [0, 1] (Lin, 2004), by the package rouge-score.

    Plain: lower-case words of any script, no stemming.  ``stem``: Porter stems, for English.
    ``ascii``: upstream's own tokenizer, for which a text in another script is empty: for English,
    too.  ``lai2023``: what the scores released with Lai et al. (2023) hold, see :mod:`.ngrams`.
    The best of several references counts; symmetric, but for ROUGE-L of ``lai2023``.
    """

    name = "rouge1"
    VARIANTS: ClassVar[tuple[str, ...]] = ("stem", "ascii", "lai2023")
    max_tokens: int | None = None

    def __init__(self, variant: str = ""):
        from rouge_score.rouge_scorer import RougeScorer

        self._kind = self.name
        self._variant = chosen(self, variant)
        words = UnicodeWords(Stemmer() if variant == "stem" else None)
        self._rouge = RougeScorer([self._kind], tokenizer=None if variant == "ascii" else words)
        if variant:
            self.languages = ("en",)

    def fields(self) -> dict[str, object]:
        if self._variant == "lai2023":
            words = "refs:max tok:penn case:kept count:sets sentences:full-stop scale:1"
            return stated(words, "nltk")
        tok = "a-z0-9" if self._variant == "ascii" else "unicode-words"
        stem = "porter" if self._variant == "stem" else "none"
        rest = f"language:{' '.join(self.languages) or 'any'} hi-bn:{SPELLING}"
        words = f"refs:max tok:{tok} case:lower stem:{stem} measure:f1 scale:1 {rest}"
        return stated(words, "rouge-score")

    def _guarded(self, request: Request) -> Score:
        return refused(self, request) or super()._guarded(request)

    def value(self, request: Request) -> float:
        if self._variant == "lai2023":
            return max(self._of_sets(text, request.output) for text in against(request))
        request = spelt(request)
        return self._rouge.score_multi(against(request), request.output)[self._kind].fmeasure

    def _of_sets(self, text: str, output: str) -> float:
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
        words = f"tok:tercom case:lower norm:no punct:yes scale:100 hi-bn:{SPELLING}"
        return stated(f"refs:fewest-edits {words}", "sacrebleu")

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
        return stated(f"refs:min tok:13a case:mixed n:4 scale:100 {DANDA}", "sacrebleu")

    def value(self, request: Request) -> float:
        request = spelt(request, apart=True)
        output = ngrams.gram_sets(tokens13a(request.output))
        if not output:
            return self.empty_value
        return min(self._new(output, tokens13a(text)) for text in against(request))

    def _new(self, output: list[set], text: list[str]) -> float:
        known = set().union(*ngrams.gram_sets(text))
        return 100 * (sum(len(grams - known) / len(grams) for grams in output) / len(output))


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
        words = f"refs:max tok:13a case:mixed scale:1 {DANDA}"
        return stated(words, "sacrebleu", "rapidfuzz")

    def value(self, request: Request) -> float:
        request = spelt(request, apart=True)
        output = tokens13a(request.output)
        return max(self._similarity(tokens13a(text), output) for text in against(request))
