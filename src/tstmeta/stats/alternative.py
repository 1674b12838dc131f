"""The alternative annotator test: could a metric stand in for one of the raters?

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
Section 3.  It takes items for independent, which rewrites of one source are not.  What differs:
scores may be mapped to the rating scale; raters with fewer than 30 items are left out.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import isotonic_regression

from .kernels import Array, finite, misfit, snapped
from .raters import mean_of_ratings, no_pair

#: Groups of sources for the cross-fitted map; fewest items of a rater; level of the tests.
FOLDS, LEAST, ALPHA = 5, 30, 0.05
#: Two sides equally near to the others but for rounding are equally near.
_EQUAL = 1e-9


class RaterTest(NamedTuple):
    """The metric against one rater, over ``n`` items; ``reason`` says why a rater is left out.

    ``metric`` and ``person`` are advantage probabilities, ``adjusted`` is ``p`` after Benjamini and
    Yekutieli, ``beaten`` whether it is at most .05.
    """

    n: int
    metric: float = math.nan
    person: float = math.nan
    p: float = math.nan
    adjusted: float = math.nan
    beaten: bool = False
    reason: str = ""


class AlternativeTest(NamedTuple):
    """The verdict: ``omega``, the share of tested raters that the metric beats; ``rho``, its mean
    advantage probability; ``passed`` (omega >= .5, and the map not flat in every fold); a row a
    rater; ``n``, summed over those tested.
    """

    omega: float
    rho: float
    passed: bool
    raters: tuple[RaterTest, ...]
    n: int
    reason: str = ""


def alternative_annotator_test(
    cube: ArrayLike,
    metric: ArrayLike,
    *,
    epsilon: float = 0.1,
    mapping: Literal["isotonic", "none"] = "isotonic",
    rng: np.random.Generator,
) -> AlternativeTest:
    """Could the metric ``[S, K]`` replace a rater of the cube ``[S, K, R]``?

    The nearer one of rater and metric to the remaining raters of an item (root mean squared
    difference) has the advantage, in a tie both have.  The metric beats the rater if its advantage
    probability is above the rater's less epsilon, by a one-sided t test (Benjamini-Yekutieli).

    Args:
        cube: ratings of persons (no anonymous places), on one scale.
        epsilon: margin in [0, 1): .2 for experts, .15 for skilled raters, .1 for crowd workers, in
            the paper's advice.
        mapping: ``isotonic`` regression on the mean ratings of other sources (five folds) brings
            scores onto the scale; constant ones can beat noisy raters, so a metric whose map is
            flat in every fold never passes.  ``none``: scores as ratings.
        rng: shuffles the sources into folds.
    """
    ratings, scores = finite(cube), finite(metric)
    if ratings.ndim != 3 or scores.shape != ratings.shape[:2]:
        wanted = "ratings [sources, systems, raters] and a metric [sources, systems]"
        raise misfit(wanted, ratings, scores)
    if mapping not in ("isotonic", "none"):
        raise ValueError(f"unknown mapping {mapping!r}; known: isotonic, none")
    scores, flat = on_scale(ratings, scores, rng) if mapping == "isotonic" else (scores, False)
    rows = [_against(ratings, scores, rater, epsilon) for rater in range(ratings.shape[-1])]
    places = [place for place, row in enumerate(rows) if not row.reason]
    if not places:
        reasons = "; ".join(sorted({row.reason for row in rows}))
        reason = no_pair(ratings) or f"no rater has enough items: {reasons}"
        return AlternativeTest(math.nan, math.nan, False, tuple(rows), 0, reason)
    adjusted = stats.false_discovery_control([rows[place].p for place in places], method="by")
    for place, p in zip(places, adjusted, strict=True):
        rows[place] = rows[place]._replace(adjusted=float(p), beaten=bool(p <= ALPHA))
    tested = [rows[place] for place in places]
    omega = float(np.mean([row.beaten for row in tested]))
    rho = float(np.mean([row.metric for row in tested]))
    n = sum(row.n for row in tested)
    reason = "flat line: its scores do not rise with the ratings of other sources" * flat
    return AlternativeTest(omega, rho, omega >= 0.5 and not flat, tuple(rows), n, reason)


def on_scale(ratings: Array, scores: Array, rng: np.random.Generator) -> tuple[Array, bool]:
    """Scores on the scale of ratings, NaN with one source; and whether every fold's map is flat."""
    people, count = mean_of_ratings(ratings), np.isfinite(ratings).sum(axis=-1)
    scores = snapped(scores)  # scores equal but for rounding share a place on the scale
    both = np.isfinite(people) & np.isfinite(scores)
    sources = rng.permutation(np.flatnonzero(both.any(axis=1)))
    mapped, flat = np.full(scores.shape, np.nan), len(sources) > 1
    for fold in np.array_split(sources, min(FOLDS, len(sources))) if flat else ():
        judged = np.isin(np.arange(len(scores)), fold)
        fit, use = both & ~judged[:, None], both & judged[:, None]
        at, place = np.unique(scores[fit], return_inverse=True)  # equal scores share a knot
        weight = np.bincount(place, count[fit])
        mean = np.bincount(place, count[fit] * people[fit]) / weight
        height = isotonic_regression(mean, weights=weight).x
        mapped[use] = np.interp(scores[use], at, height)
        flat &= bool(np.ptp(height) <= _EQUAL * np.abs(people[fit]).max())
    return mapped, flat


def _against(ratings: Array, scores: Array, rater: int, epsilon: float) -> RaterTest:
    """One rater's row, not yet adjusted."""
    rated, rest = ratings[..., rater], np.delete(ratings, rater, axis=-1)
    shared = np.isfinite(rated) & np.isfinite(scores) & np.isfinite(rest).any(axis=-1)
    n = int(shared.sum())
    if not n:
        return RaterTest(0, reason="no items to compare on")
    gaps = (rest[shared] - side[shared, None] for side in (rated, scores))
    person, metric = (np.sqrt(np.nanmean(gap**2, axis=1)) for gap in gaps)
    equal = np.abs(metric - person) <= _EQUAL * np.maximum(metric, person)
    nearer, farther = equal | (metric < person), equal | (metric > person)
    row = RaterTest(n, float(nearer.mean()), float(farther.mean()))
    if n < LEAST:
        return row._replace(reason=f"{n} items, fewer than {LEAST}")
    return row._replace(p=_p_value(farther.astype(float) - nearer, epsilon))


def _p_value(gaps: Array, epsilon: float) -> float:
    """One-sided p of mean gap (person's advantage less metric's) >= epsilon; never 0."""
    smallest = float(np.finfo(float).tiny)
    if np.ptp(gaps) == 0:
        return max(0.5 ** len(gaps), smallest) if gaps[0] < epsilon else 1.0
    return max(float(stats.ttest_1samp(gaps, epsilon, alternative="less").pvalue), smallest)
