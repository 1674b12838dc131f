"""The server backend against a real HTTP server: answers, windows, faults with their remedies."""

import time

import pytest

from tests.judge.scripted import HALF, RESET, Act
from tests.likelihood import small
from tests.models import tiny
from tests.models.fake_server import Fake, serving
from tests.models.tiny import answers, distance
from tstmeta.models.causal import Continuation, LanguageModel
from tstmeta.models.connection import ServerError, address
from tstmeta.models.server import ServerModel
from tstmeta.models.tokencache import Cached
from tstmeta.schema import TstmetaError

pytestmark = pytest.mark.usefixtures("quick_retries")
KEY = "sk-very-secret-0123456789"


TOKENIZER = tiny.tokenizer()


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with serving(Fake()) as running:
        yield running


@pytest.fixture
def served(fake):
    """A model of the server, after its trial."""

    def build(url="", batch=32, retries=2, timeout=120.0):
        model = ServerModel(address(url or fake.url), "tiny", TOKENIZER, "tiny|server")
        model.batch = batch
        model._connection.retries, model._connection.timeout = retries, timeout
        model.check()
        return model

    return build


@pytest.fixture(scope="module")
def requests():
    """Shared contexts, equal requests, texts in two scripts."""
    texts = ["the ships", "lemons!", "we", "the ships", "Grüße, 京都", "so kind as to send me 12"]
    ids = [tuple(TOKENIZER(text)["input_ids"]) for text in texts]
    contexts = [tuple(TOKENIZER(text)["input_ids"]) for text in tiny.PROSE[:2]]
    return [Continuation(context, tokens) for context in contexts for tokens in ids]


@pytest.fixture(scope="module")
def wanted(requests):
    """What the model itself answers."""
    return answers(small.engine(), requests)


@pytest.mark.parametrize("batch", [1, 50])
def test_a_server_says_what_its_model_says(fake, served, requests, wanted, batch):
    model = served(batch=batch)
    assert isinstance(model, LanguageModel)
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
    sent = [tuple(ids) for body in fake.bodies[trial:] for ids in body["prompt"]]
    assert len(sent) == len(set(sent))
    assert not set(sent) & {(*requests[place].context, *requests[place].tokens) for place in (1, 4)}


def test_a_run_that_a_dead_server_stopped_goes_on_where_it_was(
    fake, served, requests, wanted, tmp_path
):
    cached = Cached(served(batch=1), tmp_path)
    alive = len(fake.bodies) + 3
    fake.instead = lambda number, body: Act(503) if number > alive else None
    with pytest.raises(ServerError, match="503"):
        answers(cached, requests)
    fake.instead = lambda number, body: None
    before = len(fake.bodies)
    assert distance(answers(cached, requests), wanted) < 1e-5
    assert len(fake.bodies) - before == len(set(requests)) - 3


@pytest.mark.parametrize(
    ("of_server", "limit", "window"),
    [
        (128, 10**30, 126),
        (128, 96, 126),  # the server knows better
        *((nothing, 96, 94) for nothing in (None, 0, -1, "128")),
    ],
)
def test_the_window_leaves_room_for_the_last_token_and_a_generated_one(
    fake, served, monkeypatch, of_server, limit, window
):
    fake.window = of_server
    monkeypatch.setattr(TOKENIZER, "model_max_length", limit)
    assert served().window == window


def test_a_text_that_fills_the_window_is_answered_and_a_longer_one_refused(fake, served):
    fake.window = 24
    model = served()
    full = Continuation((5,) * 10, (6,) * (model.window - 9))
    assert len(answers(model, [full])[0]) == model.window - 9
    before = len(fake.bodies)
    with pytest.raises(TstmetaError, match="do not fit into the model's window"):
        answers(model, [full, full._replace(tokens=(*full.tokens, 6))])
    assert len(fake.bodies) == before


def test_nobody_listens_is_an_error_at_once(served):
    started = time.monotonic()
    with pytest.raises(ServerError, match=r"no connection to .*Remedy: start the server"):
        served(url="http://127.0.0.1:9", retries=5)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        (" https://host/api/v1/completions?key=1#x ", "https://host/api/v1"),
        ("http://host/v1/chat/completions/", "http://host/v1"),
        ("http://host/api/v3/chat/completions", "http://host/api/v3"),
        *((f"http://host/{path}", "http://host/v1") for path in ("v1/", "v1/chat", "completions")),
        *((f"http://host/{path}", "http://host") for path in ("chat", "chat/completions/")),
        *((url, None) for url in ("", "localhost:8000", "ftp://host/v1", "http://", "http://a b/")),
        ("http://h:123456", None),
        ("http://u:pass@h/v1", None),
    ],
)
def test_the_address_is_where_the_interface_starts(url, wanted):
    """Answers on file are found by it: what it was once, it is for good."""
    if wanted:
        assert address(url) == wanted
    else:
        with pytest.raises(ServerError, match=r"no URL of a server|write it into OPENAI_API_KEY"):
            address(url)


@pytest.mark.parametrize(
    "act", [Act(429), Act(500), RESET, HALF], ids=lambda act: act.fault or act.status
)
def test_what_passes_is_tried_again(fake, served, requests, wanted, act):
    model = served(batch=50, timeout=2)
    trial = len(fake.bodies)
    fake.instead = lambda number, body: act if number <= trial + 2 else None
    assert distance(answers(model, requests), wanted) < 1e-5
    assert len(fake.bodies) == trial + 3


@pytest.mark.parametrize("status", [400, 403, 302])
def test_what_does_not_pass_is_asked_once(fake, served, requests, status):
    model = served(batch=50)
    trial = len(fake.bodies)
    fake.instead = lambda *_: Act(status, b"this \x1b[31mis\n why")
    with pytest.raises(ServerError, match=rf"answers {status}: this \[31mis why\. Remedy: "):
        answers(model, requests)
    assert len(fake.bodies) == trial + 1


@pytest.mark.parametrize(
    "body",
    [b"[]", b'{"choices": 3}', b'{"choices": [{}]}', b"\xff\xfe", b'{"choices":' * 10**5],
    ids=lambda body: repr(body[:20]),
)
def test_an_answer_of_another_form_is_refused(fake, served, body):
    fake.instead = lambda *_: Act(data=body)
    with pytest.raises(ServerError, match="Remedy"):
        served()


@pytest.mark.parametrize(
    ("models_page", "words"),
    [(True, r"no model 'tiny'\. Remedy: one of meta/llama"), (False, "Remedy: name a tokenizer")],
)
def test_a_wrong_model_or_a_window_that_nobody_knows_is_named(
    fake, served, monkeypatch, models_page, words
):
    monkeypatch.setattr(TOKENIZER, "model_max_length", 10**30)
    fake.name, fake.models_page = "meta/llama", models_page
    with pytest.raises(ServerError, match=words):
        served()


def test_the_key_comes_from_the_environment_and_is_never_shown(fake, served, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fake.key = KEY
    served()
    fake.key = "another"
    with pytest.raises(ServerError, match=r"401: .*Bearer \*\*\*.*Remedy: set OPENAI") as raised:
        served()
    assert KEY not in str(raised.value)
    assert fake.seen_keys == {f"Bearer {KEY}"}
    monkeypatch.setenv("OPENAI_API_KEY", "two\nlines")
    with pytest.raises(TstmetaError, match="copy it anew") as raised:
        served()
    assert "two" not in str(raised.value)


def each(change):
    return lambda choices: list(map(change, choices))


def put(value):
    def change(choice):
        for row in choice["prompt_logprobs"][1:]:
            row.update({token: {**facts, "logprob": value} for token, facts in row.items()})

    return change


def other_tokens(choice):
    rows = choice["prompt_logprobs"]
    rows[1:] = [{f"1{token}": facts for token, facts in row.items()} for row in rows[1:]]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (each(lambda choice: choice.pop("prompt_logprobs")), "no log-probabilities.*vllm serve"),
        (each(lambda choice: choice["prompt_logprobs"].pop()), "other tokens than we sent"),
        *((each(put(value)), "no log-prob") for value in (None, float("nan"), "much", -(10**400))),
        (each(put(7.5)), "logits are.*raw_logprobs"),
        (each(other_tokens), "other tokens than we sent.*Remedy: name the tokenizer"),
        (lambda choices: choices.pop(0), "in another form"),
    ],
)
def test_wrong_numbers_are_refused(fake, served, requests, edit, words):
    model = served()
    fake.edit = edit
    with pytest.raises(ServerError, match=words):
        answers(model, requests)


def test_another_vocabulary_is_noticed_though_it_takes_our_ids(fake):
    text = "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich"
    ours = tiny.bpe([text] * 4, tiny.MARKS["llama"])
    assert len(ours) <= len(TOKENIZER)  # so it takes all our ids
    with pytest.raises(ServerError, match="tokens are not those of the tokenizer: it reads"):
        ServerModel(address(fake.url), "tiny", ours, "tiny").check()


def test_servers_write_blanks_in_their_own_way(fake, served):
    def change(choice):
        for row in choice["prompt_logprobs"][1:]:
            for facts in row.values():
                facts["decoded_token"] = facts.get("decoded_token", "x").replace(" ", "▁")

    fake.edit = each(change)
    served()
