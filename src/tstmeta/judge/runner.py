"""Questions in, answers out: some at a time, each asked once, each on file before it is seen."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from .base import Question, Reply
from .cache import AnswerCache, asking

if TYPE_CHECKING:
    from .client import Served

#: Characters a token in English, on average, for an estimate without the model's tokenizer.
_CHARACTERS = 4


@dataclass
class Budget:
    """How many questions may be asked (None: all of them), and what was spent.

    ``tokens`` are those that the server counted; retries are not counted.
    """

    requests: int | None = None
    sent: int = 0
    tokens: int = 0

    def __str__(self) -> str:
        return f"{self.sent:,} requests, {self.tokens:,} tokens as the server counts them"


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
    prompts = sum(math.ceil(length / _CHARACTERS) for length in lengths)
    return (
        f"{len(todo):,} requests ({len(unique) - len(todo):,} answers are kept), about "
        f"{prompts:,} tokens of prompts (characters / {_CHARACTERS}) and at most "
        f"{sum(question.sampling.max_tokens for question in todo):,} of answers"
    )


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
        budget: the limit, and the count of what was spent; no limit when None.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        replies = _on_file(keys, answers)
        if len(replies) < len(set(keys)):
            with asking(cache, chat.server, chat.model):
                replies = _on_file(keys, answers)  # another process may have asked by now
                todo = {k: q for k, q in zip(keys, questions, strict=True) if k not in replies}
                work = _answers(todo, chat, answers, budget or Budget(), concurrency)
                replies |= asyncio.run(work)
    return [replies[key] for key in keys]


def _on_file(keys: Sequence[str], answers: AnswerCache) -> dict[str, Reply]:
    return {key: reply for key in keys if (reply := answers.get(key))}


async def _answers(
    todo: dict[str, Question], chat: Served, answers: AnswerCache, budget: Budget, concurrency: int
) -> dict[str, Reply]:
    """The replies by key; the first error ends the others."""
    replies: dict[str, Reply] = {}
    queue = iter(todo.items())
    bar = tqdm(desc=chat.model, unit="answer", disable=None, total=len(todo))

    async def work() -> None:
        for key, question in queue:
            if budget.requests is not None and budget.sent >= budget.requests:
                failure = f"budget: {budget.requests:,} requests are used up"
                replies[key] = Reply(failure=failure)
            else:
                budget.sent += 1
                reply = await chat.ask(question)
                budget.tokens += (reply.prompt_tokens or 0) + (reply.answer_tokens or 0)
                replies[key] = answers.put(key, question, reply)
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
