"""What the score store costs beside a plain loop, and what it saves.

Four things are timed in turn, in each round, on pairs that are all different: a plain Python loop
that keeps values in a dict; ``scoring.score`` with an empty store (``cold``); again with everything
in the store (``warm``); and after a run that died half-way (``resumed``).  A trivial metric shows
the store's own cost, METEOR what it saves.  Time is wall-clock time, for files are part of it.
Peak memory is measured once for each, in a process of its own.
"""

from __future__ import annotations

import gc
import multiprocessing
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast

import measure
import pandas as pd
import texts

from tstmeta import schema, scoring, store
from tstmeta.data import Card, Dataset
from tstmeta.metrics import Metric, Request, Score, registry, wrap

LIBRARIES = ("tstmeta", "pandas", "pyarrow", "pandera", "numpy", "nltk")
TRIVIAL, COSTLY = "trivial", "meteor:no-synonyms"
PHASES = ("loop", "cold", "warm", "resumed")
#: The store's cost a score in microseconds; how much faster it must make METEOR.
MOST_OVERHEAD, LEAST_SAVED, MOST_RESUMED = 100, 3, 0.75


def length_difference(source: str, output: str) -> float:
    """A metric that costs next to nothing."""
    return float(len(output) - len(source))


def named(name: str) -> Metric:
    """A fresh metric with empty memories."""
    if name == TRIVIAL:
        metric = wrap(length_difference, name)
        metric.bases = ("source",)
        return metric
    return registry.get(name)


def dataset(n: int) -> Dataset:
    """``n`` different pairs as a data set, nine rewrites a source."""
    pairs = texts.random_pairs(n, rewrites=9, seed=measure.SEED)
    items = pd.DataFrame(
        {
            "dataset": "bench",
            "item_id": [f"i{number}" for number in range(n)],
            "source_id": [f"s{number // 9}" for number in range(n)],
            "system": [f"system-{number % 9}" for number in range(n)],
            "style": "",
            "direction": "",
            "language": "en",
            "source": [pair.source for pair in pairs],
            # the number keeps pairs apart: the store would score equal ones once
            "output": [f"{pair.output} {number}" for number, pair in enumerate(pairs)],
            "references": [[] for _ in range(n)],
            "is_reference": False,
        }
    )
    return Dataset.of("bench", items[schema.columns("items")], Card("bench"))


class Stopping:
    """A metric that dies, as a killed run does, after ``limit`` scores; counts what it made."""

    def __init__(self, metric: Metric, limit: int | None = None):
        self._metric, self._limit, self.made = metric, limit, 0

    @property
    def __class__(self) -> Any:
        return type(self._metric)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._metric, name)

    def score(self, requests: Sequence[Request]) -> Iterator[Score]:
        for score in self._metric.score(requests[: self._limit]):
            self.made += 1
            yield score
        if self._limit is not None:
            raise KeyboardInterrupt


# ------------------------------------------------------------------------------------ phases


def plain_loop(data: Dataset, name: str) -> dict[str, float]:
    """What one would write without a store."""
    metric, items = named(name), data.items
    values = {}
    for item_id, source, output in zip(
        items["item_id"].tolist(), items["source"].tolist(), items["output"].tolist(), strict=True
    ):
        for score in metric.score([Request(output, (source,), source)]):
            values[item_id] = score.value
    return values


def stored(data: Dataset, metric: Metric | Stopping, folder: Path) -> pd.DataFrame:
    return scoring.score(
        data, [cast(Metric, metric)], bases=["source"], store=folder, progress=False
    )


def half_done(data: Dataset, name: str, folder: Path) -> None:
    """Leave behind what a run that was stopped half-way leaves: half of the rows."""
    try:
        stored(data, Stopping(named(name), len(data.items) // 2), folder)
    except KeyboardInterrupt:
        return


class Round(NamedTuple):
    """Seconds of each phase, and what must be equal."""

    seconds: dict[str, float]
    difference: float
    unequal_stores: int
    computed_twice: int


def one_round(data: Dataset, name: str) -> Round:
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        seconds: dict[str, float] = {}
        values = _timed(seconds, "loop", lambda: plain_loop(data, name))
        whole, parts = Path(first), Path(second)
        cold = _timed(seconds, "cold", lambda: stored(data, named(name), whole))
        again = Stopping(named(name))
        warm = _timed(seconds, "warm", lambda: stored(data, again, whole))
        half_done(data, name, parts)
        rest = Stopping(named(name))
        resumed = _timed(seconds, "resumed", lambda: stored(data, rest, parts))
        difference = max(
            abs(table["value"].to_numpy() - list(values.values())).max()
            for table in (cold, warm, resumed)
        )
        unequal = _contents(whole) != _contents(parts)
        wasted = again.made + rest.made - (len(data.items) - len(data.items) // 2)
    return Round(seconds, float(difference), int(unequal), wasted)


def _timed(seconds: dict[str, float], phase: str, run: Callable[[], Any]) -> Any:
    gc.collect()
    start = time.perf_counter()
    made = run()
    seconds[phase] = time.perf_counter() - start
    return made


def _contents(folder: Path) -> list[tuple[str, float, str, str]]:
    with closing(sqlite3.connect(folder / store.FILE)) as file:
        query = "SELECT key, value, status, detail FROM scores ORDER BY key"
        return file.execute(query).fetchall()


# ------------------------------------------------------------------------------------ memory


def prepare(data: Dataset, phase: str, folder: Path) -> None:
    """Fill the store as a phase of the trivial metric finds it."""
    if phase == "warm":
        stored(data, named(TRIVIAL), folder)
    elif phase == "resumed":
        half_done(data, TRIVIAL, folder)


def peak(n: int, phase: str, folder: Path) -> float | None:
    """Peak resident size in MiB, libraries and data set included; None where unknown."""
    data = dataset(n)
    gc.collect()
    known = measure.high_water(reset=True)
    kept = plain_loop(data, TRIVIAL) if phase == "loop" else stored(data, named(TRIVIAL), folder)
    highest = measure.high_water()
    del kept
    return None if known is None or highest is None else highest / 1024


def peaks(data: Dataset) -> dict[str, float | None]:
    """:func:`peak` of every phase, each in a process of its own."""
    context = multiprocessing.get_context("spawn")
    found: dict[str, float | None] = {}
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for phase in PHASES:
            with tempfile.TemporaryDirectory() as name:
                prepare(data, phase, Path(name))
                found[phase] = pool.submit(peak, len(data.items), phase, Path(name)).result()
    return found


# ------------------------------------------------------------------------------------ report


def rows_of(name: str, n: int, rounds: Sequence[Round], memory: dict) -> list[dict[str, Any]]:
    """A row a phase; ``ratio`` is its time over the loop's."""
    signature = str(named(name).signature("source"))
    rows = []
    for phase in PHASES:
        times = [one.seconds[phase] for one in rounds]
        row = {
            "metric": name,
            "phase": phase,
            "pairs": n,
            "seconds": median(times),
            "microseconds_a_score": median(times) / n * 1e6,
            **measure.summary(measure.ratios(times, [one.seconds["loop"] for one in rounds])),
            "peak_mib": memory.get(phase),
            "signature": signature,
        }
        rows.append(row)
    return rows


def checks(n: int, trivial: Sequence[Round], costly: Sequence[Round]) -> list[dict[str, Any]]:
    every = [*trivial, *costly]
    overhead = [(one.seconds["cold"] - one.seconds["loop"]) / n * 1e6 for one in trivial]
    saved = [one.seconds["cold"] / one.seconds["warm"] for one in costly]
    resumed = [one.seconds["resumed"] / one.seconds["cold"] for one in costly]
    known = "every score known: times as fast as the first run, METEOR"
    half = "half of the scores known: share of the first run's time, METEOR"
    return [
        measure.check("store: microseconds a score", median(overhead), "<", MOST_OVERHEAD),
        measure.check(known, median(saved), ">=", LEAST_SAVED),
        measure.check(half, median(resumed), "<=", MOST_RESUMED),
        measure.check("scores computed twice", max(one.computed_twice for one in every), "==", 0),
        measure.check(
            "difference from a plain loop", max(one.difference for one in every), "==", 0
        ),
        measure.check(
            "resumed stores that differ from whole ones",
            max(one.unequal_stores for one in every),
            "==",
            0,
        ),
    ]


def main() -> None:
    given = measure.arguments(__doc__, 100_000, 10_000, "pairs; METEOR gets a tenth of them")
    load = measure.load_average()
    few = max(2, given.size // 10)
    data, small = dataset(given.size), dataset(few)
    for name in (TRIVIAL, COSTLY):
        # what is loaded once, such as the stemmer, counts for no side
        one_round(dataset(10), name)
    gc.collect()
    gc.freeze()
    rounds: dict[str, list[Round]] = {TRIVIAL: [], COSTLY: []}
    for _ in range(measure.ROUNDS):
        rounds[TRIVIAL].append(one_round(data, TRIVIAL))
        rounds[COSTLY].append(one_round(small, COSTLY))
    memory = peaks(data)
    rows = rows_of(TRIVIAL, given.size, rounds[TRIVIAL], memory)
    rows += rows_of(COSTLY, few, rounds[COSTLY], {})
    notes = ["ratio: time over that of the plain loop; wall-clock time"]
    if None in memory.values():
        notes.append("peak memory not measured: this system does not tell it")
    else:
        notes.append("peak memory: of a process of its own, libraries and data set included, once")
    found = checks(given.size, rounds[TRIVIAL], rounds[COSTLY])
    measure.finish("scoring", given, LIBRARIES, load, rows, found, notes)


if __name__ == "__main__":
    main()
