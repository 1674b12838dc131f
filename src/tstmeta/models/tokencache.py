"""Log-probabilities of tokens, kept: a content-addressed cache around any backend.

Each identity (with the version of transformers) has one Parquet file (key, log-probabilities as a
ragged list), and while a run is under way a journal beside it, to which each batch is added.  A
killed run goes on where it was stopped, with the same bytes.
"""

import base64
import hashlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..schema import TstmetaError
from ..storage import Journal, locked, whole
from .causal import Answer, Continuation, LanguageModel

# the list's member is called as Parquet calls it, so that a table that was read is written the same
_LIST = pa.list_(pa.field("element", pa.float32()))
_SCHEMA = pa.schema([("key", pa.string()), ("logprobs", _LIST)])


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
    """A backend that looks into its folder first; itself a backend."""

    def __init__(self, model: LanguageModel, folder: Path):
        self.model = model
        # another version of transformers may write other tokens or compute other numbers
        described = f"{model.identity}|transformers {version('transformers')}"
        digest = hashlib.sha256(described.encode()).hexdigest()[:16]
        name = "".join(c if c.isalnum() or c in "-_." else "-" for c in model.identity)[:60]
        self.table = folder / f"{name}-{digest}.parquet"
        self.journal = self.table.with_suffix(".journal")
        self.lock = self.table.with_suffix(".lock")

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
            kept = self._merge(set(keys))
            skip = {place for place, key in enumerate(keys) if key in kept} | set(known)
            yield [(place, kept[keys[place]]) for place in sorted(skip - set(known))]
            if len(skip) == len(requests):
                return
            journal = Journal(self.journal)
            for batch in self.model.logprobs(requests, known=skip, progress=progress):
                for place, values in batch:
                    check_answer(values, requests[place], identity)
                journal.add(
                    [keys[place], base64.b64encode(values.astype("<f4").tobytes()).decode()]
                    for place, values in batch
                )
                yield batch
            self._merge(set())

    def _merge(self, wanted: set[str]) -> dict[str, np.ndarray]:
        """Answers to the wanted keys; what the journal had goes into the table, sorted by key."""
        table = self._read()
        if self.journal.is_file():
            journal = {}
            for entry in Journal(self.journal):
                with suppress(ValueError, TypeError):  # what is damaged is computed again
                    key, data = entry
                    logs = base64.b64decode(data, validate=True)
                    journal[str(key).encode().decode()] = np.frombuffer(logs, dtype="<f4")
            fresh = sorted(journal.keys() - set(table["key"].to_pylist()))
            if fresh:
                values = pa.array([journal[key] for key in fresh], _LIST)
                rows = pa.table([pa.array(fresh), values], schema=_SCHEMA)
                table = pa.concat_tables([table, rows]).sort_by("key").combine_chunks()
                with whole(self.table, private=True) as draft:
                    pq.write_table(table, draft)
            self.journal.unlink()
        kept = table.filter(pc.is_in(table["key"], pa.array(sorted(wanted), pa.string())))
        lists = kept["logprobs"].combine_chunks()
        values = lists.values.to_numpy(zero_copy_only=False)
        bounds = pairwise(lists.offsets.to_pylist())
        return {
            key: values[a:b] for key, (a, b) in zip(kept["key"].to_pylist(), bounds, strict=True)
        }

    def _read(self) -> pa.Table:
        if not self.table.is_file():
            return _SCHEMA.empty_table()
        try:
            return pq.read_table(self.table).select(_SCHEMA.names).cast(_SCHEMA)
        except (pa.ArrowException, KeyError, OSError) as error:
            raise TstmetaError(
                f"{self.table} cannot be read as a table of token log-probabilities "
                f"({str(error).splitlines()[0]}); delete it, and they are computed again"
            ) from error
