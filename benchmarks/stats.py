"""How fast resampling is beside scipy in a loop, on matrices of real size.

A thousand paired bootstrap draws of sources and systems (plan ``both``), for twelve metrics at
once.  The loop does what one would write: it repeats rows and columns as often as they were drawn
and calls scipy metric by metric (at the level of sources: row by row).  It gets the first few
draws, and its time is scaled to all of them; on these draws the values are compared.  Time is
processor time, with one thread for either side.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import measure
import numpy as np
import pandas as pd
from scipy import stats as scipy_stats

from tstmeta import scoring
from tstmeta.report.bench import Bench
from tstmeta.report.matrices import matrices
from tstmeta.stats import Draws, Plan, Setting, draw, resampled

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


Loop = Callable[[np.ndarray, np.ndarray], float]


class Duel(NamedTuple):
    """A statistic at a level, the loop beside it, how many draws that gets, and a goal."""

    name: str
    data: str
    setting: Setting
    loop: Loop
    draws: int
    least: float | None = None


# ------------------------------------------------------------------------------------- loops
# Each takes the drawn rows and columns of both sides, [S', K'], missing cells NaN.


def over_cells(scipy: Callable[..., Any]) -> Loop:
    def loop(human: np.ndarray, metric: np.ndarray) -> float:
        both = np.isfinite(human) & np.isfinite(metric)
        return scipy(human[both], metric[both]).statistic

    return loop


def by_source(scipy: Callable[..., Any]) -> Loop:
    one = over_cells(scipy)

    def loop(human: np.ndarray, metric: np.ndarray) -> float:
        values = np.array([one(x, y) for x, y in zip(human, metric, strict=True)])
        return values[np.isfinite(values)].mean()

    return loop


def over_means(scipy: Callable[..., Any]) -> Loop:
    def loop(human: np.ndarray, metric: np.ndarray) -> float:
        both = np.isfinite(human) & np.isfinite(metric)
        means = [np.mean(side, axis=0, where=both) for side in (human, metric)]
        return scipy(*means).statistic

    return loop


def repeated(matrix: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.repeat(np.repeat(matrix, rows, axis=0), columns, axis=1)


PEARSON, SPEARMAN, KENDALL = scipy_stats.pearsonr, scipy_stats.spearmanr, scipy_stats.kendalltau
DUELS = (
    Duel("tau-b by source", "lai@lai2023", Setting("kendall", "source"), by_source(KENDALL), 3, 30),
    Duel("Pearson over cells", "mir", Setting("pearson", "pooled"), over_cells(PEARSON), 50, 100),
    Duel("Spearman over cells", "mir", Setting("spearman", "pooled"), over_cells(SPEARMAN), 20),
    Duel("tau-b over cells", "lai@lai2023", Setting("kendall", "pooled"), over_cells(KENDALL), 20),
    Duel("Pearson over systems", "mir", Setting("pearson", "system"), over_means(PEARSON), 50),
)


def looped(duel: Duel, inputs: Inputs, draws: Draws) -> np.ndarray:
    """The values ``[12, D]`` of the peer."""
    found = []
    for counts in zip(draws.sources.astype(int), draws.systems.astype(int), strict=True):
        human = repeated(inputs.human, *counts)
        found.append([duel.loop(human, repeated(one, *counts)) for one in inputs.metrics])
    return np.array(found).T


# ------------------------------------------------------------------------------------ inputs


def real(name: str, bench: Bench) -> Inputs:
    """Mean content ratings and the scores of :data:`METRICS`."""
    dataset = bench.dataset(name)
    released = [metric for metric in METRICS[name] if metric.startswith("released:")]
    computed = [metric for metric in METRICS[name] if metric not in released]
    tables = [bench.table(dataset, computed, ["source"])]
    if released:
        table = scoring.released(dataset, released)
        tables.append(table[(table["basis"] == "source") & (table["dimension"] == "content")])
    made = matrices(dataset, pd.concat(tables), "content")
    origin = "ratings; computed and released scores" if released else "ratings; computed scores"
    return Inputs(made.human, made.metrics, origin)


def random(name: str, rng: np.random.Generator) -> Inputs:
    """Matrices of the same shape: means of two ratings, and scores that follow them a little."""
    shape = SHAPES[name]
    quality = rng.normal(size=shape)
    ratings = np.clip(np.round(3 + quality + rng.normal(size=(2, *shape))), 1, 5)
    scores = quality + rng.uniform(0.5, 3, (12, 1, 1)) * rng.normal(size=(12, *shape))
    return Inputs(ratings.mean(axis=0), np.round(scores, 2), "random numbers of the same shape")


def inputs_of(bench: Bench) -> dict[str, Inputs]:
    rng = np.random.default_rng(measure.SEED)
    return {name: real(name, bench) if bench.has(name) else random(name, rng) for name in SHAPES}


# --------------------------------------------------------------------------------- measuring


def compare(duel: Duel, inputs: Inputs, draws: Draws, calls: int) -> dict[str, Any]:
    """One row: seconds of both for all draws, their ratio and the largest difference."""
    few = next(draws.parts(duel.draws))

    def ours() -> np.ndarray:
        return resampled(inputs.human, inputs.metrics, duel.setting, draws)

    difference = furthest(ours()[:, : len(few)], looped(duel, inputs, few))
    sides = {"ours": lambda: ours, "loop": lambda: lambda: looped(duel, inputs, few)}
    times = measure.take_turns(sides, calls)
    whole = [taken * len(draws) / len(few) for taken in times["loop"]]
    return {
        "metric": duel.name,
        "data": duel.data,
        "values": inputs.origin,
        "shape": " x ".join(map(str, inputs.metrics.shape)),
        "draws": len(draws),
        "draws_in_loop": len(few),
        "ours_seconds": measure.median(times["ours"]),
        "loop_seconds": measure.median(whole),
        **measure.summary(measure.ratios(whole, times["ours"])),
        "difference": difference,
        "added_mib": added(duel, inputs, draws),
        "signature": f"{duel.setting}|plan:both|draws:{len(draws)}|seed:{measure.SEED}",
    }


def furthest(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference; 2, the width of the scale, where only one side has a value."""
    one, other = np.isfinite(ours), np.isfinite(theirs)
    gap = np.abs(np.where(one, ours, 0.0) - np.where(other, theirs, 0.0))
    return float(np.where(one == other, gap, 2.0).max())


def added(duel: Duel, inputs: Inputs, draws: Draws) -> float | None:
    """MiB that resampling takes beyond its inputs, in a process of its own; None where unknown."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        arrays = (inputs.human, inputs.metrics, duel.setting, *draws[:2])
        return pool.submit(_added, *arrays).result()


def _added(
    human: np.ndarray,
    metrics: np.ndarray,
    setting: Setting,
    sources: np.ndarray,
    systems: np.ndarray,
) -> float | None:
    # what is loaded at first use counts for nobody
    resampled(human, metrics, setting, Draws(sources[:1], systems[:1]))
    before = measure.high_water(reset=True)
    resampled(human, metrics, setting, Draws(sources, systems))
    after = measure.high_water()
    return None if before is None or after is None else (after - before) / 1024


def checks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The goals; their names are the same on every machine."""
    made = []
    for duel, row in zip(DUELS, rows, strict=True):
        name = f"{duel.name}: difference from the loop"
        made.append(measure.check(name, row["difference"], "<=", LARGEST_DIFFERENCE))
        if duel.least:
            name = f"{duel.name}: speed against the loop"
            made.append(measure.check(name, row["ratio"], ">=", duel.least))
    return made


def main() -> None:
    given = measure.arguments(__doc__, 1000, 200, "draws")
    load = measure.load_average()
    inputs = inputs_of(Bench())
    rng = np.random.default_rng(measure.SEED)
    draws = {name: draw(Plan("both", given.size), shape, rng) for name, shape in SHAPES.items()}
    calls = 1 if given.quick else 3
    rows = [compare(duel, inputs[duel.data], draws[duel.data], calls) for duel in DUELS]
    notes = [
        "ratio above 1: ours is faster; processor time, one thread",
        "loop: scipy on the first draws, its time scaled to all of them; compared on these draws",
        "added: peak memory beyond what the process held before, once",
    ]
    measure.finish("stats", given, LIBRARIES, load, rows, checks(rows), notes)


if __name__ == "__main__":
    main()
