"""TextCNN: its answers by hand, whatever stands beside a text in a batch."""

import numpy as np
import pytest
import torch

from tstmeta.models.classifiers import FILE, About, Task, read_about
from tstmeta.models.textcnn import WIDTHS, WINDOW, TextCnn, Vocabulary, network, padded, vocabulary

KNOWN = ["warm", "cold", "rain"]
TEXTS = ["warm rain", "cold cold cold , warm rain or cold", "no", "warm"]


@pytest.fixture
def cnn():
    about = About(
        "textcnn", (Task("t", ("a", "b")),), False, {"vocabulary": KNOWN, "vector": 6, "maps": 5}
    )
    return TextCnn(about, network(len(KNOWN), 2, seed=3, vector=6, maps=5))


def by_hand(model, ids):
    """Logits of one text with loops, in float64; windows reach over the end into zeros."""
    weights = {
        name: value.detach().numpy().astype(float) for name, value in model.named_parameters()
    }
    rows = np.concatenate([weights["vectors.weight"][ids], np.zeros((max(WIDTHS) - 1, 6))])
    best = []
    for place, width in enumerate(WIDTHS):
        filters, bias = weights[f"filters.{place}.weight"], weights[f"filters.{place}.bias"]
        answers = [
            [(filters[k] * rows[start : start + width].T).sum() + bias[k] for k in range(5)]
            for start in range(len(ids))
        ]
        best += list(np.maximum(0, np.max(answers, axis=0)))
    return weights["out.weight"] @ np.array(best) + weights["out.bias"]


def test_logits_are_those_of_a_hand_computation(cnn):
    encoder = Vocabulary(KNOWN)
    wanted = [by_hand(cnn.model, encoder.ids(text)) for text in TEXTS]
    assert cnn.logits(TEXTS, 0).values == pytest.approx(np.array(wanted), abs=1e-5)


def test_neighbours_order_and_padding_change_nothing(cnn):
    alone = np.concatenate([cnn.logits([text], 0).values for text in TEXTS])
    beside = cnn.logits([*TEXTS, "rain " * 300], 0).values[: len(TEXTS)]
    back = cnn.logits(TEXTS[::-1], 0).values[::-1]
    assert np.abs(alone - beside).max() < 1e-5
    assert np.abs(alone - back).max() < 1e-5


def test_a_long_text_is_cut_and_says_so(cnn):
    words = WINDOW + 100
    values, cut = cnn.logits(["warm " * words, "warm " * WINDOW], 0)
    assert cut == [f"{words} words, first {WINDOW} used", ""]
    assert values[0] == pytest.approx(values[1])


def test_the_vocabulary_holds_what_comes_twice_the_most_frequent_first():
    texts = ["b a b", "a c b", "d"]
    assert vocabulary(texts) == ["b", "a"]
    assert vocabulary(texts, least=1, most=3) == ["b", "a", "c"]


def test_words_that_nobody_knows_share_a_number_and_every_text_has_one():
    encoder = Vocabulary(KNOWN)
    assert encoder.ids("warm snow ice") == [2, 1, 1]
    assert encoder.ids("") == [1]
    ids, lengths = padded([[2, 3], [4]])
    assert ids.tolist() == [[2, 3], [4, 0]]
    assert lengths.tolist() == [2, 1]


def test_weights_follow_the_seed_and_leave_the_random_state_alone():
    before = torch.random.get_rng_state()
    same = [network(3, 2, seed, 6, 5).out.weight for seed in (1, 1, 2)]
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(same[0], same[1])
    assert not torch.equal(same[0], same[2])


def test_what_was_written_is_read_again_with_the_same_answers(cnn, tmp_path):
    cnn.write(tmp_path)
    again = TextCnn.read(tmp_path / FILE, read_about(tmp_path / FILE))
    assert again.about == cnn.about
    assert (again.logits(TEXTS, 0).values == cnn.logits(TEXTS, 0).values).all()
