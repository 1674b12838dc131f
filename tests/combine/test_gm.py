"""GM of Pang and Gimpel (2019): the formula, thresholds learned from pairs, scores; J."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from tests.combine.examples import rated, score
from tstmeta.combine.gm import PRINTED, gm, gm_scores, hinge, j, learn, learned_gm
from tstmeta.combine.parts import CombineError
from tstmeta.data import Dataset

NAMES = ("acc", "sim", "pp")
#: Where Acc, Sim and PP lie so that no part of GM is zero.
ENDS = [[0.65], [0.73], [5]], [[1], [1], [90]]


@pytest.mark.parametrize(
    ("acc", "sim", "pp", "expected"),
    [
        (0.64, 0.72, 30.0, 67 ** (1 / 3)),  # 1 * 1 * min(67, 67): fluency is best at 30
        (0.71, 0.79, 33.0, (8 * 8 * 64) ** (1 / 3)),
        (0.71, 0.79, 27.0, (8 * 8 * 64) ** (1 / 3)),  # too plain counts as too strange
        (0.63, 0.99, 30.0, 0.0),  # at the threshold a part is nothing
        (0.50, 0.50, 30.0, 0.0),  # two parts below: not the product of two negative numbers
        (0.99, 0.99, 1e9, 0.0),
    ],
)
def test_gm_is_the_formula_of_section_3_3(acc, sim, pp, expected):
    assert gm(acc, sim, pp) == pytest.approx(expected)


def cases(pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of texts that the printed thresholds order, the better one first."""
    rows = np.random.default_rng(seed).uniform(*ENDS, (3, 2 * pairs))
    each, other = rows[:, :pairs], rows[:, pairs:]
    first = gm(*each) > gm(*other)
    return np.where(first, each, other), np.where(first, other, each)


def test_the_loss_is_the_mean_hinge():
    better = np.array([[0.71, 0.64], [0.79, 0.72], [33.0, 30.0]])
    worse = np.array([[0.63, 0.71], [0.79, 0.79], [33.0, 33.0]])
    expected = np.mean([max(0.0, 1.0 - gap) for gap in [16.0, 67 ** (1 / 3) - 16.0]])
    assert hinge(PRINTED, better, worse) == pytest.approx(expected)


def test_learning_finds_what_a_grid_finds():
    better, worse = cases(12, 5)
    axes = (np.linspace(0, 100, 9), np.linspace(0, 100, 9), np.linspace(0, 180, 9))
    mesh = np.stack(np.meshgrid(*axes, np.linspace(-180, 180, 9), indexing="ij")).reshape(4, -1)
    assert hinge(learn(better, worse), better, worse) <= hinge(mesh, better, worse).min() + 1e-9


def three(data: Dataset) -> pd.DataFrame:
    return together(data, *np.random.default_rng(0).uniform(*ENDS, (3, len(data.items))))


def together(data, acc, sim, pp):
    sides = score(data, "sim", sim), score(data, "pp", pp, "fluency", "none")
    return pd.concat([score(data, "acc", acc, "style", "none"), *sides], ignore_index=True)


def preferred(data: Dataset, scores: pd.DataFrame) -> pd.DataFrame:
    """Every pair of rewrites of a source, ordered by GM as printed; some are ties."""
    value = gm_scores(data, scores, names=NAMES).set_index("item_id")["value"]
    sources = data.items.groupby("source_id")["item_id"]
    pairs = [pair for _, ids in sources for pair in combinations(ids, 2)]
    result = pd.DataFrame(pairs, columns=["item_a", "item_b"])
    result["value"] = ["a" if value[a] > value[b] else "b" for a, b in pairs]
    result.loc[:3, "value"] = "tie"
    return result.assign(dataset=data.name, dimension="overall", rater="r1")


FOUR = rated(4, 2)


def test_scores_hold_gm_of_each_text_and_say_the_thresholds():
    scores = three(FOUR)
    result = gm_scores(FOUR, scores, names=NAMES)
    wide = scores.pivot_table(index="item_id", columns="metric", values="value")
    assert result["value"].to_numpy() == pytest.approx(gm(wide["acc"], wide["sim"], wide["pp"]))
    assert result["signature"].str.contains("t:63,71,97,-37", regex=False).all()
    constant = result[["metric", "basis", "dimension"]].drop_duplicates()
    assert constant.to_numpy().tolist() == [["gm", "source", "overall"]]


def test_a_text_without_a_part_is_invalid_and_one_with_a_truncated_part_is_truncated():
    scores = three(FOUR)
    lost = (scores["metric"] == "pp") & (scores["item_id"] == "i003")
    scores.loc[lost, ["value", "status"]] = [np.nan, "error"]
    cut = (scores["metric"] == "sim") & (scores["item_id"] == "i001")
    scores.loc[cut, "status"] = "truncated"
    result = gm_scores(FOUR, scores, names=NAMES).set_index("item_id")
    assert result.loc["i003", ["status", "detail"]].tolist() == ["invalid", "no value of pp"]
    assert np.isnan(result.loc["i003", "value"])
    assert result.loc["i001", "status"] == "truncated"
    assert (result["status"].drop(["i001", "i003"]) == "ok").all()


def test_percent_and_a_part_that_is_not_there_are_refused():
    scores = three(FOUR)
    with pytest.raises(CombineError, match="no metric called 'other'"):
        gm_scores(FOUR, scores, names=("other", "sim", "pp"))
    scores.loc[scores["metric"] == "acc", "value"] *= 100
    with pytest.raises(CombineError, match="GM wants acc between 0 and 1"):
        gm_scores(FOUR, scores, names=NAMES)


def test_learned_thresholds_never_saw_the_fold_they_score():
    data = rated(24, 3)
    scores = three(data)
    likes = preferred(data, scores)
    combination = learned_gm(replace(data, preferences=likes), scores, names=NAMES, outer=4)
    assert [[*fit] for fit in combination.fits] == [["t1", "t2", "t3", "t4"]] * 4
    pairs = combination.scores["detail"].drop_duplicates().str.extract(r"from (\d+) pairs")[0]
    assert pairs.astype(int).sum() == 3 * (len(likes) - 4)
    # turning what people said about one fold's sources round leaves that fold's scores alone
    fold = combination.scores.set_index("item_id")["detail"].str.extract(r"fold (\d)")[0]
    inside = likes["item_a"].map(fold) == "1"
    other = likes["value"].replace({"a": "b", "b": "a"})
    turned = likes.assign(value=likes["value"].mask(inside, other))
    again = learned_gm(replace(data, preferences=turned), scores, names=NAMES, outer=4)
    own = (combination.scores["item_id"].map(fold) == "1").to_numpy()
    assert again.scores["value"][own].tolist() == combination.scores["value"][own].tolist()
    assert again.scores["value"][~own].tolist() != combination.scores["value"][~own].tolist()
    assert again.scores["signature"][0] != combination.scores["signature"][0]


def test_j_is_the_product():
    data = rated(2, 2)
    scores = together(data, [1, 1, 0, 1], [0.5, 0.8, 0.9, -0.2], [1, 0, 1, 1])
    result = j(data, scores, acc="acc", sim="sim", fl="pp")
    assert result["value"].tolist() == [0.5, 0.0, 0.0, 0.0]
    assert set(result["dimension"]) == {"overall"}


def test_neither_a_perplexity_nor_a_distance_is_a_part_of_j():
    data = rated(2, 1)
    for fl in ([30.0, 60.0], [-1.0, 1.0]):
        with pytest.raises(CombineError, match="J wants pp between"):
            j(data, together(data, [1, 0], [0, 1], fl), acc="acc", sim="sim", fl="pp")
    scores = together(data, [1, 0], [0, 1], [1, 1]).replace({"metric": {"sim": "pinc"}})
    with pytest.raises(CombineError, match="less of pinc is better"):
        j(data, scores, acc="acc", sim="pinc", fl="pp")
