"""Parts of a run in a folder, local or on shared storage: complete or absent, and known again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path, PurePath
from typing import Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
from fsspec.implementations.local import LocalFileSystem

from .. import storage
from ..schema import TstmetaError
from ..secrecy import conceal


class PartFolder:
    """The folder of a run's parts, whose names begin with ``part-`` and the run's key.

    Where the target is a Parquet file, the folder stands beside it until that is written.

    Raises:
        TstmetaError: it cannot be used, or holds something else.
    """

    def __init__(self, target: str, key: str):
        shown, self._to_file = conceal(target), target.lower().endswith(".parquet")
        try:
            self._system, self._target = fsspec.core.url_to_fs(target)
            self._folder = f"{self._target}.parts" if self._to_file else self._target
            there = self._system.exists(self._folder)
            paths = self._system.ls(self._folder, detail=False) if there else []
        except (ImportError, ValueError, OSError) as error:
            why = conceal(str(error))[:200]
            raise TstmetaError(
                f"cannot write to {shown}: {why}. Remedy: see the address"
            ) from error
        self._is_local = isinstance(self._system, LocalFileSystem)
        names = {PurePath(path).name for path in paths}
        self._there = {name for name in names if not name.startswith(".")}
        if any(not name.startswith(f"part-{key}-") for name in self._there):
            raise TstmetaError(
                f"{shown} holds something else than parts of this run (another file, other "
                "metrics, or an earlier version). Remedy: name another folder with --out, or "
                "delete this one"
            )

    def locked(self) -> AbstractContextManager[None]:
        """One run at a time in a local folder; on shared storage that is left to the user."""
        lock = Path(self._folder) / ".lock"
        return storage.locked(lock, timeout=5) if self._is_local else nullcontext()

    def facts(self, name: str) -> dict[str, Any] | None:
        """What is known of a part; None where it has to be computed (again)."""
        return self._facts(f"{self._folder}/{name}") if name in self._there else None

    def finished(self) -> dict[str, Any] | None:
        """What is known of the file in which parts were put together before."""
        return self._facts(self._target) if self._to_file else None

    def _facts(self, path: str) -> dict[str, Any] | None:
        """The facts in a file; None if it is not there, damaged, or has errors."""
        try:
            with self._system.open(path, "rb") as file:
                facts = json.loads(pq.read_schema(file).metadata[b"tstmeta"])
            return None if any(facts["groups"]["errors"]) else facts
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError):
            return None

    @contextmanager
    def _replacing(self, path: str) -> Iterator[Any]:
        """A file to write: what is written there takes the place of ``path`` in one move."""
        draft = f"{self._folder}/.draft"
        try:
            self._system.makedirs(self._folder, exist_ok=True)
            with self._system.open(draft, "wb") as file:
                yield file
            move = os.replace if self._is_local else self._system.mv
            move(draft, path)
        except OSError as error:
            raise storage.cannot_write(conceal(path), error) from error

    def write(self, name: str, content: bytes) -> None:
        """Keep a part."""
        with self._replacing(f"{self._folder}/{name}") as file:
            file.write(content)

    def finish(self, names: Sequence[str], facts: dict[str, Any]) -> None:
        """Delete parts of rows that have changed, and put the others together in the file."""
        for name in self._there.difference(names):
            self._system.rm_file(f"{self._folder}/{name}")
        if not self._to_file:
            return
        writer: Any = None
        with self._replacing(self._target) as file:
            for name in names:
                with self._system.open(f"{self._folder}/{name}", "rb") as part:
                    table = pq.read_table(part)
                table = table.replace_schema_metadata({"tstmeta": json.dumps(facts)})
                writer = writer or pq.ParquetWriter(file, table.schema)
                writer.write_table(table)
            writer.close()
        if not any(facts["groups"]["errors"]):
            self._system.rm(self._folder, recursive=True)
