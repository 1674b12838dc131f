"""The server backend against a real HTTP server with a tiny model: answers, windows, resuming."""

import pytest

from tests.models.tiny import answers, distance
from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.server import ServerError
from tstmeta.models.tokencache import Cached
from tstmeta.schema import TstmetaError


@pytest.mark.parametrize("batch", [1, 3, 50])
def test_a_server_says_what_its_model_says(fake, served, requests, wanted, batch):
    model = served(batch=batch, label="bfloat16")
    assert isinstance(model, LanguageModel)
    assert model.identity == "tiny|server|bfloat16"
    assert distance(answers(model, requests), wanted) < 1e-5
    # samples would come from the whole distribution
    sampled = {(body["temperature"], body["top_p"], body["max_tokens"]) for body in fake.bodies}
    assert sampled == {(1.0, 1.0, 1)}


def test_equal_texts_are_sent_once_and_known_ones_never(fake, served, requests, wanted):
    model = served(batch=1)
    trial, known = len(fake.bodies), {1, 2, 4}
    batches = model.logprobs(requests, known=known)
    values = {place: values for batch in batches for place, values in batch}
    rest = sorted(set(range(len(requests))) - known)
    assert sorted(values) == rest
    assert distance([values[n] for n in rest], [wanted[n] for n in rest]) < 1e-5
    sent = fake.prompts[trial:]
    assert len(sent) == len(set(sent))
    assert not set(sent) & {(*requests[place].context, *requests[place].tokens) for place in (1, 4)}


# ------------------------------------------------------------------------------------ windows


@pytest.mark.parametrize(
    ("of_server", "limit", "window"),
    [
        (128, 10**30, 126),
        (None, 96, 94),  # the tokenizer's
        (128, 96, 126),  # the server knows better
    ],
)
def test_the_window_leaves_room_for_the_last_token_and_a_generated_one(
    fake, served, tokenizer, monkeypatch, of_server, limit, window
):
    fake.window = of_server
    monkeypatch.setattr(tokenizer, "model_max_length", limit)
    assert served().window == window


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


def test_a_window_that_nobody_knows_is_an_error(fake, served, tokenizer, monkeypatch):
    fake.models_page = False
    monkeypatch.setattr(tokenizer, "model_max_length", 10**30)
    with pytest.raises(ServerError, match="Remedy: name a tokenizer that does"):
        served()


# -------------------------------------------------------------------------- half-done work


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
    assert distance(answers(cached, requests), wanted) < 1e-5
    texts = {(*request.context, *request.tokens) for request in requests}
    assert len(fake.bodies) - before == len(texts) - 3
