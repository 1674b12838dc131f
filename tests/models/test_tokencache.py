"""What a model said, kept: keys, bytes, damage, and runs that were killed."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models import tiny
from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.tokencache import Cached, key_of
from tstmeta.schema import TstmetaError

#: A model that answers at once, out of the request alone, and notes what it computed.
MODEL = '''
import sys, time
import numpy as np
from tstmeta.models.causal import Continuation

class Fake:
    """Batches of five; like the engine it computes a batch of which anything is wanted."""

    window, vocabulary, tokenizer = 100, 10, None

    def __init__(self, identity="fake", pause=0.0, log=None):
        self.identity, self.pause, self.log = identity, pause, log
        self.calls = []

    def logprobs(self, requests, *, known=(), progress=False):
        for a in range(0, len(requests), 5):
            places = [place for place in range(a, min(a + 5, len(requests)))]
            if all(place in known for place in places):
                continue
            self.calls.append(a)
            if self.log:
                with open(self.log, "a") as log:
                    log.write(f"{a}\\n")
            time.sleep(self.pause)
            yield [(place, self.value(requests[place])) for place in places if place not in known]

    def value(self, request):
        rng = np.random.default_rng([*request.context, *request.tokens])
        return -rng.exponential(size=len(request.tokens)).astype(np.float32)

def asked(count=60):
    return [Continuation((i % 7, i), tuple(range(i % 4))) for i in range(count)]
'''
SCRIPT = (
    MODEL
    + """
from pathlib import Path
from tstmeta.models.tokencache import Cached
folder, log = Path(sys.argv[1]), sys.argv[2]
print(sum(len(batch) for batch in Cached(Fake(pause=0.02, log=log), folder).logprobs(asked())))
"""
)
space: dict = {}
exec(MODEL, space)
Fake, asked = space["Fake"], space["asked"]


def table(folder):
    [path] = folder.glob("*.parquet")
    return path.read_bytes()


def interrupted(cached, requests, after):
    """Take so many batches and go away, as a run that is stopped does."""
    batches = cached.logprobs(requests)
    for _, _batch in zip(range(after), batches, strict=False):
        pass
    batches.close()


# -------------------------------------------------------------------------------- what is kept


def test_what_was_said_once_is_not_asked_again(tmp_path):
    model, requests = Fake(), asked()
    fresh = tiny.answers(Cached(model, tmp_path), requests)
    assert len(model.calls) == 12
    for _ in range(2):
        kept = tiny.answers(Cached(model, tmp_path), requests)
        assert [one.tobytes() for one in kept] == [one.tobytes() for one in fresh]
    assert len(model.calls) == 12
    assert [one.tobytes() for one in fresh] == [model.value(r).tobytes() for r in requests]


def test_only_what_is_new_is_asked(tmp_path):
    model = Fake()
    tiny.answers(Cached(model, tmp_path), asked(20))
    tiny.answers(Cached(model, tmp_path), asked(40))
    assert model.calls == [0, 5, 10, 15, 20, 25, 30, 35]


def test_an_answer_holds_in_another_order_and_for_equal_requests(tmp_path):
    model, requests = Fake(), asked(10)
    fresh = tiny.answers(Cached(model, tmp_path), requests)
    again = [*requests[::-1], requests[3], requests[3]]
    kept = tiny.answers(Cached(model, tmp_path), again)
    assert tiny.distance(kept, [*fresh[::-1], fresh[3], fresh[3]]) == 0
    assert model.calls == [0, 5]


def test_places_that_are_known_get_no_answer(tmp_path):
    model, requests = Fake(), asked(20)
    cached = Cached(model, tmp_path)
    assert sum(len(batch) for batch in cached.logprobs(requests, known=range(10))) == 10
    assert model.calls == [10, 15]
    found = dict(one for batch in cached.logprobs(requests, known={0, 12}) for one in batch)
    assert sorted(found) == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, *range(13, 20)]


def test_it_is_a_language_model_as_the_one_within(tmp_path):
    cached = Cached(Fake(), tmp_path)
    assert isinstance(cached, LanguageModel)
    assert (cached.identity, cached.window, cached.vocabulary, cached.tokenizer) == (
        *("fake", 100, 10),
        None,
    )


@given(*2 * [st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple)] * 2)
def test_keys_differ_exactly_when_requests_do(context, tokens, other, others):
    one, two = Continuation(context, tokens), Continuation(other, others)
    assert (key_of(one) == key_of(two)) == (one == two)


def test_where_the_context_ends_is_part_of_the_key():
    assert key_of(Continuation((1, 2), (3,))) != key_of(Continuation((1,), (2, 3)))
    assert key_of(Continuation((1,), ())) != key_of(Continuation((1, 0), ()))


def test_each_identity_has_a_file_of_its_own(tmp_path):
    names = ["hub/id@a|float32|sdpa", "hub/id@a|float32|eager", "hub/id@b|float32|sdpa"]
    names += ["hub-id@a|float32|sdpa", "hub/id@a|float32|sdpa".upper(), "x" * 300, "../../évil"]
    for name in names:
        model = Fake(name)
        tiny.answers(Cached(model, tmp_path), asked(5))
        assert model.calls == [0]
    assert len(list(tmp_path.glob("*.parquet"))) == len(names)
    assert {path.parent for path in tmp_path.rglob("*")} == {tmp_path}
    # names of files differ by more than case, for some file systems do not tell case apart
    assert len({path.name.lower() for path in tmp_path.glob("*.parquet")}) == len(names)


def test_the_table_is_sorted_and_says_each_thing_once(tmp_path):
    requests = asked(30)
    tiny.answers(Cached(Fake(), tmp_path), [*requests, *requests])
    [path] = tmp_path.glob("*.parquet")
    read = pq.read_table(path).to_pydict()
    assert read["key"] == sorted({key_of(request) for request in requests})
    by_key = {key_of(request): Fake().value(request) for request in requests}
    for key, values in zip(read["key"], read["logprobs"], strict=True):
        assert np.float32(values).tobytes() == by_key[key].tobytes()
    assert not list(tmp_path.glob("*.journal"))


# ------------------------------------------------------------------------------------- the bytes


@settings(max_examples=20)
@given(st.lists(st.integers(0, 14), max_size=4))
def test_however_often_a_run_is_stopped_the_bytes_are_the_same(tmp_path_factory, stops):
    whole, parts = (tmp_path_factory.mktemp(name) for name in ("whole", "parts"))
    tiny.answers(Cached(Fake(), whole), asked())
    for after in stops:
        interrupted(Cached(Fake(), parts), asked(), after)
    tiny.answers(Cached(Fake(), parts), asked())
    assert table(whole) == table(parts)


def test_thousands_of_answers_in_many_runs_are_the_same_bytes_too(tmp_path):
    # enough for more than one page of a Parquet column
    requests = [Continuation((i,), tuple(range(i % 9))) for i in range(6000)]
    tiny.answers(Cached(Fake(), tmp_path / "whole"), requests)
    for count in (1, 700, 3333, 6000):
        tiny.answers(Cached(Fake(), tmp_path / "parts"), requests[:count])
    assert table(tmp_path / "whole") == table(tmp_path / "parts")


@pytest.mark.parametrize("reuse", [True, False])
def test_two_runs_of_a_real_model_and_one_that_was_stopped_give_the_same_bytes(tmp_path, reuse):
    requests = tiny.draw(0, count=48)
    for name, stops in [("one", []), ("two", []), ("cut", [1, 3, 2])]:
        for after in stops:
            model = tiny.engine("llama", budget=64, row_tokens=32, reuse=reuse)
            interrupted(Cached(model, tmp_path / name), requests, after)
        model = tiny.engine("llama", budget=64, row_tokens=32, reuse=reuse)
        found = tiny.answers(Cached(model, tmp_path / name), requests)
        truth = [tiny.oracle(model.model, request) for request in requests]
        assert tiny.distance(found, truth) < 1e-4
    assert table(tmp_path / "one") == table(tmp_path / "two") == table(tmp_path / "cut")


# ------------------------------------------------------------------------------------ the killed


def start(folder, log):
    command = [sys.executable, "-c", SCRIPT, str(folder), str(log)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def lines(path):
    return path.read_text().splitlines() if path.is_file() else []


@pytest.mark.nightly
def test_a_killed_run_goes_on_where_it_stopped(tmp_path):
    log, runs = tmp_path / "log", 0
    for begun in (1, 4, 9):
        process, deadline = start(tmp_path / "cut", log), time.monotonic() + 60
        while len(lines(log)) < begun + runs:
            assert process.poll() is None, "it ended before it was killed"
            assert time.monotonic() < deadline
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        runs += 1
    said, _ = start(tmp_path / "cut", log).communicate(timeout=60)
    assert said == "60\n"
    times = Counter(lines(log))
    assert len(times) == 12
    assert sum(times.values()) <= 12 + runs  # no batch twice but those that were in flight

    tiny.answers(Cached(Fake(), tmp_path / "whole"), asked())
    assert table(tmp_path / "whole") == table(tmp_path / "cut")
    assert not list((tmp_path / "cut").glob("*.journal"))


@pytest.mark.parametrize(
    "step", ["pyarrow.parquet.write_table", "os.replace", "pathlib.Path.unlink"]
)
def test_a_run_that_dies_while_it_writes_the_table_loses_nothing(tmp_path, monkeypatch, step):
    class Killed(BaseException):
        pass

    def die(*args, **options):
        raise Killed

    model = Fake()
    with monkeypatch.context() as patch:
        patch.setattr(step, die)
        with pytest.raises(Killed):
            tiny.answers(Cached(model, tmp_path / "cut"), asked())
    tiny.answers(Cached(model, tmp_path / "cut"), asked())
    assert len(model.calls) == 12
    tiny.answers(Cached(Fake(), tmp_path / "whole"), asked())
    assert table(tmp_path / "whole") == table(tmp_path / "cut")
    left = {path.suffix for path in (tmp_path / "cut").iterdir()}
    assert left <= {".parquet", ".lock"}


def journal_of(folder, batches=8):
    """The journal that a run left which was stopped after so many batches."""
    cached = Cached(Fake(), folder)
    interrupted(cached, asked(), batches)
    return cached.journal


@pytest.mark.parametrize("cut", [1, 2, 10, 40, 100])
def test_a_last_line_that_was_cut_is_asked_again(tmp_path, cut):
    journal = journal_of(tmp_path / "cut")
    os.truncate(journal, journal.stat().st_size - cut)
    model = Fake()
    tiny.answers(Cached(model, tmp_path / "cut"), asked())
    assert 12 - 8 < len(model.calls) <= 12 - 8 + 4
    tiny.answers(Cached(Fake(), tmp_path / "whole"), asked())
    assert table(tmp_path / "whole") == table(tmp_path / "cut")


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b"17",
        b'["only a key"]',
        b'["key", "no base64"]',
        b'["k", "QQ=="]',
    ],
)
def test_a_damaged_line_is_asked_again_and_no_other(tmp_path, damage):
    journal = journal_of(tmp_path / "cut")
    before = journal.read_bytes().split(b"\n")
    before[7] = damage
    journal.write_bytes(b"\n".join(before))
    model = Fake()
    tiny.answers(Cached(model, tmp_path / "cut"), asked())
    assert model.calls == [5, *range(35, 60, 5)]
    tiny.answers(Cached(Fake(), tmp_path / "whole"), asked())
    assert table(tmp_path / "whole") == table(tmp_path / "cut")


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing", b"\0" * 1000])
def test_a_table_that_cannot_be_read_is_an_error_that_says_so(tmp_path, content):
    cached = Cached(Fake(), tmp_path)
    tiny.answers(cached, asked())
    cached.table.write_bytes(content)
    with pytest.raises(TstmetaError, match=r"fake.*parquet cannot be read .* delete it"):
        tiny.answers(cached, asked())
    cached.table.unlink()
    assert len(tiny.answers(cached, asked())) == 60


def test_a_table_of_something_else_is_an_error_that_says_so(tmp_path):
    cached = Cached(Fake(), tmp_path)
    pq.write_table(pa.table({"a": [1]}), cached.table)
    with pytest.raises(TstmetaError, match=r"cannot be read .* delete it"):
        tiny.answers(cached, asked())


@pytest.mark.parametrize(
    ("answer", "said"),
    [(lambda n: np.zeros(n + 1), "values for"), (lambda n: np.full(n, 0.5), "none is above 0")],
)
def test_an_answer_that_cannot_be_one_is_refused_and_not_kept(tmp_path, answer, said):
    class Wrong(Fake):
        def logprobs(self, requests, **options):
            for batch in super().logprobs(requests, **options):
                yield [(place, answer(len(requests[place].tokens))) for place, _ in batch]

    with pytest.raises(TstmetaError, match=said):
        tiny.answers(Cached(Wrong(), tmp_path), asked())
    model = Fake()
    assert len(tiny.answers(Cached(model, tmp_path), asked())) == 60
    assert len(model.calls) == 12


def test_a_model_that_fails_keeps_what_it_said_before(tmp_path):
    class Failing(Fake):
        def logprobs(self, requests, **options):
            for batch in super().logprobs(requests, **options):
                if len(self.calls) > 3:
                    raise TstmetaError("no more")
                yield batch

    with pytest.raises(TstmetaError, match="no more"):
        tiny.answers(Cached(Failing(), tmp_path), asked())
    model = Fake()
    tiny.answers(Cached(model, tmp_path), asked())
    assert model.calls == list(range(15, 60, 5))
