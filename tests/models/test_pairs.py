"""Classifiers of texts and pairs: batches change nothing, long rows are cut and counted."""

import numpy as np
import pytest
import torch

from tests.models import tiny_text
from tstmeta.models import pairs
from tstmeta.models.causal import MissingModel, backbone
from tstmeta.models.pairs import PairClassifier

ROWS = [
    ("the baker opened the shop", "the shop was opened"),
    ("we were told", "京都 こんにちは, and then the train would leave from the other platform"),
    ("so", "no"),
    ("the soup was cold and the waiter rude", "x"),
    ("Grüße aus Köln!", "ça va?"),
]
LONG = ("the last loaf before noon " * 2000, "short")


def classifier(labels=1, **options):
    return PairClassifier(*tiny_text.bert(labels=labels), **options)


def plainly(model, tokenizer, row, **options):
    """One row by the library, called in the obvious way: no batch, no padding."""
    with torch.inference_mode():
        return model(**tokenizer(*row, return_tensors="pt", **options)).logits[0].numpy()


@pytest.mark.parametrize("labels", [1, 3])
def test_logits_are_the_librarys_for_each_row_alone(labels):
    both = tiny_text.bert(labels=labels)
    found = PairClassifier(*both).judge(ROWS)
    expected = np.array([plainly(*both, row) for row in ROWS])
    np.testing.assert_allclose(found.logits, expected, atol=1e-5)
    assert np.ptp(expected, axis=0).min() > 0.01, "the tiny model must tell rows apart"


@pytest.mark.parametrize("budget", [1, 40, 10_000])
def test_batch_order_and_padding_do_not_change_a_logit(budget):
    alone = np.concatenate([classifier().judge([row]).logits for row in ROWS])
    order = [3, 0, 4, 2, 1, 0]
    mixed = classifier(budget=budget).judge([ROWS[place] for place in order])
    np.testing.assert_allclose(mixed.logits, alone[order], atol=1e-5)


def test_single_texts_and_pairs_go_together():
    both = tiny_text.bert()
    rows = [("the baker",), ("the baker", "the shop"), ("so",)]
    expected = np.array([plainly(*both, row) for row in rows])
    np.testing.assert_allclose(classifier().judge(rows).logits, expected, atol=1e-5)


def test_equal_rows_are_computed_once():
    model, tokenizer = tiny_text.bert()
    seen = []
    handle = model.register_forward_pre_hook(
        lambda _, args, kwargs: seen.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    found = PairClassifier(model, tokenizer).judge([ROWS[0], ROWS[1], ROWS[0]])
    handle.remove()
    assert sum(seen) == 2
    assert found.logits[0] == found.logits[2]


def test_a_row_beyond_the_window_is_cut_as_the_library_cuts_it_and_counted():
    both = tiny_text.bert()
    found = PairClassifier(*both).judge([ROWS[0], LONG, ("", "")])
    expected = plainly(*both, LONG, truncation="longest_first", max_length=tiny_text.WINDOW)
    np.testing.assert_allclose(found.logits[1], expected, atol=1e-5)
    assert found.tokens[1] > 10_000
    assert found.tokens[0] < tiny_text.WINDOW
    assert found.tokens[2] == 3


def test_a_text_that_spells_a_control_token_is_read_as_letters():
    found = classifier().judge([("a", "b [SEP] c"), ("a", "b")])
    assert found.tokens[0] - found.tokens[1] > 4
    model, tokenizer = tiny_text.bert()
    read = PairClassifier(model, tokenizer)._read([("a", "b [SEP] c")])[0]["input_ids"]
    assert read.count(tokenizer.sep_token_id) == 2


def test_nothing_gives_nothing():
    found = classifier(labels=3).judge([])
    assert found.logits.shape == (0, 3)
    assert found.tokens.shape == (0,)


@pytest.mark.parametrize(
    ("lengths", "budget", "expected"),
    [
        ([], 4, []),
        ([1, 3, 2], 4, [[1], [2, 0]]),
        ([9, 1, 1, 1], 2, [[0], [1, 2], [3]]),
        ([2, 2, 2], 100, [[0, 1, 2]]),
        ([0, 0], 1, [[0], [1]]),
    ],
)
def test_batches_are_sorted_by_length_and_keep_to_the_budget(lengths, budget, expected):
    assert list(pairs.batches(lengths, budget)) == expected


@pytest.mark.parametrize(
    ("kind", "said", "window"),
    [("bert", 48, 48), ("bert", 10**30, 50), ("bert", 200, 50), ("xlm-roberta", 10**30, 48)],
)
def test_the_window_is_the_least_of_what_positions_and_tokenizer_allow(kind, said, window):
    class Config:
        model_type = kind
        max_position_embeddings = 50
        pad_token_id = 1

    class Tokenizer:
        model_max_length = said

    assert pairs.longest(Config, Tokenizer) == window


def test_a_model_is_read_from_a_folder(tmp_path):
    folder = tiny_text.folder(tmp_path / "bert", tiny_text.bert(labels=3))
    found = pairs.load(backbone(str(folder)), device="cpu").judge(ROWS)
    np.testing.assert_allclose(found.logits, classifier(labels=3).judge(ROWS).logits, atol=1e-5)


def test_a_folder_with_pickled_weights_is_not_read(tmp_path):
    folder = tiny_text.folder(tmp_path / "bert", tiny_text.bert())
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(MissingModel, match=r"needs config\.json, the tokenizer's files and"):
        pairs.load(backbone(str(folder)), device="cpu")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_cpu_and_gpu_agree():
    model, tokenizer = tiny_text.bert.__wrapped__()
    there = PairClassifier(model.to("cuda"), tokenizer).judge(ROWS)
    np.testing.assert_allclose(there.logits, classifier().judge(ROWS).logits, atol=1e-5)
