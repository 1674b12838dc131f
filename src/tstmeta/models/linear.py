"""A linear model of style over hashed n-grams of words and characters.

Hashing needs no vocabulary: the model is one matrix of weights a task.  Half of the features are
words and word pairs, half are 3- to 5-grams of characters within words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import regex  # type: ignore[import-untyped]

from .. import storage
from .classifiers import FILE, About, Estimates, StyleModel

#: A word with its marks and joiners, or one other character: punctuation is style.
_TOKEN = regex.compile(r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_'’\u200c\u200d]*|[^\s]")
#: Texts whose features are in memory at a time.
_SHARD = 2**14


def words(text: str) -> list[str]:
    """Words and punctuation marks, in lower case."""
    return _TOKEN.findall(text.lower())


def features(texts: Sequence[str], bits: int) -> Any:
    """A sparse matrix [n, 2**bits] in float64; each half of a row has length 1."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import HashingVectorizer

    common = {"n_features": 2 ** (bits - 1), "norm": "l2", "alternate_sign": True}
    word = HashingVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2), **common)
    character = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), **common)
    return hstack([word.transform(texts), character.transform(texts)]).tocsr()


class Linear(StyleModel):
    """A linear model; ``weights`` has [k, 2**bits] a task (k = 1 for two styles), ``bias`` [k]."""

    def __init__(self, about: About, weights: Sequence[np.ndarray], bias: Sequence[np.ndarray]):
        self.about, self.weights, self.bias = about, weights, bias

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        bits = int(self.about.features["bits"])
        weights = self.weights[task].astype(float)
        parts = [
            features(texts[start : start + _SHARD], bits) @ weights.T + self.bias[task]
            for start in range(0, len(texts), _SHARD)
        ]
        values = np.concatenate(parts) if parts else np.empty((0, len(weights)))
        if len(weights) == 1 and not self.about.regression:  # one number tells two styles apart
            values = np.concatenate([np.zeros_like(values), values], axis=1)
        return Estimates(values, [""] * len(texts))

    def write(self, folder: Path) -> None:
        """Write ``style.safetensors``: single precision, double for the bias."""
        from safetensors.numpy import save

        tensors = {}
        for number, (weight, bias) in enumerate(zip(self.weights, self.bias, strict=True)):
            tensors[f"weight/{number}"] = np.ascontiguousarray(weight, dtype=np.float32)
            tensors[f"bias/{number}"] = np.ascontiguousarray(bias, dtype=np.float64)
        storage.write(folder / FILE, save(tensors, {"about": self.about.text()}))

    @classmethod
    def read(cls, path: Path, about: About) -> Linear:
        from safetensors.numpy import load_file

        tensors, tasks = load_file(path), range(len(about.tasks))
        weights = [tensors[f"weight/{number}"] for number in tasks]
        return cls(about, weights, [tensors[f"bias/{number}"] for number in tasks])
