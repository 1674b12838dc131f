"""BLEURT on a tiny model."""

import pytest
import torch

from tests.metrics import scored
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
    result = scored(Bleurt(str(folder)), *PAIRS)
    assert [score.value for score in result] == pytest.approx(upstream(PAIRS), abs=1e-5)
    assert {score.status for score in result} == {Status.OK}
    turned = scored(Bleurt(str(folder)), *(pair[::-1] for pair in PAIRS))
    assert [score.value for score in turned] != pytest.approx(upstream(PAIRS), abs=1e-3)


def test_a_classifier_of_several_labels_is_no_bleurt(tmp_path):
    folder = tiny_text.folder(tmp_path / "three", tiny_text.bert(labels=3))
    [result] = scored(Bleurt(str(folder)), PAIRS[0])
    assert result.status is Status.ERROR
    assert "gives 3 numbers a pair" in result.detail
