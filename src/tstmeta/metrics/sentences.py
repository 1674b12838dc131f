"""Cosines of sentence vectors, whole (cosine) or of one part (S3BERT)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from ..models import encoders
from ..models.causal import Backbone, MissingModel
from ..models.encoders import ENCODERS, MINILM, Encoder
from ..models.pooled import pooling
from ..schema import Signature, Status, TstmetaError
from .base import Score
from .batched import Answer, BatchedMetric, Pair
from .encoded import cut_note, installed, languages, noted, signed
from .variants import parse

#: Features of the S3BERT models that its authors give out, sixteen numbers each in this order, the
#: rest of the vector at the end (Opitz and Frank, 2022; their configuration file).
FEATURES = (
    *("concepts", "frames", "named-entities", "negations", "reentrancies", "srl", "smatch"),
    *("unlabeled", "max-indegree", "max-outdegree", "max-degree", "root", "quant", "wlk", "wwlk"),
)
_FEATURE_SIZE = 16
#: What the folder of another such model may hold: an object of feature -> size, in order.
_FEATURE_FILE = "features.json"


class Cosine(BatchedMetric):
    """Cosine of two sentence vectors (Reimers and Gurevych, 2019): in [-1, 1]; higher is better.

    Tokens are pooled and normalised as the model's own settings say.  The best of several
    references counts.

    Args:
        words: a model that sentence-transformers reads; the embedded MiniLM when empty.
    """

    name = "cosine"
    max_tokens = None
    VARIANTS: ClassVar[tuple[str, ...]] = ("labse",)

    def __init__(self, words: str = ""):
        model, _ = parse(words, {}, ENCODERS)
        self.model = model or MINILM
        self.name = f"{self.name}:{words}" if words else self.name
        self.profile, self.languages = self.model.profile, languages(self.model)

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the model or its library is not here; empty when both are."""
        return encoders.missing(self.model, "sentence_transformers")

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

    def fields(self) -> dict[str, object]:
        return _fields(self.model)

    def pairs(self, pairs: Sequence[Pair]) -> list[Answer]:
        return _cosines(encoders.load(self.model), pairs, slice(None))


class S3Bert(BatchedMetric):
    """Cosine of a part of the sentence vector (Opitz and Frank, 2022): in [-1, 1]; more is better.

    S3BERT models are trained so that slices of the vector answer to aspects of meaning, measured
    on AMR graphs.  ``global`` (the default) is the whole vector, ``residual`` what no aspect has.

    Args:
        words: a feature (see FEATURES, or those of the folder's ``features.json``) and the folder
            of a sentence-transformers model, joined by ``+``.
    """

    name = "s3bert"
    max_tokens = None
    profile = "real"
    languages: tuple[str, ...] = ("en",)
    VARIANTS: ClassVar[tuple[str, ...]] = ()

    def __init__(self, words: str = ""):
        sizes = _features(words)
        known = ("global", *sizes, "residual")
        model, chosen = parse(words, {"feature": known}, {})
        self.model, self.feature = model, chosen.get("feature", "global")
        ends = np.cumsum([0, *sizes.values()]).tolist()
        starts = dict(zip([*sizes, "residual"], ends, strict=True))
        #: Where all features together end: the vector must be at least so long.
        self.end = ends[-1]
        first = starts.get(self.feature, 0)
        whole = self.feature in ("global", "residual")
        self.part = slice(first, None if whole else first + sizes[self.feature])
        self.name = f"{self.name}:{words}" if words else self.name

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when the model or its library is not here; empty when both are."""
        if self.model is None:
            return (
                "no hub has an S3BERT model: get s3bert_all-MiniLM-L12-v2 from its authors "
                "(github.com/flipz357/S3BERT), convert its weights to safetensors and name the "
                "folder: s3bert:/path/folder"
            )
        return encoders.missing(self.model, "sentence_transformers")

    def signature(self, basis: str) -> Signature:
        return signed(self, basis)

    def fields(self) -> dict[str, object]:
        where = {} if self.model is None else _fields(self.model)
        end = "" if self.part.stop is None else self.part.stop
        return {"feature": f"{self.feature}[{self.part.start}:{end}]", **where}

    def pairs(self, pairs: Sequence[Pair]) -> list[Answer]:
        if self.model is None:
            raise MissingModel(self.missing)
        encoder = encoders.load(self.model)
        size = len(encoder.sentences([pairs[0][0]])[0].vector) if pairs else self.end
        if size < self.end or (size == self.end and self.feature == "residual"):
            raise MissingModel(
                f"{self.model.where}: its vectors have {size} numbers, too few for features that "
                f"end at {self.end}; name the right folder, or mend {_FEATURE_FILE} in it"
            )
        return _cosines(encoder, pairs, self.part)


def _fields(model: Backbone) -> dict[str, object]:
    """What changes a sentence vector."""
    return {
        "model": encoders.identity(model),
        "pooling": pooling(model),
        "refs": "max",
        "sentence-transformers": installed("sentence-transformers"),
        "transformers": installed("transformers"),
    }


def _cosines(encoder: Encoder, pairs: Sequence[Pair], part: slice) -> list[Answer]:
    """The cosine of a part of both texts' vectors; 0 where a text has no token, as of a blank one,
    and NaN where a vector is all zeros."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair))
    found = dict(zip(texts, encoder.sentences(texts), strict=True))
    control = encoder.tokenizer.num_special_tokens_to_add()
    answers: list[Answer] = []
    for a, b in pairs:
        if any(0 < found[text].length <= control for text in (a, b)):
            answers.append(Score(0.0, Status.EMPTY, "a text without a token"))
            continue
        one, other = (found[text].vector[part].astype(float) for text in (a, b))
        length = float(np.linalg.norm(one) * np.linalg.norm(other))
        value = min(1.0, max(-1.0, float(one @ other) / length)) if length else math.nan
        longest = max(found[a].length, found[b].length)
        answers.append(noted(value, cut_note(longest, encoder.sentence_window)))
    return answers


def _features(words: str) -> dict[str, int]:
    """Feature -> size, in the order of the vector."""
    for word in words.split("+"):
        file = Path(word).expanduser() / _FEATURE_FILE
        if not word or not file.is_file():
            continue
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            sizes = {str(name): int(size) for name, size in found.items()}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            raise TstmetaError(f"{file} is no object of feature -> size: {error}") from error
        if not sizes or min(sizes.values()) < 1 or {"global", "residual"} & set(sizes):
            raise TstmetaError(
                f"{file}: each feature needs a size of at least 1, and none may be called global "
                "or residual"
            )
        return sizes
    return dict.fromkeys(FEATURES, _FEATURE_SIZE)
