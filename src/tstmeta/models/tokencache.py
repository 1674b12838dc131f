"""The door to any backend: its log-probabilities of tokens are checked, and stored.

A killed run goes on where it was stopped, with the same bytes.
"""

import hashlib
from collections.abc import Collection
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import numpy as np

from ..schema import TstmetaError
from ..store import REMEDY, Rows
from .causal import Answer, Answers, Continuation, LanguageModel, Requests


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
    """A backend that looks into the store of a folder, if any, and checks its model's answers."""

    def __init__(self, model: LanguageModel, folder: Path | None = None):
        self.model, self._rows = model, None
        if folder is not None:
            # another version of transformers may write other tokens or compute other numbers
            described = f"{model.identity}|transformers {version('transformers')}"
            self._rows = Rows(folder, "tokens", described)

    identity = property(lambda self: self.model.identity)
    window = property(lambda self: self.model.window)
    vocabulary = property(lambda self: self.model.vocabulary)
    tokenizer = property(lambda self: self.model.tokenizer)

    def logprobs(
        self, requests: Requests, *, known: Collection[int] = (), progress: bool = False
    ) -> Answers:
        """As :meth:`.causal.LanguageModel.logprobs`; TstmetaError for what cannot be right."""
        known = set(known)
        if self._rows is None:
            yield from self._computed(requests, known, progress)
            return
        keys = [key_of(request) for request in requests]
        places: dict[str, list[int]] = {}
        for place, key in enumerate(keys):
            if place not in known:
                places.setdefault(key, []).append(place)
        yield self._stored(self._rows, places, requests)
        # all in one block: the model's batches do not depend on what is known
        with closing(self._rows.shares([[*places]])) as shares:
            for claimed in filter(None, shares):
                wanted = {place for key in claimed for place in places.pop(key)}
                skip = set(range(len(keys))) - wanted
                for batch in self._computed(requests, skip, progress):
                    self._rows.add((keys[p], logs.astype("<f4").tobytes()) for p, logs in batch)
                    yield batch
        yield self._stored(self._rows, places, requests)

    def _computed(self, requests: Requests, known: set[int], progress: bool) -> Answers:
        left = set(range(len(requests))) - known
        for batch in self.model.logprobs(requests, known=known, progress=progress):
            for place, values in batch:
                check_answer(values, requests[place], self.identity)
            left -= {place for place, _ in batch}
            yield batch
        if left:
            raise TstmetaError(f"{self.identity} left {len(left)} of {len(requests)} requests out")

    @staticmethod
    def _stored(rows: Rows, places: dict[str, list[int]], requests: Requests) -> list[Answer]:
        """The answers that are stored; takes their keys out of the places."""
        answers: list[Answer] = []
        for key, logs in rows.read([*places]):
            if len(logs) != 4 * len(requests[places[key][0]].tokens):
                raise TstmetaError(f"{rows.path}: {logs!r}, key {key}. Remedy: {REMEDY}")
            answers += [(place, np.frombuffer(logs, dtype="<f4")) for place in places.pop(key)]
        return answers
