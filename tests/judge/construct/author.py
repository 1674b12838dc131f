"""A model that writes test sets as asked, by rules: what it gets is in the prompt alone."""

import json
from pathlib import Path

import pandas as pd

from tests.judge import scripted
from tests.judge.asking import Chatting, fences, prompt_of
from tstmeta.judge.base import Question, Reply
from tstmeta.judge.construct import run, steps

#: Words by which the author knows a step.
KNOWN = {
    "strong": "clearly and strongly",
    "light": "no more than slightly",
    "substitution": "put other words in their place",
    "deletion": "leave them out, so that",
    "insertion": "put in one to six neighbouring words",
    "same": "Make the same change",
}
NAMES = ("Anna", "Boris", "Clara", "Dario", "Edith", "Felix", "Greta", "Hugo", "Irene", "Jonas")
SERVER = {"server": "http://author.example/v1", "model": "author"}


def source(number: int) -> str:
    return f"{NAMES[number % 10]} gets {number + 2} red apples at the market on Monday."


PLAN = steps.Blueprint(name="s", style="more formal", seed=3, sources=(source(0),), **SERVER)


def step(prompt: str) -> str:
    """Which step a prompt asks for."""
    return next(name for name, words in KNOWN.items() if words in prompt)


def write(prompt: str) -> str:
    """The right answer to a prompt, as JSON."""
    text, *change = fences(prompt)
    formal = text.replace("gets", "obtains")
    rewrites = {
        "strong": f"It is a pleasure to report that {formal[:-1]}, as agreed in advance.",
        "light": formal,
        "substitution": text.replace("Monday", "Friday"),
        "deletion": text.replace(" on Monday", ""),
        "insertion": text.replace("the market", "the market with a cousin"),
        "same": repeat(text, *(part.rstrip(".,") for part in change[:2])),
    }
    return json.dumps({"text": rewrites[step(prompt)]})


def repeat(text: str, removed: str = "", added: str = "") -> str:
    """The same change in another text."""
    if not removed:
        return text.replace("the market", f"the market {added}")
    return text.replace(f"{'' if added else ' '}{removed}", added)


def writes(question: Question) -> Reply:
    return Reply(write(prompt_of(question)), prompt_tokens=10, answer_tokens=5)


def served(request: scripted.Asked) -> scripted.Act:
    return scripted.says(write(request.prompt))


class Author(Chatting):
    """A chat without a server."""

    server, model, revision = *SERVER.values(), ""

    def __init__(self, answer=writes):
        super().__init__(answer)

    def steps(self) -> list[str]:
        """The steps that were asked for, in no order."""
        return sorted(step(prompt_of(question)) for question in self.questions)


def plan(path: Path, count: int = 6, folder: str = "formal", texts=(), **facts) -> steps.Blueprint:
    """A plan over some texts, else over so many sources of the author's kind."""
    file = path / "texts.txt"
    file.write_text("\n".join(texts or map(source, range(count))))
    facts = {"style": "more formal", "seed": 3, **SERVER, **facts}
    return run.plan_of(path / folder, file, **facts)


def rows(path: Path) -> pd.DataFrame:
    """The table for people in the folder ``formal``."""
    file = path / "formal" / run.ROWS
    return pd.read_csv(file, dtype=str, keep_default_na=False).set_index("item_id", drop=False)
