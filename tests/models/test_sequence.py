"""Classifiers of pairs: batches change nothing, long pairs are cut and counted."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.models import tiny_text
from tstmeta.models import sequence
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.sequence import PairClassifier

PAIRS = [
    ("the baker opened the shop", "the shop was opened"),
    ("we were told", "京都 こんにちは, and then the train would leave from the other platform"),
    ("so", "no"),
    ("the soup was cold and the waiter rude", "x"),
    ("Grüße aus Köln!", "ça va?"),
]
LONG = ("the last loaf before noon " * 2000, "short")


def classifier(labels=1, **options):
    subject = PairClassifier(*tiny_text.bert(labels=labels))
    vars(subject).update(options)
    return subject


def plainly(model, tokenizer, pair, **options):
    """A pair by the library, called in the obvious way: no batch, no padding."""
    with torch.inference_mode():
        return model(**tokenizer(*pair, return_tensors="pt", **options)).logits[0].numpy()


@pytest.mark.parametrize("budget", [1, 40, 10_000])
@pytest.mark.parametrize("labels", [1, 3])
def test_logits_are_the_librarys_for_each_pair_alone_in_any_batch_and_order(labels, budget):
    wanted = np.array([plainly(*tiny_text.bert(labels=labels), pair) for pair in PAIRS])
    order = [3, 0, 4, 2, 1, 0]
    result = classifier(labels, budget=budget).judge([PAIRS[place] for place in order])
    np.testing.assert_allclose(result.logits, wanted[order], atol=1e-5)
    assert np.ptp(wanted, axis=0).min() > 0.01, "the tiny model must tell pairs apart"


def test_a_pair_beyond_the_window_is_cut_as_the_library_cuts_it_and_counted():
    result = classifier().judge([PAIRS[0], LONG, ("", "")])
    options = {"truncation": "longest_first", "max_length": tiny_text.WINDOW}
    wanted = plainly(*tiny_text.bert(), LONG, **options)
    np.testing.assert_allclose(result.logits[1], wanted, atol=1e-5)
    assert result.tokens[1] > 10_000
    assert result.tokens[0] < tiny_text.WINDOW
    assert result.tokens[2] == 3


def test_a_text_that_spells_a_control_token_is_read_as_letters():
    spelt, plain = classifier().judge([("a", "b [SEP] c"), ("a", "b")]).tokens
    assert spelt - plain > 4


@pytest.mark.parametrize(
    ("kind", "limit", "window"),
    [("bert", 48, 48), ("bert", 10**30, 50), ("bert", 200, 50), ("xlm-roberta", 10**30, 48)],
)
def test_the_window_is_the_least_of_what_positions_and_tokenizer_allow(kind, limit, window):
    config = SimpleNamespace(model_type=kind, max_position_embeddings=50, pad_token_id=1)
    assert sequence.longest(config, SimpleNamespace(model_max_length=limit)) == window


def test_a_model_is_read_from_a_folder_without_pickles(tmp_path):
    folder = tiny_text.folder(tmp_path / "bert", tiny_text.bert(labels=3))
    result = sequence.load(backbone(str(folder)), device="cpu").judge(PAIRS)
    np.testing.assert_allclose(result.logits, classifier(labels=3).judge(PAIRS).logits, atol=1e-5)
    sequence.load.cache_clear()
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(MissingModel, match=r"needs config\.json, the tokenizer's files and"):
        sequence.load(backbone(str(folder)), device="cpu")
