"""Whole commands, as people run them, in turn: wall-clock time, start and end included, and memory.

Memory is the largest sum of the resident sizes of all processes of a command, looked at ten times a
second.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from statistics import median

import measure
import psutil

#: Seconds, and MiB where memory was looked at.
Run = tuple[float, float | None]
#: Of each side, those of its rounds.
Runs = dict[str, list[Run]]


def in_turn(sides: Mapping[str, Callable[[], Run]], rounds: int) -> Runs:
    """All sides in each round; who goes first changes from round to round."""
    names, runs = list(sides), {name: [] for name in sides}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            runs[name].append(sides[name]())
    return runs


def ratio(runs: Runs, above: str, below: str) -> float:
    """How many times as long as ``below`` ``above`` takes: the median of the rounds."""
    sides = ([seconds for seconds, _ in runs[name]] for name in (above, below))
    return median(measure.ratios(*sides))


def peak(runs: list[Run]) -> float | None:
    """The largest memory of all rounds, MiB; None where it was not looked at."""
    return max((memory for _, memory in runs if memory is not None), default=None)


def watched(words: list[str], environment: Mapping[str, str] = os.environ) -> tuple[float, float]:
    """Seconds of a command and its largest memory, MiB."""
    start = time.perf_counter()
    process = psutil.Popen(words, stderr=subprocess.DEVNULL, env=environment)
    highest = 0
    while process.poll() is None:
        size = 0
        with suppress(psutil.NoSuchProcess):
            for member in [process, *process.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    size += member.memory_info().rss
        highest = max(highest, size)
        time.sleep(0.1)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}")
    return time.perf_counter() - start, highest / 2**20
