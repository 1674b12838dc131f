"""A model that writes test sets as asked, by rules: what it gets is in the prompt alone.

Talking(writes)            as a chat without a server
serving(served)            as a script of a server on loopback
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.judge import scripted
from tests.judge.scripted import Act, Asked
from tests.judge.talking import fences
from tstmeta.judge.base import Message, Question, Reply
from tstmeta.judge.construct import plan, steps

#: Words by which the author knows a step.
KNOWN = {
    "source": "different texts of one sentence",
    "strong": "clearly and strongly",
    "light": "no more than slightly",
    "substitution": "put other words in their place",
    "deletion": "leave them out, so that",
    "insertion": "put in one to six neighbouring words",
    "same": "Make the same change",
}
NAMES = ("Anna", "Boris", "Clara", "Dario", "Edith", "Felix", "Greta", "Hugo", "Irene", "Jonas")
SETTING = steps.Setting("more formal", "informal", seed=3)


def source(number: int) -> str:
    return f"{NAMES[number % 10]} gets {number + 2} red apples at the market on Monday."


def step(prompt: str) -> str:
    """Which step a prompt asks for."""
    [found] = [name for name, words in KNOWN.items() if words in prompt]
    return found


def asked_of(question: Question) -> str:
    return question.messages[-1].content


def texts(prompt: str) -> list[str]:
    return fences(Question((Message("user", prompt),)))


def write(prompt: str) -> str:
    """The right answer to a prompt, as JSON."""
    given = texts(prompt) if "=" in prompt else []
    kind = step(prompt)
    if kind == "source":
        count = int(re.search(r"Write (\d+)", prompt)[1])
        return json.dumps({"texts": [source(len(given) + n) for n in range(count)]})
    text = given[0]
    if kind == "strong":
        kept = text.replace("gets", "obtains").rstrip(".")
        made = f"It is a pleasure to report that {kept}, as had been agreed in advance."
    elif kind == "light":
        made = text.replace("gets", "obtains")
    elif kind == "substitution":
        made = text.replace("Monday", "Friday")
    elif kind == "deletion":
        made = text.replace(" on Monday", "")
    elif kind == "insertion":
        made = text.replace("the market", "the market with a cousin")
    else:
        made = repeat(text, *(part.rstrip(".,") for part in given[1:]))
    return json.dumps({"text": made})


def repeat(text: str, removed: str, added: str) -> str:
    """The same change in another text."""
    if not removed:
        return text.replace("the market", f"the market {added}")
    return text.replace(f"{'' if added else ' '}{removed}", added)


def writes(question: Question) -> Reply:
    return Reply(write(asked_of(question)), prompt_tokens=10, answer_tokens=5)


def served(asked: Asked) -> Act:
    return scripted.says(write(asked.prompt))


class Author:
    """A chat without a server; ``asked`` are the questions that it heard."""

    def __init__(self, answer=writes):
        self.server, self.model, self.revision = "http://author.example/v1", "author", ""
        self.answer = answer
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Reply:
        self.asked.append(question)
        return self.answer(question)

    async def close(self) -> None:
        pass

    def steps(self) -> list[str]:
        """The steps that were asked for, in no order."""
        return sorted(step(asked_of(question)) for question in self.asked)


def wanted(folder: Path, count: int = 6, *, generate: bool = False, **more) -> plan.Plan:
    """A plan over sources of the author's kind."""
    file = folder / "texts.txt"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(source(number) + "\n" for number in range(count)))
    facts = {"errors": steps.ERRORS, "server": "http://author.example/v1", "model": "author"}
    return plan.planned(
        folder / "formal",
        more.pop("setting", SETTING),
        sources=None if generate else file,
        generate=count if generate else None,
        **(facts | more),
    )
