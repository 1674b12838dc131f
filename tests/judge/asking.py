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


def replies(served: Served, *asked: Question) -> list[Reply]:
    """Answers to questions that are asked one after the other."""

    async def one_by_one() -> list[Reply]:
        try:
            return [await served.ask(each) for each in asked]
        finally:
            await served.close()

    return asyncio.run(one_by_one())


def ask(server: Server, asked: Question | None = None, **options: Any) -> Reply:
    """One answer of a fresh chat."""
    return replies(chat(server, **options), asked or question())[0]


def answers(server: Server | None, asked: list[Question], folder: Path, **options: Any) -> list:
    """The replies of a run without a bar."""
    served = options.pop("served", None) or chat(server)
    return run(asked, served, cache=folder / "answers.sqlite", progress=False, **options)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def kept(folder: Path, table: str = "answers") -> int:
    """Rows of a table of the cache."""
    with closing(sqlite3.connect(folder / "answers.sqlite")) as file:
        return file.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
