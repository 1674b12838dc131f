"""Hybrids and overall scores: what they choose and weigh, and that they see no rating of a fold."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import gmean, pearsonr

from tests.combine.examples import noisy, rated, rating, score, several
from tstmeta.combine import CombineError, Settings, hybrid, overall_scores
from tstmeta.combine.hybrids import grid
from tstmeta.combine.parts import FLOOR, Scaling, folds, geometric_mean, splits

KINDS = ("simulation", "learned")
SMALL = Settings(outer=3, inner=2, trees=10)
DATA = rated(12, 3)
SCORES = several(DATA)
ROWS = SCORES["value"].to_numpy(float).reshape(5, -1)
PEOPLE = DATA.means["content"].to_numpy(float)
FOLDS = splits(DATA.items["source_id"].to_numpy(str), SMALL.outer, SMALL.seed)

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


@pytest.mark.parametrize("parts", [1, 3])
def test_the_grid_holds_all_steps_of_a_twentieth_that_sum_to_one(parts):
    result = grid(parts)
    expected = {each for each in itertools.product(range(2, 21), repeat=parts) if sum(each) == 20}
    assert {tuple(np.rint(row * 20).astype(int).tolist()) for row in result} == expected
    assert len(result) == len(expected)
    assert result.sum(axis=1) == pytest.approx(1.0)


def test_in_sample_the_simulation_is_the_best_of_all_weights_by_brute_force():
    combination = hybrid(DATA, SCORES, "content", settings=Settings(in_sample=True))
    best = sorted(range(5), key=lambda k: -pearsonr(PEOPLE, ROWS[k])[0])[:3]
    scaled = Scaling.fitted(ROWS, np.zeros(5, dtype=bool))(ROWS)[best]
    tried = {
        weights: pearsonr(PEOPLE, gmean(scaled, axis=0, weights=np.tile(weights, (36, 1)).T))[0]
        for weights in itertools.product(np.arange(2, 21) / 20, repeat=3)
        if abs(sum(weights) - 1) < 1e-9
    }
    (fit,) = combination.fits
    assert list(fit) == [f"content-{k}" for k in best]
    assert pearsonr(PEOPLE, combination.scores["value"])[0] == pytest.approx(max(tried.values()))
    assert tuple(fit.values()) == pytest.approx(max(tried, key=tried.__getitem__))


def test_the_forest_gives_the_importances_of_scikit_learn():
    from sklearn.ensemble import RandomForestRegressor

    settings = Settings(in_sample=True, trees=30, seed=4)
    (fit,) = hybrid(DATA, SCORES, "content", "learned", settings).fits
    forest = RandomForestRegressor(30, random_state=4).fit(ROWS.T, PEOPLE)
    top = np.sort(forest.feature_importances_)[::-1][:3]
    assert list(fit.values()) == pytest.approx((top / top.sum()).tolist())


@pytest.mark.parametrize(
    ("name", "right"), [("ter", True), ("released:wmd", True), ("wmd-of-nobody", False)]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_distance_counts_the_right_way_round(kind, name, right):
    data = rated(30, 3)
    distance = score(data, name, noisy(data, "content", 0.2, 5, sign=-1.0))
    scores = pd.concat([several(data, noises=(1, 1)), distance], ignore_index=True)
    value = hybrid(data, scores, "content", kind, SMALL).scores["value"]
    assert (pearsonr(data.means["content"].to_numpy(float), value)[0] > 0.8) == right


def test_the_order_of_items_changes_no_fold_and_no_value():
    mixed = DATA.items.sample(frac=1, random_state=3).reset_index(drop=True)
    # only the forest draws by the order of rows
    both = (DATA, replace(DATA, items=mixed))
    a, b = (hybrid(data, SCORES, "content", settings=SMALL).scores for data in both)
    b = b.set_index("item_id").loc[a["item_id"]].reset_index()[[*a]]
    pd.testing.assert_frame_equal(a, b, rtol=1e-12)


def test_the_signature_names_all_that_changes_a_value():
    changes = [{"outer": 4}, {"inner": 3}, {"seed": 1}, {"top": 2}, {"statistic": "spearman"}]
    tried = [("simulation", change) for change in ({}, *changes, {"in_sample": True})]
    tried += [("learned", {}), ("learned", {"trees": 11})]
    ways = [
        hybrid(DATA, SCORES, "content", kind, SMALL._replace(**change)).scores["signature"][0]
        for kind, change in tried
    ]
    assert len(set(ways)) == len(ways)


def test_one_metric_on_two_bases_is_two_parts():
    both = [
        score(DATA, "m", noisy(DATA, "content", 0.5, k), basis=basis)
        for k, basis in enumerate(("source", "reference"))
    ]
    combination = hybrid(DATA, pd.concat(both), "content", settings=SMALL._replace(top=2))
    assert set(combination.fits[0]) == {"m (source)", "m (reference)"}
    assert set(combination.scores["basis"]) == {"reference"}


FEW = rating(DATA, np.where(np.arange(36) < 9, 1.0, np.nan))
TWICE = pd.concat([SCORES, SCORES.assign(sample=1)], ignore_index=True)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"kind": "magic"}, "unknown kind of hybrid 'magic'"),
        ({"settings": SMALL._replace(top=9)}, "takes 9 or more metrics of content"),
        ({"settings": SMALL._replace(outer=99)}, "12 sources"),
        ({"dimension": "overall"}, "3 or more metrics of overall; there are none"),
        ({"dataset": replace(DATA, ratings=DATA.ratings[:0])}, "nobody rated content"),
        ({"dataset": FEW}, "fewer than 10"),
        ({"scores": TWICE}, "several samples"),
    ],
)
def test_mistakes_say_what_is_wrong(changes, what):
    usual = {"dataset": DATA, "scores": SCORES, "dimension": "content", "settings": SMALL}
    with pytest.raises(CombineError, match=what):
        hybrid(**(usual | changes))


def means_by_fold(rows, lower=False):
    """Geometric means of metrics ``[M, n]`` by SciPy, their scale fitted on the other folds."""
    means = np.full(rows.shape[1], np.nan)
    for _, train, judged in FOLDS:
        scale = Scaling.fitted(rows[:, train], np.full(len(rows), lower))
        means[judged] = gmean(scale(rows[:, judged]), axis=0)
    return means


def test_equal_weights_look_at_no_rating():
    half = np.where(np.arange(36) % 5 == 0, np.nan, PEOPLE)
    both = (rating(DATA, values) for values in (PEOPLE, -half))
    first, other = (hybrid(data, SCORES, "content", "equal", SMALL).scores for data in both)
    assert first.equals(other)
    assert first["value"].to_numpy() == pytest.approx(means_by_fold(ROWS))


def everything():
    """Metrics under the names that count as previously used, and more for the hybrids."""
    noises = {"bleu": 1, "rougeL": 1, "new-content": 0.2, "style-accuracy": 1, "style-emd": 1}
    noises |= {"new-style": 0.2, "perplexity:gpt2": 1}
    tables = []
    for seed, (name, noise) in enumerate(noises.items(), 1):
        dimension = "fluency" if name in LOWER else "style" if "style" in name else "content"
        values = noisy(DATA, dimension, noise, seed, -1 if name in LOWER else 1)
        tables.append(score(DATA, name, values, dimension))
    return pd.concat(tables, ignore_index=True)


WAYS, LOWER = ("existing", "ours1", "ours2"), ("perplexity:gpt2",)
EVERYTHING = everything()


def test_existing_is_the_geometric_mean_of_what_was_used_before():
    combination = overall_scores(DATA, EVERYTHING, settings=SMALL)
    wide = EVERYTHING.pivot_table(index="item_id", columns="metric", values="value")
    sides = [
        means_by_fold(wide[list(names)].to_numpy(float).T, names == LOWER)
        for names in (("style-accuracy", "style-emd"), ("bleu", "rougeL"), LOWER)
    ]
    assert combination.scores["value"].to_numpy() == pytest.approx(gmean(sides, axis=0))
    assert set(combination.scores["metric"]) == {"overall-existing"}


def fitted(name, data):
    """The scores of a hybrid for content, or of an overall score."""
    if name in KINDS:
        return hybrid(data, EVERYTHING, "content", name, SMALL).scores
    return overall_scores(data, EVERYTHING, name, SMALL).scores


@pytest.mark.parametrize("name", [*KINDS, *WAYS])
def test_ratings_of_a_fold_never_reach_the_scores_of_that_fold(name):
    first = fitted(name, DATA)
    for _, train, judged in FOLDS:
        other = DATA
        for dimension in ("style", "content"):
            people = DATA.means[dimension].to_numpy(float)
            other = rating(other, np.where(judged, -people, people), dimension)
        again = fitted(name, other)
        same = first[["value", "detail"]].eq(again[["value", "detail"]]).all(axis=1)
        assert same[judged].all()
        blind = name == "existing"  # it looks at no rating
        assert same[train].all() == blind
        assert (again["signature"][0] == first["signature"][0]) == blind


@pytest.mark.parametrize(
    ("which", "drop", "what"),
    [
        ("existing", "perplexity:gpt2", r"needs scores of fluency \(one of perplexity\)"),
        ("ours1", "perplexity:gpt2", "needs scores of fluency, and none"),
        ("best", "nothing", "unknown overall score 'best'"),
    ],
)
def test_a_dimension_without_metrics_is_named(which, drop, what):
    scores = EVERYTHING[~EVERYTHING["metric"].str.startswith(drop)]
    with pytest.raises(CombineError, match=what):
        overall_scores(DATA, scores, which, SMALL)


UP = np.array([False])


def test_training_ends_become_the_floor_and_one_and_what_lies_beyond_is_cut():
    scale = Scaling.fitted(np.linspace(0.0, 1.0, 41)[None], UP)
    low, high = 0.025, 0.975
    result = scale(np.array([[-5.0, low, 0.5, high, 9.0]]))[0]
    assert result == pytest.approx([FLOOR, FLOOR, FLOOR + (1 - FLOOR) / 2, 1.0, 1.0])


@pytest.mark.parametrize(
    ("train", "new", "expected"),
    [
        ([3.0] * 9, [0.0, 3.0, 7.0], [1.0, 1.0, 1.0]),  # constant: a factor without effect
        ([np.nan] * 9, [1.0, np.nan], [1.0, np.nan]),  # nothing known of it
        ([1.0] * 99 + [0.0], [0.0, 1.0], [FLOOR, 1.0]),  # the quantiles coincide, the ends do not
        ([-2.0, -1.0] * 9, [-2.0, -1.0], [FLOOR, 1.0]),  # negative values (BLEURT)
    ],
)
def test_metrics_that_hardly_vary_are_scaled_too(train, new, expected):
    scale = Scaling.fitted(np.array([train]), UP)
    assert scale(np.array([new]))[0] == pytest.approx(expected, nan_ok=True)


@given(
    st.lists(st.lists(st.floats(0.01, 1), min_size=4, max_size=4), min_size=2, max_size=5),
    st.integers(0, 99),
)
def test_the_mean_is_that_of_scipy(rows, seed):
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(rows))
    expected = gmean(np.array(rows), axis=0, weights=np.tile(weights[:, None], 4))
    assert geometric_mean(np.array(rows), weights) == pytest.approx(expected)


def test_a_part_without_weight_may_be_missing():
    values = np.array([[0.5, 0.5], [np.nan, 0.5]])
    assert geometric_mean(values, np.array([1.0, 0.0])).tolist() == [0.5, 0.5]
    assert np.isnan(geometric_mean(values, np.ones(2))[0])


@pytest.mark.parametrize("which", WAYS)
def test_weights_of_all_metrics_sum_to_one_and_each_dimension_has_a_third(which):
    for fit in overall_scores(DATA, EVERYTHING, which, SMALL).fits:
        for name in ("style", "content", "fluency"):
            own = [weight for key, weight in fit.items() if key.startswith(f"{name}: ")]
            assert sum(own) == pytest.approx(1 / 3)
