"""The server backend against a real HTTP server with a tiny model: answers, windows, resuming."""

import numpy as np
import pytest

from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.server import ServerError
from tstmeta.models.tokencache import Cached
from tstmeta.schema import TstmetaError


def answers(model, requests, **options):
    batches = model.logprobs(requests, **options)
    return {place: values for batch in batches for place, values in batch}


def same(values, wanted, near=1e-5):
    assert values.keys() == wanted.keys()
    for place, expected in wanted.items():
        assert values[place].dtype == np.float32
        np.testing.assert_allclose(values[place], expected, atol=near, rtol=0)


# ------------------------------------------------------------------------------ right answers


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_a_server_says_what_its_model_says(fake, served, requests, wanted, batch):
    model = served(batch=batch, label="bfloat16")
    assert isinstance(model, LanguageModel)
    assert model.identity == "tiny|server|bfloat16"
    same(answers(model, requests), wanted)
    # samples would come from the whole distribution
    sampled = {(body["temperature"], body["top_p"], body["max_tokens"]) for body in fake.bodies}
    assert sampled == {(1.0, 1.0, 1)}


def test_equal_texts_are_sent_once_and_known_ones_never(fake, served, requests, wanted):
    model = served(batch=1)
    trial, known = len(fake.bodies), {1, 2, 4}
    rest = {place: values for place, values in wanted.items() if place not in known}
    same(answers(model, requests, known=known), rest)
    sent = fake.prompts[trial:]
    assert len(sent) == len(set(sent))
    assert not set(sent) & {(*requests[place].context, *requests[place].tokens) for place in (1, 4)}


# ------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize(
    ("of_server", "given", "limit", "window"),
    [
        (128, None, 10**30, 126),
        (None, 64, 10**30, 62),
        (128, 64, 10**30, 62),
        (None, None, 96, 94),  # the tokenizer's
        (128, None, 96, 126),  # the server knows better
    ],
)
def test_the_window_leaves_room_for_the_last_token_and_a_generated_one(
    fake, served, tokenizer, monkeypatch, of_server, given, limit, window
):
    fake.window = of_server
    monkeypatch.setattr(tokenizer, "model_max_length", limit)
    assert served(window=given).window == window


def test_a_text_that_fills_the_window_is_answered_and_a_longer_one_refused(fake, served):
    fake.window = 24
    model = served()
    full = Continuation((5,) * 10, (6,) * (model.window - 9))
    assert len(answers(model, [full])[0]) == model.window - 9
    before = len(fake.bodies)
    with pytest.raises(TstmetaError, match="do not fit into the model's window"):
        answers(model, [full, full._replace(tokens=(*full.tokens, 6))])
    with pytest.raises(TstmetaError, match="at least one token"):
        answers(model, [full, Continuation((), (5,))])
    assert len(fake.bodies) == before


def test_a_window_that_nobody_knows_must_be_given(fake, served, tokenizer, monkeypatch):
    fake.models_page = False
    monkeypatch.setattr(tokenizer, "model_max_length", 10**30)
    with pytest.raises(ServerError, match="Remedy: give its window"):
        served()
    assert served(window=100).window == 98


# -------------------------------------------------------------------------- half-done work


def test_what_was_answered_before_a_server_died_comes_before_the_error(
    fake, served, requests, wanted
):
    model = served(batch=1)
    alive = len(fake.bodies) + 4
    fake.instead = lambda number, body: (0, {}, b"") if number > alive else None
    values = {}
    with pytest.raises(ServerError, match="no answer"):
        values.update(answer for batch in model.logprobs(requests) for answer in batch)
    assert len({requests[place] for place in values}) == 4
    same(values, {place: wanted[place] for place in values})


def test_a_run_that_a_dead_server_stopped_goes_on_where_it_was(
    fake, served, requests, wanted, tmp_path
):
    cached = Cached(served(batch=1), tmp_path)
    alive = len(fake.bodies) + 3
    fake.instead = lambda number, body: (503, {}, b"") if number > alive else None
    with pytest.raises(ServerError, match="503"):
        answers(cached, requests)
    fake.instead = lambda number, body: None
    before = len(fake.bodies)
    same(answers(cached, requests), wanted)
    texts = {(*request.context, *request.tokens) for request in requests}
    assert len(fake.bodies) - before == len(texts) - 3


def test_a_cache_that_knows_all_needs_no_server(served, requests, tmp_path):
    kept = answers(Cached(served(window=128), tmp_path), requests)
    nowhere = served(tried=False, url="http://127.0.0.1:1", window=128)
    same(answers(Cached(nowhere, tmp_path), requests), kept, near=0)
