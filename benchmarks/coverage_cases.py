"""The settings of the coverage simulation: what is drawn, what is true, and the naive interval.

The naive interval takes all items for independent: Fisher's z for Pearson's r, with the variances
of Bonett and Wright (2000) for Spearman's rho and of Fieller, Hartley and Pearson (1957) for
Kendall's tau (pairwise accuracy follows from it); Student's t over sources at the level of sources;
for a difference, two such values as if from two data sets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import measure
import numpy as np
import simulated
from scipy import stats as scipy_stats
from simulated import Array, Effects, Generator, Sample

from tstmeta.stats import STATISTICS, ResamplingPlan, Setting
from tstmeta.stats.resampling import Units

DRAWS = 1000
CONFIDENCE = 0.95
Z = float(scipy_stats.norm.ppf(0.5 * (1 + CONFIDENCE)))

Limits = tuple[Array, Array]


class Case(NamedTuple):
    """A setting of known truth.

    Attributes:
        name: what is special about it.
        group: the goal it counts for; empty where it is only shown.
        shape: sources, systems.
        make: one data set.
        true: the true value of each metric.
        error: standard error of the true values, 0 where they are exact.
        naive: limits by the naive method, from a data set and its estimates.
        gap: whether it is about the difference of the first metric and the second.
        part: only one data set of so many is made, as each takes longer.
        remark: why the row may stray.
    """

    name: str
    group: str
    shape: tuple[int, int]
    setting: Setting
    plan: ResamplingPlan
    make: Callable[[Generator], Sample]
    true: Sequence[float]
    naive: Callable[[Sample, Array], Limits]
    error: float = 0.0
    gap: bool = False
    part: int = 1
    remark: str = ""


# ------------------------------------------------------------------------------------- naive


def fisher(
    sample: Sample, estimates: Array, statistic: str = "pearson", n: int | None = None
) -> Limits:
    """Fisher's z over all ``n`` cells (or systems) as if they were independent."""
    if statistic == "pairwise-accuracy":
        low, high = fisher(sample, 2 * estimates - 1, "kendall", n)
        return (1 + low) / 2, (1 + high) / 2
    z = np.arctanh(np.clip(estimates, -1 + 1e-12, 1 - 1e-12))
    spread = Z * _of_z(estimates, statistic, n or sample[0].size)
    return np.tanh(z - spread), np.tanh(z + spread)


def _of_z(estimates: Array, statistic: str, n: int) -> Array:
    """Standard error of Fisher's z."""
    variance = {
        "pearson": 1 / (n - 3),
        "spearman": (1 + estimates**2 / 2) / (n - 3),
        "kendall": 0.437 / (n - 4),
    }[statistic]
    return np.broadcast_to(np.sqrt(variance), estimates.shape)


def fisher_gap(sample: Sample, estimates: Array) -> Limits:
    """First minus second, as if each came from a data set of its own."""
    spread = _of_z(estimates, "pearson", sample[0].size) * (1 - estimates**2)
    gap, reach = estimates[:1] - estimates[1:2], Z * math.hypot(*spread[:2])
    return gap - reach, gap + reach


def student(sample: Sample, estimates: Array) -> Limits:
    """Student's t over the values of sources."""
    rows = by_row(*sample)
    n = np.isfinite(rows).sum(axis=1)
    reach = scipy_stats.t.ppf(0.5 * (1 + CONFIDENCE), n - 1) * np.nanstd(rows, axis=1, ddof=1)
    return estimates - reach / np.sqrt(n), estimates + reach / np.sqrt(n)


def by_row(human: Array, metrics: Array) -> Array:
    """Tau-b in each row ``[M, S]``, NaN where a side is constant."""
    weights = np.ones((1, human.shape[1]))
    return STATISTICS["kendall"].values(human[:, None], metrics[:, :, None], weights)[..., 0]


# ------------------------------------------------------------------------------------- cases


def cases() -> list[list[Case]]:
    """In lists that draw for themselves, so that one can be run without the others."""
    whole = [*independent(), *clustered(), *tied(), *over_systems()]
    return [whole, gaps(), *([case] for case in of_both())]


def _case(
    name: str,
    group: str,
    shape: tuple[int, int],
    statistic: str,
    correlations: Sequence[float],
    effects: Effects,
    plan: ResamplingPlan,
    level: Any = "pooled",
) -> Case:
    """A case of normal numbers."""
    return Case(
        name,
        group,
        shape,
        Setting(statistic, level),
        plan,
        lambda rng: simulated.normal(rng, shape, correlations, effects),
        [simulated.TRUE[statistic](r) for r in correlations],
        student
        if level == "source"
        else lambda sample, estimates: fisher(
            sample, estimates, statistic, shape[1] if level == "system" else None
        ),
    )


UNITS: tuple[Units, ...] = ("sources", "systems", "both")
_SOURCES, _SYSTEMS, _BOTH = (ResamplingPlan(units, DRAWS) for units in UNITS)


def independent() -> list[Case]:
    shape, spread, free = (100, 1), 0.8, Effects()
    plain = [
        _case("items independent", "independent items", shape, name, rs, free, _SOURCES)
        for name, rs in (("pearson", (0.2, 0.8)), ("spearman", (0.5,)), ("kendall", (0.5,)))
    ]
    skewed = plain[0]._replace(
        name="items independent, scores skewed",
        make=lambda rng: simulated.skewed(simulated.normal(rng, shape, (0.5,)), spread),
        true=[simulated.r_of_skewed(0.5, spread)],
    )
    return [*plain, skewed]


def clustered() -> list[Case]:
    half = Effects(sources=0.5, cells=0.5)
    return [
        _case(name, group, shape, statistic, rs, half, _SOURCES)
        for name, group, shape, statistic, rs in (
            ("items clustered by source", "clustered items", (40, 4), "pearson", (0.3, 0.8)),
            ("items clustered by source", "clustered items", (30, 4), "kendall", (0.5,)),
            ("12 sources of 8 rewrites", "clustered items", (12, 8), "pearson", (0.5,)),
            ("4 sources of 20 rewrites", "few units", (4, 20), "pearson", (0.5,)),
        )
    ]


def tied() -> list[Case]:
    r, half, rows, survey = 0.6, Effects(sources=0.5, cells=0.5), (40, 6), (80, 6)
    kendall, by_source = Setting("kendall"), Setting("kendall", "source")
    pooled = Case(
        "heavy ties",
        "heavy ties",
        (100, 1),
        kendall,
        _SOURCES,
        lambda rng: simulated.stepped(simulated.normal(rng, (100, 1), (r,))),
        [simulated.tau_of_steps(r)],
        lambda sample, estimates: fisher(sample, estimates, "kendall"),
    )
    of_rows = _true_by_row(lambda rng, n: _rows(rng, (n, rows[1]), r))
    of_surveys = _true_by_row(lambda rng, n: _surveys(rng, (n, survey[1]), r, size=1))
    plan = _SOURCES._replace(clusters=np.repeat(np.arange(16), 5))
    return [
        pooled,
        pooled._replace(
            name="heavy ties, clustered by source",
            shape=(30, 4),
            make=lambda rng: simulated.stepped(simulated.normal(rng, (30, 4), (r,), half)),
        ),
        Case(
            "heavy ties, by source",
            "heavy ties",
            rows,
            by_source,
            _SOURCES,
            lambda rng: _rows(rng, rows, r),
            of_rows[:1],
            student,
            of_rows[1],
        ),
        Case(
            "heavy ties, by source, clustered by survey",
            "clustered items",
            survey,
            by_source,
            plan,
            lambda rng: _surveys(rng, survey, r, size=5),
            of_surveys[:1],
            student,
            of_surveys[1],
        ),
    ]


def _rows(rng: Generator, shape: tuple[int, int], r: float) -> Sample:
    return simulated.stepped(simulated.normal(rng, shape, (r,)))


def _surveys(rng: Generator, shape: tuple[int, int], r: float, size: int) -> Sample:
    whole = simulated.normal(rng, shape, (r,))
    return simulated.stepped(simulated.clustered(rng, whole, size, shared=1.0))


def _true_by_row(make: Callable[[Generator, int], Sample]) -> tuple[float, float]:
    """Mean tau-b of a row and its standard error, from many independent rows."""
    rng = np.random.default_rng(measure.SEED + 1)
    rows = np.concatenate([by_row(*make(rng, 20_000))[0] for _ in range(25)])
    rows = rows[np.isfinite(rows)]
    return float(rows.mean()), float(rows.std() / math.sqrt(len(rows)))


def over_systems() -> list[Case]:
    free = Effects()
    plain = [
        _case(f"{k} systems", group, (1, k), statistic, rs, free, _SYSTEMS, "system")
        for k, group, statistic, rs in (
            (12, "8 or 12 systems", "pearson", (0.5, 0.9)),
            (8, "8 or 12 systems", "pearson", (0.5, 0.9)),
            (8, "8 or 12 systems", "spearman", (0.5,)),
            (8, "8 or 12 systems", "kendall", (0.5,)),
            (5, "few units", "pearson", (0.5, 0.9)),
            (5, "few units", "kendall", (0.9,)),
        )
    ]
    heavy = plain[1]._replace(
        name="8 systems, some far out",
        group="",
        make=lambda rng: simulated.heavy(rng, simulated.normal(rng, (1, 8), (0.5, 0.9)), 5.0),
    )
    remark = (
        "8 systems have few orders: a rank statistic moves in steps, and so does what is covered"
    )
    ranks = plain[2:4]
    return [case._replace(remark=remark * (case in ranks)) for case in (*plain, heavy)]


#: Where the variance comes from.
CROSSED = {
    "cells": Effects(0.1, 0.1, 0.8),
    "sources": Effects(0.8, 0.1, 0.1),
    "systems": Effects(0.1, 0.8, 0.1),
    "all three": Effects(0.3, 0.3, 0.4),
}


def of_both() -> list[Case]:
    """Sources and systems drawn; the last is the difference of two metrics."""
    table = [
        *((name, 12, "pearson", "pooled") for name in CROSSED),
        ("cells", 8, "pearson", "pooled"),
        ("cells", 12, "kendall", "source"),
        ("cells", 12, "kendall", "system"),
        ("all three", 12, "pairwise-accuracy", "system"),
        ("cells", 8, "pairwise-accuracy", "system"),
        ("systems", 8, "pearson", "pooled"),
    ]
    levels = {"pooled": "", "source": ", by source", "system": ", over systems"}
    plain = [
        _case(
            f"sources and systems drawn{levels[level]}, variance of {name}",
            "sources and systems",
            (40, k),
            statistic,
            (0.5,),
            CROSSED[name],
            _BOTH,
            level,
        )._replace(part=2)
        for name, k, statistic, level in table
    ]
    return [*plain, *(_gap(each) for each in (plain[0], plain[3]))]


def _gap(case: Case) -> Case:
    """The difference of two metrics in the same setting."""
    name = case.name.rpartition(" of ")[2]
    return case._replace(
        name=f"difference, sources and systems drawn, variance of {name}",
        make=lambda rng: simulated.normal(rng, case.shape, (0.7, 0.5), CROSSED[name], between=0.5),
        true=[0.7 - 0.5],
        naive=fisher_gap,
        gap=True,
    )


def gaps() -> list[Case]:
    shape, half, rs = (40, 4), Effects(sources=0.5, cells=0.5), (0.7, 0.5)
    whole = _case(
        "difference of two metrics, clustered", "differences", shape, "pearson", rs, half, _SOURCES
    )
    return [
        whole._replace(
            make=lambda rng: simulated.normal(rng, shape, rs, half, between=0.5),
            true=[rs[0] - rs[1]],
            naive=fisher_gap,
            gap=True,
        )
    ]
