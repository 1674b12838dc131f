"""How often do tests of metric against metric reject when both are equally good?  Simulations.

In every setting the two metrics correlate equally with people, so a test at 5 % that does what it
says rejects one data set in twenty.  Permutation tests promise that only where the metrics are
exchangeable, which is more than equal correlations; the last rows show how far they stray where the
metrics differ in their tails, or where cells are swapped that belong together.  Beside them stand
the paired bootstrap of the same units, from which clusters follow, and Williams' test, which takes
all items for independent and normal.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import measure
import numpy as np
import simulated
from scipy.stats import t
from simulated import Array, Effects, Generator

from tstmeta.stats import (
    ResamplingPlan,
    Setting,
    correlate,
    draw,
    resample,
    simultaneous_p,
)
from tstmeta.stats.permutation import Units, permutation_test

LIBRARIES = ("tstmeta", "numpy", "scipy")
LEVEL = 0.05
#: With so many swaps one in twenty is a whole number of them.
SWAPS = 199
DRAWS = 999
#: Draws are shared by so many data sets in a row, which saves time and changes nothing on average.
SHARING = 20
#: One data set of so many is made for the bootstrap, which takes longer.
PART = 5
LEAST, LARGEST = 0.04, 0.06
#: What the bootstrap draws where these are swapped.
PLANS: dict[Units, ResamplingPlan] = {
    "inputs": ResamplingPlan("sources", DRAWS),
    "systems": ResamplingPlan("systems", DRAWS),
    "both": ResamplingPlan("both", DRAWS),
}
#: Correlation of either metric with people.
R = 0.5

Sample = tuple[Array, Array]


class Case(NamedTuple):
    """Two equally good metrics.

    Attributes:
        null: whether they are exchangeable under the swaps.
    """

    name: str
    null: Literal["yes", "no"]
    shape: tuple[int, int]
    setting: Setting
    units: Units
    make: Callable[[Generator], Sample]


def normal(shape: tuple[int, int], effects: Effects, steps: bool = False) -> Callable:
    def make(rng: Generator) -> Sample:
        sample = simulated.normal(rng, shape, (R, R), effects, between=0.3)
        return simulated.stepped(sample) if steps else sample

    return make


def unequal(shape: tuple[int, int], second: Callable[[Generator, Array, Array], Array]) -> Callable:
    """Normal numbers, but the second metric's values are made by ``second`` of the ratings."""

    def make(rng: Generator) -> Sample:
        human, metrics = simulated.normal(rng, shape, (R, R))
        return human, np.stack([metrics[0], second(rng, human, metrics[1])])

    return make


def far_out(rng: Generator, human: Array, metric: Array) -> Array:
    """The noise has the tails of t with three degrees of freedom, scaled to variance 1."""
    noise = rng.standard_t(3, size=human.shape) / math.sqrt(3)
    return R * human + math.sqrt(1 - R**2) * noise


def louder(rng: Generator, human: Array, metric: Array) -> Array:
    """The noise grows with the distance of the rating from the mean, its mean square is 1."""
    return R * human + math.sqrt(1 - R**2) * np.abs(human) * rng.normal(size=human.shape)


def exponential(rng: Generator, human: Array, metric: Array) -> Array:
    """A rising curve: the same order, so equal tau, but few values far above the rest."""
    return np.exp(1.5 * metric)


def cases() -> list[list[Case]]:
    """In lists that draw for themselves, so that one can be run without the other."""
    free, half = Effects(), Effects(sources=0.5, cells=0.5)
    shared, wide = Effects(sources=0.9, cells=0.1), (40, 12)
    crossed = Effects(sources=0.4, systems=0.2, cells=0.4)
    pearson, kendall = Setting("pearson"), Setting("kendall")
    by_source, by_system = Setting("kendall", "source"), Setting("pearson", "system")
    items, grid = (60, 1), (40, 4)
    table = [
        ("items independent", "yes", items, pearson, "inputs", normal(items, free)),
        ("items clustered by source", "yes", grid, pearson, "inputs", normal(grid, half)),
        ("heavy ties", "yes", items, kendall, "inputs", normal(items, free, steps=True)),
        ("heavy ties, by source", "yes", grid, by_source, "inputs", normal(grid, half, steps=True)),
        ("12 systems", "yes", (1, 12), by_system, "systems", normal((1, 12), free)),
        ("8 systems", "yes", (1, 8), by_system, "systems", normal((1, 8), free)),
        ("items independent", "yes", grid, pearson, "both", normal(grid, free)),
        ("items clustered by source", "no", grid, pearson, "both", normal(grid, half)),
        ("second metric far out", "no", items, pearson, "inputs", unequal(items, far_out)),
        ("second metric's noise uneven", "no", items, pearson, "inputs", unequal(items, louder)),
        ("second metric skewed", "no", items, kendall, "inputs", unequal(items, exponential)),
    ]
    together = [
        ("noise shared within a source", "no", wide, pearson, "both", normal(wide, shared)),
        ("noise shared within both", "no", wide, pearson, "both", normal(wide, crossed)),
    ]
    return [[Case(*each) for each in some] for some in (table, together)]


# ---------------------------------------------------------------------------------- measuring


def measured(case: Case, data_sets: int, rng: Generator) -> dict[str, Any]:
    """Share of data sets in which each test rejects."""
    rejected = textbook = 0
    pearson = case.setting.function.name == "pearson" and case.setting.level == "pooled"
    for _ in range(data_sets):
        human, metrics = case.make(rng)
        result = permutation_test(human, *metrics, case.setting, units=case.units, n=SWAPS, rng=rng)
        rejected += result.p <= LEVEL
        textbook += pearson and by_williams(human, metrics, case.setting)
    return {
        "setting": case.name,
        "statistic": str(case.setting),
        "matrix": f"{case.shape[0]} x {case.shape[1]}",
        "swapped": case.units,
        "exchangeable": case.null,
        "permutation": rejected / data_sets,
        "bootstrap": by_bootstrap(case, max(1, data_sets // PART)),
        "williams": textbook / data_sets if pearson else None,
        "smallest_p": result.smallest,
        "data_sets": data_sets,
        "signature": f"{case.setting}|swaps:{SWAPS}|draws:{DRAWS}|seed:{measure.SEED}",
    }


def by_bootstrap(case: Case, data_sets: int) -> float:
    """Share of data sets, made for this alone, in which each metric has a cluster of its own."""
    rng, plan, parted = np.random.default_rng([measure.SEED, 2]), PLANS[case.units], 0
    for number in range(data_sets):
        if number % SHARING == 0:
            draws = draw(plan, case.shape, rng)
        drawn = resample(*case.make(rng), case.setting, plan, draws)
        gaps, units = (drawn.pairs.estimates, drawn.pairs.resampled), drawn.fewest
        parted += (
            simultaneous_p(drawn.estimates, drawn.resampled, units=units, gaps=gaps)[0, 1] <= LEVEL
        )
    return parted / data_sets


def by_williams(human: Array, metrics: Array, setting: Setting) -> bool:
    """Whether Williams' test over all cells rejects (Steiger 1980, equation 7)."""
    pairs = ((human, metrics[0]), (human, metrics[1]), (metrics[0], metrics[1]))
    first, second, between = (correlate(*pair, setting).value for pair in pairs)
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    n, mean = human.size, (first + second) / 2
    below = 2 * determinant * (n - 1) / (n - 3) + mean**2 * (1 - between) ** 3
    statistic = (first - second) * math.sqrt((n - 1) * (1 + between) / below)
    return bool(2 * t.sf(abs(statistic), n - 3) <= LEVEL)


def checks(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The goals; their names are the same in every run."""
    fair = [row["permutation"] for row in rows if row["exchangeable"] == "yes"]
    clustered = max(row["williams"] or 0 for row in rows if "clustered" in row["setting"])
    shared = [row for row in rows if "clustered" in row["setting"] or "shared" in row["setting"]]
    cells = [row["permutation"] for row in shared if row["swapped"] == "both"]
    parted = [row["bootstrap"] for row in shared]
    return [
        measure.check("exchangeable: share rejected, lowest", min(fair), ">=", LEAST),
        measure.check("exchangeable: share rejected, highest", max(fair), "<=", LARGEST),
        measure.check("clustered by source: Williams rejects", clustered, ">", LARGEST),
        measure.check("noise shared: swapped cells reject", min(cells), ">", LARGEST),
        measure.check("noise shared: bootstrap rejects, highest", max(parted), "<=", LARGEST),
    ]


NOTES = (
    "share of data sets in which two equally good metrics are called different at p <= 0.05;"
    " swapped are scores of whole sources (inputs), of whole systems, or of single cells (both);"
    " matrix: sources x systems; Williams' test takes all items for independent",
    "bootstrap: sources, systems or both are drawn, in a fifth as many data sets; clusters of"
    " metrics follow from it",
    "over few systems a test rejects a little too often: the mean and deviation that standardise"
    " scores come from as few values",
)


def main() -> None:
    given = measure.arguments(__doc__, size=5000, quick=60, size_help="data sets of each kind")
    load = measure.load_average()
    rows = [
        measured(case, given.size, rng)
        for stream, some in enumerate(cases())
        for rng in [np.random.default_rng([measure.SEED, stream])]
        for case in some
    ]
    error = f"standard error of a share near 0.05: {math.sqrt(0.05 * 0.95 / given.size):.2g}"
    measure.finish(
        "rejection", given, LIBRARIES, load, rows, checks(rows), [*NOTES, error], rounds=1
    )


if __name__ == "__main__":
    main()
