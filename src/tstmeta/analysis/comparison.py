"""One metric against another: differences, paired permutation tests, ranks and clusters."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pandas as pd

from .. import stats
from ..schema import TstmetaError
from ..stats import PairTests, Resample, difference, over_pairs, significance_clusters
from ..stats.multiple import swaps_needed
from .agreement import ACC_EQ, HEAD, TESTS, Analysis, analyses, resample

#: The level of all tests, after Holm's correction.
ALPHA = 1 - 0.95
#: With many metrics Holm would need more swaps than this, and may find nothing.
_MOST_SWAPS = 50_000
#: Numbers that tests may cost before they are left out, about a minute's worth.
_BUDGET = 2e10
_SWAPPED: dict[str, Literal["inputs", "systems", "both"]]
_SWAPPED = {"sources": "inputs", "systems": "systems", "both": "both"}


def compare(
    pairs: pd.DataFrame,
    a: str | tuple[str, str],
    b: str | tuple[str, str],
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """One metric's agreement minus another's, in the same resamples, with a permutation test.

    The null hypothesis of the paired permutation test: the scores of the two metrics (standardised)
    are exchangeable within a unit, whole units at a time (:mod:`tstmeta.stats.permutation`).

    Args:
        a, b: names of metrics, or (metric, basis) where a metric stands on several bases.
        pairs, statistic, level, unit, draws, seed: see :func:`bootstrap`.

    Returns:
        A row a data set that has both: dataset, a, b, difference (a minus b), low, high (95 %
        bootstrap interval), p (at least 1 / (draws + 1)), n (units that were swapped: sources),
        null (hypothesis).

    Raises:
        TstmetaError: as :func:`bootstrap`, or no data set has both metrics.
    """
    rows = []
    labels = [name if isinstance(name, str) else " ".join(name) for name in (a, b)]
    for analysis in analyses(pairs, statistic, level, unit, draws, seed):
        places = [place for name in (a, b) for place in _places(analysis.matrices.heads, name)]
        if len(places) < 2:
            continue
        analysis = analysis.of(places)
        drawn = resample(analysis)
        gap, test = difference(drawn, 0, 1), _pair_tests(analysis, draws).test(0, 1)
        between = float(drawn.estimates[0] - drawn.estimates[1])
        name = analysis.matrices.heads["dataset"].iloc[0]
        rows.append((name, *labels, between, gap.low, gap.high, test.p, test.n, test.null))
    if not rows:
        known = ", ".join(pairs["metric"].drop_duplicates())
        raise TstmetaError(f"no data set has both {' and '.join(labels)}; known: {known}")
    columns = ["dataset", "a", "b", "difference", "low", "high", "p", "n", "null"]
    return pd.DataFrame(rows, columns=columns)


def _places(heads: pd.DataFrame, name: str | tuple[str, str]) -> list[int]:
    """The row of a metric; none where there is none."""
    metric, basis = (name, None) if isinstance(name, str) else name
    named = heads["metric"] == metric
    rows = np.flatnonzero(named if basis is None else named & (heads["basis"] == basis))
    if len(rows) > 1:
        bases = ", ".join(heads["basis"].iloc[rows])
        raise TstmetaError(f"{metric} stands on several bases ({bases}): give (metric, basis)")
    return rows.tolist()


def rank_sets(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    tests: bool | None = None,
) -> pd.DataFrame:
    """The rank of each metric, the ranks it could have, and clusters of what tests cannot part.

    The sets of all metrics of a data set hold at once (Mogstad et al. 2024); sentinels are ranked
    with the metrics.  A cluster is closed where a paired permutation test parts every metric above
    from every metric below, at .05 after Holm's correction over all pairs.

    Args:
        pairs, statistic, level, unit, draws, seed: see :func:`bootstrap`.
        tests: test every pair; None does so where it takes no more than a minute.

    Returns:
        Columns dataset, metric, basis, kind, value, rank, low, high (best and worst rank it could
        have), cluster (1 is best; <NA> without tests), note (of the tests).  Best first.

    Raises:
        TstmetaError: as :func:`bootstrap`.
    """
    parts = []
    for analysis in analyses(pairs, statistic, level, unit, draws, seed):
        drawn = resample(analysis)
        pairwise, note = tested(analysis, drawn, tests)
        head = analysis.matrices.heads[[*HEAD, "kind"]].assign(value=drawn.estimates)
        table = pd.concat([head, ranks(drawn, pairwise)], axis=1).assign(note=note)
        parts.append(table.sort_values("value", ascending=False, kind="stable"))
    if not parts:
        raise TstmetaError("there are no pairs, so there is nothing to rank")
    table = pd.concat(parts, ignore_index=True)
    return table.rename(columns={"rank_low": "low", "rank_high": "high"})


def ranks(drawn: Resample, tests: PairTests | None) -> pd.DataFrame:
    """rank, rank_low, rank_high and cluster (<NA> without tests) of each metric with a value."""
    estimates = drawn.estimates
    known = np.isfinite(estimates)
    sets = stats.rank_sets(estimates, drawn.values, units=drawn.fewest)
    above = np.where(known, estimates, -np.inf)[:, None] > estimates[None, :] + 1e-12
    table = pd.DataFrame(sets, columns=["rank_low", "rank_high"])
    table.insert(0, "rank", 1 + above.sum(axis=0))
    table["cluster"] = 0
    if tests is not None:
        table["cluster"] = significance_clusters(estimates, over_pairs(tests.p), alpha=ALPHA)
    table = table.astype("Int64")
    return table.mask((table == 0).to_numpy(bool) | ~known[:, None])


def tested(
    analysis: Analysis, drawn: Resample, wanted: bool | None
) -> tuple[PairTests | None, str]:
    """Tests of every pair of metrics, with a note; or None, and why nothing is tested.

    As many swaps as Holm's correction needs, or as draws where that would take long.
    """
    if wanted is False:
        return None, "no tests were asked for"
    if analysis.setting.function.name == ACC_EQ:
        return None, "no tests: each metric has a tie threshold on a scale of its own"
    count = math.comb(int(np.isfinite(drawn.estimates).sum()), 2)
    if not count:
        return None, "no tests: there is no pair of metrics with values"
    cost = count * _effort(analysis)
    swaps = max(analysis.plan.n, min(2 * swaps_needed(count, ALPHA), _MOST_SWAPS))
    if cost * swaps > _BUDGET:
        swaps = analysis.plan.n
    if cost * swaps > _BUDGET and not wanted:
        remedy = "take fewer metrics or draws, or ask for tests outright"
        return None, f"no tests: {count:,} pairs at this level would take minutes; {remedy}"
    pairs = _pair_tests(analysis, swaps)
    least = count * float(np.nanmin(pairs.smallest, initial=1.0))
    note = f"{count:,} pairs tested with {pairs.draws:,} swaps{' (all there are)' * pairs.exact}"
    if least > ALPHA:
        note += f"; too few for Holm's correction, whose smallest p is {min(least, 1.0):.2g}"
    return pairs, note


def _pair_tests(analysis: Analysis, swaps: int) -> PairTests:
    plan = analysis.plan
    return stats.all_pairs(
        analysis.matrices.human,
        analysis.matrices.metrics,
        analysis.setting,
        units=_SWAPPED[plan.units],
        n=swaps,
        rng=analysis.rng(TESTS),
        clusters=None if plan.units == "systems" else plan.clusters,
    )


def _effort(analysis: Analysis) -> float:
    """Roughly how many numbers one pair costs in one swap."""
    setting, plan = analysis.setting, analysis.plan
    sources, systems = analysis.matrices.human.shape
    smooth = setting.function.name == "pearson"
    if setting.function.whole is not None:
        return 30.0 * sources * systems * systems
    if setting.level == "system":
        return 3.0 * sources * systems + 20.0 * systems * (1 if smooth else systems)
    of_rows = ("source", "pooled") if smooth else ("source",)
    if plan.units == "sources" and setting.level in of_rows:
        return float(sources)  # sums of whole rows are swapped
    group = {"source": systems, "within-system": sources}.get(setting.level, sources * systems)
    return 30.0 * sources * systems * (1 if smooth else group)
