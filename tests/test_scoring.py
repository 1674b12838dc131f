"""Scoring: what is computed, on which basis, in which units and order."""

import math
from unittest.mock import DEFAULT, MagicMock, call

import numpy as np
import pandas as pd
import pytest

from tests.scored import NAN, THREE, Logged, contents, dataset, run
from tstmeta import schema, scoring
from tstmeta.analysis import choice
from tstmeta.data import paths, shipped
from tstmeta.data.tables import scores_table
from tstmeta.metrics import CorpusMetric, Request, UnknownMetric, registry
from tstmeta.schema import TstmetaError
from tstmeta.store import Rows


def test_a_score_table_says_what_was_scored_with_what(tmp_path):
    found = run(THREE, Logged(), tmp_path)
    assert found["value"].tolist() == [8, 8, 8]
    assert found["item_id"].tolist() == ["1", "2", "3"]
    assert found.drop(columns=["item_id", "value"]).drop_duplicates().to_dict("records") == [
        {
            "dataset": "tiny",
            "metric": "logged",
            "dimension": "content",
            "basis": "source",
            "signature": "logged|basis:source|version:1|max_tokens:2000",
            "sample": 0,
            "status": "ok",
            "detail": "",
        }
    ]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        (["pinc"], ["pinc"]),
        (["ter", "pinc", "ter"], ["ter", "pinc"]),
        (
            ["copy-rate", "sentinel"],
            ["copy-rate", "constant", "length-ratio", "output-only", "random", "source-only"],
        ),
        (["human-style", "pinc"], ["human-style", "pinc"]),
        (["pinc", Logged(), "ter"], ["pinc", "logged", "ter"]),
    ],
)
def test_rows_come_by_metric_in_the_order_wanted_each_once(wanted, names, tmp_path):
    rated = dataset({}, {}, {}, ratings={("style", "r1"): [1, 2, 3]})
    found = scoring.score(rated, wanted, bases=["source"], store=tmp_path, progress=False)
    assert list(dict.fromkeys(found["metric"])) == names
    assert found.groupby(["metric", "basis"]).size().eq(3).all()


def test_scores_that_a_file_has_are_refused(tmp_path):
    there = scoring.score(THREE, ["bleu:intl"], store=tmp_path, progress=False)
    with pytest.raises(TstmetaError, match="the file of scores has bleu:intl already"):
        choice.check_new(THREE, ["bleu:intl"], None, there)
    choice.check_new(THREE, ["bleu"], None, there)
    assert choice.listed(there, "style", ["bleu:intl"]).equals(there)


def test_an_unknown_metric_is_refused_before_anything_is_scored(tmp_path):
    metric = Logged()
    with pytest.raises(UnknownMetric, match="did you mean bleu"):
        scoring.score(THREE, [metric, "bleuu"], store=tmp_path)
    with pytest.raises(TstmetaError, match="profile is 'toy'; use one of embedded, real"):
        scoring.score(THREE, [metric], store=tmp_path, profile="toy")
    assert metric.calls == []
    for profile in ("", "embedded", "real"):
        assert len(scoring.score(THREE, ["pinc"], ["source"], store=tmp_path, profile=profile)) == 3


#: an item, the basis, what its output is compared with (None: it has no row)
AGAINST = {
    "an empty source": ({"source": ""}, "source", ("",)),
    "nothing": ({"source": "s", "references": ["r"]}, "none", ()),
    "no reference, no row": ({"references": []}, "reference", None),
    "a reference is not compared with itself": (
        {"output": "r", "references": ["r", "q"], "is_reference": True},
        "reference",
        ("q",),
    ),
    "the only reference has no row, nor has a copy of itself": (
        {"output": "r", "references": ["r", "r"], "is_reference": True},
        "reference",
        None,
    ),
    "a system may equal a reference": (
        {"output": "r", "references": ["r", "q"]},
        "reference",
        ("r", "q"),
    ),
}


@pytest.mark.parametrize(("row", "basis", "against"), AGAINST.values(), ids=AGAINST)
def test_a_basis_says_what_an_output_is_compared_with(row, basis, against):
    found = [request.against for _, request in scoring.requests(dataset(row), basis)]
    assert found == ([] if against is None else [against])


def test_a_metric_of_all_rewrites_of_a_source_is_refused(tmp_path):
    metric = Logged()
    metric.unit = "source"
    with pytest.raises(TypeError, match="has unit 'source': it is item or corpus"):
        run(THREE, metric, tmp_path)


def test_a_request_carries_what_a_judge_needs():
    one = {"source": "s", "output": "o", "style": "polite", "language": "hi", "references": ["r"]}
    request = Request("o", ("r",), "s", "polite", "hi")
    assert scoring.requests(dataset(one, {}, one), "reference") == [("1", request), ("3", request)]


def test_a_language_that_a_metric_is_not_made_for_is_refused_in_its_place(tmp_path):
    metric = Logged()
    metric.languages = ("en",)
    found = run(dataset({}, {"language": "fr"}, {}, {"language": "hi-IN"}), metric, tmp_path)
    assert found["item_id"].tolist() == ["1", "2", "3", "4"]
    assert found["status"].tolist() == ["ok", "refused", "ok", "refused"]
    assert found["value"].isna().tolist() == [False, True, False, True]
    facts = found[["dataset", "metric", "basis", "signature"]].drop_duplicates()
    signature = str(metric.signature("source"))
    assert facts.to_numpy().tolist() == [["tiny", "logged", "source", signature]]
    why = "logged is made for English; this rewrite is in "
    assert found["detail"].tolist() == ["", f"{why}fr", "", f"{why}hi-IN"]


def test_a_metric_twice_is_refused_and_a_profile_leaves_out_the_others(tmp_path):
    with pytest.raises(TstmetaError, match="duplicate row"):
        scoring.score(THREE, [Logged(), Logged()], ["source"], store=tmp_path)
    wanted = ["bleurt", "pinc", "human-style"]
    rated = dataset({}, {}, ratings={("style", "r1"): [1, 2]})
    found = scoring.score(rated, wanted, ["source", "none"], store=tmp_path, profile="embedded")
    assert found["metric"].unique().tolist() == ["pinc", "human-style"]


def test_what_is_computed_sooner_than_looked_up_is_not_stored(tmp_path):
    table = scoring.score(THREE, ["random", "pinc"], ["source"], store=str(tmp_path))
    assert table["value"].notna().all()
    assert {row[0][:17] for row in contents(tmp_path)["scores"]} == {"pinc|basis:source"}


def test_what_was_passed_on_with_the_project_is_not_computed(tmp_path, monkeypatch):
    facts = {"metric": "logged", "dimension": "content", "basis": "source", "fields": {}}
    passed_on = scores_table("tiny", ["1", "3"], [5.0, 6.0], **facts)
    monkeypatch.setattr(shipped, "scores", lambda *_: passed_on)
    monkeypatch.setattr(paths, "scores", lambda: tmp_path)
    table = scoring.score(THREE, [metric := Logged()], bases=["source"], progress=False)
    assert metric.calls == ["output 2"]
    assert table.set_index("item_id")["value"].to_dict() == {"1": 5, "2": 8, "3": 6}
    run(THREE, metric, tmp_path / "named")  # a store that is named is the only one
    assert len(metric.calls) == 4


#: A metric, its basis, and the value of a blank output: the worst of all values.
WORST = [
    *(("style-confidence", "none", 0.0), ("style-emd", "source", 0.0)),
    *(("style-emd", "reference", 1.0), ("style-emd:directed", "source", -1.0)),
    *(("style-js", "source", 0.0), ("style-js", "reference", 1.0), ("style-kl", "source", 0.0)),
    *(("style-kl", "reference", -math.log(1e-12)), ("style-cosine", "source", 1.0)),
    *(("style-cosine", "reference", 0.0), ("likelihood-style", "source", -1.0)),
    *(("slor", "none", -math.log(1e9)), ("perplexity", "none", 1e9)),
    *(("perplexity:word", "none", 1e30), ("wmd", "source", 3.4), ("synwmd", "source", 4.0)),
]


@pytest.mark.parametrize(("name", "basis", "worst"), WORST)
def test_a_blank_output_is_the_worst_of_style_and_fluency_whatever_was_stored(name, basis, worst):
    rows = [("a", "dull words", ("r",)), ("b", " ", ("r",)), ("c", "", ()), ("d", "rude", ("r",))]
    rewrites = [(item, Request(output, texts)) for item, output, texts in rows]

    def stored(data, metric, basis, members):
        facts = {"metric": name, "dimension": "style", "basis": basis, "fields": {}}
        table = scores_table("tiny", ["a", "b", "c", "d"], [0.5, 0.9, math.nan, 0.4], **facts)
        return table.assign(status=["ok", "empty", "invalid", "refused"])

    metric = registry.get(name)
    data = dataset(*({"item_id": item} for item in "abcd"))
    table = scoring.score_basis(data, metric, basis, rewrites, stored)
    assert table["value"].tolist() == [0.5, pytest.approx(worst), pytest.approx(worst), 0.4]
    assert table["status"].tolist() == ["ok", "empty", "empty", "refused"]
    passed_on = scoring.score_basis(data, metric, basis, [], stored)["value"]
    assert passed_on[1] == pytest.approx(worst), "of texts that are not here the status says it"


class Accuracy(CorpusMetric):
    """Share of outputs that equal the text they are compared with."""

    name = "accuracy"

    def statistics(self, request: Request) -> np.ndarray:
        return np.array([request.output in request.against, bool(request.output)])

    def aggregate(self, total: np.ndarray) -> float:
        return float(total[0] / total[1]) if total[1] else NAN


def test_a_corpus_metric_keeps_additive_statistics(tmp_path):
    given = dataset({"source": "a", "output": "a"}, {"source": "b", "output": "c"}, {"output": ""})
    for _ in range(2):  # computed, then from the store
        found = run(given, Accuracy(), tmp_path)
        assert found["detail"].tolist() == ["[1.0, 1.0]", "[0.0, 1.0]", "[0.0, 0.0]"]
        assert found["value"].tolist()[:2] == [1, 0]
        assert found["status"].tolist() == ["ok", "ok", "invalid"]
        assert Accuracy().combine(list(found["detail"])) == 0.5


def test_human_style_is_the_mean_rating_of_style_offered_as_a_metric():
    ratings = {
        ("style", "r1"): [1, NAN, 5],
        ("style", "r2"): [4, NAN, NAN],
        ("content", "r1"): [NAN, 3, NAN],
    }
    data = dataset({}, {}, {}, ratings=ratings)
    found = scoring.human_style(data.where(data.items["item_id"] != "2", "tiny@part"))
    assert found["item_id"].tolist() == ["1", "3"]
    assert found["value"].tolist() == [2.5, 5]
    facts = found[["dataset", "metric", "dimension", "basis", "signature"]].drop_duplicates()
    signature = "human-style|mean of human ratings"
    assert facts.to_numpy().tolist() == [["tiny", "human-style", "style", "none", signature]]


def test_what_cannot_be_scored_without_texts_is_said_for_each_item_that_would_be():
    data = dataset({"references": ["r"]}, {}, {"references": ["r", "s"]})
    for basis, items in (("reference", ["1", "3"]), ("source", ["1", "2", "3"])):
        part = data.where(data.items["item_id"] != "", "tiny@part")
        found = scoring._lacking(part, Logged(), basis, "signed")
        assert found["item_id"].tolist() == items
        [row] = found[["status", "signature", "detail"]].drop_duplicates().to_numpy().tolist()
        lack = "its texts are not here, and logged was not passed on: get them with: "
        assert row == ["error", "signed", f"{lack}tstmeta data fetch tiny"]


def test_failures_are_told_by_their_reason_first_come_first():
    rows = [("b", "error", "x"), ("a", "refused", "y"), ("a", "ok", ""), ("a", "invalid", "z")]
    table = pd.DataFrame([*rows, ("c", "error", "x")], columns=["metric", "status", "detail"])
    told = ["b, c: 1 of 1 scores failed: x", "a: 2 of 3 scores failed: y"]
    assert scoring.failures(table) == told


def test_a_bar_says_what_is_scored_and_when_another_run_does_it(tmp_path, monkeypatch):
    monkeypatch.setattr(scoring, "tqdm", bar := MagicMock())
    bar.side_effect = lambda *metrics, **_: metrics[0] if metrics else DEFAULT
    shares = Rows.shares

    def late(rows: Rows, blocks):
        yield []
        yield from shares(rows, blocks)

    monkeypatch.setattr(Rows, "shares", late)
    part = THREE.where(THREE.items["item_id"] != "", "tiny@part")
    for progress, number, hidden in ((True, 1, True), (True, 2, None), (False, 2, True)):
        metrics = [Logged(place) for place in range(number)]
        store = tmp_path / f"{progress}{number}"
        scoring.score(part, metrics, ["source"], store=store, progress=progress)
        told, *bars = bar.call_args_list[-1 - number :]
        assert told == call(metrics, "tiny source", unit="metric", leave=False, disable=hidden)
        disable = None if progress else True
        assert bars == [call(total=3, desc="logged", unit="unit", disable=disable)] * number
    words = [call("another run computes the rest"), call("")]
    assert bar.return_value.set_postfix_str.call_args_list == words * 5


@pytest.mark.parametrize("wanted", [[], ["human-style"]])
def test_nothing_wanted_and_style_that_nobody_rated_give_no_rows(wanted, tmp_path):
    table = scoring.score(THREE, wanted, store=tmp_path)
    pd.testing.assert_frame_equal(table, schema.empty("scores"))


#: Scores that came with a data set: metric, dimension, basis.
CAME = [
    *(("released:a", "content", basis) for basis in ("source", "reference")),
    *(("released:judge", dimension, "none") for dimension in ("style", "fluency")),
]


@pytest.fixture
def released():
    """A data set with one item, rated for style, and the scores of :data:`CAME`."""
    facts = [dict(zip(("metric", "dimension", "basis"), row, strict=True)) for row in CAME]
    tables = [scores_table("tiny", "1", [1], **f, fields={"for": f["dimension"]}) for f in facts]
    return dataset({}, scores=pd.concat(tables), ratings={("style", "r1"): [3.0]})


@pytest.mark.parametrize(
    ("wanted", "bases", "rows"),
    [
        ("released", None, CAME),
        (["released", "released:a"], None, CAME),
        ("released:a", None, CAME[:2]),
        (["released:a"], ["reference"], CAME[1:2]),
        (["released:judge", "source-only"], ["none"], CAME[2:]),
    ],
)
def test_scores_that_came_with_a_data_set_are_taken_by_name(
    released, tmp_path, wanted, bases, rows
):
    table = scoring.score(released, wanted, bases, store=tmp_path)
    given = table[table["metric"].str.startswith("released")]
    assert [tuple(row) for row in given[["metric", "dimension", "basis"]].to_numpy()] == rows
    assert (given["value"] == 1).all()


def test_a_released_name_that_is_not_there_lists_what_is(released, tmp_path):
    for wanted, known in (("released:b", "released:a, released:judge"), ("released", "no scores")):
        own = released if wanted == "released:b" else THREE
        with pytest.raises(UnknownMetric, match=f"no scores called '{wanted}'; .*{known}"):
            scoring.score(own, [wanted], store=tmp_path)
