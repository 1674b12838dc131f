"""Texts read by a causal language model: log-probability and number of tokens of each text."""

import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..schema import TstmetaError, numeric
from . import hub
from .causal import Backbone, Continuation, LanguageModel, catalogue
from .template import ControlMark, Template

#: Token frequencies (id, count): those of fetched models come with the package,
#: ``experiments.training`` writes them beside a model.
SHIPPED, UNIGRAMS = Path(__file__).parent / "weights" / "unigrams", "unigrams.csv"
#: Models by the names they have as words of fluency metrics.
MODELS = catalogue("fluency")


class Reading(NamedTuple):
    """A text's ``logprob``: the sum of the natural logarithms of its ``tokens``' probabilities.

    ``words`` are the white-space words of the part that was read; the text has ``length`` tokens.
    """

    logprob: float
    tokens: tuple[int, ...]
    words: int
    length: int


class Reader:
    """A model that reads texts, each by itself, as far as its window reaches.

    The context of the first token is the beginning-of-text token, else the end-of-text token.
    """

    def __init__(self, model: LanguageModel):
        self.model, self.template = model, Template(model.tokenizer)
        marks = (model.tokenizer.bos_token_id, model.tokenizer.eos_token_id)
        if marks == (None, None):
            raise TstmetaError("the tokenizer has no token that begins or ends a text; add one")
        self.start = next(int(token) for token in marks if token is not None)

    def read(self, texts: Sequence[str], progress: bool = False) -> list[Reading | str]:
        """A reading of each text, in order, or why it has none."""
        readings = [self._prepared(text) for text in texts]
        known = {n: reading for n, reading in enumerate(readings) if isinstance(reading, Reading)}
        places = list(known)
        requests = [Continuation((self.start,), reading.tokens) for reading in known.values()]
        for batch in self.model.logprobs(requests, progress=progress):
            for at, values in batch:
                place, logprob = places[at], float(np.sum(values, dtype=np.float64))
                readings[place] = known[place]._replace(logprob=logprob)
        return readings

    def _prepared(self, text: str) -> Reading | str:
        """A reading whose ``logprob`` is still NaN, or why there is none."""
        try:
            ids = self.template.tokens(text)
        except ControlMark as error:
            return str(error)
        tokens = ids[: self.model.window]
        read = text if len(tokens) == len(ids) else self.model.tokenizer.decode(tokens)
        return Reading(math.nan, tokens, len(read.split()), len(ids)) if ids else "no token"


@lru_cache(maxsize=1)
def loaded(model: Backbone, identity: str) -> LanguageModel:
    """A model that several metrics share; a folder that is trained anew has another identity."""
    # texts that are read by themselves share little but the mark: trees would take twice the time
    return hub.Lazy(model, reuse=False)


def read_unigrams(path: Path, vocabulary: int) -> np.ndarray:
    """Token probabilities without context, with add-one smoothing: natural logs [vocabulary]."""
    from ..data.files import read_csv  # imported late: metrics are listed without pandas

    columns = {"id": numeric(0, vocabulary - 1, integer=True), "count": numeric(1, integer=True)}
    table = read_csv(path, columns, unique=["id"])
    if table.empty:
        raise TstmetaError(f"{path}: no token is counted. Remedy: train the model anew")
    counts = np.zeros(vocabulary)
    counts[table["id"].astype(int)] = table["count"]
    return np.log((counts + 1) / (counts.sum() + vocabulary))
