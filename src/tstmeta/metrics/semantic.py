"""Metrics that compare vectors: BERTScore, cosines of sentence vectors, WMD, Sim."""

import math
from collections import Counter
from functools import cached_property
from typing import ClassVar

import numpy as np

from ..extras import lacking
from ..models import encoders, hub, vectors
from ..models.encoders import DECIMALS, ENCODERS, MINILM, TextVector
from ..models.vectors import VectorFile, Vectors
from ..schema import Status
from .base import Score, cut_note, installed, scored
from .batched import ModelMetric
from .bertscore import BertScore
from .learned import Elsewhere
from .settings import File, MetricSettings

__all__ = ["BertScore", "Cosine", "S3Bert", "Sim", "Wmd"]

WORDLESS = Score(math.nan, Status.INVALID, "a text has no word with a vector and a weight")
#: No two of the embedded vectors are as far apart (the longest is 1.694), nor vectors of a file.
FARTHEST, FARTHEST_OF_FILE = 3.4, 100.0


class Cosine(ModelMetric):
    """Cosine of two sentence vectors (Reimers and Gurevych, 2019): in [-1, 1]; higher is better.

    Tokens are pooled and normalised as the model's settings for sentence-transformers say.
    """

    name = "cosine"
    VARIANTS: ClassVar[tuple[str, ...]] = ("labse", "multilingual-minilm")
    models, default = ENCODERS, MINILM.name
    facts = "refs:max sentence-transformers transformers"

    @property
    def missing(self) -> str:
        return encoders.missing(self.model, "sentence_transformers")

    def fields(self) -> dict[str, object]:
        model = {"model": hub.identity(self.model), "pooling": encoders.pooling(self.model)}
        return {**model, **super().fields()}

    def prepare(self, texts: list[str]) -> list[TextVector]:
        encoder = encoders.load(self.model)
        self._control = encoder.tokenizer.num_special_tokens_to_add()
        self._window = encoder.sentence_window
        return encoder.sentences(texts)

    def compare(self, text: TextVector, output: TextVector) -> Score:
        lengths = text.length, output.length
        if 0 < min(lengths) <= self._control:
            return Score(0.0, Status.EMPTY, "a text without a token")
        value = _cosine(*(side.vector.astype(float) for side in (text, output)))
        return scored(round(value, DECIMALS), cut_note(max(lengths), self._window))


class S3Bert(Elsewhere):
    """Cosine of S3BERT's sentence vectors (Opitz and Frank, 2022): in [-1, 1]; more is better."""

    name = "s3bert"
    languages = ("en",)
    facts = "feature:global[0:]"
    how = (
        "no hub has S3BERT: convert the weights of its authors (github.com/flipz357/S3BERT)"
        " to safetensors and name the folder, cosine:/path/s3bert_all-MiniLM-L12-v2, or score there"
    )


def _cosine(first: np.ndarray, second: np.ndarray) -> float:
    """In [-1, 1]; NaN where a vector has no direction."""
    length = float(np.linalg.norm(first) * np.linalg.norm(second))
    return min(1.0, max(-1.0, float(first @ second) / length)) if length else math.nan


class WordSettings(MetricSettings):
    """A file of word vectors in GloVe's text format; the embedded encoder's without it."""

    vectors: File = None


class SimSettings(WordSettings):
    """Word vectors, and a file of texts, one a line, whose words are counted."""

    idf: File = None


class WordMetric(ModelMetric):
    """A metric on vectors of single words."""

    Settings: ClassVar[type[WordSettings]] = WordSettings
    languages: tuple[str, ...] = ("en",)

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        if self.settings.vectors:
            self.profile, self.languages = "real", ()  # what language a file is for is not known

    @property
    def missing(self) -> str:
        return "" if self.settings.vectors else encoders.missing(MINILM)

    @cached_property
    def source(self) -> Vectors:
        file = self.settings.vectors
        return VectorFile(file) if file else encoders.load(MINILM)

    def fields(self) -> dict[str, object]:
        if file := self.settings.vectors:
            tokens = f"treebank-nltk-{installed('nltk')}"
            return {"vectors": vectors.identity(file), "tok": tokens, "case": "lower"}
        return {
            "vectors": f"input embeddings of {hub.identity(MINILM)}",
            "tok": f"its own-transformers-{installed('transformers')}",
        }


class Wmd(WordMetric):
    """Word mover's distance (Kusner et al., 2015, Section 4): >= 0; lower is better.

    The least total Euclidean distance over which the words of one text travel to become those of
    the other.  A text without words has no distance: ``invalid``; a blank output has the worst.
    """

    name = "wmd"
    higher_is_better = False
    max_tokens = 2000

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.limits = (0.0, FARTHEST_OF_FILE if self.settings.vectors else FARTHEST)

    @property
    def missing(self) -> str:
        return lacking("ot") or super().missing

    def fields(self) -> dict[str, object]:
        return {**super().fields(), "length": "raw", "refs": "min", "POT": installed("POT")}

    def prepare(self, texts: list[str]) -> list[Counter[int]]:
        return [Counter(sorted(words.tolist())) for words in self.source.places(texts)]

    def compare(self, text: Counter[int], output: Counter[int]) -> Score:
        if not text or not output:
            return WORDLESS
        a, b = text.total(), output.total()
        # whole numbers until they are divided, so that equal shares cancel out exactly; what both
        # texts have stays where it is, as distances obey the triangle inequality
        surplus = {word: text[word] * b - output[word] * a for word in text | output}
        origins = {word: more / (a * b) for word, more in surplus.items() if more > 0}
        targets = {word: -more / (a * b) for word, more in surplus.items() if more < 0}
        if not origins:
            return Score(0.0)
        import ot
        from scipy.spatial.distance import cdist

        sides = [self.source.vectors(np.array(list(side))) for side in (origins, targets)]
        masses = [np.array(list(side.values())) for side in (origins, targets)]
        total = masses[0].sum()
        # the solver wants equal sums to the last digit
        masses = [mass / mass.sum() for mass in masses]
        return scored(float(total * ot.emd2(*masses, cdist(*sides), numItermax=10**7)))


class Sim(WordMetric):
    """Cosine of weighted means of word vectors (Pang and Gimpel, 2019): in [-1, 1].

    A word weighs its idf, log(N / n) when n of N texts have it; one that none of them has weighs
    like a word of one text.  Without texts to count in, all words weigh the same.
    """

    name = "sim"
    Settings = SimSettings

    def fields(self) -> dict[str, object]:
        texts = self.settings.idf
        weights = vectors.identity(texts) if texts else "uniform"
        return {**super().fields(), "idf": weights, "refs": "max"}

    @cached_property
    def _idf(self) -> tuple[dict[int, int], int]:
        if (texts := self.settings.idf) is None:
            return {}, 0
        places = self.source.places(vectors.texts_of(texts))
        return vectors.frequencies(words.tolist() for words in places)

    def prepare(self, texts: list[str]) -> list[np.ndarray]:
        """Sums of weighted vectors, whose directions are those of their means."""
        counts, total = self._idf
        sums = []
        for places in self.source.places(texts):
            weights = np.ones(len(places))
            if total:
                weights = np.array([math.log(total / counts.get(p, 1)) for p in places.tolist()])
            sums.append(weights @ self.source.vectors(places))
        return sums

    def compare(self, text: np.ndarray, output: np.ndarray) -> Score:
        value = _cosine(text, output)
        # rewrites of the same words must tie: in another order their sums differ in the last digit
        return WORDLESS if math.isnan(value) else scored(round(value, 12))
