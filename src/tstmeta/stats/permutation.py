"""Is one metric closer to people than another?  Paired permutation tests on swapped scores.

The observed difference is held against those after swapping the scores of two metrics for random
sources, systems or cells (Deutsch, Dror and Roth 2021, Section 4.2), standardised over the cells
that have a human value and both scores; at levels of groups, over the groups where both have a
value, in the data as after each swap.  Whole sources may share what single cells do not: swapped
cells reject far too often then (``benchmarks/rejection.py``).  The null hypothesis,
exchangeability, is more than equal correlations: two metrics whose standardised scores differ in
their tails are not exchangeable.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, finite
from .matrices import Setting, estimate, with_value
from .swapping import Swaps, standardise, swapped, swaps_of

Units = Literal["inputs", "systems", "both"]

#: Differences that are equal but for rounding count as equal.
_ROUNDING = 1e-10
#: Up to here a value may change when scores are standardised, which takes some digits.
_OTHER = 0.01
#: The axis along which groups lie.
_GROUPS = {"source": 0, "same-source": 0, "within-system": 1}
#: Scores of pairs of metrics taken at once: few, so that many swaps are.
_ROOM = 2**15


class PermutationTest(NamedTuple):
    """The difference of two metrics and how often swapping gives one as large.

    Attributes:
        difference: the first metric's value minus the second's, signs kept, over the cells that
            have a human value and both scores, and groups where both have a value.
        p: two-sided, the share of swaps whose difference is at least as large.
        n: units swapped: sources (or clusters of them), systems or cells where the metrics differ.
        smallest: the smallest p that could have come out.
        null: the null hypothesis in words.
        reason: why there is no p, or why it can only be 1.
        draws, exact: number of swaps, and whether these are all there are.
    """

    difference: float
    p: float
    n: int
    smallest: float
    null: str
    reason: str = ""
    draws: int = 0
    exact: bool = False


class PairTests(NamedTuple):
    """The same for all pairs of M metrics: ``[M, M]``, row minus column.

    The diagonal is no test.  Fields as in :class:`PermutationTest`; ``p`` is not corrected.
    """

    difference: Array
    p: Array
    n: Array
    smallest: Array
    null: str
    reasons: list[list[str]]
    draws: int
    exact: bool

    def test(self, first: int, second: int) -> PermutationTest:
        """One pair."""
        difference, p, n, smallest = (table[first, second].item() for table in self[:4])
        rest = self.null, self.reasons[first][second], self.draws, self.exact
        return PermutationTest(difference, p, n, smallest, *rest)


def permutation_test(
    human: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    setting: Setting,
    *,
    units: Units = "inputs",
    n: int = 1000,
    rng: np.random.Generator,
) -> PermutationTest:
    """Two metrics ``[S, K]`` against people ``[S, K]``; all else as in :func:`all_pairs`."""
    metrics = np.stack([finite(first), finite(second)])
    return all_pairs(human, metrics, setting, units=units, n=n, rng=rng).test(0, 1)


def all_pairs(
    human: ArrayLike,
    metrics: ArrayLike,
    setting: Setting,
    *,
    units: Units = "inputs",
    n: int = 1000,
    rng: np.random.Generator,
    clusters: ArrayLike | None = None,
    enumerate_up_to: int = 4096,
) -> PairTests:
    """Every metric against every other, with the same swaps for all pairs.

    Args:
        human, metrics: ``[S, K]`` and ``[M, S, K]``, NaN where missing.
        units: what is swapped whole: ``inputs`` (sources), ``systems`` or ``both`` (single cells).
        n: random swaps; p is then (b + 1) / (n + 1) with b swaps at least as large as observed
            (Phipson and Smyth 2010).
        clusters: one label a source ``[S]`` (a column ``[K]`` where systems are swapped): clusters
            are swapped whole (with ``both``: the cells of a cluster under one system).
        enumerate_up_to: where there are no more swaps than this, all are tried and p is b over
            their number.
    """
    x, y = finite(human), finite(metrics)
    size, own = len(y), estimate(x, y, setting)
    given = np.isfinite(y) & np.isfinite(x)
    swaps = swaps_of(given.sum(axis=0) >= 2, units, clusters, n, enumerate_up_to, rng)
    same = np.eye(size, dtype=bool)
    tests = PairTests(
        difference=np.where(same, np.where(np.isfinite(own), 0.0, np.nan), np.nan),
        p=np.full(same.shape, np.nan),
        n=np.zeros(same.shape, dtype=int),
        smallest=np.full(same.shape, np.nan),
        null=_null(units, clusters is not None),
        reasons=[["no cell has a human value and both scores"] * size for _ in range(size)],
        draws=len(swaps.flips),
        exact=swaps.exact,
    )
    for metric in range(size):
        tests.reasons[metric][metric] = "the same metric"
    alike: dict[bytes, list[tuple[int, int]]] = {}  # pairs that count the same cells go together
    for i, j in combinations(range(size), 2):
        if (both := given[i] & given[j]).any():
            alike.setdefault(np.packbits(both).tobytes(), []).append((i, j))
    step = max(1, _ROOM // max(1, x.size))
    for pairs in alike.values():
        for start in range(0, len(pairs), step):
            _fill(tests, x, y, pairs[start : start + step], setting, swaps)
    return tests


def _null(units: Units, clustered: bool) -> str:
    sources = "cluster of sources" if clustered else "source"
    cell = "cluster of sources under a system" if clustered else "cell"
    unit = {"inputs": sources, "systems": "system", "both": cell}[units]
    return (
        "exchangeability: the two metrics' standardised scores have the same joint distribution"
        f" when they are swapped in any {unit}"
    )


def _fill(
    tests: PairTests, x: Array, y: Array, pairs: Sequence, setting: Setting, swaps: Swaps
) -> None:
    """Test pairs of metrics that count the same cells, there and back."""
    both = y[np.array(pairs)]  # [P, 2, S, K]
    given = np.isfinite(x) & np.isfinite(both[0]).all(axis=0)
    both, x = np.where(given, both, np.nan), np.where(given, x, np.nan)
    scores, flat = standardise(both)  # flat [P, 2]
    of_pairs = np.arange(2 * len(pairs)).reshape(-1, 2)

    def values_of(sides: Array) -> tuple[Array, Array]:
        """Of each metric ``[P, 2]``, and differences ``[P]``."""
        result = estimate(x, sides.reshape(-1, *x.shape), setting, of_pairs)
        return result[: of_pairs.size].reshape(-1, 2), result[of_pairs.size :]

    (raw, gaps), (values, observed) = values_of(both), values_of(scores)
    other = ~(np.abs(raw - values) <= _OTHER).all(axis=1) | (not setting.function.scale_free)
    usable = ~flat.any(axis=1) & ~other
    after = np.full((len(pairs), len(swaps.flips)), np.nan)
    if usable.any():
        after[usable] = swapped(x, scores[usable], setting, swaps)
    # swaps after which a metric has no value count as large
    large = (~(np.abs(after) < np.abs(observed)[:, None] - _ROUNDING)).sum(axis=1)
    differ = (scores[:, 0] != scores[:, 1]) & given  # [P, S, K]
    if swaps.axis is not None and swaps.axis == _GROUPS.get(setting.level):
        has = with_value(x, scores.reshape(-1, *x.shape), setting)  # a swap leaves it as it is
        differ &= np.expand_dims(has.reshape(len(pairs), 2, -1).all(axis=1), 2 - swaps.axis)
    for place, (i, j) in enumerate(pairs):
        units = len(np.unique(swaps.unit[differ[place]]))
        p = smallest = np.nan
        reason = _reason(flat[place], raw[place], gaps[place], other[place])
        if not reason:
            draws, random = after.shape[1], not swaps.exact
            p = (large[place] + random) / (draws + random)
            # of all swaps two (none and all) are as large as the observed one
            smallest = max(min(1.0, 2.0 ** (1 - units)), random / (draws + 1))
            if units == 0:
                reason = "the standardised scores are the same in every cell: p can only be 1"
            elif units == 1:
                reason = "the metrics differ in a single unit: p can only be 1"
        tests.difference[i, j], tests.difference[j, i] = gaps[place], -gaps[place]
        for a, b in ((i, j), (j, i)):
            tests.p[a, b], tests.n[a, b], tests.smallest[a, b] = p, units, smallest
            tests.reasons[a][b] = reason


def _reason(flat: Array, values: Array, gap: float, other: bool) -> str:
    if flat.any():
        return f"all scores of {'both metrics' if flat.all() else 'one metric'} are equal"
    none = ~np.isfinite(values)
    if none.any():
        return f"no value in this setting: {'both metrics' if none.all() else 'one metric'}"
    if not np.isfinite(gap):
        return "there is no group in which both metrics have a value"
    if other:
        return (
            "standardised scores have another value: the statistic has a threshold on the scores'"
            " own scale, or many scores differ by too little to survive it"
        )
    return ""
