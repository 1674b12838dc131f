"""Is one metric closer to people than another?  Paired permutation tests on swapped scores.

If two metrics were equally good in every way, it would not matter which of the two gave a score.
So their scores are swapped, for random sources, systems or cells, and the difference that was found
is held against the differences after swapping (Deutsch, Dror and Roth 2021, Section 4.2:
PERM-INPUTS, PERM-SYSTEMS, PERM-BOTH).

Scores of two metrics can only be swapped on one scale, so both are standardised first: to mean 0
and variance 1 over all cells that have a human value and both scores.  Those are the cells that
count in the setting, and one scale for the whole matrix keeps the differences between sources and
between systems that the statistic is about.  Where either metric is missing, both are.

The null hypothesis is exchangeability, which is more than equal correlations: two metrics of equal
correlation whose standardised scores differ in their tails are not exchangeable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array
from .matrices import Setting, estimate
from .swapping import Swaps, standardise, swapped, swaps_of

Units = Literal["inputs", "systems", "both"]
Alternative = Literal["two-sided", "greater", "less"]

#: Differences that are equal but for rounding count as equal.
_ROUNDING = 1e-10
#: Up to here a value may change when scores are standardised, which takes some digits.
_OTHER = 0.01
#: Scores of pairs of metrics taken at once: few, so that many swaps are.
_ROOM = 2**15


@dataclass(frozen=True)
class Test:
    """The difference of two metrics and how often swapping gives one as large.

    Attributes:
        difference: value of the first metric minus that of the second, signs kept, over the cells
            that have a human value and both scores.
        p: share of swaps whose difference is at least as large; NaN where there is no test.
        n: units swapped: sources (or clusters of them), systems or cells where the metrics differ.
        smallest: the smallest p that could have come out.
        null: the null hypothesis in words.
        reason: why there is no p, or why it can only be 1; empty otherwise.
        draws: number of swaps that p rests on.
        exact: whether these are all swaps there are.
        undefined: swaps after which a metric has no value; they count as at least as large.
    """

    __test__: ClassVar[bool] = False  # not for pytest to collect

    difference: float
    p: float
    n: int
    smallest: float
    null: str
    reason: str = ""
    draws: int = 0
    exact: bool = False
    undefined: int = 0


class PairTests(NamedTuple):
    """The same for all pairs of M metrics: ``[M, M]``, row minus column.

    The diagonal is no test: difference 0 (NaN where the metric has no value), p NaN.  Fields as in
    :class:`Test`.  For ``p`` of both halves see :func:`tstmeta.stats.multiple.over_pairs`.
    """

    difference: Array
    p: Array
    n: Array
    smallest: Array
    null: str
    reasons: list[list[str]]
    draws: int
    exact: bool
    undefined: Array

    def test(self, first: int, second: int) -> Test:
        """One pair."""
        at = first, second
        return Test(
            float(self.difference[at]),
            float(self.p[at]),
            int(self.n[at]),
            float(self.smallest[at]),
            self.null,
            self.reasons[first][second],
            self.draws,
            self.exact,
            int(self.undefined[at]),
        )


def permutation_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    setting: Setting,
    *,
    units: Units = "inputs",
    n: int = 1000,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    enumerate_up_to: int = 4096,
) -> Test:
    """Two metrics ``[S, K]`` against people ``[S, K]``; all else as in :func:`all_pairs`."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if a.shape != b.shape:
        raise ValueError(f"two matrices of one shape are needed, got {a.shape} and {b.shape}")
    tests = all_pairs(
        human,
        np.stack([a, b]),
        setting,
        units=units,
        n=n,
        rng=rng,
        clusters=clusters,
        alternative=alternative,
        enumerate_up_to=enumerate_up_to,
    )
    return tests.test(0, 1)


def all_pairs(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    *,
    units: Units = "inputs",
    n: int = 1000,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    alternative: Alternative = "two-sided",
    enumerate_up_to: int = 4096,
) -> PairTests:
    """Every metric against every other, with the same swaps for all pairs.

    Args:
        human: ``[S, K]``, NaN where missing.
        metrics: ``[M, S, K]``, NaN where missing; a cell counts for a pair where people and both
            metrics have a value.
        units: what is swapped whole: ``inputs`` (sources; the test speaks of sources like these),
            ``systems`` (of systems like these) or ``both`` (single cells).
        n: random swaps; p is then (b + 1) / (n + 1) with b swaps at least as large as found, the
            swap that was found counting as one (Phipson and Smyth 2010).
        clusters: one label a source ``[S]``: clusters are swapped whole (with ``both``: the cells
            of a cluster under one system).
        alternative: ``greater`` asks whether the row's metric is above the column's.
        enumerate_up_to: where there are no more swaps than this, all are made and p is exact: b
            over their number, the swap of nothing among them.

    Raises:
        ValueError: shapes that do not fit, an unknown unit, alternative, level or statistic,
            clusters of sources where systems are swapped, n below 1.
    """
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    if x.ndim != 2 or y.ndim != 3 or y.shape[1:] != x.shape:
        raise ValueError(
            "people [sources, systems] and metrics [metrics, sources, systems] are needed,"
            f" got {x.shape} and {y.shape}"
        )
    if x.size == 0:
        raise ValueError(f"there is no cell in a matrix of shape {x.shape}")
    if alternative not in ("two-sided", "greater", "less"):
        raise ValueError(f"unknown alternative {alternative!r}; known: two-sided, greater, less")
    given = np.isfinite(y) & np.isfinite(x)
    swaps = swaps_of(given.sum(axis=0) >= 2, units, clusters, n, enumerate_up_to, rng)
    own = estimate(x, y, setting)
    tests = _empty(len(y), np.where(np.isfinite(own), 0.0, np.nan), units, clusters, swaps)
    for chosen in _alike(given, max(1, _ROOM // max(1, x.size))):
        found = _pairs(x, y, np.array(chosen), setting, swaps, alternative)
        for (i, j), (there, back) in zip(chosen, found, strict=True):
            for at, one in (((i, j), there), ((j, i), back)):
                tests.difference[at], tests.p[at] = one.difference, one.p
                tests.n[at], tests.smallest[at] = one.n, one.smallest
                tests.undefined[at] = one.undefined
                tests.reasons[at[0]][at[1]] = one.reason
    return tests


def _empty(size: int, own: Array, units: Units, clusters, swaps: Swaps) -> PairTests:
    reasons = [["the same metric" if i == j else "" for j in range(size)] for i in range(size)]
    shape = (size, size)
    return PairTests(
        difference=np.where(np.eye(size, dtype=bool), own, np.nan),
        p=np.full(shape, np.nan),
        n=np.zeros(shape, dtype=int),
        smallest=np.full(shape, np.nan),
        null=null_hypothesis(units, clusters is not None),
        reasons=reasons,
        draws=len(swaps.flips),
        exact=swaps.exact,
        undefined=np.zeros(shape, dtype=int),
    )


def null_hypothesis(units: Units, clustered: bool = False) -> str:
    """What is rejected when p is small."""
    sources = "cluster of sources" if clustered else "source"
    of = {"inputs": sources, "systems": "system", "both": "cell"}[units]
    if units == "both" and clustered:
        of = "cluster of sources under a system"
    return (
        "exchangeability: the two metrics' standardised scores have the same joint distribution"
        f" when they are swapped in any {of}"
    )


def _alike(given: Array, most: int) -> Iterator[list[tuple[int, int]]]:
    """Pairs of metrics that count the same cells, at most so many at once."""
    groups: dict[bytes, list[tuple[int, int]]] = {}
    for i, j in combinations(range(len(given)), 2):
        groups.setdefault(np.packbits(given[i] & given[j]).tobytes(), []).append((i, j))
    for pairs in groups.values():
        for start in range(0, len(pairs), most):
            yield pairs[start : start + most]


def _pairs(
    x: Array, y: Array, chosen: Array, setting: Setting, swaps: Swaps, alternative: Alternative
) -> list[tuple[Test, Test]]:
    """Pairs ``[P, 2]`` of metrics that count the same cells, each tested there and back."""
    both = y[chosen]  # [P, 2, S, K]
    given = np.isfinite(x) & np.isfinite(both[0]).all(axis=0)
    both, x = np.where(given, both, np.nan), np.where(given, x, np.nan)
    scores, flat = standardise(both)  # flat [P, 2]
    raw = estimate(x, both.reshape(-1, *x.shape), setting).reshape(-1, 2)
    values = estimate(x, scores.reshape(-1, *x.shape), setting).reshape(-1, 2)
    other = ~(np.abs(raw - values) <= _OTHER).all(axis=1) | (not setting.function.scale_free)
    usable = ~flat.any(axis=1) & ~other
    differences = np.full((len(chosen), len(swaps.flips)), np.nan)
    if usable.any():
        differences[usable] = swapped(x, scores[usable], setting, swaps)
    observed = values[:, 0] - values[:, 1]
    differ = (scores[:, 0] != scores[:, 1]) & given  # [P, S, K]
    found = []
    for pair in range(len(chosen)):
        units = len(np.unique(swaps.unit[differ[pair]]))
        smallest = _smallest(units, swaps, alternative)
        there_and_back = []
        for sign, order in ((1.0, [0, 1]), (-1.0, [1, 0])):
            values_of, flat_of = raw[pair, order], flat[pair, order]
            why = _reason(given.any(), flat_of, values_of, other[pair])
            difference = float(values_of[0] - values_of[1])
            if why:
                test = Test(difference, np.nan, units, np.nan, "", why)
            else:
                after = sign * differences[pair]
                p = _share(after, sign * float(observed[pair]), swaps.exact, alternative)
                why = "" if smallest < 1 else _only_one(units)
                undefined = int(np.isnan(after).sum())
                test = Test(difference, p, units, smallest, "", why, undefined=undefined)
            there_and_back.append(test)
        found.append((there_and_back[0], there_and_back[1]))
    return found


def _share(after: Array, observed: float, exact: bool, alternative: Alternative) -> float:
    """Share of swaps with a difference at least as large as observed; undefined ones count."""
    if alternative == "two-sided":
        after, observed = np.abs(after), abs(observed)
    elif alternative == "less":
        after, observed = -after, -observed
    large = int((~(after < observed - _ROUNDING)).sum())
    return large / len(after) if exact else (large + 1) / (len(after) + 1)


def _smallest(units: int, swaps: Swaps, alternative: Alternative) -> float:
    """Two of all swaps (none and all) are as large as what was found on two sides, one on one."""
    least = min(1.0, 2.0 ** ((alternative == "two-sided") - units))
    return least if swaps.exact else max(least, 1.0 / (len(swaps.flips) + 1))


def _reason(any_cell: bool, flat: Array, values: Array, other: bool) -> str:
    """Why there is no test, the first metric first."""
    if not any_cell:
        return "no cell has a human value and both scores"
    which = {
        (True, False): "the first metric",
        (False, True): "the second metric",
        (True, True): "both metrics",
    }
    if flat.any():
        return f"all scores are equal: {which[bool(flat[0]), bool(flat[1])]}"
    none = ~np.isfinite(values)
    if none.any():
        return f"no value in this setting: {which[bool(none[0]), bool(none[1])]}"
    if other:
        return (
            "standardised scores have another value: the statistic has a threshold on the scores'"
            " own scale, or many scores differ by too little to survive it"
        )
    return ""


def _only_one(units: int) -> str:
    if units == 0:
        return "the standardised scores are the same in every cell: p can only be 1"
    return "the metrics differ in a single unit: p can only be 1"
