"""What can go wrong with a server: each fault is told with its remedy, and no secret."""

import socket
import threading
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.server.asking import QUICK, answers, checked, failing, later, same
from tests.models.server.fake_server import tiny_tokenizer
from tstmeta.models.prompts import WAYS
from tstmeta.models.server import ServerModel
from tstmeta.models.wire import ServerError, address
from tstmeta.schema import TstmetaError
from tstmeta.secrecy import mask_of, said

KEY = "sk-very-secret-0123456789"


# ---------------------------------------------------------------------------- servers that fail


def test_nobody_listens_is_told_at_once(tokenizer):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = time.monotonic()
    with pytest.raises(ServerError, match=r"no connection to .*Remedy: start the server"):
        checked(f"http://127.0.0.1:{port}", "tiny", tokenizer, pause=5)
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    "url", ["", "localhost:8000", "ftp://host/v1", "http://", "http://a b/", "http://h:123456"]
)
def test_what_is_no_url_is_refused(tokenizer, url):
    with pytest.raises(ServerError, match="no URL of a server"):
        checked(url, "tiny", tokenizer)


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://host/v1/", "http://host/v1"),
        (" https://host/api/v1/completions ", "https://host/api/v1"),
        ("http://host/v1?key=1#x", "http://host/v1"),
    ],
)
def test_the_address_is_where_the_interface_starts(url, wanted):
    assert str(address(url)) == wanted


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529, 0])
def test_what_passes_is_tried_again(fake, engine, tokenizer, requests, status):
    model = checked(fake.url, "tiny", tokenizer, batch=50, **QUICK)
    trial = len(fake.asked)
    fake.instead = lambda number, asked: (status, {}, b"busy") if number - trial <= 2 else None
    same(answers(model, requests), answers(engine, requests))
    assert len(fake.asked) == trial + 3


@pytest.mark.parametrize("status", [400, 403, 404, 413, 422, 302])
def test_what_does_not_pass_is_asked_once(fake, tokenizer, requests, status):
    model = checked(fake.url, "tiny", tokenizer, batch=50, **QUICK)
    trial = len(fake.asked)
    fake.instead = failing(status, b'{"error": {"message": "this \\u001b[31mis\\n why"}}')
    with pytest.raises(ServerError, match=rf"answers {status}: this \[31mis why\. Remedy: "):
        answers(model, requests)
    assert len(fake.asked) == trial + 1


def test_a_server_that_stays_busy_is_given_up(fake, tokenizer, requests):
    fake.instead = later(failing(503, b'{"detail": "engine is dead"}'))
    model = checked(fake.url, "tiny", tokenizer, concurrent=1, **QUICK)
    with pytest.raises(ServerError, match=r"503: engine is dead \(tried 3 times\)"):
        answers(model, requests)


def test_a_server_says_how_long_to_wait(fake, tokenizer, requests):
    fake.instead = later(failing(429, times=1, Retry_After="1"))
    model = checked(fake.url, "tiny", tokenizer, batch=50, **QUICK)
    started = time.monotonic()
    answers(model, requests)
    assert 1 <= time.monotonic() - started < 10


def test_a_server_that_does_not_answer_in_time_is_named(fake, tokenizer, requests):
    model = checked(fake.url, "tiny", tokenizer, timeout=0.2, retries=1, pause=0.01)
    release = threading.Event()
    fake.instead = lambda number, asked: (release.wait(5), None)[1]
    with pytest.raises(ServerError, match=r"did not answer within 0\.2 s \(tried 2 times\)"):
        answers(model, requests[:1])
    release.set()


def test_a_web_page_is_no_answer(fake, tokenizer):
    fake.instead = failing(200, b"<!doctype html><title>Welcome</title>")
    with pytest.raises(ServerError, match=r"a web page\. Remedy: the URL"):
        checked(fake.url, "tiny", tokenizer, **QUICK)


def test_an_answer_that_stops_early_is_asked_for_again(fake, engine, tokenizer, requests):
    """Headers promise more bytes than come."""
    cut = {"Content-Length": "999", "Connection": "close"}
    model = checked(fake.url, "tiny", tokenizer, batch=50, timeout=2, **QUICK)
    trial = len(fake.asked)
    fake.instead = lambda number, _: (200, cut, b'{"cho') if number == trial + 1 else None
    same(answers(model, requests), answers(engine, requests))


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"7",
        b"{}",
        b'{"choices": 3}',
        b'{"choices": [{}]}',
        b'{"choices": [null]}',
        b"{",
        b"",
    ],
)
def test_json_of_another_form_is_refused(fake, tokenizer, body):
    fake.instead = failing(200, body)
    with pytest.raises(ServerError, match="Remedy"):
        checked(fake.url, "tiny", tokenizer, **QUICK)


def test_a_wrong_model_name_is_answered_with_the_names_there_are(fake, tokenizer):
    fake.name = "meta/llama"
    with pytest.raises(ServerError, match=r"no model 'tiny'\. Remedy: one of meta/llama"):
        checked(fake.url, "tiny", tokenizer, **QUICK)
    assert not fake.asked


def test_a_wrong_model_name_is_told_by_a_server_without_a_list(fake, tokenizer):
    fake.name, fake.models_page = "meta/llama", False
    with pytest.raises(ServerError, match=r"404: no model tiny.*the model's name"):
        checked(fake.url, "tiny", tokenizer, window=99, **QUICK)


# ----------------------------------------------------------------------------- the API key


def test_the_key_comes_from_the_argument_or_the_environment(fake, tokenizer, monkeypatch):
    fake.key = KEY
    checked(fake.url, "tiny", tokenizer, key=KEY, **QUICK)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    checked(fake.url, "tiny", tokenizer, **QUICK)
    with pytest.raises(ServerError, match="401"):  # none is a choice, too
        checked(fake.url, "tiny", tokenizer, key="", **QUICK)
    assert fake.seen_keys == {f"Bearer {KEY}", ""}


def test_a_key_is_asked_for_and_never_shown(fake, tokenizer):
    fake.key = "another"
    with pytest.raises(ServerError, match=r"401.*pass an API key or set OPENAI_API_KEY"):
        checked(fake.url, "tiny", tokenizer, **QUICK)
    with pytest.raises(ServerError, match=r"wrong key: Bearer \*\*\*") as raised:
        checked(fake.url, "tiny", tokenizer, key=KEY, **QUICK)
    assert KEY not in str(raised.value)


def test_no_part_of_a_url_that_may_be_secret_is_shown(fake, tokenizer, requests):
    url = fake.url.replace("http://", f"http://me:{KEY}@")
    model = checked(url, "tiny", tokenizer, **QUICK)
    fake.instead = failing(404)
    with pytest.raises(ServerError) as raised:
        answers(model, requests)
    assert KEY not in str(raised.value)
    assert KEY not in repr(model) + model.identity


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines"])
def test_a_key_that_no_header_takes_is_refused_unseen(fake, tokenizer, key):
    with pytest.raises(TstmetaError, match="copy it anew") as raised:
        checked(fake.url, "tiny", tokenizer, key=key)
    assert key not in str(raised.value)


# --------------------------------------------------------------------------- wrong numbers


def test_a_server_without_prompt_logprobs_is_told_by_its_option(fake, tokenizer):
    fake.ways = ()
    with pytest.raises(ServerError, match=r"no log-probabilities of the prompt.*vllm serve"):
        checked(fake.url, "tiny", tokenizer, **QUICK)


def test_logprobs_that_stop_coming_are_missed(fake, tokenizer, requests):
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    fake.ways = ()
    with pytest.raises(ServerError, match="no log-probabilities of the prompt"):
        answers(model, requests)


def test_a_strict_server_without_prompt_logprobs_is_quoted(fake, tokenizer):
    fake.instead = failing(400, b'{"error": {"message": "echo is not supported"}}')
    with pytest.raises(ServerError, match="400: echo is not supported"):
        checked(fake.url, "tiny", tokenizer, **QUICK)


def _every(change):
    def edit(answer):
        for choice in answer["choices"]:
            change(choice)
        return answer

    return edit


def _drop(choice):
    key = "prompt_logprobs" if "prompt_logprobs" in choice else "logprobs"
    rows = choice[key] if key == "prompt_logprobs" else choice[key]["token_logprobs"]
    del rows[-3:]


def _put(value):
    def change(choice):
        rows = choice.get("prompt_logprobs")
        if rows:
            for row in rows[1:]:
                row.update({token: {**one, "logprob": value} for token, one in row.items()})
        else:
            rows = choice["logprobs"]["token_logprobs"]
            rows[1:] = [value] * (len(rows) - 1)

    return change


def _used(answer):
    return {**answer, "usage": {"prompt_tokens": answer["usage"]["prompt_tokens"] + 1}}


def _fewer(answer):
    return {**answer, "choices": answer["choices"][1:]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_every(_drop), r"\d+ log-probabilities came to \d+ tokens"),
        (_every(_put(None)), "is no number"),
        (_every(_put(float("nan"))), "is no number"),
        (_every(_put("much")), "is no number"),
        (_every(_put(-(10**400))), "is no number"),
        (_every(_put(7.5)), "these are logits.*raw_logprobs"),
        (_used, r"read \d+ tokens where \d+ were sent"),
        (_fewer, r"answers came to \d+ prompts"),
    ],
)
def test_wrong_numbers_are_refused(fake, tokenizer, requests, way, edit, words):
    fake.ways = (way,)
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    fake.edit = edit
    with pytest.raises(ServerError, match=words):
        answers(model, requests)


def test_answers_about_other_tokens_are_refused(fake, tokenizer, requests):
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    fake.edit = _every(lambda choice: choice["prompt_logprobs"].insert(0, None))
    with pytest.raises(ServerError, match=r"other tokens than we sent.*Remedy: name the tokenizer"):
        answers(model, requests)


def test_ids_that_an_echo_names_are_held_against_ours(fake, tokenizer, requests):
    fake.ways = ("echo",)
    model = checked(fake.url, "tiny", tokenizer, **QUICK)
    fake.edit = _every(lambda choice: choice.update(prompt_token_ids=[1, 2, 3]))
    with pytest.raises(ServerError, match="other tokens than we sent"):
        answers(model, requests)


@pytest.mark.parametrize("way", WAYS)
def test_another_vocabulary_is_noticed_though_it_takes_our_ids(fake, engine, way):
    ours = tiny_tokenizer(["Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich"])
    assert len(ours) <= len(engine.tokenizer)  # so it takes all our ids
    fake.ways = (way,)
    with pytest.raises(ServerError, match="tokens are not those of the tokenizer: it reads"):
        checked(fake.url, "tiny", ours, **QUICK)


@pytest.mark.parametrize("blank", ["▁", "Ġ", ""])
def test_servers_write_blanks_in_their_own_way(fake, tokenizer, blank):
    def change(choice):
        for row in filter(None, choice["prompt_logprobs"]):
            for one in row.values():
                one["decoded_token"] = one.get("decoded_token", "x").replace(" ", blank)

    fake.edit = _every(change)
    checked(fake.url, "tiny", tokenizer, **QUICK)


@pytest.mark.parametrize(
    ("name", "value"), [("batch", 0), ("concurrent", 0), ("retries", -1), ("window", 3)]
)
def test_a_number_that_is_too_small_is_refused(tokenizer, name, value):
    with pytest.raises(TstmetaError, match=f"{name} is {value}; it must be at least {value + 1}"):
        ServerModel("http://localhost:1", "tiny", tokenizer, **{name: value})


@given(st.text(), st.integers(1, 300))
def test_a_strangers_words_stay_on_one_short_line(text, most):
    shown = said(text, most)
    assert len(shown) <= most
    assert all(sign.isprintable() for sign in shown)


def test_a_secret_is_masked_before_a_message_is_cut():
    assert KEY[:4] not in said("x" * 190 + KEY, mask=mask_of(KEY))


def test_the_fake_server_refuses_what_a_real_one_refuses(fake, tokenizer, engine):
    """The double counts a generated token, as servers do."""
    fake = replace(fake, window=10)
    status, _, body = fake.complete({"model": "tiny", "prompt": [5] * 10, "max_tokens": 1})
    assert (status, b"maximum context length" in body) == (400, True)
