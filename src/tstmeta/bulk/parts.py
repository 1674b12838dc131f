"""Parts of a run in a folder, local or on shared storage: complete or absent, and known again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path, PurePath
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from .. import storage
from ..schema import TstmetaError
from ..secrecy import conceal
from .work import Chunk, Result

#: Values of corpus metrics, beside the parts.
CORPUS = "_corpus.csv"
#: Rows of a group in the file that parts are put together in.
_GROUP = 1 << 17


class PartFolder:
    """The folder of a run's parts, whose names begin with the run's key.

    Raises:
        TstmetaError: it cannot be used, or holds something else.
    """

    def __init__(self, folder: str, key: str):
        self.shown, self._prefix = conceal(folder), f"part-{key}-"
        try:
            self.system, self.root = fsspec.core.url_to_fs(folder)
            there = self.system.exists(self.root)
            paths = self.system.ls(self.root, detail=False) if there else []
        except (ImportError, ValueError, OSError) as error:
            why = conceal(str(error))[:200]
            raise TstmetaError(
                f"cannot write to {self.shown}: {why}. Remedy: see the address"
            ) from error
        self.local = Path(self.root) if isinstance(self.system, LocalFileSystem) else None
        names = {PurePath(path).name for path in paths} - {CORPUS}
        self._there = {name for name in names if name.startswith(self._prefix)}
        self._used: set[str] = set()
        if any(not name.startswith(".") for name in names - self._there):
            raise TstmetaError(
                f"{self.shown} holds something else than parts of this run (another file, other "
                "metrics, or an earlier version). Remedy: name another folder with --out, or "
                "delete this one"
            )

    def _put(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all; stores of objects do that by themselves."""
        if self.local:
            storage.write(self.local / name, content)
            return
        try:
            self.system.pipe_file(f"{self.root}/{name}", content)
        except OSError as error:
            raise storage.cannot_write(f"{self.shown}/{name}", error) from error

    def locked(self) -> AbstractContextManager[None]:
        """One run at a time in a local folder; on shared storage that is left to the user."""
        return storage.locked(self.local / ".lock", timeout=5) if self.local else nullcontext()

    def facts(self, chunk: Chunk) -> dict[str, Any] | None:
        """What is known of a chunk's part; None where it has to be computed (again)."""
        name = self._prefix + chunk.part
        if name not in self._there:
            return None
        if facts := facts_of(self.system.unstrip_protocol(f"{self.root}/{name}")):
            self._used.add(name)
        return facts

    def write(self, result: Result) -> None:
        """Keep a part."""
        self._put(self._prefix + result.name, result.part)
        self._used.add(self._prefix + result.name)

    def finish(self, corpus: str) -> None:
        """Delete parts of rows that have changed; write values of corpus metrics, if any."""
        for name in self._there - self._used:
            self.system.rm_file(f"{self.root}/{name}")
        if corpus:
            self._put(CORPUS, corpus.encode())

    def merge(self, out: str, corpus: str, facts: dict[str, Any]) -> None:
        """Put the parts together in one file, and values of corpus metrics beside."""
        if self.local:
            with storage.replacing(Path(out)) as draft, draft.open("wb") as file:
                self._merge(file, facts)
        else:
            with fsspec.open(out, "wb") as file:
                self._merge(file, facts)
        system, path = fsspec.core.url_to_fs(f"{out[: -len('.parquet')]}.corpus.csv")
        if corpus:
            system.pipe_file(path, corpus.encode())
        elif system.exists(path):  # of the file whose place this one takes
            system.rm_file(path)

    def remove(self) -> None:
        """Delete the folder: all that it has is elsewhere."""
        self.system.rm(self.root, recursive=True)

    def _merge(self, file: Any, facts: dict[str, Any]) -> None:
        metadata = {"tstmeta": json.dumps(facts)}
        writer: Any = None
        for table in self._groups():
            table = table.replace_schema_metadata(metadata)
            writer = writer or pq.ParquetWriter(file, table.schema)
            if len(table):
                writer.write_table(table, _GROUP)
        writer.close()

    def _groups(self) -> Iterator[pa.Table]:
        """All rows, as many at once whatever the parts are, so that the file is the same bytes."""
        rest: Any = None
        for name in sorted(self._used):
            with self.system.open(f"{self.root}/{name}", "rb") as part:
                table = pq.read_table(part).replace_schema_metadata()
            rest = table if rest is None else pa.concat_tables([rest, table])
            while len(rest) >= _GROUP:
                yield rest.slice(0, _GROUP).combine_chunks()
                rest = rest.slice(_GROUP)
        yield rest.combine_chunks()  # also without rows: its columns are those of the file


def facts_of(address: str) -> dict[str, Any] | None:
    """The facts in a part or a finished file; None if it is not there, damaged, or has errors,
    which are tried again.
    """
    try:
        with fsspec.open(address, "rb") as file:
            facts = json.loads(pq.read_schema(file).metadata[b"tstmeta"])
        return None if any(facts["groups"]["errors"]) else facts
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, ImportError):
        return None
