"""How the tests of client, runner and budget ask."""

import asyncio
import socket
from pathlib import Path
from typing import Any

from tests.judge.scripted import Server
from tstmeta.judge.base import Message, Question, Reply, Sampling
from tstmeta.judge.cache import Answers
from tstmeta.judge.client import Served, connect
from tstmeta.judge.runner import run

#: Patience for tests: the same tries, thousandths of a second apart.
QUICK: dict[str, Any] = {"key": "", "pause": 0.002, "timeout": 5.0}


def question(text: str = "Rate this.", **fields: Any) -> Question:
    how = fields.pop("sampling", Sampling())
    return Question((Message("user", text),), sampling=how, **fields)


def questions(count: int) -> list[Question]:
    return [question(f"Rate number {number}.") for number in range(count)]


def chat(server: Server, **options: Any) -> Served:
    return connect(server.url, "tiny", **(QUICK | options))


def ask(server: Server, asked: Question | None = None, **options: Any) -> Reply:
    """One answer of a fresh chat."""
    return asyncio.run(once(chat(server, **options), asked or question()))


async def once(served: Served, *asked: Question) -> Any:
    """Answers to questions that are asked together; the reply itself if it is one."""
    try:
        found = await asyncio.gather(*(served.ask(one) for one in asked))
    finally:
        await served.close()
    return found[0] if len(found) == 1 else found


def answers(server: Server, asked: list[Question], folder: Path, **options: Any) -> dict:
    """Place -> reply of a run without a bar."""
    patience = {name: options.pop(name) for name in ("retries", "timeout") if name in options}
    served = options.pop("served", None) or chat(server, **patience)
    cache = options.pop("cache", folder / "answers.sqlite")
    return dict(run(asked, served, cache=cache, progress=False, **options))


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def kept(path: Path) -> int:
    with Answers(path) as found:
        return len(found)
