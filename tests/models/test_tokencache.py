"""Log-probabilities that are kept: keys, bytes, damage, and runs that were killed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import tiny
from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.tokencache import Cached, key_of
from tstmeta.schema import TstmetaError


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


def table(folder):
    [path] = folder.glob("*.parquet")
    return path.read_bytes()


def whole(tmp_path):
    """The table of a run that nobody stopped."""
    tiny.answers(Cached(Fake(), tmp_path / "whole"), drawn())
    return table(tmp_path / "whole")


def interrupted(cached, requests, after):
    """Take so many batches and go away, as a run that is stopped does."""
    batches = cached.logprobs(requests)
    for _, _batch in zip(range(after), batches, strict=False):
        pass
    batches.close()
    return cached.journal.path


# -------------------------------------------------------------------------------- what is kept


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


def test_the_names_of_keys_and_files_stay_as_they_are(tmp_path, monkeypatch):
    monkeypatch.setattr("tstmeta.models.tokencache.version", lambda package: "1.2.3")
    assert key_of(Continuation((1, 2), (3,))) == "ffb94601c10ebf3a2ebf9ae3db6b19b8"
    assert key_of(Continuation((1,), (2, 3))) != key_of(Continuation((1, 2), (3,)))
    assert (
        Cached(Fake("hub/id@a|float32|sdpa"), tmp_path).table.name
        == "hub-id-a-float32-sdpa-ffcdae30bf9195b5.parquet"
    )


def test_each_identity_has_a_file_of_its_own(tmp_path):
    names = ["hub/id@a|float32|sdpa", "hub/id@b|float32|sdpa", "hub-id@a|float32|sdpa"]
    names += ["hub/id@a|float32|sdpa".upper(), "x" * 300, "../../évil"]
    for name in names:
        model = Fake(name)
        tiny.answers(Cached(model, tmp_path), drawn(5))
        assert model.calls == [0]
    assert {path.parent for path in tmp_path.rglob("*")} == {tmp_path}
    # names of files differ by more than case, for some file systems do not tell case apart
    assert len({path.name.lower() for path in tmp_path.glob("*.parquet")}) == len(names)


# ------------------------------------------------------------------------------------- the bytes


@settings(max_examples=20)
@given(st.lists(st.integers(0, 14), max_size=4))
def test_however_often_a_run_is_stopped_the_bytes_are_the_same(tmp_path_factory, stops):
    folder = tmp_path_factory.mktemp("runs")
    for after in stops:
        interrupted(Cached(Fake(), folder / "parts"), drawn(), after)
    tiny.answers(Cached(Fake(), folder / "parts"), drawn())
    assert table(folder / "parts") == whole(folder)


# ------------------------------------------------------------------------------------ the killed


@pytest.mark.parametrize("damage", [b"17", b'["key"]', b'["key", "no base64"]'])
def test_a_damaged_line_is_computed_again_and_no_other(tmp_path, damage):
    journal = interrupted(Cached(Fake(), tmp_path / "cut"), drawn(), 8)
    before = journal.read_bytes().split(b"\n")
    before[7] = damage
    journal.write_bytes(b"\n".join(before))
    model = Fake()
    tiny.answers(Cached(model, tmp_path / "cut"), drawn())
    assert model.calls == [5, *range(35, 60, 5)]
    assert table(tmp_path / "cut") == whole(tmp_path)


@pytest.mark.parametrize(
    ("answer", "words"),
    [(lambda n: np.zeros(n + 1), "values for"), (lambda n: np.full(n, 0.5), "none is above 0")],
)
def test_an_answer_that_cannot_be_right_is_refused_and_not_kept(tmp_path, answer, words):
    class Wrong(Fake):
        def logprobs(self, requests, **options):
            for batch in super().logprobs(requests, **options):
                yield [(place, answer(len(requests[place].tokens))) for place, _ in batch]

    with pytest.raises(TstmetaError, match=words):
        tiny.answers(Cached(Wrong(), tmp_path), drawn())
    model = Fake()
    tiny.answers(Cached(model, tmp_path), drawn())
    assert len(model.calls) == 12
