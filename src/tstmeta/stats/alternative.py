"""The alternative annotator test: could a metric stand in for one of the raters?

For each rater j in turn, the metric and the rater face the remaining raters of an item.  Whoever is
nearer to them (smaller root mean squared difference) has the advantage on that item; a tie is one
for both.  The metric beats rater j if its advantage probability is above the rater's less a margin
epsilon, which pays for the metric being cheap: .2 for experts, .15 for skilled raters, .1 for crowd
workers, in the paper's advice.  One one-sided test a rater, Benjamini-Yekutieli over raters; the
metric passes if it beats at least half of them (winning rate omega).

Source: Calderon, Reichart and Dror (2025), The Alternative Annotator Test for LLM-as-a-Judge,
Section 3.  What differs here:

- A metric does not speak the rating scale.  Its scores are mapped to it by isotonic regression on
  mean ratings, which may only rise: a metric that goes against people becomes a flat line.  The map
  for a source is fitted on other sources (folds), never on the source it is judged on.
- A mapped metric is drawn to the middle of the scale and free of personal habits; both bring it
  near the other raters, and raters get neither help.  Where raters are noisy, even a flat line at
  the mean rating can beat them.  So a metric whose map is flat in every fold never passes, and
  :func:`flat_line` gives the flat line's own result to show beside: a pass says something only
  where the flat line does not pass.
- Below 30 items the paper takes Wilcoxon's signed ranks.  They ask for symmetry, but a lost item
  lies 1 - epsilon from the margin and a won one 1 + epsilon, so wins get the higher ranks and at
  the margin the test rejects several times too often.  It is here on demand (``least`` below 30);
  by default raters with fewer than 30 items are left out.
- The paper takes items for independent.  ``independent="sources"`` takes sources instead, with
  their items together, as rewrites of one source are not independent.
- Where all differences of a rater are equal, the t test has no spread to go by; the p-value is then
  the smallest that a sign test of as many units can give, or 1.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.optimize import isotonic_regression

from .kernels import Array, tamed
from .matrices import snapped
from .multiple import benjamini_yekutieli
from .raters import NO_PAIR, NO_SINGLE, mean_of_ratings

#: From this many units on the t test serves, below it Wilcoxon's signed ranks (the paper's rule).
T_TEST = 30
#: Two sides equally near to the others but for rounding are equally near.
_EQUAL = 1e-9
#: No p-value is 0, however many items there are.
_LEAST = float(np.finfo(float).tiny)
FLAT = "flat line: its scores do not rise with the ratings of other sources"


class RaterTest(NamedTuple):
    """The metric against one rater.

    Attributes:
        rater: which layer of the cube, from 0.
        n: items the rater and others rated and the metric scored.
        metric: advantage probability of the metric (ties count for both sides).
        person: advantage probability of the rater.
        p: one-sided p-value of the null hypothesis metric <= person - epsilon.
        adjusted: the same after Benjamini and Yekutieli, over the raters tested.
        beaten: whether ``adjusted`` is at most alpha.
        test: ``t``, ``wilcoxon``, ``constant``; empty where there was no test.
        reason: why the rater is left out; empty if tested.
    """

    rater: int
    n: int
    metric: float
    person: float
    p: float
    adjusted: float
    beaten: bool
    test: str
    reason: str = ""


class AlternativeTest(NamedTuple):
    """The verdict over all raters.

    Attributes:
        omega: winning rate, the share of tested raters that the metric beats.
        rho: advantage probability of the metric, averaged over tested raters.
        passed: omega >= .5, and the map not flat in every fold.
        epsilon: the margin.
        raters: one row a rater, those left out with the reason.
        n: items compared, summed over tested raters.
        mapping: how scores came to the scale, in words.
        reason: why there is no value, or why a winning metric does not pass.
    """

    omega: float
    rho: float
    passed: bool
    epsilon: float
    raters: tuple[RaterTest, ...]
    n: int
    mapping: str
    reason: str = ""


def alternative_annotator_test(
    cube: ArrayLike,
    metric: ArrayLike,
    *,
    epsilon: float = 0.1,
    alpha: float = 0.05,
    mapping: Literal["isotonic", "none"] = "isotonic",
    folds: int = 5,
    independent: Literal["items", "sources"] = "items",
    least: int = 30,
    others: int = 1,
    rng: np.random.Generator,
) -> AlternativeTest:
    """Could the metric ``[S, K]`` replace a rater of the cube ``[S, K, R]``?

    Args:
        cube: ratings of persons, on one scale; anonymous places are no persons, and a test of them
            would say nothing.
        epsilon: margin in [0, 1); 0 asks the metric to be better than the rater.
        mapping: ``none`` takes the scores as ratings, for a metric that speaks the scale.
        folds: groups of sources for the cross-fitted map.
        independent: what the test takes for independent.
        least: raters with fewer items (or sources, if these are what is independent) are left out.
        others: how many others must have rated an item; the paper's minimum of raters is three.
        rng: shuffles the sources into folds.

    Raises:
        ValueError: shapes or arguments that do not fit.
    """
    ratings, scores = _checked(cube, metric, epsilon, folds, least, others)
    words = "scores as they are"
    flat = False
    if mapping == "isotonic":
        scores, flat, parts = on_scale(ratings, scores, folds, rng)
        words = f"isotonic, cross-fitted over {parts} folds of sources"
    rows = [
        _against(ratings, scores, rater, epsilon, independent, least, others)
        for rater in range(ratings.shape[-1])
    ]
    rows = _adjusted(rows, alpha)
    tested = [row for row in rows if not row.reason]
    if not tested:
        reason = _nobody(ratings, rows, scores)
        return AlternativeTest(math.nan, math.nan, False, epsilon, tuple(rows), 0, words, reason)
    omega = float(np.mean([row.beaten for row in tested]))
    rho = float(np.mean([row.metric for row in tested]))
    n = sum(row.n for row in tested)
    reason = FLAT if flat else ""
    passed = omega >= 0.5 and not flat
    return AlternativeTest(omega, rho, passed, epsilon, tuple(rows), n, words, reason)


def flat_line(cube: ArrayLike, **arguments) -> AlternativeTest:
    """What a metric that knows nothing gets: the mean rating of other sources for every item.

    It never passes, but its omega and rho say how far a metric's own owe to the middle of the
    scale.  ``arguments`` as for :func:`alternative_annotator_test`.
    """
    return alternative_annotator_test(cube, np.zeros(np.shape(cube)[:2]), **arguments)


# ------------------------------------------------------------------------------- the map


class OnScale(NamedTuple):
    """Scores as ratings ``[S, K]``; whether every fold's map is flat; how many folds there were."""

    values: Array
    flat: bool
    folds: int


def on_scale(
    ratings: ArrayLike, scores: ArrayLike, folds: int, rng: np.random.Generator
) -> OnScale:
    """Scores ``[S, K]`` on the scale of ratings ``[S, K, R]``, cross-fitted over sources.

    Each fold of sources is mapped by :func:`rising` as fitted on the sources of all other folds, on
    mean ratings weighted by their number.  With fewer than two sources there is nothing to fit on,
    and all values are NaN.
    """
    people, count = mean_of_ratings(ratings), np.isfinite(ratings).sum(axis=-1)
    # scores equal but for rounding share a place on the scale
    scores = snapped(np.asarray(scores, dtype=float))
    both = np.isfinite(people) & np.isfinite(scores)
    sources = rng.permutation(np.flatnonzero(both.any(axis=1)))
    found = np.full(scores.shape, np.nan)
    parts = min(folds, len(sources))
    if parts < 2:
        return OnScale(found, False, parts)
    flat = True
    for held_out in np.array_split(sources, parts):
        judged = np.zeros(len(scores), dtype=bool)
        judged[held_out] = True
        fit, use = both & ~judged[:, None], both & judged[:, None]
        at, height = rising(scores[fit], people[fit], count[fit])
        found[use] = np.interp(scores[use], at, height)
        flat &= bool(np.ptp(height) <= _EQUAL * np.abs(people[fit]).max())
    return OnScale(found, flat, parts)


def rising(scores: Array, people: Array, weights: Array) -> tuple[Array, Array]:
    """The rising map from scores to ratings of least squares: knots and heights.

    Between knots the map is a straight line, beyond the first and last it is level.  All ``[n]``;
    equal scores share a knot.  Pool-adjacent-violators (scipy), as in Barlow et al. (1972).
    """
    at, place = np.unique(scores, return_inverse=True)
    weight = np.bincount(place, weights)
    mean = np.bincount(place, weights * people) / weight
    return at, np.asarray(isotonic_regression(mean, weights=weight).x)


# ------------------------------------------------------------------------------ the test


def _against(
    ratings: Array,
    scores: Array,
    rater: int,
    epsilon: float,
    independent: str,
    least: int,
    others: int,
) -> RaterTest:
    """One rater's row, not yet adjusted."""
    own, rest = ratings[..., rater], np.delete(ratings, rater, axis=-1)
    enough = np.isfinite(rest).sum(axis=-1) >= others
    shared = np.isfinite(own) & np.isfinite(scores) & enough
    n, nan = int(shared.sum()), math.nan
    if not n:
        return RaterTest(rater, 0, nan, nan, nan, nan, False, "", "no items to compare on")
    sources = np.nonzero(shared)[0]
    own, rest, scores = _small(own, rest, scores)
    metric, person = (_distance(side[shared], rest[shared]) for side in (scores, own))
    equal = np.abs(metric - person) <= _EQUAL * np.maximum(metric, person)
    nearer, farther = equal | (metric < person), equal | (metric > person)
    row = RaterTest(rater, n, float(nearer.mean()), float(farther.mean()), nan, nan, False, "")
    units = n if independent == "items" else len(np.unique(sources))
    if units < least:
        return row._replace(reason=f"{units} {independent}, fewer than {least}")
    gaps = farther.astype(float) - nearer
    p, test = _p_value(gaps, epsilon, sources if independent == "sources" else np.arange(n))
    return row._replace(p=p, test=test)


def _small(own: Array, rest: Array, scores: Array) -> tuple[Array, Array, Array]:
    """The same, times one power of two where squares would overflow or vanish."""
    size = tamed(np.concatenate([own[..., None], scores[..., None], rest], axis=-1))
    return size[..., 0], size[..., 2:], size[..., 1]


def _distance(side: Array, rest: Array) -> Array:
    """Root mean squared difference of each value ``[n]`` to the others' ratings ``[n, R - 1]``."""
    return np.sqrt(np.nanmean((rest - side[:, None]) ** 2, axis=1))


def _p_value(gaps: Array, epsilon: float, units: Array) -> tuple[float, str]:
    """One-sided p of the null hypothesis: mean gap (person's advantage less metric's) >= epsilon.

    With one item a unit this is the one-sample t test.  With several, the standard error is that of
    a ratio of sums over units, which is the same formula with the sums in place of the items.
    """
    sums = np.bincount(units, gaps - epsilon)
    size = np.bincount(units)
    sums, size = sums[size > 0], size[size > 0]
    n, excess = len(sums), float(sums.sum() / size.sum())
    errors = sums - excess * size
    if n < 2 or np.abs(errors).max() <= _EQUAL:
        return (max(0.5**n, _LEAST) if excess < 0 else 1.0), "constant"
    if n < T_TEST:
        found = stats.wilcoxon(sums, alternative="less", method="asymptotic")
        return float(found.pvalue), "wilcoxon"
    spread = math.sqrt(float((errors**2).sum()) * n / (n - 1)) / float(size.sum())
    return max(float(stats.t.cdf(excess / spread, n - 1)), _LEAST), "t"


def _adjusted(rows: list[RaterTest], alpha: float) -> list[RaterTest]:
    """Benjamini and Yekutieli (2001) over the raters tested."""
    tested = [place for place, row in enumerate(rows) if not row.reason]
    if not tested:
        return rows
    adjusted = benjamini_yekutieli([rows[place].p for place in tested])
    found = list(rows)
    for place, value in zip(tested, adjusted, strict=True):
        found[place] = rows[place]._replace(adjusted=float(value), beaten=bool(value <= alpha))
    return found


def _nobody(ratings: Array, rows: list[RaterTest], scores: Array) -> str:
    """Why no rater was tested."""
    given = np.isfinite(ratings).sum(axis=-1)
    if not given.any():
        return NO_SINGLE
    if not (given > 1).any():
        return NO_PAIR
    if not np.isfinite(scores).any():
        return "the metric has no scores, or one source only"
    return "no rater has enough items: " + "; ".join(sorted({row.reason for row in rows}))


def _checked(
    cube: ArrayLike, metric: ArrayLike, epsilon: float, folds: int, least: int, others: int
) -> tuple[Array, Array]:
    ratings, scores = np.asarray(cube, dtype=float), np.asarray(metric, dtype=float)
    if ratings.ndim != 3 or scores.shape != ratings.shape[:2]:
        raise ValueError(
            "ratings [sources, systems, raters] and a metric [sources, systems] are needed,"
            f" got {ratings.shape} and {scores.shape}"
        )
    if not 0 <= epsilon < 1:
        raise ValueError(f"epsilon is a margin of probability in [0, 1), got {epsilon}")
    if folds < 2 or least < 1 or others < 1:
        raise ValueError("at least two folds, one item and one other rater are needed")
    return (
        np.where(np.isfinite(ratings), ratings, np.nan),
        np.where(np.isfinite(scores), scores, np.nan),
    )
