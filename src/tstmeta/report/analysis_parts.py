"""The parts of an analysis: draws, tests and columns, each from one job; see :mod:`.analysis`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, cast

import numpy as np
import pandas as pd

from ..data import Dataset
from ..stats import Correlation, Setting, acc_eq, correlate, ties
from ..stats.intervals import Resample, of_resample, resample
from ..stats.multiple import significance_clusters, swaps_needed
from ..stats.partial_correlation import partial
from ..stats.permutation import PairTests, all_pairs
from ..stats.ranks import rank_sets
from ..stats.raters import ceiling
from ..stats.resampling import Plan
from ..stats.ties import TieCalibrated, tie_calibrated
from .matrices import Matrices, cube
from .tables import HUMAN, judged, truth

#: Accuracy that credits ties; its threshold is fitted on other data than it is judged on.
ACC_EQ = "acc_eq"
#: What is held fixed for each dimension: the first alone, then all that there are.
OTHERS = {
    "content": ("style", "fluency"),
    "style": ("content", "fluency"),
    "fluency": ("content", "style"),
}
#: Metrics drawn at once, so that a bar can move.
_CHUNK = 8
#: More swaps than this are not made; with many metrics Holm may then find nothing.
_MOST_SWAPS = 50_000
#: Numbers that tests may cost before they are left out, about a minute's worth.
_BUDGET = 2e10
#: Purposes of random numbers: a stream each, so that one does not change the draws of another.
DRAWS, TESTS, FOLDS = 0, 1, 2


class Job(NamedTuple):
    """What is being analysed; the metrics are turned so that more is better."""

    dataset: Dataset
    made: Matrices
    dimension: str
    setting: Setting
    plan: Plan
    confidence: float
    seed: int

    def rng(self, purpose: int) -> np.random.Generator:
        """The stream of a purpose."""
        return np.random.default_rng([self.seed, purpose])


class Human(NamedTuple):
    """People's own agreement: a rater held out against the mean of the others.

    Attributes:
        value: averaged over raters, NaN where there is none.
        low, high: the lowest and the highest rater.
        n: held-out ratings.
        raters: raters with a value.
        persons: whether a rater is one person; if not, value is of anonymous slots.
        note: why there is no value, or what the raters are if not persons.
    """

    value: float
    low: float
    high: float
    n: int
    raters: int
    persons: bool
    note: str


class Drawn(NamedTuple):
    """Metrics under the same draws, and what was found where a threshold had to be fitted."""

    resample: Resample
    thresholds: list[TieCalibrated]


def drawn(job: Job, step: Callable[[int], object]) -> Drawn:
    """All metrics under the same draws, some at a time; ``step`` hears of how many are done.

    The threshold of acc_eq is fitted to each metric and stays fixed over the draws.
    """
    made, setting = job.made, job.setting
    calibrated = setting.function.name == ACC_EQ
    parts, thresholds = [], []
    size = 1 if calibrated else _CHUNK
    for start in range(0, max(len(made.metrics), 1), size):
        metrics, own = made.metrics[start : start + size], setting
        if calibrated and len(metrics):
            level = cast("ties.Level", setting.level)
            tied = tie_calibrated(made.human, metrics[0], level, rng=job.rng(FOLDS))
            thresholds.append(tied)
            own = setting._replace(statistic=acc_eq(tied.threshold))
        parts.append(resample(made.human, metrics, own, job.plan, job.rng(DRAWS)))
        step(len(metrics))
    whole = _joined(parts)
    if thresholds:
        whole = whole._replace(estimates=np.array([tied.value for tied in thresholds]))
    return Drawn(whole._replace(setting=setting), thresholds)


def _joined(parts: Sequence[Resample]) -> Resample:
    """The metrics of several calls, with the same draws, as one."""

    def tuples(name: str) -> tuple[np.ndarray, ...]:
        kinds = zip(*(getattr(part, name) for part in parts), strict=True)
        return tuple(np.concatenate(each) for each in kinds)

    return parts[0]._replace(
        estimates=np.concatenate([part.estimates for part in parts]),
        values=np.concatenate([part[1] for part in parts]),
        jackknives=tuples("jackknives"),
        given=tuples("given"),
        single=all(part.single for part in parts),
        counts={name: np.concatenate([p.counts[name] for p in parts]) for name in parts[0].counts},
    )


class Tested(NamedTuple):
    """Tests of every pair, or None and why; with tests, what they can tell at all."""

    pairs: PairTests | None
    note: str


def tested(job: Job, made: Resample, wanted: bool | None) -> Tested:
    """Every pair of metrics, by swapping what the plan draws.

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
    units: dict[str, Literal["inputs", "systems", "both"]] = {
        "sources": "inputs",
        "systems": "systems",
        "both": "both",
    }
    pairs = all_pairs(
        job.made.human,
        job.made.metrics,
        job.setting,
        units=units[job.plan.units],
        n=swaps,
        rng=job.rng(TESTS),
        clusters=None if job.plan.units == "systems" else job.plan.clusters,
    )
    least = count * float(np.nanmin(pairs.smallest, initial=1.0))
    note = f"{count:,} pairs tested with {pairs.draws:,} swaps{' (all there are)' * pairs.exact}"
    if least > alpha:
        note += f"; too few for Holm's correction, whose smallest p is {min(least, 1.0):.2g}"
    return Tested(pairs, note)


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


# ------------------------------------------------------------------------------------ columns


def values(job: Job, made: Drawn) -> pd.DataFrame:
    """value, low, high, method, n and note of each metric."""
    rows = []
    limits = of_resample(made.resample, confidence=job.confidence)
    for place, limit in enumerate(limits):
        tied = made.thresholds[place] if made.thresholds else None
        found = _agreement(job, place, tied)
        notes = [found.reason, _threshold(tied)]
        if math.isfinite(found.value):
            notes.append(limit.reason)
        rows.append(
            {
                "value": found.value,
                "low": limit.low,
                "high": limit.high,
                "method": limit.method if math.isfinite(limit.low) else "",
                "n": found.n,
                "note": "; ".join(note for note in notes if note),
            }
        )
    return pd.DataFrame(rows, columns=["value", "low", "high", "method", "n", "note"])


def _agreement(job: Job, place: int, tied: TieCalibrated | None) -> Correlation:
    if tied is not None:
        return Correlation(tied.value, math.nan, tied.n, tied.reason)
    return correlate(job.made.human, job.made.metrics[place], job.setting)


def _threshold(tied: TieCalibrated | None) -> str:
    if tied is None or not math.isfinite(tied.value):
        return ""
    return f"scores tie up to {tied.threshold:.3g} (folds differ by {tied.spread:.2g})"


def ranks(job: Job, made: Resample, adjusted: np.ndarray | None) -> pd.DataFrame:
    """rank, the ranks it could have, and the cluster of each metric that has a value.

    Args:
        adjusted: p of every pair ``[M, M]`` after correction; without it there are no clusters.
    """
    estimates = made.estimates
    known = np.isfinite(estimates)
    sets = rank_sets(estimates, made.values, confidence=job.confidence, units=made.fewest)
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


def partials(job: Job) -> pd.DataFrame:
    """The correlation over items with one other dimension, and with all others, held fixed.

    Pearson's where the statistic is, else Spearman's; within tasks where the level is of tasks.
    """
    others = [name for name in OTHERS.get(job.dimension, ()) if name in judged(job.dataset)]
    statistic = "pearson" if job.setting.function.name == "pearson" else "spearman"
    given = np.array([job.made.layout.matrix(truth(job.dataset, one)[0]) for one in others])
    found: dict[str, np.ndarray | str] = {}
    for suffix, some in (("", others[:1]), ("_all", others if len(others) > 1 else [])):
        values = np.full(len(job.made.metrics), np.nan)
        if some:
            values = partial(
                job.made.human,
                job.made.metrics,
                given[: len(some)],
                statistic=statistic,
                tasks=job.setting.tasks if "task" in job.setting.level else None,
            )
        found[f"partial{suffix}"] = values
        found[f"given{suffix}"] = ", ".join(some)
    return pd.DataFrame(found, index=range(len(job.made.metrics)))


def people(job: Job) -> tuple[Human, np.ndarray]:
    """People's own agreement, and each metric in the place of a held-out rater ``[M]``.

    A metric that lacks scores of rated items has none: it would change the items for all.
    """
    nobody = np.full(len(job.made.metrics), np.nan)
    if job.made.against != HUMAN:
        return Human(math.nan, math.nan, math.nan, 0, 0, False, "labels, not ratings"), nobody
    rated = cube(job.dataset, job.dimension, job.setting.level)
    shared = np.isfinite(rated.ratings).sum(axis=-1) > 1
    fixed = job.setting.function.name == ACC_EQ
    whole = np.isfinite(job.made.metrics)[:, shared].all(axis=1) & shared.any() & (not fixed)
    found = ceiling(rated.ratings, job.setting, job.made.metrics[whole])
    nobody[whole] = found.metrics
    own = found.by_rater[np.isfinite(found.by_rater)]
    low, high = (float(own.min()), float(own.max())) if len(own) else (math.nan, math.nan)
    note = rated.reason if math.isfinite(found.value) else rated.reason or found.reason
    return Human(found.value, low, high, found.n, len(own), rated.persons, note), nobody
