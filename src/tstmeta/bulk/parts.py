"""Parts of a run in a folder, local or on shared storage: complete or absent, and known again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import fsspec
from fsspec.implementations.local import LocalFileSystem

from .. import storage
from ..schema import TstmetaError
from ..secrecy import conceal
from .work import Chunk, Done, Job, corpus_values, digest_of, digests, key_of, together

if TYPE_CHECKING:
    from . import Chunks

#: What a folder's parts are of, and, once all are there, their digest and sums.
MANIFEST = "_tstmeta.json"
CORPUS = "_corpus.csv"
#: Rows of a group in the file that parts are put together in.
_GROUP = 1 << 17


class PartFolder:
    """The folder of a run's parts.

    Raises:
        TstmetaError: it cannot be used, or holds something else.
    """

    def __init__(self, folder: str, job: Job, size: int):
        self.job, self.shown = job, conceal(folder)
        try:
            self.system, self.root = fsspec.core.url_to_fs(folder)
            self.local = Path(self.root) if isinstance(self.system, LocalFileSystem) else None
            names = self._names()
        except (ImportError, ValueError, OSError) as error:
            why = conceal(str(error)[:200])
            raise TstmetaError(
                f"cannot write to {self.shown}: {why}. Remedy: see the address"
            ) from error
        facts = {"data": job.name, "key": job.key, "chunk": size}
        if names and self._known(names) != facts:
            raise TstmetaError(
                f"{self.shown} holds something else than parts of this run (another file, other "
                "metrics or chunks). Remedy: name another folder with --out, or delete this one"
            )
        self.manifest = facts
        self._there = {name for name in names if name.startswith("part-")}
        self._used: set[str] = set()

    def _names(self) -> list[str]:
        if not self.system.exists(self.root):
            return []
        names = [PurePath(path).name for path in self.system.ls(self.root, detail=False)]
        return [name for name in names if not name.startswith(".")]

    def _known(self, names: list[str]) -> dict[str, Any] | None:
        if MANIFEST not in names:
            return None
        try:
            known = json.loads(self.system.cat_file(f"{self.root}/{MANIFEST}"))
            return {name: known[name] for name in ("data", "key", "chunk")}
        except (ValueError, KeyError, TypeError):
            return None

    def _put(self, name: str, content: str | bytes) -> None:
        """Write a file, whole or not at all; stores of objects do that by themselves."""
        if self.local:
            storage.write(self.local / name, content)
            return
        try:
            raw = content.encode() if isinstance(content, str) else content
            self.system.pipe_file(f"{self.root}/{name}", raw)
        except OSError as error:
            raise storage.cannot_write(f"{self.shown}/{name}", error) from error

    @contextmanager
    def alone(self) -> Iterator[None]:
        """One run at a time in a local folder; on shared storage that is left to the user."""
        if self.local is None:
            yield
            return
        lock = self.local / ".lock"
        with storage.locked(lock, timeout=5):
            try:
                yield
            finally:
                if not (self._there or self._used):  # a folder of nothing but the lock goes
                    with suppress(OSError):
                        lock.unlink()
                        self.local.rmdir()

    def facts(self, chunk: Chunk) -> dict[str, Any] | None:
        """What is known of a chunk's part; None where it has to be computed (again)."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._there:  # no rows are hashed for nothing
            return None
        name = _name(chunk.place, key_of(self.job, chunk.rows, digests(chunk.rows)))
        if name not in self._there:
            return None
        try:
            with self.system.open(f"{self.root}/{name}", "rb") as file:
                facts = json.loads(pq.read_schema(file).metadata[b"tstmeta"])
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
            return None  # damaged by others: it is computed and written again
        if facts["errors"]:
            return None
        self._used.add(name)
        return facts

    def write(self, done: Done) -> None:
        """Keep a part; before the first, say what the folder is of."""
        if not (self._there or self._used):
            self._put(MANIFEST, json.dumps(self.manifest))
        self._put(name := _name(done.place, done.key), done.part)
        self._used.add(name)

    def finish(self, facts: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Parts of rows that have changed go; values of corpus metrics and the manifest come."""
        for name in self._there - self._used:
            self.system.rm_file(f"{self.root}/{name}")
        digest = digest_of(self.job, (each["hashes"] for each in facts))
        self.total = {"digest": digest, **together(facts)}
        values = corpus_values(self.total["totals"], self.job)
        if len(values):
            self._put(CORPUS, values.to_csv(index=False, lineterminator="\n"))
        self._put(MANIFEST, json.dumps({**self.manifest, **self.total}))
        return self.total

    def merge(self, out: str) -> None:
        """Put the parts together in one file, and values of corpus metrics beside; parts go."""
        if self.local:
            with storage.whole(Path(out)) as draft, draft.open("wb") as file:
                self._merge(file)
        else:
            with fsspec.open(out, "wb") as file:
                self._merge(file)
        values = corpus_values(self.total["totals"], self.job)
        system, path = fsspec.core.url_to_fs(f"{out[: -len('.parquet')]}.corpus.csv")
        if system.exists(path):  # of the file whose place this one takes
            system.rm_file(path)
        if len(values):
            with system.open(path, "w", encoding="utf-8", newline="") as file:
                file.write(values.to_csv(index=False, lineterminator="\n"))

    def remove(self) -> None:
        """Delete the folder: all that it has is elsewhere."""
        self.system.rm(self.root, recursive=True)

    def _merge(self, file: Any) -> None:
        """Groups of the same rows whatever the parts are, so that the file is the same bytes."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        about = {"tstmeta": json.dumps(self.total)}
        rest: Any = None
        writer: Any = None
        for name in sorted(self._used):
            with self.system.open(f"{self.root}/{name}", "rb") as part:
                table = pq.read_table(part).replace_schema_metadata(about)
            writer = writer or pq.ParquetWriter(file, table.schema)
            rest = table if rest is None else pa.concat_tables([rest, table])
            while len(rest) >= _GROUP:
                writer.write_table(rest.slice(0, _GROUP).combine_chunks(), _GROUP)
                rest = rest.slice(_GROUP)
        if len(rest):
            writer.write_table(rest.combine_chunks(), _GROUP)
        writer.close()

    @staticmethod
    def of_file(out: str, reading: Chunks) -> dict[str, Any] | None:
        """What a finished file says of itself, if it is of the same rows and metrics."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            with fsspec.open(out, "rb") as file:
                facts = json.loads(pq.read_schema(file).metadata[b"tstmeta"])
            same = not facts["errors"] and facts["digest"] == reading.digest()
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, ImportError):
            return None
        return facts if same else None


def _name(place: int, key: str) -> str:
    return f"part-{place:07d}-{key}.parquet"
