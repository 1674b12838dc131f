"""Overall scores: which metrics count, how much, and J."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import gmean, pearsonr

from tests.combine.examples import noisy, rated, rating, score
from tstmeta.combine import CombineError, Settings, hybrid, j, overall_scores
from tstmeta.combine.parts import Scaling, lower_is_better, splits

SMALL = Settings(outer=3, inner=2, trees=10)
WAYS = ("existing", "ours1", "ours2")


def everything(data):
    """Metrics under the names that count as previously used, and more for the hybrids."""
    return pd.concat(
        [
            score(data, "bleu", noisy(data, "content", 1, 1)),
            score(data, "rougeL", noisy(data, "content", 1, 2)),
            score(data, "new-content", noisy(data, "content", 0.2, 3)),
            score(data, "style-accuracy", noisy(data, "style", 1, 4), "style", "none"),
            score(data, "style-emd", noisy(data, "style", 1, 5), "style"),
            score(data, "new-style", noisy(data, "style", 0.2, 6), "style", "none"),
            score(data, "perplexity:gpt2", noisy(data, "fluency", 1, 7, -1), "fluency", "none"),
        ],
        ignore_index=True,
    )


LOWER = ("perplexity:gpt2",)


def test_existing_is_the_geometric_mean_of_what_was_used_before():
    data = rated(12, 2)
    scores = everything(data)
    combination = overall_scores(data, scores, settings=SMALL, lower=LOWER)
    wide = scores.pivot_table(index="item_id", columns="metric", values="value")
    sources = data.items["source_id"].to_numpy(str)
    expected = np.full(24, np.nan)
    for train, judged in splits(sources, 3, 0):
        sides = []
        for names in (("style-accuracy", "style-emd"), ("bleu", "rougeL"), LOWER):
            rows = wide[list(names)].to_numpy(float).T
            lower = np.array([lower_is_better(name, "source", LOWER) for name in names])
            sides.append(gmean(Scaling.fitted(rows[:, train], lower)(rows[:, judged]), axis=0))
        expected[judged] = gmean(sides, axis=0)
    assert combination.scores["value"].to_numpy() == pytest.approx(expected)
    assert set(combination.scores["metric"]) == {"overall-existing"}


@pytest.mark.parametrize(("which", "kind"), [("ours1", "simulation"), ("ours2", "learned")])
def test_ours_takes_the_hybrids_of_style_and_content(which, kind):
    data = rated(18, 2)
    scores = everything(data)
    combination = overall_scores(data, scores, which, SMALL, lower=LOWER)
    own = [
        hybrid(data, scores, name, kind, SMALL, lower=LOWER).scores["value"].to_numpy()
        for name in ("style", "content")
    ]
    rest = combination.scores["value"].to_numpy() ** 3 / (own[0] * own[1])
    assert (rest <= 1 + 1e-9).all()
    people = data.means["fluency"].to_numpy(float)
    assert pearsonr(rest, people)[0] > 0.5
    assert f"hybrid:{kind}" in combination.scores["signature"][0]


@pytest.mark.parametrize("which", WAYS)
def test_weights_of_all_metrics_sum_to_one_and_each_dimension_has_a_third(which):
    data = rated(18, 2)
    for fit in overall_scores(data, everything(data), which, SMALL, lower=LOWER).fits:
        assert sum(fit.parameters.values()) == pytest.approx(1.0)
        for name in ("style", "content", "fluency"):
            own = [value for key, value in fit.parameters.items() if key.startswith(f"{name}: ")]
            assert sum(own) == pytest.approx(1 / 3)


@pytest.mark.parametrize("which", WAYS)
def test_what_a_fold_holds_never_reaches_its_scores(which):
    data = rated(18, 2)
    scores = everything(data)
    sources = data.items["source_id"].to_numpy(str)
    first = overall_scores(data, scores, which, SMALL, lower=LOWER).scores
    _, judged = splits(sources, SMALL.outer, SMALL.seed)[0]
    turned = data
    for name in ("style", "content"):
        own = data.means[name].to_numpy(float)
        turned = rating(turned, np.where(judged, -own, own), name)
    again = overall_scores(turned, scores, which, SMALL, lower=LOWER).scores
    assert again["value"][judged].tolist() == first["value"][judged].tolist()
    if which == "existing":
        assert again["signature"][0] == first["signature"][0]
    else:
        assert again["signature"][0] != first["signature"][0]


@pytest.mark.parametrize(
    ("which", "drop", "what"),
    [
        ("existing", "perplexity:gpt2", r"needs scores of fluency \(one of perplexity\)"),
        ("ours1", "perplexity:gpt2", "needs scores of fluency, and none"),
        ("best", "nothing", "unknown overall score 'best'"),
    ],
)
def test_a_dimension_without_metrics_is_named(which, drop, what):
    data = rated(12, 2)
    scores = everything(data)
    with pytest.raises(CombineError, match=what):
        overall_scores(data, scores[~scores["metric"].str.startswith(drop)], which, SMALL)


def parts_of_j(data, acc, sim, fl):
    return pd.concat(
        [
            score(data, "acc", acc, "style", "none"),
            score(data, "sim", sim),
            score(data, "fl", fl, "fluency", "none"),
        ],
        ignore_index=True,
    )


NAMES = {"acc": "acc", "sim": "sim", "fl": "fl"}


def test_j_is_the_product_and_its_mean():
    data = rated(2, 2)
    scores = parts_of_j(data, [1, 1, 0, 1], [0.5, 0.8, 0.9, -0.2], [1, 0, 1, 1])
    result = j(data, scores, **NAMES)
    assert result["value"].tolist() == [0.5, 0.0, 0.0, 0.0]
    assert set(result["dimension"]) == {"overall"}


def test_neither_a_perplexity_nor_a_distance_is_a_part_of_j():
    data = rated(2, 1)
    for fl in ([30.0, 60.0], [-1.0, 1.0]):
        with pytest.raises(CombineError, match="J wants fl between"):
            j(data, parts_of_j(data, [1, 0], [0, 1], fl), **NAMES)
    scores = parts_of_j(data, [1, 0], [0, 1], [1, 1]).replace({"metric": {"sim": "pinc"}})
    with pytest.raises(CombineError, match="less of pinc is better"):
        j(data, scores, acc="acc", sim="pinc", fl="fl")
