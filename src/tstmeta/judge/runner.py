"""Questions in, answers out: some at a time, each asked once, each on file before it is seen.

Answers that are kept come first.  The rest is asked by a few workers in an event loop of their
own, in a thread of their own, so that a notebook, which has a loop already, can call it as a script
does.  Memory does not grow with the number of questions: workers take the next when they are free,
and wait when nobody takes what they bring.
"""

from __future__ import annotations

import asyncio
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, cast

from tqdm import tqdm

from ..schema import TstmetaError
from .base import Chat, Question, Reply
from .budget import Budget, Estimate, Price, estimate
from .cache import Answers

__all__ = ["Budget", "Estimate", "Price", "estimate", "run"]

#: Answers that may lie ready for each worker before it waits.
_AHEAD = 4
#: Seconds in which answers are gathered: to wake the other thread for each would cost more than
#: to read it.
_TOGETHER = 0.01


def run(
    questions: Sequence[Question],
    chat: Chat,
    *,
    cache: Path,
    concurrency: int = 16,
    budget: Budget | None = None,
    progress: bool = True,
    grace: float = 10.0,
) -> Iterator[tuple[int, Reply]]:
    """Ask what is not kept, and give all answers as they come.

    Equal questions are asked once.  A question that failed has its failure in its reply, is not
    kept, and is asked again in a next run.  Runs that share a cache see each other's answers; only
    what two of them ask at the very same time is asked twice, and the first answer counts for both.

    Args:
        cache: the file of answers.
        concurrency: requests under way at once, at most.
        budget: limits, and the count of what was spent; none when None.
        progress: show a bar, on a terminal.
        grace: seconds that requests under way may take when the run is stopped (Ctrl-C, SIGTERM,
            an error, or nobody who takes answers any more); what comes is kept.

    Yields:
        The place of a question and its reply; each place once, in no order.

    Raises:
        TstmetaError: a concurrency below 1, or a budget that cannot be reckoned.
        CacheError: the file cannot be used.
        Unusable: the server cannot answer any question; what came before is kept and yielded.
    """
    if concurrency < 1:
        raise TstmetaError(f"concurrency is {concurrency}; it must be at least 1")
    budget = budget or Budget()
    budget.begin(getattr(chat, "price", None))
    return _answers(questions, chat, Path(cache), concurrency, budget, progress, grace)


def _answers(
    questions: Sequence[Question],
    chat: Chat,
    cache: Path,
    concurrency: int,
    budget: Budget,
    progress: bool,
    grace: float,
) -> Iterator[tuple[int, Reply]]:
    todo: dict[str, list[int]] = {}
    for place, question in enumerate(questions):
        key = question.key(chat.server, chat.model, chat.revision)
        todo.setdefault(key, []).append(place)
    bar = tqdm(total=len(todo), desc=chat.model, unit="answer", disable=None if progress else True)
    with Answers(cache) as answers, bar:
        for key in list(todo):
            kept = answers.get(key)
            if kept is not None:
                bar.update()
                for place in todo.pop(key):
                    yield place, kept
        if not todo:
            return
        firsts = ((key, questions[places[0]]) for key, places in todo.items())
        width = min(concurrency, len(todo))
        crew = _Crew(firsts, chat, answers, budget, width, grace, tell=progress)
        with _terminated(crew.stop), crew:
            for key, reply in crew.replies():
                bar.update()
                bar.set_postfix_str(_cost(budget), refresh=False)
                for place in todo[key]:
                    yield place, reply


def _cost(budget: Budget) -> str:
    """What was spent, for the bar."""
    words = f"{budget.spent.tokens:,} tokens"
    if budget.price:
        words += f", {budget.spent.money(budget.price):,.4g} of money"
    return words + (f", {budget.spent.failures:,} failed" if budget.spent.failures else "")


class _Crew:
    """Workers in a loop in a thread; a context manager that ends them."""

    def __init__(
        self,
        jobs: Iterator[tuple[str, Question]],
        chat: Chat,
        answers: Answers,
        budget: Budget,
        width: int,
        grace: float,
        tell: bool,
    ):
        self._jobs, self._chat, self._answers, self._budget = jobs, chat, answers, budget
        self._width, self._grace, self._tell = width, grace, tell
        self._ready: queue.SimpleQueue[list[tuple[str, Reply]]] = queue.SimpleQueue()
        self._fresh: list[tuple[str, Reply]] = []
        self._failure: BaseException | None = None
        self._stopped = False
        self._over = threading.Event()
        self._workers: set[asyncio.Task[None]] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        # a daemon: an interpreter that ends does not wait for a server
        self._thread = threading.Thread(target=self._live, name="judge", daemon=True)

    def __enter__(self) -> _Crew:
        self._thread.start()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.stop()
        if self._tell and self._asking and isinstance(error, KeyboardInterrupt | SystemExit):
            print(
                f"stopping: {len(self._asking)} questions are under way and have {self._grace:g} s "
                "to be answered; Ctrl-C again gives them up",
                file=sys.stderr,
            )
        try:
            # not a join, for one that is interrupted takes the thread for stopped (Python 3.11)
            self._over.wait()
        except BaseException:  # a second Ctrl-C: those under way are given up
            self._from_outside(self._cancel)
            self._over.wait()
            raise
        finally:
            self._thread.join()

    def replies(self) -> Iterator[tuple[str, Reply]]:
        """Keys and replies as they come; then the error that ended the crew, if one did."""
        while some := self._ready.get():
            yield from some
            self._from_outside(partial(self._release, len(some)))
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """Ask nothing more; those under way have the grace to end.  Any thread may call it."""
        if not self._stopped:
            self._stopped = True
            self._from_outside(self._ending)

    # -------------------------------------------------------------------- inside of the thread

    def _live(self) -> None:
        try:
            self._loop.run_until_complete(self._work())
        except BaseException as error:
            self._failure = self._failure or error
        finally:
            self._loop.close()
            self._hand_over()
            self._ready.put([])
            self._over.set()

    async def _work(self) -> None:
        self._room = asyncio.Semaphore(_AHEAD * self._width)
        self._closed = asyncio.Condition()
        self._workers = {asyncio.create_task(self._worker()) for _ in range(self._width)}
        if self._stopped:  # before it began
            self._ending()
        try:
            await asyncio.wait(self._workers)
        finally:
            await self._chat.close()

    async def _worker(self) -> None:
        me = cast("asyncio.Task[None]", asyncio.current_task())
        try:
            while not self._stopped:
                await self._room.acquire()
                if (job := next(self._jobs, None)) is None:
                    return
                self._asking.add(me)
                try:
                    reply = await self._reply(*job)
                finally:
                    self._asking.discard(me)
                if not self._fresh:
                    self._loop.call_later(_TOGETHER, self._hand_over)
                self._fresh.append((job[0], reply))
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            self._failure = self._failure or error
            self.stop()

    async def _reply(self, key: str, question: Question) -> Reply:
        """The answer, on file; another process may have asked it by now."""
        if (kept := self._answers.get(key)) is not None:
            return kept
        while (account := self._budget.open(question)) is None:
            if not self._budget.under_way:
                return Reply(failure=f"budget: {self._budget.why(question)} are used up")
            async with self._closed:
                await self._closed.wait()
        reply = None
        try:
            chat: Any = self._chat
            metered = getattr(chat, "metered", False)
            reply = await (chat.ask(question, account) if metered else chat.ask(question))
            return self._answers.put(key, question, reply)
        finally:
            account.close(reply)
            async with self._closed:
                self._closed.notify_all()

    def _hand_over(self) -> None:
        """Give what is there to whoever waits for it."""
        if self._fresh:
            self._ready.put(self._fresh)
            self._fresh = []

    def _release(self, taken: int) -> None:
        for _ in range(taken):
            self._room.release()

    def _ending(self) -> None:
        for worker in self._workers - self._asking:
            worker.cancel()
        self._loop.call_later(self._grace, self._cancel)

    def _cancel(self) -> None:
        for worker in self._workers:
            worker.cancel()

    def _from_outside(self, call: Callable[[], object]) -> None:
        with suppress(RuntimeError):  # the loop is closed: there is nothing left to do
            self._loop.call_soon_threadsafe(call)


@contextmanager
def _terminated(stop: Callable[[], None]) -> Iterator[None]:
    """While it lasts, SIGTERM ends the program as Ctrl-C does, if nobody else handles it."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        stop()
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
