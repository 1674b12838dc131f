"""The alternative annotator test: could a metric stand in for one of the raters?

For each rater j in turn, the metric and the rater face the remaining raters of an item.  Whoever is
nearer to them (smaller root mean squared difference) has the advantage on that item; a tie is one
for both.  The metric beats rater j if its advantage probability is above the rater's less a margin
epsilon, which pays for the metric being cheap: .2 for experts, .15 for skilled raters, .1 for crowd
workers, in the paper's advice.  One one-sided t test a rater, Benjamini-Yekutieli over raters; the
metric passes if it beats at least half of them (winning rate omega).

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
Section 3.  What differs here:

- A metric does not speak the rating scale.  Its scores are mapped to it by isotonic regression on
  mean ratings, which may only rise: a metric that goes against people becomes a flat line.  The map
  for a source is fitted on other sources (five folds), never on the source it is judged on.
- A mapped metric is drawn to the middle of the scale and free of personal habits; both bring it
  near the other raters, and raters get neither help.  Where raters are noisy, even a flat line at
  the mean rating can beat them.  So a metric whose map is flat in every fold never passes, and
  :func:`flat_line` gives the flat line's own result to show beside: a pass says something only
  where the flat line does not pass.
- Below 30 items the paper takes Wilcoxon's signed ranks.  They ask for symmetry, but a lost item
  lies 1 - epsilon from the margin and a won one 1 + epsilon, so wins get the higher ranks and at
  the margin the test rejects several times too often.  Raters with fewer than 30 items are left
  out instead.
- Where all differences of a rater are equal, the t test has no spread to go by; the p-value is then
  the smallest that a sign test of as many items can give, or 1.

Like the paper's, the test takes items for independent, which rewrites of one source are not.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import isotonic_regression

from .kernels import Array, finite, snapped, tamed
from .multiple import benjamini_yekutieli
from .raters import mean_of_ratings, no_pair

#: Groups of sources for the cross-fitted map; fewest items of a rater; level of the tests.
FOLDS, LEAST, ALPHA = 5, 30, 0.05
#: Two sides equally near to the others but for rounding are equally near.
_EQUAL = 1e-9


class RaterTest(NamedTuple):
    """The metric against one rater.

    Attributes:
        n: items that the rater and others rated and the metric scored.
        metric: advantage probability of the metric (ties count for both sides).
        person: advantage probability of the rater.
        p: one-sided p-value of the null hypothesis metric <= person - epsilon.
        adjusted: the same after Benjamini and Yekutieli, over the raters tested.
        beaten: whether ``adjusted`` is at most .05.
        reason: why the rater is left out; empty if tested.
    """

    n: int
    metric: float = math.nan
    person: float = math.nan
    p: float = math.nan
    adjusted: float = math.nan
    beaten: bool = False
    reason: str = ""


class AlternativeTest(NamedTuple):
    """The verdict over all raters.

    Attributes:
        omega: winning rate, the share of tested raters that the metric beats.
        rho: advantage probability of the metric, averaged over tested raters.
        passed: omega >= .5, and the map not flat in every fold.
        raters: one row a rater, those left out with the reason.
        n: items compared, summed over tested raters.
        reason: why there is no value, or why a winning metric does not pass.
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

    Args:
        cube: ratings of persons, on one scale; anonymous places are no persons, and a test of them
            would say nothing.
        epsilon: margin in [0, 1); 0 asks the metric to be better than the rater.
        mapping: ``none`` takes the scores as ratings, for a metric that speaks the scale.
        rng: shuffles the sources into folds.

    Raises:
        ValueError: shapes that do not fit.
    """
    ratings, scores = finite(cube), finite(metric)
    if ratings.ndim != 3 or scores.shape != ratings.shape[:2]:
        raise ValueError(
            "ratings [sources, systems, raters] and a metric [sources, systems] are needed,"
            f" got {ratings.shape} and {scores.shape}"
        )
    flat = False
    if mapping == "isotonic":
        scores, flat = on_scale(ratings, scores, rng)
    rows = [_against(ratings, scores, rater, epsilon) for rater in range(ratings.shape[-1])]
    adjusted = benjamini_yekutieli([row.p for row in rows])
    rows = [
        row._replace(adjusted=float(p), beaten=bool(p <= ALPHA))
        for row, p in zip(rows, adjusted, strict=True)
    ]
    tested = [row for row in rows if not row.reason]
    if not tested:
        reason = no_pair(ratings)
        if not reason and not np.isfinite(scores).any():
            reason = "the metric has no scores, or one source only"
        reasons = "; ".join(sorted({row.reason for row in rows}))
        reason = reason or f"no rater has enough items: {reasons}"
        return AlternativeTest(math.nan, math.nan, False, tuple(rows), 0, reason)
    omega = float(np.mean([row.beaten for row in tested]))
    rho = float(np.mean([row.metric for row in tested]))
    n = sum(row.n for row in tested)
    reason = "flat line: its scores do not rise with the ratings of other sources" * flat
    return AlternativeTest(omega, rho, omega >= 0.5 and not flat, tuple(rows), n, reason)


def flat_line(
    cube: ArrayLike, *, epsilon: float = 0.1, rng: np.random.Generator
) -> AlternativeTest:
    """What a metric that knows nothing gets: the mean rating of other sources for every item.

    It never passes, but its omega and rho say how far a metric's own owe to the middle of the
    scale.
    """
    return alternative_annotator_test(cube, np.zeros(np.shape(cube)[:2]), epsilon=epsilon, rng=rng)


def on_scale(ratings: Array, scores: Array, rng: np.random.Generator) -> tuple[Array, bool]:
    """Scores ``[S, K]`` on the scale of ratings ``[S, K, R]``; whether every fold's map is flat.

    Each fold of sources is mapped by :func:`rising` as fitted on the sources of all other folds, on
    mean ratings weighted by their number.  With fewer than two sources there is nothing to fit on,
    and all values are NaN.
    """
    people, count = mean_of_ratings(ratings), np.isfinite(ratings).sum(axis=-1)
    scores = snapped(scores)  # scores equal but for rounding share a place on the scale
    both = np.isfinite(people) & np.isfinite(scores)
    sources = rng.permutation(np.flatnonzero(both.any(axis=1)))
    mapped, flat = np.full(scores.shape, np.nan), len(sources) > 1
    for fold in np.array_split(sources, min(FOLDS, len(sources))) if flat else ():
        judged = np.isin(np.arange(len(scores)), fold)
        fit, use = both & ~judged[:, None], both & judged[:, None]
        at, height = rising(scores[fit], people[fit], count[fit])
        mapped[use] = np.interp(scores[use], at, height)
        flat &= bool(np.ptp(height) <= _EQUAL * np.abs(people[fit]).max())
    return mapped, flat


def rising(scores: Array, people: Array, weights: Array) -> tuple[Array, Array]:
    """The rising map from scores to ratings of least squares: knots and heights.

    Between knots the map is a straight line, beyond the first and last it is level.  All ``[n]``;
    equal scores share a knot.  Pool-adjacent-violators (scipy), as in Barlow et al. (1972).
    """
    at, place = np.unique(scores, return_inverse=True)
    weight = np.bincount(place, weights)
    mean = np.bincount(place, weights * people) / weight
    return at, np.asarray(isotonic_regression(mean, weights=weight).x)


def _against(ratings: Array, scores: Array, rater: int, epsilon: float) -> RaterTest:
    """One rater's row, not yet adjusted."""
    own, rest = ratings[..., rater], np.delete(ratings, rater, axis=-1)
    shared = np.isfinite(own) & np.isfinite(scores) & np.isfinite(rest).any(axis=-1)
    n = int(shared.sum())
    if not n:
        return RaterTest(0, reason="no items to compare on")
    # one power of two for all, where squares would overflow or vanish
    sides = tamed(np.concatenate([own[..., None], scores[..., None], rest], axis=-1))[shared]
    person, metric = (_distance(sides[:, side], sides[:, 2:]) for side in (0, 1))
    equal = np.abs(metric - person) <= _EQUAL * np.maximum(metric, person)
    nearer, farther = equal | (metric < person), equal | (metric > person)
    row = RaterTest(n, float(nearer.mean()), float(farther.mean()))
    if n < LEAST:
        return row._replace(reason=f"{n} items, fewer than {LEAST}")
    return row._replace(p=_p_value(farther.astype(float) - nearer, epsilon))


def _distance(side: Array, rest: Array) -> Array:
    """Root mean squared difference of each value ``[n]`` to the others' ratings ``[n, R - 1]``."""
    return np.sqrt(np.nanmean((rest - side[:, None]) ** 2, axis=1))


def _p_value(gaps: Array, epsilon: float) -> float:
    """One-sided p of the null hypothesis: mean gap (person's advantage less metric's) >= epsilon.

    No p-value is 0, however many items there are.
    """
    smallest = float(np.finfo(float).tiny)
    if np.ptp(gaps) == 0:
        return max(0.5 ** len(gaps), smallest) if gaps[0] < epsilon else 1.0
    return max(float(stats.ttest_1samp(gaps, epsilon, alternative="less").pvalue), smallest)
