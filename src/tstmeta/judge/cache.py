"""Answers that were paid for, kept for good: one SQLite file that several processes may share.

An answer is on file before anybody sees it, under a key that hashes all that decides it.
"""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from .. import storage
from ..schema import TstmetaError
from ..store import PATIENCE
from .base import Question, Reply

_JSON = json.JSONEncoder(separators=(",", ":"))
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY NOT NULL, question TEXT NOT NULL, reply TEXT NOT NULL, at TEXT NOT NULL
)"""


def asking(cache: Path, server: str, model: str) -> AbstractContextManager[None]:
    """Let one process at a time ask a model for answers of a file; another waits for an hour."""
    judge = hashlib.sha256(f"{server} {model}".encode(errors="replace")).hexdigest()[:8]
    return storage.locked(cache.with_name(f"{cache.name}.{judge}.lock"))


class AnswerCache(AbstractContextManager["AnswerCache"]):
    """The answers of one file, which is made if it is not there; a context manager.

    Raises:
        TstmetaError: here and in each method, if the file cannot be read or written.
    """

    def __init__(self, path: Path):
        self.path = Path(path)
        with self._explained(), ExitStack() as stack:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if not self.path.exists():  # it holds texts; SQLite gives its other files the same mode
                self.path.touch(mode=0o600)
            self._db = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            stack.callback(self._db.close)
            self._db.execute(_TABLE)
            # readers never wait; where another process is at work, its mode is as safe
            with suppress(sqlite3.OperationalError):
                self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            stack.pop_all()

    def __exit__(self, *error: object) -> None:
        self._db.close()

    def get(self, key: str) -> Reply | None:
        """The answer that is kept under a key, or None."""
        with self._explained():
            row = self._db.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            fields = json.loads(row[0])
            fields.pop("tokens", None)  # log-probabilities, which older versions asked for
            return Reply(fields.pop("text"), **fields)

    def put(self, key: str, question: Question, reply: Reply) -> Reply:
        """Keep an answer, not a failure; gives what is kept: another process may be first."""
        if reply.failure:
            return reply
        now = datetime.now(UTC).isoformat(timespec="seconds")
        facts = vars(question) | {"sampling": vars(question.sampling)}
        # in ASCII: half characters and zero bytes, which SQLite takes ill, come through whole
        row = (key, _JSON.encode(facts), _JSON.encode(vars(reply)), now)
        with self._explained():
            added = self._db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", row)
        return reply if added.rowcount else (self.get(key) or reply)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of SQLite, of the file and of what it holds, with the remedy."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            remedy = "see that the file may be written, that there is room and that no other "
            remedy += "program holds it; or name another file"
            raise TstmetaError(f"{self.path}: {error}. Remedy: {remedy}") from error
        except (TypeError, ValueError, KeyError) as error:
            remedy = "move the file away; what it held is asked again"
            raise TstmetaError(
                f"{self.path}: an answer cannot be read. Remedy: {remedy}"
            ) from error
