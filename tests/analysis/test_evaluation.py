"""An evaluation: everything about a data set and a dimension, against its parts computed alone."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import rated, scored
from tests.analysis.tiny import rated as tiny
from tests.analysis.tiny import scores
from tests.helpers import needs
from tstmeta import schema, scoring, stats
from tstmeta.analysis import choice, evaluate
from tstmeta.analysis.findings import LEVELS, Evaluation
from tstmeta.analysis.frame import pairs
from tstmeta.analysis.matrices import cube, matrices
from tstmeta.analysis.render import COLUMNS
from tstmeta.data import Dataset, load
from tstmeta.schema import TstmetaError

DATA = rated()
SCORES = scored(DATA, good=0.4, fair=1.0, poor=4.0, ter=0.8, random=50.0)
#: what is the best of these, then the next, with the sentinel and the oracle below
ORDER = ["good", "ter", "fair", "poor", "random", "human-style"]
QUICK = {"draws": 200}


def analyse(data: Dataset, table: pd.DataFrame, **options) -> Evaluation:
    """The evaluation of a table of scores with people's style rating beside."""
    if "human-style" not in set(table["metric"]):
        table = pd.concat([table, scoring.human_style(data)], ignore_index=True)
    return evaluate(data, scores=table, **{"statistic": "pearson", "level": "pooled"} | options)


def laid_out(level: str = "pooled", order: list[str] | None = None, dimension: str = "content"):
    """People, and the metrics in an order, flipped where less is better."""
    own = matrices(pairs(DATA, SCORES, dimension), level)
    names = own.heads["metric"].tolist()
    return own.human, own.metrics[[names.index(name) for name in order or ORDER[:-1]]]


def test_metrics_come_best_first_and_sentinels_and_the_oracle_below():
    own = analyse(DATA, SCORES, **QUICK)
    assert own.frame["metric"].tolist() == ORDER
    assert own.frame["kind"].tolist() == [*["metric"] * 4, "sentinel", "oracle"]
    assert list(own.frame.columns) == COLUMNS
    value = own.frame["value"].to_numpy()
    assert (np.diff(value[:4]) < 0).all()
    np.testing.assert_allclose(own.drawn.estimates, value, atol=1e-12)
    assert own.frame["rank"].tolist() == [1, 2, 3, 4, 5, 6]
    style = analyse(DATA, SCORES, dimension="style", **QUICK).frame
    assert "human-style" not in set(style["metric"]), "style is not held against itself"
    assert set(style["given"]) == {"content"}
    shuffled = SCORES.iloc[np.random.default_rng(3).permutation(len(SCORES))]
    pd.testing.assert_frame_equal(analyse(DATA, shuffled, **QUICK).frame, own.frame)


def test_the_default_is_accuracy_within_a_source_with_r_and_the_number_of_pairs_beside():
    table = pd.concat([SCORES, scoring.human_style(DATA)], ignore_index=True)
    own = evaluate(DATA, scores=table, **QUICK)
    assert own.key.items() >= {"statistic": "accuracy", "level": "same-source"}.items()
    frame, pooled = own.frame.set_index("metric"), analyse(DATA, SCORES, **QUICK).frame
    np.testing.assert_allclose(frame["r"][pooled["metric"]], pooled["value"])
    assert pooled["r"].isna().all()
    human = DATA.human("content").groupby(DATA.items["source_id"].to_numpy())
    count = sum(a != b for _, values in human for a, b in combinations(values, 2))
    assert set(frame["pairs"]) == {count}
    levels = own.levels.set_index("metric")
    assert list(levels) == ["basis", *LEVELS]
    np.testing.assert_allclose(levels["accuracy same-source"], frame["value"])
    single = DATA.where(DATA.items["system"] == "A", "single")
    rows = SCORES[SCORES["item_id"].isin(single.items["item_id"])]
    assert evaluate(single, scores=rows, draws=20).key["level"] == "pooled"


def test_sets_of_ranks_hold_the_rank_and_equal_metrics_share_one():
    twin = SCORES[SCORES["metric"] == "good"].assign(metric="twin", signature="twin")
    rows = analyse(DATA, pd.concat([SCORES, twin]), **QUICK).frame.set_index("metric")
    assert rows.loc[["good", "twin", "ter"], "rank"].tolist() == [1, 1, 3]
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert (rows["rank"] <= rows["rank_high"]).all()
    assert rows.loc["good", "rank_high"] < rows.loc["poor", "rank_low"]


def test_clusters_follow_from_the_differences_of_all_pairs_in_the_same_resamples():
    own = analyse(DATA, SCORES, draws=400, seed=3)
    sides = own.drawn.estimates, own.drawn.resampled
    expected = stats.simultaneous_p(*sides, units=23)  # two strata
    np.testing.assert_allclose(own.p, expected)
    clusters = stats.significance_clusters(own.drawn.estimates, own.p)
    assert own.frame["cluster"].tolist() == clusters.tolist()
    assert own.frame["cluster"][0] < own.frame["cluster"][3]
    rows = own.frame  # a line stands where the sets of ranks on its sides do not meet
    for cluster in rows["cluster"].unique()[1:]:
        above = rows["cluster"] < cluster
        assert rows.loc[above, "rank_high"].max() < rows.loc[~above, "rank_low"].min()


def test_people_stand_beside_metrics_in_the_place_of_a_held_out_rater():
    own = analyse(DATA, SCORES, level="system", **QUICK)
    metrics = laid_out("system", own.frame["metric"][:5].tolist())[1]
    expected = stats.ceiling(cube(DATA, "content", "system").ratings, own.analysis.setting, metrics)
    low, high = expected.by_rater.min(), expected.by_rater.max()
    assert own.human[:3] == pytest.approx((expected.value, low, high))
    assert own.human[3:6] == (3 * len(DATA.items), 3, True)
    np.testing.assert_allclose(own.frame["as_rater"][:5].astype(float), expected.metrics)


def test_a_metric_with_gaps_does_not_change_the_items_of_the_others():
    holes = SCORES.copy()
    holes.loc[(holes["metric"] == "poor") & (holes["item_id"] == "i3"), "value"] = np.nan
    whole, some = (analyse(DATA, table, **QUICK) for table in (SCORES, holes))
    assert whole.human == some.human
    assert np.isnan(some.frame.loc[3, "as_rater"])
    assert some.frame["as_rater"][0] == whole.frame["as_rater"][0]


@pytest.mark.parametrize(
    ("statistic", "how", "given"),
    [("kendall", "kendall", "style"), ("pairwise-accuracy", "spearman", "style (Spearman's rho)")],
)
def test_given_another_dimension_is_the_statistic_pooled(statistic, how, given):
    own = analyse(DATA, SCORES, statistic=statistic, **QUICK)
    human, metrics = laid_out()
    style = laid_out(order=ORDER[:1], dimension="style")[0]
    expected = stats.partial(human, metrics, style[None], statistic=how)
    values = own.frame.set_index("metric")["partial"]
    np.testing.assert_allclose(values[ORDER[:-1]], expected)
    assert np.isnan(values["human-style"])
    assert set(own.frame["given"]) == {given}
    assert own.frame["partial_all"].isna().all()  # fluency was not rated
    by_source = analyse(DATA, SCORES, statistic=statistic, level="source", **QUICK)
    assert by_source.frame["partial"].isna().all()
    assert set(by_source.frame["given"]) == {""}


def test_a_metric_of_whole_outputs_is_left_out_with_a_remark(tmp_path):
    wanted = ["corpus-bleu", "bleu", "constant"]
    table = scoring.score(DATA, wanted, bases=["source"], store=tmp_path, progress=False)
    own = analyse(DATA, table, draws=50)
    assert own.frame["metric"].tolist() == ["bleu", "human-style", "constant"]
    assert own.remarks[0].startswith("corpus-bleu: one value a system; tst.correlate at level sys")
    row = own.frame.iloc[-1]
    assert (row["metric"], row["note"]) == ("constant", "all scores are equal")
    assert row[["value", "low", "high", "rank", "rank_low", "rank_high"]].isna().all()
    with pytest.raises(TstmetaError, match="no scores to evaluate; corpus-bleu: one value"):
        evaluate(DATA, scores=table[table["metric"] == "corpus-bleu"])


@needs("alva")
def test_ratings_on_several_scales_are_not_thrown_together():
    with pytest.raises(TstmetaError, match="take one of alva@asset"):
        pairs(load("alva"), schema.empty("scores"))


def test_of_released_scores_those_of_the_dimension_and_those_that_are_named_are_listed():
    data, rows = tiny(), []
    for name, dimension in (("m", "content"), ("n", "style"), ("j", "content"), ("j", "style")):
        rows.append(scores(data, range(6), f"released:{name}").assign(dimension=dimension))
    table = pd.concat(rows, ignore_index=True)
    of_content = choice.listed(table, "content", ["released"])
    kinds = of_content.drop_duplicates(["metric", "dimension"])[["metric", "dimension"]]
    assert kinds.to_numpy().tolist() == [["released:m", "content"], ["released:j", "content"]]
    named = choice.listed(table, "content", ["released", "released:n"])
    assert set(named["metric"]) == {"released:m", "released:n", "released:j"}


def test_what_is_left_out_says_why(monkeypatch):
    def get(name):
        if name == "ter":
            raise TstmetaError("broken")
        return SimpleNamespace(missing="not here" * (name == "wmd"))

    monkeypatch.setattr(choice.registry, "get", get)
    assert choice.left_out("content") == ["left out: ter (broken)", "left out: wmd (not here)"]


@needs("lai")
def test_the_rating_slots_of_lai_are_no_persons():
    data = load("lai@pauli2025")
    table = data.scores[data.scores["metric"] == "released:bertscore"]
    table = table[(table["dimension"] == "content") & (table["basis"] == "source")]
    own = analyse(data, table, statistic="kendall", level="system", draws=100)
    assert "different persons" in own.human.note
