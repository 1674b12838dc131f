"""Log-probabilities that are kept: keys, bytes, damage, and runs that were killed."""

import sqlite3
from contextlib import closing
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import tiny
from tests.scored import contents
from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.tokencache import Cached, key_of
from tstmeta.schema import TstmetaError
from tstmeta.store import FILE


class Fake:
    """Answers at once, out of the request alone; like the engine it computes whole batches."""

    window, vocabulary, tokenizer = 100, 10, None

    def __init__(self, identity="fake"):
        self.identity, self.calls = identity, []

    def logprobs(self, requests, *, known=(), progress=False):
        for start in range(0, len(requests), 5):
            places = range(start, min(start + 5, len(requests)))
            if all(place in known for place in places):
                continue
            self.calls.append(start)
            yield [(place, self.value(requests[place])) for place in places if place not in known]

    def value(self, request):
        rng = np.random.default_rng([*request.context, *request.tokens])
        return -rng.exponential(size=len(request.tokens)).astype(np.float32)


def drawn(count=60):
    return [Continuation((i % 7, i), tuple(range(1 + i % 4))) for i in range(count)]


def test_what_was_answered_once_is_not_computed_again_and_keeps_its_bytes(tmp_path):
    model, requests = Fake(), drawn(40)
    tiny.answers(Cached(model, tmp_path), requests[:20])
    wanted = [model.value(request).tobytes() for request in requests]
    assert isinstance(Cached(model, tmp_path), LanguageModel)
    for _ in range(2):
        answers = tiny.answers(Cached(model, tmp_path), requests)
        assert [values.tobytes() for values in answers] == wanted
    again = tiny.answers(Cached(model, tmp_path), [*requests[::-1], requests[3]])
    assert [values.tobytes() for values in again] == [*wanted[::-1], wanted[3]]
    assert model.calls == [0, 5, 10, 15, 20, 25, 30, 35]
    other = Fake("other")
    batches = Cached(other, tmp_path).logprobs(requests[:20], known=range(10))
    assert sum(len(batch) for batch in batches) == 10
    assert other.calls == [10, 15]


def test_keys_stay_as_they_are():
    assert key_of(Continuation((1, 2), (3,))) == "ffb94601c10ebf3a2ebf9ae3db6b19b8"
    assert key_of(Continuation((1,), (2, 3))) != key_of(Continuation((1, 2), (3,)))


def test_no_identity_is_answered_by_another(tmp_path):
    names = ["hub/id@a|float32|sdpa", "hub-id@a|float32|sdpa", "x" * 300, "../../évil"]
    for name in names:
        model = Fake(name)
        tiny.answers(Cached(model, tmp_path), drawn(5))
        assert model.calls == [0]
    assert len(contents(tmp_path)["tokens"]) == 5 * len(names)


@settings(max_examples=20)
@given(st.lists(st.integers(0, 14), max_size=4))
def test_however_often_a_run_is_stopped_the_bytes_are_the_same(tmp_path_factory, stops):
    folder = tmp_path_factory.mktemp("runs")
    for after in stops:
        batches = Cached(Fake(), folder / "parts").logprobs(drawn())
        list(islice(batches, after))
        batches.close()
    for name in ("parts", "whole"):
        tiny.answers(Cached(Fake(), folder / name), drawn())
    assert contents(folder / "parts") == contents(folder / "whole")


def test_a_row_with_another_number_of_values_is_named_with_a_remedy(tmp_path):
    tiny.answers(Cached(Fake(), tmp_path), drawn())
    with closing(sqlite3.connect(tmp_path / FILE)) as file, file:
        file.execute("UPDATE tokens SET logprobs = x'00' WHERE key = ?", [key_of(drawn()[7])])
    with pytest.raises(TstmetaError, match=f"{FILE}: .*{key_of(drawn()[7])}.* Remedy: delete"):
        tiny.answers(Cached(Fake(), tmp_path), drawn())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda n: np.zeros(n + 1), "values for"),
        (lambda n: np.full(n, 0.5), "none is above 0"),
        (None, "left 60 of 60 requests out"),
    ],
)
def test_an_answer_that_cannot_be_right_is_refused_and_not_kept(tmp_path, answer, words):
    class Wrong(Fake):
        def logprobs(self, requests, **options):
            if answer:
                yield [(n, answer(len(request.tokens))) for n, request in enumerate(requests)]

    with pytest.raises(TstmetaError, match=words):
        tiny.answers(Cached(Wrong(), tmp_path), drawn())
    model = Fake()
    tiny.answers(Cached(model, tmp_path), drawn())
    assert len(model.calls) == 12
