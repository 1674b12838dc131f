"""Agreement tables and the workbench behind them, against values worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

from tests.helpers import needs
from tests.report.tiny import NAN, constructed, rated, scores
from tstmeta import schema, scoring
from tstmeta.data import Dataset
from tstmeta.report.bench import Bench
from tstmeta.report.layout import at_level
from tstmeta.report.tables import CONSTRUCTION, HUMAN, evaluate, judged, truth
from tstmeta.schema import TstmetaError

COLUMNS = [
    *("metric", "basis", "dimension", "value", "p", "n", "against", "mean", "sd", "min", "max"),
    *("scored", "empty", "truncated", "failed", "note", "signature"),
]
#: mean content and style ratings of the six items of ``rated()``
CONTENT, STYLE = [2, 5, 3.5, 4, 2, 1], [4, 1, 3, 2, 5, NAN]


def r(x, y) -> float:
    return float(np.corrcoef(x, y)[0, 1])


# --------------------------------------------------------------------------------------- truth


def test_ratings_are_what_a_metric_is_held_against():
    data = rated()
    for dimension, expected in (("content", CONTENT), ("style", STYLE)):
        values, what = truth(data, dimension)
        assert what == HUMAN == "mean human rating"
        np.testing.assert_array_equal(values, expected)


def test_labels_by_construction_stand_in_where_there_are_no_ratings_and_are_called_so():
    content, what = truth(constructed(), "content")
    assert what == CONSTRUCTION == "label by construction"
    np.testing.assert_array_equal(content, [1, 0, 1, 0] * 2)
    np.testing.assert_array_equal(truth(constructed(), "style")[0], [1, 1, 0, 0] * 2)


@pytest.mark.parametrize("dimension", ["fluency", "overall", "structure"])
def test_otherwise_there_is_nothing_to_hold_a_metric_against(dimension):
    for data in (rated(), constructed()):
        values, what = truth(data, dimension)
        assert what == ""
        assert np.isnan(values).all()
        assert len(values) == len(data.items)


def test_dimensions_are_judged_where_there_is_something():
    assert judged(rated()) == judged(constructed()) == ["content", "style"]
    data = rated()
    bare = Dataset.of("bare", data.items.assign(dataset="bare"))
    assert judged(bare) == []


# ------------------------------------------------------------------------------------- levels

VALUES = [1, 4, 2, 8, 3, 9]
#: level, dimension, value, n
BY_HAND = [
    ("pooled", "content", r(CONTENT, VALUES), 6),
    ("pooled", "style", r(STYLE[:5], VALUES[:5]), 5),
    ("source", "content", (r(CONTENT[:3], VALUES[:3]) + r(CONTENT[3:], VALUES[3:])) / 2, 2),
    ("source", "style", r(STYLE[:3], VALUES[:3]), 1),
    ("within-system", "content", NAN, 0),
    ("system", "content", r([3, 3.5, 2.25], [4.5, 3.5, 5.5]), 3),
    ("system", "style", NAN, 3),  # the means of style are equal
]


@pytest.mark.parametrize(("level", "dimension", "value", "n"), BY_HAND)
def test_agreement_at_each_level_by_hand(level, dimension, value, n):
    data = rated()
    table = evaluate(data, scores(data, VALUES), dimensions=[dimension], level=level)
    [row] = table.to_dict("records")
    assert row["value"] == pytest.approx(value, nan_ok=True)
    assert row["n"] == n
    assert bool(row["note"]) == math.isnan(value)


@pytest.mark.parametrize(
    ("statistic", "value"), [("pearson", 0.6), ("spearman", 0.6), ("kendall", 1 / 3)]
)
def test_each_statistic_can_be_asked_for(statistic, value):
    data = rated()
    four = scores(data, [2, 1, 4, 3])
    human = np.array([1.0, 2, 3, 4, NAN, NAN])
    metric = np.array([*four["value"], NAN, NAN])
    assert at_level(data, statistic, "pooled", human, metric).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("statistic", "level", "message"),
    [
        ("pearson", "sample", "unknown level 'sample'; known: pooled, source"),
        ("tau", "pooled", "unknown statistic 'tau'; known: pearson, spearman, kendall"),
    ],
)
def test_an_unknown_level_or_statistic_is_refused(statistic, level, message):
    with pytest.raises(TstmetaError, match=message):
        at_level(rated(), statistic, level, np.ones(6), np.ones(6))


def test_tasks_are_averaged_where_items_name_them_and_asked_for_where_they_do_not():
    data = constructed()
    human, metric = np.array([1.0, 0, 1, 0, 1, 0, 1, 0]), np.array([1.0, 0, 1, 0, 9, 8, 6, 7])
    found = at_level(data, "pearson", "task", human, metric)
    assert (found.value, found.n) == (pytest.approx((1 + r(human[4:], metric[4:])) / 2), 2)
    for level in ("task", "within-task"):
        alone = at_level(constructed(tasks="x" * 8), "pearson", level, human, metric)
        assert alone.reason == "the items do not name two tasks or more"


def test_groups_can_be_added_up_and_those_without_a_value_be_counted():
    data = rated()
    human, metric = np.array([1.0, 2, 3, 1, 2, 3]), np.array([1.0, 2, 3, 5, 5, 5])
    assert at_level(data, "kendall", "source", human, metric).value == 1
    assert at_level(data, "kendall", "source", human, metric, undefined=0.0).value == 0.5
    metric = np.array([1.0, 2, 3, 5, 5, 1])
    macro, micro = (
        at_level(data, "preference", "source", human, metric, micro=micro).value
        for micro in (False, True)
    )
    assert (macro, micro) == (pytest.approx((1 + 1 / 6) / 2), pytest.approx((3 + 0.5) / 6))


def test_a_missing_score_drops_its_item_on_both_sides_of_the_system_level():
    data = rated()
    human, metric = np.array([1.0, 2, 3, 5, 6, 7]), np.array([1.0, 2, 3, NAN, 6, 7])
    found = at_level(data, "pearson", "system", human, metric)
    assert found.value == pytest.approx(r([1, 4, 5], [1, 4, 5]))


@pytest.mark.parametrize("level", ["system", "within-system"])
def test_items_of_unknown_system_are_left_out_where_systems_count(level):
    data = rated()
    names = ["A", "A", "A", "", "", ""]
    part = Dataset.of("part", data.items.assign(dataset="part", system=names), data.card)
    found = at_level(part, "pearson", level, np.arange(6.0), np.array([1.0, 2, 4, 9, 9, 9]))
    assert found.n == 1
    nameless = Dataset.of("part", data.items.assign(dataset="part", system=""), data.card)
    found = at_level(nameless, "pearson", level, np.arange(6.0), np.arange(6.0))
    assert found.reason == "no item names its system"


# ------------------------------------------------------------------------------------ evaluate


def test_a_row_describes_the_scores_and_names_their_signature():
    data = rated()
    status = ["ok", "empty", "truncated", "ok", "error", "refused"]
    table = evaluate(data, scores(data, [1, 2, 3, 6, NAN, NAN], status=status))
    assert list(table.columns) == COLUMNS
    assert table["dimension"].tolist() == ["content", "style"]
    row = table.iloc[0]
    assert row[["scored", "empty", "truncated", "failed", "n"]].tolist() == [4, 1, 1, 2, 4]
    assert row[["mean", "min", "max"]].tolist() == [3, 1, 6]
    assert row["sd"] == pytest.approx(math.sqrt(14 / 3))
    assert row["value"] == pytest.approx(r(CONTENT[:4], [1, 2, 3, 6]))
    assert row["signature"] == "m|basis:source"
    assert row["against"] == HUMAN


def test_items_without_a_score_count_nowhere():
    data = rated()
    row = evaluate(data, scores(data, [1, 2, 3])).iloc[0]
    assert row[["scored", "failed", "n"]].tolist() == [3, 0, 3]


def test_a_value_beside_a_status_without_value_does_not_count():
    data = rated()
    given = scores(data, [1, 2, 3, 100], status=["ok", "ok", "ok", "invalid"])
    row = evaluate(data, given).iloc[0]
    assert row[["scored", "failed", "max"]].tolist() == [3, 1, 3]


def test_when_all_failed_the_row_says_so():
    data = rated()
    row = evaluate(data, scores(data, [NAN] * 6, status="error")).iloc[0]
    assert math.isnan(row["value"])
    assert math.isnan(row["mean"])
    assert row[["scored", "failed", "n", "note"]].tolist() == [0, 6, 0, "fewer than three pairs"]


def test_one_score_has_no_spread():
    data = rated()
    row = evaluate(data, scores(data, [3])).iloc[0]
    assert math.isnan(row["sd"])
    assert row["mean"] == 3


def test_rows_keep_the_order_of_the_scores():
    data = rated()
    given = [
        scores(data, VALUES, metric, basis)
        for metric, basis in [("z", "source"), ("a", "reference"), ("a", "source")]
    ]
    table = evaluate(data, pd.concat(given), dimensions=["style"])
    assert list(zip(table["metric"], table["basis"], strict=True)) == [
        *(("z", "source"), ("a", "reference"), ("a", "source"))
    ]


def test_two_signatures_of_one_metric_are_two_rows():
    data = rated()
    given = pd.concat([scores(data, VALUES), scores(data, VALUES).assign(signature="m|v:2")])
    assert len(evaluate(data, given, dimensions=["content"])) == 2


def test_without_ratings_the_scores_are_still_described():
    data = rated()
    bare = Dataset.of("tiny", data.items, data.card)
    [row] = evaluate(bare, scores(data, VALUES)).to_dict("records")
    assert (row["dimension"], row["n"], row["against"], row["mean"]) == ("", 0, "", 4.5)
    assert row["note"] == "nothing to compare with: no ratings"
    [asked] = evaluate(bare, scores(data, VALUES), dimensions=["fluency"]).to_dict("records")
    assert asked["note"] == "nothing to compare with: no ratings of fluency"


def test_without_scores_there_are_columns_and_no_rows():
    table = evaluate(rated(), schema.empty("scores"))
    assert list(table.columns) == COLUMNS
    assert len(table) == 0


def test_an_unknown_dimension_is_refused_with_the_known_ones():
    data = rated()
    with pytest.raises(TstmetaError, match="unknown dimension mood; known: content, style"):
        evaluate(data, scores(data, VALUES), dimensions=["style", "mood"])


def test_labels_by_construction_are_named_in_the_row():
    data = constructed()
    table = evaluate(data, scores(data, [9, 1, 8, 0, 9, 2, 7, 1]))
    assert set(table["against"]) == {CONSTRUCTION}
    assert table.iloc[0]["value"] == pytest.approx(r([1, 0] * 4, [9, 1, 8, 0, 9, 2, 7, 1]))


# ------------------------------------------------------------------------ metrics of whole outputs


def test_a_corpus_metric_has_one_value_a_system(tmp_path):
    import sacrebleu

    data = rated(
        outputs=[
            *("he ran home now", "he ran home", "a dog ran off home"),
            *("we ate the soup", "we ate soup now", "no soup for us all"),
        ]
    )
    given = scoring.score(data, ["corpus-bleu"], bases=["source"], store=tmp_path, progress=False)
    pooled = evaluate(data, given, dimensions=["content"]).iloc[0]
    assert pooled["note"] == "a metric of whole outputs: use level system"
    sources, outputs = data.items["source"].tolist(), data.items["output"].tolist()
    whole = sacrebleu.corpus_bleu(outputs, [sources]).score
    assert pooled["mean"] == pytest.approx(whole)
    row = evaluate(data, given, dimensions=["content"], level="system").iloc[0]
    each = [sacrebleu.corpus_bleu(outputs[i::3], [sources[i::3]]).score for i in range(3)]
    assert row["n"] == 3
    assert row["value"] == pytest.approx(r([3, 3.5, 2.25], each))


def test_outputs_of_unknown_system_are_no_system_of_a_corpus_metric(tmp_path):
    data = rated()
    some = Dataset.of(
        "tiny", data.items.assign(system=["A", "B", "C", "", "", ""]), ratings=data.ratings
    )
    given = scoring.score(some, ["corpus-bleu"], bases=["source"], store=tmp_path, progress=False)
    assert evaluate(some, given, dimensions=["content"], level="system").iloc[0]["n"] == 3


# --------------------------------------------------------------------------------------- bench


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path)
    made._datasets["tiny"] = rated()
    return made


def test_the_bench_holds_scores_in_the_order_of_items(bench):
    found = bench.scores("tiny", "output-only", "source")
    assert found.index.tolist() == list("abcdef")
    assert found["value"].tolist() == [2, 3, 3, 2, 1, 1]
    assert bench.scores("tiny", "output-only", "source") is found


def test_items_without_a_reference_have_no_value(bench):
    found = bench.scores("tiny", "copy-rate", "reference")
    assert found["value"].isna().tolist() == [False] * 3 + [True] * 3
    _, value, signature = bench.vectors("tiny", "copy-rate", "reference", "content")
    assert np.isnan(value).tolist() == [False] * 3 + [True] * 3
    assert signature.startswith("copy-rate|basis:reference")


def test_agreement_carries_signature_and_n(bench):
    found = bench.agreement("tiny", "output-only", "source")
    assert found.value == pytest.approx(r(CONTENT, [2, 3, 3, 2, 1, 1]))
    assert (found.n, found.signature) == (6, "output-only|basis:source|tok:white-space")


def test_two_human_dimensions_agree_over_items(bench):
    found = bench.between("tiny", "content", "style")
    assert found.value == pytest.approx(r(CONTENT[:5], STYLE[:5]))
    assert found.n == 5
    assert found.signature == "pearson|mean content|mean style|data:tiny"


@needs("lai")
def test_released_scores_are_found_by_name_basis_and_dimension(tmp_path):
    bench = Bench(tmp_path)
    found = bench.scores("lai@lai2023", "released:bertscore", "source", "content")
    assert found["value"].notna().all()
    assert not list(tmp_path.iterdir())
