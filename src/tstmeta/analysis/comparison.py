"""One metric against another: differences, paired permutation tests, ranks and clusters."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from .. import stats
from ..schema import TstmetaError
from ..stats import Resample, difference, significance_clusters
from ..stats.intervals import pair_of
from .agreement import DRAWS, HEAD, TESTS, Analysis, analyses, few_systems, joined, resample
from .matrices import Matrices

_NO_DIFFERENCE = "no difference for sources and systems like these (bootstrap of both)"


def compare(
    pairs: pd.DataFrame,
    a: str,
    b: str,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """One metric's agreement minus another's, in the same resamples, with a test.

    Both are over the rewrites that both scored and, at levels of groups, over the groups where both
    have a value, in the data as in each resample and swap.

    The null hypothesis of the paired permutation test: the scores of the two metrics (standardised)
    are exchangeable within a unit, whole units at a time (:mod:`tstmeta.stats.permutation`).  Of
    sources and systems at once p is that of the resamples (:func:`tstmeta.stats.simultaneous_p`).

    Args:
        a, b: names of metrics, each on one basis.
        pairs, statistic, level, unit, draws, seed: see :func:`bootstrap`.

    Returns:
        A row a data set that has both: dataset, a, b, difference (a minus b), low, high (95 %
        bootstrap interval), p (never 0; at least 1 / (draws + 1), or 2 of all swaps where these are
        few), n (units that were swapped; the fewer of sources and systems), null (hypothesis), note
        (more rewrites or groups of either metric; reasons for doubt).

    Raises:
        TstmetaError: as :func:`bootstrap`, or no data set has both metrics.
    """
    rows = []
    for analysis in analyses(pairs, statistic, level, unit, draws, seed):
        places = [place for name in (a, b) for place in _places(analysis.matrices.heads, name)]
        if len(places) < 2:
            continue
        analysis, note = _shared(analysis.of(places))
        drawn = resample(analysis)
        gap = difference(drawn, 0, 1)
        p, n, null, reason = _tested(analysis, drawn)
        laid = analysis.matrices
        systems = np.isfinite(laid.human + laid.metrics[0]).any(axis=0).sum()
        note = joined(note, few_systems(level, int(systems)), gap.reason, reason)
        between = float(drawn.pairs.estimates[0])
        name = laid.heads["dataset"].iloc[0]
        rows.append((name, a, b, between, gap.low, gap.high, p, n, null, note))
    if not rows:
        known = ", ".join(pairs["metric"].drop_duplicates())
        raise TstmetaError(f"no data set has both {a} and {b}; known: {known}")
    columns = ["dataset", "a", "b", "difference", "low", "high", "p", "n", "null", "note"]
    return pd.DataFrame(rows, columns=columns)


def _shared(analysis: Analysis) -> tuple[Analysis, str]:
    """Two metrics over the rewrites that both scored, and a note if one scored more."""
    human, metrics = analysis.matrices.human, analysis.matrices.metrics
    scored = np.isfinite(human + metrics)
    both, alone, note = scored.all(axis=0), scored.sum(axis=(1, 2)), ""
    if max(alone) > both.sum():
        note = f"over the {both.sum():,} rewrites that both scored"
        note += f" (alone {min(alone):,} and {max(alone):,})"
    laid = analysis.matrices._replace(metrics=np.where(both, metrics, np.nan))
    return analysis._replace(matrices=laid), note


def _tested(analysis: Analysis, drawn: Resample) -> tuple[float, int, str, str]:
    """p of the two metrics, units, null hypothesis, and why there is no p."""
    plan, by_system = analysis.plan, analysis.plan.units == "systems"
    if plan.units == "both":  # swapped cells would lose the noise that a source or system shares
        return float(p_of_pairs(drawn)[0, 1]), drawn.fewest, _NO_DIFFERENCE, ""
    first, second = analysis.matrices.metrics
    test = stats.permutation_test(
        analysis.matrices.human,
        first,
        second,
        analysis.setting,
        units="systems" if by_system else "inputs",
        n=plan.n,
        rng=analysis.rng(TESTS),
        clusters=plan.columns if by_system else plan.clusters,
    )
    return test.p, test.n, test.null, test.reason


def _places(heads: pd.DataFrame, metric: str) -> list[int]:
    """The row of a metric; none where there is none."""
    rows = np.flatnonzero(heads["metric"] == metric)
    if len(rows) > 1:
        bases = ", ".join(heads["basis"].iloc[rows])
        raise TstmetaError(f"{metric} stands on several bases ({bases}): leave rows of one basis")
    return rows.tolist()


def rank_sets(
    pairs: pd.DataFrame,
    statistic: str = "pearson",
    level: str = "pooled",
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """The rank of each metric, the ranks it could have, and clusters that differ significantly.

    The sets of all metrics of a data set hold at once (Mogstad et al. 2024); sentinels are ranked
    with the metrics.  A cluster is closed where every metric above differs from every metric below,
    in the same resamples and at .05 for all pairs at once (:func:`tstmeta.stats.simultaneous_p`).

    Args:
        pairs, statistic, level, unit, draws, seed: see :func:`bootstrap`.

    Returns:
        Columns dataset, metric, basis, kind, value, rank, low, high (best and worst rank it could
        have), cluster (1 is best).  Best first.

    Raises:
        TstmetaError: as :func:`bootstrap`.
    """
    parts = []
    for analysis in analyses(pairs, statistic, level, unit, draws, seed):
        drawn = resample(analysis)
        head = analysis.matrices.heads[[*HEAD, "kind"]].assign(value=drawn.estimates)
        table = pd.concat([head, ranks(drawn, p_of_pairs(drawn))], axis=1)
        parts.append(table.sort_values("value", ascending=False, kind="stable"))
    if not parts:
        raise TstmetaError("there are no pairs, so there is nothing to rank")
    table = pd.concat(parts, ignore_index=True)
    return table.rename(columns={"rank_low": "low", "rank_high": "high"})


def p_of_pairs(drawn: Resample) -> np.ndarray:
    """p of the difference of every two metrics ``[M, M]``, corrected for all pairs."""
    gaps = drawn.pairs.estimates, drawn.pairs.resampled
    return stats.simultaneous_p(drawn.estimates, drawn.resampled, units=drawn.fewest, gaps=gaps)


def ranks(drawn: Resample, p: np.ndarray) -> pd.DataFrame:
    """rank, rank_low, rank_high and cluster of each metric with a value; p as of p_of_pairs."""
    estimates = drawn.estimates
    above = np.nan_to_num(estimates, nan=-np.inf)[:, None] > estimates[None, :] + 1e-12
    table = pd.DataFrame(stats.rank_sets(estimates, p), columns=["rank_low", "rank_high"])
    table.insert(0, "rank", 1 + above.sum(axis=0))
    table["cluster"] = significance_clusters(estimates, p)
    table = table.astype("Int64")
    return table.mask(~np.repeat(np.isfinite(estimates)[:, None], 4, axis=1))


def differences(
    laid: Matrices, drawn: Resample, p: np.ndarray, places: Sequence[int]
) -> pd.DataFrame:
    """The difference of every two of these rows (``Evaluation.differences``)."""
    rows, names = [], laid.heads[["metric", "basis"]].to_numpy().tolist()
    cells = np.isfinite(laid.human + laid.metrics)
    gaps = drawn.pairs.estimates
    for i, j in combinations(places, 2):
        place = pair_of(drawn, i, j)[1]
        limits, two = difference(drawn, i, j), [i, j]
        units = min((int(n[place]) for n in drawn.pairs.counts.values()), default=0)
        alone = gaps[[place]], drawn.pairs.resampled[[place]]
        sides = drawn.estimates[two], drawn.resampled[two]
        p_alone = stats.simultaneous_p(*sides, units=units, gaps=alone)[0, 1]
        both = (p_alone, p[i, j]) if np.isfinite(gaps[place]) else (np.nan, np.nan)
        n = f"over {cells[i].sum():,} and {cells[j].sum():,} rewrites"
        n *= bool((cells[i] != cells[j]).any())
        note = joined(n, limits.reason)
        rows.append((*names[i], *names[j], gaps[place], *limits[:2], *both, note))
    columns = ["a", "a_basis", "b", "b_basis", "difference", "low", "high", "p", "p_adjusted"]
    return pd.DataFrame(rows, columns=[*columns, "note"])


def detectable(analysis: Analysis, first: int, other: int) -> float:
    """How much worse than ``first`` the other row would have to be to be found worse, from at most
    200 resamples (:func:`tstmeta.stats.detectable_difference`).
    """
    plan, metrics = analysis.plan._replace(n=min(analysis.plan.n, 200)), analysis.matrices.metrics
    sides = analysis.matrices.human, metrics[first], metrics[[other]]
    rng = analysis.rng(DRAWS)
    return float(stats.detectable_difference(*sides, analysis.setting, plan, rng)[0])
