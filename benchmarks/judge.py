"""What the judge's runner costs beside the ideal and beside what one would write without it.

A server in a process of its own gives every answer after 50 ms.  With 64 requests under way, N of
them take at least N / 64 times 50 ms: the ideal.  Beside ``judge.run``, which keeps every answer on
file, stand a plain loop over the ``openai`` client (a share of the requests, its time scaled), all
requests gathered at once behind a semaphore, and the runner again when it has every answer.  Each
has a process of its own, so that memory can be told apart; they take turns.  ``--local`` measures
the judge without a server instead (:mod:`judge_local`).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import measure

from tstmeta.judge.base import Message, Question
from tstmeta.judge.client import Served
from tstmeta.judge.runner import run
from tstmeta.schema import Signature

LIBRARIES = ("tstmeta", "openai", "httpx2")
ROUNDS = 3
LATENCY, CONCURRENCY = 0.05, 64
SERVER = Path(__file__).resolve().parents[1] / "tests" / "judge" / "scripted.py"
#: What the server says, and about how long the papers' prompts are.
ANSWER, WORDS = '{"rating": 3}', 350
#: A plain loop would take minutes; it gets this share of the requests.
SHARE = 40
#: The judge without a server gets one rewrite in the place of so many requests.
ON_MODEL = 50
MOST_OVER_IDEAL, MOST_CACHE_SECONDS, MOST_GROWTH_MIB = 2.0, 2.0, 10.0


class Many:
    """Questions that are made when they are looked at: what grows is the runner's own."""

    def __init__(self, count: int, start: int = 0):
        self.count, self.start = count, start

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> Question:
        if place >= self.count:
            raise IndexError(place)
        return Question((Message("user", f"{self.start + place} " + "word " * WORDS),))

    def body(self, place: int) -> dict[str, Any]:
        """The same question in the words of the protocol."""
        content = self[place].messages[0].content
        messages = [{"role": "user", "content": content}]
        return {"model": "tiny", "messages": messages, "temperature": 0.0, "max_tokens": 512}


# -------------------------------------------------------------------------------------- sides


def with_runner(url: str, many: Many, cache: Path) -> Iterator[str]:
    chat = Served(url, "tiny", key="")
    replies = run(
        many,  # type: ignore[arg-type]
        chat,
        cache=cache,
        concurrency=CONCURRENCY,
    )
    for reply in replies:
        yield reply.text


def gathered(url: str, many: Many, cache: Path) -> Iterator[str]:
    """All tasks at once, a semaphore before each; answers are in memory when all are there."""
    import openai

    async def all_of_them() -> list[str]:
        room = asyncio.Semaphore(CONCURRENCY)
        async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

            async def answer(place: int) -> str:
                async with room:
                    completion = await client.chat.completions.create(**many.body(place))
                    return completion.choices[0].message.content or ""

            return await asyncio.gather(*(answer(place) for place in range(len(many))))

    yield from asyncio.run(all_of_them())


def looped(url: str, many: Many, cache: Path) -> Iterator[str]:
    import openai

    with openai.OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        for place in range(len(many)):
            completion = client.chat.completions.create(**many.body(place))
            yield completion.choices[0].message.content or ""


SIDES: dict[str, Callable[[str, Many, Path], Iterator[str]]] = {
    "runner": with_runner,
    "runner, all kept": with_runner,
    "gather": gathered,
    "plain loop": looped,
}


class Run(NamedTuple):
    """One run of one side; memory in MiB above that before it began, None where unknown."""

    seconds: float
    growth: float | None
    answers: int
    different: int


def one_run(side: str, url: str, count: int, cache: Path) -> Run:
    """In a process of its own: libraries are loaded, and a question asked, before the clock."""
    with tempfile.TemporaryDirectory() as folder:
        # a question of its own, or the server would count one that came twice
        list(SIDES[side](url, Many(1, start=-os.getpid()), Path(folder) / "first.sqlite"))
    gc.collect()
    before = measure.high_water(reset=True)
    start = time.perf_counter()
    answers = different = 0
    for text in SIDES[side](url, Many(count), cache):
        answers += 1
        different += text != ANSWER
    seconds = time.perf_counter() - start
    after = measure.high_water()
    growth = None if before is None or after is None else (after - before) / 1024
    return Run(seconds, growth, answers, different)


@contextmanager
def server(seen: list[dict[str, int]]) -> Iterator[str]:
    """The URL of a server in a process; what it saw is added at the end."""
    command = [sys.executable, str(SERVER), "--latency", str(LATENCY)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            yield process.stdout.readline().strip()  # type: ignore[union-attr]
        finally:
            printed, _ = process.communicate()
    seen.append(json.loads(printed))


def separately(side: str, url: str, count: int, cache: Path) -> Run:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(one_run, side, url, count, cache).result()


class Round(NamedTuple):
    """Runs of all sides, and what the runner's server saw."""

    runs: dict[str, Run]
    twice: int
    at_once: int


def one_round(size: int) -> Round:
    seen: list[dict[str, int]] = []
    runs = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with server(seen) as url:  # one server, whose address is part of every key
            for side in ("runner", "runner, all kept"):
                runs[side] = separately(side, url, size, folder / "all.sqlite")
        for side, count in (("gather", size), ("plain loop", max(1, size // SHARE))):
            with server(seen) as url:
                runs[side] = separately(side, url, count, folder / "none.sqlite")
    return Round(runs, seen[0]["repeated"], seen[0]["most_at_once"])


def with_a_tenth(size: int) -> dict[str, Run]:
    """The runner and its peer with a tenth of the requests, for memory."""
    runs = {}
    with tempfile.TemporaryDirectory() as name:
        for side in ("runner", "gather"):
            with server([]) as url:
                cache = Path(name) / "few.sqlite"
                runs[side] = separately(side, url, max(1, size // 10), cache)
    return runs


# ------------------------------------------------------------------------------------- report


def ideal(size: int) -> float:
    """Seconds that the server takes at least."""
    return -(-size // CONCURRENCY) * LATENCY


def scaled(side: str, run: Run, size: int) -> float:
    """Seconds for all requests, of what was given a share of them."""
    return run.seconds * size / run.answers if side == "plain loop" else run.seconds


def rows_of(size: int, rounds: list[Round], few: dict[str, Run]) -> list[dict[str, Any]]:
    """A row a side; ``ratio`` is its time over the ideal."""
    fields = {"concurrency": CONCURRENCY, "latency": LATENCY, "openai": version("openai")}
    rows = []
    for side in SIDES:
        times = [scaled(side, each.runs[side], size) for each in rounds]
        row = {
            "metric": side,
            "requests": size,
            "seconds": median(times),
            "requests_a_second": size / median(times),
            **measure.summary([taken / ideal(size) for taken in times]),
            "growth_mib": middle(each.runs[side].growth for each in rounds),
            "growth_mib_of_a_tenth": few[side].growth if side in few else None,
            "signature": str(Signature.of("judge-runner", fields)),
        }
        rows.append(row)
    return rows


def middle(values: Iterable[float | None]) -> float | None:
    """The median; None where something is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return median(known) if len(known) == len(listed) else None


def checks(size: int, rounds: list[Round], few: dict[str, Run]) -> list[dict[str, Any]]:
    over = [each.runs["runner"].seconds / ideal(size) for each in rounds]
    kept = [each.runs["runner, all kept"].seconds for each in rounds]
    many, tenth = middle(each.runs["runner"].growth for each in rounds), few["runner"].growth
    more = None if many is None or tenth is None else many - tenth
    every = [*few.values(), *(run for each in rounds for run in each.runs.values())]
    reason = "" if more is not None else "this system does not tell it"
    return [
        measure.check("runner: time over the ideal", median(over), "<", MOST_OVER_IDEAL),
        measure.check("all answers kept: seconds", median(kept), "<", MOST_CACHE_SECONDS),
        measure.check(
            "runner: MiB more for ten times the requests", more, "<", MOST_GROWTH_MIB, reason
        ),
        measure.check("requests sent twice", max(each.twice for each in rounds), "==", 0),
        measure.check(
            "requests at once beyond those allowed",
            max(0, max(each.at_once for each in rounds) - CONCURRENCY),
            "==",
            0,
        ),
        measure.check(
            "difference of answers from what the server said, sum",
            sum(run.different for run in every),
            "==",
            0,
        ),
    ]


def more(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--local", action="store_true", help="the judge without a server")
    parser.add_argument("--model", default="smollm2-135m", help="with --local: which model")


def main() -> None:
    about = f"requests; with --local, 1 of {ON_MODEL} as many rewrites"
    given = measure.arguments(__doc__, 2000, 400, about, more)
    if given.local:
        import judge_local

        given.size = max(1, given.size // ON_MODEL)
        judge_local.main(given)
        return
    load = measure.load_average()
    count = 1 if given.quick else ROUNDS
    rounds = [one_round(given.size) for _ in range(count)]
    few = with_a_tenth(given.size)
    notes = [
        f"ratio: wall-clock time over the ideal, {ideal(given.size):.4g} s",
        f"plain loop: 1 of {SHARE} requests, time scaled to all",
        "growth: peak memory above that before the run, of a process of its own",
    ]
    results = checks(given.size, rounds, few)
    rows = rows_of(given.size, rounds, few)
    measure.finish("judge", given, LIBRARIES, load, rows, results, notes, count)


if __name__ == "__main__":
    main()
