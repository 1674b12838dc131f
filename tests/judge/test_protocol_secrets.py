"""What a server repeats of a secret is in no answer, no token and no message of ours."""

import json
from urllib.parse import quote

import pytest

from tests.judge.scripted import says
from tstmeta.judge.base import Unusable
from tstmeta.judge.protocol import Again, reply, verdict
from tstmeta.secrecy import blotter

KEY = "sk-hidden-0123456789"
MASK = blotter(KEY)


def told(message):
    return json.dumps({"error": {"message": message}}).encode()


def test_a_secret_that_the_server_repeats_is_blotted_out_everywhere():
    token = {"token": KEY, "logprob": -1.0, "top_logprobs": [{"token": KEY, "logprob": -1.0}]}
    made = json.loads(says(f"my key is {KEY}", refusal=KEY, logprobs=[token], model=KEY).data)
    made["system_fingerprint"] = KEY
    found = reply(json.dumps(made).encode(), MASK)
    assert KEY not in repr(found)
    assert found.text == "my key is ***"
    assert KEY not in repr(reply(f"no JSON: {KEY}".encode(), MASK))


def tokens_of(*texts, others=()):
    alike = [{"token": other, "logprob": -2.0} for other in others]
    return [{"token": text, "logprob": -0.5, "top_logprobs": alike} for text in texts]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (f"It is {KEY}.", tokens_of("It is ", *KEY, ".")),
        (f"It is {KEY}.", tokens_of("It", " is", KEY[:5], KEY[5:], ".")),
        ("4", tokens_of(KEY[:7], KEY[7:])),
        (KEY, tokens_of("##" + KEY[:7], "##" + KEY[7:])),
        ("4", tokens_of("4", others=["5", f" {KEY}"])),
    ],
    ids=["letters", "pieces", "not in the text", "marked pieces", "could stand there"],
)
def test_tokens_that_spell_a_secret_are_dropped_whole(text, tokens):
    data = says(text, logprobs=tokens).data
    assert len(reply(data).tokens) == len(tokens)
    assert reply(data, MASK).tokens == ()
    assert reply(data, MASK).text == text.replace(KEY, "***")


def test_tokens_without_a_secret_stay_when_there_is_one():
    tokens = tokens_of("4", ".", others=[KEY[:3]])
    found = reply(says("4.", logprobs=tokens).data, MASK)
    assert [one.token for one in found.tokens] == ["4", "."]


def test_of_several_secrets_the_longest_is_blotted_out_first():
    mask = blotter("secret", "secret-and-more", "")
    assert reply(says("secret-and-more, secret, more").data, mask).text == "***, ***, more"
    assert blotter("", "") is None


@pytest.mark.parametrize(
    "secret", ['a"quote\\d', "Größe-京都", "with/slash+and=more", "per%cent d"]
)
def test_a_secret_is_blotted_out_however_it_is_escaped(secret):
    whole = json.dumps({"error": {"heard": secret}})
    for data in (whole, whole.replace("/", "\\/"), f"no JSON {quote(secret, safe='')}", secret):
        failure = verdict(400, {}, data.encode(), {}, blotter(secret)).failure
        assert "***" in failure
        spellings = {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}
        assert not [one for one in spellings if one in failure]


@pytest.mark.parametrize("before", range(1980, 2001, 4))
def test_a_secret_where_an_excerpt_is_cut_leaves_no_part_of_itself(before):
    data = (" " * before + KEY).encode()
    assert KEY[:4] not in repr(reply(b"{" + data, MASK))
    assert KEY[:4] not in repr(verdict(400, {}, b"x" + data, {}, MASK))
    assert KEY[:4] not in repr(verdict(400, {}, told(" " * (before + 3000) + KEY), {}, MASK))


@pytest.mark.parametrize("data", [told(f"key {KEY} is wrong"), f"key {KEY}".encode()])
def test_no_error_repeats_a_secret(data):
    assert verdict(400, {}, data, {}, MASK).failure.startswith("the server answers 400: key ***")
    for status, kind in ((401, Unusable), (429, Again)):
        with pytest.raises(kind, match=r"key \*\*\*") as caught:
            verdict(status, {}, data, {}, MASK)
        assert KEY not in str(caught.value)
