"""One metric against another: differences, paired permutation tests, ranks and clusters."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..schema import TstmetaError
from ..stats.intervals import Resample, difference
from ..stats.multiple import over_pairs, significance_clusters, swaps_needed
from ..stats.permutation import PairTests, all_pairs
from .agreement import ACC_EQ, HEAD, TESTS, Job, drawn, jobs
from .matrices import Matrices

#: More swaps than this are not made; with many metrics Holm may then find nothing.
_MOST_SWAPS = 50_000
#: Numbers that tests may cost before they are left out, about a minute's worth.
_BUDGET = 2e10


def compare(
    pairs: pd.DataFrame,
    a: str | tuple[str, str],
    b: str | tuple[str, str],
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """One metric's agreement minus another's, in the same resamples, with a permutation test.

    The null hypothesis of the paired permutation test: the scores of the two metrics (standardised)
    are exchangeable within a unit, whole units at a time (:mod:`tstmeta.stats.permutation`).

    Args:
        a, b: names of metrics, or (metric, basis) where a metric stands on several bases.

    Returns:
        A row a data set that has both: dataset, a, b, difference (a minus b), low, high (bootstrap
        interval), p (at least 1 / (draws + 1)), n (units that were swapped: sources), null
        (hypothesis).

    Raises:
        TstmetaError: as :func:`bootstrap`, or no data set has both metrics.
    """
    rows = []
    for job in jobs(pairs, statistic, level, unit, draws, seed, confidence):
        places = [_place(job.made.heads, name) for name in (a, b)]
        if None in places:
            continue
        job = job._replace(made=_only(job.made, [place for place in places if place is not None]))
        made = drawn(job).resample
        gap = difference(made, 0, 1, confidence=confidence)
        test = _pairs_tested(job, draws).test(0, 1)
        rows.append(
            {
                "dataset": job.made.heads["dataset"].iloc[0],
                "a": _label(a),
                "b": _label(b),
                "difference": float(made.estimates[0] - made.estimates[1]),
                "low": gap.low,
                "high": gap.high,
                "p": test.p,
                "n": test.n,
                "null": test.null,
            }
        )
    if not rows:
        known = ", ".join(pairs["metric"].drop_duplicates())
        raise TstmetaError(f"no data set has both {_label(a)} and {_label(b)}; known: {known}")
    return pd.DataFrame(rows)


def _label(name: str | tuple[str, str]) -> str:
    return name if isinstance(name, str) else " ".join(name)


def _place(heads: pd.DataFrame, name: str | tuple[str, str]) -> int | None:
    """The row of a metric; None where there is none.

    Raises:
        TstmetaError: several rows have that name.
    """
    metric, basis = (name, None) if isinstance(name, str) else name
    named = heads["metric"] == metric
    rows = np.flatnonzero(named if basis is None else named & (heads["basis"] == basis))
    if len(rows) > 1:
        bases = ", ".join(heads["basis"].iloc[rows])
        raise TstmetaError(f"{metric} stands on several bases ({bases}): give (metric, basis)")
    return int(rows[0]) if len(rows) else None


def _only(made: Matrices, rows: list[int]) -> Matrices:
    heads = made.heads.iloc[rows].reset_index(drop=True)
    return made._replace(metrics=made.metrics[rows], heads=heads)


def rank_sets(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    confidence: float = 0.95,
    tests: bool | None = None,
) -> pd.DataFrame:
    """The rank of each metric, the ranks it could have, and clusters of what tests cannot part.

    The sets of all metrics of a data set hold at once (Mogstad et al. 2024); sentinels are ranked
    with the metrics.  A cluster is closed where a paired permutation test parts every metric above
    from every metric below, at 1 - confidence after Holm's correction over all pairs.

    Args:
        tests: test every pair; None does so where it takes no more than a minute.

    Returns:
        Columns dataset, metric, basis, kind, value, rank, low, high (best and worst rank it could
        have), cluster (1 is best; <NA> without tests), note (of the tests).  Best first.

    Raises:
        TstmetaError: as :func:`bootstrap`.
    """
    parts = []
    for job in jobs(pairs, statistic, level, unit, draws, seed, confidence):
        made = drawn(job).resample
        pairwise = tested(job, made, tests)
        adjusted = None if pairwise.pairs is None else over_pairs(pairwise.pairs.p)
        head = job.made.heads[[*HEAD, "kind"]].assign(value=made.estimates)
        table = pd.concat([head, ranks(job, made, adjusted)], axis=1).assign(note=pairwise.note)
        parts.append(table.sort_values("value", ascending=False, kind="stable"))
    if not parts:
        raise TstmetaError("there are no pairs, so there is nothing to rank")
    table = pd.concat(parts, ignore_index=True)
    return table.rename(columns={"rank_low": "low", "rank_high": "high"})


def ranks(job: Job, made: Resample, adjusted: np.ndarray | None) -> pd.DataFrame:
    """rank, rank_low, rank_high and cluster of each metric that has a value.

    Args:
        adjusted: p of every pair ``[M, M]`` after correction; without it there are no clusters.
    """
    estimates = made.estimates
    known = np.isfinite(estimates)
    sets = stats.rank_sets(estimates, made.values, confidence=job.confidence, units=made.fewest)
    above = np.where(known, estimates, -np.inf)[:, None] > estimates[None, :] + 1e-12
    clusters = np.zeros(len(estimates), dtype=int)
    if adjusted is not None:
        clusters = significance_clusters(estimates, adjusted, alpha=1 - job.confidence)
    columns = {
        "rank": 1 + above.sum(axis=0),
        "rank_low": [low for low, _ in sets],
        "rank_high": [high for _, high in sets],
        "cluster": clusters,
    }
    table = pd.DataFrame(columns, dtype="Int64")
    table.loc[~known] = pd.NA
    return table.mask(table == 0)


class Tested(NamedTuple):
    """Tests of every pair, or None and why; with tests, what they can tell at all."""

    pairs: PairTests | None
    note: str


def tested(job: Job, made: Resample, wanted: bool | None) -> Tested:
    """Every pair of metrics, by swapping what the plan resamples.

    As many swaps as Holm's correction needs, or as draws where that would take long.

    Args:
        wanted: None leaves the tests out where they would take minutes.
    """
    if wanted is False:
        return Tested(None, "no tests were asked for")
    if job.setting.function.name == ACC_EQ:
        return Tested(None, "no tests: each metric has a tie threshold on a scale of its own")
    metrics, alpha = int(np.isfinite(made.estimates).sum()), 1 - job.confidence
    count = metrics * (metrics - 1) // 2
    if not count:
        return Tested(None, "no tests: there is no pair of metrics with values")
    each, needed = _effort(job), swaps_needed(count, alpha)
    swaps = max(job.plan.n, min(2 * needed, _MOST_SWAPS))
    if count * swaps * each > _BUDGET:
        swaps = job.plan.n
    if count * swaps * each > _BUDGET and not wanted:
        return Tested(
            None,
            f"no tests: {count:,} pairs at this level would take minutes; take fewer metrics or"
            " draws, or ask for tests outright",
        )
    pairs = _pairs_tested(job, swaps)
    least = count * float(np.nanmin(pairs.smallest, initial=1.0))
    note = f"{count:,} pairs tested with {pairs.draws:,} swaps{' (all there are)' * pairs.exact}"
    if least > alpha:
        note += f"; too few for Holm's correction, whose smallest p is {min(least, 1.0):.2g}"
    return Tested(pairs, note)


def _pairs_tested(job: Job, swaps: int) -> PairTests:
    units: dict[str, Literal["inputs", "systems", "both"]] = {
        "sources": "inputs",
        "systems": "systems",
        "both": "both",
    }
    return all_pairs(
        job.made.human,
        job.made.metrics,
        job.setting,
        units=units[job.plan.units],
        n=swaps,
        rng=job.rng(TESTS),
        clusters=None if job.plan.units == "systems" else job.plan.clusters,
    )


def _effort(job: Job) -> float:
    """Roughly how many numbers one pair costs in one swap."""
    setting, plan = job.setting, job.plan
    sources, systems = job.made.human.shape
    smooth = setting.function.name in ("pearson", "difference-pearson")
    if setting.function.whole is not None:
        return float(30 * sources * systems * systems)
    if setting.level == "system":
        return float(3 * sources * systems + 20 * systems * (1 if smooth else systems))
    rows_only = plan.units == "sources" and setting.level in ("source", "pooled")
    if rows_only and (setting.level == "source" or smooth):
        return float(sources)  # see moments_of_rows
    group = {"source": systems, "within-system": sources}.get(setting.level, sources * systems)
    return float(30 * sources * systems * (1 if smooth else group))
