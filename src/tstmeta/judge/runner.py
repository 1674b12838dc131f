"""Questions in, answers out: some at a time, each asked once, each on file before it is seen."""

from __future__ import annotations

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
    """Ask what is not kept, and give all answers.

    Equal questions are asked once.  A question that failed has its failure in its reply, is not
    kept, and is asked again in a next run.  Stop it whenever you like: what is under way is lost.

    Args:
        cache: the file of answers.
        concurrency: questions under way at once, at most.
        budget: limits, and the count of what was spent; none when None.
        progress: show a bar, on a terminal.

    Returns:
        One reply a question, in order.

    Raises:
        CacheError: the file cannot be used.
        Unusable: the server cannot answer any question; what came before is kept.
    """
    keys = [q.key(chat.server, chat.model, chat.revision) for q in questions]
    with AnswerCache(cache) as answers:
        replies = {key: answers.get(key) for key in keys}
        todo = {key: place for place, key in enumerate(keys) if replies[key] is None}
        bar = tqdm(
            total=len(replies),
            initial=len(replies) - len(todo),
            desc=chat.model,
            unit="answer",
            disable=None if progress else True,
        )
        if todo:
            jobs = ((key, questions[place]) for key, place in todo.items())
            room = asyncio.Semaphore(concurrency)
            work = _Work(chat, answers, budget or Budget(), room, bar)
            with bar:
                replies |= _in_a_thread(work.answer(jobs))
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


class _Work:
    """What the questions of one run share."""

    def __init__(
        self, chat: Chat, answers: AnswerCache, budget: Budget, room: asyncio.Semaphore, bar: tqdm
    ):
        self.chat, self.answers, self.budget, self.room, self.bar = chat, answers, budget, room, bar
        self.spent = asyncio.Condition()

    async def answer(self, jobs: Iterator[tuple[str, Question]]) -> dict[str, Reply]:
        """The replies by key; the first error ends the others."""
        tasks = {}
        try:
            async with asyncio.TaskGroup() as group:
                for key, question in jobs:
                    await self.room.acquire()
                    tasks[key] = group.create_task(self._reply(key, question))
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        finally:
            await self.chat.close()
        return {key: task.result() for key, task in tasks.items()}

    async def _reply(self, key: str, question: Question) -> Reply:
        try:
            kept = self.answers.get(key)  # another process may have asked it by now
            reply = kept or await self._paid(key, question)
            self.bar.update()
            return reply
        finally:
            self.room.release()

    async def _paid(self, key: str, question: Question) -> Reply:
        """A new answer, on file; a failure where the budget does not allow it."""
        async with self.spent:
            await self.spent.wait_for(
                lambda: not (self.budget.under_way and self.budget.forbids(question))
            )
            if limit := self.budget.forbids(question):
                return Reply(failure=f"budget: {limit} are used up")
            self.budget.begin(question)
        reply = Reply(failure="broken off")
        try:
            reply = await self.chat.ask(question)
            return self.answers.put(key, question, reply)
        finally:
            self.budget.end(question, reply)
            async with self.spent:
                self.spent.notify_all()
