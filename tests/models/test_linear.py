"""The linear model: features of any script, weights kept and read, logits of 2 and 3 styles."""

import numpy as np
import pytest

from tstmeta.models.classifiers import FILE, About, Task, read_about, softmax
from tstmeta.models.linear import Linear, features, words


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't STOP!!", ["don't", "stop", "!", "!"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),
        ("আমি ভালো", ["আমি", "ভালো"]),
        ("_num_ 3.5", ["_num_", "3", ".", "5"]),
        (" ", []),
    ],
)
def test_words_keep_their_marks_and_punctuation_counts(text, tokens):
    assert words(text) == tokens


def test_each_half_of_a_row_has_length_one_and_knows_no_other_row():
    table = features(["a warm day", "rain"], 8)
    assert table.shape == (2, 256)
    halves = table.toarray().reshape(2, 2, 128)
    assert np.linalg.norm(halves, axis=2) == pytest.approx(1)
    assert (features(["rain"], 8) != table[1]).nnz == 0


def model(regression=False):
    rng = np.random.default_rng(0)
    tasks = (Task("two", ("a", "b")), Task("three", ("c", "d", "e"), temperature=2.0))
    if regression:
        tasks = tasks[:1]
    rows = [1, 3][: len(tasks)]
    weights = [rng.normal(size=(k, 256)).astype(np.float32) for k in rows]
    return Linear(
        About("linear", tasks, regression, {"bits": 8}), weights, [rng.normal(size=k) for k in rows]
    )


def test_logits_are_weights_times_features_and_bias():
    linear = model()
    dense = features(["warm rain", "cold"], 8).toarray()
    for task in (0, 1):
        wanted = dense @ linear.weights[task].T.astype(float) + linear.bias[task]
        values, cut = linear.logits(["warm rain", "cold"], task)
        assert cut == ["", ""]
        assert values[:, -wanted.shape[1] :] == pytest.approx(wanted)
        if task == 0:  # one number tells two styles apart
            assert softmax(values)[:, 1] == pytest.approx(1 / (1 + np.exp(-wanted[:, 0])))


def test_what_was_written_is_read_again_with_the_same_answers(tmp_path):
    for regression in (False, True):
        linear = model(regression)
        linear.write(tmp_path)
        again = Linear.read(tmp_path / FILE, read_about(tmp_path / FILE))
        assert again.about == linear.about
        texts = ["warm rain", "no", "😀 " * 3000]
        assert (again.logits(texts, 0).values == linear.logits(texts, 0).values).all()
        bytes_before = (tmp_path / FILE).read_bytes()
        again.write(tmp_path)
        assert (tmp_path / FILE).read_bytes() == bytes_before


def test_no_texts_give_no_logits():
    assert model().logits([], 1).values.shape == (0, 3)
    assert model(True).logits([], 0).values.shape == (0, 1)
