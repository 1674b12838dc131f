"""How the tests of client, runner and budget ask."""

import asyncio
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.judge.scripted import Server
from tstmeta.judge.base import Message, Question, Reply, Sampling
from tstmeta.judge.client import Served
from tstmeta.judge.runner import run


def question(text: str = "Rate this.", **fields: Any) -> Question:
    how = fields.pop("sampling", Sampling())
    return Question((Message("user", text),), sampling=how, **fields)


def questions(count: int) -> list[Question]:
    return [question(f"Rate number {number}.") for number in range(count)]


def chat(server: Server, **options: Any) -> Served:
    return Served(server.url, "tiny", **({"key": "", "timeout": 5.0} | options))


def ask(server: Server, asked: Question | None = None, **options: Any) -> Reply:
    """One answer of a fresh chat."""
    return asyncio.run(once(chat(server, **options), asked or question()))


async def once(served: Served, *asked: Question) -> Any:
    """Answers to questions that are asked together; the reply itself if it is one."""
    try:
        replies = await asyncio.gather(*(served.ask(each) for each in asked))
    finally:
        await served.close()
    return replies[0] if len(replies) == 1 else replies


def answers(server: Server | None, asked: list[Question], folder: Path, **options: Any) -> list:
    """The replies of a run without a bar."""
    patience = {name: options.pop(name) for name in ("retries", "timeout") if name in options}
    served = options.pop("served", None) or chat(server, **patience)
    return run(asked, served, cache=folder / "answers.sqlite", progress=False, **options)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def kept(folder: Path, table: str = "answers") -> int:
    """Rows of a table of the cache."""
    with closing(sqlite3.connect(folder / "answers.sqlite")) as file:
        return file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
