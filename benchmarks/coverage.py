"""Do 95 % intervals hold the true value 95 times in a hundred?  Simulations with a known truth.

Each row is a setting whose true value is known (from theory; where from a simulation, its standard
error is given).  Many data sets are made of it, each gets its intervals, and the share that holds
the true value is the coverage.  Beside ours stands the naive interval, which takes all items for
independent (:mod:`coverage_cases`).  Draws are shared by twenty data sets at a time, which saves
time and changes nothing on average.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when NumPy is loaded

from collections.abc import Iterator, Sequence
from typing import Any

import measure
import numpy as np
import simulated
from coverage_cases import CONFIDENCE, DRAWS, Case, cases
from simulated import Array, Effects, Generator

from tstmeta.stats import (
    Draws,
    Interval,
    Resample,
    ResamplingPlan,
    Setting,
    confidence_intervals,
    difference,
    draw,
    rank_sets,
    resample,
    simultaneous_p,
)

LIBRARIES = ("tstmeta", "numpy", "scipy")
SHARING = 20
#: Coverage that we accept of intervals called 95 %.
LEAST, LARGEST = 0.93, 0.97
Row = dict[str, Any]


# ---------------------------------------------------------------------------------- measuring


def drawn(
    case_plan: ResamplingPlan, shape: tuple[int, int], replicates: int, rng: Generator
) -> Iterator[Draws]:
    """Draws for each replicate, the same for some in a row."""
    for replicate in range(replicates):
        if replicate % SHARING == 0:
            draws = draw(case_plan, shape, rng)
        yield draws


def measured(case: Case, replicates: int, rng: Generator) -> list[Row]:
    """A row for each true value."""
    limits, doubted, replicates = [], 0, max(1, replicates // case.part)
    for draws in drawn(case.plan, case.shape, replicates, rng):
        sample = case.make(rng)
        resampled = resample(*sample, case.setting, case.plan, draws)
        ours = intervals_of(case, resampled)
        naive = np.stack(case.naive(sample, resampled.estimates), axis=-1)
        limits.append(np.concatenate([naive, [(each.low, each.high) for each in ours]]))
        doubted += all(each.reason for each in ours)
    shape = (replicates, 2, len(case.true), 2)
    table = np.array(limits).reshape(shape)
    share = doubted / replicates
    return [row(case, table[:, :, m], true, share) for m, true in enumerate(case.true)]


def intervals_of(case: Case, resampled: Resample) -> list[Interval]:
    if case.gap:
        return [difference(resampled, 0, 1, confidence=CONFIDENCE)]
    return confidence_intervals(resampled, confidence=CONFIDENCE)


def row(case: Case, limits: Array, true: float, doubted: float) -> Row:
    """Coverage of each method from limits ``[replicates, methods, 2]``; what misses, and how."""
    low, high = limits[..., 0], limits[..., 1]
    covers = ((low <= true + 1e-9) & (high >= true - 1e-9)).mean(axis=0)
    width = (high - low).mean(axis=0)
    return {
        "setting": case.name,
        "statistic": case.setting.function.name,
        "matrix": f"{case.shape[0]} x {case.shape[1]}",
        "drawn": case.plan.units if case.plan.clusters is None else "clusters",
        "true": float(true),
        "true_error": case.error,
        **dict(zip(("naive", "percentile"), map(float, covers), strict=True)),
        "rank_sets": None,
        "all_above": float((low[:, 1] > true).mean()),
        "all_below": float((high[:, 1] < true).mean()),
        "naive_width": float(width[0]),
        "width": float(width[1]),
        "doubted": doubted,
        "remark": case.remark,
        "data_sets": len(limits),
        "signature": f"{case.setting}|plan:{case.plan.units}|draws:{DRAWS}|seed:{measure.SEED}",
    }


# ------------------------------------------------------------------------------------- ranks

RANKED = (
    ("ranks of 6 equal metrics", (0.5,) * 6),
    ("ranks of 5 metrics", (0.3, 0.3, 0.5, 0.6, 0.8)),
)


def ranked(name: str, correlations: Sequence[float], replicates: int, rng: Generator) -> Row:
    """How often rank sets hold the true ranks of all metrics at once."""
    shape, setting, plan = (40, 4), Setting("pearson"), ResamplingPlan("sources", DRAWS)
    truth, right, sizes = true_ranks(correlations), 0, []
    for draws in drawn(plan, shape, replicates, rng):
        sample = simulated.normal(rng, shape, correlations, Effects(0.5, 0.0, 0.5), between=0.5)
        resampled = resample(*sample, setting, plan, draws)
        estimates, values, units = resampled.estimates, resampled.resampled, resampled.fewest
        p = simultaneous_p(estimates, values, units=units)
        sets = rank_sets(estimates, p)
        pairs = zip(sets, truth, strict=True)
        right += all(low <= best and high >= worst for (low, high), (best, worst) in pairs)
        sizes.append(np.mean([high - low + 1 for low, high in sets]))
    return {
        "setting": f"{name}, clustered",
        "statistic": "pearson",
        "matrix": f"{shape[0]} x {shape[1]}",
        "drawn": plan.units,
        **dict.fromkeys(("true", "true_error", "naive", "percentile")),
        "rank_sets": right / replicates,
        **dict.fromkeys(("all_above", "all_below", "naive_width")),
        "width": float(np.mean(sizes)),
        "doubted": None,
        "remark": "",
        "data_sets": replicates,
        "signature": f"{setting}|plan:{plan.units}|draws:{DRAWS}|seed:{measure.SEED}",
    }


def true_ranks(values: Sequence[float]) -> list[tuple[int, int]]:
    """Every rank that ties leave open."""
    return [
        (1 + sum(other > each for other in values), sum(other >= each for other in values))
        for each in values
    ]


# ------------------------------------------------------------------------------------- goals


def checks(cases_measured: Sequence[tuple[Case, Row]], of_ranks: Sequence[Row]) -> list[Row]:
    """The goals; their names are the same in every run."""
    goals = []
    for group in (
        *("independent items", "clustered items", "heavy ties", "8 or 12 systems", "differences"),
        "sources and systems",
    ):
        values = [each["percentile"] for case, each in cases_measured if case.group == group]
        name = f"{group}: percentile coverage"
        goals.append(measure.check(f"{name}, lowest", min(values), ">=", LEAST))
        goals.append(measure.check(f"{name}, highest", max(values), "<=", LARGEST))
    naive = [each["naive"] for case, each in cases_measured if case.group == "clustered items"]
    goals.append(measure.check("clustered items: naive coverage, highest", max(naive), "<", LEAST))
    few = [each for case, each in cases_measured if case.group == "few units"]
    lowest = min(each["percentile"] for each in few)
    goals.append(measure.check("4 sources or 5 systems: coverage, lowest", lowest, "<", LEAST))
    doubtful = min(each["doubted"] for each in few)
    goals.append(measure.check("4 sources or 5 systems: share that say so", doubtful, "==", 1))
    ranks = min(each["rank_sets"] for each in of_ranks)
    goals.append(measure.check("rank sets: all true ranks held, lowest", ranks, ">=", LEAST))
    return goals


NOTES = (
    "coverage: share of data sets whose 95 % interval holds the true value; naive takes items for"
    " independent",
    "matrix: sources x systems; all above, all below: share of percentile intervals that miss, by"
    " the side they miss on; width of rank sets in ranks; doubted: share of intervals that give a"
    " reason for doubt; sources and systems drawn: half as many data sets",
)


def main() -> None:
    given = measure.arguments(__doc__, size=5000, quick=60, size_help="data sets of each kind")
    load = measure.load_average()
    streams = cases()
    cases_measured = [
        (case, each)
        for stream, some in enumerate(streams)
        for rng in [np.random.default_rng([measure.SEED, stream])]
        for case in some
        for each in measured(case, given.size, rng)
    ]
    rng = np.random.default_rng([measure.SEED, len(streams)])
    of_ranks = [ranked(*each, given.size, rng) for each in RANKED]
    rows = [*(each for _, each in cases_measured), *of_ranks]
    error = f"standard error of a coverage near 0.95: {np.sqrt(0.95 * 0.05 / given.size):.2g}"
    goals = checks(cases_measured, of_ranks)
    measure.finish("coverage", given, LIBRARIES, load, rows, goals, [*NOTES, error], rounds=1)


if __name__ == "__main__":
    main()
