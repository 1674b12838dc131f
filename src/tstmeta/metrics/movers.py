"""Metrics on vectors of single words: word mover's distance, and Sim of Pang and Gimpel (2019).

The vectors are those of a file in GloVe's text format, or what the embedded encoder looks its
tokens up in, before any of its layers: these stand for a token whatever its neighbours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..models import encoders, hub, vectors
from ..models.encoders import MINILM
from ..models.vectors import TokenTable, VectorFile, Vectors
from ..schema import Signature, Status, TstmetaError
from .base import Request, Score
from .batched import Answer, BatchedMetric, Pair
from .encoded import installed, signed, without_file

_NO_WORD = "a text has no word with a vector"


class Wmd(BatchedMetric):
    """Word mover's distance (Kusner et al., 2015, Section 4): >= 0; lower is better.

    The least total distance over which the words of one text travel to become those of the other;
    words count as often as they occur, distances are Euclidean, nothing is left out as a stop word.
    The nearest of several references counts.  A text without words has no distance: ``invalid``.

    Args:
        words: ``unit`` (vectors are brought to length 1 first, so distances are at most 2) and
            ``vectors=FILE``, joined by ``+``.
    """

    name = "wmd"
    higher_is_better = False
    VARIANTS: ClassVar[tuple[str, ...]] = ("unit",)

    def __init__(self, words: str = ""):
        rest, self._file = without_file(words, "vectors=")
        self.unit_length = _unit_length(rest, ("unit",), "vectors=FILE")
        self.name = f"{self.name}:{words}" if words else self.name
        self.profile, self.languages = kind_of(self._file)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the encoder or POT is not here; empty when both are."""
        return hub.lacking("ot") or ("" if self._file else encoders.missing(MINILM))

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

    def fields(self) -> dict[str, object]:
        return {
            **source_fields(self._file),
            "length": "unit" if self.unit_length else "raw",
            "refs": "min",
            "POT": installed("POT"),
        }

    @cached_property
    def _source(self) -> Vectors:
        return source_of(self._file)

    def _blank(self, request: Request) -> Score | None:
        blank = super()._blank(request)
        # 0 would be the best of all values, and no largest distance is known
        return blank and Score(math.nan, Status.INVALID, "empty text: no word can travel")

    def pairs(self, pairs: Sequence[Pair]) -> list[Answer]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        places = self._source.places(texts)
        bags = {
            text: dict(zip(*np.unique(own, return_counts=True), strict=True))
            for text, own in zip(texts, places, strict=True)
        }
        return [self._distance(bags[a], bags[b]) for a, b in pairs]

    def _distance(self, one: dict[int, int], other: dict[int, int]) -> Answer:
        if not one or not other:
            return Score(math.nan, Status.INVALID, _NO_WORD)
        here, there = _travellers(one, other)
        if not here:
            return 0.0
        import ot
        from scipy.spatial.distance import cdist

        sides = [self._source.vectors(np.array(list(side))) for side in (here, there)]
        if self.unit_length:
            sides = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
        masses = [np.array(list(side.values())) for side in (here, there)]
        total = masses[0].sum()
        # the solver wants equal sums to the last digit
        masses = [mass / mass.sum() for mass in masses]
        return float(total * ot.emd2(*masses, cdist(*sides), numItermax=10**7))


class Sim(BatchedMetric):
    """Cosine of weighted means of word vectors (Pang and Gimpel, 2019): in [-1, 1].

    A word weighs its idf, log(N / n) when n of N texts have it; one that none of them has weighs
    like a word of one text.  Without texts to count in, all words weigh the same.  Higher is
    better; the best of several references counts.

    Args:
        words: ``vectors=FILE`` and ``idf=FILE`` (one text a line), joined by ``+``.
    """

    name = "sim"
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    max_tokens = None

    def __init__(self, words: str = ""):
        rest, self._file = without_file(words, "vectors=")
        rest, self._texts = without_file(rest, "idf=")
        _unit_length(rest, (), "vectors=FILE, idf=FILE")
        self.name = f"{self.name}:{words}" if words else self.name
        self.profile, self.languages = kind_of(self._file)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the encoder is not here; empty when it is."""
        return "" if self._file else encoders.missing(MINILM)

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

    def fields(self) -> dict[str, object]:
        idf = vectors.identity(self._texts) if self._texts else "uniform"
        return {**source_fields(self._file), "idf": idf, "refs": "max"}

    @cached_property
    def _source(self) -> Vectors:
        return source_of(self._file)

    @cached_property
    def _idf(self) -> tuple[dict[int, int], int]:
        if self._texts is None:
            return {}, 0
        texts = vectors.texts_of(self._texts)
        return vectors.frequencies(own.tolist() for own in self._source.places(texts))

    def pairs(self, pairs: Sequence[Pair]) -> list[Answer]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        places = self._source.places(texts)
        means = {text: self._mean(own) for text, own in zip(texts, places, strict=True)}
        return [_cosine(means[a], means[b]) for a, b in pairs]

    def _mean(self, places: np.ndarray) -> np.ndarray | None:
        """The direction of the weighted mean; None for a text without words."""
        if not len(places):
            return None
        counts, total = self._idf
        weights = np.ones(len(places))
        if total:
            weights = np.array([math.log(total / counts.get(p, 1)) for p in places.tolist()])
        return weights @ self._source.vectors(places)


def _cosine(one: np.ndarray | None, other: np.ndarray | None) -> Answer:
    if one is None or other is None:
        return Score(math.nan, Status.INVALID, _NO_WORD)
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    if not length:
        return Score(math.nan, Status.INVALID, "all words of a text weigh nothing")
    return min(1.0, max(-1.0, float(one @ other) / length))


def _travellers(
    one: dict[int, int], other: dict[int, int]
) -> tuple[dict[int, float], dict[int, float]]:
    """The shares of words that must move; what both texts have stays where it is.

    That loses nothing: distances obey the triangle inequality, so a plan that moves a shared word
    away and another into its place can be made shorter.
    """
    sums = sum(one.values()), sum(other.values())
    left = {word: one.get(word, 0) * sums[1] - other.get(word, 0) * sums[0] for word in one | other}
    whole = sums[0] * sums[1]  # whole numbers until here: equal shares cancel out exactly
    return (
        {word: more / whole for word, more in left.items() if more > 0},
        {word: -more / whole for word, more in left.items() if more < 0},
    )


# ---------------------------------------------------------------------------------------- shared


def _unit_length(words: str, options: tuple[str, ...], files: str) -> bool:
    """Whether ``unit`` is among the words.

    Raises:
        TstmetaError: a word that is no option; a model has no vectors of single words.
    """
    every = [word for word in words.split("+") if word]
    if wrong := next((word for word in every if word not in options), None):
        known = ", ".join([*options, files])
        raise TstmetaError(f"{wrong!r} names no option and no model of word vectors: use {known}")
    return "unit" in every


def source_of(file: Path | None) -> Vectors:
    """The vectors of a file, or the embedded encoder's."""
    return VectorFile(file) if file else TokenTable(encoders.load(MINILM))


def source_fields(file: Path | None) -> dict[str, object]:
    """What changes a vector or a word."""
    if file:
        return {
            "vectors": vectors.identity(file),
            "tok": f"treebank-nltk-{installed('nltk')}",
            "case": "lower",
        }
    return {
        "vectors": f"input embeddings of {encoders.identity(MINILM)}",
        "tok": f"its own-transformers-{installed('transformers')}",
    }


def kind_of(file: Path | None) -> tuple[str, tuple[str, ...]]:
    """Profile and languages; what language a file is for is not known."""
    return ("real", ()) if file else (MINILM.profile, ("en",))
