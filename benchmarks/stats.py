"""How fast resampling is beside scipy in a loop, on matrices of real size.

A thousand paired bootstrap draws of sources and systems (plan ``both``) for twelve metrics at once,
and a thousand swaps of sources for every pair of them.  The loop does what one would write: it
repeats rows and columns as often as they were drawn (or swaps the rows of two metrics) and calls
scipy metric by metric, at the level of sources row by row.  It gets the first few draws or pairs,
and its time is scaled to all of them; on these the values are compared.  Time is processor time,
with one thread for either side.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

import itertools
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import measure
import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr, spearmanr

import tstmeta as tst
from tstmeta.analysis.matrices import matrices
from tstmeta.stats import Draws, ResamplingPlan, Setting, draw, resampled
from tstmeta.stats.permutation import permutation_test

LIBRARIES = ("tstmeta", "numpy", "scipy")
LARGEST_DIFFERENCE = 1e-9
_OVERLAP = ("bleu", "chrf", "edit-similarity", "pinc", "rougeL", "ter")
#: Twelve metrics on the source for each data set; where it is not here, random matrices.
METRICS = {
    "lai@lai2023": (
        *_OVERLAP,
        *("released:bertscore", "released:bleurt", "released:chatgpt"),
        *("released:comet-22", "released:meteor", "released:wmd"),
    ),
    "mir": (
        *_OVERLAP,
        *("bleu:pauli2025", "copy-rate", "length-ratio", "meteor:no-synonyms", "rouge1", "rouge2"),
    ),
}
SHAPES = {"lai@lai2023": (80, 9), "mir": (244, 12)}


class Inputs(NamedTuple):
    """Human values ``[S, K]``, metrics ``[12, S, K]``, and where they come from."""

    human: np.ndarray
    metrics: np.ndarray
    origin: str


class Task(NamedTuple):
    """Work for both sides.

    Attributes:
        ours: all of it.
        loop: the first part of it.
        part: what of our result the loop has made.
        share: how much that is.
        extent: the same in words.
        signature: what was computed.
    """

    ours: Callable[[], np.ndarray]
    loop: Callable[[], np.ndarray]
    part: Callable[[np.ndarray], np.ndarray]
    share: float
    extent: str
    signature: str


class Duel(NamedTuple):
    """What is computed of which data; makes the work for a number of draws; has a goal or none."""

    name: str
    data: str
    make: Callable[[Inputs, int], Task]
    least: float | None = None


Value = Callable[[np.ndarray, np.ndarray], float]


# ------------------------------------------------------------------------------------- loops
# The first three take the drawn rows and columns of both sides, [S', K'], missing cells NaN.


def over_cells(scipy: Callable[..., Any]) -> Value:
    def loop(human: np.ndarray, metric: np.ndarray) -> float:
        both = np.isfinite(human) & np.isfinite(metric)
        return scipy(human[both], metric[both]).statistic

    return loop


def by_source(scipy: Callable[..., Any]) -> Value:
    over_row = over_cells(scipy)

    def loop(human: np.ndarray, metric: np.ndarray) -> float:
        values = np.array([over_row(x, y) for x, y in zip(human, metric, strict=True)])
        return values[np.isfinite(values)].mean()

    return loop


def over_means(scipy: Callable[..., Any]) -> Value:
    def loop(human: np.ndarray, metric: np.ndarray) -> float:
        both = np.isfinite(human) & np.isfinite(metric)
        means = [np.mean(side, axis=0, where=both) for side in (human, metric)]
        return scipy(*means).statistic

    return loop


def repeated(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.repeat(np.repeat(matrix, rows, axis=0), columns, axis=1)


def over_draws(inputs: Inputs, draws: Draws, value: Value) -> np.ndarray:
    """Values ``[12, D]``."""
    values = []
    for counts in zip(draws.sources.astype(int), draws.systems.astype(int), strict=True):
        human = repeated(inputs.human, *counts)
        values.append([value(human, repeated(metric, *counts)) for metric in inputs.metrics])
    return np.array(values).T


def over_swaps(inputs: Inputs, flips: np.ndarray, second: int, value: Value) -> float:
    """The p-value of the first metric against another."""
    first, other = ((m - m.mean()) / m.std() for m in inputs.metrics[[0, second]])
    observed = abs(value(inputs.human, first) - value(inputs.human, other))
    large = 0
    for flip in flips.astype(bool):
        swapped = np.where(flip[:, None], other, first), np.where(flip[:, None], first, other)
        after, before = (value(inputs.human, scores) for scores in swapped)
        large += abs(after - before) >= observed
    return (large + 1) / (len(flips) + 1)


# ------------------------------------------------------------------------------------- duels


def bootstrap(setting: Setting, value: Value, most: int) -> Callable[[Inputs, int], Task]:
    def make(inputs: Inputs, size: int) -> Task:
        rng = np.random.default_rng(measure.SEED)
        draws = draw(ResamplingPlan("both", size), inputs.human.shape, rng)
        few = Draws(draws.sources[:most], draws.systems[:most])
        return Task(
            lambda: resampled(inputs.human, inputs.metrics, setting, draws),
            lambda: over_draws(inputs, few, value),
            lambda values: values[:, : len(few)],
            len(few) / size,
            f"{len(few)} draws",
            f"{setting}|plan:both|draws:{size}|seed:{measure.SEED}",
        )

    return make


def permutation(setting: Setting, value: Value, pairs: int) -> Callable[[Inputs, int], Task]:
    def make(inputs: Inputs, size: int) -> Task:
        def rng() -> np.random.Generator:
            return np.random.default_rng(measure.SEED)

        flips = rng().integers(0, 2, (size, len(inputs.human)), dtype=np.int8)
        rivals = range(1, pairs + 1)
        metrics = len(inputs.metrics)

        def ours() -> np.ndarray:
            tests = [
                permutation_test(inputs.human, *two, setting, n=size, rng=rng())
                for two in itertools.combinations(inputs.metrics, 2)  # those of the first lead
            ]
            return np.array([test.p for test in tests])

        return Task(
            ours,
            lambda: np.array([over_swaps(inputs, flips, second, value) for second in rivals]),
            lambda p: p[:pairs],
            pairs / (metrics * (metrics - 1) / 2),
            f"{pairs} pairs",
            f"{setting}|permutation:inputs|swaps:{size}|seed:{measure.SEED}",
        )

    return make


DUELS = (
    Duel(
        "tau-b by source",
        "lai@lai2023",
        bootstrap(Setting("kendall", "source"), by_source(kendalltau), 3),
        least=30,
    ),
    Duel(
        "Pearson over cells",
        "mir",
        bootstrap(Setting("pearson", "pooled"), over_cells(pearsonr), 50),
        least=100,
    ),
    Duel(
        "Spearman over cells",
        "mir",
        bootstrap(Setting("spearman", "pooled"), over_cells(spearmanr), 20),
    ),
    Duel(
        "tau-b over cells",
        "lai@lai2023",
        bootstrap(Setting("kendall", "pooled"), over_cells(kendalltau), 20),
    ),
    Duel(
        "Pearson over systems",
        "mir",
        bootstrap(Setting("pearson", "system"), over_means(pearsonr), 50),
    ),
    Duel(
        "p of all pairs, Pearson over cells",
        "mir",
        permutation(Setting("pearson", "pooled"), over_cells(pearsonr), 2),
    ),
)


# ------------------------------------------------------------------------------------ inputs


def real(name: str) -> Inputs:
    """Mean content ratings and the scores of :data:`METRICS`."""
    dataset = tst.load(name)
    released = [metric for metric in METRICS[name] if metric.startswith("released:")]
    computed = [metric for metric in METRICS[name] if metric not in released]
    tables = [tst.score(dataset, computed, ["source"])]
    if released:
        table = dataset.scores[dataset.scores["metric"].isin(released)]
        tables.append(table[(table["basis"] == "source") & (table["dimension"] == "content")])
    table = matrices(tst.pairs(dataset, pd.concat(tables), "content"))
    origin = "ratings; computed and released scores" if released else "ratings; computed scores"
    return Inputs(table.human, table.metrics, origin)


def random(name: str, rng: np.random.Generator) -> Inputs:
    """Matrices of the same shape: means of two ratings, and scores that follow them a little."""
    shape = SHAPES[name]
    quality = rng.normal(size=shape)
    ratings = np.clip(np.round(3 + quality + rng.normal(size=(2, *shape))), 1, 5)
    scores = quality + rng.uniform(0.5, 3, (12, 1, 1)) * rng.normal(size=(12, *shape))
    return Inputs(ratings.mean(axis=0), np.round(scores, 2), "random numbers of the same shape")


def inputs_of() -> dict[str, Inputs]:
    rng = np.random.default_rng(measure.SEED)
    return {name: real(name) if tst.available(name) else random(name, rng) for name in SHAPES}


# --------------------------------------------------------------------------------- measuring


def compare(duel: Duel, inputs: Inputs, size: int, calls: int) -> dict[str, Any]:
    """One row: seconds of both for all the work, their ratio and the largest difference."""
    task = duel.make(inputs, size)
    difference = furthest(task.part(task.ours()), task.loop())
    times = measure.take_turns({"ours": lambda: task.ours, "loop": lambda: task.loop}, calls)
    whole = [taken / task.share for taken in times["loop"]]
    return {
        "metric": duel.name,
        "data": duel.data,
        "values": inputs.origin,
        "shape": " x ".join(map(str, inputs.metrics.shape)),
        "draws": size,
        "in_loop": task.extent,
        "ours_seconds": measure.median(times["ours"]),
        "loop_seconds": measure.median(whole),
        **measure.summary(measure.ratios(whole, times["ours"])),
        "difference": difference,
        "added_mib": added(duel.name, inputs, size),
        "signature": task.signature,
    }


def furthest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference; 2, the width of the scale, where only one side has a value."""
    some, other = np.isfinite(ours), np.isfinite(theirs)
    gap = np.abs(np.where(some, ours, 0.0) - np.where(other, theirs, 0.0))
    return float(np.where(some == other, gap, 2.0).max())


def added(name: str, inputs: Inputs, size: int) -> float | None:
    """MiB that our side takes beyond its inputs, in a process of its own; None where unknown."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(_added, name, inputs, size).result()


def _added(name: str, inputs: Inputs, size: int) -> float | None:
    (duel,) = (duel for duel in DUELS if duel.name == name)
    duel.make(inputs, 1).ours()  # what is loaded at first use counts for nobody
    task = duel.make(inputs, size)
    before = measure.high_water(reset=True)
    task.ours()
    after = measure.high_water()
    return None if before is None or after is None else (after - before) / 1024


def checks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The goals; their names are the same on every machine."""
    goals = []
    for duel, row in zip(DUELS, rows, strict=True):
        name = f"{duel.name}: difference from the loop"
        goals.append(measure.check(name, row["difference"], "<=", LARGEST_DIFFERENCE))
        if duel.least:
            name = f"{duel.name}: speed against the loop"
            goals.append(measure.check(name, row["ratio"], ">=", duel.least))
    return goals


def main() -> None:
    given = measure.arguments(__doc__, 1000, 200, "draws")
    load = measure.load_average()
    inputs = inputs_of()
    calls = 1 if given.quick else 3
    rows = [compare(duel, inputs[duel.data], given.size, calls) for duel in DUELS]
    notes = [
        "ratio above 1: ours is faster; processor time, one thread",
        "loop: scipy on the first draws or pairs, its time scaled to all; compared on these",
        "added: peak memory beyond what the process held before, once",
    ]
    measure.finish("stats", given, LIBRARIES, load, rows, checks(rows), notes)


if __name__ == "__main__":
    main()
