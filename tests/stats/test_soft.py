"""Soft pairwise accuracy and Pearson of differences, against loops over flips and over pairs."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from tests.stats import oracles
from tstmeta.stats import (
    Plan,
    Setting,
    better,
    correlate,
    difference_pearson,
    draw,
    estimate,
    resampled,
    soft_pairwise_accuracy,
)

NAN = math.nan
METHODS = ("exact", "normal", "random")
every_method = pytest.mark.parametrize("method", METHODS)


def rng(seed=0):
    return np.random.default_rng(seed)


def tables(seed, count, **size):
    random = np.random.default_rng([seed, 9])
    for _ in range(count):
        human, metric = oracles.table(random, **size)
        yield human, metric, random


# ------------------------------------------------------------------------------------- loops


def flipped(differences):
    """One-sided p of a sum under all flips of signs, ties half."""
    observed, score, count = math.fsum(differences), 0.0, 0
    for signs in itertools.product((1, -1), repeat=len(differences)):
        total = math.fsum(sign * d for sign, d in zip(signs, differences, strict=True))
        equal = math.isclose(total, observed, rel_tol=1e-9, abs_tol=1e-9)
        score += 0.5 if equal else total > observed
        count += 1
    return score / count


def normal(differences):
    square = math.fsum(d * d for d in differences)
    z = math.fsum(differences) / math.sqrt(square) if square else 0.0
    return scipy_stats.norm.sf(z)


def soft(human, metric, rows, columns, p_value):
    """Over pairs of different systems among the drawn ones."""
    gaps = []
    for i, j in itertools.combinations(columns, 2):
        if i == j:
            continue
        shared = [s for s in rows if np.isfinite([human[s, [i, j]], metric[s, [i, j]]]).all()]
        if shared:
            of_human, of_metric = (
                p_value([side[s, i] - side[s, j] for s in shared]) for side in (human, metric)
            )
            gaps.append(abs(of_human - of_metric))
    return 1 - math.fsum(gaps) / len(gaps) if gaps else NAN


@pytest.mark.parametrize(("method", "p_value"), [("exact", flipped), ("normal", normal)])
def test_the_value_is_that_of_loops(method, p_value):
    compared = 0
    for human, metric, _ in tables(1, 250, sources=6):
        expected = soft(human, metric, *map(range, human.shape), p_value)
        found = soft_pairwise_accuracy(human, metric[None], method=method)
        assert found == pytest.approx([expected], abs=1e-9, nan_ok=True)
        compared += not math.isnan(expected)
    assert compared > 100


def test_draws_are_repeated_rows_and_columns():
    for human, metric, random in tables(2, 60, sources=6):
        draws = draw(Plan("both", 4), human.shape, random)
        metrics = np.stack([metric, metric[::-1]])
        found = soft_pairwise_accuracy(human, metrics, draws)
        assert found.shape == (2, 4)
        for m, d in np.ndindex(2, 4):
            drawn = (oracles.repeated(side[d]) for side in (draws.sources, draws.systems))
            expected = soft(human, metrics[m], *drawn, normal)
            assert found[m, d] == pytest.approx(expected, abs=1e-9, nan_ok=True)


def test_scores_may_differ_by_draw():
    random = rng(3)
    human, metrics = random.integers(0, 5, (3, 6, 4)), random.normal(size=(2, 3, 6, 4))
    draws = draw(Plan("both", 3), (6, 4), random)
    setting = Setting("soft-pairwise-accuracy", "system")
    found = resampled(human, metrics, setting, draws)
    for d, part in enumerate(draws.parts(1)):
        alone = soft_pairwise_accuracy(human[d], metrics[:, d], part)
        assert found[:, [d]] == pytest.approx(alone)


def test_by_name_it_is_the_normal_approximation():
    random = rng(4)
    human, metrics = random.integers(0, 5, (9, 5)), random.normal(size=(3, 9, 5))
    setting = Setting("soft-pairwise-accuracy", "system")
    found = soft_pairwise_accuracy(human, metrics, method="normal")
    assert estimate(human, metrics, setting) == pytest.approx(found)
    assert correlate(human, metrics[0], setting).n == 5
    assert soft_pairwise_accuracy(human, metrics) == pytest.approx(
        soft_pairwise_accuracy(human, metrics, method="exact")
    )
    long = np.tile(human, (2, 1)), np.tile(metrics, (1, 2, 1))
    assert soft_pairwise_accuracy(*long) == pytest.approx(estimate(*long, setting))


def test_for_many_sources_the_methods_agree():
    random = rng(5)
    human = random.integers(0, 5, (16, 4)) + 0.5 * np.arange(4)
    metric = human + 2 * random.normal(size=(16, 4))
    exact = soft_pairwise_accuracy(human, metric, method="exact")
    assert soft_pairwise_accuracy(human, metric, method="normal") == pytest.approx(exact, abs=0.02)
    by_chance = soft_pairwise_accuracy(human, metric, method="random", flips=20000, rng=random)
    assert by_chance == pytest.approx(exact, abs=0.02)


# -------------------------------------------------------------------------------- properties


@every_method
def test_a_p_value_and_its_mirror_image_add_up_to_one(method):
    for human, _, _ in tables(6, 80, sources=7, systems=5):
        found = better(human, method=method, rng=rng(1))
        known = ~np.isnan(found)
        np.testing.assert_array_equal(known, known.T)
        assert (found + found.T)[known] == pytest.approx(np.ones(known.sum()), abs=1e-12)
        assert (np.diag(found) == 0.5).all()


def test_p_values_are_those_of_loops_and_of_scipy():
    random = rng(7)
    values = random.normal(size=(7, 3))
    found = better(values)
    for i, j in itertools.permutations(range(3), 2):
        differences = values[:, i] - values[:, j]
        assert found[i, j] == pytest.approx(flipped(differences.tolist()))
        test = scipy_stats.permutation_test(
            (differences,), np.sum, permutation_type="samples", alternative="greater"
        )
        half_of_itself = 0.5 / 2**7  # without ties only the observed signs are equal
        assert found[i, j] == pytest.approx(test.pvalue - half_of_itself)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@every_method
def test_the_order_of_systems_does_not_matter(method, missing):
    for human, metric, random in tables(8, 60, sources=7, systems=5, missing=missing):
        columns = random.permutation(human.shape[1])
        first = soft_pairwise_accuracy(human, metric, method=method, rng=rng(2))
        moved = human[:, columns], metric[:, columns]
        second = soft_pairwise_accuracy(*moved, method=method, rng=rng(2))
        assert second == pytest.approx(first, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("method", ["exact", "normal"])
def test_neither_does_the_order_of_sources(method):
    for human, metric, random in tables(9, 60, sources=7, systems=5):
        rows = random.permutation(len(human))
        first = soft_pairwise_accuracy(human, metric, method=method)
        second = soft_pairwise_accuracy(human[rows], metric[rows], method=method)
        assert second == pytest.approx(first, abs=1e-12, nan_ok=True)


@every_method
def test_a_metric_that_is_the_human_is_right_and_one_turned_round_is_wrong(method):
    random = rng(10)
    human = random.normal(size=(12, 4))
    assert soft_pairwise_accuracy(human, human, method=method, rng=rng(3)) == pytest.approx([1])
    sure = human + 20 * np.arange(4)
    turned = soft_pairwise_accuracy(sure, -sure, method=method, rng=rng(3))[0]
    assert turned < 0.01


@every_method
def test_turning_both_sides_changes_nothing(method):
    for human, metric, _ in tables(11, 40, sources=7, systems=5):
        first = soft_pairwise_accuracy(human, metric, method=method, rng=rng(2))
        second = soft_pairwise_accuracy(-human, -metric, method=method, rng=rng(2))
        assert second == pytest.approx(first, abs=1e-12, nan_ok=True)


def test_no_p_value_of_random_flips_is_zero():
    values = np.stack([np.arange(14.0), np.arange(14.0) + 9], axis=1)
    found = better(values, method="random", flips=200, rng=rng(1))
    assert 0 < found[1, 0] <= 1 / 200
    assert found[0, 1] < 1


#: people, metric, value with every method
EDGES = {
    "nothing": (np.empty((0, 0)), np.empty((0, 0)), NAN),
    "one system": (np.ones((4, 1)), np.ones((4, 1)), NAN),
    "all missing": (np.full((4, 3), NAN), np.ones((4, 3)), NAN),
    "no source in common": ([[1, NAN], [NAN, 1]], [[1, 2], [1, 2]], NAN),
    "all ties": (np.ones((4, 3)), np.ones((4, 3)), 1),
    "ties but for rounding": (np.full((4, 2), 0.3), [[0.3, 0.1 + 0.2]] * 4, 1),
    "systems with the same values in another order": ([[1, 2], [2, 1]], [[1, 2], [2, 1]], 1),
    "very large": (np.eye(3) * 1e300, np.eye(3) * 1e300, 1),
    "very small": (np.eye(3) * 1e-300, np.eye(3) * 1e-300, 1),
}


@every_method
@pytest.mark.parametrize(("human", "metric", "value"), EDGES.values(), ids=EDGES)
def test_edges(human, metric, value, method):
    found = soft_pairwise_accuracy(human, metric, method=method, rng=rng())
    assert found == pytest.approx([value], nan_ok=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"method": "best"}, "unknown method 'best'; known: auto, exact, normal, random"),
        ({"method": "random"}, "random flips need a generator"),
        ({"method": "exact", "draws": 1}, "draws need the method normal, not exact"),
        ({"method": "random", "draws": 1}, "draws need the method normal, not random"),
        ({"method": "exact", "human": np.ones((17, 2))}, "2\\^17 flips are too many"),
        ({"metrics": np.ones((2, 2))}, "people .* and metrics .* are needed"),
    ],
)
def test_what_a_method_cannot_do_is_refused(words, message):
    words = {"human": np.ones((3, 2)), **words}
    words = {"metrics": np.ones(np.shape(words["human"])), **words}
    if "draws" in words:
        words["draws"] = draw(Plan("both", 2), (3, 2), rng())
    with pytest.raises(ValueError, match=message):
        soft_pairwise_accuracy(**words)


# ------------------------------------------------------------------------ Pearson of differences


def pooled_differences(human, metric, rows, columns):
    """Differences within each drawn source, each pair of different systems in both orders."""
    found = [
        (human[s, i] - human[s, j], metric[s, i] - metric[s, j])
        for s in rows
        for i, j in itertools.permutations(columns, 2)
        if i != j
    ]
    return [pair for pair in found if np.isfinite(pair).all()]


def test_it_is_pearson_over_the_differences_in_both_orders():
    compared = 0
    for human, metric, random in tables(12, 300, sources=6):
        draws = draw(Plan("both", 2), human.shape, random)
        found = difference_pearson(human, metric, draws)
        assert found.shape == (1, 2)
        alone = difference_pearson(human, metric)
        every = [(range(human.shape[0]), range(human.shape[1]), alone[0])]
        for d in range(2):
            drawn = (oracles.repeated(side[d]) for side in (draws.sources, draws.systems))
            every.append((*drawn, found[0, d]))
        for rows, columns, value in every:
            pairs = pooled_differences(human, metric, rows, columns)
            x, y = np.array(pairs).reshape(-1, 2).T
            if len(x) and x.any() and y.any():
                assert value == pytest.approx(scipy_stats.pearsonr(x, y).statistic, abs=1e-9)
                compared += 1
            else:
                assert math.isnan(value)
    assert compared > 300


def test_it_is_micro_pearson_within_sources_where_all_have_as_many_rewrites():
    random = rng(13)
    for _ in range(50):
        human, metric = random.integers(0, 4, (6, 4)).astype(float), random.normal(size=(6, 4))
        micro = estimate(human, metric[None], Setting("pearson", "source", micro=True))
        assert difference_pearson(human, metric) == pytest.approx(micro)


def test_a_source_with_more_rewrites_counts_more():
    human = np.array([[1.0, 2, 3, 4], [1, 2, 3, NAN]])
    metric = np.array([[1.0, 2, 3, 4], [3, 2, 1, NAN]])
    # squares of differences in both orders: 2 x 20 and 2 x 6
    assert difference_pearson(human, metric) == pytest.approx([(20 - 6) / (20 + 6)])
    micro = estimate(human, metric[None], Setting("pearson", "source", micro=True))
    assert micro == pytest.approx([(5 - 2) / (5 + 2)])


def test_what_differs_between_sources_does_not_matter():
    for human, metric, random in tables(14, 60, sources=6):
        first = difference_pearson(human, metric)
        shift = 5 * random.integers(-9, 9, (2, len(human), 1))
        moved = difference_pearson(human + shift[0], metric + shift[1])
        assert moved == pytest.approx(first, abs=1e-9, nan_ok=True)
        rows, columns = (random.permutation(size) for size in human.shape)
        turned = difference_pearson(human[rows][:, columns], -metric[rows][:, columns])
        assert turned == pytest.approx(-first, abs=1e-12, nan_ok=True)
