"""Ratings and scores whose true correlation is known, for the simulations.

All are made of pairs of normal numbers with a known correlation, so that true values follow from
theory: Pearson's r is the correlation itself, Kendall's tau is 2 / pi arcsin(r) and Spearman's rho
6 / pi arcsin(r / 2) (Kruskal 1958, Ordinal Measures of Association, JASA 53).  Shapes: one set of
ratings is ``[S, K]``, its metrics ``[M, S, K]``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import multivariate_normal, norm

Array = np.ndarray
Generator = np.random.Generator
#: Ratings and scores of one replicate.
Sample = tuple[Array, Array]
#: Where a normal number becomes the next step of a five-point scale.
STEPS = (-1.2, -0.4, 0.4, 1.2)
#: Where it becomes the next whole number of a coarse score.
COARSE = (-1.0, 0.0, 0.7)

TRUE: dict[str, Callable[[float], float]] = {
    "pearson": lambda r: r,
    "spearman": lambda r: 6 / math.pi * math.asin(r / 2),
    "kendall": lambda r: 2 / math.pi * math.asin(r),
    "pairwise-accuracy": lambda r: 0.5 + math.asin(r) / math.pi,
}


class Effects(NamedTuple):
    """Shares of variance by where it comes from; they sum to 1 for cells of variance 1."""

    sources: float = 0.0
    systems: float = 0.0
    cells: float = 1.0


#: All variance within cells: items are independent.
_CELLS = Effects()


def normal(
    rng: Generator,
    shape: tuple[int, int],
    correlations: Sequence[float],
    effects: Effects = _CELLS,
    between: float = 0.0,
) -> Sample:
    """Ratings and metrics, correlated as asked at each place where variance comes from.

    Args:
        correlations: of each metric with the ratings.
        between: what metrics share beyond the ratings, as a partial correlation.
    """
    s, k = shape
    human, metrics = np.zeros(shape), np.zeros((len(correlations), s, k))
    places = ((effects.sources, (s, 1)), (effects.systems, (1, k)), (effects.cells, (s, k)))
    for share, size in places:
        if share:
            shared, common = rng.normal(size=size), rng.normal(size=size)
            own = rng.normal(size=(len(correlations), *size))
            rest = math.sqrt(between) * common + math.sqrt(1 - between) * own
            r = np.array(correlations)[:, None, None]
            human += math.sqrt(share) * shared
            metrics += math.sqrt(share) * (r * shared + np.sqrt(1 - r**2) * rest)
    return human, metrics


def stepped(sample: Sample) -> Sample:
    """Ratings on five points, scores in four whole numbers: most pairs tie on one side."""
    human, metrics = sample
    return np.digitize(human, STEPS) + 1.0, np.digitize(metrics, COARSE) + 0.0


def tau_of_steps(r: float) -> float:
    """Tau-b of :func:`stepped` numbers over infinitely many independent pairs."""
    cells = _cells(r)
    of_x, of_y = cells.sum(axis=1), cells.sum(axis=0)
    agreeing = 0.0
    for (i, j), (k, m) in itertools.product(np.ndindex(cells.shape), repeat=2):
        agreeing += np.sign(i - k) * np.sign(j - m) * cells[i, j] * cells[k, m]
    return float(agreeing / math.sqrt((1 - (of_x**2).sum()) * (1 - (of_y**2).sum())))


def _cells(r: float) -> Array:
    """Probability of each rating and score ``[5, 4]``: rectangles of a bivariate normal."""
    edges = [(-math.inf, *cuts, math.inf) for cuts in (STEPS, COARSE)]
    joint = multivariate_normal(cov=[[1, r], [r, 1]])

    def below(x: float, y: float) -> float:
        if -math.inf in (x, y):
            return 0.0
        if math.inf in (x, y):
            return float(norm.cdf(min(x, y)))
        return float(joint.cdf([x, y]))

    table = np.array([[below(x, y) for y in edges[1]] for x in edges[0]])
    return np.diff(np.diff(table, axis=0), axis=1)


def skewed(sample: Sample, spread: float) -> Sample:
    """Scores to log-normal ones: many low, few very high."""
    human, metrics = sample
    return human, np.exp(spread * metrics)


def r_of_skewed(r: float, spread: float) -> float:
    """Pearson's r of :func:`skewed` scores (moments of the log-normal distribution)."""
    return r * spread / math.sqrt(math.exp(spread**2) - 1)


def heavy(rng: Generator, sample: Sample, freedom: float) -> Sample:
    """Items of bivariate t: the same correlation, but some items lie far out on both sides."""
    human, metrics = sample
    far = np.sqrt(freedom / rng.chisquare(freedom, size=human.shape))
    return human * far, metrics * far


def clustered(rng: Generator, sample: Sample, size: int, shared: float) -> Sample:
    """Noise of each cluster of ``size`` sources in a row is louder or quieter, as raters may be.

    The noise of a cluster has the standard deviation exp(shared * normal number).
    """
    human, metrics = sample
    loud = np.exp(shared * rng.normal(size=-(-len(human) // size)))
    return human + rng.normal(size=human.shape) * np.repeat(loud, size)[: len(human), None], metrics
