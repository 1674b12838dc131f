"""The server backend against a real HTTP server with a tiny model: answers, windows, resuming."""

import json
import threading
import time

import pytest

from tests.models.server.asking import QUICK, answers, checked, same
from tests.models.server.fake_server import TEXTS
from tstmeta.models.causal import Continuation, LanguageModel, MissingModel
from tstmeta.models.prompts import WAYS
from tstmeta.models.server import ServerModel, connect
from tstmeta.models.tokencache import Cached
from tstmeta.models.wire import ServerError
from tstmeta.schema import TstmetaError

# ------------------------------------------------------------------------------ right answers


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("batch", "concurrent"), [(1, 1), (1, 4), (3, 2), (50, 4)])
def test_a_server_says_what_its_model_says(fake, engine, requests, way, batch, concurrent):
    fake.ways = (way,)
    model = checked(fake.url, "tiny", engine.tokenizer, batch=batch, concurrent=concurrent, **QUICK)
    assert model.way == way
    same(answers(model, requests), answers(engine, requests))
    assert fake.most_at_once <= concurrent


def test_it_is_a_language_model_that_does_not_tell_where_it_runs(fake, tokenizer):
    model = checked(fake.url, "tiny", tokenizer, label="bfloat16", **QUICK)
    assert isinstance(model, LanguageModel)
    assert model.identity == "tiny|server|bfloat16"
    assert model.vocabulary == len(tokenizer)


def test_a_server_that_dislikes_an_unknown_field_is_asked_the_older_way(fake, engine, requests):
    fake.strict, fake.ways = True, ("echo",)
    model = checked(fake.url, "tiny", engine.tokenizer, **QUICK)
    assert model.way == "echo"
    same(answers(model, requests), answers(engine, requests))


def test_equal_texts_are_sent_once_and_known_ones_never(fake, engine, tokenizer, requests):
    model = checked(fake.url, "tiny", tokenizer, batch=1, concurrent=1, **QUICK)
    trial = len(fake.asked)
    wanted = answers(engine, requests)
    known = {1, 2, 4}
    found = answers(model, requests, known=known)
    same(found, {place: values for place, values in wanted.items() if place not in known})
    sent = fake.prompts[trial:]
    assert len(sent) == len(set(sent))
    assert not set(sent) & {(*requests[place].context, *requests[place].tokens) for place in (1, 4)}


def test_one_text_with_two_beginnings_is_sent_once(fake, engine, tokenizer):
    ids = tuple(tokenizer(TEXTS[2])["input_ids"])
    both = [Continuation(ids[:3], ids[3:]), Continuation(ids[:5], ids[5:])]
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    trial = len(fake.asked)
    same(answers(model, both), answers(engine, both))
    assert fake.prompts[trial:] == [ids]


def test_no_texts_and_texts_without_tokens_ask_nothing(fake, tokenizer):
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    trial = len(fake.asked)
    assert answers(model, []) == {}
    found = answers(model, [Continuation((5,), ()), Continuation((6,), ())], known={1})
    assert {place: list(values) for place, values in found.items()} == {0: []}
    assert len(fake.asked) == trial


def test_the_server_samples_from_the_whole_distribution(fake, tokenizer, requests):
    answers(checked(fake.url, "tiny", tokenizer, **QUICK), requests)
    assert {(one["temperature"], one["top_p"], one["max_tokens"]) for one in fake.asked} == {
        (1.0, 1.0, 1)
    }


# ------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize(
    ("told", "given_window", "limit", "window", "noted"),
    [
        (128, None, 10**30, 126, False),
        (None, 64, 10**30, 62, False),
        (128, 64, 10**30, 62, False),
        (None, None, 96, 94, True),  # the tokenizer's
        (128, None, 96, 126, False),  # the server knows better
    ],
)
def test_the_window_leaves_room_for_the_last_token_and_a_generated_one(
    fake, tokenizer, monkeypatch, told, given_window, limit, window, noted
):
    fake.window = told
    monkeypatch.setattr(tokenizer, "model_max_length", limit)
    model = checked(fake.url, "tiny", tokenizer, window=given_window, **QUICK)
    assert (model.window, bool(model.notes)) == (window, noted)


def test_a_text_that_fills_the_window_is_answered_and_a_longer_one_refused(fake, tokenizer):
    fake.window = 24
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    full = Continuation((5,) * 10, (6,) * (model.window - 9))
    assert len(answers(model, [full])[0]) == model.window - 9
    asked = len(fake.asked)
    with pytest.raises(TstmetaError, match="do not fit into the server's window"):
        answers(model, [full, full._replace(tokens=(*full.tokens, 6))])
    with pytest.raises(TstmetaError, match="at least one token"):
        answers(model, [full, Continuation((), (5,))])
    assert len(fake.asked) == asked


def test_a_window_that_the_server_does_not_have_is_refused(fake, tokenizer):
    fake.window = 64
    with pytest.raises(ServerError, match=r"takes 64 tokens, not 128\. Remedy: window=64"):
        checked(fake.url, "tiny", tokenizer, window=128, **QUICK)


def test_a_window_that_nobody_knows_must_be_given(fake, tokenizer, monkeypatch):
    fake.models_page = False
    monkeypatch.setattr(tokenizer, "model_max_length", 10**30)
    with pytest.raises(ServerError, match="Remedy: give its window"):
        checked(fake.url, "tiny", tokenizer, **QUICK)
    assert checked(fake.url, "tiny", tokenizer, window=100, **QUICK).window == 98


def test_a_server_that_takes_less_than_it_was_said_to_take_names_the_remedy(fake, tokenizer):
    fake.models_page, fake.window = False, 100
    model = checked(fake.url, "tiny", tokenizer, window=128, **QUICK)
    with pytest.raises(ServerError, match=r"maximum context length.*Remedy: give the server's win"):
        answers(model, [Continuation((5,) * 60, (6,) * 60)])


# -------------------------------------------------------------------------- half-done work


@pytest.mark.parametrize("concurrent", [1, 3])
def test_what_was_answered_before_a_server_died_comes_before_the_error(
    fake, engine, tokenizer, requests, concurrent
):
    model = checked(fake.url, "tiny", tokenizer, batch=1, concurrent=concurrent, **QUICK)
    alive = len(fake.asked) + 4
    fake.instead = lambda number, asked: (0, {}, b"") if number > alive else None
    found = {}
    with pytest.raises(ServerError, match="broke"):
        found.update(one for batch in model.logprobs(requests) for one in batch)
    wanted = answers(engine, requests)
    told = [place for place in found if requests[place].tokens]
    assert len({requests[place] for place in told}) == 4
    same(found, {place: wanted[place] for place in found})


def test_a_run_that_a_dead_server_stopped_goes_on_where_it_was(
    fake, engine, tokenizer, requests, tmp_path
):
    options = {"batch": 1, "concurrent": 2, **QUICK}
    cached = Cached(checked(fake.url, "tiny", tokenizer, **options), tmp_path)
    alive = len(fake.asked) + 3
    fake.instead = lambda number, asked: (503, {}, b"") if number > alive else None
    with pytest.raises(ServerError, match="503"):
        answers(cached, requests)
    first = set(fake.prompts[1:alive])

    fake.instead, trial = (lambda number, asked: None), len(fake.asked) + 1
    again = Cached(checked(fake.url, "tiny", tokenizer, **options), tmp_path)
    same(answers(again, requests), answers(engine, requests))
    assert not first & set(fake.prompts[trial:])

    asked = len(fake.asked)
    same(answers(again, requests), answers(engine, requests))
    assert len(fake.asked) == asked


def test_a_cache_that_knows_all_needs_no_server(fake, tokenizer, requests, tmp_path):
    wanted = answers(Cached(checked(fake.url, "tiny", tokenizer, window=128), tmp_path), requests)
    asked = len(fake.asked)
    nowhere = ServerModel("http://127.0.0.1:1", "tiny", tokenizer, window=128)
    same(answers(Cached(nowhere, tmp_path), requests), wanted, near=0)
    assert len(fake.asked) == asked


def test_a_reader_that_stops_early_leaves_nothing_under_way(fake, tokenizer, requests):
    model = checked(fake.url, "tiny", tokenizer, batch=1, concurrent=1, **QUICK)
    trial = len(fake.asked)
    stream = model.logprobs([one for one in requests if one.tokens])
    next(stream)
    stream.close()
    deadline = time.monotonic() + 5
    while threading.active_count() > 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(fake.asked) - trial < len({*requests}) - 1


# -------------------------------------------------------------------------------- connecting


def test_a_tokenizer_is_loaded_from_a_folder(fake, engine, tokenizer, requests, tmp_path):
    tokenizer.save_pretrained(tmp_path / "tok")
    model = connect(fake.url, "tiny", str(tmp_path / "tok"), **QUICK)
    assert not fake.asked
    same(answers(model, requests), answers(engine, requests))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, "tokenizer of 'tiny' is not known. Remedy: name it"),
        ("nonsense", "no model is called 'nonsense'"),
    ],
)
def test_a_tokenizer_that_is_nowhere_is_asked_for(fake, name, words):
    with pytest.raises(TstmetaError, match=words):
        connect(fake.url, "tiny", name)


def test_code_that_comes_with_a_tokenizer_is_not_run_and_nobody_is_asked(
    fake, tmp_path, monkeypatch
):
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("somebody was asked"))
    (tmp_path / "code.py").write_text("raise SystemExit('run')")
    settings = {"tokenizer_class": "Own", "auto_map": {"AutoTokenizer": ["code.Own", None]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(MissingModel, match=r"cannot load the tokenizer .*code"):
        connect(fake.url, "tiny", str(tmp_path))


def test_a_folder_without_a_tokenizer_is_named(fake, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    with pytest.raises(MissingModel, match=r"cannot load the tokenizer .*Remedy"):
        connect(fake.url, "tiny", str(tmp_path))
