"""Questions in, answers out: some at a time, each asked once, each on file before it is seen."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from .base import Question, Reply
from .cache import AnswerCache, asking

if TYPE_CHECKING:
    from .client import Served


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
    prompts = sum(math.ceil(length / 4) for length in lengths)
    return (
        f"{len(todo):,} requests ({len(unique) - len(todo):,} answers are kept), about "
        f"{prompts:,} tokens of prompts (characters / 4) and at most "
        f"{sum(question.sampling.max_tokens for question in todo):,} of answers"
    )


def run(
    questions: Sequence[Question], chat: Served, *, cache: Path, concurrency: int = 16
) -> list[Reply]:
    """Ask what is not kept, equal questions once, and give one reply a question, in order.

    A question that failed has its failure in its reply and is asked again in a next run.
    ``cache`` is the file of answers; ``concurrency``: questions under way at once, at most.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        replies = _on_file(keys, answers)
        if len(replies) < len(set(keys)):
            with asking(cache, chat.server, chat.model):
                replies = _on_file(keys, answers)  # another process may have asked by now
                todo = {k: q for k, q in zip(keys, questions, strict=True) if k not in replies}
                replies |= asyncio.run(_answers(todo, chat, answers, concurrency))
    return [replies[key] for key in keys]


def _on_file(keys: Sequence[str], answers: AnswerCache) -> dict[str, Reply]:
    return {key: reply for key in keys if (reply := answers.get(key))}


async def _answers(
    todo: dict[str, Question], chat: Served, answers: AnswerCache, concurrency: int
) -> dict[str, Reply]:
    """The replies by key; the first error ends the others."""
    replies: dict[str, Reply] = {}
    queue = iter(todo.items())
    bar = tqdm(desc=chat.model, unit="answer", disable=None, total=len(todo))

    async def work() -> None:
        for key, question in queue:
            replies[key] = answers.put(key, question, await chat.ask(question))
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
