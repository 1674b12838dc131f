"""Permutation tests against swapping by hand, what may not matter, and where nothing is found."""

import itertools
import math

import numpy as np
import pytest

from tests.stats import oracles
from tests.stats.oracles import rng
from tstmeta.stats import STATISTICS, Setting, estimate, permutation, permutation_test

NAN = math.nan
every_units = pytest.mark.parametrize("units", ["inputs", "systems", "both"])


def standardised(scores, known):
    values = scores[known]
    return np.where(known, (scores - values.mean()) / values.std(), NAN)


def swapped_by_hand(human, first, second, setting, units, flips, digits=9):
    """The difference of standardised scores, and those after swaps ``[D, units]`` of the matrices
    themselves; the last digits, but for means, are rounded off.
    """
    known = np.isfinite(human) & np.isfinite(first) & np.isfinite(second)
    both = [np.round(standardised(side, known), digits) for side in (first, second)]
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
    most, random = (3, 2) if units == "both" else (4, 4), rng(len(name), len(level))
    for _ in range(130):
        human, first, second = oracles.table(random, *most, metrics=2)
        if random.random() < 0.3:
            human = random.normal(size=human.shape)  # without ties and gaps
        result = permutation_test(human, first, second, setting, units=units, rng=rng())
        known = np.isfinite(human + first + second)
        sides = np.where(known, [first, second], NAN)
        gap = estimate(human, sides, setting, [(0, 1)])[2]
        assert result.difference == pytest.approx(gap, abs=1e-12, nan_ok=True)
        if math.isnan(gap) or any(np.ptp(side[known]) == 0 for side in sides):
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
def test_random_swaps_are_made_at_every_level_for_every_statistic(monkeypatch, name, level, units):
    monkeypatch.setattr(permutation, "EXACT", 1)
    function = STATISTICS[name]
    random = rng(3)
    human = random.integers(0, 2 if name == "accuracy" else 4, (8, 5)).astype(float)
    metrics = np.round(human + random.normal(size=(2, 8, 5)), 1)
    human[1, 2] = metrics[0, 3, 3] = metrics[1, 3, :4] = NAN
    setting = Setting(function, level, tasks=np.arange(8) % 3, undefined=0.0)
    result = permutation_test(human, *metrics, setting, units=units, n=50, rng=rng(5))
    size = {"inputs": 8, "systems": 5, "both": 40}[units]
    counted = (np.isfinite(human) & np.isfinite(metrics).all(axis=0)).ravel()
    flips = np.zeros((50, size), dtype=int)
    lively = np.flatnonzero(counted) if units == "both" else np.arange(size)
    flips[:, lively] = rng(5).integers(0, 2, (50, len(lively)), dtype=np.int8)
    difference, after = swapped_by_hand(human, *metrics, setting, units, flips)
    large = (~(np.abs(after) < abs(difference) - 1e-6)).sum()
    assert result.p == (large + 1) / 51
    assert result.smallest == max(1 / 51, 2 / 2.0**result.n)


def test_neither_shift_nor_scale_of_a_metric_matters_but_its_sign_does():
    human, metrics = oracles.noisy(1, (12, 5), (1, 2))
    human = human.round()
    for setting in (Setting(), Setting("kendall", "system"), Setting("spearman", "source")):
        plain = permutation_test(human, *metrics, setting, rng=rng())
        for factor, offset in ((1e-6, 3.0), (1e100, 0.0), (5.0, -100.0)):
            moved = permutation_test(
                human, factor * metrics[0] + offset, metrics[1], setting, rng=rng()
            )
            assert moved.p == plain.p
    # of probabilities of whole texts, whose squares are 0, the ranks are left
    assert permutation_test(human, 1e-200 * metrics[0], metrics[1], setting, rng=rng()).p == plain.p
    negated = permutation_test(human, metrics[0], -metrics[0], Setting(), rng=rng())
    assert negated.difference > 1
    assert negated.p < 0.05  # equal but for the sign is not equal


def test_sources_of_a_cluster_are_swapped_together():
    human, metrics = oracles.noisy(1, (6, 4), (1, 2))
    labels = ["b", "a", "b", "c", "a", "c"]
    result = permutation_test(human, *metrics, Setting(), rng=rng(), clusters=labels)
    assert (result.n, result.smallest) == (3, 0.25)
    assert result.null.endswith("in any cluster of sources")
    clusters = np.array([1, 0, 1, 2, 0, 2])
    flips = np.array(list(itertools.product([0, 1], repeat=3)))[:, clusters]
    difference, after = swapped_by_hand(human, *metrics, Setting(), "inputs", flips)
    assert result.p == np.mean(np.abs(after) >= abs(difference) - 1e-9)
    for units, wrong, size in (("systems", labels, 4), ("inputs", labels[:5], 6)):
        with pytest.raises(ValueError, match=f"clusters must be {size} labels"):
            permutation_test(human, *metrics, Setting(), units=units, rng=rng(), clusters=wrong)
    how = {"units": "systems", "clusters": ["A", "B", "A", "B"]}
    result = permutation_test(human, *metrics, Setting(), rng=rng(), **how)
    assert (result.n, result.null.split()[-2:]) == (2, ["any", "system"])


ONES, RAMP = np.ones((4, 3)), np.arange(12.0).reshape(4, 3) % 5
CURVE = (RAMP - 1) ** 2
COLUMN = (RAMP[:, :1], CURVE[:, :1], -RAMP[:, :1])
R = Setting()
ROW = np.arange(4)[:, None]
TURNED = np.where(ROW < 2, RAMP, RAMP[:, ::-1])
BY_SOURCE = Setting("pearson", "source")
NONE, TOO_FEW = "no value in this setting: ", "the metrics differ in a single unit: p can only be 1"
DIGITS = (
    "standardised scores have another value: the statistic has a threshold on the scores' own scale"
    ", or many scores differ by too little to survive it"
)
#: human, first, second, setting; p and reason
DEGENERATE = {
    "a constant metric": ((RAMP, ONES, CURVE), R, NAN, "all scores of one metric are equal"),
    "two of them": ((RAMP, ONES, ONES), R, NAN, "all scores of both metrics are equal"),
    "the same metric twice": (
        *((RAMP, CURVE, CURVE), R, 1),
        "the standardised scores are the same in every cell: p can only be 1",
    ),
    "nothing": ((RAMP[:0],) * 3, R, NAN, "no cell has a human value and both scores"),
    "one source": ((RAMP[:1], CURVE[:1], -RAMP[:1]), R, 1, TOO_FEW),
    "one source with ratings": ((np.where(ROW < 1, RAMP, NAN), CURVE, -RAMP), R, 1, TOO_FEW),
    "one source with a value": ((RAMP * (ROW < 3), RAMP, TURNED), BY_SOURCE, 1, TOO_FEW),
    "one system at its level": (COLUMN, Setting("pearson", "system"), NAN, NONE + "both metrics"),
    "equal ratings": ((ONES, CURVE, -RAMP), R, NAN, NONE + "both metrics"),
    "equal scores of a source": ((RAMP, ROW * ONES, CURVE), BY_SOURCE, NAN, NONE + "one metric"),
    "no source for both": (
        *((RAMP, RAMP * (ROW < 2), CURVE * (ROW > 1)), BY_SOURCE, NAN),
        "there is no group in which both metrics have a value",
    ),
    "beyond the digits": ((RAMP, CURVE, np.exp(-90 * RAMP)), Setting("kendall"), NAN, DIGITS),
}


@pytest.mark.parametrize(
    ("matrices", "setting", "p", "reason"), DEGENERATE.values(), ids=DEGENERATE
)
def test_what_cannot_be_tested_says_why(matrices, setting, p, reason):
    result = permutation_test(*matrices, setting, rng=rng())
    assert (result.p, result.smallest) == pytest.approx((p, p), nan_ok=True)
    assert (result.reason, 0 <= result.n <= 4) == (reason, True)
    assert result.null.endswith("when they are swapped in any source")


@pytest.mark.parametrize(("sources", "smallest"), [(12, 2 / 4096), (13, 1 / 1001)])
def test_of_up_to_4096_swaps_all_are_made_and_otherwise_1000(sources, smallest):
    human, metrics = oracles.noisy(1, (sources, 2), (1, 2))
    assert permutation_test(human, *metrics, R, rng=rng()).smallest == smallest


def test_swaps_that_leave_a_metric_without_a_value_count_as_large():
    human = np.array([[1.0, 2, 3]])
    first, second = np.array([[0.0, 0, 1]]), np.array([[0.0, 1, 0]])
    result = permutation_test(human, first, second, Setting(), units="systems", rng=rng())
    # swapping the second or the third system alone makes one metric constant
    assert result.p == 1


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match=r"shape are needed, got \(2, 3\) and \(4, 3\)"):
        permutation_test(RAMP[:2], RAMP, RAMP, Setting(), rng=rng())
    with pytest.raises(ValueError, match="unknown unit 'raters'; known: inputs, systems, both"):
        permutation_test(RAMP, RAMP, CURVE, Setting(), units="raters", rng=rng())
