"""From pairs to a value, an interval, a test: against pandas, scipy and the parts asked alone."""

import inspect
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

import tstmeta as tst
from tests.analysis.many import rated, scored
from tests.analysis.tiny import NAN, constructed, scores
from tests.analysis.tiny import rated as tiny
from tstmeta import scoring, stats
from tstmeta.analysis.choice import SEEDS
from tstmeta.analysis.comparison import detectable, differences
from tstmeta.analysis.frame import SENTINELS, kind_of, pairs
from tstmeta.schema import TstmetaError

DATA = rated()
SCORES = scored(DATA, good=0.4, fair=1.0, poor=4.0, ter=0.8, random=50.0)
PAIRS = pairs(DATA, SCORES)
NAMES = {"good": 0.4, "fair": 1.0, "poor": 4.0}
#: mean content ratings of the six items of ``tiny()``, and scores of a metric
CONTENT, VALUES = [2, 5, 3.5, 4, 2, 1], [1, 4, 2, 8, 3, 9]
FEW_SYSTEMS = "4 systems say little of others; no order of them has a p below 0.08"


def r(x, y) -> float:
    return float(np.corrcoef(x, y)[0, 1])


def test_a_row_is_a_rewrite_and_a_metric():
    assert len(PAIRS) == 5 * len(DATA.items)
    assert not PAIRS.duplicated(["dataset", "item_id", "metric", "basis"]).any()
    row = PAIRS[(PAIRS["metric"] == "good") & (PAIRS["item_id"] == "i7")].iloc[0]
    assert row["human"] == DATA.means.loc["i7", "content"]
    assert row["style"] == DATA.means.loc["i7", "style"]
    where = ["source_id", "system", "task", "rater_group"]
    assert row[where].tolist() == ["s1", "D", "formal", "0"]
    kinds = PAIRS.drop_duplicates("metric").set_index("metric")["kind"]
    assert kinds.to_dict() == dict.fromkeys(kinds.index, "metric") | {"random": "sentinel"}


def test_where_less_is_better_the_score_is_flipped():
    ter = PAIRS[PAIRS["metric"] == "ter"].set_index("item_id")
    given = SCORES[SCORES["metric"] == "ter"].set_index("item_id")["value"]
    assert ter["flipped"].all()
    np.testing.assert_array_equal(ter["score"], -given[ter.index])


def test_labels_by_construction_stand_in_where_there_are_no_ratings_and_are_called_so():
    data = constructed()
    frame = pairs(data, scoring.score(data, SENTINELS, bases=["source", "none"], progress=False))
    assert set(frame["against"]) == {"label by construction"}
    oracle = frame[frame["metric"] == "style-label"]
    assert oracle["kind"].unique().tolist() == ["oracle"]
    assert oracle["score"].tolist() == [1, 1, 0, 0] * 2
    assert oracle["human"].tolist() == [1, 0, 1, 0] * 2


def test_scores_that_come_twice_are_refused():
    with pytest.raises(TstmetaError, match=r"good \(source\) scores item 'i0' more than once"):
        pairs(DATA, pd.concat([SCORES, SCORES]))


@pytest.mark.parametrize("function", [tst.rank_sets, tst.partial])
def test_without_pairs_there_is_nothing_to_compute(function):
    with pytest.raises(TstmetaError, match="there are no pairs"):
        function(PAIRS.iloc[:0])


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall"])
def test_pooled_it_is_the_correlation_of_pandas_and_the_p_of_scipy(statistic):
    rows = tst.correlate(PAIRS, statistic).set_index("metric")
    plain = PAIRS.groupby("metric")[["score", "human"]].corr(method=statistic)
    plain = plain.xs("human", level=1)["score"]
    np.testing.assert_allclose(rows["value"], plain[rows.index], atol=1e-12)
    good = PAIRS[PAIRS["metric"] == "good"]
    names = {"pearson": "pearsonr", "spearman": "spearmanr", "kendall": "kendalltau"}
    expected = getattr(scipy_stats, names[statistic])(good["human"], good["score"])
    assert rows.loc["good", "p"] == pytest.approx(expected.pvalue)
    assert rows.loc["good", "n"] == len(DATA.items)
    assert rows["groups"].isna().all()


BY_HAND = [
    ("pooled", r(CONTENT, VALUES), 6, None),
    ("source", (r(CONTENT[:3], VALUES[:3]) + r(CONTENT[3:], VALUES[3:])) / 2, 6, 2),
    ("within-system", NAN, 6, 0),
    ("system", r([3, 3.5, 2.25], [4.5, 3.5, 5.5]), 6, 3),
]


@pytest.mark.parametrize(("level", "value", "n", "groups"), BY_HAND)
def test_agreement_at_each_level_by_hand(level, value, n, groups):
    data = tiny()
    [row] = tst.correlate(pairs(data, scores(data, VALUES)), level=level).to_dict("records")
    assert row["value"] == pytest.approx(value, nan_ok=True)
    assert row["n"] == n
    assert pd.isna(row["groups"]) if groups is None else row["groups"] == groups
    doubt = "3 systems say little of others; no order of them has a p below 0.3"
    assert row["reason"] == (doubt if level == "system" else "") or math.isnan(value)


def test_a_corpus_metric_has_one_value_a_system(tmp_path):
    import sacrebleu

    data = tiny(outputs=["he ran home now", "he ran home", "a dog ran off home",
                         "we ate the soup", "we ate soup now", "no soup for us all"])  # fmt: skip
    wanted = ["corpus-bleu", "rouge1"]
    given = scoring.score(data, wanted, bases=["source"], store=tmp_path, progress=False)
    one, row = tst.correlate(pairs(data, given), level="system").to_dict("records")
    assert (one["metric"], row["metric"]) == ("rouge1", "corpus-bleu")
    sources, outputs = data.items["source"].tolist(), data.items["output"].tolist()
    each = [sacrebleu.corpus_bleu(outputs[i::3], [sources[i::3]]).score for i in range(3)]
    assert (row["n"], row["groups"]) == (6, 3)
    assert row["value"] == pytest.approx(r([3, 3.5, 2.25], each))
    flipped = pairs(data, given).assign(flipped=True)
    flipped = tst.correlate(flipped, level="system").iloc[1]
    assert flipped["value"] == pytest.approx(-row["value"])
    none = given[given["metric"] == "corpus-bleu"].assign(status="error", detail="")
    assert tst.correlate(pairs(data, none), level="system")["value"].isna().all()
    corpus = pairs(data, given[given["metric"] == "corpus-bleu"])
    assert tst.bootstrap(corpus, level="system", draws=20).empty
    assert tst.partial(corpus).empty


def test_beside_a_value_at_system_level_stands_what_one_system_does_to_it():
    [wide] = [own for name, own in PAIRS.groupby("metric") if name == "good"]
    means = wide.groupby("system")[["score", "human"]].mean()
    values = {name: means.drop(name).corr().iloc[0, 1] for name in means.index}
    whole = means.corr().iloc[0, 1]
    most = max(values, key=lambda name: abs(values[name] - whole))
    for function in (tst.correlate, tst.bootstrap):
        row = function(wide, level="system").iloc[0]
        ends = row["without_low"], row["without_high"]
        assert ends == pytest.approx((min(values.values()), max(values.values())))
        assert row["without"] == most
        assert row["reason"].startswith(FEW_SYSTEMS)
        assert "without" not in function(wide)
    table = tst.evaluate(DATA, scores=SCORES, level="system", draws=20).frame.set_index("metric")
    assert table.loc["good", "without"] == most
    two = wide[wide["system"].isin(["A", "B"])]  # nothing is left to compare without either
    row = tst.correlate(two, "kendall", "system").iloc[0]
    assert math.isnan(row["without_low"])
    perfect = wide.assign(score=-3 * wide["human"])
    assert tst.correlate(perfect, level="system").iloc[0]["without"] == ""


def test_evaluate_is_correlate_bootstrap_rank_sets_and_partial_in_one():
    how = {"statistic": "pearson", "level": "pooled", "draws": 100, "seed": 4}
    whole = tst.evaluate(DATA, scores=SCORES, **how).frame.set_index("metric")
    limits = tst.bootstrap(PAIRS, **how).set_index("metric").loc[whole.index]
    ranks = tst.rank_sets(PAIRS, **how).set_index("metric").loc[whole.index]
    left = tst.partial(PAIRS).set_index("metric").loc[whole.index]
    parts = {"low": limits["low"], "high": limits["high"], "rank": ranks["rank"]}
    parts |= {"rank_low": ranks["low"], "cluster": ranks["cluster"], "partial": left["partial"]}
    for column, other in parts.items():
        np.testing.assert_allclose(whole[column].astype(float), other.astype(float), atol=1e-12)
    assert tst.rank_sets(PAIRS, **how)["value"].is_monotonic_decreasing
    asked = (tst.evaluate, tst.bootstrap, tst.rank_sets, tst.partial, tst.compare)
    assert {inspect.signature(function).parameters["seed"].default for function in asked} == {0}
    assert list(tst.bootstrap(PAIRS.iloc[:0])) == list(tst.bootstrap(PAIRS, draws=2))


def test_a_difference_is_paired_and_tested():
    [row] = tst.compare(PAIRS, "good", "poor", draws=400).to_dict("records")
    limits = tst.bootstrap(PAIRS, draws=400).set_index("metric")
    gaps = limits.loc["good", "draws"] - limits.loc["poor", "draws"]
    low, high = np.quantile(gaps, [0.025, 0.975])
    assert row["low"] <= low < row["difference"] < high <= row["high"]
    assert row["difference"] == pytest.approx(np.subtract(*limits.loc[["good", "poor"], "value"]))
    assert 1 / 401 <= row["p"] < 0.01
    assert "exchangeability" in row["null"]
    halves = [f"s{int(name[1:]) % 12}" for name in PAIRS["source_id"]]  # each in both tasks
    twice = PAIRS.assign(source_id=halves)
    [row] = tst.compare(twice, "good", "poor", level="system", draws=20).to_dict("records")
    assert row["n"] == 12, "a source is swapped whole, in all of its tasks"
    assert row["note"].startswith(FEW_SYSTEMS)


def test_a_difference_by_source_is_over_the_sources_where_both_have_a_value():
    flat = PAIRS["source_id"].isin(["s0", "s1", "s2"]) & (PAIRS["metric"] == "good")
    frame = PAIRS.assign(score=PAIRS["score"].mask(flat, 1.0))
    kept = PAIRS[~PAIRS["source_id"].isin(["s0", "s1", "s2"])]
    expected = tst.correlate(kept, "kendall", "source").set_index("metric")["value"]
    [row] = tst.compare(frame, "good", "poor", "kendall", "source", draws=50).to_dict("records")
    assert row["difference"] == pytest.approx(expected["good"] - expected["poor"])
    assert row["n"] == 21  # swapping the others changes nothing
    assert row["note"].startswith("over the 21 groups where both have a value (alone over 21 and")
    holes = PAIRS.assign(score=PAIRS["score"].mask(flat))
    [row] = tst.compare(holes, "good", "poor", draws=50).to_dict("records")
    expected = tst.correlate(kept).set_index("metric")["value"]
    assert row["difference"] == pytest.approx(expected["good"] - expected["poor"])
    assert row["note"].startswith("over the 84 rewrites that both scored (alone 84 and 96)")


def test_a_metric_on_two_bases_and_one_that_nobody_has_are_refused():
    two = pd.concat([SCORES, SCORES[SCORES["metric"] == "good"].assign(basis="reference")])
    frame = pairs(DATA, two)
    with pytest.raises(TstmetaError, match=r"good stands on several bases \(source, reference\)"):
        tst.compare(frame, "good", "poor")
    with pytest.raises(TstmetaError, match="no data set has both good and best; known: good"):
        tst.compare(PAIRS, "good", "best")


def test_the_ceiling_is_one_rater_against_the_mean_of_the_others_and_alpha_of_all():
    [row] = tst.ceiling(DATA).to_dict("records")
    ratings = DATA.raters("content")
    each = [r(ratings[one], ratings.drop(columns=one).mean(axis=1)) for one in ratings]
    assert row["value"] == pytest.approx(np.mean(each))
    assert (row["low"], row["high"]) == pytest.approx((min(each), max(each)))
    assert (row["raters"], row["persons"], row["reason"]) == (3, True, "")
    [row] = tst.alpha(DATA).to_dict("records")
    for level in ("ordinal", "interval"):
        assert row[level] == stats.alpha(ratings, level).value
    assert (row["n"], row["raters"]) == (len(DATA.items), 3)
    for function in (tst.ceiling, tst.alpha):
        columns = list(function(DATA))
        assert (columns[0], columns) == ("dataset", list(function([])))


def test_differences_of_all_rows_are_those_of_each_two_alone_with_p_of_both_kinds():
    own = tst.evaluate(DATA, scores=scored(DATA, **NAMES), draws=200)
    table = differences(own.analysis.matrices, own.drawn, own.p, range(3))
    value = dict(zip(own.frame["metric"], own.frame["value"], strict=True))
    for row in table.to_dict("records"):
        two = scored(DATA, **NAMES)
        two = two[two["metric"].isin([row["a"], row["b"]])]
        alone = tst.evaluate(DATA, scores=two, draws=200)
        assert row["difference"] == pytest.approx(value[row["a"]] - value[row["b"]])
        assert (row["low"], row["high"]) == pytest.approx(stats.difference(alone.drawn, 0, 1)[:2])
        assert row["p"] == pytest.approx(alone.p[0, 1])
        assert 0 < row["p"] <= row["p_adjusted"] <= 1
    np.testing.assert_array_equal(table["p_adjusted"], own.p[np.triu_indices(3, 1)])


def test_the_detectable_difference_of_two_rows_is_that_of_the_statistics():
    own = tst.evaluate(DATA, scores=scored(DATA, **NAMES), draws=200)
    human, metrics = own.analysis.matrices.human, own.analysis.matrices.metrics
    rng = np.random.default_rng([0, 0])
    sides = human, metrics[0], metrics[1:], own.analysis.setting, own.analysis.plan
    assert detectable(own.analysis, 0, 2) == stats.detectable_difference(*sides, rng)[1]


def test_a_partial_correlation_is_that_of_the_residuals():
    good = PAIRS[PAIRS["metric"] == "good"]
    lines = {side: np.polyfit(good["style"], good[side], 1) for side in ("score", "human")}
    residuals = [good[side] - np.polyval(line, good["style"]) for side, line in lines.items()]
    own = tst.partial(PAIRS, "style").set_index("metric").loc["good"]
    assert own["partial"] == pytest.approx(r(*residuals))
    assert own["value"] == pytest.approx(r(good["human"], good["score"]))
    assert (own["n"], own["reason"], own["note"]) == (len(good), "", "")
    flat = tst.partial(pd.concat([PAIRS.assign(style=1.0), PAIRS.assign(style=2.0, dataset="b")]))
    assert flat["reason"].str.startswith("too few rewrites have all values").all()
    assert flat.index.is_unique
    with pytest.raises(TstmetaError, match="no data set has human values of fluency"):
        tst.partial(PAIRS, ["style", "fluency"])


def test_sources_are_resampled_for_the_limits_of_a_partial_correlation():
    own = tst.partial(PAIRS.iloc[::-1], draws=200).set_index("metric").loc["good"]
    assert own["low"] < own["partial"] < own["high"]
    plain = tst.partial(PAIRS).set_index("metric").loc["good"]
    assert plain["partial"] == pytest.approx(own["partial"])
    assert plain[["low", "high"]].isna().all()
    few = PAIRS["source_id"].isin(["s0", "s1", "s2", "s12", "s13", "s14"])  # of two tasks
    rows = tst.partial(PAIRS[few | (PAIRS["metric"] == "poor")], draws=50)
    notes = rows.set_index("metric")["note"]
    assert "; 5 units: over fewer than 8 it can cover less" in notes["good"]
    assert "units" not in notes["poor"]


@pytest.mark.parametrize(("statistic", "level"), [("pearson", "pooled"), ("kendall", "source")])
def test_the_row_is_the_mean_of_ten_seeds_with_two_standard_deviations_to_either_side(
    statistic, level
):
    data = tst.load("contrast@tied")
    data = data.where(data.items["source_id"].isin(data.items["source_id"].unique()[:30]), "few")
    frame = tst.pairs(data, tst.score(data, ["bleu", *SEEDS], ["source"]))
    each = tst.correlate(frame, statistic, level).set_index("metric")["value"]
    one = frame[frame["metric"].isin(["bleu", "random"])]
    frame = tst.correlate(one, statistic, level).assign(low=0.0, high=1.0)
    shown = tst.seeded(frame, [data], "content", statistic, level).set_index("metric")
    own = each[SEEDS]
    name = "random: mean of 10"
    assert shown.loc[name, ["value", "low", "high"]].tolist() == pytest.approx(
        [own.mean(), own.mean() - 2 * own.std(), own.mean() + 2 * own.std()]
    )
    assert shown.loc["bleu", ["value", "low", "high"]].tolist() == [each["bleu"], 0, 1]
    assert (kind_of(name), tst.plot.look(name)) == ("sentinel", "sentinel")
    [plain] = tst.seeded(
        frame[["dataset", "metric", "value"]], [data], "content", statistic, level
    )["metric"].drop(0)
    assert plain == f"{name}, sd {own.std():.2f}"
    assert set(tst.seeded(frame, [], "content")["metric"]) == {"bleu", "random"}  # of no set
