"""What a model said of tokens, kept: a content-addressed cache around any backend.

The key of an answer is a hash of the backend's identity (and the version of transformers) and of
all token ids asked, so an answer holds whatever data set, metric or variant wants it.  Each
identity has one Parquet file (key, log-probabilities as a ragged list), and while a run is under
way a journal beside it, one line an answer, flushed with each batch.  A killed run goes on where it
was stopped, with the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from ..schema import TstmetaError
from .causal import Answer, Continuation, LanguageModel, refuse

# the list's member is called as Parquet calls it, so that a table that was read is written the same
_SCHEMA = pa.schema(
    [("key", pa.string()), ("logprobs", pa.list_(pa.field("element", pa.float32())))]
)


def key_of(request: Continuation) -> str:
    """First 32 hexadecimal digits of the SHA-256 of both lists of token ids."""
    digest = hashlib.sha256(len(request.context).to_bytes(8, "little"))
    digest.update(np.array([*request.context, *request.tokens], dtype="<i8").tobytes())
    return digest.hexdigest()[:32]


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

    @property
    def identity(self) -> str:
        return self.model.identity

    @property
    def window(self) -> int:
        return self.model.window

    @property
    def vocabulary(self) -> int:
        return self.model.vocabulary

    @property
    def tokenizer(self) -> Any:
        return self.model.tokenizer

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """See :class:`~tstmeta.models.causal.LanguageModel`; what is in the cache comes first."""
        keys = [key_of(request) for request in requests]
        self.table.parent.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.lock, timeout=3600):
                found = self._merge(set(keys))
                there = {place for place, key in enumerate(keys) if key in found}
                skip = there | set(known)
                yield [(place, found[keys[place]]) for place in sorted(there - set(known))]
                if len(skip) < len(requests):
                    yield from self._asked(requests, keys, skip, progress)
                    self._merge(set())
        except Timeout as error:
            raise TstmetaError(
                f"another run has held {self.lock.name} for an hour; wait for it or stop it"
            ) from error

    def _asked(
        self, requests: Sequence[Continuation], keys: list[str], skip: set[int], progress: bool
    ) -> Iterator[list[Answer]]:
        with open(self.journal, "a", encoding="utf-8") as journal:
            for batch in self.model.logprobs(requests, known=skip, progress=progress):
                for place, values in batch:
                    refuse(values, requests[place], self.identity)
                # one write and one flush a batch: a kill may cut its last line, never an earlier
                journal.write("".join(_line(keys[place], values) for place, values in batch))
                journal.flush()
                yield batch

    def _table(self) -> pa.Table:
        try:
            if not self.table.is_file():
                return _SCHEMA.empty_table()
            return pq.read_table(self.table).select(_SCHEMA.names).cast(_SCHEMA)
        except (pa.ArrowException, KeyError, OSError) as error:
            raise TstmetaError(
                f"{self.table} cannot be read as a table of token log-probabilities "
                f"({str(error).splitlines()[0]}); delete it, and they are computed again"
            ) from error

    def _merge(self, wanted: set[str]) -> dict[str, np.ndarray]:
        """Answers to the wanted keys; what the journal had goes into the table, sorted by key."""
        table = self._table()
        if self.journal.is_file():
            fresh = dict(_read(self.journal))
            have = set(table["key"].to_pylist()) if fresh else set()
            new = {key: values for key, values in fresh.items() if key not in have}
            if new:
                columns = [pa.array(list(new)), pa.array([list(v) for v in new.values()])]
                grown = pa.table([columns[0], columns[1].cast(_SCHEMA.field(1).type)], _SCHEMA)
                table = pa.concat_tables([table, grown]).sort_by("key").combine_chunks()
                part = self.table.with_name(f".{self.table.name}.part")
                pq.write_table(table, part)
                os.replace(part, self.table)
            self.journal.unlink()
        keys = table["key"].to_pylist() if wanted else []
        rows = [row for row, key in enumerate(keys) if key in wanted]
        lists = table["logprobs"].take(pa.array(rows, type=pa.int64())).combine_chunks()
        flat = lists.values.to_numpy(zero_copy_only=False)
        bounds = lists.offsets.to_numpy()
        return {keys[row]: flat[bounds[i] : bounds[i + 1]] for i, row in enumerate(rows)}


def _line(key: str, values: np.ndarray) -> str:
    data = base64.b64encode(np.asarray(values, dtype="<f4").tobytes()).decode()
    return json.dumps([key, data]) + "\n"


def _read(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Whole lines of a journal; a line that was cut or is damaged is dropped, and asked anew."""
    for line in path.read_bytes().split(b"\n")[:-1]:
        try:
            key, data = json.loads(line)
            yield str(key), np.frombuffer(base64.b64decode(data, validate=True), dtype="<f4")
        except (ValueError, TypeError):
            continue
