"""Metrics by the interfaces of evaluate and torchmetrics, in the real libraries."""

import math

import evaluate
import numpy as np
import pytest
import sacrebleu
import torchmetrics
from datasets import Features, Value

import tstmeta as tst
from tests.command import CSV
from tstmeta.exchange.adapters import adapter
from tstmeta.schema import TstmetaError

PREDICTIONS = ["the cat sat down", "he went to the shop", "we like tea a lot", ""]
REFERENCES = [
    ["the cat took a seat"],
    ["he ran to it", "he went to the shop"],
    ["tea it is"],
    ["x"],
]
SOURCES = ["the cat was sitting down", "he ran to the shop", "we like tea", "call me"]
REFERRED = {"predictions": PREDICTIONS, "references": REFERENCES}


def length(source, output):
    """A metric of one's own."""
    return float(len(output)) if "cat" not in source else math.nan


def english():
    """It, made for English."""
    metric = tst.wrap(length)
    metric.languages = ("en",)
    return metric


def test_both_libraries_give_the_scores_that_scoring_gives(tmp_path):
    (tmp_path / "mine.csv").write_text(CSV)
    data = tst.read(tmp_path / "mine.csv")
    scores = tst.score(data, ["bleu", "ter", "corpus-bleu"], store=tmp_path, progress=False)
    for (name, basis), table in scores.groupby(["metric", "basis"]):
        texts = data.items["references" if basis == "reference" else "source"]
        outputs = data.items["output"]
        result = adapter(name).compute(predictions=outputs, **{f"{basis}s": texts})
        assert result["items"] == list(table["value"])
        assert result["statuses"] == list(table["status"])
        assert {result["signature"]} == set(table["signature"])
        if name != "corpus-bleu":
            assert result[name] == pytest.approx(table["value"].mean(), abs=1e-12)
        other = adapter(name, "torchmetrics", basis)
        for place, output in enumerate(outputs):
            column = "target" if basis == "reference" else "sources"
            other.update([output], **{column: [texts[place]]})
        assert float(other.compute()) == pytest.approx(result[name], abs=1e-12)


def test_a_metric_of_whole_outputs_gives_its_value_over_all():
    full = [texts[:1] for texts in REFERENCES]
    known = sacrebleu.corpus_bleu(PREDICTIONS, [*zip(*full, strict=True)]).score
    result = adapter("corpus-bleu").compute(predictions=PREDICTIONS, references=full)
    assert result["corpus-bleu"] == pytest.approx(known, abs=1e-9)
    assert result["n"] == 4
    assert result["statuses"][3] == "empty"


def test_references_come_before_sources_unless_a_basis_is_named():
    both = {**REFERRED, "sources": SOURCES}
    assert "basis:reference" in adapter("bleu").compute(**both)["signature"]
    assert "basis:source" in adapter("bleu", basis="source").compute(**both)["signature"]
    assert "basis:none" in adapter("style-confidence").compute(**both, styles="formal")["signature"]


class Words(evaluate.Metric):
    """A metric of somebody else's, which knows predictions and references alone."""

    def _info(self):
        kinds = {"predictions": Value("string"), "references": [Value("string")]}
        return evaluate.MetricInfo(description="", citation="", features=Features(kinds))

    def _compute(self, predictions, references):
        return {"words": sum(len(text.split()) for text in predictions)}


def test_evaluate_combines_them_with_metrics_of_others(tmp_path):
    metrics = [adapter("bleu"), adapter("chrf"), Words(cache_dir=tmp_path)]
    combined = evaluate.combine(metrics)
    result = combined.compute(**REFERRED)
    alone = {name: adapter(name).compute(**REFERRED)[name] for name in ("bleu", "chrf")}
    assert alone.items() <= result.items()
    assert result["words"] == 14
    assert result["bleu_n"] == result["chrf_n"] == 4
    assert isinstance(metrics[0], evaluate.Metric)


def test_items_without_a_value_are_counted_and_left_out_of_the_mean():
    result = adapter(tst.wrap(length)).compute(predictions=PREDICTIONS, sources=SOURCES)
    assert (result["n"], result["n_failed"]) == (3, 1)
    assert math.isnan(result["items"][0])
    assert result["statuses"] == ["invalid", "ok", "ok", "empty"]
    assert result["length"] == np.mean([19, 17, 0])
    mixed = adapter(english()).compute(**REFERRED, languages=["de", "en", "en", "ru"])
    assert mixed["statuses"] == ["refused", "ok", "ok", "refused"]
    assert mixed["length"] == np.mean([19, 17])
    assert mixed["n_failed"] == 2


def test_where_no_item_has_a_value_the_reason_is_an_error():
    metric = adapter(english())
    with pytest.raises(TstmetaError, match=r"no item has a value: refused, .* made for English"):
        metric.compute(**REFERRED, languages="de")
    other = adapter(english(), "torchmetrics")
    assert math.isnan(other(PREDICTIONS, REFERENCES, languages="de"))
    assert math.isnan(other.compute())
    assert other.n_failed == 4
    other.update(PREDICTIONS, REFERENCES)
    assert float(other.compute()) == metric.compute(**REFERRED)["length"]


@pytest.mark.parametrize(
    ("how", "given", "words"),
    [
        ({"library": "keras"}, {}, "library is 'keras'; use one of evaluate, torchmetrics"),
        ({"basis": "none"}, {}, "bleu has no basis 'none'; it has source, reference"),
        ({"metric": "blue"}, {}, "did you mean bleu"),
        ({}, {"sources": SOURCES}, "predictions must be given"),
        ({}, {"predictions": PREDICTIONS}, "bleu needs references or sources"),
        ({"basis": "source"}, REFERRED, "bleu needs sources"),
        ({}, REFERRED | {"sources": ["a"]}, "1 sources for 4 predictions"),
        (
            {},
            {"predictions": ["a"], "references": [[]]},
            r"references: item 0 is \[\]; give a text",
        ),
        ({}, {"predictions": ["a", None], "sources": "b"}, "predictions: item 1 is None"),
        ({}, REFERRED | {"reference": "a"}, "takes predictions, references, sources"),
    ],
)
def test_what_cannot_be_is_said(how, given, words):
    with pytest.raises(TstmetaError, match=words):
        adapter(**{"metric": "bleu", **how}).compute(**given)


def test_a_library_that_is_not_here_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(TstmetaError, match="not installed: pip install torchmetrics"):
        adapter("bleu", "torchmetrics")


def test_items_one_by_one_are_refused_and_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    combined = evaluate.combine([adapter("bleu"), adapter("chrf")])
    for given in ({"prediction": "a", "reference": "a"}, {"predictions": ["a"]}):
        with pytest.raises(TstmetaError, match="bleu takes all items at once"):
            (combined.add if "prediction" in given else combined.add_batch)(**given)
    assert not [*tmp_path.iterdir()]


def test_a_collection_keeps_apart_what_was_equal_in_the_first_batch():
    names = ("rouge1", "edit-similarity", "corpus-bleu")
    collection = torchmetrics.MetricCollection(
        {name: adapter(name, "torchmetrics") for name in names}
    )
    collection.update(["the same text here"], ["the same text here"])  # of rouge1 and the next: 1
    assert float(collection["rouge1"].total[0]) == float(collection["edit-similarity"].total[0])
    step = collection(PREDICTIONS, REFERENCES)
    for name in names:
        alone, same = adapter(name), ["the same text here"]
        assert float(step[name]) == pytest.approx(alone.compute(**REFERRED)[name], abs=1e-12)
        both = {"predictions": same + PREDICTIONS, "references": same + REFERENCES}
        known = alone.compute(**both)[name]
        assert float(collection.clone().compute()[name]) == pytest.approx(known, abs=1e-12)
    collection.reset()
    assert not any(metric.update_called for metric in collection.values())


def test_states_of_two_processes_merge_and_say_which_way_is_up():
    parts = [adapter("corpus-bleu", "torchmetrics") for _ in range(2)]
    for part, where in zip(parts, (slice(1), slice(1, None)), strict=True):
        part.update(PREDICTIONS[where], REFERENCES[where])
    parts[0].merge_state(parts[1])
    known = adapter("corpus-bleu").compute(**REFERRED)["corpus-bleu"]
    assert float(parts[0].compute()) == pytest.approx(known, abs=1e-9)
    assert parts[0].higher_is_better
    assert not adapter("ter", "torchmetrics").higher_is_better
