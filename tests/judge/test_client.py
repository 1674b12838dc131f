"""A chat model behind a server that behaves, and one that does not: real HTTP on loopback."""

import json
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import scripted
from tests.judge.asking import ask, chat, question, questions, replies
from tests.judge.scripted import error, raw, says, serving
from tstmeta.judge import base, client
from tstmeta.judge.base import Reply, Sampling, reply
from tstmeta.models.connection import ServerError

PLAIN = Reply(text='{"rating": 3}', prompt_tokens=10, answer_tokens=5, model="tiny")


def test_every_setting_is_sent_for_servers_have_defaults_of_their_own():
    with serving() as server:
        assert ask(server, question("Größe 京都 \0 <b>", sampling=Sampling(seed=0))) == PLAIN
        (body,) = server.bodies
        assert body.pop("messages") == [{"role": "user", "content": "Größe 京都 \0 <b>"}]
        sent = {"model": "tiny", "temperature": 0.0, "top_p": 1.0, "max_tokens": 512, "seed": 0}
        assert body == sent


bare = partial(says, usage=None, model=None)
#: What a server sends, and the reply; None: it is no answer (more of that in ``test_faults.py``).
BODIES = [
    (raw('{"choices": [{"message": {"content": "4"}, "finish_reason": null}]}'), Reply(text="4")),
    (bare(None, finish="length"), Reply(finish="length")),
    (bare(None, finish="content_filter"), Reply(finish="content_filter")),
    (bare("\0"), Reply(text="\0")),
    (says("4", model=None, usage=("7", 1.0)), Reply("4", prompt_tokens=7, answer_tokens=1)),
    (raw('data: {"choices": []}'), None),
    (raw('{"choices": [{}]}'), None),
    (bare([{"type": "text", "text": "4"}]), None),
]


@pytest.mark.parametrize(("act", "expected"), BODIES)
def test_what_is_no_answer_is_a_failure_and_an_odd_one_is_still_an_answer(act, expected):
    if expected:
        assert reply(act.data) == expected
    else:
        assert reply(act.data).failure.startswith("no chat completion came: ")


#: Names of the protocol, for objects that hold anything under them.
NAMES = [
    *("choices", "message", "content", "refusal", "finish_reason", "usage", "logprobs", "text"),
    *("prompt_tokens", "model", "error", "code", "param", "detail", "loc", "token", "logprob"),
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(NAMES) | st.text(), inner),
    max_leaves=12,
)


@given(JSON.map(lambda value: json.dumps(value).encode()) | st.binary())
def test_nothing_that_a_server_sends_breaks_the_reader(data):
    read = reply(data)
    assert not read.failure or read == Reply(failure=read.failure)
    assert len(read.failure) < 300
    assert read.failure.isprintable()
    for status in (302, 400, 401, 422, 429, 500):
        base.refused_field(status, data, {"seed": 1, "top_p": 1.0})
        with suppress(ServerError):
            assert base.error(status, data).failure or b"content_filter" in data


def test_a_text_that_cannot_be_sent_is_told_and_not_sent():
    with serving() as server:
        assert "half a character" in ask(server, question("\ud800")).failure
        assert server.requests == 0


@pytest.mark.parametrize(
    ("asked", "field", "complaint"),
    [
        (question(schema={}), "response_format", error(400, "json_schema is not supported")),
        (question(sampling=Sampling(seed=1)), "seed", raw('{"detail": [{"loc": ["body", "seed"]}]}',
                                                          status=422)),
        (question(), "max_tokens", error(400, "use 'max_completion_tokens'")),
        (question(), "top_p", error(400, "unsupported: top_p")),
        # as llama-cpp-python's server says it
        (question(schema={}), "response_format", error(500, "('body', 'response_format', 'type')")),
    ],
)  # fmt: skip
def test_a_field_that_a_server_refuses_is_left_out_from_then_on_and_told(asked, field, complaint):
    with serving(lambda request: complaint if field in request.body else None) as server:
        served = chat(server, retries=0)
        assert replies(served, asked, asked) == [PLAIN, PLAIN]
        assert server.requests == 3
        assert ("max_completion_tokens" in server.bodies[-1]) == (field == "max_tokens")
    assert served.notes == [f"{server.url} takes no {field}"]


@pytest.mark.parametrize(("refused", "requests"), [("seed, top_p", 3), ("temperature: only 1", 1)])
def test_what_does_not_help_is_not_remembered_and_no_temperature_is_changed(refused, requests):
    with serving(lambda asked: error(400, f"unsupported {refused}")) as server:
        served = chat(server)
        assert "unsupported" in replies(served, question(sampling=Sampling(seed=1)))[0].failure
        assert server.requests == requests
    assert served.notes == []


@pytest.mark.parametrize(
    "act",
    [
        error(401, "wrong key"),
        error(400, fields={"code": "model_not_found"}),
        error(429, fields={"code": "insufficient_quota"}),
        scripted.Act(302, headers={"location": "http://elsewhere"}),
    ],
    ids=lambda act: act.status,
)
def test_a_server_that_can_answer_nothing_says_so_at_once(act):
    with serving(lambda asked: act) as server:
        with pytest.raises(ServerError, match=rf"answers {act.status}.*Remedy: see the API key"):
            ask(server, retries=0)
        assert server.requests == 1


def test_a_server_that_answers_nobody_is_given_up_and_one_answer_shows_that_it_lives(monkeypatch):
    monkeypatch.setattr(client, "DEAD", 3)
    with serving(lambda asked: error(500, "oh") if asked.number % 3 else None) as server:
        nine = replies(chat(server, retries=0), *questions(9))
    assert [bool(each.failure) for each in nine] == [True, True, False] * 3
    words = r"no answer to any of 3 questions in a row.*500: oh"
    with serving(lambda asked: error(500, "oh")) as server, pytest.raises(ServerError, match=words):
        replies(chat(server, retries=0), *questions(3))


def test_a_proxy_of_the_environment_does_not_come_between_us_and_this_machine(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving() as server:
        assert ask(server) == PLAIN
