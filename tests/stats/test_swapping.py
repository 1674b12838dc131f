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


def difference_by_hand(name, level, x, first, second, digits=7):
    """Of scores whose last digits, but for means, are rounded off; over the groups of both."""
    sides = [side if level == "system" else np.round(side, digits) for side in (first, second)]
    every = range(x.shape[1])
    rows = [[s] for s in range(len(x))] if level == "source" else [range(len(x))]
    gaps = [
        np.subtract(*(oracles.at_level(name, level, x, side, row, every) for side in sides))
        for row in rows
    ]
    known = [gap for gap in gaps if not math.isnan(gap)]
    return sum(known) / len(known) if known else NAN


def exact_by_hand(name, level, units, human, first, second):
    """Every swap, each alone; the difference, p and the number of swaps."""
    given = ~np.isnan(human) & ~np.isnan(first) & ~np.isnan(second)
    if not given.any():
        return NAN, NAN, 0
    x, a, b = (np.where(given, side, NAN) for side in (human, first, second))
    difference = difference_by_hand(name, level, x, a, b, digits=15)
    if math.isnan(difference) or np.ptp(a[given]) == 0 or np.ptp(b[given]) == 0:
        return difference, NAN, 0
    a, b = standardised(a, given), standardised(b, given)
    shape = human.shape
    places = {"inputs": (shape[0], 1), "systems": (1, shape[1]), "both": shape}[units]
    large, count = 0, 0
    for bits in itertools.product([False, True], repeat=places[0] * places[1]):
        swap = np.broadcast_to(np.array(bits).reshape(places), shape)
        sides = np.where(swap, b, a), np.where(swap, a, b)
        after = difference_by_hand(name, level, x, *sides)
        large += math.isnan(after) or abs(after) >= abs(difference) - 1e-6
        count += 1
    return difference, large / count, count


@every_units
@pytest.mark.parametrize("level", ["pooled", "source", "system"])
@pytest.mark.parametrize("name", ["pearson", "kendall"])
def test_an_exact_test_makes_every_swap(name, level, units):
    tested = 0
    most = (3, 2) if units == "both" else (4, 4)
    for human, first, second in draws(len(name) + len(level), 130, most):
        difference, p, count = exact_by_hand(name, level, units, human, first, second)
        result = permutation_test(
            human, first, second, Setting(name, level), units=units, rng=rng()
        )
        assert result.exact
        assert result.difference == pytest.approx(difference, abs=1e-7, nan_ok=True)
        assert result.p == pytest.approx(p, abs=1e-12, nan_ok=True)
        assert (result.reason == "") or math.isnan(p) or p == 1
        if count:
            tested += p < 1
            assert result.smallest <= result.p
    assert tested > 10 or level == "system" or units == "both"


def swapped_by_hand(human, first, second, setting, units, flips):
    """p of given swaps ``[D, units]``, each of the whole matrices, through ``estimate``."""
    given = np.isfinite(human) & np.isfinite(first) & np.isfinite(second)
    sides = (np.where(given, side, NAN) for side in (first, second))
    both = [np.round(standardised(side, given), 9) for side in sides]
    shape = human.shape
    places = {"inputs": (shape[0], 1), "systems": (1, shape[1]), "both": shape}[units]
    result = []
    for flip in flips:
        swap = np.broadcast_to(flip.reshape(places) > 0, shape)
        values = estimate(
            human, np.array([np.where(swap, *both[::-1]), np.where(swap, *both)]), setting
        )
        result.append(values[0] - values[1])
    observed = estimate(human, np.array(both), setting)
    return observed[0] - observed[1], np.array(result)


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
