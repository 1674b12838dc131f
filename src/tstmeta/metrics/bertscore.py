"""BERTScore on any encoder, each text encoded once.

The library bert-score tells which layer to use and what unrelated sentences get; texts are encoded
and matched here, so that nothing is computed twice and what is cut off is told.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..models import encoders, hub, idf, vectors
from ..models.causal import Backbone
from ..models.encoders import ENCODERS, MINILM, Encoder
from ..schema import Signature, Status, TstmetaError
from .base import Score
from .batched import Answer, BatchedMetric, Pair
from .encoded import cut_note, installed, languages, noted, signed, without_file
from .matching import Matched, greedy
from .variants import parse

#: The layer of the models that have a name here: what the bert-score library found best on WMT16.
#: The embedded encoder is not in its table; it gets what the table gives to six-layer BERTs.
LAYERS = {"all-minilm-l6-v2": 5, "deberta-xlarge-mnli": 40, "roberta-large": 17}
#: The library's own name of a model that a hub keeps under a longer one.
_LIBRARY_NAMES = {"FacebookAI/roberta-large": "roberta-large"}
#: Pairs whose vectors are held at a time.
_CHUNK = 1024


class BertScore(BatchedMetric):
    """BERTScore (Zhang et al., 2020, Section 3): at most 1, seldom below 0; higher is better.

    Each token of the output is matched with the token of the other text whose contextual vector is
    nearest by cosine.  ``p`` is the mean over the output's tokens, ``r`` over the other text's,
    ``f1`` (the default) their harmonic mean.  Control tokens can be matched and have no weight.
    The best of several references counts.  It equals the bert-score library's pair by pair; in a
    batch the library counts padding as a cosine of 0, which shows only where all are below 0.

    Args:
        words: a part, ``rescaled``, ``layerN``, ``idf`` or ``idf=FILE`` and a model, joined by
            ``+``.  FILE has texts, one a line, or is a table that ``tstmeta train idf`` wrote.

    Raises:
        TstmetaError: a word that names nothing, or a model without a known layer or baseline.
    """

    name = "bertscore"
    max_tokens = None
    VARIANTS: ClassVar[tuple[str, ...]] = (
        *("p", "r", "idf", "deberta-xlarge-mnli", "rescaled+deberta-xlarge-mnli"),
        *("roberta-large", "rescaled+roberta-large"),
    )

    def __init__(self, words: str = ""):
        rest, self._texts = without_file(words, "idf=")
        rest, layer = _without_layer(rest)
        options = {"part": Matched._fields, "scale": ("rescaled",), "weights": ("idf",)}
        model, chosen = parse(rest, options, ENCODERS)
        self.model = model or MINILM
        if "weights" in chosen:
            self._texts = _shipped(self.model, self._texts)
        self.part = chosen.get("part", "f1")
        self.layer = _layer(self.model) if layer is None else layer
        self.baseline = _baseline(self.model, self.layer) if "scale" in chosen else None
        self.name = f"{self.name}:{words}" if words else self.name
        self.profile, self.languages = self.model.profile, languages(self.model)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the model is not here; empty when it is."""
        return encoders.missing(self.model)

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

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

    def pairs(self, pairs: Sequence[Pair]) -> list[Answer]:
        encoder = encoders.load(self.model)
        # p, r, f1 and their rescaled forms ask for the same matching
        setting = ("bertscore", self.layer, vectors.identity(self._texts) if self._texts else "")
        answers: list[Answer] = []
        for start in range(0, len(pairs), _CHUNK):
            chunk = pairs[start : start + _CHUNK]
            known = {pair: encoder.memory.get((*setting, *pair)) for pair in chunk}
            fresh = [pair for pair, found in known.items() if found is None]
            for pair, found in zip(fresh, self._matched(encoder, fresh), strict=True):
                known[pair] = found
                encoder.memory.put((*setting, *pair), found, 1000)
            answers += [self._answer(*known[pair]) for pair in chunk]
        return answers

    def _matched(self, encoder: Encoder, pairs: list[Pair]) -> list[tuple[Matched | None, str]]:
        """What each pair's tokens say, None where a text has none, and what was cut off."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        found = dict(zip(texts, encoder.tokens(texts, self.layer), strict=True))
        control = encoder.tokenizer.num_special_tokens_to_add()
        given, made = [[found[pair[side]] for pair in pairs] for side in (0, 1)]
        matched = greedy(given, made, self._weights)
        return [
            (
                one if min(len(a.ids), len(b.ids)) > control else None,
                cut_note(max(a.length, b.length), encoder.window),
            )
            for one, a, b in zip(matched, given, made, strict=True)
        ]

    @cached_property
    def _weights(self) -> np.ndarray:
        """The weight of each token of the vocabulary, float32.

        Without idf 1, and 0 for what begins and ends a text; with it, Zhang et al. (2020), Section
        3, with the library's smoothing: log((N + 1) / (n + 1)) of a token in n of N texts.
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

    def _answer(self, matched: Matched | None, note: str) -> Answer:
        if matched is None:
            return Score(self.empty_value, Status.EMPTY, "a text without a token")
        value = float(getattr(matched, self.part))
        if self.baseline:
            base = float(getattr(self.baseline, self.part))
            value = (value - base) / (1 - base)
        return noted(value, note)


def _shipped(model: Backbone, given: Path | None) -> Path:
    """The shipped counts, of the embedded encoder's tokens.

    Raises:
        TstmetaError: another model, or a file besides.
    """
    if given is not None:
        raise TstmetaError("idf and idf=FILE are two kinds of weights; name one")
    if model is not MINILM:
        raise TstmetaError(
            f"the shipped counts are of tokens of {MINILM.name}; for {model.name} idf needs texts "
            "to count in: idf=FILE, one text a line"
        )
    return idf.SHIPPED


def _without_layer(words: str) -> tuple[str, int | None]:
    """Words without ``layerN``, and N."""
    every = words.split("+")
    found = [word for word in every if re.fullmatch(r"layer\d{1,3}", word)]
    if len(found) > 1:
        raise TstmetaError(f"{words!r} names two layers; name one")
    rest = "+".join(word for word in every if word not in found)
    return rest, int(found[0].removeprefix("layer")) if found else None


def _known_as(model: Backbone) -> str:
    """What the library calls a model; a folder is what its name says, as converted weights are."""
    if model.local:
        near = ENCODERS.get(Path(model.where).resolve().name)
        model = near if near and not near.local else model
    return _LIBRARY_NAMES.get(model.where, model.where)


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
    if lacks := hub.lacking("bert_score"):
        raise TstmetaError(lacks)
    spec = find_spec("bert_score")
    [root, *_] = (spec.submodule_search_locations if spec else None) or [""]
    name = _known_as(model)
    file = Path(root) / "rescale_baseline" / "en" / f"{name}.tsv"
    if not Path(name).is_absolute() and file.is_file():
        with open(file, encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                if row["LAYER"] == str(layer):
                    return Matched(float(row["P"]), float(row["R"]), float(row["F"]))
    raise TstmetaError(
        f"the bert-score library has no baseline for layer {layer} of {model.where}; leave out "
        "'rescaled', or name a model that it has one for, such as deberta-xlarge-mnli"
    )
