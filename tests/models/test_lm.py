"""Texts read by a language model: contexts, windows, marks, repeats; frequencies of tokens."""

import copy
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import tiny
from tstmeta.models import lm
from tstmeta.models.causal import Continuation
from tstmeta.schema import DataError

TEXTS = ["the soup was cold", "the soup was warm", "so", "we were told", "the soup was cold"]
LONG = " ".join(tiny.PROSE[:3] * 4)


def without_marks(kind="gpt2", **options):
    """An engine whose tokenizer has no token for a beginning or an end."""
    engine = tiny.engine(kind, **options)
    engine.tokenizer = copy.deepcopy(engine.tokenizer)
    engine.tokenizer.eos_token = None
    return engine


def ids(engine, text):
    return tuple(engine.tokenizer(text, add_special_tokens=False)["input_ids"])


def by_the_book(engine, context, tokens):
    return tiny.oracle(engine.model, Continuation(context, tokens)).sum()


@pytest.mark.parametrize("kind", tiny.KINDS)
def test_a_text_is_read_after_the_mark_of_a_beginning_and_not_to_its_end(kind):
    engine = tiny.engine(kind)
    start = engine.tokenizer.eos_token_id
    for text, reading in zip(TEXTS, lm.Reader(engine).read(TEXTS), strict=True):
        tokens = ids(engine, text)
        assert reading.tokens == tokens
        assert reading.logprob == pytest.approx(by_the_book(engine, (start,), tokens), abs=1e-4)
        assert (reading.words, reading.whole) == (len(text.split()), len(tokens))
        assert reading.used == reading.whole


def test_the_mark_of_a_beginning_goes_before_that_of_an_end():
    engine = tiny.engine("llama")
    engine.tokenizer = copy.deepcopy(engine.tokenizer)
    assert lm.Reader(engine).start == (engine.tokenizer.eos_token_id,)
    engine.tokenizer.bos_token = "<|begin_of_text|>"
    assert engine.tokenizer.bos_token_id != engine.tokenizer.eos_token_id
    assert lm.Reader(engine).start == (engine.tokenizer.bos_token_id,)


def test_without_a_mark_the_first_token_is_context_and_one_token_is_no_text():
    engine = without_marks()
    assert len(ids(engine, "s")) == 1
    long, short = lm.Reader(engine).read(["the soup was cold", "s"])
    first, *rest = ids(engine, "the soup was cold")
    assert long.tokens == tuple(rest)
    assert long.logprob == pytest.approx(by_the_book(engine, (first,), tuple(rest)), abs=1e-4)
    assert long.used == long.whole == len(rest) + 1
    assert short == lm.Unreadable("one token and no beginning-of-text token to foresee it from")


def test_order_neighbours_and_padding_change_nothing():
    texts = [*TEXTS, *tiny.PROSE, "a"]
    alone = [lm.Reader(tiny.engine("gpt2")).read([text])[0].logprob for text in texts]
    for padding in ("left", "right"):
        reader = lm.Reader(tiny.engine("gpt2", padding=padding, budget=40))
        found = reader.read(texts[::-1])[::-1]
        np.testing.assert_allclose([one.logprob for one in found], alone, rtol=0, atol=1e-4)


def test_a_text_that_comes_twice_is_read_once(monkeypatch):
    engine = tiny.engine("gpt2")
    asked = []
    answer = engine.logprobs

    def spied(requests, **options):
        asked.extend(requests)
        return answer(requests, **options)

    monkeypatch.setattr(engine, "logprobs", spied)
    lm.Reader(engine).read(TEXTS * 3)
    assert len(asked) == len(set(TEXTS))


def test_a_text_that_spells_a_mark_is_read_as_those_letters():
    engine = tiny.engine("gpt2")
    mark = engine.tokenizer.eos_token
    (reading,) = lm.Reader(engine).read([f"the soup {mark} was cold"])
    assert engine.tokenizer.eos_token_id not in reading.tokens
    assert engine.tokenizer.decode(reading.tokens) == f"the soup {mark} was cold"


@pytest.mark.parametrize("marks", [True, False])
def test_beyond_the_window_only_the_first_part_is_read_and_counted(marks):
    engine = tiny.engine("gpt2") if marks else without_marks()
    tokens = ids(engine, LONG)
    assert len(tokens) > tiny.WINDOW + 20
    (reading,) = lm.Reader(engine).read([LONG])
    context, scored = ((tokens[0],), tokens[1:]) if not marks else ((0,), tokens)
    if marks:
        context = (engine.tokenizer.eos_token_id,)
    wanted = by_the_book(engine, context, scored[: tiny.WINDOW])
    assert reading.logprob == pytest.approx(wanted, abs=1e-3)
    assert reading.used == tiny.WINDOW + (not marks) < reading.whole == len(tokens)
    part = engine.tokenizer.decode(tokens[: reading.used])
    assert reading.words == len(part.split()) < len(LONG.split())


def test_in_windows_a_long_text_is_read_whole():
    engine = tiny.engine("gpt2")
    (reading,) = lm.Reader(engine, strided=True).read([LONG])
    tokens = ids(engine, LONG)
    assert reading.tokens == tokens
    assert reading.used == reading.whole
    assert reading.words == len(LONG.split())
    half = tiny.WINDOW // 2
    wanted = by_the_book(engine, (engine.tokenizer.eos_token_id,), tokens[: tiny.WINDOW])
    at = tiny.WINDOW
    while at < len(tokens):  # each window begins half a window before its first scored token
        end = min(at + half + 1, len(tokens))
        wanted += by_the_book(engine, tokens[at - half : at], tokens[at:end])
        at = end
    assert reading.logprob == pytest.approx(wanted, abs=1e-3)


@given(st.integers(1, 200), st.integers(1, 40))
def test_windows_score_each_token_once_and_fit(length, window):
    tokens = tuple(range(1, length + 1))
    requests = lm._windows((0,), tokens, window)
    assert tuple(token for one in requests for token in one.tokens) == tokens
    for one in requests:
        assert one.tokens
        assert len(one.context) + len(one.tokens) - 1 <= window
    for one in requests[1:]:
        first = one.tokens[0]
        assert one.context == tuple(range(first - max(1, window // 2), first))


# ------------------------------------------------------------------------------ frequencies


def test_frequencies_are_smoothed_by_one_and_survive_the_file(tmp_path):
    tokenizer = tiny.tokenizer("gpt2")
    counts = lm.count_tokens(["the the soup", "the"], tokenizer)
    assert counts == Counter(tokenizer("the the soup")["input_ids"] + tokenizer("the")["input_ids"])
    path = tmp_path / "unigrams.csv"
    lm.write_unigrams(path, counts, tokenizer)
    found = lm.read_unigrams(path, 320)
    total = sum(counts.values())
    assert np.exp(found.logs).sum() == pytest.approx(1)
    for token in range(320):
        assert found.logs[token] == pytest.approx(math.log((counts[token] + 1) / (total + 320)))
    first, second = tokenizer("the soup")["input_ids"][:2]
    wanted = found.logs[first] * 2 + found.logs[second]
    assert found.logprob([first, second, first]) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "No such file"),
        ("id,count\n", "needs the columns id and count"),
        ("token,count\nx,1\n", "needs the columns id and count"),
        ("id,count\n1,2\n1,3\n", "row 2: id '1' is no token"),
        ("id,count\n9,2\n", "row 1: id '9' is no token of the model's 9"),
        ("id,count\n-1,2\n", "row 1: id '-1' is no token"),
        ("id,count\n1,0\n", "count '0' is no number above 0"),
        ("id,count\n1,many\n", "count 'many' is no number above 0"),
        ("id,count\n1\n", "count None is no number above 0"),
        (b"id,count\n\xff,1\n", "is no CSV in UTF-8"),
    ],
)
def test_faults_of_a_file_of_frequencies_are_told_with_the_row_and_the_remedy(
    tmp_path, content, said
):
    path = tmp_path / "mine.csv"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError) as error:
        lm.read_unigrams(path, 9)
    assert said in str(error.value)
    assert "tstmeta train lm" in str(error.value)
