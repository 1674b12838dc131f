"""Folds and hybrids: what they choose and weigh, and that they never see what they score."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean, pearsonr

from tests.combine.examples import noisy, rated, rating, score, several
from tstmeta.combine import CombineError, Settings, hybrid
from tstmeta.combine.hybrids import grid
from tstmeta.combine.parts import Scaling, folds, splits
from tstmeta.ledger.cells import cells

KINDS = ("simulation", "learned")
SMALL = Settings(outer=3, inner=2, trees=10)


SOURCES = st.lists(st.sampled_from([f"s{n}" for n in range(12)]), min_size=20, max_size=60)


@given(SOURCES, st.integers(2, 4), st.integers(0, 50))
def test_all_rewrites_of_a_source_lie_in_one_fold(sources, k, seed):
    if len(set(sources)) < k:
        sources = [f"s{n}" for n in range(k)]
    number = folds(np.array(sources), k, seed)
    for name in set(sources):
        assert len({n for n, each in zip(number, sources, strict=True) if each == name}) == 1
    sizes = [len({s for n, s in zip(number, sources, strict=True) if n == f}) for f in range(k)]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1


@given(st.permutations(list(range(24))), st.integers(0, 9))
def test_the_order_of_rows_changes_no_fold(order, seed):
    sources = np.array([f"s{n // 3}" for n in range(24)])
    assert folds(sources[order], 4, seed).tolist() == folds(sources, 4, seed)[order].tolist()


def test_every_item_is_judged_once_and_never_by_what_saw_it():
    sources = np.array([f"s{n // 2}" for n in range(30)])
    judged = np.zeros(30, dtype=int)
    for train, own in splits(sources, 5, 0):
        judged += own
        assert (own != train).all()
        assert not set(sources[own]) & set(sources[train])
    assert judged.tolist() == [1] * 30


@pytest.mark.parametrize("parts", [1, 2, 3, 4])
def test_the_grid_holds_all_steps_of_a_twentieth_that_sum_to_one(parts):
    result = grid(parts)
    expected = {each for each in itertools.product(range(2, 21), repeat=parts) if sum(each) == 20}
    assert {tuple(np.rint(row * 20).astype(int).tolist()) for row in result} == expected
    assert len(result) == len(expected)
    assert result.sum(axis=1) == pytest.approx(1.0)


def test_every_printed_weight_of_the_simulation_is_on_the_grid():
    own = [each for each in cells() if (each.paper, each.table) == ("mukherjee2025", "5")]
    settings = {}
    for each in own:
        if each.item == "hybrid-simulation":
            key = (each.dataset, each.language, each.dimension)
            settings.setdefault(key, []).append(each.value)
    assert len(settings) == 10
    tried = {tuple(np.round(row, 9).tolist()) for row in grid(3)}
    assert all(tuple(weights) in tried for weights in settings.values())


def test_in_sample_the_simulation_is_the_best_of_all_weights_by_brute_force():
    data = rated(15, 3)
    scores = several(data)
    combination = hybrid(data, scores, "content", settings=Settings(in_sample=True))
    people = data.means["content"].to_numpy(float)
    rows = scores["value"].to_numpy(float).reshape(5, -1)
    best = sorted(range(5), key=lambda k: -pearsonr(people, rows[k])[0])[:3]
    scaled = Scaling.fitted(rows, np.zeros(5, dtype=bool))(rows)[best]
    tried = {
        weights: pearsonr(people, gmean(scaled, axis=0, weights=np.tile(weights, (45, 1)).T))[0]
        for weights in itertools.product(np.arange(2, 21) / 20, repeat=3)
        if abs(sum(weights) - 1) < 1e-9
    }
    (fit,) = combination.fits
    assert list(fit.parameters) == [f"content-{k}" for k in best]
    result = pearsonr(people, combination.scores["value"])[0]
    assert result == pytest.approx(max(tried.values()))
    assert tuple(fit.parameters.values()) == pytest.approx(max(tried, key=tried.__getitem__))


def test_the_forest_gives_the_importances_of_scikit_learn():
    from sklearn.ensemble import RandomForestRegressor

    data = rated(15, 3)
    scores = several(data)
    settings = Settings(in_sample=True, trees=30, seed=4)
    (fit,) = hybrid(data, scores, "content", "learned", settings).fits
    rows = scores["value"].to_numpy(float).reshape(5, -1)
    forest = RandomForestRegressor(30, random_state=4).fit(rows.T, data.means["content"])
    top = np.sort(forest.feature_importances_)[::-1][:3]
    assert list(fit.parameters.values()) == pytest.approx((top / top.sum()).tolist())


@pytest.mark.parametrize("kind", KINDS)
def test_a_distance_counts_the_right_way_round(kind):
    data = rated(30, 3)
    content = several(data, noises=(1, 1))
    distance = score(data, "far", noisy(data, "content", 0.2, 5, sign=-1.0))
    scores = pd.concat([content, distance], ignore_index=True)
    people = data.means["content"].to_numpy(float)
    turned = hybrid(data, scores, "content", kind, SMALL, lower=("far",))
    blind = hybrid(data, scores, "content", kind, SMALL)
    assert pearsonr(people, turned.scores["value"])[0] > 0.8
    assert pearsonr(people, blind.scores["value"])[0] < 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_ratings_of_a_fold_never_reach_the_scores_of_that_fold(kind):
    data = rated(18, 2)
    scores = several(data, noises=(1, 2, 3, 4))
    people = data.means["content"].to_numpy(float)
    sources = data.items["source_id"].to_numpy(str)
    first = hybrid(data, scores, "content", kind, SMALL).scores
    for train, judged in splits(sources, SMALL.outer, SMALL.seed):
        other = np.where(judged, -people, people)
        again = hybrid(rating(data, other), scores, "content", kind, SMALL).scores
        assert again["value"][judged].tolist() == first["value"][judged].tolist()
        assert again["detail"][judged].tolist() == first["detail"][judged].tolist()
        assert again["value"][train].tolist() != first["value"][train].tolist()
        assert again["signature"][0] != first["signature"][0]


def test_the_order_of_items_changes_no_fold_and_no_value():
    data = rated(12, 3)
    scores = several(data, noises=(1, 2, 3))
    order = np.random.default_rng(3).permutation(len(data.items))
    mixed = type(data).of(
        data.name, data.items.iloc[order].reset_index(drop=True), data.card, ratings=data.ratings
    )
    # only the forest draws by the order of rows
    a, b = (
        hybrid(own, scores, "content", settings=SMALL).scores.sort_values(
            "item_id", ignore_index=True
        )
        for own in (data, mixed)
    )
    pd.testing.assert_frame_equal(a, b, rtol=1e-12)


def test_the_signature_names_all_that_changes_a_value():
    data = rated(12, 3)
    scores = several(data, noises=(1, 2, 3))
    changes = [{"outer": 4}, {"inner": 3}, {"seed": 1}, {"top": 2}, {"statistic": "spearman"}]
    tried = [("simulation", change) for change in ({}, *changes, {"in_sample": True})]
    tried += [("learned", {}), ("learned", {"trees": 11})]
    ways = [
        hybrid(data, scores, "content", kind, SMALL._replace(**change)).scores["signature"][0]
        for kind, change in tried
    ]
    assert len(set(ways)) == len(ways)


def test_one_metric_on_two_bases_is_two_parts():
    data = rated(18, 2)
    both = [
        score(data, "m", noisy(data, "content", 0.5, k), basis=basis)
        for k, basis in enumerate(("source", "reference"))
    ]
    combination = hybrid(data, pd.concat(both), "content", settings=SMALL._replace(top=2))
    assert set(combination.fits[0].parameters) == {"m (source)", "m (reference)"}
    assert set(combination.scores["basis"]) == {"reference"}


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"kind": "magic"}, "unknown kind of hybrid 'magic'"),
        ({"settings": SMALL._replace(top=9)}, "takes 9 or more metrics of content"),
        ({"settings": SMALL._replace(outer=99)}, "12 sources"),
        ({"dimension": "overall"}, "3 or more metrics of overall; there are none"),
    ],
)
def test_mistakes_say_what_is_wrong(arguments, what):
    data = rated(12, 2)
    with pytest.raises(CombineError, match=what):
        hybrid(data, several(data), **{"dimension": "content", "settings": SMALL, **arguments})


def test_too_few_ratings_and_several_samples_are_refused():
    data = rated(12, 2)
    scores = several(data)
    bare = type(data).of(data.name, data.items, data.card)
    few = rating(data, np.where(np.arange(24) < 9, 1.0, np.nan))
    twice = pd.concat([scores, scores.assign(sample=1)], ignore_index=True)
    for rows, own, what in (
        (bare, scores, "nobody rated content"),
        (few, scores, "fewer than 10"),
        (data, twice, "several samples"),
    ):
        with pytest.raises(CombineError, match=what):
            hybrid(rows, own, "content", settings=SMALL)


def test_equal_weights_look_at_no_rating():
    data = rated(18, 2)
    scores = several(data, noises=(1, 2, 3, 4))
    people = data.means["content"].to_numpy(float)
    half = np.where(np.arange(36) % 5 == 0, np.nan, people)
    first, other = (
        hybrid(rating(data, values), scores, "content", "equal", SMALL).scores
        for values in (people, -half)
    )
    assert first.equals(other)
    expected = np.full(36, np.nan)
    rows = scores["value"].to_numpy(float).reshape(4, -1)
    for train, judged in splits(data.items["source_id"].to_numpy(str), SMALL.outer, SMALL.seed):
        scale = Scaling.fitted(rows[:, train], np.zeros(4, dtype=bool))
        expected[judged] = gmean(scale(rows[:, judged]), axis=0)
    assert first["value"].to_numpy() == pytest.approx(expected)
