"""Levels: groupings around a statistic, exact means, and pairwise accuracy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.stats import (
    Correlation,
    by_group_means,
    grouped,
    kendall,
    means,
    pairwise_accuracy,
    pearson,
    pooled,
    spearman,
)

NAN, INF = math.nan, math.inf


def draws(seed: int, count: int = 300):
    """Random ratings and scores with ties and missing values, and groups; seeded."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, 25))
        x, y = rng.integers(0, 4, n) / 3, rng.integers(0, 6, n) / 7
        x[rng.random(n) < 0.1] = y[rng.random(n) < 0.1] = NAN
        yield x, y, rng.choice(list("abcd"), n)


# ------------------------------------------------------------------------------------- pooled


@pytest.mark.parametrize("statistic", [pearson, spearman, kendall, pairwise_accuracy])
def test_pooled_is_the_statistic_itself(statistic):
    human, metric = [1, 2, 3, 5], [2, 1, 4, 4]
    assert pooled(statistic, human, metric) == pytest.approx(statistic(human, metric), nan_ok=True)


# ------------------------------------------------------------------------------------ grouped

#: ratings, scores, groups, value of groups without one, then value and groups counted
GROUPS = {
    "nothing": ([], [], "", NAN, NAN, 0),
    "one group": ([1, 2, 3], [1, 3, 2], "aaa", NAN, 1 / 3, 1),
    "two groups": ([1, 2, 3, 1, 2, 3], [1, 2, 3, 3, 2, 1], "aaabbb", NAN, 0, 2),
    "groups may be mixed": ([1, 1, 2, 2, 3, 3], [1, 3, 2, 2, 3, 1], "ababab", NAN, 0, 2),
    "a constant group is left out": ([1, 2, 3, 5, 5, 5], [1, 2, 3, 1, 2, 3], "aaabbb", NAN, 1, 1),
    "or counts as zero": ([1, 2, 3, 5, 5, 5], [1, 2, 3, 1, 2, 3], "aaabbb", 0, 0.5, 2),
    "a group of two is left out": ([1, 2, 3, 1, 2], [1, 2, 3, 2, 1], "aaabb", NAN, 1, 1),
    "a missing score makes it two": ([1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 2, NAN], "aaabbb", 0, 0.5, 2),
    "no group has a value": ([1, 2], [1, 2], "ab", NAN, NAN, 0),
    "all count as zero": ([1, 2], [1, 2], "ab", 0, 0, 2),
    "large groups weigh no more": (
        [1, 2, 3, 4, 1, 2, 3],
        [1, 2, 3, 4, 3, 2, 1],
        "aaaabbb",
        NAN,
        0,
        2,
    ),
}


@pytest.mark.parametrize(
    ("human", "metric", "groups", "undefined", "value", "n"), GROUPS.values(), ids=GROUPS
)
def test_grouped_is_the_plain_mean_over_groups(human, metric, groups, undefined, value, n):
    found = grouped(kendall, human, metric, list(groups), undefined=undefined)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert found.n == n
    assert math.isnan(found.p)
    assert found.reason == ("no group has a value" if n == 0 else "")


@pytest.mark.parametrize("undefined", [NAN, 0.0])
def test_grouped_agrees_with_a_loop_over_groups(undefined):
    for human, metric, groups in draws(1):
        values = []
        for name in sorted(set(groups)):
            value = kendall(human[groups == name], metric[groups == name]).value
            values.append(undefined if math.isnan(value) else value)
        values = [value for value in values if not math.isnan(value)]
        expected = sum(values) / len(values) if values else NAN
        found = grouped(kendall, human, metric, groups, undefined=undefined)
        assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert found.n == len(values)


@pytest.mark.parametrize("level", [grouped, by_group_means], ids=["grouped", "by_group_means"])
def test_neither_the_order_nor_the_names_of_groups_matter(level):
    rng = np.random.default_rng(2)
    for human, metric, groups in draws(2):
        order = rng.permutation(len(human))
        renamed = np.array([f"system {ord(name)}" for name in groups])[order]
        first = level(pearson, human, metric, groups)
        second = level(pearson, human[order], metric[order], renamed)
        assert first == pytest.approx(second, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", [grouped, by_group_means], ids=["grouped", "by_group_means"])
def test_turning_the_metric_turns_the_sign(level):
    for human, metric, groups in draws(3):
        value = level(kendall, human, metric, groups).value
        turned = level(kendall, human, -metric, groups).value
        assert turned == pytest.approx(-value, abs=1e-12, nan_ok=True)


def test_one_group_of_all_is_pooled():
    for human, metric, _ in draws(4):
        alone = grouped(pearson, human, metric, ["all"] * len(human))
        assert alone.value == pytest.approx(pearson(human, metric).value, nan_ok=True)


# -------------------------------------------------------------------------------------- means


@pytest.mark.parametrize(
    ("values", "groups", "names", "expected"),
    [
        ([], [], [], []),
        ([1], ["a"], ["a"], [1]),
        ([NAN], ["a"], ["a"], [NAN]),
        ([NAN, 2, 4], ["a", "b", "b"], ["a", "b"], [NAN, 3]),
        ([1, NAN, 3], ["a", "a", "a"], ["a"], [2]),
        ([1, INF, 3], ["a", "a", "a"], ["a"], [2]),
        ([3, 1, 2], ["b", "a", "b"], ["b", "a"], [2.5, 1]),
    ],
)
def test_means_are_of_finite_values_in_order_of_first_appearance(values, groups, names, expected):
    found_names, found = means(values, groups)
    assert found_names == names
    assert found == pytest.approx(expected, nan_ok=True)


def test_means_do_not_depend_on_the_order_of_the_values_to_the_last_bit():
    values = np.random.default_rng(5).integers(1, 101, 90) / 3
    first = means(values, ["a"] * 90)[1][0]
    for seed in range(50):
        shuffled = np.random.default_rng(seed).permutation(values)
        assert means(shuffled, ["a"] * 90)[1][0] == first


def test_systems_with_the_same_ratings_are_tied_whatever_their_order():
    rng = np.random.default_rng(6)
    ratings = rng.integers(1, 101, 30) / 3
    human = np.concatenate([ratings, rng.permutation(ratings), ratings + 1])
    systems = np.repeat(["a", "b", "c"], 30)
    metric = np.repeat([1.0, 2.0, 3.0], 30)
    found = by_group_means(kendall, human, metric, systems)
    assert found.value == kendall([1, 1, 2], [1, 2, 3]).value


def test_the_system_level_is_the_statistic_over_means():
    human = [1, 3, 4, 4, 2, NAN]
    metric = [10, 30, 90, 50, 20, 40]
    groups = ["x", "x", "y", "y", "z", "z"]
    expected = pearson([2, 4, 2], [20, 70, 30])
    assert by_group_means(pearson, human, metric, groups) == pytest.approx(expected, abs=1e-12)


def test_two_systems_are_too_few():
    found = by_group_means(pearson, [1, 2], [1, 2], ["a", "b"])
    assert (found.n, found.reason) == (2, "fewer than three pairs")


# -------------------------------------------------------------------------- pairwise accuracy

#: ratings, scores, accuracy, pairs
PAIRS = {
    "nothing": ([], [], NAN, 0),
    "one system": ([1], [1], NAN, 0),
    "two alike": ([1, 2], [10, 20], 1, 1),
    "two apart": ([1, 2], [20, 10], 0, 1),
    "two ties agree": ([1, 1], [2, 2], 1, 1),
    "a tie on one side does not": ([1, 1], [1, 2], 0, 1),
    "a tie on the other side neither": ([1, 2], [1, 1], 0, 1),
    "one swap of three": ([1, 2, 3], [1, 3, 2], 2 / 3, 3),
    "a missing value drops its pairs": ([1, 2, 3, NAN], [1, 3, 2, 4], 2 / 3, 3),
    "missing on both sides": ([1, NAN], [NAN, 1], NAN, 0),
    "an infinite value drops its pairs": ([1, 2, 3, INF], [1, 3, 2, 4], 2 / 3, 3),
    "two infinite values": ([1, 2, INF, INF], [1, 2, -INF, 4], 1, 1),
}


@pytest.mark.parametrize(("human", "metric", "value", "n"), PAIRS.values(), ids=PAIRS)
def test_pairwise_accuracy_counts_pairs_ordered_alike(human, metric, value, n):
    found = pairwise_accuracy(human, metric)
    assert found.value == pytest.approx(value, nan_ok=True)
    assert found.n == n
    assert found.reason == ("no pair of values" if n == 0 else "")


def test_pairwise_accuracy_agrees_with_brute_force():
    for human, metric, _ in draws(7, count=500):
        agree, pairs = 0, 0
        for i, j in itertools.combinations(range(len(human)), 2):
            four = [human[i], human[j], metric[i], metric[j]]
            if not any(map(math.isnan, four)):
                pairs += 1
                agree += np.sign(human[i] - human[j]) == np.sign(metric[i] - metric[j])
        found = pairwise_accuracy(human, metric)
        assert found.n == pairs
        assert found.value == pytest.approx(agree / pairs if pairs else NAN, nan_ok=True)


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=2, max_size=9), st.randoms())
def test_pairwise_accuracy_does_not_depend_on_the_order_of_systems(pairs, random):
    first = pairwise_accuracy(*zip(*pairs, strict=True))
    random.shuffle(pairs)
    assert pairwise_accuracy(*zip(*pairs, strict=True))[::2] == first[::2]


def test_pairwise_accuracy_does_not_change_its_input():
    human = np.array([1.0, INF, 2.0])
    pairwise_accuracy(human, human)
    np.testing.assert_array_equal(human, [1.0, INF, 2.0])


def test_without_ties_it_is_kendall_on_another_scale():
    rng = np.random.default_rng(8)
    for _ in range(100):
        n = int(rng.integers(3, 9))
        human, metric = rng.permutation(n), rng.permutation(n)
        tau = kendall(human, metric).value
        assert pairwise_accuracy(human, metric).value == pytest.approx((tau + 1) / 2)


def test_results_are_named():
    found = grouped(kendall, [1, 2, 3], [1, 2, 3], ["a"] * 3)
    assert found._fields == Correlation._fields == ("value", "p", "n", "reason")
