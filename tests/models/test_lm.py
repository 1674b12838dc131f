"""Texts read by a language model: contexts, windows, marks, repeats; frequencies of tokens."""

import copy
import math
from collections import Counter

import numpy as np
import pytest

from experiments.training.lm import write_unigrams
from tests.models import tiny
from tstmeta.models import lm
from tstmeta.models.causal import Continuation
from tstmeta.schema import TstmetaError

TEXTS = ["the soup was cold", "the soup was warm", "so", "we were told", "the soup was cold"]
LONG = " ".join(tiny.PROSE[:3] * 4)


def ids(engine, text):
    return tuple(engine.tokenizer(text, add_special_tokens=False)["input_ids"])


def by_the_book(engine, context, tokens):
    return tiny.oracle(engine.model, Continuation(context, tokens)).sum()


def test_a_text_is_read_after_the_mark_of_a_beginning_and_not_to_its_end(kind):
    engine = tiny.engine(kind)
    start = engine.tokenizer.eos_token_id
    for text, reading in zip(TEXTS, lm.Reader(engine).read(TEXTS), strict=True):
        tokens = ids(engine, text)
        assert reading.tokens == tokens
        assert reading.logprob == pytest.approx(by_the_book(engine, (start,), tokens), abs=1e-4)
        assert (reading.words, reading.length) == (len(text.split()), len(tokens))


def test_the_mark_of_a_beginning_goes_before_that_of_an_end_and_none_is_refused():
    llama = tiny.engine("llama")
    llama.tokenizer = copy.deepcopy(llama.tokenizer)
    assert lm.Reader(llama).read([""]) == ["no token"]
    llama.tokenizer.bos_token = "<|begin_of_text|>"
    assert lm.Reader(llama).start == llama.tokenizer.bos_token_id
    llama.tokenizer.bos_token = llama.tokenizer.eos_token = None
    with pytest.raises(TstmetaError, match="no token that begins or ends a text"):
        lm.Reader(llama)


def test_beyond_the_window_only_the_first_part_is_read_and_counted():
    gpt2 = tiny.engine("gpt2")
    tokens = ids(gpt2, LONG)
    (reading,) = lm.Reader(gpt2).read([LONG])
    wanted = by_the_book(gpt2, (gpt2.tokenizer.eos_token_id,), tokens[: tiny.WINDOW])
    assert reading.logprob == pytest.approx(wanted, abs=1e-3)
    assert len(reading.tokens) == tiny.WINDOW < reading.length == len(tokens)
    part = gpt2.tokenizer.decode(tokens[: tiny.WINDOW])
    assert reading.words == len(part.split()) < len(LONG.split())


def test_frequencies_are_smoothed_by_one_and_survive_the_file(tmp_path):
    tokenizer = tiny.tokenizer("gpt2")
    texts, path = ["the the soup", "the"], tmp_path / "unigrams.csv"
    write_unigrams(path, texts, tokenizer)
    counts = Counter(token for text in texts for token in tokenizer(text)["input_ids"])
    unigrams = lm.read_unigrams(path, 320)
    wanted = [math.log((counts[token] + 1) / (sum(counts.values()) + 320)) for token in range(320)]
    assert unigrams.tolist() == pytest.approx(wanted)
    assert np.exp(unigrams).sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,count\n", "no token is counted"),
        (b"id,count\n9,2\n", "row 1, column id: bad value '9'.*a whole number from 0 to 8"),
    ],
)
def test_faults_of_a_file_of_frequencies_are_named_with_the_row(tmp_path, content, words):
    path = tmp_path / "mine.csv"
    path.write_bytes(content)
    with pytest.raises(TstmetaError, match=rf"(?s)mine.csv.*{words}"):
        lm.read_unigrams(path, 9)
