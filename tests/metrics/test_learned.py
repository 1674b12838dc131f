"""BLEURT on a tiny model, and COMET, which is never computed here."""

import pytest
import torch

from tests.metrics import item, scores
from tests.models import tiny_text
from tstmeta.metrics.learned import Bleurt
from tstmeta.schema import Status

PAIRS = [
    ("the soup was cold", "the soup was not warm"),
    ("the waiter was rude", "so kind"),
    ("x", "the baker sold the last loaf before noon"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_text.folder(tmp_path_factory.mktemp("models") / "bleurt", tiny_text.bert())


def answers(metric, pairs):
    return scores(metric, *(item(output, text) for text, output in pairs))


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
    result = answers(Bleurt(str(folder)), PAIRS)
    assert [score.value for score in result] == pytest.approx(upstream(PAIRS), abs=1e-5)
    assert {score.status for score in result} == {Status.OK}
    turned = answers(Bleurt(str(folder)), [pair[::-1] for pair in PAIRS])
    assert [score.value for score in turned] != pytest.approx(upstream(PAIRS), abs=1e-3)


def test_an_empty_and_a_very_long_text_harm_nobody(folder):
    long = "the last loaf before noon " * 2000
    result = answers(Bleurt(str(folder)), [PAIRS[0], ("a", ""), ("a", long), PAIRS[1]])
    assert [score.status for score in result] == [
        *(Status.OK, Status.EMPTY),
        *(Status.TRUNCATED, Status.OK),
    ]
    assert result[2].detail.endswith(f"tokens, first {tiny_text.WINDOW} used")
    assert int(result[2].detail.split()[0]) > 10_000
    expected = upstream([PAIRS[0], PAIRS[1]])
    assert [result[0].value, result[3].value] == pytest.approx(expected, abs=1e-5)


def test_the_signature_names_the_model_by_its_content(folder):
    message = str(Bleurt(str(folder)).signature("reference"))
    assert "|model:bleurt@" in message
    assert "transformers:" in message
    large = str(Bleurt().signature("reference"))
    assert "Elron/bleurt-large-512@00397b0917e4" in large
    assert message != large
    assert str(folder) not in message, "where a model lies changes nothing"


def test_a_classifier_of_several_labels_is_no_bleurt(tmp_path):
    folder = tiny_text.folder(tmp_path / "three", tiny_text.bert(labels=3))
    [result] = answers(Bleurt(str(folder)), PAIRS[:1])
    assert result.status is Status.ERROR
    assert "gives 3 numbers a pair" in result.detail
