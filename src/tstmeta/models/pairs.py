"""Classifiers and regressors of two texts.

Neither the batch nor the order changes a number (float32, differences below 1e-5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from . import hub
from .causal import Backbone, progress_bar

Pair = tuple[str, str]
#: Tokens of a batch, padding included: what keeps a processor or a card busy.
BUDGET = {"cpu": 2048, "cuda": 32768}


class PairLogits(NamedTuple):
    """``logits`` float32 [pairs, labels]; ``tokens`` [pairs] of each pair before it was cut."""

    logits: np.ndarray
    tokens: np.ndarray


class PairClassifier:
    """A sequence classifier of transformers with its tokenizer.

    A text that spells a control token, such as ``[SEP]``, is read as those letters.
    """

    def __init__(self, model: Any, tokenizer: Any):
        self.model, self.tokenizer = model.eval(), tokenizer
        self.window = longest(model.config, tokenizer)
        self.budget = BUDGET["cpu" if model.device.type == "cpu" else "cuda"]
        self.labels = int(model.config.num_labels)

    def judge(self, pairs: Sequence[Pair], *, progress: bool = False) -> PairLogits:
        """Logits of each pair and its number of tokens; equal pairs are computed once.

        Of a pair beyond the window the longer text is cut first, token by token.
        """
        import torch

        first: dict[Pair, int] = {}
        places = np.array([first.setdefault(pair, len(first)) for pair in pairs], dtype=np.int64)
        encoded = self._encoded(list(first), truncation=False)
        tokens = np.array([len(row["input_ids"]) for row in encoded], dtype=np.int64)
        for place, pair in enumerate(first):
            if tokens[place] > self.window:
                options = {"truncation": "longest_first", "max_length": self.window}
                encoded[place : place + 1] = self._encoded([pair], **options)
        logits = np.zeros((len(first), self.labels), dtype=np.float32)
        lengths = [len(row["input_ids"]) for row in encoded]
        with progress_bar(sum(lengths), progress) as bar, torch.inference_mode():
            for batch in batches(lengths, self.budget):
                rows = [encoded[place] for place in batch]
                inputs = padded(self.tokenizer, rows, self.model.device)
                logits[batch] = self.model(**inputs).logits.float().cpu().numpy()
                bar.update(sum(lengths[place] for place in batch))
        return PairLogits(logits[places], tokens[places])

    def _encoded(self, pairs: Sequence[Pair], **options: Any) -> list[dict[str, list[int]]]:
        if not pairs:
            return []
        left, right = (list(side) for side in zip(*pairs, strict=True))
        rows = self.tokenizer(left, right, split_special_tokens=True, verbose=False, **options)
        return [{name: rows[name][place] for name in rows} for place in range(len(pairs))]


def padded(tokenizer: Any, rows: Sequence[dict[str, list[int]]], device: Any) -> Any:
    """Tensors [rows, longest row]; padding stands at the right and is masked."""
    batch = tokenizer.pad(list(rows), padding_side="right", return_tensors="pt", verbose=False)
    return batch.to(device)


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of rows, longest first, in batches of at most ``budget`` tokens, padding included."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def longest(config: Any, tokenizer: Any) -> int:
    """Longest text in tokens: the least of what the positions and the tokenizer allow."""
    positions = hub.window_of(config)
    if "roberta" in config.model_type or config.model_type in ("camembert", "xmod", "mpnet"):
        positions -= (config.pad_token_id or 0) + 1  # they count from behind the padding's number
    # a tokenizer without a limit says an enormous number
    return int(min(positions, tokenizer.model_max_length))


@lru_cache(maxsize=2)
def load(model: Backbone, *, device: str = "auto") -> PairClassifier:
    """A classifier of a hub or a folder, in float32; the last two are kept."""
    from transformers import AutoModelForSequenceClassification

    network = hub.weights(model, AutoModelForSequenceClassification, dtype="float32")
    return PairClassifier(network.to(hub.device_of(device)), hub.tokenizer(model))
