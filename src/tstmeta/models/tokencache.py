"""Log-probabilities of tokens: a content-addressed cache around any backend.

They stand in the store under the model's identity, with the version of transformers, and a hash of
the tokens.  A killed run goes on where it was stopped, with the same bytes.
"""

import base64
import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..schema import TstmetaError
from ..store import REMEDY, Rows
from .causal import Answer, Continuation, LanguageModel


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


class Cached:
    """A backend that looks into the store of a folder first; itself a backend."""

    def __init__(self, model: LanguageModel, folder: Path):
        self.model = model
        # another version of transformers may write other tokens or compute other numbers
        described = f"{model.identity}|transformers {version('transformers')}"
        digest = hashlib.sha256(described.encode()).hexdigest()[:16]
        self._rows = Rows(folder, "tokens", described)
        self._rows.adopt(folder / "tokens", f"{model.identity[:60]}-{digest}", _earlier)

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
        keys, known = [key_of(request) for request in requests], set(known)
        places: dict[str, list[int]] = {}
        for place, key in enumerate(keys):
            if place not in known:
                places.setdefault(key, []).append(place)
        yield self._stored(places, requests)
        # all in one block: the model's batches do not depend on what is known
        with closing(self._rows.shares([[*places]])) as shares:
            for claimed in filter(None, shares):
                wanted = {place for key in claimed for place in places.pop(key)}
                skip = set(range(len(keys))) - wanted
                for batch in self.model.logprobs(requests, known=skip, progress=progress):
                    for place, logs in batch:
                        check_answer(logs, requests[place], self.identity)
                    self._rows.add((keys[p], logs.astype("<f4").tobytes()) for p, logs in batch)
                    yield batch
        yield self._stored(places, requests)

    def _stored(self, places: dict[str, list[int]], requests: Sequence[Continuation]) -> list:
        """The answers that are stored; takes their keys out of the places."""
        answers: list[Answer] = []
        for key, logs in self._rows.read([*places]):
            if len(logs) != 4 * len(requests[places[key][0]].tokens):
                raise TstmetaError(f"{self._rows.path}: {logs!r}, key {key}. Remedy: {REMEDY}")
            answers += [(place, np.frombuffer(logs, dtype="<f4")) for place in places.pop(key)]
        return answers


def _earlier(key: str, logs: Any) -> list[tuple[str, bytes]]:
    """A row that earlier versions wrote: a list in a table, base64 in a journal."""
    data = (
        base64.b64decode(logs, validate=True)
        if isinstance(logs, str)
        else np.array(logs, "<f4").tobytes()
    )
    return [(key.encode().decode(), data)]
