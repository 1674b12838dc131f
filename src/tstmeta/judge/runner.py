"""Questions in, answers out: some at a time, each asked once, each on file before it is seen."""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tqdm import tqdm

from .base import Chat, Question, Reply
from .budget import Budget
from .cache import AnswerCache


def run(
    questions: Sequence[Question],
    chat: Chat,
    *,
    cache: Path,
    concurrency: int = 16,
    budget: Budget | None = None,
    progress: bool = True,
) -> list[Reply]:
    """Ask what is not kept, equal questions once, and give one reply a question, in order.

    A question that failed has its failure in its reply and is asked again in a next run.

    Args:
        cache: the file of answers.
        concurrency: questions under way at once, at most.
        budget: limits, and the count of what was spent; none when None.
        progress: show a bar, on a terminal.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        replies = {key: reply for key in keys if (reply := answers.get(key))}
        todo = {key: place for place, key in enumerate(keys) if key not in replies}
        bar = tqdm(
            total=len(replies) + len(todo),
            initial=len(replies),
            desc=chat.model,
            unit="answer",
            disable=None if progress else True,
        )
        if todo:
            jobs = ((key, questions[place]) for key, place in todo.items())
            work = _answers(jobs, chat, answers, budget or Budget(), concurrency, bar)
            with bar:
                replies |= _in_a_thread(work)
    return [replies[key] for key in keys]


def _in_a_thread(work: Coroutine[None, None, dict[str, Reply]]) -> dict[str, Reply]:
    """Run it in a loop of its own, for a notebook has one already; Ctrl-C cancels it."""
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    try:
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(loop.run_until_complete, task).result()
            except BaseException:
                loop.call_soon_threadsafe(task.cancel)
                raise
    finally:
        loop.close()


async def _answers(
    jobs: Iterator[tuple[str, Question]],
    chat: Chat,
    answers: AnswerCache,
    budget: Budget,
    concurrency: int,
    bar: tqdm,
) -> dict[str, Reply]:
    """The replies by key; the first error ends the others."""
    replies: dict[str, Reply] = {}
    ended = asyncio.Condition()

    async def worker() -> None:
        for key, question in jobs:  # of all workers: each takes the next when it is free
            # another process may have asked it by now
            replies[key] = answers.get(key) or await paid(key, question)
            bar.update()

    async def paid(key: str, question: Question) -> Reply:
        async with ended:
            await ended.wait_for(lambda: not (budget.under_way and budget.forbids(question)))
            if limit := budget.forbids(question):
                return Reply(failure=f"budget: {limit} are used up")
            reserved = budget.begin(question)
        reply = Reply(failure="broken off")
        try:
            reply = await chat.ask(question)
            return answers.put(key, question, reply)
        finally:
            budget.end(reserved, reply)
            async with ended:
                ended.notify_all()

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(concurrency):
                workers.create_task(worker())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        await chat.close()
    return replies
