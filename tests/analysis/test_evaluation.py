"""An evaluation: everything about a data set and a dimension, against its parts asked alone."""

import numpy as np
import pandas as pd
import pytest

from tests.analysis.many import rated, scored
from tests.analysis.tiny import constructed, scores
from tests.analysis.tiny import rated as tiny
from tests.helpers import needs
from tstmeta import schema, scoring, stats
from tstmeta.analysis import agreement, comparison, correlate, evaluate
from tstmeta.analysis.evaluation import COLUMNS, Evaluation
from tstmeta.analysis.frame import pairs
from tstmeta.analysis.matrices import cube, matrices
from tstmeta.data import Dataset, load
from tstmeta.schema import TstmetaError
from tstmeta.stats import LEVELS, STATISTICS, Setting
from tstmeta.stats.intervals import of_resample, resample
from tstmeta.stats.multiple import over_pairs, significance_clusters
from tstmeta.stats.partial_correlation import partial
from tstmeta.stats.permutation import all_pairs
from tstmeta.stats.raters import ceiling
from tstmeta.stats.ties import tie_calibrated

NOISE = {"good": 0.4, "fair": 1.0, "poor": 4.0, "ter": 0.8, "random": 50.0}
#: what is the best of these, then the next, with the sentinel and the oracle below
ORDER = ["good", "ter", "fair", "poor", "random", "human-style"]
DATA = rated()
SCORES = scored(DATA, **NOISE)
QUICK = {"draws": 200, "tests": False}


def analyse(data: Dataset, table: pd.DataFrame, **options) -> Evaluation:
    """The evaluation of a table of scores with people's style rating beside."""
    if "human-style" not in set(table["metric"]):
        table = pd.concat([table, scoring.human_style(data)], ignore_index=True)
    return evaluate(data, scores=table, **options)


def laid_out(level: str = "pooled", order: list[str] | None = None, dimension: str = "content"):
    """People, the metrics in an order, flipped where less is better, and all matrices."""
    made = matrices(pairs(DATA, SCORES, dimension), level)
    names = made.heads["metric"].tolist()
    return made.human, made.metrics[[names.index(name) for name in order or ORDER[:-1]]], made


def place(found: Evaluation, metric: str) -> int:
    return found.frame["metric"].tolist().index(metric)


# ---------------------------------------------------------------------------------------- rows


def test_metrics_come_best_first_and_sentinels_and_the_oracle_below():
    found = analyse(DATA, SCORES, **QUICK)
    assert found.frame["metric"].tolist() == ORDER
    assert found.frame["kind"].tolist() == [*["metric"] * 4, "sentinel", "oracle"]
    assert list(found.frame.columns) == list(COLUMNS)
    value = found.frame["value"].to_numpy()
    assert (np.diff(value[:4]) < 0).all()
    np.testing.assert_allclose(found.resample.estimates, value, atol=1e-12)
    assert found.frame["rank"].tolist() == [1, 2, 3, 4, 5, 6]


def test_order_of_the_scores_changes_nothing_but_rounding():
    order = np.random.default_rng(3).permutation(len(SCORES))
    first, second = (analyse(DATA, table, **QUICK) for table in (SCORES, SCORES.iloc[order]))
    pd.testing.assert_frame_equal(first.frame, second.frame)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("statistic", ["pearson", "preference"])
def test_values_are_those_that_correlate_gives_and_ter_is_flipped(level, statistic):
    found = analyse(DATA, SCORES, level=level, statistic=statistic, draws=20, tests=False).frame
    plain = correlate(pairs(DATA, SCORES), statistic, level).set_index("metric")
    for row in found[found["kind"] != "oracle"].to_dict("records"):
        own = plain.loc[row["metric"]]
        assert row["value"] == pytest.approx(own["value"])
        assert row["n"] == (own["n"] if pd.isna(own["groups"]) else own["groups"])
        assert row["better"] == ("lower" if row["metric"] == "ter" else "higher")


def test_a_metric_can_be_called_one_for_which_less_is_better():
    found = analyse(DATA, SCORES, lower=["good"], **QUICK).frame.set_index("metric")
    assert found.loc["good", "better"] == "lower"
    assert found.loc["good", "value"] == pytest.approx(-analyse(DATA, SCORES).frame["value"][0])


def test_style_is_not_held_against_itself():
    found = analyse(DATA, SCORES, dimension="style", **QUICK).frame
    assert found["metric"].tolist().count("human-style") == 0
    assert set(found["given"]) == {"content"}


def test_labels_by_construction_bring_their_own_oracle():
    data = constructed()
    found = analyse(data, scores(data, [9, 1, 8, 0, 9, 2, 7, 1]), **QUICK)
    assert found.frame["metric"].tolist() == ["m", "style-label"]
    assert found.against == "label by construction"
    assert (np.isnan(found.human.value), found.human.note) == (True, "labels, not ratings")


def test_counts_are_of_what_was_judged():
    data = tiny()
    found = analyse(data, scores(data, [1, 2, 3, 4, 5, 6]), dimension="style", **QUICK)
    assert (found.items, found.sources, found.systems) == (5, 2, 3)
    nameless = rated(systems=False)
    assert analyse(nameless, SCORES, **QUICK).systems == 0


# --------------------------------------------------------------------------- draws and intervals


@pytest.mark.parametrize("unit", ["source", "system", "both"])
@pytest.mark.parametrize("level", ["pooled", "source", "system"])
def test_intervals_are_those_of_one_call_with_the_same_draws(unit, level):
    found = analyse(DATA, SCORES, level=level, unit=unit, seed=5, **QUICK)
    human, metrics, made = laid_out(level, found.frame["metric"][:5].tolist())
    setting, rng = Setting("pearson", level), np.random.default_rng([5, agreement.DRAWS])
    whole = resample(human, metrics, setting, made.plan(unit, 200), rng)
    np.testing.assert_allclose(found.resample[1][:5], whole[1], atol=1e-12)
    for row, limit in zip(found.frame.to_dict("records"), of_resample(whole), strict=False):
        assert (row["low"], row["high"]) == pytest.approx((limit.low, limit.high), nan_ok=True)
        assert limit.reason in row["note"]
    assert found.job.plan.estimand == made.plan(unit).estimand


def test_metrics_drawn_one_at_a_time_have_the_same_draws(monkeypatch):
    first = analyse(DATA, SCORES, **QUICK)
    monkeypatch.setattr(agreement, "_CHUNK", 1)
    second = analyse(DATA, SCORES, **QUICK)
    np.testing.assert_allclose(first.resample.values, second.resample.values, atol=1e-12)
    np.testing.assert_allclose(
        first.resample.jackknives[0], second.resample.jackknives[0], atol=1e-12
    )


def test_a_seed_gives_the_same_again_another_one_does_not_and_tests_draw_for_themselves():
    first = analyse(DATA, SCORES, seed=1, draws=200, tests=False)
    second = analyse(DATA, SCORES, seed=1, draws=200, tests=True)
    np.testing.assert_array_equal(first.resample.values, second.resample.values)
    again = analyse(DATA, SCORES, seed=1, draws=200, tests=True)
    np.testing.assert_array_equal(second.tests.p, again.tests.p)
    other = analyse(DATA, SCORES, seed=2, draws=200, tests=False)
    assert (first.resample[1][0] != other.resample[1][0]).any()


def test_clusters_of_sources_are_drawn_whole():
    alone, whole = (analyse(DATA, SCORES, clustered=c, **QUICK) for c in (False, True))
    assert set(alone.resample.counts) == {"sources"}
    assert set(whole.resample.counts) == {"clusters"}
    assert whole.resample.counts["clusters"].tolist() == [5] * 6  # of six in two tasks
    assert "5 clusters" in whole.frame["note"][0]


def test_the_difference_of_two_rows_is_paired():
    found = analyse(DATA, SCORES, draws=400, tests=False)
    gap = found.difference(place(found, "good"), place(found, "poor"))
    expected = np.quantile(found.resample[1][0] - found.resample[1][3], [0.025, 0.975])
    assert gap.low < expected[0] < expected[1] < gap.high
    assert (gap.low, gap.high) == pytest.approx(expected, abs=0.08)  # few units: a little wider
    wide = found.frame.loc[0, "high"] - found.frame.loc[3, "low"]
    assert gap.high - gap.low < wide


# ---------------------------------------------------------------------------- ranks and tests


def test_sets_of_ranks_hold_the_rank_and_a_clear_order_is_seen():
    rows = analyse(DATA, SCORES, **QUICK).frame
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert (rows["rank"] <= rows["rank_high"]).all()
    assert rows.loc[0, "rank_high"] < rows.loc[3, "rank_low"]


def test_equal_metrics_share_a_rank():
    twin = SCORES[SCORES["metric"] == "good"].assign(metric="twin", signature="twin")
    rows = analyse(DATA, pd.concat([SCORES, twin]), **QUICK).frame.set_index("metric")
    assert rows.loc[["good", "twin", "ter"], "rank"].tolist() == [1, 1, 3]


def test_every_pair_is_tested_and_corrected_and_clusters_follow():
    found = analyse(DATA, SCORES, draws=400, seed=3)
    human, metrics, _ = laid_out()
    style = laid_out(dimension="style", order=ORDER[:1])[0]
    pairs = all_pairs(
        human,
        np.concatenate([metrics, style[None]]),
        Setting("pearson", "pooled"),
        n=found.tests.draws,
        rng=np.random.default_rng([3, agreement.TESTS]),
    )
    np.testing.assert_allclose(found.tests.difference, pairs.difference, atol=1e-12)
    np.testing.assert_allclose(over_pairs(found.tests.p), over_pairs(found.tests.p))
    assert found.tests.p[0, 3] == found.tests.p[3, 0] < 0.01
    expected = significance_clusters(found.resample.estimates, over_pairs(found.tests.p), 0.05)
    assert found.frame["cluster"].tolist() == expected.tolist()
    assert found.frame["cluster"][0] < found.frame["cluster"][3]
    assert found.tested.startswith("15 pairs tested with 598 swaps")


def test_with_many_pairs_there_are_enough_swaps_for_the_correction():
    names = {f"m{number}": 1.0 for number in range(12)}
    found = analyse(DATA, scored(DATA, **names), draws=100)
    assert found.tests.draws >= 13 * 12 / 2 / 0.05
    assert "too few" not in found.tested


def test_what_would_take_minutes_is_left_out_unless_asked_for(monkeypatch):
    monkeypatch.setattr(comparison, "_BUDGET", 10.0)
    found = analyse(DATA, SCORES, draws=100)
    assert found.tests is None
    assert "15 pairs at this level would take minutes" in found.tested
    assert found.frame["cluster"].isna().all()
    found = analyse(DATA, SCORES, draws=100, tests=True)
    assert found.tests.draws == 100
    assert "too few for Holm's correction, whose smallest p is 0.15" in found.tested


def test_one_metric_alone_has_a_rank_and_no_test():
    alone = scored(rated(labels=False), good=1.0)
    ratings = DATA.ratings[DATA.ratings["dimension"] == "content"]
    data = Dataset.of("many", DATA.items, DATA.card, ratings=ratings)
    found = analyse(data, alone, draws=100)
    assert found.tested == "no tests: there is no pair of metrics with values"
    assert found.frame[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 1]]
    assert found.frame.loc[0, ["given", "given_all"]].tolist() == ["", ""]


# ------------------------------------------------------------------------- people, partials


@pytest.mark.parametrize("level", ["pooled", "source", "system"])
def test_people_stand_beside_metrics_in_the_place_of_a_held_out_rater(level):
    found = analyse(DATA, SCORES, level=level, **QUICK)
    _, metrics, _ = laid_out(level, found.frame["metric"][:5].tolist())
    expected = ceiling(cube(DATA, "content", level).ratings, found.job.setting, metrics)
    assert found.human.value == pytest.approx(expected.value)
    assert (found.human.low, found.human.high) == (
        expected.by_rater.min(),
        expected.by_rater.max(),
    )
    assert (found.human.n, found.human.raters, found.human.persons) == (
        3 * len(DATA.items),
        3,
        True,
    )
    np.testing.assert_allclose(found.frame["as_rater"][:5].astype(float), expected.metrics)


def test_a_metric_with_gaps_does_not_change_the_items_of_the_others():
    holes = SCORES.copy()
    holes.loc[(holes["metric"] == "poor") & (holes["item_id"] == "i3"), "value"] = np.nan
    whole, some = (analyse(DATA, table, **QUICK) for table in (SCORES, holes))
    assert whole.human == some.human
    assert np.isnan(some.frame.loc[3, "as_rater"])
    assert some.frame["as_rater"][0] == whole.frame["as_rater"][0]


def test_means_alone_tell_nothing_of_people():
    found = analyse(rated(raters=False), SCORES, **QUICK)
    assert np.isnan(found.human.value)
    assert found.human.note == "only means of ratings were released"
    assert found.frame["as_rater"].isna().all()


@pytest.mark.parametrize(
    ("statistic", "level", "how"),
    [("pearson", "pooled", "pearson"), ("kendall", "source", "spearman")],
)
def test_partial_correlations_hold_the_other_dimensions_fixed(statistic, level, how):
    found = analyse(DATA, SCORES, statistic=statistic, level=level, **QUICK)
    human, metrics, _ = laid_out(level)
    style = laid_out(level, ORDER[:1], "style")[0]
    expected = partial(human, metrics, style[None], statistic=how)
    own = found.frame.set_index("metric")["partial"]
    np.testing.assert_allclose(own[ORDER[:-1]], expected)
    assert np.isnan(own["human-style"])
    assert set(found.frame["given"]) == {"style"}
    assert found.frame["partial_all"].isna().all()  # fluency was not rated


def test_within_tasks_the_partial_correlation_is_within_tasks():
    found = analyse(DATA, SCORES, level="within-task", **QUICK)
    human, metrics, made = laid_out()
    style = laid_out(dimension="style", order=ORDER[:1])[0]
    expected = partial(human, metrics, style[None], tasks=made.tasks)
    np.testing.assert_allclose(found.frame.set_index("metric")["partial"][ORDER[:-1]], expected)


# ----------------------------------------------------------------------- special statistics


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_can_be_asked_for_by_name_at_a_level_that_it_has(statistic):
    function = stats.STATISTICS[statistic]
    level = function.levels[0] if function.levels else "source"
    found = analyse(DATA, SCORES, statistic=statistic, level=level, draws=50, tests=False)
    assert found.frame["value"].notna().all()
    assert found.frame["metric"][0] == "good"
    assert (found.frame["low"] <= found.frame["high"]).all()


def test_acc_eq_fits_a_threshold_to_each_metric_on_other_data():
    found = analyse(DATA, SCORES, statistic="acc_eq", level="source", seed=4, **QUICK)
    human, metrics, _ = laid_out()
    for place in range(3):
        rng = np.random.default_rng([4, agreement.FOLDS])
        name = found.frame.loc[place, "metric"]
        ties = tie_calibrated(human, metrics[ORDER.index(name)], "source", rng=rng)
        assert found.frame.loc[place, "value"] == pytest.approx(ties.value)
        assert f"scores tie up to {ties.threshold:.3g}" in found.frame.loc[place, "note"]
    tests = analyse(DATA, SCORES, statistic="acc_eq", level="source", draws=50, tests=True).tested
    assert tests == "no tests: each metric has a tie threshold on a scale of its own"
    with pytest.raises(TstmetaError, match="level pooled or source, not 'system'"):
        analyse(DATA, SCORES, statistic="acc_eq", level="system", **QUICK)


def test_groups_can_be_added_up():
    macro, micro = (
        analyse(DATA, SCORES, statistic="kendall", level="source", micro=m, **QUICK).frame
        for m in (False, True)
    )
    human, metrics, _ = laid_out()
    expected = stats.estimate(human, metrics[:1], Setting("kendall", "source", micro=True))
    assert micro["value"][0] == pytest.approx(expected[0])
    assert micro["value"][0] != macro["value"][0]


# --------------------------------------------------------------------- corpus metrics, nothing


@pytest.fixture(scope="module")
def with_corpus(tmp_path_factory):
    wanted, store = ["corpus-bleu", "bleu", "constant"], tmp_path_factory.mktemp("store")
    return scoring.score(DATA, wanted, bases=["source"], store=store, progress=False)


def test_a_metric_of_whole_outputs_has_a_value_and_no_interval(with_corpus):
    found = analyse(DATA, with_corpus, level="system", draws=50)
    row = found.frame.set_index("metric").loc["corpus-bleu"]
    expected = correlate(pairs(DATA, with_corpus), level="system").set_index("metric")
    assert row["value"] == pytest.approx(expected.loc["corpus-bleu", "value"])
    assert row["n"] == 4
    assert row["note"] == "one value a system: no interval and no rank"
    assert row[["low", "high", "rank", "cluster", "partial"]].isna().all()
    at = place(found, "corpus-bleu")
    assert np.isnan(found.resample[1][at]).all()
    assert np.isnan(found.tests.p[at]).all()
    assert found.tests.reasons[at][0] == "a metric of whole outputs"


@pytest.mark.parametrize("statistic", ["pearson", "kendall", "difference-pearson"])
@pytest.mark.parametrize("level", LEVELS)
def test_where_only_whole_outputs_were_scored_there_is_a_table(with_corpus, level, statistic):
    if level not in (STATISTICS[statistic].levels or LEVELS):
        return
    only = with_corpus[with_corpus["metric"] == "corpus-bleu"]
    ratings = DATA.ratings[DATA.ratings["dimension"] == "content"]
    data = Dataset.of("many", DATA.items, DATA.card, ratings=ratings, labels=DATA.labels)
    found = evaluate(data, scores=only, statistic=statistic, level=level, draws=50)
    assert found.frame["metric"].tolist() == ["corpus-bleu"]
    assert found.resample[1].shape == (1, 50)
    if level != "system":
        assert found.frame["note"].tolist() == ["a metric of whole outputs: use level system"]


def test_without_scores_there_is_nothing_to_evaluate():
    with pytest.raises(TstmetaError, match="many: there are no scores to evaluate"):
        evaluate(DATA, scores=schema.empty("scores"))


def test_what_has_no_value_says_why_and_stands_last(with_corpus):
    rows = analyse(DATA, with_corpus, draws=50, tests=False).frame
    row = rows[rows["metric"] == "constant"].iloc[0]
    assert row["note"] == "all scores are equal"
    assert row[["value", "low", "high", "rank", "rank_low", "rank_high"]].isna().all()
    assert rows["metric"].iloc[-1] == "constant"


def test_few_units_are_told():
    data = tiny()
    rows = analyse(data, scores(data, [1, 2, 3, 4, 5, 7]), draws=100).frame
    assert "2 sources: over fewer than 8" in rows["note"][0]


# ------------------------------------------------------------------------------------ mistakes

MISTAKES = {
    "a level": ({"level": "sample"}, "unknown level 'sample'; known: pooled, source"),
    "a statistic": ({"statistic": "tau"}, "unknown statistic 'tau'; known: pearson"),
    "a dimension": ({"dimension": "mood"}, "unknown dimension 'mood'; known: content"),
    "nobody judged": (
        {"dimension": "fluency"},
        "many: nobody judged fluency; judged: content, style. Choose another",
    ),
    "units": ({"unit": "words"}, "unknown unit 'words'; known: source, system, both"),
    "no draws": ({"draws": 0}, "0 draws: at least one is needed"),
    "confidence": ({"confidence": 95}, "confidence 95 is not between 0 and 1"),
    "not at this level": (
        {"statistic": "soft-pairwise-accuracy"},
        "soft pairwise accuracy is not defined at level pooled, only at system",
    ),
    "not to be added up": (
        {"statistic": "tau-c", "level": "source", "micro": True},
        "Stuart's tau-c cannot be added up over groups: leave micro out",
    ),
    "no groups": (
        {"micro": True, "level": "system"},
        "level system has none: leave micro out, or take level source, within-system, task",
    ),
}


@pytest.mark.parametrize(("options", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_told_with_what_to_do(options, message):
    with pytest.raises(TstmetaError) as told:
        analyse(DATA, SCORES, **options)
    assert message in str(told.value)


def test_what_the_data_do_not_have_is_told():
    nameless, bare = rated(systems=False), rated(labels=False)
    for options in ({"level": "system"}, {"level": "within-system"}, {"unit": "both"}):
        with pytest.raises(TstmetaError, match="no item names its system: give the items a column"):
            analyse(nameless, SCORES, **options)
    with pytest.raises(TstmetaError, match=r"level task needs tasks: .*give each item a label"):
        analyse(bare, SCORES, level="task")
    with pytest.raises(TstmetaError, match="no label 'survey' says which sources shared"):
        analyse(bare, SCORES, clustered=True)
    one = DATA.where(DATA.items["system"] == "B", "one")
    with pytest.raises(TstmetaError, match=r"only one system \(B\) was judged: add outputs"):
        analyse(one, SCORES[SCORES["item_id"].isin(one.items["item_id"])], level="system")


@needs("alva")
def test_ratings_on_several_scales_are_not_thrown_together():
    with pytest.raises(TstmetaError, match="take one of alva@asset"):
        pairs(load("alva"), schema.empty("scores"))


@needs("lai")
def test_the_rating_slots_of_lai_are_no_persons():
    data = load("lai@pauli2025")
    table = data.scores[data.scores["metric"] == "released:bertscore"]
    table = table[(table["dimension"] == "content") & (table["basis"] == "source")]
    found = analyse(data, table, statistic="kendall", level="system", draws=100)
    assert "different persons" in found.human.note
