"""BLEURT on a tiny model, and COMET, which is never computed here."""

import math

import pytest
import torch

from tests import scored
from tests.models import tiny_text
from tstmeta import metrics, scoring
from tstmeta.metrics import learned
from tstmeta.metrics.base import Metric, Request
from tstmeta.metrics.learned import MODELS, Bleurt
from tstmeta.models.causal import Backbone, MissingModel
from tstmeta.schema import Status, TstmetaError

PAIRS = [
    ("the soup was cold", "the soup was not warm"),
    ("the waiter was rude", "so kind"),
    ("x", "the baker sold the last loaf before noon"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_text.folder(tmp_path_factory.mktemp("models") / "bleurt", tiny_text.bert())


def answers(metric, pairs):
    units = [(Request(output, (text,), text),) for text, output in pairs]
    return [score for unit in metric.score(units) for score in unit]


def upstream(pairs):
    """As the model's card shows: references first, candidates second, one number each."""
    model, tokenizer = tiny_text.bert()
    values = []
    for reference, candidate in pairs:
        with torch.no_grad():
            inputs = tokenizer([reference], [candidate], return_tensors="pt")
            values.append(float(model(**inputs)[0].squeeze()))
    return values


def test_bleurt_is_the_models_one_logit_with_the_reference_first(folder):
    found = answers(Bleurt(str(folder)), PAIRS)
    assert [one.value for one in found] == pytest.approx(upstream(PAIRS), abs=1e-5)
    assert {one.status for one in found} == {Status.OK}
    turned = answers(Bleurt(str(folder)), [pair[::-1] for pair in PAIRS])
    assert [one.value for one in turned] != pytest.approx(upstream(PAIRS), abs=1e-3)


def test_batch_and_order_do_not_change_a_score(folder):
    metric = Bleurt(str(folder))
    alone = [answers(metric, [pair])[0].value for pair in PAIRS]
    back = [one.value for one in answers(metric, PAIRS[::-1])][::-1]
    assert back == pytest.approx(alone, abs=1e-5)


def test_an_empty_and_a_very_long_text_harm_nobody(folder):
    long = "the last loaf before noon " * 2000
    found = answers(Bleurt(str(folder)), [PAIRS[0], ("a", ""), ("a", long), PAIRS[1]])
    assert [one.status for one in found] == [
        *(Status.OK, Status.EMPTY),
        *(Status.TRUNCATED, Status.OK),
    ]
    assert found[2].detail.endswith(f"tokens, first {tiny_text.WINDOW} used")
    assert int(found[2].detail.split()[0]) > 10_000
    expected = upstream([PAIRS[0], PAIRS[1]])
    assert [found[0].value, found[3].value] == pytest.approx(expected, abs=1e-5)


def test_of_several_references_the_best_counts(folder):
    request = Request("the soup", tuple(text for text, _ in PAIRS))
    [[found]] = Bleurt(str(folder)).score([(request,)])
    values = upstream([(text, "the soup") for text, _ in PAIRS])
    assert found.value == pytest.approx(max(values), abs=1e-5)


def test_the_signature_names_the_model_by_its_content(folder):
    said = str(Bleurt(str(folder)).signature("reference"))
    assert "|model:bleurt@" in said
    assert "transformers:" in said
    large = str(Bleurt().signature("reference"))
    assert "Elron/bleurt-large-512@00397b0917e4" in large
    assert said != large
    assert str(folder) not in said, "where a model lies changes nothing"


def test_a_classifier_of_several_labels_is_no_bleurt(tmp_path):
    folder = tiny_text.folder(tmp_path / "three", tiny_text.bert(labels=3))
    [found] = answers(Bleurt(str(folder)), PAIRS[:1])
    assert found.status is Status.ERROR
    assert "gives 3 numbers a pair" in found.detail


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "upstream's weights are pickles, which are never read: convert them to safetensors"),
        ("bleurt-base-128", "name the folder: bleurt:FOLDER"),
        ("owner/other@main", "hf download owner/other --revision main"),
    ],
)
def test_without_the_model_the_row_says_what_to_do_and_the_run_goes_on(words, said, tmp_path):
    metric = Bleurt(words)
    table = scoring.score(
        scored.dataset({"source_id": "a", "source": "b", "output": "c", "style": "formal"}),
        [metric, "constant"],
        bases=["source", "none"],
        store=tmp_path,
        progress=False,
    )
    errors = table[table["status"] == "error"]
    assert errors["metric"].tolist() == [metric.name]
    assert said in errors["detail"].item()
    assert "constant" in table["metric"].tolist()


def test_a_folder_without_weights_says_so(tmp_path):
    metric = Bleurt(str(tmp_path))
    assert "needs config.json, the tokenizer's files and *.safetensors" in metric.missing
    assert "@missing" in str(metric.signature("source"))


def test_words_that_name_nothing_are_refused():
    with pytest.raises(TstmetaError, match="use bleurt-large-512, bleurt-base-512"):
        Bleurt("nothing")


def test_variants_are_listed_and_any_model_is_taken(folder):
    assert {f"bleurt:{name}" for name in list(MODELS)[1:]} <= set(metrics.names())
    assert metrics.get(f"bleurt:{folder}").model.local
    assert metrics.get("bleurt").profile == "real"


@pytest.mark.parametrize("name", ["comet-20", "comet-22"])
def test_comet_is_listed_and_says_how_to_bring_its_scores(name, tmp_path):
    metric = metrics.get(name)
    assert isinstance(metric, Metric)
    for part in ("unbabel-comet", "tstmeta evaluate --scores", f"released:{name}"):
        assert part in metric.missing
    [found] = answers(metric, PAIRS[:1])
    assert (found.status, found.detail) == (Status.ERROR, metric.missing)
    assert math.isnan(found.value)
    with pytest.raises(MissingModel, match="older libraries"):
        metric.pairs(PAIRS)
    assert f"Unbabel/wmt{name[-2:]}-comet-da" in str(metric.signature("source"))


@pytest.mark.parametrize("tokens", [1, 8, 9])
def test_a_row_beyond_the_window_is_truncated(tokens):
    score = learned.cut(learned.Score(1.0, detail="so"), tokens, 8)
    if tokens > 8:
        assert score == learned.Score(1.0, Status.TRUNCATED, "9 tokens, first 8 used; so")
    else:
        assert score == learned.Score(1.0, Status.OK, "so")


def test_a_model_of_ones_own_in_a_hub_has_the_usual_remedy():
    own = Backbone("own", "owner/own")
    assert "hf download owner/own" in learned.absent(own, "x:FOLDER", "Auto", MODELS)
