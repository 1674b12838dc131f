"""Everything about a data set and a dimension in one object, against its parts asked one by one."""

import numpy as np
import pandas as pd
import pytest

from tests.report.many import rated, scored
from tests.report.tiny import constructed, scores
from tests.report.tiny import rated as tiny
from tstmeta import stats
from tstmeta.data import Dataset
from tstmeta.report import analysis_parts
from tstmeta.report.analysis import COLUMNS, STATISTICS, analyse
from tstmeta.report.matrices import cube, matrices
from tstmeta.report.tables import evaluate
from tstmeta.schema import TstmetaError
from tstmeta.stats import LEVELS, Setting
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


def turned(level: str = "pooled", order: list[str] | None = None):
    """People, the metrics in an order with TER turned round, and all matrices."""
    found = matrices(DATA, SCORES, "content", level)
    order = order or ORDER[:-1]
    chosen = [found.names.index((name, "source")) for name in order]
    signs = np.array([-1.0 if name == "ter" else 1.0 for name in order])
    return found.human, found.metrics[chosen] * signs[:, None, None], found


# ---------------------------------------------------------------------------------------- rows


def test_metrics_come_best_first_and_sentinels_and_the_oracle_below():
    found = analyse(DATA, SCORES, **QUICK)
    assert found.rows["metric"].tolist() == ORDER
    assert found.rows["kind"].tolist() == [*["metric"] * 4, "sentinel", "oracle"]
    assert list(found.rows.columns) == list(COLUMNS)
    value = found.rows["value"].to_numpy()
    assert (np.diff(value[:4]) < 0).all()
    np.testing.assert_allclose(found.made.estimates, value, atol=1e-12)
    assert found.rows["rank"].tolist() == [1, 2, 3, 4, 5, 6]


def test_order_of_the_scores_changes_nothing_but_rounding():
    order = np.random.default_rng(3).permutation(len(SCORES))
    first, second = (analyse(DATA, table, **QUICK) for table in (SCORES, SCORES.iloc[order]))
    pd.testing.assert_frame_equal(first.rows, second.rows)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("statistic", ["pearson", "kendall", "preference"])
def test_values_are_those_of_the_plain_table_but_for_what_was_turned_round(level, statistic):
    found = analyse(DATA, SCORES, level=level, statistic=statistic, **QUICK).rows
    plain = evaluate(DATA, SCORES, dimensions=["content"], statistic=statistic, level=level)
    for row in plain.to_dict("records"):
        own = found[found["metric"] == row["metric"]].iloc[0]
        expected = row["value"]
        if row["metric"] == "ter":
            assert own["better"] == "lower"
            expected = 1 - expected if statistic == "preference" else -expected
        assert own["value"] == pytest.approx(expected)
        for name in ("n", "mean", "sd", "min", "max", "scored", "failed", "signature", "against"):
            assert own[name] == row[name]


def test_a_metric_can_be_called_one_for_which_less_is_better():
    found = analyse(DATA, SCORES, lower=["good"], **QUICK).rows.set_index("metric")
    assert found.loc["good", "better"] == "lower"
    assert found.loc["good", "value"] == pytest.approx(-analyse(DATA, SCORES).rows["value"][0])


def test_style_is_not_held_against_itself():
    found = analyse(DATA, SCORES, dimension="style", **QUICK).rows
    assert found["metric"].tolist().count("human-style") == 0
    assert set(found["given"]) == {"content"}


def test_labels_by_construction_bring_their_own_oracle():
    data = constructed()
    found = analyse(data, scores(data, [9, 1, 8, 0, 9, 2, 7, 1]), **QUICK)
    assert found.rows["metric"].tolist() == ["m", "style-label"]
    assert found.against == "label by construction"
    assert (np.isnan(found.human.value), found.human.note) == (True, "labels, not ratings")


def test_counts_are_of_what_was_judged():
    data = tiny()
    found = analyse(data, scores(data, [1, 2, 3, 4, 5, 6]), dimension="style", **QUICK)
    assert (found.items, found.sources, found.systems) == (5, 2, 3)
    nameless = rated(systems=False)
    assert analyse(nameless, SCORES, **QUICK).systems == 0


# --------------------------------------------------------------------------- draws and intervals


@pytest.mark.parametrize("units", ["sources", "systems", "both"])
@pytest.mark.parametrize("level", ["pooled", "source", "system"])
def test_intervals_are_those_of_one_call_with_the_same_draws(units, level):
    found = analyse(DATA, SCORES, level=level, units=units, seed=5, **QUICK)
    human, metrics, made = turned(level, found.rows["metric"][:5].tolist())
    setting, rng = Setting("pearson", level), np.random.default_rng([5, analysis_parts.DRAWS])
    whole = resample(human, metrics, setting, made.plan(units, 200), rng)
    np.testing.assert_allclose(found.made[1][:5], whole[1], atol=1e-12)
    for row, limit in zip(found.rows.to_dict("records"), of_resample(whole), strict=False):
        assert (row["low"], row["high"]) == pytest.approx((limit.low, limit.high), nan_ok=True)
        assert limit.reason in row["note"]
    assert found.estimand == made.plan(units).estimand


def test_metrics_drawn_one_at_a_time_have_the_same_draws(monkeypatch):
    first = analyse(DATA, SCORES, **QUICK)
    monkeypatch.setattr(analysis_parts, "_CHUNK", 1)
    second = analyse(DATA, SCORES, **QUICK)
    np.testing.assert_allclose(first.made.values, second.made.values, atol=1e-12)
    np.testing.assert_allclose(first.made.jackknives[0], second.made.jackknives[0], atol=1e-12)


def test_a_seed_gives_the_same_again_another_one_does_not_and_tests_draw_for_themselves():
    first = analyse(DATA, SCORES, seed=1, draws=200, tests=False)
    second = analyse(DATA, SCORES, seed=1, draws=200, tests=True)
    np.testing.assert_array_equal(first.made.values, second.made.values)
    again = analyse(DATA, SCORES, seed=1, draws=200, tests=True)
    np.testing.assert_array_equal(second.tests.p, again.tests.p)
    other = analyse(DATA, SCORES, seed=2, draws=200, tests=False)
    assert (first.made[1][0] != other.made[1][0]).any()


def test_clusters_of_sources_are_drawn_whole():
    alone, whole = (analyse(DATA, SCORES, clustered=c, **QUICK) for c in (False, True))
    assert set(alone.made.counts) == {"sources"}
    assert set(whole.made.counts) == {"clusters"}
    assert whole.made.counts["clusters"].tolist() == [5] * 6  # of six in two tasks
    assert "5 clusters" in whole.rows["note"][0]


def test_the_difference_of_two_rows_is_paired():
    found = analyse(DATA, SCORES, draws=400, tests=False)
    gap = found.difference(found.place("good"), found.place("poor"))
    expected = np.quantile(found.made[1][0] - found.made[1][3], [0.025, 0.975])
    assert gap.low < expected[0] < expected[1] < gap.high
    assert (gap.low, gap.high) == pytest.approx(expected, abs=0.08)  # few units: a little wider
    wide = found.rows.loc[0, "high"] - found.rows.loc[3, "low"]
    assert gap.high - gap.low < wide


def test_rows_are_found_by_name_and_basis():
    two = pd.concat([SCORES, scored(DATA, good=0.1).assign(basis="none", signature="good|none")])
    found = analyse(DATA, two, **QUICK)
    assert found.rows.loc[found.place("good", "none"), "basis"] == "none"
    assert found.place("fair") == found.rows["metric"].tolist().index("fair")
    with pytest.raises(TstmetaError, match="several rows are called 'good'; known: good, ter"):
        found.place("good")
    with pytest.raises(TstmetaError, match="no row is called 'fair' on basis none"):
        found.place("fair", "none")


# ---------------------------------------------------------------------------- ranks and tests


def test_sets_of_ranks_hold_the_rank_and_a_clear_order_is_seen():
    rows = analyse(DATA, SCORES, **QUICK).rows
    assert (rows["rank_low"] <= rows["rank"]).all()
    assert (rows["rank"] <= rows["rank_high"]).all()
    assert rows.loc[0, "rank_high"] < rows.loc[3, "rank_low"]


def test_equal_metrics_share_a_rank():
    twin = SCORES[SCORES["metric"] == "good"].assign(metric="twin", signature="twin")
    rows = analyse(DATA, pd.concat([SCORES, twin]), **QUICK).rows.set_index("metric")
    assert rows.loc[["good", "twin", "ter"], "rank"].tolist() == [1, 1, 3]


def test_every_pair_is_tested_and_corrected_and_clusters_follow():
    found = analyse(DATA, SCORES, draws=400, seed=3)
    human, metrics, _ = turned()
    style = matrices(DATA, SCORES, "style").human
    pairs = all_pairs(
        human,
        np.concatenate([metrics, style[None]]),
        Setting("pearson", "pooled"),
        n=found.tests.draws,
        rng=np.random.default_rng([3, analysis_parts.TESTS]),
    )
    np.testing.assert_allclose(found.tests.difference, pairs.difference, atol=1e-12)
    np.testing.assert_allclose(found.adjusted, over_pairs(found.tests.p))
    assert found.tests.p[0, 3] == found.tests.p[3, 0] < 0.01
    expected = significance_clusters(found.made.estimates, found.adjusted, 0.05)
    assert found.rows["cluster"].tolist() == expected.tolist()
    assert found.rows["cluster"][0] < found.rows["cluster"][3]
    assert found.tested.startswith("15 pairs tested with 598 swaps")


def test_with_many_pairs_there_are_enough_swaps_for_the_correction():
    names = {f"m{number}": 1.0 for number in range(12)}
    found = analyse(DATA, scored(DATA, **names), draws=100)
    assert found.tests.draws >= 13 * 12 / 2 / 0.05
    assert "too few" not in found.tested


def test_what_would_take_minutes_is_left_out_unless_asked_for(monkeypatch):
    monkeypatch.setattr(analysis_parts, "_BUDGET", 10.0)
    found = analyse(DATA, SCORES, draws=100)
    assert found.tests is found.adjusted is None
    assert "15 pairs at this level would take minutes" in found.tested
    assert found.rows["cluster"].isna().all()
    found = analyse(DATA, SCORES, draws=100, tests=True)
    assert found.tests.draws == 100
    assert "too few for Holm's correction, whose smallest p is 0.15" in found.tested


def test_one_metric_alone_has_a_rank_and_no_test():
    alone = scored(rated(labels=False), good=1.0)
    ratings = DATA.ratings[DATA.ratings["dimension"] == "content"]
    data = Dataset.of("many", DATA.items, DATA.card, ratings=ratings)
    found = analyse(data, alone, draws=100)
    assert found.tested == "no tests: there is no pair of metrics with values"
    assert found.rows[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 1]]
    assert found.rows.loc[0, ["given", "given_all"]].tolist() == ["", ""]


# ------------------------------------------------------------------------- people, partials


@pytest.mark.parametrize("level", ["pooled", "source", "system"])
def test_people_stand_beside_metrics_in_the_place_of_a_held_out_rater(level):
    found = analyse(DATA, SCORES, level=level, **QUICK)
    _, metrics, _ = turned(level, found.rows["metric"][:5].tolist())
    expected = ceiling(cube(DATA, "content", level).ratings, found.setting, metrics)
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
    np.testing.assert_allclose(found.rows["as_rater"][:5].astype(float), expected.metrics)


def test_a_metric_with_gaps_does_not_change_the_items_of_the_others():
    holes = SCORES.copy()
    holes.loc[(holes["metric"] == "poor") & (holes["item_id"] == "i3"), "value"] = np.nan
    whole, some = (analyse(DATA, table, **QUICK) for table in (SCORES, holes))
    assert whole.human == some.human
    assert np.isnan(some.rows.loc[3, "as_rater"])
    assert some.rows["as_rater"][0] == whole.rows["as_rater"][0]


def test_means_alone_tell_nothing_of_people():
    found = analyse(rated(raters=False), SCORES, **QUICK)
    assert np.isnan(found.human.value)
    assert found.human.note == "only means of ratings were released"
    assert found.rows["as_rater"].isna().all()


@pytest.mark.parametrize(
    ("statistic", "level", "how"),
    [("pearson", "pooled", "pearson"), ("kendall", "source", "spearman")],
)
def test_partial_correlations_hold_the_other_dimensions_fixed(statistic, level, how):
    found = analyse(DATA, SCORES, statistic=statistic, level=level, **QUICK)
    human, metrics, _ = turned(level)
    style = matrices(DATA, SCORES, "style", level).human
    expected = partial(human, metrics, style[None], statistic=how)
    own = found.rows.set_index("metric")["partial"]
    np.testing.assert_allclose(own[ORDER[:-1]], expected)
    assert np.isnan(own["human-style"])
    assert set(found.rows["given"]) == {"style"}
    assert found.rows["partial_all"].isna().all()  # fluency was not rated


def test_within_tasks_the_partial_correlation_is_within_tasks():
    found = analyse(DATA, SCORES, level="within-task", **QUICK)
    human, metrics, made = turned()
    style = matrices(DATA, SCORES, "style").human
    expected = partial(human, metrics, style[None], tasks=made.tasks)
    np.testing.assert_allclose(found.rows.set_index("metric")["partial"][ORDER[:-1]], expected)


# ----------------------------------------------------------------------- special statistics


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_statistic_can_be_asked_for_by_name_at_a_level_that_it_has(statistic):
    function = stats.STATISTICS[statistic]
    level = function.levels[0] if function.levels else "source"
    found = analyse(DATA, SCORES, statistic=statistic, level=level, draws=50, tests=False)
    assert found.rows["value"].notna().all()
    assert found.rows["metric"][0] == "good"
    assert (found.rows["low"] <= found.rows["high"]).all()


def test_acc_eq_fits_a_threshold_to_each_metric_on_other_data():
    found = analyse(DATA, SCORES, statistic="acc_eq", level="source", seed=4, **QUICK)
    human, metrics, _ = turned()
    for place in range(3):
        rng = np.random.default_rng([4, analysis_parts.FOLDS])
        name = found.rows.loc[place, "metric"]
        ties = tie_calibrated(human, metrics[ORDER.index(name)], "source", rng=rng)
        assert found.rows.loc[place, "value"] == pytest.approx(ties.value)
        assert f"scores tie up to {ties.threshold:.3g}" in found.rows.loc[place, "note"]
    tests = analyse(DATA, SCORES, statistic="acc_eq", level="source", draws=50, tests=True).tested
    assert tests == "no tests: each metric has a tie threshold on a scale of its own"
    with pytest.raises(TstmetaError, match="level pooled or source, not 'system'"):
        analyse(DATA, SCORES, statistic="acc_eq", level="system", **QUICK)


def test_groups_can_be_added_up():
    macro, micro = (
        analyse(DATA, SCORES, statistic="kendall", level="source", micro=m, **QUICK).rows
        for m in (False, True)
    )
    human, metrics, _ = turned()
    expected = stats.estimate(human, metrics[:1], Setting("kendall", "source", micro=True))
    assert micro["value"][0] == pytest.approx(expected[0])
    assert micro["value"][0] != macro["value"][0]
