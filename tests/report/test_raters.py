"""Tables about raters: people first, the same cells for all, a reason for what has no answer."""

import math

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.report.tiny import NAN, constructed, rated, scores
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, labels_table, ratings_table
from tstmeta.report.alternative import FAILS, FLAT_LINE, LEFT_OUT, NO_MORE, PASSES, WOULD_PASS
from tstmeta.report.bench import Bench
from tstmeta.report.matrices import cube
from tstmeta.report.rated import NO_SCORES, NOT_IDENTIFIABLE, OWN
from tstmeta.report.raters import (
    PERSON,
    SLOT,
    alternative,
    alternative_by_rater,
    by_level,
    corrected,
    human_ceiling,
    reliability,
)
from tstmeta.schema import TstmetaError
from tstmeta.stats import Setting
from tstmeta.stats.raters import ceiling

SOURCES, SYSTEMS = 20, "ABC"


def people(name="crowd", noise=0.7, raters=("r1", "r2", "r3"), collection=None, **facts) -> Dataset:
    """Sixty rewrites of twenty sources, rated by some who see the same truth through noise."""
    made = np.random.default_rng(1)
    truth = made.normal(size=SOURCES * len(SYSTEMS))
    sources = [f"s{n}" for n in range(SOURCES) for _ in SYSTEMS]
    ids = [f"{source}-{system}" for source, system in zip(sources, SYSTEMS * SOURCES, strict=True)]
    items = items_table(
        name, item_id=ids, source_id=sources, system=list(SYSTEMS) * SOURCES, source="a", output="b"
    )
    given = {
        (dimension, rater): truth + noise * made.normal(size=len(ids))
        for dimension in ("content", "style")
        for rater in raters
    }
    labels = {} if collection is None else {"collection": collection}
    return Dataset.of(
        name,
        items,
        Card(name, name, facts),
        ratings=ratings_table(name, ids, given),
        labels=labels_table(name, ids, **labels) if labels else None,
    )


def truth_of(dataset: Dataset, noise=0.0) -> np.ndarray:
    made = np.random.default_rng(1)
    truth = made.normal(size=len(dataset.items))
    return truth + noise * np.random.default_rng(2).normal(size=len(truth))


def table_of(dataset: Dataset, **metrics) -> pd.DataFrame:
    return pd.concat([scores(dataset, v, name) for name, v in metrics.items()], ignore_index=True)


def as_status(values):
    return ["ok" if math.isfinite(v) else "invalid" for v in values]


# ------------------------------------------------------------------------------- ceiling


def test_people_come_first_and_metrics_take_the_held_out_raters_place():
    data = people()
    metric = truth_of(data, 0.5)
    table = human_ceiling(data, table_of(data, good=metric, bad=-metric))
    assert table["metric"].tolist() == [PERSON, "good", "bad"] * 3
    assert table["level"].tolist() == ["pooled"] * 3 + ["source"] * 3 + ["system"] * 3
    ratings = cube(data, "content")
    for level, rows in table.groupby("level", sort=False):
        found = ceiling(ratings.ratings, Setting("pearson", level), [metric.reshape(20, 3)])
        assert rows["value"].iloc[0] == pytest.approx(found.value)
        assert rows["value"].iloc[1] == pytest.approx(found.metrics[0])
        assert rows["value"].iloc[2] == pytest.approx(-found.metrics[0])
        assert rows["human"].tolist() == pytest.approx([found.value] * 3)
    assert table["n"].tolist() == [60] * 3 + [20] * 3 + [3] * 3
    assert set(table["ratings"]) == {180}
    assert set(table["note"]) == {""}
    assert table["signature"].iloc[1] == "good|basis:source"


def test_the_wide_table_has_a_column_a_level_and_rows_in_the_same_order():
    data = people()
    table = human_ceiling(data, table_of(data, z=truth_of(data), a=truth_of(data, 1)))
    wide = by_level(table)
    assert wide.columns.tolist() == ["metric", "basis", "pooled", "source", "system", "signature"]
    assert wide["metric"].tolist() == [PERSON, "z", "a"]
    assert wide["source"].tolist() == table.loc[table["level"] == "source", "value"].tolist()


def test_a_metric_with_gaps_faces_people_on_the_cells_it_scored():
    data = people()
    metric = truth_of(data, 0.5)
    gaps = metric.copy()
    gaps[:30] = NAN
    given = pd.concat(
        [table_of(data, whole=metric), scores(data, gaps, "gaps", "source", as_status(gaps))]
    )
    table = human_ceiling(data, given, levels=("pooled",)).set_index("metric")
    half = data.where(pd.Series(~np.isnan(gaps)))
    small = human_ceiling(half, table_of(half, gaps=gaps[30:]), levels=("pooled",)).set_index(
        "metric"
    )
    assert table.loc["whole", "human"] == table.loc[PERSON, "value"]
    assert table.loc["gaps", "value"] == pytest.approx(small.loc["gaps", "value"])
    assert table.loc["gaps", "human"] == pytest.approx(small.loc[PERSON, "value"])
    assert (table.loc["gaps", "ratings"], table.loc["gaps", "n"]) == (90, 30)


def test_a_metric_without_scores_and_the_ratings_themselves_get_a_note():
    data = people()
    nothing = scores(data, [0.0] * 60, "none", "source", "error")
    nothing["value"] = NAN
    given = pd.concat([nothing, table_of(data, **{"human-style": truth_of(data)})])
    for dimension, own in (("content", ""), ("style", OWN)):
        table = human_ceiling(data, given, dimension, levels=("pooled",)).set_index("metric")
        assert table.loc["none", "note"] == NO_SCORES
        assert table.loc["human-style", "note"] == own
        assert math.isnan(table.loc["human-style", "value"]) == bool(own)


def test_two_anonymous_slots_are_called_so():
    data = people("lai@mine", raters=("r1", "r2"))
    table = human_ceiling(data, table_of(data, m=truth_of(data)))
    assert set(table.loc[table["n"] > 0, "metric"]) == {SLOT, "m"}
    assert set(table["against"]) == {"the other slot's rating"}
    assert np.isfinite(table["value"]).all()


#: data, dimension, the note of every level
UNANSWERED = {
    "means only": (
        lambda: people(raters=("mean",)),
        "content",
        "not identifiable: only means of ratings were released",
    ),
    "one rater": (lambda: people(raters=("r1",)), "content", "not identifiable: one rater only"),
    "no ratings": (people, "fluency", "no ratings of fluency"),
    "labels by construction": (constructed, "content", "no ratings of content"),
}


@pytest.mark.parametrize(("make", "dimension", "note"), UNANSWERED.values(), ids=UNANSWERED)
def test_what_cannot_be_told_is_one_row_with_the_reason(make, dimension, note):
    data = make()
    given = scores(data, np.arange(len(data.items)))
    table = human_ceiling(data, given, dimension)
    assert table["level"].tolist() == ["pooled", "source", "system"]
    assert set(table["note"]) == {note}
    assert table["value"].isna().all()
    verdict = alternative(data, given, dimension)
    assert verdict["verdict"].tolist() == [NOT_IDENTIFIABLE]
    assert verdict["note"].tolist() == [note]
    row = reliability(data, dimension).iloc[0]
    assert row["note"] == note
    assert math.isnan(row["single"])
    line = corrected(data, given, dimension).iloc[0]
    assert line["note"] == note
    assert math.isnan(line["corrected"])
    assert math.isnan(line["raw"]) == note.startswith("no ratings")
    with pytest.raises(TstmetaError, match=NOT_IDENTIFIABLE):
        alternative_by_rater(data, given, dimension)


def test_levels_that_do_not_apply_say_why():
    data = people()
    one = data.where(data.items["system"] == "A")
    table = human_ceiling(one, table_of(one, m=truth_of(one))).set_index("level")
    assert table.loc["source", "note"] == "Pearson's r needs 3 rewrites of a source, rated are 1"
    assert table.loc["system", "note"] == "Pearson's r needs 3 systems, rated are 1"
    nameless = people()
    nameless = Dataset.of(
        "nameless",
        nameless.items.assign(system="", dataset="nameless"),
        ratings=nameless.ratings.assign(dataset="nameless"),
    )
    rows = human_ceiling(nameless, table_of(nameless, m=truth_of(nameless)), levels=("system",))
    assert rows["note"].tolist() == ["no item names its system"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dimension": "beauty"}, "unknown dimension 'beauty'"),
        ({"statistic": "guess"}, "unknown statistic 'guess'"),
        ({"levels": ("moon",)}, "unknown level 'moon'"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    with pytest.raises(TstmetaError, match=message):
        human_ceiling(people(), scores(people(), [0.0] * 60), **arguments)


def test_ratings_on_several_scales_are_never_pooled():
    scales = {
        "old": {"content": [1, 5], "style": [1, 5]},
        "new": {"content": [0, 100], "style": [1, 5]},
    }
    data = people("both", collection=["old"] * 30 + ["new"] * 30, subset_scales=scales)
    given = table_of(data, m=truth_of(data))
    with pytest.raises(TstmetaError, match="take one of both@old, both@new"):
        reliability(data, "content")
    with pytest.raises(TstmetaError, match="several scales"):
        alternative(data, given, "content")
    assert np.isfinite(reliability(data, "style")["single"]).all()
    assert np.isfinite(reliability(data.where(data.label("collection") == "old"))["single"]).all()


# --------------------------------------------------------------------------- alternative


def test_a_metric_that_knows_passes_and_one_that_does_not_fails():
    data = people()
    given = table_of(data, good=truth_of(data), bad=-truth_of(data), noise=truth_of(data, 50))
    table = alternative(data, given).set_index("metric")
    assert table.index[0] == FLAT_LINE
    assert table.loc["good", "verdict"] == PASSES
    assert table.loc[["bad", "noise", FLAT_LINE], "verdict"].tolist() == [FAILS] * 3
    assert table.loc["bad", "note"].startswith("flat line")
    assert table.loc["bad", "rho"] == pytest.approx(table.loc["bad", "flat_rho"])
    assert table.loc["good", ["beaten", "tested", "left_out", "n"]].tolist() == [3, 3, 0, 180]
    assert set(table["flat_rho"]) == {table.loc[FLAT_LINE, "rho"]}


def test_where_ratings_are_noise_a_pass_is_worth_no_more_than_a_flat_line():
    data = people(noise=8.0)
    given = table_of(data, good=truth_of(data), **{"human-style": truth_of(data)})
    table = alternative(data, given, "style", 0.2).set_index("metric")
    assert table.loc[FLAT_LINE, "omega"] == 1
    assert table.loc[FLAT_LINE, "verdict"] == WOULD_PASS
    assert table.loc["good", "verdict"] == NO_MORE
    assert table.loc["human-style", ["verdict", "note"]].tolist() == [LEFT_OUT, OWN]


def test_the_same_seed_gives_the_same_table():
    data = people()
    given = table_of(data, m=truth_of(data, 1))
    first, again, other = (alternative(data, given, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_raters_with_few_items_are_counted_as_left_out():
    data = people()
    few = data.ratings["rater"].eq("r3") & ~data.ratings["item_id"].str.startswith("s1")
    data = Dataset.of(
        "few", data.items.assign(dataset="few"), ratings=data.ratings[~few].assign(dataset="few")
    )
    given = table_of(data, m=truth_of(data))
    row = alternative(data, given).iloc[1]
    assert row[["tested", "left_out"]].tolist() == [3, 0]
    row = alternative(data, given, least=40).iloc[1]
    assert row[["tested", "left_out"]].tolist() == [2, 1]
    each = alternative_by_rater(data, given, least=40)
    assert each["rater"].tolist() == ["r1", "r2", "r3"]
    assert each["note"].tolist() == ["", "", "33 items, fewer than 40"]
    nobody = alternative(data, given, least=100)
    assert set(nobody["verdict"]) == {NOT_IDENTIFIABLE}
    assert nobody["note"].str.startswith("no rater has enough items").all()


def test_a_margin_beyond_sense_and_several_metrics_are_refused():
    data = people()
    given = table_of(data, m=truth_of(data), n=truth_of(data))
    with pytest.raises(TstmetaError, match="margin"):
        alternative(data, given, epsilon=1.5)
    with pytest.raises(TstmetaError, match="one metric"):
        alternative_by_rater(data, given)


# --------------------------------------------------------------------------- reliability


def test_corrected_values_stand_beside_raw_ones():
    data = people(noise=1.0)
    given = table_of(data, m=truth_of(data, 0.5), flat=np.ones(60))
    row, lines = reliability(data).iloc[0], corrected(data, given).set_index("metric")
    assert row["released"] == "persons"
    assert (row["n"], row["raters"], row["per_item"]) == (60, 3, pytest.approx(3))
    assert row["of_mean"] == pytest.approx(3 * row["single"] / (1 + 2 * row["single"]))
    assert row["alpha_interval"] == pytest.approx(row["single"], abs=0.02)
    assert row["stepped"] == pytest.approx(2 * row["halves"] / (1 + row["halves"]))
    assert row["stepped"] == pytest.approx(row["of_mean"], abs=0.05)
    assert reliability(data, seed=3)["halves"].iloc[0] != row["halves"]
    raw = np.corrcoef(data.means["content"], truth_of(data, 0.5))[0, 1]
    assert lines.loc["m", "raw"] == pytest.approx(raw)
    assert lines.loc["m", "corrected"] == pytest.approx(raw / math.sqrt(row["of_mean"]))
    assert lines.loc["flat", "note"] == "all scores are equal"


def test_a_tiny_set_has_values_or_reasons():
    data = rated()
    given = scores(data, [1, 2, 3, 4, 5, 6])
    assert alternative(data, given)["verdict"].tolist() == [NOT_IDENTIFIABLE] * 2
    table = human_ceiling(data, given)
    assert ((table["note"] != "") | np.isfinite(table["value"])).all()


# -------------------------------------------------------------------------------- real data


@needs("pauli")
def test_on_pauli_one_person_follows_the_others_far_better_than_the_style_rating_does():
    bench = Bench()
    data = bench.dataset("pauli")
    given = bench.table(data, ["human-style", "constant"], ["source", "none"])
    table = human_ceiling(data, given, levels=("pooled", "source")).set_index(["level", "metric"])
    assert table.loc[("pooled", PERSON), "value"] == pytest.approx(0.850, abs=5e-4)
    assert table.loc[("pooled", "human-style"), "value"] == pytest.approx(0.539, abs=5e-4)
    assert "needs 3 rewrites of a source" in table.loc[("source", PERSON), "note"]
    assert reliability(data)["alpha_ordinal"].iloc[0] == pytest.approx(0.768, abs=5e-4)
    style = alternative(data, given, "style").set_index("metric")
    assert style.loc[FLAT_LINE, "omega"] == 1  # the test tells nothing of style here


@needs("lai", "mir", "alva", "lens")
def test_what_the_released_ratings_of_each_set_allow():
    bench = Bench()
    released = {
        name: reliability(bench.dataset(name), dimension)["released"].iloc[0]
        for name, dimension in {
            "lai@pauli2025": "content",
            "mir": "content",
            "alva@simplicity_da": "style",
            "lens@simpda_2022": "content",
        }.items()
    }
    assert list(released.values()) == ["slots", "means", "persons", "persons"]
    for name in ("lai@pauli2025", "mir"):
        data = bench.dataset(name)
        given = scores(data, np.zeros(len(data.items)))
        assert alternative(data, given)["verdict"].tolist() == [NOT_IDENTIFIABLE]
    for name in ("alva", "lens"):
        with pytest.raises(TstmetaError, match="several scales"):
            reliability(bench.dataset(name), "style")
