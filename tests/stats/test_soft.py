"""Soft pairwise accuracy against loops over pairs."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tests.stats import oracles
from tstmeta.stats import ResamplingPlan, Setting, correlate, draw, resampled

NAN = math.nan
SOFT = Setting("soft-pairwise-accuracy", "system")


def sureness(differences):
    """One-sided p of a sum under flips of signs, by the normal approximation."""
    square = math.fsum(d * d for d in differences)
    z = math.fsum(differences) / math.sqrt(square) if square else 0.0
    return scipy_stats.norm.sf(z)


def soft(human, metric, rows, columns):
    """Over pairs of different systems among the drawn ones."""
    gaps = []
    for i, j in itertools.combinations(columns, 2):
        shared = [s for s in rows if np.isfinite([human[s, [i, j]], metric[s, [i, j]]]).all()]
        if i != j and shared:
            of_human, of_metric = (
                sureness([side[s, i] - side[s, j] for s in shared]) for side in (human, metric)
            )
            gaps.append(abs(of_human - of_metric))
    return 1 - math.fsum(gaps) / len(gaps) if gaps else NAN


def test_values_and_draws_are_those_of_loops():
    compared, random = 0, oracles.rng(1, 9)
    for _ in range(150):
        human, metric = oracles.table(random, sources=6)
        expected = soft(human, metric, *map(range, human.shape))
        assert correlate(human, metric, SOFT).value == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )
        compared += not math.isnan(expected)
        draws = draw(ResamplingPlan("both", 3), human.shape, random)
        metrics = np.stack([metric, metric[::-1]])
        result = resampled(human, metrics, SOFT, draws)
        for m, d in np.ndindex(2, 3):
            drawn = (oracles.repeated(side[d]) for side in (draws.sources, draws.systems))
            expected = soft(human, metrics[m], *drawn)
            assert result[m, d] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert compared > 60


#: people, metric, value
EDGES = {
    "no source in common": ([[1, NAN], [NAN, 1]], [[1, 2], [1, 2]], NAN),
    "all ties": (np.ones((4, 3)), np.ones((4, 3)), 1),
    "ties but for rounding": (np.full((4, 2), 0.3), [[0.3, 0.1 + 0.2]] * 4, 1),
    "systems with the same values in another order": ([[1, 2], [2, 1]], [[1, 2], [2, 1]], 1),
}


@pytest.mark.parametrize(("human", "metric", "value"), EDGES.values(), ids=EDGES)
def test_edges(human, metric, value):
    result = correlate(human, metric, SOFT).value
    assert result == pytest.approx(value, nan_ok=True)
