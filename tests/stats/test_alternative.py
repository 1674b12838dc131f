"""The alternative annotator test against its definition in loops, and against planted worlds."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tstmeta.stats.alternative import (
    alternative_annotator_test,
    flat_line,
    on_scale,
    rising,
)

NAN = math.nan


def rng(*seed):
    return np.random.default_rng(seed)


def ask(cube, metric, **arguments):
    return alternative_annotator_test(cube, metric, **{"rng": rng(0), **arguments})


def world(seed, *, noise=1.0, raters=5, shape=(40, 5)):
    """The truth of each cell and raters who see it through noise."""
    draw = rng(seed)
    truth = draw.normal(size=shape)
    return truth, truth[..., None] + noise * draw.normal(size=(*shape, raters)), draw


# ---------------------------------------------------------------------------- definition


def rmse(value, others):
    return math.sqrt(sum((value - other) ** 2 for other in others) / len(others))


def by_definition(cube, metric, epsilon, alpha, least, others):
    """Rows (n, metric, person, p, adjusted, beaten) of the raters tested; None for the others."""
    rows = []
    for rater in range(cube.shape[-1]):
        metric_wins, person_wins = [], []
        for cell in np.ndindex(metric.shape):
            rest = [v for r, v in enumerate(cube[cell]) if r != rater and math.isfinite(v)]
            own, score = cube[(*cell, rater)], metric[cell]
            if len(rest) < others or not math.isfinite(own) or not math.isfinite(score):
                continue
            near, far = round(rmse(score, rest), 9), round(rmse(own, rest), 9)
            metric_wins.append(near <= far)
            person_wins.append(near >= far)
        n = len(metric_wins)
        if n < least:
            rows.append(None)
            continue
        gaps = np.array(person_wins, float) - np.array(metric_wins, float)
        if len(set(gaps.tolist())) == 1:
            p = 0.5**n if gaps[0] < epsilon else 1.0
        elif n >= 30:
            p = stats.ttest_1samp(gaps, epsilon, alternative="less").pvalue
        else:
            p = stats.wilcoxon(gaps - epsilon, alternative="less", method="asymptotic").pvalue
        rows.append([n, np.mean(metric_wins), np.mean(person_wins), p])
    tested = [row for row in rows if row]
    m, largest = len(tested), 1.0
    factor = sum(1 / i for i in range(1, m + 1))
    for rank, row in reversed(list(enumerate(sorted(tested, key=lambda row: row[3]), 1))):
        largest = min(largest, row[3] * m * factor / rank)
        row += [largest, largest <= alpha]
    return rows


@pytest.mark.parametrize("least", [1, 12, 30])
def test_the_test_is_its_definition_in_loops(least):
    draw = rng(1, least)
    for _ in range(60):
        shape = (int(draw.integers(4, 14)), 4, 4)
        cube = draw.integers(1, 6, shape).astype(float)
        cube[draw.random(shape) < 0.3] = NAN
        metric = draw.integers(1, 6, shape[:2]) + draw.choice([0.0, 0.5])
        metric[draw.random(shape[:2]) < 0.1] = NAN
        epsilon, others = draw.choice([0.0, 0.1, 0.2]), int(draw.integers(1, 3))
        found = ask(
            cube, metric, epsilon=epsilon, mapping="none", least=least, others=others, alpha=0.2
        )
        wanted = by_definition(cube, metric, epsilon, 0.2, least, others)
        for row, want in zip(found.raters, wanted, strict=True):
            assert bool(row.reason) == (want is None)
            if want is not None:
                numbers = (row.n, row.metric, row.person, row.p, row.adjusted)
                assert numbers == pytest.approx(want[:5])
                assert row.beaten == want[5]
        tested = [want for want in wanted if want]
        if tested:
            assert found.omega == pytest.approx(np.mean([want[5] for want in tested]))
            assert found.rho == pytest.approx(np.mean([want[1] for want in tested]))
            assert found.n == sum(want[0] for want in tested)
            assert found.passed == (found.omega >= 0.5)
        else:
            assert math.isnan(found.omega)
            assert found.reason


def test_one_item_a_source_makes_sources_and_items_the_same_test():
    truth, cube, draw = world(2, shape=(60, 1), noise=0.5)
    metric = truth + draw.normal(size=truth.shape)
    items, sources = (
        ask(cube, metric, mapping="none", independent=what) for what in ("items", "sources")
    )
    for first, second in zip(items.raters, sources.raters, strict=True):
        assert second == pytest.approx(first)


def test_repeated_items_make_items_look_surer_than_sources_are():
    truth, cube, draw = world(3, shape=(40, 1), noise=1.0)
    metric = truth + 0.8 * draw.normal(size=truth.shape)
    six = (np.repeat(cube, 6, axis=1), np.repeat(metric, 6, axis=1))
    once = ask(cube, metric, mapping="none")
    items = ask(*six, mapping="none")
    sources = ask(*six, mapping="none", independent="sources")
    for one, many, grouped in zip(once.raters, items.raters, sources.raters, strict=True):
        assert grouped.p == pytest.approx(one.p)
        assert abs(many.p - 0.5) >= abs(one.p - 0.5)


def rejected_at_the_margin(n, runs=400, epsilon=0.2):
    """How often a rater is beaten who is better than the metric by just epsilon; the test used."""
    draw, beaten = rng(4, n), 0
    for _ in range(runs):
        metric = np.where(draw.random((n, 1)) < 0.5 - epsilon / 2, 0.5, 2.0)
        cube = np.stack([np.ones((n, 1)), np.zeros((n, 1))], axis=-1)
        row = ask(cube, metric, mapping="none", epsilon=epsilon, least=20).raters[0]
        beaten += row.p <= 0.05
    return beaten / runs, row.test


def test_a_rater_at_the_margin_is_beaten_in_about_five_percent():
    share, test = rejected_at_the_margin(60)
    assert test == "t"
    assert 0.01 <= share <= 0.08


def test_signed_ranks_below_thirty_items_beat_far_too_many_which_is_why_thirty_is_the_least():
    share, test = rejected_at_the_margin(25)
    assert test == "wilcoxon"
    assert share > 0.15


# ------------------------------------------------------------------------- planted worlds


def test_a_metric_that_sees_the_truth_passes_and_noise_does_not():
    truth, cube, draw = world(5, noise=0.6)
    good, noise = ask(cube, np.exp(truth)), ask(cube, draw.normal(size=truth.shape))
    line = flat_line(cube, rng=rng(0))
    assert good.passed
    assert good.omega == 1
    assert not noise.passed
    assert line.omega == 0
    assert good.rho > 0.6 > line.rho
    assert good.mapping == "isotonic, cross-fitted over 5 folds of sources"


def test_a_metric_against_people_becomes_a_flat_line_and_fails():
    truth, cube, _ = world(6, noise=3.0)
    found = ask(cube, -truth)
    line = flat_line(cube, rng=rng(0))
    # raters this noisy are beaten by the mean rating itself: omega alone would let it pass
    assert line.omega == 1
    assert found.omega == pytest.approx(line.omega)
    assert found.rho == pytest.approx(line.rho)
    assert not found.passed
    assert not line.passed
    assert found.reason.startswith("flat line")


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)))
def test_the_order_of_raters_changes_nothing_but_their_rows(seed, order):
    draw = rng(seed)
    cube = draw.integers(1, 6, (12, 3, 4)).astype(float)
    cube[draw.random(cube.shape) < 0.3] = NAN
    metric = draw.normal(size=(12, 3))
    first, second = (ask(c, metric, least=5) for c in (cube, cube[..., order]))
    assert second.omega == pytest.approx(first.omega, nan_ok=True)
    assert second.rho == pytest.approx(first.rho, nan_ok=True)
    for place, rater in enumerate(order):
        assert second.raters[place].p == pytest.approx(first.raters[rater].p, nan_ok=True)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 10), st.floats(-5, 5))
def test_the_unit_of_a_metric_does_not_matter(seed, slope, shift):
    draw = rng(seed)
    cube, metric = draw.normal(size=(12, 3, 3)), draw.normal(size=(12, 3))
    first, second = (ask(cube, m, least=5) for m in (metric, slope * metric + shift))
    assert second.rho == pytest.approx(first.rho)
    assert second.omega == pytest.approx(first.omega)


def test_raters_with_few_items_are_left_out_with_the_reason():
    truth, cube, _ = world(7, noise=0.6)
    cube[4:, :, 3], cube[:, :, 4] = NAN, NAN
    found = ask(cube, truth)
    assert [row.reason for row in found.raters] == [
        *("", "", "", "20 items, fewer than 30"),
        "no items to compare on",
    ]
    assert found.omega == 1
    assert ask(cube, truth, least=20).raters[3].test == "wilcoxon"
    by_sources = ask(cube, truth, independent="sources")
    assert by_sources.raters[3].reason == "4 sources, fewer than 30"


# -------------------------------------------------------------------------------- the map


def test_a_source_is_never_mapped_by_its_own_ratings():
    truth, cube, _ = world(8, shape=(15, 3))
    before = on_scale(cube, truth, 5, rng(0))
    for source in range(15):
        poisoned = cube.copy()
        poisoned[source] += 100
        after = on_scale(poisoned, truth, 5, rng(0))
        assert after.values[source] == pytest.approx(before.values[source])
        assert (np.abs(after.values - before.values) > 1).any()


def test_the_map_rises_and_stays_inside_the_ratings():
    draw = rng(9)
    for _ in range(200):
        n = int(draw.integers(1, 30))
        scores, people = draw.integers(0, 8, n) / 3, draw.normal(size=n)
        weights = draw.integers(1, 5, n).astype(float)
        at, height = rising(scores, people, weights)
        assert (np.diff(at) > 0).all()
        assert (np.diff(height) >= -1e-12).all()
        fitted = np.interp(scores, at, height)
        assert np.average(fitted, weights=weights) == pytest.approx(
            np.average(people, weights=weights)
        )
        assert height.min() >= people.min() - 1e-12
        assert height.max() <= people.max() + 1e-12


def test_the_map_equals_that_of_scikit_learn():
    isotonic = pytest.importorskip("sklearn.isotonic")
    draw = rng(10)
    for _ in range(200):
        n = int(draw.integers(1, 30))
        scores, people = draw.integers(0, 8, n) / 3, draw.normal(size=n)
        weights = draw.integers(1, 5, n).astype(float)
        asked = draw.normal(1, 2, 20)
        model = isotonic.IsotonicRegression(out_of_bounds="clip")
        wanted = model.fit(scores, people, sample_weight=weights).predict(asked)
        assert np.interp(asked, *rising(scores, people, weights)) == pytest.approx(wanted)


# ----------------------------------------------------------------------------- degenerate

MANY = np.ones((40, 2, 1))
#: cube, metric, part of the reason
NOBODY = {
    "no raters": (np.empty((40, 2, 0)), np.ones((40, 2)), "no single ratings"),
    "all missing": (np.full((40, 2, 3), NAN), np.ones((40, 2)), "no single ratings"),
    "one rater": (MANY, np.ones((40, 2)), "no cell has ratings from two raters"),
    "no scores": (np.ones((40, 2, 3)), np.full((40, 2), NAN), "the metric has no scores"),
    "one source": (
        np.ones((1, 40, 3)),
        np.ones((1, 40)),
        "the metric has no scores, or one source",
    ),
    "few items": (np.ones((5, 2, 3)), np.ones((5, 2)), "10 items, fewer than 30"),
}


@pytest.mark.parametrize(("cube", "metric", "reason"), NOBODY.values(), ids=NOBODY)
def test_where_no_rater_can_be_tested_the_reason_is_given(cube, metric, reason):
    found = ask(cube, metric)
    assert math.isnan(found.omega)
    assert math.isnan(found.rho)
    assert not found.passed
    assert reason in found.reason


def test_raters_who_all_say_the_same_tie_with_the_flat_line():
    found = ask(np.full((40, 2, 3), 4.0), rng(0).normal(size=(40, 2)))
    assert found.rho == 1
    assert [row.test for row in found.raters] == ["constant"] * 3
    assert found.raters[0].p == 0.5**80
    assert not found.passed


def test_a_metric_that_always_loses_has_p_one():
    cube = np.zeros((40, 2, 3))
    row = ask(cube, np.ones((40, 2)), mapping="none").raters[0]
    assert (row.metric, row.person, row.p, row.test) == (0, 1, 1, "constant")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": -0.1}, "epsilon"),
        ({"epsilon": 1.0}, "epsilon"),
        ({"folds": 1}, "two folds"),
        ({"least": 0}, "two folds"),
        ({"others": 0}, "two folds"),
    ],
)
def test_arguments_beyond_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        ask(MANY, np.ones((40, 2)), **changes)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"ratings \[sources, systems, raters\]"):
        ask(MANY, np.ones((40, 3)))
