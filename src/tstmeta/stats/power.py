"""How small a difference of two metrics a data set can show.

Two metrics share their draws, so the noise that they have in common cancels, and the smallest
detectable difference belongs to a PAIR of metrics.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from .intervals import resample
from .kernels import Array, finite
from .matrices import Setting, estimate, resampled
from .resampling import Draws, ResamplingPlan, draw

#: A difference below this is none.
_ROUNDING = 1e-12


def detectable_difference(
    human: ArrayLike,
    first: ArrayLike,
    others: ArrayLike,
    setting: Setting,
    plan: ResamplingPlan,
    rng: np.random.Generator,
    power: float = 0.8,
) -> Array:
    """How much worse than the first another metric must be to be found worse with ``power``.

    By simulation under the alternative: the first metric stays as it is, the other one is
    :func:`tilted` away from human values until that share of the resamples finds it worse, by as
    many standard errors (of the tilted scores) as a 95 % interval reaches.

    Args:
        human, first: ``[S, K]``.
        others: ``[M, S, K]``.

    Returns:
        Of each of the others, ``[M]``: infinite where no possible difference is detected, NaN where
        either metric has no value or the other one is a linear function of human values.

    Source: the minimum detectable effect (Bloom 1995, Evaluation Review 19), simulated.
    """
    people, scores = finite(human), finite(np.concatenate([[first], others]))
    draws = draw(plan, people.shape, rng)
    drawn = resample(people, scores, setting, plan, draws)
    n, reach = drawn.fewest, float(ndtri(0.975))
    if drawn.widened and n > 1:
        reach = float(stdtrit(n - 1.0, 0.975)) * math.sqrt(n / (n - 1.0))
    observed = drawn.pairs.estimates[: len(scores) - 1]  # pairs with the first come first
    least = np.full(len(observed), np.nan)
    apart = np.abs(estimate(people, scores[1:], Setting())) < 1.0 - _ROUNDING
    for place in np.flatnonzero(np.isfinite(observed) & apart & (n > 1)):

        def gaps(angle: float, draws: Draws, other: Array = scores[1 + place]) -> Array:
            """The first metric less the tilted one in each draw ``[D]``."""
            sides = people, np.stack([scores[0], tilted(people, other, angle)]), setting
            if plan.units == "both" and len(draws) > 1:  # their variance has to be corrected
                return resample(*sides, plan, draws).pairs.resampled[0]
            return resampled(*sides, draws, [(0, 1)])[2]

        least[place] = _smallest(gaps, draws, reach, power)
    return least


def tilted(people: Array, metric: Array, angle: float) -> Array:
    """Scores ``[S, K]`` rotated towards human values (at pi / 2), or away from them (below 0)."""
    both = np.isfinite(people) & np.isfinite(metric)
    unit = metric[both].std() / (people[both].std() or 1.0)
    return math.cos(angle) * metric + math.sin(angle) * unit * people


def _smallest(gaps: Callable, draws: Draws, reach: float, power: float) -> float:
    """The smallest difference that is detected."""
    units = Draws(*(np.sign(counts.sum(axis=0))[None] for counts in draws))

    def beyond(angle: float) -> float:
        """How far the last draw that must be detected lies beyond the reach."""
        drawn = gaps(angle, draws)
        last = np.quantile(np.nan_to_num(drawn, nan=-2.0), 1.0 - power)
        return float(last - reach * np.nanstd(drawn, ddof=1)) - _ROUNDING

    most = math.pi / 2
    if not beyond(-most) > 0 > beyond(most):
        return math.nan if beyond(-most) > 0 else math.inf
    # a little farther, where it is detected: the smallest tilt breaks all ties
    return float(gaps(brentq(beyond, -most, most, xtol=1e-4) - 2e-4, units)[0])
