"""Fluency as the likelihood of the output under a language model, whatever it was made from.

Three metrics read the same token log-probabilities, kept in the score store's folder ``tokens``.
"""

import json
import math
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..models import hub, lm
from ..models.causal import Backbone, LanguageModel, described
from ..models.tokencache import Cached
from ..schema import DemonstrationWarning, Status, TstmetaError
from . import variants
from .base import CorpusMetric, Request, Score, scored
from .batched import ModelMetric, cut_note, identity_of, installed

_OPTIONS = {"per": ("token", "word"), "long": ("first-window", "strided")}


class Perplexity(ModelMetric):
    """exp of the mean negative log-probability of a text's tokens, >= 1; lower is better.

    So Pang and Gimpel (2019, PP), Lai et al. (2023) and Mukherjee et al. (2025) measure fluency.
    Each token is foreseen from those before it, the first from the model's beginning-of-text token,
    else its end-of-text token; the end of the text is not scored.  A blank text (``empty``) has the
    perplexity of a uniform guess, the size of the vocabulary.

    The mean is over tokens; with ``word`` the sum is divided by white-space words, which can be
    compared between models that cut words differently.  A text beyond the model's window is
    ``truncated``; with ``strided`` it is read whole, in windows that overlap by half.

    Args:
        words: ``word``, ``strided`` and a model: gpt2, mgpt, a folder or a model of a hub.
        model: a backend as an object; it wins over words.
    """

    name = "perplexity"
    dimensions: tuple[str, ...] = ("fluency",)
    bases: tuple[str, ...] = ("none",)
    higher_is_better = False
    accepts_empty = True
    VARIANTS: ClassVar[tuple[str, ...]] = ("word", "gpt2", "mgpt")

    def __init__(self, words: str = "", *, model: LanguageModel | None = None):
        super().__init__(words)
        named, chosen = variants.parse(words, _OPTIONS, lm.MODELS)
        self.model = model or named or lm.MODELS["embedded"]
        self.per, self.long = chosen.get("per", "token"), chosen.get("long", "first-window")
        self._demonstrates = isinstance(self.model, Backbone) and self.model.profile == "embedded"
        self.profile = "embedded" if self._demonstrates else "real"
        self.languages = getattr(self.model, "languages", ())

    @property
    def missing(self) -> str:
        return hub.absent(self.model) if isinstance(self.model, Backbone) else ""

    def fields(self) -> dict[str, object]:
        return {
            "model": self._identity().replace("|", " "),
            "context": "bos-else-eos",
            "per": self.per,
            **self.further_fields(),
            "long": self.long,
            "transformers": installed("transformers"),
        }

    def further_fields(self) -> dict[str, object]:
        """What else changes a value."""
        return {}

    def _identity(self) -> str:
        if not isinstance(self.model, Backbone):
            return self.model.identity
        # torch, which knows the devices, takes seconds to import
        device = "cpu" if self._demonstrates else hub.device_of()
        return described(identity_of(self.model), hub.dtype_of("auto", device))

    @cached_property
    def reader(self) -> lm.Reader:
        """The model, which is loaded when something is wanted that is not kept yet."""
        model = self.model
        if isinstance(model, Backbone):
            device = "cpu" if self._demonstrates else "auto"
            model = lm.loaded(model, hub.identity(model), device, "auto")
        kept = model if self._folder is None else Cached(model, self._folder / "tokens")
        return lm.Reader(kept, self.long == "strided")

    def keep_in(self, folder: Path, progress: bool) -> None:
        super().keep_in(folder, progress)
        self.__dict__.pop("reader", None)

    def score(self, units: Sequence[tuple[Request, ...]]) -> Iterator[tuple[Score, ...]]:
        if self._demonstrates:
            warnings.warn(
                "the embedded model demonstrates how fluency metrics work: it is tiny and has read "
                "generated text only. Name a real model, for instance perplexity:gpt2",
                DemonstrationWarning,
                stacklevel=2,
            )
        return super().score(units)

    def values(self, requests: Sequence[Request]) -> Sequence[Score]:
        blank = [not request.output.strip() for request in requests]
        texts = [r.output for r, nothing in zip(requests, blank, strict=True) if not nothing]
        readings = iter(self.reader.read(texts, self._progress))
        return [
            self._blank_answer() if nothing else self._answer(next(readings)) for nothing in blank
        ]

    def _answer(self, reading: lm.Reading | lm.Unreadable) -> Score:
        if isinstance(reading, lm.Unreadable):
            return Score(math.nan, Status.INVALID, reading.reason)
        return scored(self.of_reading(reading), cut_note(reading.whole, reading.used))

    def _blank_answer(self) -> Score:
        return Score(float(self.reader.model.vocabulary), Status.EMPTY, "empty text")

    def of_reading(self, reading: lm.Reading) -> float:
        return _perplexity(-reading.logprob, self.length(reading))

    def length(self, reading: lm.Reading) -> int:
        return reading.words if self.per == "word" else len(reading.tokens)


class CorpusPerplexity(Perplexity, CorpusMetric):
    """Perplexity of all outputs as one text, >= 1: exp of their summed loss by their summed length.

    Not the mean of sentence perplexities, which single odd sentences rule.  The statistics of an
    item, shape [2], are its negative log-probability and its length in tokens (``word``: in words);
    blank outputs add nothing.  A cut text counts with the part that was read.
    """

    name = "corpus-perplexity"

    def aggregate(self, total: np.ndarray) -> float:
        loss, length = map(float, total)
        return _perplexity(loss, length) if length else float(self.reader.model.vocabulary)

    def _answer(self, reading: lm.Reading | lm.Unreadable) -> Score:
        score = super()._answer(reading)
        if isinstance(reading, lm.Unreadable) or not score.status.has_value:
            return score
        return score._replace(detail=json.dumps([-reading.logprob, float(self.length(reading))]))

    def _blank_answer(self) -> Score:
        return super()._blank_answer()._replace(detail="[0.0, 0.0]")


class Slor(Perplexity):
    """Syntactic log-odds ratio: (log p(text) - log of its unigram probability) / tokens.

    Pauls and Klein (2012); Kann et al. (2018, Eq. 1).  Higher is better; 0, also of a blank text:
    no likelier than its words in any order.  Unlike perplexity it does not punish rare words.  The
    unigram probabilities are those of the text that the model was trained on, with add-one
    smoothing, from the file ``unigrams.csv`` beside the model or one that is named
    (``slor:gpt2+/path/a.csv``); only tokens that are scored count.
    """

    name = "slor"
    higher_is_better = True
    VARIANTS: ClassVar[tuple[str, ...]] = ("word",)

    def __init__(
        self, words: str = "", *, model: LanguageModel | None = None, unigrams: Path | None = None
    ):
        rest = words.split("+")
        if file := next((word for word in rest if word.endswith(".csv")), ""):
            rest.remove(file)
            unigrams = Path(file).expanduser()
        super().__init__("+".join(rest), model=model)
        self.name = f"{Slor.name}:{words}" if words else Slor.name
        if unigrams is None and isinstance(self.model, Backbone) and self.model.local:
            beside = Path(self.model.where).expanduser() / lm.UNIGRAMS
            unigrams = beside if beside.is_file() or self.model.course else None  # to be trained
        if unigrams is None:
            raise TstmetaError(
                f"{self.name} needs the token frequencies of what the model was trained on: name a "
                f"file, as in slor:gpt2+/path/{lm.UNIGRAMS}, or a folder that tstmeta train lm made"
            )
        self._file = unigrams

    def further_fields(self) -> dict[str, object]:
        return {"unigrams": lm.file_hash(self._file), "smooth": "add-one"}

    @cached_property
    def unigrams(self) -> lm.Unigrams:
        return lm.read_unigrams(self._file, self.reader.model.vocabulary)

    def of_reading(self, reading: lm.Reading) -> float:
        odds = reading.logprob - self.unigrams.logprob(reading.tokens)
        return odds / self.length(reading)

    def _blank_answer(self) -> Score:
        return Score(0.0, Status.EMPTY, "empty text")


def _perplexity(loss: float, length: float) -> float:
    try:
        return math.exp(loss / length)
    except OverflowError:
        return math.inf
