"""GM of Pang and Gimpel (2019): the formula, thresholds learned from pairs, scores."""

import numpy as np
import pandas as pd
import pytest

from tests.combine.made import rated, score
from tstmeta import schema
from tstmeta.combine.gm import (
    PRINTED,
    Thresholds,
    agreement,
    gm,
    gm_of_systems,
    gm_scores,
    hinge,
    learn,
    learned_gm,
)
from tstmeta.combine.parts import CombineError
from tstmeta.data import Dataset

NAMES = {"acc": "acc", "sim": "sim", "pp": "pp"}


@pytest.mark.parametrize(
    ("acc", "sim", "pp", "expected"),
    [
        (0.64, 0.72, 30.0, 67 ** (1 / 3)),  # 1 * 1 * min(67, 67): fluency is best at 30
        (0.71, 0.79, 33.0, (8 * 8 * 64) ** (1 / 3)),
        (0.71, 0.79, 27.0, (8 * 8 * 64) ** (1 / 3)),  # too plain counts as too strange
        (0.63, 0.99, 30.0, 0.0),  # at the threshold a part is nothing
        (0.99, 0.50, 30.0, 0.0),
        (0.99, 0.99, 97.0, 0.0),
        (0.50, 0.50, 30.0, 0.0),  # two parts below: not the product of two negative numbers
        (0.99, 0.99, 1e9, 0.0),
    ],
)
def test_gm_is_the_formula_of_section_3_3(acc, sim, pp, expected):
    assert gm(acc, sim, pp) == pytest.approx(expected)


def test_a_missing_part_leaves_no_value():
    assert np.isnan(gm(np.nan, 0.9, 30.0))
    assert np.isnan(gm(0.9, 0.9, np.nan))


def cases(pairs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of texts that the printed thresholds order, the better one first."""
    rng = np.random.default_rng(seed)
    rows = np.stack(
        [
            rng.uniform(0.65, 1, 2 * pairs),
            rng.uniform(0.73, 1, 2 * pairs),
            rng.uniform(5, 90, 2 * pairs),
        ]
    )
    one, other = rows[:, :pairs], rows[:, pairs:]
    first = gm(*one) > gm(*other)
    return np.where(first, one, other), np.where(first, other, one)


def test_the_loss_is_the_mean_hinge():
    better = np.array([[0.71, 0.64], [0.79, 0.72], [33.0, 30.0]])
    worse = np.array([[0.63, 0.71], [0.79, 0.79], [33.0, 33.0]])
    gaps = [16.0, 67 ** (1 / 3) - 16.0]
    expected = np.mean([max(0.0, 1.0 - gap) for gap in gaps])
    assert hinge(PRINTED, better, worse) == pytest.approx(expected)


def test_many_thresholds_at_once_have_the_loss_of_each():
    better, worse = cases(20, 1)
    tried = np.array([PRINTED, (50.0, 60.0, 120.0, -10.0)]).T
    found = hinge(tried, better, worse)
    assert found == pytest.approx([hinge(one, better, worse) for one in tried.T])


def test_learned_thresholds_order_new_pairs_as_those_did_that_made_them():
    better, worse = cases(300, 2)
    found = learn(better, worse)
    assert found.loss <= hinge(PRINTED, better, worse)
    new_better, new_worse = cases(300, 3)
    t = found.thresholds
    assert (gm(*new_better, t) > gm(*new_worse, t)).mean() > 0.95
    for value, (low, high) in zip(t, found.alike, strict=True):
        assert low <= value <= high


def test_learning_finds_what_a_grid_finds():
    better, worse = cases(12, 5)
    axes = (np.linspace(0, 100, 9), np.linspace(0, 100, 9), np.linspace(0, 180, 9))
    mesh = np.stack(np.meshgrid(*axes, np.linspace(-180, 180, 9), indexing="ij")).reshape(4, -1)
    assert learn(better, worse).loss <= hinge(mesh, better, worse).min() + 1e-9


def test_pairs_that_say_nothing_leave_a_threshold_open():
    # only accuracy tells the texts apart, and the gap is wide: perplexity can be cut anywhere above
    better = np.array([[1.0] * 5, [1.0] * 5, [30.0] * 5])
    worse = np.array([[0.0] * 5, [1.0] * 5, [30.0] * 5])
    found = learn(better, worse)
    assert found.loss == 0.0
    low, high = found.alike[2]
    assert high - low > 10


def test_the_same_seed_learns_the_same():
    better, worse = cases(30, 4)
    assert learn(better, worse, 1) == learn(better, worse, 1)


def test_nothing_is_learned_from_no_pairs():
    with pytest.raises(CombineError, match="give preferences that are no ties"):
        learn(np.empty((3, 0)), np.empty((3, 0)))


# -------------------------------------------------------------------------------- scores


def three(data: Dataset, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = len(data.items)
    return pd.concat(
        [
            score(data, "acc", rng.uniform(0.65, 1, n), "style", "none"),
            score(data, "sim", rng.uniform(0.73, 1, n)),
            score(data, "pp", rng.uniform(5, 90, n), "fluency", "none"),
        ],
        ignore_index=True,
    )


def preferred(data: Dataset, scores: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Every pair of rewrites of a source, ordered by GM as printed; some are ties."""
    value = gm_scores(data, scores, **NAMES).set_index("item_id")["value"]
    rows = []
    for _, group in data.items.groupby("source_id"):
        ids = group["item_id"].tolist()
        for k, a in enumerate(ids):
            for b in ids[k + 1 :]:
                rows.append((a, b, "a" if value[a] > value[b] else "b"))
    found = pd.DataFrame(rows, columns=["item_a", "item_b", "value"])
    found.loc[:3, "value"] = "tie"
    found = found.assign(dataset=data.name, dimension="overall", rater="r1")
    return schema.validate(found, "preferences")


def test_scores_hold_gm_of_each_text_and_say_the_thresholds():
    data = rated(4, 2)
    scores = three(data)
    found = gm_scores(data, scores, **NAMES)
    wide = scores.pivot_table(index="item_id", columns="metric", values="value")
    assert found["value"].to_numpy() == pytest.approx(gm(wide["acc"], wide["sim"], wide["pp"]))
    assert found["signature"].str.contains("t:63,71,97,-37", regex=False).all()
    assert set(found["metric"]) == {"gm"}
    assert set(found["basis"]) == {"source"}
    assert set(found["dimension"]) == {"overall"}


def test_other_thresholds_have_another_signature():
    data = rated(4, 2)
    plain = gm_scores(data, three(data), **NAMES)
    other = gm_scores(data, three(data), **NAMES, thresholds=Thresholds(1, 2, 3, 4))
    assert plain["signature"][0] != other["signature"][0]


def test_a_text_without_one_part_is_invalid_and_says_which():
    data = rated(4, 2)
    scores = three(data)
    lost = (scores["metric"] == "pp") & (scores["item_id"] == "i003")
    scores.loc[lost, ["value", "status"]] = [np.nan, "error"]
    row = gm_scores(data, scores, **NAMES).set_index("item_id").loc["i003"]
    assert row["status"] == "invalid"
    assert row["detail"] == "no value of pp"
    assert np.isnan(row["value"])


def test_a_truncated_part_makes_the_whole_truncated():
    data = rated(4, 2)
    scores = three(data)
    scores.loc[(scores["metric"] == "sim") & (scores["item_id"] == "i001"), "status"] = "truncated"
    found = gm_scores(data, scores, **NAMES).set_index("item_id")["status"]
    assert found["i001"] == "truncated"
    assert (found.drop("i001") == "ok").all()


def test_percent_are_refused():
    data = rated(4, 2)
    scores = three(data)
    scores.loc[scores["metric"] == "acc", "value"] *= 100
    with pytest.raises(CombineError, match="GM wants acc between 0 and 1"):
        gm_scores(data, scores, **NAMES)


def test_a_part_that_is_not_there_is_named():
    data = rated(4, 2)
    with pytest.raises(CombineError, match="no metric called 'other'"):
        gm_scores(data, three(data), acc="other", sim="sim", pp="pp")


def test_learned_thresholds_never_saw_the_fold_they_score():
    data = rated(24, 3)
    scores = three(data)
    likes = preferred(data, scores)
    made = learned_gm(data, scores, likes, **NAMES, outer=4)
    assert [fit.fold for fit in made.fits] == [0, 1, 2, 3]
    total = len(likes) - 4
    for fit in made.fits:
        assert fit.fitted_on + fit.judged_on == total
    # turning what people said about one fold's sources round leaves that fold's scores alone
    fold = made.scores.set_index("item_id")["detail"].str.extract(r"fold (\d)")[0]
    inside = likes["item_a"].map(fold) == "1"
    turned = likes.assign(value=likes["value"].where(~inside, likes["value"].map(_other)))
    again = learned_gm(data, scores, turned, **NAMES, outer=4)
    own = (made.scores["item_id"].map(fold) == "1").to_numpy()
    assert again.scores["value"][own].tolist() == made.scores["value"][own].tolist()
    assert again.scores["value"][~own].tolist() != made.scores["value"][~own].tolist()
    assert again.scores["signature"][0] != made.scores["signature"][0]


def _other(value: str) -> str:
    return {"a": "b", "b": "a"}.get(value, value)


def test_held_out_agreement_is_high_where_people_follow_gm():
    data = rated(30, 3)
    scores = three(data)
    likes = preferred(data, scores)
    made = learned_gm(data, scores, likes, **NAMES, outer=5)
    found = agreement(made.scores, likes)
    assert found.pairs == len(likes) - 4
    assert found.left_out == 4
    assert found.share > 0.9


def test_in_sample_says_so():
    data = rated(8, 3)
    scores = three(data)
    made = learned_gm(data, scores, preferred(data, scores), **NAMES, in_sample=True)
    assert "folds:none-in-sample" in made.scores["signature"][0]
    assert made.scores["detail"].str.startswith("in sample").all()


@pytest.mark.parametrize(
    ("values", "preference", "share"),
    [((1.0, 0.0), "a", 1.0), ((1.0, 0.0), "b", 0.0), ((1.0, 1.0), "a", 0.5)],
)
def test_a_tie_of_scores_is_half_right(values, preference, share):
    data = rated(1, 2)
    likes = pd.DataFrame(
        {"item_a": ["i000"], "item_b": ["i001"], "value": [preference], "dataset": data.name}
    )
    assert agreement(score(data, "m", list(values)), likes).share == share


def test_systems_have_gm_of_their_means():
    data = rated(5, 2)
    scores = three(data)
    found = gm_of_systems(data, scores, **NAMES).set_index("system")
    wide = scores.pivot_table(index="item_id", columns="metric", values="value")
    own = wide[(data.items["system"] == "M1").to_numpy()].mean()
    assert found.loc["M1", "n"] == 5
    assert found.loc["M1", "gm"] == pytest.approx(float(gm(own["acc"], own["sim"], own["pp"])))


def test_a_metric_of_whole_outputs_gives_its_own_value():
    data = rated(3, 1)
    statistics = [[2, 2] * 4 + [2, 3]] * 3
    from tstmeta.metrics import get

    metric = get("corpus-bleu")
    scores = three(data)
    scores.loc[scores["metric"] == "sim", "metric"] = "corpus-bleu"
    rows = scores["metric"] == "corpus-bleu"
    scores.loc[rows, "detail"] = [str(one) for one in statistics]
    found = gm_of_systems(data, scores, acc="acc", sim="corpus-bleu", pp="pp")
    assert found["sim"][0] == pytest.approx(metric.combine([str(one) for one in statistics]))
