"""Questions in, answers out: some at a time, each asked once, each on file before it is seen.

Answers were paid for and are kept for good, in one SQLite file that several processes may share,
under a key that hashes all that decides them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from .. import storage
from ..schema import TstmetaError
from ..store import PATIENCE
from .base import Question, Reply

if TYPE_CHECKING:
    from .client import Served

_JSON = json.JSONEncoder(separators=(",", ":"))
_TABLE = """
CREATE TABLE IF NOT EXISTS answers (
  key TEXT PRIMARY KEY NOT NULL, question TEXT NOT NULL, reply TEXT NOT NULL, at TEXT NOT NULL
)"""


def estimate(questions: Sequence[Question], chat: Served, cache: Path) -> str:
    """What :func:`run` would ask, in words; asks nothing and writes nothing.

    Prompts are taken to have a token for four characters, answers to be as long as they may be.
    """
    unique = {q.key(chat.server, chat.model, chat.revision): q for q in questions}
    todo = list(unique.values())
    if cache.exists():
        with AnswerCache(cache) as answers:
            todo = [question for key, question in unique.items() if not answers.get(key)]
    lengths = (sum(len(m.content) for m in question.messages) for question in todo)
    prompts = sum(math.ceil(length / 4) for length in lengths)
    return (
        f"{len(todo):,} requests ({len(unique) - len(todo):,} answers are kept), about "
        f"{prompts:,} tokens of prompts (characters / 4) and at most "
        f"{sum(question.sampling.max_tokens for question in todo):,} of answers"
    )


def run(
    questions: Sequence[Question], chat: Served, *, cache: Path, concurrency: int = 16
) -> list[Reply]:
    """Ask what is not kept, equal questions once, and give one reply a question, in order.

    A question that failed has its failure in its reply and is asked again in a next run.
    ``cache`` is the file of answers; ``concurrency``: questions under way at once, at most.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        replies = _on_file(keys, answers)
        if len(replies) < len(set(keys)):
            with asking(cache, chat.server, chat.model):
                replies = _on_file(keys, answers)  # another process may have asked by now
                todo = {k: q for k, q in zip(keys, questions, strict=True) if k not in replies}
                replies |= asyncio.run(_answers(todo, chat, answers, concurrency))
    return [replies[key] for key in keys]


def _on_file(keys: Sequence[str], answers: AnswerCache) -> dict[str, Reply]:
    return {key: reply for key in keys if (reply := answers.get(key))}


async def _answers(
    todo: dict[str, Question], chat: Served, answers: AnswerCache, concurrency: int
) -> dict[str, Reply]:
    """The replies by key; the first error ends the others."""
    replies: dict[str, Reply] = {}
    queue = iter(todo.items())
    bar = tqdm(desc=chat.model, unit="answer", disable=None, total=len(todo))

    async def work() -> None:
        for key, question in queue:
            replies[key] = answers.put(key, question, await chat.ask(question))
            bar.update()

    try:
        with bar:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(min(concurrency, len(todo))):
                    tasks.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await chat.close()
    return replies


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
