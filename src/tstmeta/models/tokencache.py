"""Log-probabilities of tokens, kept: a content-addressed cache around any backend.

Each identity (with the version of transformers) has one Parquet file (key, log-probabilities as a
ragged list), and while a run is under way a journal beside it, to which each batch is added.  A
killed run goes on where it was stopped, with the same bytes.
"""

import base64
import hashlib
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..schema import TstmetaError
from ..storage import Kept, locked
from .causal import Answer, Continuation, LanguageModel

# the list's member is called as Parquet calls it, so that a table that was read is written the same
_LIST = pa.list_(pa.field("element", pa.float32()))


def key_of(request: Continuation) -> str:
    """First 32 hexadecimal digits of the SHA-256 of both lists of token ids."""
    digest = hashlib.sha256(len(request.context).to_bytes(8, "little"))
    digest.update(np.array([*request.context, *request.tokens], dtype="<i8").tobytes())
    return digest.hexdigest()[:32]


def check_answer(values: np.ndarray, request: Continuation, identity: str) -> None:
    """Refuse an answer that has not one value a token, or a log-probability above 0."""
    if len(values) != (size := len(request.tokens)):
        raise TstmetaError(f"{identity} gives {len(values)} values for {size} tokens")
    # rounding exceeds 0 by a little; what exceeds it by more is a logit
    if np.max(values) > 1e-3:
        raise TstmetaError(
            f"{identity} gives a log-probability of {np.max(values):.4g}, but none is above 0; "
            "take the log-softmax of its logits"
        )


class Cached(Kept):
    """A backend that looks into its folder first; itself a backend."""

    def __init__(self, model: LanguageModel, folder: Path):
        self.model = model
        # another version of transformers may write other tokens or compute other numbers
        described = f"{model.identity}|transformers {version('transformers')}"
        digest = hashlib.sha256(described.encode()).hexdigest()[:16]
        super().__init__(folder, f"{model.identity[:60]}-{digest}", {"logprobs": _LIST})

    identity = property(lambda self: self.model.identity)
    window = property(lambda self: self.model.window)
    vocabulary = property(lambda self: self.model.vocabulary)
    tokenizer = property(lambda self: self.model.tokenizer)

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        keys, identity = [key_of(request) for request in requests], self.identity
        with locked(self.lock):
            kept = self._known(set(keys))
            skip = {place for place, key in enumerate(keys) if key in kept} | set(known)
            yield [(place, kept[keys[place]]) for place in sorted(skip - set(known))]
            if len(skip) == len(requests):
                return
            for batch in self.model.logprobs(requests, known=skip, progress=progress):
                for place, values in batch:
                    check_answer(values, requests[place], identity)
                self.journal.add(
                    [keys[place], base64.b64encode(values.astype("<f4").tobytes()).decode()]
                    for place, values in batch
                )
                yield batch
            self._known(set())

    def _known(self, wanted: set[str]) -> dict[str, np.ndarray]:
        """Answers to the wanted keys."""
        table = self.read(_journalled)
        kept = table.filter(pc.is_in(table["key"], pa.array(sorted(wanted), pa.string())))
        lists = kept["logprobs"].combine_chunks()
        values = lists.values.to_numpy(zero_copy_only=False)
        bounds = pairwise(lists.offsets.to_pylist())
        return {
            key: values[a:b] for key, (a, b) in zip(kept["key"].to_pylist(), bounds, strict=True)
        }


def _journalled(entry: Any) -> list[tuple[str, np.ndarray]]:
    key, data = entry
    logs = np.frombuffer(base64.b64decode(data, validate=True), dtype="<f4")
    return [(str(key).encode().decode(), logs)]
