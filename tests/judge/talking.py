"""A judge that is a function: no server, no HTTP, no clock.

    chat = Talking(lambda texts: Reply(text="4"))

``texts`` are the fenced texts of the question, in order: source first, then the rewrites.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tstmeta.judge.base import Question, Reply


def fences(question: Question) -> list[str]:
    """The texts between the lines of a question's fence: the longest line of ``=`` there is."""
    words = question.messages[-1].content
    marks = re.findall(r"^=+$", words, re.MULTILINE)
    fence = max(marks, key=len)
    return re.findall(rf"^{fence}\n(.*?)\n{fence}$", words, re.MULTILINE | re.DOTALL)


class Talking:
    """A :class:`~tstmeta.judge.base.Chat`; ``asked`` and ``questions`` are what it heard."""

    def __init__(self, judge: Callable[[list[str]], Reply]):
        self.server, self.model, self.revision = "http://judge.example/v1", "m", "r1"
        self.judge = judge
        self.asked: list[list[str]] = []
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        texts = fences(question)
        self.questions.append(question)
        self.asked.append(texts)
        return self.judge(texts)

    async def close(self) -> None:
        pass
