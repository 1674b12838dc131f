"""Held-out raters against loops over cells; alpha against its package; components of variance."""

import itertools
import math

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stats import oracles
from tstmeta.stats import Setting, alpha, ceiling, d_study, variance_components
from tstmeta.stats.raters import VarianceComponents

NAN = math.nan

LEVELS = ("pooled", "source", "within-system", "system")


def ratings(rng, shape=(4, 3, 3), missing=0.25, top=4):
    """A small cube of whole ratings with gaps."""
    cube = rng.integers(1, top, shape).astype(float)
    cube[rng.random(shape) < missing] = NAN
    return cube


def ceiling_by_hand(cube, metric, name, level):
    """Per rater: value, the metric's value, number of cells."""
    values, every = [], [range(size) for size in metric.shape]
    for rater in range(cube.shape[-1]):
        others, rated, side = np.full((3, *metric.shape), NAN)
        for cell in np.ndindex(metric.shape):
            rest = [v for r, v in enumerate(cube[cell]) if r != rater and v > 0]
            if rest and cube[(*cell, rater)] > 0 and math.isfinite(metric[cell]):
                others[cell] = sum(rest) / len(rest)
                rated[cell], side[cell] = cube[(*cell, rater)], metric[cell]
        both = [oracles.at_level(name, level, others, table, *every) for table in (rated, side)]
        values.append((*both, int(np.isfinite(rated).sum())))
    return values


def averaged(pairs):
    known = [(value, weight) for value, weight in pairs if math.isfinite(value) and weight]
    return sum(v * w for v, w in known) / sum(w for _, w in known) if known else NAN


@pytest.mark.parametrize("statistic", ["pearson", "kendall"])
@pytest.mark.parametrize("level", LEVELS)
def test_a_held_out_rater_and_a_metric_equal_loops_over_cells(statistic, level):
    rng = np.random.default_rng([LEVELS.index(level), len(statistic)])
    for _ in range(150):
        cube = ratings(rng)
        metric = rng.integers(0, 4, cube.shape[:2]).astype(float)
        metric[rng.random(metric.shape) < 0.1] = NAN
        result = ceiling(cube, Setting(statistic, level), metric[None])
        wanted = ceiling_by_hand(cube, metric, statistic, level)
        assert result.by_rater == pytest.approx([w[0] for w in wanted], nan_ok=True, abs=1e-7)
        assert result.value == pytest.approx(
            averaged([(w[0], w[2]) for w in wanted]), nan_ok=True, abs=1e-7
        )
        same = [(w[1], w[2] if math.isfinite(w[0]) else 0) for w in wanted]
        assert result.metrics[0] == pytest.approx(averaged(same), nan_ok=True, abs=1e-7)
        assert math.isfinite(result.value) == (result.reason == "")


@given(st.integers(0, 2**32 - 1), st.permutations(range(4)), st.sampled_from(LEVELS))
def test_the_order_of_raters_changes_nothing(seed, order, level):
    cube = ratings(np.random.default_rng(seed), (5, 4, 4), top=6) / 3
    metric = np.random.default_rng(seed + 1).normal(size=(1, 5, 4))
    first, second = (
        ceiling(c, Setting("kendall", level), metric) for c in (cube, cube[..., order])
    )
    assert second.value == pytest.approx(first.value, nan_ok=True)
    assert second.by_rater == pytest.approx(first.by_rater[list(order)], nan_ok=True)
    assert second.metrics == pytest.approx(first.metrics, nan_ok=True)


def test_everything_faces_the_cells_that_all_metrics_scored():
    rng = np.random.default_rng(2)
    cube = ratings(rng, (10, 4, 3), missing=0.1, top=6)
    metric, gaps, absent = rng.normal(size=(3, 10, 4))
    gaps[:4], absent[:] = NAN, NAN
    result = ceiling(cube, Setting(), [metric, gaps, absent])
    alone = ceiling(cube[4:], Setting(), [metric[4:], gaps[4:]])
    assert result.value == pytest.approx(alone.value)
    assert result.metrics[:2] == pytest.approx(alone.metrics)
    assert math.isnan(result.metrics[2])
    assert result.n == alone.n


def cube_of(*layers):
    return np.moveaxis(np.array(layers, dtype=float), 0, -1)


RATER = [[1, 2, 3], [2, 3, 1]]
NONE = np.full((2, 3), NAN)
#: cube, reason
DEGENERATE = {
    "no raters": (np.empty((2, 3, 0)), "not identifiable: no single ratings"),
    "all missing": (cube_of(NONE, NONE), "not identifiable: no single ratings"),
    "one rater": (cube_of(RATER), "no cell has ratings from two raters"),
    "a constant rater": (cube_of(RATER, np.ones((2, 3))), "no rater has a value"),
}


@pytest.mark.parametrize(("cube", "reason"), DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("level", LEVELS)
def test_what_has_no_ceiling_says_why(cube, reason, level):
    result = ceiling(cube, Setting("pearson", level), np.zeros((1, *cube.shape[:2])))
    assert math.isnan(result.value)
    assert np.isnan(result.metrics).all()
    assert (result.n, result.reason) == (0, reason)


def mean_reliability(share, raters):
    """Spearman and Brown: reliability of the mean of so many raters."""
    return raters * share / (1 + (raters - 1) * share)


@pytest.mark.parametrize(("share", "raters"), itertools.product((0.3, 0.7), (2, 5)))
def test_the_ceiling_of_simulated_raters_follows_from_their_reliability(share, raters):
    rng = np.random.default_rng([raters, int(10 * share)])
    truth = rng.normal(size=(2000, 4))
    noise = rng.normal(size=(2000, 4, raters)) * math.sqrt(1 / share - 1)
    rater_to_rest = math.sqrt(share * mean_reliability(share, raters - 1))
    result = ceiling(truth[..., None] + noise, Setting())
    assert result.value == pytest.approx(rater_to_rest, abs=0.02)


SCALES = ("ordinal", "interval")
#: matrix [items, raters], items with two ratings, raters who gave one of them, reason
NO_ALPHA = {
    "no items": (np.empty((0, 3)), 0, 0, "no item has ratings from two raters"),
    "one rater": ([[1], [2]], 0, 0, "no item has ratings from two raters"),
    "never two on one item": ([[1, NAN], [NAN, 2]], 0, 0, "no item has ratings from two raters"),
    "all equal": ([[2, 2], [2, 2]], 2, 2, "all ratings are equal"),
    "others only on single ratings": ([[2, 2], [1, NAN]], 1, 2, "all ratings are equal"),
}


@pytest.mark.parametrize(("matrix", "n", "raters", "reason"), NO_ALPHA.values(), ids=NO_ALPHA)
@pytest.mark.parametrize("level", SCALES)
def test_what_has_no_alpha_says_why(matrix, n, raters, reason, level):
    result = alpha(matrix, level)
    assert math.isnan(result.value)
    assert result[1:] == (n, raters, reason)


@pytest.mark.parametrize("level", SCALES)
def test_alpha_agrees_with_the_package_krippendorff(level):
    compared, rng = 0, np.random.default_rng(1)
    for _ in range(300):
        shape = rng.integers(2, 9), rng.integers(2, 6)
        matrix = rng.integers(1, int(rng.integers(3, 7)), shape).astype(float)
        matrix[rng.random(shape) < rng.choice([0, 0.2, 0.5])] = NAN
        result = alpha(matrix, level)
        paired = [row for row in matrix if (~np.isnan(row)).sum() > 1]
        assert result.n == len(paired)
        if not result.reason:
            compared += 1
            expected = krippendorff.alpha(reliability_data=matrix.T, level_of_measurement=level)
            assert result.value == pytest.approx(expected, abs=1e-12)
    assert compared > 250


def test_what_is_no_level_is_refused():
    with pytest.raises(ValueError, match="unknown level 'ratio'; known: ordinal, interval"):
        alpha([[1, 2], [2, 3]], "ratio")  # type: ignore[arg-type]


# ------------------------------------------------------------------------ variance components

#: Axes of each effect: sources, systems, raters.
EFFECTS = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
PLANTED = VarianceComponents(1.0, 0.5, 0.3, 0.8, 0.2, 0.1, 0.6)


def by_loops(x):
    """Components by sums of squares over cells, and the expected mean squares as equations."""
    size, cells = x.shape, [*itertools.product(*map(range, x.shape))]
    squares, left = [], {cell: x[cell] - x.mean() for cell in cells}
    for effect in EFFECTS:  # each level's mean is taken off before the next effect
        level = {}
        for cell in cells:
            level.setdefault(tuple(cell[a] for a in effect), []).append(left[cell])
        for cell in cells:
            left[cell] = left[cell] - np.mean(level[tuple(cell[a] for a in effect)])
        sum_of_squares = sum(len(values) * np.mean(values) ** 2 for values in level.values())
        squares.append(sum_of_squares / np.prod([size[a] - 1 for a in effect]))
    expected = [
        [np.prod([n for a, n in enumerate(size) if a not in wider]) * ({*effect} <= {*wider})
         for wider in EFFECTS]
        for effect in EFFECTS
    ]  # fmt: skip
    return np.linalg.solve(expected, squares)


@pytest.mark.parametrize("size", [(2, 2, 2), (3, 2, 4), (4, 5, 3)])
def test_components_equal_loops_over_cells(size):
    x = np.random.default_rng(size).integers(1, 6, size).astype(float)
    assert variance_components(x) == pytest.approx(by_loops(x))


def test_an_example_by_hand():
    # two sources, systems and raters; only the first rater sees a difference between the systems.
    # Mean squares: source 8 (means 1.75 and 3.75), system, rater, system x rater 0.5, others 0
    x = [[[1, 2], [2, 2]], [[3, 4], [4, 4]]]
    components = variance_components(x)
    assert components == pytest.approx((2.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.0))
    assert d_study(components, 2, of="system").relative == 0.0


@pytest.mark.parametrize(
    ("of", "true", "relative", "absolute"),
    [
        ("same-source", 1.3, 0.7 / 3, 1.2 / 3),
        ("system", 0.5, 0.8 / 10 + 0.1 / 3 + 0.6 / 30, 1.8 / 10 + 0.4 / 3 + 0.8 / 30),
    ],
)
def test_errors_are_divided_by_the_numbers_that_are_averaged(of, true, relative, absolute):
    shares = true / (true + relative), true / (true + absolute)
    assert d_study(PLANTED, 3, 10, of) == pytest.approx(shares)
    assert d_study(PLANTED, [[1], [2]], [5, 10, 20], of).absolute.shape == (2, 3)


def test_what_a_d_study_promises_is_how_far_two_panels_agree():
    rng, x = np.random.default_rng(3), 0.0
    for variance, effect in zip(PLANTED, EFFECTS, strict=True):
        shape = [n if axis in effect else 1 for axis, n in enumerate((300, 60, 8))]
        x = x + np.sqrt(variance) * rng.normal(size=shape)
    about = x - x.mean(axis=1, keepdims=True)  # of the same source
    panels = [about[..., :4].mean(axis=-1).ravel(), about[..., 4:].mean(axis=-1).ravel()]
    agreement = np.corrcoef(panels)[0, 1]
    for components in (PLANTED, variance_components(x)):
        promised = d_study(components, 4, of="same-source").relative
        assert agreement == pytest.approx(promised, abs=0.03)


def test_a_negative_estimate_is_kept_and_counts_as_none_in_a_d_study():
    components = variance_components([[[1, 2], [2, 1]], [[2, 1], [1, 2]]])
    assert components == pytest.approx((0.5, 0.5, 0.5, -1.0, -1.0, -1.0, 2.0))
    assert d_study(components, 1).relative >= 0
    assert np.isnan(d_study(variance_components(np.ones((2, 2, 2))), 1).relative)


@pytest.mark.parametrize(
    ("cube", "match"),
    [
        ([[[1, 2], [2, np.nan]], [[3, 4], [4, np.inf]]], "2 of 8 ratings are missing"),
        (np.ones((5, 1, 3)), "two of each"),
        (np.ones((5, 3)), r"got \(5, 3\)"),
    ],
)
def test_ratings_that_are_not_crossed_are_refused(cube, match):
    with pytest.raises(ValueError, match=match):
        variance_components(cube)


@pytest.mark.parametrize(
    ("arguments", "match"), [({"raters": 0}, "1 up"), ({"of": "x"}, "known: same")]
)
def test_a_d_study_of_nothing_is_refused(arguments, match):
    with pytest.raises(ValueError, match=match):
        d_study(PLANTED, **{"raters": 1} | arguments)
