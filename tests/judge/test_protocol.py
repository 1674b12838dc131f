"""What is sent for a question, and what an answer means, without any connection."""

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.scripted import says
from tstmeta.judge import protocol
from tstmeta.judge.base import Message, Question, Reply, Sampling, TokenChoice, Unusable
from tstmeta.judge.protocol import Again, Refused, body, reply, verdict

#: Names of the protocol, for objects that hold anything under them.
NAMES = [
    *("choices", "message", "content", "refusal", "finish_reason", "usage", "logprobs", "text"),
    *("prompt_tokens", "model", "error", "code", "param", "detail", "loc", "token", "logprob"),
]


def question(**fields: Any) -> Question:
    return Question((Message("system", "Be fair."), Message("user", "Rate.")), **fields)


# ---------------------------------------------------------------------------------- questions


def test_every_setting_is_sent_for_servers_have_defaults_of_their_own():
    assert body(question(), "m") == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be fair."},
            {"role": "user", "content": "Rate."},
        ],
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 512,
    }


@pytest.mark.parametrize("seed", [0, 7, None])
def test_a_seed_is_sent_as_it_is_also_if_it_is_zero(seed):
    made = body(question(sampling=Sampling(seed=seed), sample=3), "m")
    assert made.get("seed") == seed
    assert ("seed" in made) == (seed is not None)


def test_a_schema_and_log_probabilities_are_asked_for_in_the_words_of_the_protocol():
    made = body(question(schema={"type": "object"}, sampling=Sampling(top_logprobs=5)), "m")
    assert made["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert (made["logprobs"], made["top_logprobs"]) == (True, 5)


@pytest.mark.parametrize(
    ("field", "gone", "comes"),
    [
        ("response_format", {"response_format"}, set()),
        ("seed", {"seed"}, set()),
        ("logprobs", {"logprobs", "top_logprobs"}, set()),
        ("max_tokens", {"max_tokens"}, {"max_completion_tokens"}),
        ("top_p", {"top_p"}, set()),
        ("temperature", {"temperature"}, set()),
    ],
)
def test_a_field_that_a_server_does_not_take_is_left_out(field, gone, comes):
    whole = question(schema={}, sampling=Sampling(seed=1, top_logprobs=2))
    before, after = body(whole, "m"), body(whole, "m", frozenset({field}))
    assert before.keys() - after.keys() == gone
    assert after.keys() - before.keys() == comes


# ------------------------------------------------------------------------------------ answers


def test_an_answer_is_read_as_it_came():
    found = reply(says("4", usage=(7, 2), model="tiny-v2").data)
    assert found == Reply(text="4", prompt_tokens=7, answer_tokens=2, model="tiny-v2")


def one(**message: Any) -> bytes:
    finish = message.pop("finish", "stop")
    return json.dumps({"choices": [{"message": message, "finish_reason": finish}]}).encode()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (one(content=""), Reply(text="")),
        (one(content="4", finish=None), Reply(text="4")),
        (one(content="4", finish="length"), Reply(text="4", finish="length")),
        (one(content=None, finish="length"), Reply(finish="length")),
        (one(content=None, finish="content_filter"), Reply(finish="content_filter")),
        (one(content=None, refusal="I will not."), Reply(refusal="I will not.")),
        (one(content=[{"type": "text", "text": "a"}, {"text": "b"}]), Reply(text="ab")),
        (one(content="\ud800 \0"), Reply(text="\ud800 \0")),
        ('{"choices": [{"message": {"content": "é"}}]}'.encode(), Reply(text="é")),
    ],
)
def test_odd_answers_are_still_answers(data, expected):
    assert reply(data) == expected


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "the answer is empty"),
        (b" \n ", "the answer is empty"),
        (b"<html>hello</html>", "the answer is a web page"),
        (b'{"choices": [{"mess', "the answer is no JSON, or cut short: {"),
        (b'data: {"choices": []}', "the answer is no JSON"),
        ('{"choices": "é"}'.encode("latin-1"), "the answer is not in UTF-8"),
        (b"[" * 100_000, "the answer is no JSON"),
        (b"[1, 2]", "the answer is JSON, but no object"),
        (b"{}", "there is no choice"),
        (b'{"choices": []}', "there is no choice"),
        (b'{"choices": {"0": 1}}', "there is no choice"),
        (b'{"error": {"message": "bad", "code": "x"}}', "there is no choice"),
        (b'{"choices": [{}]}', "there is no text"),
        (one(content=None), "there is no text"),
        (one(content=3), "there is no text"),
        (one(content=[]), "there is no text"),
        (one(content={"text": "4"}), "there is no text"),
    ],
)
def test_what_is_no_answer_is_a_failure_that_says_why(data, why):
    found = reply(data)
    assert found.failure.startswith(why)
    assert found == Reply(failure=found.failure)
    assert len(found.failure) < 300
    assert found.failure.isprintable()


@pytest.mark.parametrize(("code", "busy"), [(429, True), (502, False)])
def test_an_error_that_a_gateway_sends_as_a_success_is_tried_again(code, busy):
    with pytest.raises(Again, match="overloaded") as caught:
        reply(json.dumps({"error": {"code": code, "message": "overloaded"}}).encode())
    assert caught.value.busy is busy


def test_a_text_that_is_too_long_is_cut_and_ends_as_one_that_ran_out_of_tokens():
    found = reply(says("x" * 1_000_000).data)
    assert (len(found.text), found.finish) == (protocol.LONGEST_TEXT, "length")


@pytest.mark.parametrize("value", [None, -1, True, "7", 7.0, 10**30, float("nan")])
def test_a_count_of_tokens_that_is_none_is_not_taken(value):
    data = json.loads(says("4").data) | {"usage": {"prompt_tokens": value}}
    found = reply(json.dumps(data).encode())
    assert (found.text, found.prompt_tokens, found.answer_tokens) == ("4", None, None)


def test_log_probabilities_come_token_by_token():
    others = [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -2.5}]
    data = says("4", logprobs=[{"token": "4", "logprob": -0.1, "top_logprobs": others}]).data
    assert reply(data).tokens == (TokenChoice("4", -0.1, (("4", -0.1), ("5", -2.5))),)


@pytest.mark.parametrize(
    "broken",
    [
        [{"token": "4"}],
        [4],
        [{"token": "4", "logprob": "-1"}],
        [{"token": "4", "logprob": True}],
        [{"token": "4", "logprob": float("nan")}],
        [{"logprob": -1.0}],
    ],
)
def test_malformed_log_probabilities_are_dropped_whole(broken):
    good = {"token": "4", "logprob": -0.1}
    found = reply(says("4", logprobs=[good, *broken]).data)
    assert (found.text, found.tokens) == ("4", ())


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_json_of_a_server_breaks_the_reader(value):
    """Objects with the names of the protocol in the wrong places and of the wrong types."""
    data = json.dumps(value).encode()
    with suppress(Again):
        found = reply(data)
        assert isinstance(found.text, str)
        assert found.failure or found.text or found.refusal or found.finish
    for status in (400, 401, 422, 429, 500):
        with suppress(Again, Refused, Unusable):
            verdict(status, {"retry-after": str(value)[:20]}, data, {"seed": 1, "top_p": 1.0})


@given(st.binary())
def test_no_bytes_of_a_server_break_the_reader(data):
    with suppress(Again):
        assert isinstance(reply(data), Reply)
    assert isinstance(verdict(400, {}, data, {}), Reply)


# ------------------------------------------------------------------------------------- errors


def told(message: str = "no", **fields: Any) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


@pytest.mark.parametrize(
    ("status", "headers", "after", "busy"),
    [
        (408, {}, 0, False),
        (409, {}, 0, False),
        (429, {}, 0, True),
        (429, {"retry-after": "7"}, 7, True),
        (429, {"retry-after": "0.5"}, 0.5, True),
        (429, {"retry-after-ms": "1500", "retry-after": "9"}, 1.5, True),
        (429, {"retry-after": "-3"}, 0, True),
        (429, {"retry-after": "soon"}, 0, True),
        (429, {"retry-after": "nan"}, 0, True),
        (429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0, True),
        (500, {}, 0, False),
        (500, {"retry-after": "86400"}, 300, False),
        (502, {}, 0, False),
        (503, {}, 0, False),
        (503, {"retry-after": "2"}, 2, True),
        (529, {}, 0, False),
    ],
)
def test_what_may_pass_is_tried_again(status, headers, after, busy):
    with pytest.raises(Again, match=f"answers {status}: no") as caught:
        verdict(status, headers, told(), {})
    assert (caught.value.after, caught.value.busy) == (after, busy)
    assert not caught.value.broke


def test_a_time_to_come_again_may_be_a_date():
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with pytest.raises(Again) as caught:
        verdict(429, {"retry-after": then}, told(), {})
    assert 85 < caught.value.after <= 90


@pytest.mark.parametrize(
    ("status", "headers", "data", "remedy"),
    [
        (401, {}, told("bad key"), "see the API key"),
        (403, {}, told(), "see the API key"),
        (404, {}, told("no model m"), "the model's name"),
        (405, {}, b"", "the URL ends where"),
        (301, {}, b"", "the URL that it leads to"),
        (402, {}, told(), "quota"),
        (429, {}, told(code="insufficient_quota"), "quota"),
        (429, {"retry-after": "86400"}, told(), "asks to wait 86,400 s. Remedy: run again"),
        (400, {}, told(code="model_not_found"), "the model's name"),
        (418, {}, told(), "mend what the server says"),
    ],
)
def test_what_no_question_can_survive_is_said_with_its_remedy(status, headers, data, remedy):
    with pytest.raises(Unusable, match=remedy):
        verdict(status, headers, data, {})


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (told("the prompt is bad"), "the server answers 400: the prompt is bad"),
        (told("maximum context length is 8, max_tokens or max_completion_tokens"), "context"),
        (told("max_tokens is too large"), "too large"),
        (b'{"detail": "no such thing"}', "no such thing"),
        (b'{"message": "no such thing"}', "no such thing"),
        (b"plain words", "plain words"),
        (b"<html>page</html>", "the server answers 400"),
        (b"\xff\xfe", "the server answers 400"),
        (b"", "the server answers 400"),
        (b"null", "the server answers 400"),
        # what was sent may be repeated: a word of it is no complaint about a field
        (told('"sow the seed of doubt" is toxic'), "seed of doubt"),
    ],
)
def test_a_question_that_the_server_rejects_fails_alone(data, words):
    sent = {"seed": 1, "max_tokens": 5, "temperature": 0.0, "top_p": 1.0}
    found = verdict(400, {}, data, sent)
    assert words in found.failure


def test_what_a_filter_of_the_vendor_stops_is_a_refusal():
    found = verdict(400, {}, told("policy", code="content_filter"), {})
    assert found == Reply(finish="content_filter", refusal="policy")


@pytest.mark.parametrize(
    ("data", "field"),
    [
        (told("Unsupported parameter", param="seed"), "seed"),
        (told("response_format is not supported"), "response_format"),
        (told("Invalid schema for response_format 'answer'"), "response_format"),
        (told("bad", param="response_format.json_schema"), "response_format"),
        (told("this model does not support logprobs"), "logprobs"),
        (told("Unknown field top_logprobs"), "logprobs"),
        (told("Unsupported: 'max_tokens'. Use 'max_completion_tokens'."), "max_tokens"),
        (told("unsupported", param="top_p"), "top_p"),
        (b'{"detail": [{"loc": ["body", "seed"], "input": {"logprobs": 1}}]}', "seed"),
    ],
)
def test_a_field_that_the_server_does_not_take_is_named(data, field):
    sent = {"response_format": 1, "seed": 1, "logprobs": True, "top_logprobs": 1, "max_tokens": 1}
    for status in (400, 422):
        with pytest.raises(Refused) as caught:
            verdict(status, {}, data, sent | {"temperature": 0.0, "top_p": 1.0})
        assert caught.value.field == field


def test_a_field_that_was_not_sent_cannot_be_refused():
    found = verdict(400, {}, told("seed is not supported"), {"temperature": 0.0})
    assert found.failure == "the server answers 400: seed is not supported"


def test_a_temperature_is_never_changed_in_silence():
    data = told("temperature does not support 0, only 1", param="temperature")
    with pytest.raises(Unusable, match="Remedy: ask with the temperature that this model takes"):
        verdict(400, {}, data, {"temperature": 0.0})
    with pytest.raises(Refused):  # 1 is what a model does that takes none
        verdict(400, {}, data, {"temperature": 1.0})
