"""Answers that were paid for, kept for good: one SQLite file, one table.

The key of an answer hashes all that decides it (:meth:`~.base.Question.key`), so an answer holds
whatever data set or run wants it, and never grows old.  An answer is on file before anybody sees
it: a killed process loses none.  (What the operating system still holds is lost if the power
fails; a fsync an answer would cost more than it saves.)  Several processes may share a file.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from ..schema import TstmetaError
from .base import Question, Reply, TokenChoice

#: Marks the file as ours ("tstj") in SQLite's header, and the layout of its table.
APPLICATION = 0x7473746A
LAYOUT = 1
#: Seconds to wait for another process that writes; one answer takes well under a millisecond.
PATIENCE = 60.0
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_TABLE = """
CREATE TABLE answers (
  key TEXT PRIMARY KEY NOT NULL, question TEXT NOT NULL, reply TEXT NOT NULL, at TEXT NOT NULL
)"""


class CacheError(TstmetaError):
    """A cache that cannot be read or written; says the remedy."""


class Answers:
    """The answers of one file; a context manager.  Threads may share it.

    Args:
        path: the file; it is made, with its folder, if it is not there.

    Raises:
        CacheError: no file of ours, one of a newer version, a broken one, or no right to write.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        self._lock = threading.Lock()
        with self._told():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            with self._told():
                self._open()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __len__(self) -> int:
        with self._lock, self._told():
            return int(self._db.execute("SELECT count(*) FROM answers").fetchone()[0])

    def get(self, key: str) -> Reply | None:
        """The answer that is kept under a key, or None.

        Raises:
            CacheError: the file broke.
        """
        with self._lock, self._told():
            row = self._db.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._read(row[0], key)

    def put(self, key: str, question: Question, reply: Reply) -> Reply:
        """Keep an answer, at once; a failure is no answer and is not kept.

        Returns:
            The answer that is kept: if another process was first, its answer, so that all
            processes go on with the same.

        Raises:
            CacheError: the file broke, the disk is full, or others held the file for a minute.
        """
        if reply.failure:
            return reply
        now = datetime.now(UTC).isoformat(timespec="seconds")
        asked = vars(question) | {"sampling": vars(question.sampling)}
        row = (key, _ascii(asked), written(reply), now)
        with self._lock, self._told():
            added = self._db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)
        return reply if added.rowcount else (self.get(key) or reply)

    def close(self) -> None:
        """Let the file go."""
        with self._lock:
            self._db.close()

    # ------------------------------------------------------------------------------- the file

    def _open(self) -> None:
        """Check whose file it is; make the table in an empty one."""
        application, layout, tables = self._facts()
        if application == 0 and not tables:
            self._make()
            application, layout, tables = self._facts()
        if application != APPLICATION:
            raise CacheError(
                f"{self.path} is a database of another program. Remedy: name another file"
            )
        if layout > LAYOUT:
            raise CacheError(
                f"{self.path} was written by a newer version of tstmeta. Remedy: update tstmeta, "
                "or name another file"
            )
        self._db.execute("PRAGMA synchronous = NORMAL")

    def _facts(self) -> tuple[int, int, int]:
        """Application, layout and how many tables there are."""
        one = [
            self._db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("application_id", "user_version")
        ]
        tables = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return one[0], one[1], tables

    def _make(self) -> None:
        """The empty table; of several processes that come at once, one makes it."""
        self._write_ahead()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if self._facts()[2] == 0:
                self._db.execute(_TABLE)
                self._db.execute(f"PRAGMA application_id = {APPLICATION}")
                self._db.execute(f"PRAGMA user_version = {LAYOUT}")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _write_ahead(self) -> None:
        """WAL, so that readers never wait; the file remembers it.

        SQLite does not wait for a lock here, so we do.  A file system that knows no WAL keeps
        SQLite's older journal, which is as safe.
        """
        for _ in range(int(PATIENCE / 0.02)):
            try:
                self._db.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF not in (
                    sqlite3.SQLITE_BUSY,
                    sqlite3.SQLITE_LOCKED,
                ):
                    raise
                time.sleep(0.02)

    def _read(self, text: str, key: str) -> Reply:
        try:
            return read(text)
        except (TypeError, ValueError, KeyError) as error:
            raise CacheError(
                f"{self.path}: the answer {key[:12]} cannot be read. Remedy: move the file away; "
                "what it held is asked again"
            ) from error

    @contextmanager
    def _told(self) -> Iterator[None]:
        """SQLite's errors in words, with the remedy."""
        try:
            yield
        except sqlite3.Error as error:
            raise CacheError(f"{self.path}: {_remedy(error)}") from error
        except OSError as error:
            raise CacheError(
                f"{self.path} cannot be made ({error.strerror}). Remedy: name another file"
            ) from error


def _remedy(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_NOTADB:
        return "this is no SQLite file. Remedy: name another file"
    if code == sqlite3.SQLITE_CORRUPT:
        return (
            "the file is damaged. Remedy: save what is left with sqlite3's .recover, or move the "
            "file away; what it held is asked again"
        )
    if code in _HELD:
        return (
            f"another program has held the file for {PATIENCE:g} s. Remedy: wait for it or stop "
            "it, and run again"
        )
    if code == sqlite3.SQLITE_FULL:
        return "the disk is full. Remedy: make room, and run again; what was answered is kept"
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return "the file cannot be opened for writing. Remedy: name a file that you may write"
    return f"SQLite says: {error}. Remedy: name another file"


def _ascii(fields: dict[str, Any]) -> str:
    """JSON in ASCII: half characters and zero bytes, which SQLite takes ill, come through whole."""
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":"))


def written(reply: Reply) -> str:
    """A reply as JSON, for :func:`read`."""
    return _ascii(vars(reply))


def read(text: str) -> Reply:
    """The reply that was written as JSON.

    Raises:
        TypeError, ValueError, KeyError: it was not.
    """
    fields = json.loads(text)
    fields["tokens"] = tuple(
        TokenChoice(token, logprob, tuple((other, value) for other, value in others))
        for token, logprob, others in fields["tokens"]
    )
    return Reply(**fields)
