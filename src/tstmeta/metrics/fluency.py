"""Fluency as the likelihood of the output under a language model, whatever it was made from.

Three metrics read the same token log-probabilities, which are in the score store.
"""

import json
import math
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from ..models import hub, lm
from ..models.causal import DEFAULT, described
from ..models.tokencache import Cached
from ..schema import Status, TstmetaError
from .base import CorpusMetric, Request, Score, cut_note, installed, scored
from .batched import ModelMetric
from .settings import ModelSettings


class PerplexitySettings(ModelSettings):
    """A language model, and what its loss is divided by."""

    per: Literal["token", "word"] = "token"


#: Perplexity of a blank text, per token and per word: rated rewrites reach 4e7 and 2e27.
WORST = {"token": 1e9, "word": 1e30}


class Perplexity(ModelMetric):
    """exp of the mean negative log-probability of a text's tokens, >= 1; lower is better.

    So Pang and Gimpel (2019, PP), Lai et al. (2023) and Mukherjee et al. (2025) measure fluency.
    The end of the text is not scored; a blank text has :data:`WORST`.  With ``per=word`` the sum is
    divided by white-space words.
    """

    name = "perplexity"
    dimensions: tuple[str, ...] = ("fluency",)
    bases: tuple[str, ...] = ("none",)
    higher_is_better = False
    limits: tuple[float, float] = (1.0, WORST["token"])
    accepts_empty = True
    VARIANTS: ClassVar[tuple[str, ...]] = (
        *("word", "qwen2.5-coder-1.5b", "gemma-3-270m", "gpt2", "mgpt"),
    )
    Settings: ClassVar[type[ModelSettings]] = PerplexitySettings
    models, default = lm.MODELS, DEFAULT

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.per = getattr(self.settings, "per", "token")
        self.limits = (1.0, WORST[self.per])

    def fields(self) -> dict[str, object]:
        model = described(hub.identity(self.model), hub.dtype_of(self.model))
        return {
            "model": model.replace("|", " "),
            "context": "bos-else-eos",
            "per": self.per,
            **self.further_fields(),
            "long": "first-window",
            "transformers": installed("transformers"),
        }

    def further_fields(self) -> dict[str, object]:
        """What else changes a value."""
        return {}

    @cached_property
    def reader(self) -> lm.Reader:
        """The model, which is loaded when it is needed."""
        model = lm.loaded(self.model, hub.identity(self.model))
        return lm.Reader(model if self._folder is None else Cached(model, self._folder))

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        texts = [request.output for request in requests if request.output.strip()]
        readings = iter(self.reader.read(texts, self._progress))
        return [self._answer(next(readings) if r.output.strip() else None) for r in requests]

    def _answer(self, reading: lm.Reading | str | None) -> Score:
        if reading is None:
            return Score(self.limits[not self.higher_is_better], Status.EMPTY, "empty text")
        if isinstance(reading, str):
            return Score(math.nan, Status.INVALID, reading)
        return scored(self.value_of(reading), cut_note(reading.length, len(reading.tokens)))

    def value_of(self, reading: lm.Reading) -> float:
        return _perplexity(-reading.logprob, self.length(reading))

    def length(self, reading: lm.Reading) -> int:
        return reading.words if self.per == "word" else len(reading.tokens)


class CorpusPerplexity(Perplexity, CorpusMetric):
    """Perplexity of all outputs as one text, >= 1: exp of their summed loss by their summed length.

    The statistics of an item, shape [2], are its negative log-probability and its length in tokens
    (``word``: in words); blank outputs add nothing.
    """

    name = "corpus-perplexity"

    def aggregate(self, total: np.ndarray) -> float:
        loss, length = map(float, total)
        return _perplexity(loss, length) if length else self.limits[1]

    def _answer(self, reading: lm.Reading | str | None) -> Score:
        score, vector = super()._answer(reading), [0.0, 0.0]
        if isinstance(reading, lm.Reading):
            vector = [-reading.logprob, float(self.length(reading))]
        return score._replace(detail=json.dumps(vector)) if score.status.has_value else score


class Slor(Perplexity):
    """Syntactic log-odds ratio: (log p(text) - log of its unigram probability) / tokens.

    Pauls and Klein (2012); Kann et al. (2018, Eq. 1).  Higher is better; 0: no likelier than its
    words in any order.  A blank text has -log(WORST), for SLOR is at least -log(perplexity).
    """

    name = "slor"
    higher_is_better = True
    VARIANTS: ClassVar[tuple[str, ...]] = ()
    Settings = ModelSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.limits = (-math.log(WORST["token"]), math.inf)
        shipped, trained = lm.SHIPPED / f"{self.model.name}.csv", self.model.folder / lm.UNIGRAMS
        self._file = shipped if self.model.fetched else trained
        if not (self._file.is_file() or self.model.course):  # or it is yet to be trained
            raise TstmetaError(
                f"{self.name} needs token frequencies, which come with {DEFAULT}, or stand in a "
                f"folder that experiments.training lm wrote; {self._file} is no file"
            )

    def further_fields(self) -> dict[str, object]:
        return {"unigrams": hub.file_hash(self._file)[:8], "smooth": "add-one"}

    @cached_property
    def unigrams(self) -> np.ndarray:
        return lm.read_unigrams(self._file, self.reader.model.vocabulary)

    def value_of(self, reading: lm.Reading) -> float:
        odds = reading.logprob - float(self.unigrams[list(reading.tokens)].sum())
        return odds / len(reading.tokens)


def _perplexity(loss: float, length: float) -> float:
    try:
        return math.exp(loss / length)
    except OverflowError:
        return math.inf
