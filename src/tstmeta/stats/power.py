"""How small a difference of two metrics a data set can show.

Two metrics share their draws, so the noise that they have in common cancels, and the smallest
detectable difference belongs to a PAIR of metrics.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from .intervals import resample
from .kernels import Array, finite
from .limits import FEW_UNITS
from .matrices import Setting, estimate, resampled
from .resampling import Draws, ResamplingPlan, clusters_of, draw, systems_of

#: Random halves of the units behind the interval of a detectable difference, and draws of a half.
_HALVES, _HALF_DRAWS = 12, 150
#: A difference below this is none.
_ROUNDING = 1e-12


class Detectable(NamedTuple):
    """Smallest true differences that a test detects, their 95 % intervals, and the observed
    differences, each ``[M]``, first metric less each of the others.

    Infinite where no possible difference is detected; NaN where either metric has no value or the
    other one is a linear function of human values.  No limits over fewer than 16 units.
    """

    difference: Array
    low: Array
    high: Array
    observed: Array


def detectable_difference(
    human: ArrayLike,
    first: ArrayLike,
    others: ArrayLike,
    setting: Setting,
    plan: ResamplingPlan,
    rng: np.random.Generator,
    power: float = 0.8,
    halves: int = _HALVES,
) -> Detectable:
    """How much worse than the first another metric must be to be found worse with ``power``.

    By simulation under the alternative: the first metric stays as it is, the other one is
    :func:`tilted` away from human values until that share of the resamples finds it worse, by as
    many standard errors (of the tilted scores) as a 95 % interval reaches.

    The interval comes from random halves of the units, which vary as other samples of the full size
    would (McCarthy 1969, Pseudo-Replication: Half Samples).

    Args:
        human, first: ``[S, K]``.
        others: ``[M, S, K]``.
        halves: of the units, for the interval; with 0 there is none, in a tenth of the time.

    Source: the minimum detectable effect (Bloom 1995, Evaluation Review 19), simulated.
    """
    people, scores = finite(human), finite(np.concatenate([[first], others]))
    draws = draw(plan, people.shape, rng)
    drawn = resample(people, scores, setting, plan, draws)
    n, reach = drawn.fewest, float(ndtri(0.975))
    if drawn.widened and n > 1:
        reach = float(stdtrit(n - 1.0, 0.975)) * math.sqrt(n / (n - 1.0))
    enough = n >= 2 * FEW_UNITS and plan.units != "both"
    quantile = float(stdtrit(max(halves - 1.0, 1.0), 0.975))
    samples = [_half(draws, plan, rng) for _ in range(halves * enough)]
    observed = drawn.pairs.estimates[: len(scores) - 1]  # pairs with the first come first
    rows = np.full((3, len(observed)), np.nan)
    apart = np.abs(estimate(people, scores[1:], Setting())) < 1.0 - _ROUNDING
    for place in np.flatnonzero(np.isfinite(observed) & apart & (n > 1)):

        def gaps(angle: float, draws: Draws, other: Array = scores[1 + place]) -> Array:
            """The first metric less the tilted one in each draw ``[D]``."""
            sides = people, np.stack([scores[0], tilted(people, other, angle)]), setting
            if plan.units == "both" and len(draws) > 1:  # their variance has to be corrected
                return resample(*sides, plan, draws).pairs.resampled[0]
            return resampled(*sides, draws, [(0, 1)])[2]

        value = rows[0, place] = _smallest(gaps, draws, 1.0, reach, power)
        if not samples or not math.isfinite(value):
            continue
        parts = np.array([_smallest(gaps, half, 0.5, reach, power) for half in samples])
        if ((parts > 0) & (parts < math.inf)).all():
            factor = math.exp(quantile * np.log(parts).std(ddof=1))
            rows[1:, place] = value / factor, value * factor
    return Detectable(rows[0], rows[1], rows[2], observed)


def tilted(people: Array, metric: Array, angle: float) -> Array:
    """Scores ``[S, K]`` rotated towards human values (at pi / 2), or away from them (below 0)."""
    both = np.isfinite(people) & np.isfinite(metric)
    unit = metric[both].std() / (people[both].std() or 1.0)
    return math.cos(angle) * metric + math.sin(angle) * unit * people


def _smallest(gaps: Callable, draws: Draws, share: float, reach: float, power: float) -> float:
    """The smallest difference that is detected, by draws of a ``share`` of the units."""
    units = Draws(*(np.sign(counts.sum(axis=0))[None] for counts in draws))

    def beyond(angle: float) -> float:
        """How far the last draw that must be detected lies beyond the reach."""
        drawn, centre = gaps(angle, draws), gaps(angle, units)
        drawn = centre + math.sqrt(share) * (drawn - centre)  # as of all units
        last = np.quantile(np.nan_to_num(drawn, nan=-2.0), 1.0 - power)
        return float(last - reach * np.nanstd(drawn, ddof=1)) - _ROUNDING

    most = math.pi / 2
    if not beyond(-most) > 0 > beyond(most):
        return math.nan if beyond(-most) > 0 else math.inf
    # a little farther, where it is detected: the smallest tilt breaks all ties
    return float(gaps(brentq(beyond, -most, most, xtol=1e-4) - 2e-4, units)[0])


def _half(draws: Draws, plan: ResamplingPlan, rng: np.random.Generator) -> Draws:
    """The first draws, of a random half of the units."""
    sources, systems = (counts[:_HALF_DRAWS] for counts in draws)
    if plan.units == "systems":
        number = systems_of(plan, systems.shape[1])
        return Draws(sources, systems * (rng.permutation(number.max() + 1) % 2)[number])
    clusters, strata = clusters_of(plan, sources.shape[1])
    return Draws(sources * (rng.permutation(len(strata)) % 2)[clusters], systems)
