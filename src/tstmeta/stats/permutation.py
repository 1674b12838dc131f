"""Is one metric closer to people than another?  Paired permutation tests on swapped scores.

The observed difference is held against those after swapping the scores of two metrics for random
sources, systems or cells (Deutsch, Dror and Roth 2021, Section 4.2), standardised over the cells
that have a human value and both scores; at levels of groups, over the groups where both have a
value, in the data as after each swap.  Whole sources may share what single cells do not: swapped
cells reject far too often then (``benchmarks/rejection.py``).  The null hypothesis,
exchangeability, is more than equal correlations: two metrics whose standardised scores differ in
their tails are not exchangeable.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array, finite
from .matrices import Setting, estimate, with_value
from .swapping import standardise, swapped, swaps_of

Units = Literal["inputs", "systems", "both"]

#: Differences that are equal but for rounding count as equal.
_ROUNDING = 1e-10
#: Up to here a value may change when scores are standardised, which takes some digits.
_OTHER = 0.01
#: The axis along which groups lie.
_GROUPS = {"source": 0, "same-source": 0, "within-system": 1}


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
    enumerate_up_to: int = 4096,
) -> PermutationTest:
    """Two metrics ``[S, K]`` against people ``[S, K]``, NaN where missing.

    Args:
        units: what is swapped whole: ``inputs`` (sources), ``systems`` or ``both`` (single cells).
        n: random swaps; p is then (b + 1) / (n + 1) with b swaps at least as large as observed
            (Phipson and Smyth 2010).
        clusters: one label a source ``[S]`` (a column ``[K]`` where systems are swapped): clusters
            are swapped whole (with ``both``: the cells of a cluster under one system).
        enumerate_up_to: where there are no more swaps than this, all are tried and p is b over
            their number.
    """
    x, both = finite(human), np.stack([finite(first), finite(second)])
    if x.shape != both.shape[1:]:
        raise ValueError(
            "people and metrics [sources, systems] of one shape are needed,"
            f" got {x.shape} and {both.shape[1:]}"
        )
    given = np.isfinite(x) & np.isfinite(both).all(axis=0)
    swaps = swaps_of(given, units, clusters, n, enumerate_up_to, rng)
    null, draws = _null(units, clusters is not None), len(swaps.flips)
    if not given.any():
        reason, nan = "no cell has a human value and both scores", np.nan
        return PermutationTest(nan, nan, 0, nan, null, reason, draws, swaps.exact)
    both, x = np.where(given, both, np.nan), np.where(given, x, np.nan)
    scores, flat = standardise(both)
    *raw, gap = estimate(x, both, setting, [(0, 1)]).tolist()
    *values, observed = estimate(x, scores, setting, [(0, 1)]).tolist()
    other = not (np.abs(np.subtract(raw, values)) <= _OTHER).all()
    reason = _reason(flat, np.array(raw), gap, other or not setting.function.scale_free)
    differ = (scores[0] != scores[1]) & given
    if swaps.axis is not None and swaps.axis == _GROUPS.get(setting.level):
        has = with_value(x, scores, setting).all(axis=0)  # a swap leaves it as it is
        differ &= np.expand_dims(has, 1 - swaps.axis)
    count = len(np.unique(swaps.unit[differ]))
    p = smallest = np.nan
    if not reason:
        after, random = swapped(x, scores, setting, swaps), not swaps.exact
        # swaps after which a metric has no value count as large
        large = int((~(np.abs(after) < abs(observed) - _ROUNDING)).sum())
        p = (large + random) / (draws + random)
        # of all swaps two (none and all) are as large as the observed one
        smallest = max(min(1.0, 2.0 ** (1 - count)), random / (draws + 1))
        if count == 0:
            reason = "the standardised scores are the same in every cell: p can only be 1"
        elif count == 1:
            reason = "the metrics differ in a single unit: p can only be 1"
    return PermutationTest(gap, p, count, smallest, null, reason, draws, swaps.exact)


def _null(units: Units, clustered: bool) -> str:
    sources = "cluster of sources" if clustered else "source"
    cell = "cluster of sources under a system" if clustered else "cell"
    unit = {"inputs": sources, "systems": "system", "both": cell}[units]
    return (
        "exchangeability: the two metrics' standardised scores have the same joint distribution"
        f" when they are swapped in any {unit}"
    )


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
