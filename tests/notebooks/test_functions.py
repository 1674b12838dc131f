"""Functions that notebooks teach find what was planted, and agree with the library's."""

import ast
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from tests.combine import examples
from tests.combine.examples import DIMENSIONS
from tests.notebooks.cells import cells
from tstmeta import stats
from tstmeta.combine import PRINTED, gm_scores, j, learned_gm
from tstmeta.combine.gm import learn
from tstmeta.data import Card


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
    x, y, z = np.random.default_rng(0).normal(size=(3, 50)) + np.random.default_rng(1).normal(
        size=50
    )
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


def test_the_judge_that_repeats_a_rater_is_as_near_as_that_rater():
    nearer = functions("lesson_9_judges", "nearer")["nearer"]
    people = np.random.default_rng(0).normal(size=(10, 3, 4))
    assert nearer(people, people[..., 1], 1) == (1, 1)


def test_gm_and_j_in_the_open_are_those_of_the_library_and_learned_thresholds_order_pairs():
    one = examples.rated(sources=40)
    good = np.random.default_rng(3).uniform(size=120)
    for dimension in DIMENSIONS:
        one = examples.rating(one, 1 + 4 * good, dimension)
    one = replace(one, card=Card("ours", facts={"scale": {key: [1, 5] for key in DIMENSIONS}}))
    PP = 90 - 60 * good
    values = {"Acc": good > 0.3, "Sim": 0.5 + good / 2, "PP": PP, "1/PP": 1 / PP}
    table = pd.concat(examples.score(one, metric, of_it) for metric, of_it in values.items())
    parts = {name: name for name in ("Acc", "Sim", "PP")}
    wanted = ("splits", "gm", "whole", "choices", "in_the_open")
    space = {"THREE": [*DIMENSIONS], "PARTS": parts, "learn": learn, "PRINTED": PRINTED}
    space = functions("08_hybrids", *wanted, **space)
    chosen = space["choices"](one)
    ours = space["in_the_open"](one, table[table["metric"] != "1/PP"], chosen)
    learned = learned_gm(replace(one, preferences=chosen), table, names=[*parts]).scores
    theirs = {"GM": gm_scores(one, table, names=[*parts]), "GM, learned": learned}
    theirs["J"] = j(one, table, acc="Acc", sim="Sim", fl="1/PP")
    for name, scores in theirs.items():
        assert ours[name] == pytest.approx(scores["value"].to_numpy(), abs=1e-12)
    assert np.corrcoef(ours["GM, learned"], good)[0, 1] > 0.8


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


@pytest.mark.parametrize("signal", [0.5, 0.8])
def test_simulated_raters_have_the_signal_that_they_were_given(signal):
    wanted = ["every_two", "order", "means_of_others", "simulated", "against_others", "fitted"]
    space = functions("19_noise", *wanted, "perfect", brentq=brentq)
    scale = np.tile(np.arange(1, 6), 3).reshape(5, 1, 3)  # every mark is as frequent
    marks, _, two = space["simulated"](scale, 0.3, signal, pairs=4000)
    ratings = marks[two.T]  # [sources, 2 systems, raters]
    space["seed"] = 1
    shared, again, _ = space["fitted"](ratings, stats.variance_components(ratings))
    assert (shared, again) == pytest.approx((0.3, signal), abs=0.05)
    accuracy = [space["perfect"](ratings, shared, again, raters)[0] for raters in (1, 30)]
    assert 0.7 < accuracy[0] < accuracy[1] < 1


def test_a_choice_among_metrics_of_noise_is_worth_half_on_other_sources():
    space = functions("18_choosing", "gaps", "right", "picked")
    rng = np.random.default_rng(0)
    item = pd.DataFrame({"source_id": np.repeat(range(300), 3), "item_id": range(900)})
    item["human"] = rng.integers(0, 3, 900)
    names = [f"m{place}" for place in range(30)]
    own = [item.assign(metric=name, score=rng.integers(0, 9, 900)) for name in names]
    each = space["right"](space["gaps"](pd.concat(own))).groupby("source_id")
    credit, count = each.sum(), each.count()
    half = np.array([rng.permutation(len(credit)) % 2 for _ in range(200)])
    sides = [pd.DataFrame(take @ credit / (take @ count)) for take in (half, 1 - half)]
    best, values = space["picked"](*sides)
    assert (sides[0].to_numpy()[np.arange(200), best] == sides[0].max(axis=1)).all()
    assert values.mean() == pytest.approx(0.5, abs=0.02)
    assert (credit.sum() / count.sum()).max() > 0.53


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
