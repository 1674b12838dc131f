"""Partial correlations corrected for raters' noise: loops over raters, and a known truth."""

import itertools
import math

import numpy as np
import pytest

from tests.stats.oracles import draws_of
from tstmeta.stats import Draws, ResamplingPlan, corrected_partial, of_values, partial

#: Content, style and a metric that counts what style changes: correlations of the true values.
TRUE = np.array([[1.0, 0.5, 0.3], [0.5, 1.0, -0.4], [0.3, -0.4, 1.0]])
#: Noise of one rater's ratings of content and style: half of the values' variance, mostly shared.
NOISE = np.array([[0.5, 0.4], [0.4, 0.5]])


def of_covariances(covariance):
    """The partial correlation of the first and last variable, all others given."""
    inverse = np.linalg.inv(covariance)
    return -inverse[0, -1] / math.sqrt(inverse[0, 0] * inverse[-1, -1])


def world(rng, sources=150, systems=4, raters=3):
    """Ratings [2, S, K, R] by raters with levels of their own, and a metric [1, S, K]; rewrites of
    a source are alike."""
    alike, own = rng.normal(size=(3, sources, 1)), rng.normal(size=(3, sources, systems))
    values = np.sqrt(0.4) * alike + np.sqrt(0.6) * own
    values = np.einsum("ij,jsk->isk", np.linalg.cholesky(TRUE), values)
    noise = rng.normal(size=(2, sources, systems, raters))
    noise = np.einsum("ij,jskr->iskr", np.linalg.cholesky(NOISE), noise)
    return values[:2, ..., None] + noise + rng.normal(size=(2, 1, 1, raters)), values[2:]


def by_loops(ratings, metric, corrected=lambda i, j: True):
    """From complete ratings without levels: of means, but across raters what is corrected."""
    given, raters = len(ratings), range(ratings.shape[-1])
    covariance = np.cov([*ratings.mean(axis=-1).reshape(given, -1), metric.ravel()], ddof=0)
    middle = ratings.mean(axis=(1, 2, 3), keepdims=True)
    for i, j in itertools.product(range(given), repeat=2):
        a, b = (ratings - middle)[[i, j]]
        products = [(a[..., r] * b[..., s]).mean() for r, s in itertools.permutations(raters, 2)]
        covariance[i, j] = np.mean(products) if corrected(i, j) else covariance[i, j]
    return of_covariances(covariance)


def even(ratings):
    """Complete ratings without the raters' levels."""
    return ratings - ratings.mean(axis=(1, 2), keepdims=True)


@pytest.mark.parametrize(("raters", "given"), itertools.product((2, 3), (0, 1, 2)))
def test_it_is_the_partial_correlation_of_covariances_across_raters(raters, given):
    rng = np.random.default_rng([raters, given])
    ratings = rng.normal(size=(1 + given, 12, 3, 1)) + rng.normal(size=(12, 3, raters)) / 2
    metric = ratings.mean(axis=(0, 3)) + rng.normal(size=(12, 3))
    expected = by_loops(even(ratings), metric)
    assert corrected_partial(ratings, [metric, -2 * metric]) == pytest.approx([expected, -expected])
    rows = rng.integers(0, 12, 12)
    draws = Draws(np.bincount(rows, minlength=12)[None].astype(float), np.ones((1, 3)))
    again = by_loops(even(ratings)[:, rows], metric[rows])  # levels are those of all ratings
    assert corrected_partial(ratings, [metric], draws=draws)[0, 0] == pytest.approx(again)


def test_ratings_without_noise_by_changing_raters_of_several_levels_give_the_plain_value():
    rng = np.random.default_rng(1)
    ratings, metric = world(rng, 40, raters=1)
    exact = ratings + rng.normal(size=(2, 1, 1, 5))
    gone = rng.random(exact.shape[1:]).argsort(axis=-1) < rng.integers(0, 4, (40, 4, 1))
    [value] = corrected_partial(np.where(gone, np.nan, exact), metric)
    assert value == pytest.approx(partial(ratings[0, ..., 0], metric, ratings[1:, ..., 0])[0])


def test_with_noise_that_a_rater_shares_only_covariances_across_raters_are_right():
    rng = np.random.default_rng(2)
    truth, rounds = of_covariances(TRUE), []
    for _ in range(60):
        ratings, metric = world(rng)
        x, z = ratings.mean(axis=-1)
        plain = by_loops(even(ratings), metric, corrected=lambda i, j: i == j)
        rounds.append([corrected_partial(ratings, metric)[0], plain, partial(x, metric, [z])[0]])
    ours, plain, uncorrected = np.mean(rounds, axis=0) - truth
    error = np.std(rounds, axis=0)[0] / math.sqrt(len(rounds))
    assert abs(ours) < 3 * error < 0.03
    assert plain > 0.08  # variances alone: it overshoots
    assert abs(uncorrected) > 4 * error


def test_many_raters_of_few_rewrites_leave_their_levels_in_as_noise():
    rng, truth, rounds = np.random.default_rng(5), of_covariances(TRUE), []
    for _ in range(40):
        ratings, metric = world(rng, 300, systems=1, raters=2)
        levels = rng.normal(size=(2, 200)) / 2
        raters = rng.permuted(np.tile(np.arange(200), 3).reshape(2, 300), axis=1).T[:, None]
        crowd = np.full((2, 300, 1, 200), np.nan)
        own = ratings - ratings.mean(axis=(1, 2), keepdims=True) + levels[:, raters]
        np.put_along_axis(crowd, raters[None].repeat(2, axis=0), own, axis=-1)
        x, z = np.nanmean(crowd, axis=-1)
        rounds.append([corrected_partial(crowd, metric)[0], partial(x, metric, [z])[0]])
    ours, uncorrected = np.mean(rounds, axis=0) - truth
    assert abs(ours) < 0.03  # without their levels it fell .07 short
    assert uncorrected < -0.05


@pytest.mark.nightly
def test_its_interval_holds_the_truth_as_often_as_it_claims():
    rng, held, rounds = np.random.default_rng(3), 0, 800
    for draws in draws_of(ResamplingPlan("sources", 400), (100, 4), rounds, rng):
        ratings, metric = world(rng, 100)
        values = corrected_partial(ratings, metric), corrected_partial(ratings, metric, draws=draws)
        [limits] = of_values(values[1], values[0], units=100)
        held += limits.low <= of_covariances(TRUE) <= limits.high
    assert 0.93 <= held / rounds <= 0.97


def test_noise_alone_and_lone_raters_have_no_value():
    rng = np.random.default_rng(4)
    ratings, metrics = rng.normal(size=(2, 6, 2, 2)), rng.normal(size=(50, 6, 2))
    assert np.isnan(corrected_partial(ratings, metrics)).any()
    alone = np.where(np.arange(2) == 0, ratings, np.nan)
    assert np.isnan(corrected_partial(alone, metrics)).all()
    apart = np.stack([ratings[0], alone[1]])  # one rater of the two rated both dimensions
    assert np.isnan(corrected_partial(apart, metrics)).all()
    with pytest.raises(ValueError, match="are needed"):
        corrected_partial(ratings[0], metrics)
