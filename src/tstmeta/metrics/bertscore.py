"""BERTScore on any encoder; the library bert-score tells its layer and its baseline."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pandas as pd

from ..extras import needs
from ..models import encoders, idf, vectors
from ..models.causal import Backbone
from ..models.encoders import ENCODERS, MINILM, TokenVectors
from ..schema import Status, TstmetaError
from .base import Score, scored
from .batched import ModelMetric, Pair, cut_note, installed
from .variants import parse, without_file

#: The layers of the English encoders that have a name here: what the bert-score library found best
#: on WMT16.  The embedded one is not in its table and gets what that gives to six-layer BERTs.
LAYERS = {"all-minilm-l6-v2": 5, "deberta-xlarge-mnli": 40, "roberta-large": 17}
_OPTIONS = {"part": ("p", "r", "f1"), "scale": ("rescaled",), "weights": ("idf",)}
#: Pairs whose vectors are held at a time.
_CHUNK = 1024


class Matched(NamedTuple):
    """Precision, recall and their harmonic mean, in [-1, 1]; NaN where no token has a weight."""

    p: float
    r: float
    f1: float


class BertScore(ModelMetric):
    """BERTScore (Zhang et al., 2020, Section 3): at most 1, seldom below 0; higher is better.

    Each token of the output is matched with the token of the other text whose contextual vector is
    nearest by cosine.  ``p`` is the mean over the output's tokens, ``r`` over the other text's,
    ``f1`` (the default) their harmonic mean.  Control tokens can be matched and have no weight.
    The best of several references counts.  The bert-score library gives the same pair by pair; in a
    batch it counts padding as a cosine of 0, which shows only where all are below 0.

    Args:
        words: a part, ``rescaled``, ``layerN``, ``idf`` or ``idf=FILE`` and a model, joined by
            ``+``.  FILE has texts, one a line, or is a table that ``tstmeta train idf`` wrote.
    """

    name = "bertscore"
    VARIANTS: ClassVar[tuple[str, ...]] = (
        *("p", "r", "idf", "deberta-xlarge-mnli", "rescaled+deberta-xlarge-mnli"),
        *("roberta-large", "rescaled+roberta-large"),
    )

    def __init__(self, words: str = ""):
        super().__init__(words)
        rest, self._texts = without_file(words, "idf=")
        layers = [word for word in rest.split("+") if re.fullmatch(r"layer\d{1,3}", word)]
        if len(layers) > 1:
            raise TstmetaError(f"{words!r} names two layers; name one")
        rest = "+".join(word for word in rest.split("+") if word not in layers)
        model, chosen = parse(rest, _OPTIONS, ENCODERS)
        self.model = model or MINILM
        if "weights" in chosen:
            if self.model is not MINILM or self._texts:
                raise TstmetaError(
                    f"the shipped counts are of tokens of {MINILM.name}; for another model or "
                    "other counts name texts to count in: idf=FILE, one text a line"
                )
            self._texts = idf.SHIPPED
        self.part = chosen.get("part", "f1")
        self.layer = int(layers[0].removeprefix("layer")) if layers else _layer(self.model)
        self.baseline = _baseline(self.model, self.layer) if "scale" in chosen else None
        self.profile, self.languages = self.model.profile, languages(self.model)

    @property
    def missing(self) -> str:
        return encoders.missing(self.model)

    def fields(self) -> dict[str, object]:
        return {
            "model": encoders.identity(self.model),
            "layer": self.layer,
            "part": self.part,
            "idf": vectors.identity(self._texts) if self._texts else "none",
            "rescaled": f"bert-score-{installed('bert-score')}" if self.baseline else "no",
            "refs": "max",
            "transformers": installed("transformers"),
        }

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        chunks = (pairs[at : at + _CHUNK] for at in range(0, len(pairs), _CHUNK))
        return [answer for chunk in chunks for answer in super(BertScore, self).pairs(chunk)]

    def prepare(self, texts: list[str]) -> list[TokenVectors]:
        encoder = encoders.load(self.model)
        self._control, self._window = encoder.tokenizer.num_special_tokens_to_add(), encoder.window
        return encoder.tokens(texts, self.layer)

    def compare(self, text: TokenVectors, output: TokenVectors) -> Score:
        if min(len(text.ids), len(output.ids)) <= self._control:
            return Score(self.empty_value, Status.EMPTY, "a text without a token")
        value = getattr(greedy(text, output, self._weights), self.part)
        if self.baseline:
            base = getattr(self.baseline, self.part)
            value = (value - base) / (1 - base)
        return scored(value, cut_note(max(text.length, output.length), self._window))

    @cached_property
    def _weights(self) -> np.ndarray:
        """The weight of each token of the vocabulary, float32.

        Without idf 1, and 0 for what begins and ends a text; with it the library's log((N + 1) /
        (n + 1)) of a token in n of N texts.
        """
        encoder = encoders.load(self.model)
        size = max(len(encoder.tokenizer), int(encoder.network.config.vocab_size))
        if self._texts is None:
            weights = np.ones(size, dtype=np.float32)
            weights[[encoder.tokenizer.cls_token_id, encoder.tokenizer.sep_token_id]] = 0
            return weights
        counts, total = idf.of_file(encoder, self._texts)
        weights = np.full(size, math.log(total + 1), dtype=np.float32)
        for token, count in counts.items():
            weights[token] = math.log((total + 1) / (count + 1))
        return weights


def languages(model: Backbone) -> tuple[str, ...]:
    """What an encoder is made for; empty = any, or not known."""
    return ("en",) if ENCODERS.get(model.name) is model and model.name in LAYERS else ()


def _known_as(model: Backbone) -> str:
    """What the library calls a model; a folder is what its name says, as converted weights are."""
    if model.local:
        near = ENCODERS.get(Path(model.where).resolve().name)
        model = near if near and not near.local else model
    return model.where.removeprefix("FacebookAI/")


def _layer(model: Backbone) -> int:
    if model.name in LAYERS and ENCODERS.get(model.name) is model:
        return LAYERS[model.name]  # without the library, whose import takes seconds
    if find_spec("bert_score"):
        from bert_score.utils import model2layers

        if _known_as(model) in model2layers:
            return int(model2layers[_known_as(model)])
    raise TstmetaError(
        f"which layer of {model.where} BERTScore should use is not known: name it, as in "
        f"bertscore:layer9+{model.name}"
    )


def _baseline(model: Backbone, layer: int) -> Matched:
    """What unrelated English sentences get, as the bert-score library ships it."""
    needs("bert_score")
    library = str(find_spec("bert_score").origin)  # type: ignore[union-attr]
    file = Path(library).parent / "rescale_baseline" / "en" / f"{_known_as(model)}.tsv"
    if file.is_file():
        table = pd.read_csv(file, index_col="LAYER", float_precision="round_trip")
        if layer in table.index:
            return Matched(*table.loc[layer, ["P", "R", "F"]].tolist())
    raise TstmetaError(
        f"the bert-score library has no baseline for layer {layer} of {model.where}; leave out "
        "'rescaled', or name a model that it has one for, such as deberta-xlarge-mnli"
    )


def greedy(compared: TokenVectors, output: TokenVectors, weights: np.ndarray) -> Matched:
    """How well the tokens of an output and of the text it is compared with match.

    Zhang et al. (2020), Section 3: precision is the mean, over the output's tokens, of the largest
    cosine with a token of the other text; recall the same the other way round.  ``weights``, >= 0,
    are those of each token of the vocabulary in both means.
    """
    import torch
    from torch.nn.functional import normalize

    with torch.inference_mode():
        # shape [tokens of the output, tokens of the other text]
        cosines = normalize(output.vectors, dim=-1) @ normalize(compared.vectors, dim=-1).T
        means = []
        for text, nearest in ((output, cosines.amax(1)), (compared, cosines.amax(0))):
            weight = torch.from_numpy(weights[text.ids]).to(nearest.device)
            means.append((nearest * weight).sum() / weight.sum())
        precision, recall = torch.stack(means).double().tolist()
    total = precision + recall
    # as in the library: 0 where the two cancel out
    return Matched(precision, recall, 2 * precision * recall / total if total else 0.0)
