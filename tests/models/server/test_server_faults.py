"""What can go wrong with a server: each fault is an error with its remedy, and shows no secret."""

import socket
import threading
import time

import pytest

from tests.models.server.fake_server import tiny_tokenizer
from tests.models.tiny import answers, distance
from tstmeta.models.server import ServerError, ServerModel, address
from tstmeta.schema import TstmetaError

KEY = "sk-very-secret-0123456789"


def failing(status, body=b"{}", since=1, until=10**6, **headers):
    """An answer of another status to completion requests; the first is the trial."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda number, _: (status, names, body) if since <= number <= until else None


# ---------------------------------------------------------------------------- servers that fail


def test_nobody_listens_is_an_error_at_once(served):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(ServerError, match=r"no connection to .*Remedy: start the server"):
        served(url=f"http://127.0.0.1:{port}", pause=5)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host/v1/", "http://host/v1"),
        (" https://host/api/v1/completions ", "https://host/api/v1"),
        ("http://host/v1?key=1#x", "http://host/v1"),
        *((url, None) for url in ("", "localhost:8000", "ftp://host/v1", "http://", "http://a b/")),
        ("http://h:123456", None),
    ],
)
def test_the_address_is_where_the_interface_starts(url, wanted):
    if wanted:
        assert str(address(url)) == wanted
    else:
        with pytest.raises(ServerError, match="no URL of a server"):
            address(url)


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        *((status, {}, b"busy") for status in (408, 429, 500, 502, 503, 529, 0)),
        # headers promise more bytes than come
        (200, {"Content_Length": "999", "Connection": "close"}, b'{"cho'),
    ],
)
def test_what_passes_is_tried_again(fake, served, requests, wanted, status, headers, body):
    model = served(batch=50, timeout=2)
    trial = len(fake.bodies)
    fake.instead = failing(status, body, trial + 1, trial + 2, **headers)
    assert distance(answers(model, requests), wanted) < 1e-5
    assert len(fake.bodies) == trial + 3


def test_a_server_that_stays_busy_is_given_up(fake, served, requests):
    model = served(batch=50)
    fake.instead = failing(503, b'{"detail": "engine is dead"}')
    with pytest.raises(ServerError, match=r"answers 503: .*engine is dead.*Remedy: .*run again"):
        answers(model, requests)
    assert len(fake.bodies) == 1 + 3


def test_a_server_that_does_not_answer_in_time_is_named(fake, served, requests):
    model, release = served(timeout=0.2, retries=1), threading.Event()
    fake.instead = lambda number, body: (release.wait(5), None)[1]
    with pytest.raises(ServerError, match=r"no answer of http://.*/completions \(ReadTimeout\)"):
        answers(model, requests[:1])
    release.set()


@pytest.mark.parametrize("status", [400, 403, 404, 413, 422, 302])
def test_what_does_not_pass_is_asked_once(fake, served, requests, status):
    model = served(batch=50)
    trial = len(fake.bodies)
    fake.instead = failing(status, b"this \x1b[31mis\n why")
    with pytest.raises(ServerError, match=rf"answers {status}: this \[31mis why\. Remedy: "):
        answers(model, requests)
    assert len(fake.bodies) == trial + 1


@pytest.mark.parametrize(
    "body",
    [
        *(b"[]", b"{}", b'{"choices": 3}', b'{"choices": [{}]}', b'{"choices": [null]}'),
        *(b"", b"<!doctype html><title>Welcome</title>", b"\xff\xfe"),
    ],
)
def test_an_answer_of_another_form_is_refused(fake, served, body):
    fake.instead = failing(200, body)
    with pytest.raises(ServerError, match="Remedy"):
        served()


@pytest.mark.parametrize(
    ("models_page", "words"),
    [(True, r"no model 'tiny'\. Remedy: one of meta/llama"), (False, "404: .*no model tiny")],
)
def test_a_wrong_model_name_is_named(fake, served, tokenizer, monkeypatch, models_page, words):
    monkeypatch.setattr(tokenizer, "model_max_length", 99)
    fake.name, fake.models_page = "meta/llama", models_page
    with pytest.raises(ServerError, match=words):
        served()


# ----------------------------------------------------------------------------- the API key


def test_the_key_comes_from_the_environment_and_is_never_shown(fake, served, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    fake.key = KEY
    served()
    fake.key = "another"
    with pytest.raises(
        ServerError, match=r"401: .*wrong key: Bearer \*\*\*.*Remedy: set OPENAI"
    ) as e:
        served()
    assert KEY not in str(e.value)
    assert fake.seen_keys == {f"Bearer {KEY}"}


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_a_key_that_no_header_takes_is_refused_unseen(tokenizer, monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(TstmetaError, match="copy it anew") as raised:
        ServerModel("http://localhost", "tiny", tokenizer)
    assert key not in str(raised.value)


# --------------------------------------------------------------------------- wrong numbers


@pytest.mark.parametrize("tried", [True, False])
def test_a_server_without_prompt_logprobs_is_told_by_its_option(fake, served, requests, tried):
    model = served() if tried else served(tried=False)
    fake.knows_prompts = False
    with pytest.raises(ServerError, match=r"no log-probabilities of the prompt.*vllm serve"):
        answers(model, requests)


def each(change):
    def edit(answer):
        for choice in answer["choices"]:
            change(choice)
        return answer

    return edit


def drop(choice):
    del choice["prompt_logprobs"][-3:]


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
        (each(drop), "other tokens than we sent"),
        (each(put(None)), "no log-probability"),
        (each(put(float("nan"))), "no log-probability"),
        (each(put("much")), "no log-probability"),
        (each(put(-(10**400))), "no log-probability"),
        (each(put(7.5)), "logits are.*raw_logprobs"),
        (each(other_tokens), "other tokens than we sent.*Remedy: name the tokenizer"),
        (lambda answer: {"choices": answer["choices"][1:]}, "in another form"),
    ],
)
def test_wrong_numbers_are_refused(fake, served, requests, edit, words):
    model = served()
    fake.edit = edit
    with pytest.raises(ServerError, match=words):
        answers(model, requests)


def test_another_vocabulary_is_noticed_though_it_takes_our_ids(fake, engine):
    ours = tiny_tokenizer(["Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich"])
    assert len(ours) <= len(engine.tokenizer)  # so it takes all our ids
    with pytest.raises(ServerError, match="tokens are not those of the tokenizer: it reads"):
        ServerModel(fake.url, "tiny", ours).check()


@pytest.mark.parametrize("blank", ["▁", "Ġ", ""])
def test_servers_write_blanks_in_their_own_way(fake, served, blank):
    def change(choice):
        for row in filter(None, choice["prompt_logprobs"]):
            for facts in row.values():
                facts["decoded_token"] = facts.get("decoded_token", "x").replace(" ", blank)

    fake.edit = each(change)
    served()
