"""One SQLite file of scores and token log-probabilities, shared by many processes at once.

Processes that want the same rows share the work: each claims keys, a block at a time, as an owner
whose file it locks as long as it lives.  What a dead owner claimed is free.
"""

import json
import os
import re
import sqlite3
import time
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from pathlib import Path
from threading import RLock
from typing import Any
from uuid import uuid4

from .schema import TstmetaError
from .storage import cannot_write, locked

FILE = "store.sqlite"
REMEDY = "delete this file: what it has is computed again"
#: Seconds to wait for a process that writes, and between two looks at what others compute.
PATIENCE, POLL = 60.0, 0.2
#: Seconds of work that share a commit: what a kill loses, beside the unit under way.
PAUSE = 0.01
_KEYED = "PRIMARY KEY (signature, key)) WITHOUT ROWID"
_TABLES = f"""
CREATE TABLE IF NOT EXISTS signatures (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS scores (signature, key, value REAL, status, detail, {_KEYED};
CREATE TABLE IF NOT EXISTS tokens (signature, key, logprobs, {_KEYED};
CREATE TABLE IF NOT EXISTS claims (signature, key, owner, {_KEYED};"""
_ROOM = re.compile("full|I/O|locked|readonly|open")
_AMONG = "WHERE signature = ? AND key IN (SELECT value FROM json_each(?))"


class _Connection(sqlite3.Connection):
    """Closes itself where nobody holds it any more, but not in a fork."""

    process = 0

    def __del__(self) -> None:
        if self.process == os.getpid():
            self.close()


@lru_cache(maxsize=8)
def _connection(path: Path, process: int, inode: int) -> tuple[sqlite3.Connection, RLock]:
    """The connection of a process to a file, for its threads in turn; no other after a fork."""
    options: dict[str, Any] = {"isolation_level": None, "check_same_thread": False}
    db = sqlite3.connect(path, PATIENCE, factory=_Connection, **options)
    db.process = process
    with suppress(sqlite3.OperationalError):  # another process opens the file and does the same
        db.execute("PRAGMA journal_mode = WAL")
    db.executescript(f"PRAGMA synchronous = NORMAL; {_TABLES}")
    return db, RLock()


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Errors of a file and of what it has, with the remedy."""
    try:
        yield
    except (sqlite3.Error, OSError, ValueError) as error:
        is_room = isinstance(error, sqlite3.OperationalError) and _ROOM.search(str(error))
        if is_room or getattr(error, "errno", None):
            raise cannot_write(path, error) from error
        raise TstmetaError(f"{path}: {error}. Remedy: {REMEDY}") from error


class Rows:
    """The rows of a signature in a table of the store of a folder.

    ``scores`` has key, value, status and detail, ``tokens`` key and log-probabilities in float32.
    """

    def __init__(self, folder: Path, table: str, signature: str):
        self.path, self._table, self._id = folder.absolute() / FILE, table, 0
        self._fresh: list[tuple] = []
        self._due = 0.0
        with _explained(self.path):
            if not self.path.exists():  # SQLite gives its other files the same mode
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.touch(0o600)
            inode = self.path.stat().st_ino  # a file that is deleted takes its connection along
            self._db, self._turn = _connection(self.path, os.getpid(), inode)
        with self._transaction() as db:
            db.execute("INSERT OR IGNORE INTO signatures (signature) VALUES (?)", [signature])
            [[self._id]] = db.execute("SELECT id FROM signatures WHERE signature = ?", [signature])

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """Write all or nothing, one process at a time."""
        with _explained(self.path), self._turn:
            self._db.execute(begin)
            with self._db:
                yield self._db

    def read(self, keys: Iterable[str]) -> list[tuple]:
        """The rows that are stored under keys, without an order."""
        with self._transaction("BEGIN") as db:
            rows = db.execute(f"SELECT * FROM {self._table} {_AMONG}", self._among(keys))
            return [row[1:] for row in rows]

    def add(self, rows: Iterable[tuple]) -> None:
        """Store rows; those that come in quick succession share a commit."""
        self._fresh += [(self._id, *row) for row in rows]
        if time.monotonic() >= self._due:
            self.commit()

    def commit(self) -> None:
        """Write the rows that were added."""
        if self._fresh:
            marks = ", ".join("?" * len(self._fresh[0]))
            with self._transaction() as db:
                db.executemany(f"INSERT OR IGNORE INTO {self._table} VALUES ({marks})", self._fresh)
        self._fresh, self._due = [], time.monotonic() + PAUSE

    def shares(self, blocks: list[list[str]]) -> Generator[list[str], None, None]:
        """Of each block the keys to compute and to add here; none while others compute the rest.

        Ends when each key is stored or was tried here; to be closed if it is left early.
        """
        owner = uuid4().hex
        with locked(self._lock(owner)):
            try:
                while blocks:
                    start, before, blocks = time.monotonic(), blocks, []
                    for block in before:
                        free, held = self._claim(block, owner)
                        blocks += [held] if held else []
                        yield free
                        self.commit()
                    if blocks == before:
                        time.sleep(POLL + 10 * (time.monotonic() - start))
            finally:
                self.commit()
                self._claim([], owner)
                with suppress(OSError):
                    self._lock(owner).unlink()

    def _claim(self, keys: list[str], owner: str) -> tuple[list[str], list[str]]:
        """Claim those keys that nobody has, and these alone; the keys that others claim."""
        is_alive, among = cache(self._is_alive), self._among(keys)
        with self._transaction() as db:
            db.execute("DELETE FROM claims WHERE signature = ? AND owner = ?", (self._id, owner))
            stored = db.execute(f"SELECT key FROM {self._table} {_AMONG}", among).fetchall()
            left = dict.fromkeys(keys).keys() - {key for (key,) in stored}
            claims = db.execute(f"SELECT key, owner FROM claims {_AMONG}", among).fetchall()
            held = {key for key, other in claims if is_alive(other)}
            free = [key for key in keys if key in left and key not in held]
            rows = [(self._id, key, owner) for key in free]
            db.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", rows)
        return free, [key for key in keys if key in left and key in held]

    def _among(self, keys: Iterable[str]) -> tuple[int, str]:
        return self._id, json.dumps([*keys])

    def _lock(self, owner: str) -> Path:
        return self.path.with_name("claims") / f"{owner}.lock"

    def _is_alive(self, owner: str) -> bool:
        try:
            with locked(self._lock(owner), timeout=0):
                return False
        except TstmetaError:
            return True
