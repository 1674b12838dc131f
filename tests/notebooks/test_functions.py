"""Functions that notebooks teach find what was planted, and agree with the library's."""

import ast
import itertools
import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from scipy.optimize import brentq
from scipy.stats import norm
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from tests.notebooks.cells import cells


def functions(name: str, *wanted: str, **space) -> dict:
    """Functions of a notebook, by name, in a name space of their own."""
    space |= {"np": np, "pd": pd, "seed": 0}
    for node in (node for source in cells(name) for node in ast.parse(source).body):
        if isinstance(node, ast.FunctionDef) and node.name in wanted:
            exec(compile(ast.Module([node], []), name, "exec"), space)
    return space


def ratings(per_place: float, rng: np.random.Generator) -> pd.DataFrame:
    """Forty sources of four rewrites in shuffled places; a judge sees quality, and the place."""
    place = np.array([rng.permutation(4) for _ in range(40)]).ravel()
    human = rng.normal(size=160)
    rating = human + per_place * place + 0.5 * rng.normal(size=160)
    group = np.repeat(np.arange(40), 4)
    return pd.DataFrame({"place": place, "human": human, "rating": rating, "group": group})


@pytest.mark.parametrize("per_place", [0.0, 0.5, -0.5])
def test_a_shift_by_place_is_found_and_none_is_not(per_place):
    slope = functions("14_judges", "slope")["slope"]
    table = ratings(per_place, np.random.default_rng(1))
    value, p = slope(table["place"], table["rating"], table["group"], table["human"])
    assert value == pytest.approx(per_place, abs=0.1)
    assert (p < 0.01) == bool(per_place)
    assert np.isnan(slope([1, 1, 1], [1, 2, 3], [0, 0, 0])).all()  # a place that never changes


def test_the_partial_correlation_is_that_of_the_residuals():
    partial = functions("14_judges", "partial")["partial"]
    shared = np.random.default_rng(1).normal(size=50)
    x, y, z = np.random.default_rng(0).normal(size=(3, 50)) + shared
    left = [side - np.polyval(np.polyfit(z, side, 1), z) for side in (x, y)]
    assert partial(x, y, z) == pytest.approx(np.corrcoef(*left)[0, 1])


def test_dropped_answers_at_random_leave_r_and_the_worst_rating_lowers_it():
    space = functions("14_judges", "chances", "with_gaps", LOWEST=-5.0)
    table = ratings(0.0, np.random.default_rng(2))
    made = space["with_gaps"](table.rename(columns={"rating": "score"}), [0.1])
    mean = made.groupby(["gaps", "treatment"])["r"].mean()
    whole = table["rating"].corr(table["human"])
    assert mean["at random", "drop"] == pytest.approx(whole, abs=0.02)
    assert mean["at random", "worst"] < mean["at random", "mean"] < whole
    assert mean["where it is farthest off", "drop"] > whole


def test_the_luckiest_of_many_metrics_of_noise_is_worth_nothing_on_the_other_half():
    rng, names = np.random.default_rng(0), [(f"m{place}", "none") for place in range(40)]
    index = pd.MultiIndex.from_product([range(60), range(3)], names=["source_id", "item_id"])
    two = pd.DataFrame(rng.integers(0, 2, (180, 40)), index, names).astype(float)
    given = {"Counter": Counter, "kind": dict.fromkeys(names, "metric"), "draws": 500}
    space = functions("20_released_judges", "of_kind", "cross_fitted", "with_interval", **given)
    held, _ = space["cross_fitted"](two)
    assert two.mean().max() > 0.57
    assert held.mean() == pytest.approx(0.5, abs=0.03)
    value, low, high = space["with_interval"](two[names[0]])
    assert value == two[names[0]].mean()
    assert (high - low) / 2 == pytest.approx(1.96 * 0.5 / 180**0.5, rel=0.2)


#: Content, style and a metric that counts what style changes: correlations of the true values.
TRUE = np.array([[1.0, 0.5, 0.3], [0.5, 1.0, -0.4], [0.3, -0.4, 1.0]])
#: Noise of one rater's ratings of content and style: half of the values' variance, mostly shared.
NOISE = np.array([[0.5, 0.4], [0.4, 0.5]])


def from_covariances(covariance):
    """The partial correlation of the first and last variable, all others held fixed."""
    inverse = np.linalg.inv(covariance)
    return -inverse[0, -1] / math.sqrt(inverse[0, 0] * inverse[-1, -1])


def world(rng, size, raters):
    """Ratings [2, n, R] by raters with levels of their own, and scores [n]."""
    values = np.linalg.cholesky(TRUE) @ rng.normal(size=(3, size))
    noise = np.einsum("ij,jnr->inr", np.linalg.cholesky(NOISE), rng.normal(size=(2, size, raters)))
    return values[:2, :, None] + noise + rng.normal(size=(2, 1, raters)), values[2]


def by_pairs_of_raters(ratings, metric):
    """From complete ratings: covariances of ratings across raters, of means with the metric."""
    ratings = ratings - ratings.mean(axis=1, keepdims=True)
    covariance = np.cov([*ratings.mean(axis=2), metric], ddof=0)
    for i, k in itertools.product(range(len(ratings)), repeat=2):
        two = itertools.permutations(range(ratings.shape[2]), 2)
        covariance[i, k] = np.mean([(ratings[i, :, r] * ratings[k, :, s]).mean() for r, s in two])
    return from_covariances(covariance)


def corrected(ratings, metric, weights=None):
    """The corrected partial correlation of chapter 9."""
    space = functions("09_confounds", "levels_known", "levelled", "corrected_in_draws")
    known = space["levels_known"](np.isfinite(ratings[0]))
    weights = np.ones((len(metric), 1)) if weights is None else weights
    return space["corrected_in_draws"](ratings, metric, weights, known)[0]


@pytest.mark.parametrize(("raters", "controls"), itertools.product((2, 3), (0, 1, 2)))
def test_the_corrected_partial_correlation_is_that_of_covariances_across_raters(raters, controls):
    rng = np.random.default_rng([raters, controls])
    ratings = rng.normal(size=(1 + controls, 36, 1)) + rng.normal(size=(36, raters)) / 2
    metric = ratings.mean(axis=(0, 2)) + rng.normal(size=36)
    assert corrected(ratings, metric) == pytest.approx(by_pairs_of_raters(ratings, metric))
    rows = rng.integers(0, 36, 36)
    weights = np.bincount(rows, minlength=36)[:, None]
    even = ratings - ratings.mean(axis=1, keepdims=True)  # levels are those of all ratings
    again = corrected(even[:, rows], metric[rows])
    assert corrected(ratings, metric, weights) == pytest.approx(again, abs=0.02)


def test_many_raters_of_few_rewrites_leave_their_levels_in_as_noise():
    rng, truth, rounds = np.random.default_rng(5), from_covariances(TRUE), []
    for _ in range(40):
        ratings, metric = world(rng, 300, 2)
        levels = rng.normal(size=(2, 200)) / 2
        raters = rng.permuted(np.tile(np.arange(200), 3).reshape(2, 300), axis=1).T
        crowd, even = np.full((2, 300, 200), np.nan), ratings - ratings.mean(axis=1, keepdims=True)
        np.put_along_axis(crowd, raters[None].repeat(2, axis=0), even + levels[:, raters], axis=-1)
        has = np.isfinite(crowd[0]).sum(axis=1) > 1
        rounds.append(corrected(crowd[:, has], metric[has]))
    assert np.mean(rounds) == pytest.approx(truth, abs=0.03)  # without levels it fell .07 short


def soft(human, metric):
    """Soft pairwise accuracy of [sources, systems], in loops."""
    gaps = []
    for first, second in itertools.combinations(range(human.shape[1]), 2):
        apart = np.stack([side[:, first] - side[:, second] for side in (human, metric)])
        apart = apart[:, np.isfinite(apart).all(axis=0)]
        square = (apart**2).sum(axis=1)
        z = apart.sum(axis=1) / np.sqrt(np.where(square > 0, square, 1))
        gaps += [abs(norm.sf(z[0]) - norm.sf(z[1]))] * bool(apart.size)
    return 1 - np.mean(gaps) if gaps else np.nan


def test_soft_pairwise_accuracy_is_that_of_loops():
    space = {"scipy_stats": scipy_stats, "itertools": itertools}
    space = functions("03_system_ranking", "p_better", "soft_accuracy", **space)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        human, metric = rng.integers(0, 3, (2, 5, 3)) / 3
        metric[rng.random(metric.shape) < 0.3] = np.nan
        rows = [(s, k, human[s, k], metric[s, k]) for s, k in np.ndindex(human.shape)]
        frame = pd.DataFrame(rows, columns=["source_id", "system", "human", "score"]).dropna()
        assert space["soft_accuracy"](frame) == pytest.approx(soft(human, metric), nan_ok=True)


#: Axes of each effect: sources, systems, raters.
EFFECTS = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
FACETS = ("source_id", "system", "rater")


def long(cube):
    """A row for each rating of ``[sources, systems, raters]``."""
    cells = np.stack(np.indices(cube.shape), -1).reshape(-1, 3)
    return pd.DataFrame(cells, columns=FACETS).assign(value=cube.ravel())


def crossed(cube):
    """Functions of chapter 19, and the components of ratings [sources, systems, raters]."""
    names = ["source", "system", "rater", "source:system", "source:rater", "system:rater"]
    effects = [tuple(FACETS[axis] for axis in effect) for effect in EFFECTS]
    space = {"FACETS": FACETS, "EFFECTS": effects, "NAMES": [*names, "residual"]}
    space = functions("19_noise", "mean_squares", "components", "d_study", **space)
    return space, space["components"](long(cube))


def by_anova(x):
    """Components by the mean squares of statsmodels and the expected ones as equations."""
    fit = ols("value ~ (C(source_id) + C(system) + C(rater)) ** 2", long(x)).fit()
    expected = [
        [np.prod([n for a, n in enumerate(x.shape) if a not in wider]) * ({*effect} <= {*wider})
         for wider in EFFECTS]
        for effect in EFFECTS
    ]  # fmt: skip
    return np.linalg.solve(expected, anova_lm(fit)["mean_sq"])


@pytest.mark.parametrize("size", [(2, 2, 2), (3, 2, 4), (4, 5, 3)])
def test_components_of_variance_equal_those_of_an_analysis_of_variance(size):
    x = np.random.default_rng(size).integers(1, 6, size).astype(float)
    assert crossed(x)[1].to_numpy() == pytest.approx(by_anova(x))


def test_what_a_d_study_promises_is_how_far_two_panels_agree():
    rng, x = np.random.default_rng(3), 0.0
    planted = (1.0, 0.5, 0.3, 0.8, 0.2, 0.1, 0.6)
    for variance, effect in zip(planted, EFFECTS, strict=True):
        shape = [n if axis in effect else 1 for axis, n in enumerate((300, 60, 8))]
        x = x + np.sqrt(variance) * rng.normal(size=shape)
    about = x - x.mean(axis=1, keepdims=True)  # of the same source
    panels = [about[..., :4].mean(axis=-1).ravel(), about[..., 4:].mean(axis=-1).ravel()]
    space, components = crossed(x)
    promised, _, of_systems = space["d_study"](components, 4)
    assert np.corrcoef(panels)[0, 1] == pytest.approx(promised, abs=0.03)
    assert of_systems < promised < space["d_study"](components, 8)[0]


@pytest.mark.parametrize("signal", [0.5, 0.8])
def test_simulated_raters_have_the_signal_that_they_were_given(signal):
    wanted = ["every_two", "order", "means_of_others", "simulated", "against_others", "fitted"]
    space = functions("19_noise", *wanted, "perfect", brentq=brentq)
    scale = np.tile(np.arange(1, 6), 3).reshape(5, 1, 3)  # every mark is as frequent
    marks, _, two = space["simulated"](scale, 0.3, signal, pairs=4000)
    ratings = marks[two.T]  # [sources, 2 systems, raters]
    space["seed"] = 1
    shared, again, _ = space["fitted"](ratings, crossed(ratings)[1])
    assert (shared, again) == pytest.approx((0.3, signal), abs=0.05)
    accuracy = [space["perfect"](ratings, shared, again, raters)[0] for raters in (1, 30)]
    assert 0.7 < accuracy[0] < accuracy[1] < 1


def test_weights_fitted_on_sums_are_those_of_least_squares_over_all_pairs():
    space = functions("18_choosing", "sums", "solved", RIDGE=0.01)
    x = np.random.default_rng(0).normal(0.5, 1, (40, 3))
    whole = np.vstack([x, 0.4**0.5 * np.eye(3)]), np.r_[np.ones(40), np.zeros(3)]  # 40 * 0.01
    assert space["solved"](*space["sums"](x)) == pytest.approx(np.linalg.lstsq(*whole)[0])


@pytest.mark.parametrize("share", [0.3, 0.7])
def test_the_reliability_of_simulated_raters_is_found_though_a_third_of_their_ratings_is_missing(
    share,
):
    space, rng = functions("lesson_5_how_many", "reliability", "of_mean"), np.random.default_rng(1)
    truth, noise = rng.normal(size=(2000, 4, 1)), rng.normal(size=(2000, 4, 5))
    cube = truth + math.sqrt(1 / share - 1) * noise
    cube[rng.random(cube.shape) < 0.3] = np.nan
    assert space["reliability"](cube) == pytest.approx(share, abs=0.02)
    assert space["of_mean"](share, 2) == pytest.approx(2 * share / (1 + share))
    disagreeing = np.array([[[1, 2], [2, 1.0]]])  # more than chance has them
    assert space["reliability"](disagreeing) == pytest.approx(-1)
