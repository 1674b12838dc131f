"""Parts of a run in a folder, local or on shared storage: complete or absent, and known again."""

from __future__ import annotations

import json
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
from .work import Chunk, Done, Job, digests, key_of

#: What a folder's parts are of.
MANIFEST = "_tstmeta.json"
CORPUS = "_corpus.csv"
#: Rows of a group in the file that parts are put together in.
_GROUP = 1 << 17


class PartFolder:
    """The folder of a run's parts.

    Raises:
        TstmetaError: it cannot be used, or holds something else.
    """

    def __init__(self, folder: str, job: Job):
        self.job, self.shown = job, conceal(folder)
        self._used: set[str] = set()
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
        names = {PurePath(path).name for path in paths}
        self._there = {name for name in names if name.startswith("part-")}
        self._manifest = json.dumps({"data": job.name, "key": job.key}).encode()
        foreign = {name for name in names if not name.startswith(".")}
        if foreign and (
            MANIFEST not in names
            or self.system.cat_file(f"{self.root}/{MANIFEST}") != self._manifest
        ):
            raise TstmetaError(
                f"{self.shown} holds something else than parts of this run (another file or other "
                "metrics). Remedy: name another folder with --out, or delete this one"
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

    def alone(self) -> AbstractContextManager[None]:
        """One run at a time in a local folder; on shared storage that is left to the user."""
        return storage.locked(self.local / ".lock", timeout=5) if self.local else nullcontext()

    def facts(self, chunk: Chunk) -> dict[str, Any] | None:
        """What is known of a chunk's part; None where it has to be computed (again)."""
        if not self._there:  # no rows are hashed for nothing
            return None
        name = _name(chunk.place, key_of(self.job, chunk.rows, digests(chunk.rows)))
        if name not in self._there:
            return None
        if facts := facts_of(self.system.unstrip_protocol(f"{self.root}/{name}")):
            self._used.add(name)
        return facts

    def write(self, done: Done) -> None:
        """Keep a part; before the first, say what the folder is of."""
        if not (self._there or self._used):
            self._put(MANIFEST, self._manifest)
        self._put(name := _name(done.place, done.key), done.part)
        self._used.add(name)

    def finish(self, values: str) -> None:
        """Parts of rows that have changed go; values of corpus metrics come, if there are any."""
        for name in self._there - self._used:
            self.system.rm_file(f"{self.root}/{name}")
        if values:
            self._put(CORPUS, values.encode())

    def merge(self, out: str, values: str, about: dict[str, Any]) -> None:
        """Put the parts together in one file, and values of corpus metrics beside."""
        if self.local:
            with storage.replacing(Path(out)) as draft, draft.open("wb") as file:
                self._merge(file, about)
        else:
            with fsspec.open(out, "wb") as file:
                self._merge(file, about)
        system, path = fsspec.core.url_to_fs(f"{out[: -len('.parquet')]}.corpus.csv")
        if values:
            system.pipe_file(path, values.encode())
        elif system.exists(path):  # of the file whose place this one takes
            system.rm_file(path)

    def remove(self) -> None:
        """Delete the folder: all that it has is elsewhere."""
        self.system.rm(self.root, recursive=True)

    def _merge(self, file: Any, about: dict[str, Any]) -> None:
        """Groups of the same rows whatever the parts are, so that the file is the same bytes."""
        rest: Any = None
        writer: Any = None
        for name in sorted(self._used):
            with self.system.open(f"{self.root}/{name}", "rb") as part:
                table = pq.read_table(part).replace_schema_metadata({"tstmeta": json.dumps(about)})
            writer = writer or pq.ParquetWriter(file, table.schema)
            rest = table if rest is None else pa.concat_tables([rest, table])
            while len(rest) >= _GROUP:
                writer.write_table(rest.slice(0, _GROUP).combine_chunks(), _GROUP)
                rest = rest.slice(_GROUP)
        if len(rest):
            writer.write_table(rest.combine_chunks(), _GROUP)
        writer.close()


def facts_of(address: str) -> dict[str, Any] | None:
    """What a part or a finished file says of itself; None if it is not there, damaged, or has
    errors, which are tried again.
    """
    try:
        with fsspec.open(address, "rb") as file:
            facts = json.loads(pq.read_schema(file).metadata[b"tstmeta"])
        return None if facts["errors"] else facts
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, ImportError):
        return None


def _name(place: int, key: str) -> str:
    return f"part-{place:07d}-{key}.parquet"
