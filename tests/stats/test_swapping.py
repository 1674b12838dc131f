"""Swaps against swapping by hand: every swap of tiny matrices, and the same random swaps."""

import itertools
import math

import numpy as np
import pytest

from tests.stats import oracles
from tests.stats.oracles import rng
from tstmeta.stats import STATISTICS, Setting, estimate, permutation_test
from tstmeta.stats.swapping import standardise

NAN = math.nan
UNITS = ("inputs", "systems", "both")
every_units = pytest.mark.parametrize("units", UNITS)


def draws(seed: int, count: int, most: tuple[int, int] = (4, 3)):
    """Small matrices of people and two metrics, most with ties and many with missing cells."""
    random = rng(seed)
    for _ in range(count):
        shape = tuple(int(random.integers(1, size + 1)) for size in most)
        if random.random() < 0.7:
            human, *both = random.integers(0, int(random.integers(2, 6)), (3, *shape)) / 3.0
        else:
            human, *both = random.normal(size=(3, *shape))
        for matrix in (human, *both):
            if random.random() < 0.3:
                matrix[random.random(shape) < 0.2] = NAN
        yield human, both[0], both[1]


def standardised(scores, given):
    known = scores[given]
    return np.where(given, (scores - known.mean()) / known.std(), NAN)


def swapped_by_hand(human, first, second, setting, units, flips, digits=9):
    """The difference of standardised scores, and those after swaps ``[D, units]`` of the matrices
    themselves; the last digits, but for means, are rounded off.
    """
    given = np.isfinite(human) & np.isfinite(first) & np.isfinite(second)
    both = [np.round(standardised(side, given), digits) for side in (first, second)]
    shape = human.shape
    places = {"inputs": (shape[0], 1), "systems": (1, shape[1]), "both": shape}[units]
    result = []
    for flip in [np.zeros(math.prod(places)), *flips]:
        swap = np.broadcast_to(flip.reshape(places) > 0, shape)
        sides = np.array([np.where(swap, *both[::-1]), np.where(swap, *both)])
        result.append(estimate(human, sides, setting, [(0, 1)])[2])
    return result[0], np.array(result[1:])


@every_units
@pytest.mark.parametrize("level", ["pooled", "source", "system"])
@pytest.mark.parametrize("name", ["pearson", "kendall"])
def test_an_exact_test_makes_every_swap(name, level, units):
    tested, setting = 0, Setting(name, level)
    most = (3, 2) if units == "both" else (4, 4)
    for human, first, second in draws(len(name) + len(level), 130, most):
        result = permutation_test(human, first, second, setting, units=units, rng=rng())
        given = np.isfinite(human + first + second)
        sides = np.where(given, [first, second], NAN)
        gap = estimate(human, sides, setting, [(0, 1)])[2]
        assert result.exact
        assert result.difference == pytest.approx(gap, abs=1e-12, nan_ok=True)
        if math.isnan(gap) or any(np.ptp(side[given]) == 0 for side in sides):
            assert math.isnan(result.p)
            continue
        size = {"inputs": human.shape[0], "systems": human.shape[1], "both": human.size}[units]
        every = np.array(list(itertools.product([0, 1], repeat=size)))
        digits = 15 if level == "system" else 7
        difference, after = swapped_by_hand(human, *sides, setting, units, every, digits)
        assert result.p == np.mean(~(np.abs(after) < abs(difference) - 1e-6))
        assert result.reason == "" or result.p == 1
        assert result.smallest <= result.p
        tested += result.p < 1
    assert tested > 10 or level == "system" or units == "both"


@every_units
@pytest.mark.parametrize(("name", "level"), oracles.PLACES)
def test_random_swaps_are_made_at_every_level_for_every_statistic(name, level, units):
    function = STATISTICS[name]
    random = rng(3)
    human = random.integers(0, 2 if name == "preference" else 4, (8, 5)).astype(float)
    metrics = np.round(human + random.normal(size=(2, 8, 5)), 1)
    human[1, 2] = metrics[0, 3, 3] = metrics[1, 3, :4] = NAN
    setting = Setting(function, level, tasks=np.arange(8) % 3, undefined=0.0)
    result = permutation_test(
        human, *metrics, setting, units=units, n=50, rng=rng(5), enumerate_up_to=1
    )
    size = {"inputs": 8, "systems": 5, "both": 40}[units]
    counted = (np.isfinite(human) & np.isfinite(metrics).all(axis=0)).ravel()
    flips = np.zeros((50, size), dtype=int)
    lively = np.flatnonzero(counted) if units == "both" else np.arange(size)
    flips[:, lively] = rng(5).integers(0, 2, (50, len(lively)), dtype=np.int8)
    difference, after = swapped_by_hand(human, *metrics, setting, units, flips)
    large = (~(np.abs(after) < abs(difference) - 1e-6)).sum()
    assert result.p == (large + 1) / 51
    assert (result.draws, result.exact) == (50, False)
    assert result.smallest == max(1 / 51, 2 / 2.0**result.n)


def test_scores_come_to_one_mean_and_variance_one_over_the_cells_given():
    scores = rng().normal(5, 3, (2, 6, 4)) * [[[1]], [[1e-9]]]
    scores[:, 2, 1] = NAN
    result, flat = standardise(scores)
    assert not flat.any()
    np.testing.assert_array_equal(np.isnan(result), np.isnan(scores))
    np.testing.assert_allclose(np.nanstd(result, axis=(-2, -1)), 1)
    np.testing.assert_allclose(*np.nanmean(result, axis=(-2, -1)))
    assert np.nanmin(result) == 0
    for scaled, before in zip(result.reshape(2, -1), scores.reshape(2, -1), strict=True):
        np.testing.assert_array_equal(np.argsort(scaled), np.argsort(before))


def test_scores_that_are_the_same_but_for_scale_become_the_same():
    random = rng(1)
    for _ in range(200):
        scores = random.integers(0, 7, (5, 4)) / random.choice([1, 3, 7])
        scale, shift = 10.0 ** random.uniform(-5, 5), random.normal()
        if np.ptp(scores) == 0:
            continue
        result, _ = standardise(np.array([scores, scale * scores + shift * scale]))
        np.testing.assert_array_equal(*result)
        ties = scores.ravel()[:, None] == scores.ravel()
        np.testing.assert_array_equal(result[0].ravel()[:, None] == result[1].ravel(), ties)
