"""A judge that is a function: no server, no HTTP, no clock.

    chat = Talking(lambda texts: Reply(text="4"))

``texts`` are the fenced texts of the question below the style: source first, then the rewrites.
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


class Chatting:
    """A :class:`~tstmeta.judge.base.Chat`; ``questions`` are those that it was asked."""

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


class Talking(Chatting):
    """Rates the fenced texts of a question."""

    def __init__(self, judge: Callable[[list[str]], Reply]):
        super().__init__(lambda question: judge(fences(question)[1:]))

    @property
    def asked(self) -> list[list[str]]:
        return [fences(question)[1:] for question in self.questions]
