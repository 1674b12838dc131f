"""Ranks of metrics and how sure they are: sets from simultaneous differences of all pairs.

All differences are bounded at once; a metric's best rank is one more than the number of metrics
surely above it, its worst leaves out those surely below (Mogstad, Romano, Shaikh and Wilhelm 2024,
Inference for Ranks, Review of Economic Studies 91, Section 3).  The sets of ALL metrics hold their
true ranks together, any rank counting as true that ties of true values leave open.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from .kernels import Array

#: Differences that spread less than this do not spread.
_ROUNDING = 1e-12
#: A pair without a value in a larger share of the draws cannot be told apart.
_UNDEFINED = 0.025


def simultaneous_p(
    estimates: ArrayLike,
    values: ArrayLike,
    *,
    units: int | None = None,
    gaps: tuple[ArrayLike, ArrayLike] | None = None,
) -> Array:
    """Two-sided p of the difference of every two metrics, corrected for all pairs ``[M, M]``.

    The share of draws, the data themselves being one, in which the largest standardised deviation
    of all pairs is at least as large as the pair's own difference: a single-step max-t test (Romano
    and Wolf 2005, Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing, JASA 100,
    Section 4).  Deviations and differences are standardised by the standard deviation of a pair's
    difference over draws.  NaN on the diagonal; 1 for a pair without a difference or that has no
    value in one draw of forty; another draw in which a pair has no value counts as the largest
    deviation.  Where no difference varies, every p is 1.

    Args:
        estimates, values: ``[M]``, and ``[M, D]`` with NaN where a draw has no value.
        units: how many units were drawn (the fewest of several kinds), to widen the bound as
            intervals are.
        gaps: differences of the pairs i < j ``[P]`` and their draws ``[P, D]`` where they are not
            those of estimates and values; one whose sign is not that of the estimates is none.
    """
    of_metric, drawn = np.asarray(estimates, dtype=float), np.asarray(values, dtype=float)
    first, second = np.triu_indices(len(of_metric), 1)
    apart = of_metric[first] - of_metric[second]
    of_pairs = gaps or (apart, drawn[first] - drawn[second])
    centres, drawn = (np.asarray(side, dtype=float) for side in of_pairs)
    known, draws = np.isfinite(drawn), drawn.shape[1]
    steady = np.isfinite(apart + centres) & ((~known).sum(axis=1) <= _UNDEFINED * draws)
    p, table = np.ones(len(first)), np.full((len(of_metric),) * 2, np.nan)
    whole = drawn[np.ix_(steady, known[steady].all(axis=0))]
    if whole.shape[1] > 1 and (units is None or units > 1):
        p[steady] = _max_t(centres[steady], whole, draws, units)
    p[~(apart * centres > 0)] = 1.0
    table[first, second] = table[second, first] = p
    return table


def _max_t(centres: Array, whole: Array, draws: int, units: int | None) -> Array:
    """p of differences ``[P]`` from their defined draws ``[P, D]`` of so many ``draws``."""
    spread = whole.std(axis=1, ddof=1)
    varies = spread > _ROUNDING
    if not varies.any():
        return np.ones(len(centres))
    scale = np.where(varies, spread, _ROUNDING)
    size = np.abs(centres) / scale
    if units is not None:  # lower tails, where both functions keep their digits
        size = -special.ndtri(special.stdtr(units - 1.0, -size * np.sqrt((units - 1.0) / units)))
    largest = np.zeros(whole.shape[1])
    for row, centre, step in zip(whole[varies], centres[varies], scale[varies], strict=True):
        np.maximum(largest, np.abs(row - centre) / step, out=largest)
    return (draws - np.searchsorted(np.sort(largest), size) + 1.0) / (draws + 1.0)


def rank_sets(
    estimates: ArrayLike, p: ArrayLike, *, confidence: float = 0.95
) -> list[tuple[int, int]]:
    """Best and worst rank of each metric (1 = highest), all of them right together.

    A metric without an estimate has no rank: (0, 0).

    Args:
        estimates: ``[M]``.
        p: of each pair ``[M, M]``, corrected for all pairs, as of :func:`simultaneous_p`.
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, not {confidence}")
    values = np.asarray(estimates, dtype=float)
    ranked = np.isfinite(values)
    above = (np.asarray(p) <= 1.0 - confidence + _ROUNDING) & (values[:, None] > values)
    best, worst = 1 + above.sum(axis=0), ranked.sum() - above.sum(axis=1)
    return list(zip(*(np.where(ranked, rank, 0).tolist() for rank in (best, worst)), strict=True))
