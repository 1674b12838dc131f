"""How the tests ask: a server, or a judge that is a function (no HTTP, no clock).

    chat = talking(lambda texts: Reply(text="4"))

``texts`` are the fenced texts of the question below the style: source first, then the rewrites.
"""

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.judge.scripted import Server
from tstmeta.judge.base import Message, Question, Reply, Sampling
from tstmeta.judge.client import Served
from tstmeta.judge.runner import run


def question(text: str = "Rate this.", **fields: Any) -> Question:
    return Question((Message("user", text),), sampling=fields.pop("sampling", Sampling()), **fields)


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


def answers(served: Any, asked: list[Question], folder: Path, **options: Any) -> list:
    """The replies of a run."""
    return run(asked, served, cache=folder / "answers.sqlite", **options)


def kept(folder: Path) -> int:
    """How many answers are on file."""
    with closing(sqlite3.connect(folder / "answers.sqlite")) as file:
        return file.execute("SELECT count(*) FROM answers").fetchone()[0]


def prompt_of(question: Question) -> str:
    """The last message."""
    return question.messages[-1].content


def fences(prompt: str) -> list[str]:
    """The texts between the lines of a prompt's fence: the longest line of ``=`` there is."""
    fence = max(re.findall(r"^=+$", prompt, re.MULTILINE), key=len)
    return re.findall(rf"^{fence}\n(.*?)\n{fence}$", prompt, re.MULTILINE | re.DOTALL)


class Chatting:
    """A model that is a function; ``questions`` are those that it was asked."""

    server, model, revision = "http://judge.example/v1", "m", "r1"

    def __init__(self, answer: Callable[[Question], Reply]):
        self.answer = answer
        self.questions: list[Question] = []
        self.closed = 0

    async def ask(self, question: Question) -> Reply:
        self.questions.append(question)
        return self.answer(question)

    async def close(self) -> None:
        self.closed += 1


def talking(judge: Callable[[list[str]], Reply]) -> Chatting:
    """A model that rates the fenced texts of a question."""
    return Chatting(lambda question: judge(fences(prompt_of(question))[1:]))
