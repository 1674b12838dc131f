"""The alternative annotator test against its definition in loops, and against planted worlds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from tests.stats.oracles import ratings, rng
from tstmeta.stats.alternative import alternative_annotator_test, on_scale

NAN = math.nan


def judge(cube, metric, **arguments):
    return alternative_annotator_test(cube, metric, rng=rng(0), **arguments)


def world(seed, *, noise=1.0, raters=5, shape=(40, 5)):
    """The truth of each cell and raters who see it through noise."""
    draw = rng(seed)
    truth = draw.normal(size=shape)
    return truth, truth[..., None] + noise * draw.normal(size=(*shape, raters)), draw


def rmse(value, others):
    return math.sqrt(sum((value - other) ** 2 for other in others) / len(others))


def by_definition(cube, metric, epsilon):
    """Rows (n, metric, person, p, adjusted, beaten) of the raters tested; None for the others."""
    rows = []
    for rater in range(cube.shape[-1]):
        metric_wins, person_wins = [], []
        for cell in np.ndindex(metric.shape):
            rest = [v for r, v in enumerate(cube[cell]) if r != rater and math.isfinite(v)]
            rated, score = cube[(*cell, rater)], metric[cell]
            if not rest or not math.isfinite(rated) or not math.isfinite(score):
                continue
            near, far = round(rmse(score, rest), 9), round(rmse(rated, rest), 9)
            metric_wins.append(near <= far)
            person_wins.append(near >= far)
        n = len(metric_wins)
        if n < 30:
            rows.append(None)
            continue
        gaps = np.array(person_wins, float) - np.array(metric_wins, float)
        if len(set(gaps.tolist())) == 1:
            p = 0.5**n if gaps[0] < epsilon else 1.0
        else:
            p = stats.ttest_1samp(gaps, epsilon, alternative="less").pvalue
        rows.append([n, np.mean(metric_wins), np.mean(person_wins), p])
    tested = [row for row in rows if row]
    adjusted = stats.false_discovery_control([row[3] for row in tested] or [1], method="by")
    for row, p in zip(tested, adjusted, strict=False):
        row += [p, p <= 0.05]
    return rows


def test_the_test_is_its_definition_in_loops():
    draw, untested = rng(1), 0
    for _ in range(80):
        shape = (int(draw.integers(8, 20)), 4, 4)
        cube = ratings(draw, shape, missing=0.3, top=6)
        metric = draw.integers(1, 6, shape[:2]) + draw.choice([0.0, 0.5])
        metric[draw.random(shape[:2]) < 0.1] = NAN
        epsilon = draw.choice([0.0, 0.1, 0.2])
        result = judge(cube, metric, epsilon=epsilon, mapping="none")
        wanted = by_definition(cube, metric, epsilon)
        for row, want in zip(result.raters, wanted, strict=True):
            assert bool(row.reason) == (want is None)
            if want is not None:
                assert row[:6] == pytest.approx(want)
        small = judge(1e-6 * cube, 1e-6 * metric, epsilon=epsilon, mapping="none")
        assert small.rho == pytest.approx(result.rho, nan_ok=True)
        tested = [want for want in wanted if want]
        if tested:
            assert result.omega == pytest.approx(np.mean([want[5] for want in tested]))
            assert result.rho == pytest.approx(np.mean([want[1] for want in tested]))
            assert result.n == sum(want[0] for want in tested)
            assert result.passed == (result.omega >= 0.5)
        else:
            untested += 1
            assert math.isnan(result.omega)
            assert result.reason
    assert 0 < untested < 40


def test_a_metric_that_sees_the_truth_passes_and_noise_does_not():
    truth, cube, draw = world(5, noise=0.6)
    good, noise = judge(cube, np.exp(truth)), judge(cube, draw.normal(size=truth.shape))
    line = judge(cube, 0 * truth)
    assert good.passed
    assert good.omega == 1
    assert not noise.passed
    assert line.omega == 0
    assert good.rho > 0.6 > line.rho
    with pytest.raises(ValueError, match="unknown mapping 'linear'; known: isotonic, none"):
        judge(cube, truth, mapping="linear")


def test_a_metric_against_people_becomes_a_flat_line_and_fails():
    truth, cube, _ = world(6, noise=3.0)
    result = judge(cube, -truth)
    line = judge(cube, 0 * truth)
    # raters this noisy are beaten by the mean rating itself: omega alone would let it pass
    assert line.omega == 1
    assert result.omega == pytest.approx(line.omega)
    assert result.rho == pytest.approx(line.rho)
    assert not result.passed
    assert not line.passed
    assert result.reason.startswith("flat line")


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.permutations(range(4)))
def test_the_order_of_raters_changes_nothing_but_their_rows(seed, order):
    draw = rng(seed)
    cube = ratings(draw, (14, 3, 4), missing=0.3, top=6)
    metric = draw.normal(size=(14, 3))
    first, second = (judge(c, metric) for c in (cube, cube[..., order]))
    assert second.omega == pytest.approx(first.omega, nan_ok=True)
    assert second.rho == pytest.approx(first.rho, nan_ok=True)
    for place, rater in enumerate(order):
        assert second.raters[place].p == pytest.approx(first.raters[rater].p, nan_ok=True)


def test_a_source_is_never_mapped_by_its_own_ratings():
    truth, cube, _ = world(8, shape=(15, 3))
    before, flat = on_scale(cube, truth, rng(0))
    assert not flat
    for source in range(15):
        poisoned = cube.copy()
        poisoned[source] += 100
        after, _ = on_scale(poisoned, truth, rng(0))
        assert after[source] == pytest.approx(before[source])
        assert (np.abs(after - before) > 1).any()


def test_two_sources_map_each_other_and_a_rating_of_many_counts_for_many():
    cube, scores = rng(9).integers(1, 6, (2, 8, 3)).astype(float), rng(9).normal(size=(2, 8))
    cube[:, 2:, 1] = cube[:, 5:, 2] = NAN
    people, count = np.nanmean(cube, axis=2), np.isfinite(cube).sum(axis=2)
    mapped, _ = on_scale(cube, scores, rng(0))
    for one, other in ((0, 1), (1, 0)):
        fit = IsotonicRegression(out_of_bounds="clip")
        fit.fit(scores[one], people[one], sample_weight=count[one])
        assert mapped[other] == pytest.approx(fit.predict(scores[other]))
    rising, falling = np.tile(np.arange(8.0), (2, 1)), np.arange(8.0)[::-1]
    for order in (1, -1):  # flat in one fold is not flat
        people = np.stack([rising[0], falling])[::order, :, None]
        assert not on_scale(people, rising, rng(0))[1]
    for equal in (0 * people, 1e6 + 1e-5 * people):
        assert on_scale(equal, rising, rng(0))[1]


MANY = np.ones((40, 2, 1))
#: cube, metric, part of the reason
NOBODY = {
    "no raters": (np.empty((40, 2, 0)), np.ones((40, 2)), "no single ratings"),
    "one rater": (MANY, np.ones((40, 2)), "no cell has ratings from two raters"),
    "one source": (np.ones((1, 40, 3)), np.ones((1, 40)), "no items to compare on"),
}


@pytest.mark.parametrize(("cube", "metric", "reason"), NOBODY.values(), ids=NOBODY)
def test_where_no_rater_can_be_tested_the_reason_is_given(cube, metric, reason):
    result = judge(cube, metric)
    assert math.isnan(result.omega)
    assert math.isnan(result.rho)
    assert (result.passed, result.n) == (False, 0)
    assert reason in result.reason


def test_raters_with_few_items_are_left_out_with_the_reason():
    truth, cube, _ = world(7, noise=0.6)
    cube[4:, :, 3], cube[:, :, 4] = NAN, NAN
    result = judge(cube, truth)
    reasons = ["", "", "", "20 items, fewer than 30", "no items to compare on"]
    assert [row.reason for row in result.raters] == reasons
    assert [row.n for row in result.raters[3:]] == [20, 0]
    assert result.omega == 1


def test_without_spread_p_is_that_of_a_sign_test_or_one():
    result = judge(np.full((40, 2, 3), 4.0), rng(0).normal(size=(40, 2)))
    assert (result.rho, result.passed) == (1, False)
    assert [row.p for row in result.raters] == [0.5**80] * 3
    row = judge(np.zeros((40, 2, 3)), np.ones((40, 2)), mapping="none").raters[0]
    assert (row.metric, row.person, row.p) == (0, 1, 1)
    equal = judge(np.ones((40, 2, 3)), np.ones((40, 2)), mapping="none", epsilon=0.0)
    assert [row.p for row in equal.raters] == [1] * 3
