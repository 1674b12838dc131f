"""Classifiers and regressors of one text or of two: any number of rows, the same numbers.

A row is one text or a pair of texts.  Rows are sorted by length and put into batches by number of
tokens, so little is padded; padding is masked, so neither the batch nor the order changes a number
(float32, differences below 1e-5).  Equal rows are computed once.  A text that spells a control
token, such as ``[SEP]``, is read as those letters: no rewrite can end its own half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from tqdm import tqdm

from . import hub
from .causal import Backbone
from .loading import window_of

#: One text, or two.
Row = tuple[str, ...]
#: Tokens of a batch, padding included: what keeps a processor or a card busy.
_BUDGET = {"cpu": 2048, "cuda": 32768}
#: Rows that are made into tokens at a time.
_CHUNK = 1024
#: A tokenizer without a limit of its own says a number above this one.
_NO_LIMIT = 10**6


class Judged(NamedTuple):
    """What a classifier says: ``logits`` float32 [rows, labels]; ``tokens`` [rows] before a cut."""

    logits: np.ndarray
    tokens: np.ndarray


class PairClassifier:
    """A sequence classifier of transformers with its tokenizer.

    Args:
        model: has logits [batch, labels]; already on its device.
        tokenizer: its tokenizer.
        window: longest row in tokens, control tokens included; 0 = what model and tokenizer take.
        budget: tokens of a batch; 0 = what suits the device.
    """

    def __init__(self, model: Any, tokenizer: Any, *, window: int = 0, budget: int = 0):
        self.model, self.tokenizer = model.eval(), tokenizer
        self.window = window or longest(model.config, tokenizer)
        self.budget = budget or _BUDGET.get(model.device.type, _BUDGET["cuda"])
        self.labels = int(model.config.num_labels)

    def judge(self, rows: Sequence[Row], *, progress: bool = False) -> Judged:
        """Logits of each row and its number of tokens; a row beyond the window is cut.

        Of a pair the longer text is cut first, token by token.
        """
        import torch

        first: dict[Row, int] = {}
        places = np.array([first.setdefault(row, len(first)) for row in rows], dtype=np.int64)
        encoded, tokens = self._encoded(list(first))
        logits = np.zeros((len(first), self.labels), dtype=np.float32)
        lengths = [len(one["input_ids"]) for one in encoded]
        bar = tqdm(
            total=sum(lengths),
            desc="tokens",
            unit="tok",
            unit_scale=True,
            leave=False,
            disable=None if progress else True,
        )
        with bar, torch.inference_mode():
            for batch in batches(lengths, self.budget):
                inputs = self._padded([encoded[place] for place in batch])
                logits[batch] = self.model(**inputs).logits.float().cpu().numpy()
                bar.update(sum(lengths[place] for place in batch))
        return Judged(logits[places], tokens[places])

    def _encoded(self, rows: list[Row]) -> tuple[list[dict[str, list[int]]], np.ndarray]:
        """What the model reads of each row, and the row's whole length in tokens."""
        found: list[dict[str, list[int]]] = []
        tokens = np.zeros(len(rows), dtype=np.int64)
        for start in range(0, len(rows), _CHUNK):
            for row, one in enumerate(self._read(rows[start : start + _CHUNK]), start):
                tokens[row] = len(one["input_ids"])
                cut = tokens[row] > self.window
                found += self._read([rows[row]], self.window) if cut else [one]
        return found, tokens

    def _read(self, rows: Sequence[Row], window: int = 0) -> list[dict[str, list[int]]]:
        pairs = [len(row) == 2 for row in rows]
        if any(pairs) and not all(pairs):  # one call takes either kind
            return [one for row in rows for one in self._read([row], window)]
        texts = [list(column) for column in zip(*rows, strict=True)]
        read = self.tokenizer(
            *texts,
            truncation="longest_first" if window else False,
            max_length=window or None,
            split_special_tokens=True,
            verbose=False,
        )
        return [{name: read[name][place] for name in read} for place in range(len(rows))]

    def _padded(self, encoded: list[dict[str, list[int]]]) -> dict[str, Any]:
        """Tensors [rows, longest row]; padding stands at the right and is masked."""
        import torch

        width = max(len(one["input_ids"]) for one in encoded)
        fill = {"input_ids": self.tokenizer.pad_token_id or 0}
        return {
            name: torch.tensor(
                [one[name] + [fill.get(name, 0)] * (width - len(one[name])) for one in encoded],
                device=self.model.device,
            )
            for name in encoded[0]
        }


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of rows, longest first, in batches of at most ``budget`` tokens, padding included.

    The longest come first, so memory that does not suffice is found out at once.  A row that is
    longer than the budget is a batch of its own.
    """
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def longest(config: Any, tokenizer: Any) -> int:
    """Longest row in tokens: the least of what the positions and the tokenizer allow.

    RoBERTa and its kin count positions from behind the padding's number, so two of them are lost.
    """
    positions = window_of(config)
    if "roberta" in config.model_type or config.model_type in ("camembert", "xmod", "mpnet"):
        positions -= (config.pad_token_id or 0) + 1
    said = int(min(tokenizer.model_max_length, 10**9))
    return min(positions, said) if said < _NO_LIMIT else positions


@lru_cache(maxsize=2)
def load(model: Backbone, *, device: str = "auto", window: int = 0) -> PairClassifier:
    """A classifier of a hub or a folder, in float32; the last two are kept.

    Raises:
        MissingModel: it is not here and cannot be fetched; says what to do.
    """
    from transformers import AutoModelForSequenceClassification

    found = hub.weights(model, AutoModelForSequenceClassification, dtype="float32")
    return PairClassifier(found.to(hub.device_of(device)), hub.tokenizer(model), window=window)
