"""Questions in, answers out: some at a time, each asked once, each on file before it is seen.

What they cost is estimated before, and limits are checked before each question.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tqdm import tqdm

from ..schema import TstmetaError
from .base import Question, Reply
from .cache import AnswerCache, asking

if TYPE_CHECKING:
    from .client import Served

#: Marks of a chat template around each message, and around the whole, in tokens, at most.
_MARKS, _FRAME = 16, 64
#: Characters a token in English, on average, for an estimate without the model's tokenizer.
_CHARACTERS = 4


class Price(NamedTuple):
    """Money for a million tokens, in any currency."""

    prompt: float
    answer: float

    def of(self, prompt_tokens: float, answer_tokens: float) -> float:
        return (self.prompt * prompt_tokens + self.answer * answer_tokens) / 1e6


def price_of(prompt: float | None, answer: float | None) -> Price | None:
    """A price from its two parts, of which both are there or none."""
    if (prompt is None) != (answer is None):
        raise TstmetaError("a price has two parts: give --price-in and --price-out")
    return None if prompt is None or answer is None else Price(prompt, answer)


class Estimate(NamedTuple):
    """What a run would cost: questions to ask, answers on file, tokens, and money for a price."""

    requests: int
    on_file: int
    prompt_tokens: int
    answer_tokens: int
    money: float | None

    def __str__(self) -> str:
        words = (
            f"{self.requests:,} requests ({self.on_file:,} answers are kept), about "
            f"{self.prompt_tokens:,} tokens of prompts (characters / {_CHARACTERS}) and at most "
            f"{self.answer_tokens:,} of answers"
        )
        return words + ("" if self.money is None else f", about {self.money:,.4g} of money")


def estimate(
    questions: Sequence[Question],
    chat: Served,
    *,
    cache: Path,
    price: Price | None = None,
    anew: Collection[str] = (),
) -> Estimate:
    """What :func:`run` would ask; asks nothing and writes nothing.

    ``anew``: keys of kept answers that do not count, for they are to be set aside.  Prompts are
    taken to have a token for four characters, answers to be as long as they may be.
    """
    unique = {q.key(chat.server, chat.model, chat.revision): q for q in questions}
    todo = list(unique.values())
    if cache.exists():
        with AnswerCache(cache) as answers:
            todo = [q for key, q in unique.items() if key in anew or answers.get(key) is None]
    lengths = (sum(len(m.content) for m in question.messages) for question in todo)
    prompt = sum(math.ceil(length / _CHARACTERS) for length in lengths)
    answer = sum(question.sampling.max_tokens for question in todo)
    money = price.of(prompt, answer) if price else None
    return Estimate(len(todo), len(unique) - len(todo), prompt, answer, money)


def worst(question: Question) -> tuple[int, int]:
    """Most tokens of the prompt, with its schema, and of the answer: a byte is a token at most."""
    size = sum(len(m.content.encode("utf-8", "replace")) + _MARKS for m in question.messages)
    schema = len(json.dumps(question.schema)) if question.schema else 0
    return size + schema + _FRAME, question.sampling.max_tokens


@dataclass
class Budget:
    """Limits that no question may break (None for no limit), and what was spent.

    While a question is ``under_way`` it counts with the most that it can cost; what the server
    counted takes its place, if it did (else it is ``uncounted``).  Retries are not counted.
    """

    money: float | None = None
    requests: int | None = None
    price: Price | None = None
    sent: int = 0
    under_way: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0
    uncounted: int = 0

    def __post_init__(self) -> None:
        if self.money is not None and self.price is None:
            raise TstmetaError(
                "a limit on money needs a price. Remedy: give the price of a million tokens of "
                "prompts and of answers, or limit requests"
            )

    def forbids(self, question: Question) -> str:
        """The limit that a question could break now, in words; empty if it may be asked."""
        if self.requests is not None and self.sent >= self.requests:
            return f"{self.requests:,} requests"
        if self.money is not None and self.price is not None:
            prompt, answer = worst(question)
            spent = self.price.of(self.prompt_tokens + prompt, self.answer_tokens + answer)
            if spent > self.money:
                return f"{self.money:,.6g} of money"
        return ""

    def begin(self, question: Question) -> None:
        """Count the most that a question may cost."""
        prompt, answer = worst(question)
        self.prompt_tokens += prompt
        self.answer_tokens += answer
        self.under_way += 1
        self.sent += 1

    def end(self, question: Question, reply: Reply) -> None:
        """Count what it did cost."""
        prompt, answer = worst(question)
        self.uncounted += reply.prompt_tokens is None or reply.answer_tokens is None
        self.prompt_tokens += 0 if reply.prompt_tokens is None else reply.prompt_tokens - prompt
        self.answer_tokens += 0 if reply.answer_tokens is None else reply.answer_tokens - answer
        self.under_way -= 1


def run(
    questions: Sequence[Question],
    chat: Served,
    *,
    cache: Path,
    concurrency: int = 16,
    budget: Budget | None = None,
) -> list[Reply]:
    """Ask what is not kept, equal questions once, and give one reply a question, in order.

    A question that failed has its failure in its reply and is asked again in a next run.

    Args:
        cache: the file of answers.
        concurrency: questions under way at once, at most.
        budget: limits, and the count of what was spent; none when None.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        replies = _on_file(keys, answers)
        if len(replies) < len(set(keys)):
            with asking(cache, chat.server, chat.model):
                replies = _on_file(keys, answers)  # another process may have asked by now
                todo = {key: place for place, key in enumerate(keys) if key not in replies}
                count = {"initial": len(replies), "total": len(replies) + len(todo)}
                with tqdm(desc=chat.model, unit="answer", disable=None, **count) as bar:
                    work = _answers(questions, todo, chat, answers, budget, concurrency, bar)
                    replies |= asyncio.run(work)
    return [replies[key] for key in keys]


def _on_file(keys: Sequence[str], answers: AnswerCache) -> dict[str, Reply]:
    return {key: reply for key in keys if (reply := answers.get(key))}


async def _answers(
    questions: Sequence[Question],
    places: dict[str, int],
    chat: Served,
    answers: AnswerCache,
    budget: Budget | None,
    concurrency: int,
    bar: tqdm,
) -> dict[str, Reply]:
    """The replies by key; the first error ends the others."""
    replies: dict[str, Reply] = {}
    budget = budget or Budget()
    queue, ended = iter(places.items()), asyncio.Event()

    async def work() -> None:
        for key, place in queue:
            question = questions[place]
            while budget.under_way and budget.forbids(question):  # it may cost less than it can
                ended.clear()
                await ended.wait()
            if limit := budget.forbids(question):
                replies[key] = Reply(failure=f"budget: {limit} are used up")
            else:
                replies[key] = await ask(key, question)
            bar.update()

    async def ask(key: str, question: Question) -> Reply:
        reply = Reply(failure="broken off")
        budget.begin(question)
        try:
            reply = await chat.ask(question)
            return answers.put(key, question, reply)
        finally:
            budget.end(question, reply)
            ended.set()

    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(min(concurrency, len(places))):
                tasks.create_task(work())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await chat.close()
    return replies
