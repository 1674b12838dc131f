"""Files that survive a kill: written whole or not at all, journals, one writer at a time."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import combinations, product
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from .schema import TstmetaError

#: Output options of the command at work, and its inputs as in :func:`apart`: none is written over.
protected: ContextVar[Any] = ContextVar("protected", default=("", ()))


def apart(outputs: Sequence[tuple[str, Any]], inputs: Sequence[tuple[str, Any]] = ()) -> None:
    """Refuse an output that is an input or another output: (option, path); links are followed."""
    outputs = [named for named in outputs if named[1]]
    for (option, path), (other, file) in (*product(outputs, inputs), *combinations(outputs, 2)):
        real = [os.path.realpath(path), os.path.realpath(file)]
        if real[0] == real[1] or (all(map(os.path.exists, real)) and os.path.samefile(*real)):
            words = f"{option} {path} would write over {file}, which {other} names"
            raise TstmetaError(f"{words}. Remedy: name another file or folder with {option}")


@contextmanager
def whole(path: Path, private: bool = False) -> Iterator[Path]:
    """Where to write a file: what is written there takes the place of ``path`` in one move.

    A run that is killed leaves the old file or the new one; a draft it left is written over.
    A private file can be read by its owner alone (mode 0600).

    Raises:
        TstmetaError: the file cannot be written.
    """
    if any("\ud800" <= sign <= "\udfff" for sign in str(path)):  # Parquet cannot be written there
        raise TstmetaError(f"cannot write {path}: the name is not UTF-8. Remedy: rename it")
    options, inputs = protected.get()
    apart([(options, path)], inputs)
    draft = path.parent / f".{path.name}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if private:
            draft.unlink(missing_ok=True)
            draft.touch(0o600)
        yield draft
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise cannot_write(path, error) from error


def cannot_write(path: Path | str, error: OSError) -> TstmetaError:
    """What to raise where there is no room, or no right to write: names the file and the remedy."""
    return TstmetaError(
        f"cannot write {path}: {error.strerror or error}. Remedy: see that there is room, and that "
        f"{Path(path).parent} is a folder that may be written to; the same command then goes on"
    )


def write(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all; see :func:`whole`."""
    with whole(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def locked(path: Path, timeout: float = 3600) -> Iterator[None]:
    """Let one process at a time in; ``path`` is the lock's own file.

    Args:
        timeout: seconds to wait for another process.

    Raises:
        TstmetaError: another process still holds it, or its folder cannot be written to.
    """
    from filelock import FileLock, Timeout  # takes time to import

    lock = FileLock(path, timeout=timeout)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise TstmetaError(
            f"another run is at work here and holds {path}. Remedy: wait for it or stop it"
        ) from error
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield
    finally:
        lock.release()


class Journal:
    """Results as JSON lines, added as they come: ``with journal: journal.add([...])``.

    Each call of :meth:`add` is one write and one flush: a kill may cut the last line, never an
    earlier one, and a cut line is not read.  Outside ``with`` the file is opened for each call.
    It can be read by its owner alone, since entries may hold texts.
    """

    def __init__(self, path: Path):
        self.path = path
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self._file = open(self.path, "a+b", opener=lambda path, how: os.open(path, how, 0o600))
        except OSError as error:
            raise cannot_write(self.path, error) from error
        if self._file.tell():
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":  # a kill cut the last line: what comes begins anew
                self._file.write(b"\n")
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            with suppress(OSError):  # of what add() could not write, and said so
                self._file.close()
        self._file = None

    def add(self, entries: Iterable[Any]) -> None:
        """Add entries, one a line."""
        if self._file is None:
            with self:
                return self.add(entries)
        lines = "".join(json.dumps(entry, ensure_ascii=True) + "\n" for entry in entries)
        try:
            self._file.write(lines.encode())
            self._file.flush()
        except OSError as error:
            raise cannot_write(self.path, error) from error

    def __iter__(self) -> Iterator[Any]:
        """The entries whose lines are whole, in order; a damaged line is left out."""
        if not self.path.is_file():
            return
        for line in self.path.read_bytes().split(b"\n")[:-1]:
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                continue


KEPT_REMEDY = "delete this file: what it has is computed again, no other is lost"


class Kept:
    """Rows by key in a Parquet file, sorted by it, and while a run is under way a journal beside.

    A run that was killed leaves its journal, which goes into the table when that is next read: the
    same bytes as without the kill.
    """

    def __init__(self, folder: Path, name: str, columns: Mapping[str, pa.DataType]):
        stem = "".join(sign if sign.isalnum() or sign in "-_." else "-" for sign in name)
        self.table, self.lock = folder / f"{stem}.parquet", folder / f"{stem}.lock"
        self.journal = Journal(folder / f"{stem}.journal")
        self._schema = pa.schema({"key": pa.string(), **columns})

    def read(self, rows: Callable[[Any], Iterable[tuple]]) -> pa.Table:
        """The table, with the rows of the journal's entries; one that has none is left out.

        Raises:
            TstmetaError: the file is no such table.
        """
        table = self._schema.empty_table()
        try:
            if self.table.is_file():
                table = pq.read_table(self.table).select(self._schema.names).cast(self._schema)
        except (pa.ArrowException, KeyError, OSError) as error:
            raise TstmetaError(
                f"{self.table}: not a table of what was computed ({str(error).splitlines()[0]}). "
                f"Remedy: {KEPT_REMEDY}"
            ) from error
        if not self.journal.path.is_file():
            return table
        fresh: dict[str, tuple] = {}
        for entry in self.journal:
            with suppress(ValueError, TypeError, OverflowError):
                fresh |= {row[0]: row for row in rows(entry)}
        if new := sorted(fresh.keys() - set(table["key"].to_pylist())):
            columns = zip(*(fresh[key] for key in new), strict=True)
            arrays = [
                pa.array(list(c), t) for c, t in zip(columns, self._schema.types, strict=True)
            ]
            added = pa.table(arrays, schema=self._schema)
            table = pa.concat_tables([table, added]).sort_by("key").combine_chunks()
            with whole(self.table, private=True) as draft:
                pq.write_table(table, draft)
        self.journal.path.unlink()
        return table
