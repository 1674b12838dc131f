"""Variance components: by hand, against plain loops, and as two panels agree."""

import itertools

import numpy as np
import pytest

from tstmeta.stats import d_study, variance_components
from tstmeta.stats.variance import VarianceComponents

#: Axes of each effect: sources, systems, raters.
EFFECTS = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
PLANTED = VarianceComponents(1.0, 0.5, 0.3, 0.8, 0.2, 0.1, 0.6)


def by_loops(x):
    """Components by sums of squares over cells, and the expected mean squares as equations."""
    size, cells = x.shape, [*itertools.product(*map(range, x.shape))]
    squares, left = [], {cell: x[cell] - x.mean() for cell in cells}
    for own in EFFECTS:  # each level's mean is taken off before the next effect
        level = {}
        for cell in cells:
            level.setdefault(tuple(cell[a] for a in own), []).append(left[cell])
        for cell in cells:
            left[cell] = left[cell] - np.mean(level[tuple(cell[a] for a in own)])
        sum_of_squares = sum(len(values) * np.mean(values) ** 2 for values in level.values())
        squares.append(sum_of_squares / np.prod([size[a] - 1 for a in own]))
    expected = [
        [np.prod([n for a, n in enumerate(size) if a not in wider]) * ({*own} <= {*wider})
         for wider in EFFECTS]
        for own in EFFECTS
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
    found = variance_components(x)
    assert found == pytest.approx((2.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.0))
    assert d_study(found, 2, of="system").relative == 0.0


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
    for variance, own in zip(PLANTED, EFFECTS, strict=True):
        shape = [n if axis in own else 1 for axis, n in enumerate((300, 60, 8))]
        x = x + np.sqrt(variance) * rng.normal(size=shape)
    about = x - x.mean(axis=1, keepdims=True)  # of the same source
    panels = [about[..., :4].mean(axis=-1).ravel(), about[..., 4:].mean(axis=-1).ravel()]
    agreement = np.corrcoef(panels)[0, 1]
    for components in (PLANTED, variance_components(x)):
        promised = d_study(components, 4, of="same-source").relative
        assert agreement == pytest.approx(promised, abs=0.03)


def test_a_negative_estimate_is_kept_and_counts_as_none_in_a_d_study():
    found = variance_components([[[1, 2], [2, 1]], [[2, 1], [1, 2]]])
    assert found == pytest.approx((0.5, 0.5, 0.5, -1.0, -1.0, -1.0, 2.0))
    assert d_study(found, 1).relative >= 0
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
    ("given", "match"), [({"raters": 0}, "1 up"), ({"of": "x"}, "known: same")]
)
def test_a_d_study_of_nothing_is_refused(given, match):
    with pytest.raises(ValueError, match=match):
        d_study(PLANTED, **{"raters": 1} | given)
