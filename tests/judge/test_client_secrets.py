"""The key and the user of a URL go to the server and nowhere else; slips are told at once."""

import asyncio
import base64
import logging
import sys
import traceback
from urllib.parse import quote

import pytest

from tests.judge import scripted
from tests.judge.asking import ask, chat, free_port, once, question
from tests.judge.scripted import error, says, serving
from tstmeta.judge.base import Unusable
from tstmeta.judge.client import connect
from tstmeta.schema import TstmetaError

KEY = "sk-very-hidden-0123456789abcdef"


def test_the_key_goes_to_the_server_and_nowhere_else(caplog, monkeypatch, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-hidden-42")
    caplog.set_level(logging.DEBUG)
    headers: list[dict] = []
    acts = iter(
        [
            says(f"your key is {KEY}"),
            scripted.raw(f"no JSON {KEY}"),
            error(400, KEY),
            scripted.raw(KEY, status=500),
            error(401, f"wrong key {KEY}"),
        ]
    )

    def script(asked):
        headers.append(asked.headers)
        return next(acts)

    shown = []
    with serving(script) as server:
        served = chat(server, key=None, retries=0)
        shown += [repr(served), str(served), str(served.notes), served.server]
        shown += [repr(asyncio.run(once(served, question()))) for _ in range(4)]
        with pytest.raises(Unusable) as caught:
            asyncio.run(once(served, question()))
        assert server.keys == {f"Bearer {KEY}"}
    shown += traceback.format_exception(caught.value)
    shown += [caplog.text, *capfd.readouterr()]
    assert "openai" in caplog.text  # something was logged
    assert not [text for text in shown if KEY in text]
    assert not any("org-hidden-42" in str(one) for one in headers)


def test_no_key_sends_no_header(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "")
    with serving() as server:
        ask(server, key=None)
        assert server.keys == {""}


def test_a_key_meant_for_another_server_is_not_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {KEY}")
    with serving() as server:
        ask(server, key="mine-0123")
        assert server.keys == {"Bearer mine-0123"}


def test_a_user_in_the_url_is_sent_but_never_shown(caplog):
    caplog.set_level(logging.DEBUG)
    with serving(lambda asked: error(400, "who is hidden-pass")) as server:
        served = connect(server.url.replace("//", "//a%40b:hidden-pass@"), "tiny", key="")
        found = asyncio.run(once(served, question()))
        sent = base64.b64encode(b"a@b:hidden-pass").decode()
        assert server.keys == {f"Basic {sent}"}
    for text in (repr(served), served.server, repr(found), caplog.text):
        assert "hidden-pass" not in text
        assert sent not in text


LETTERS = "sk-named-0123456789"
USERS = {
    "a user and a password": ("me:hidden/pass", ["hidden/pass"]),
    "a short user and a password": ("a:hidden", ["hidden"]),
    "a key as the user": (LETTERS, [LETTERS]),
    "a key as the user, nothing after": (f"{LETTERS}:", [LETTERS]),
    "a key as the password": (f":{LETTERS}", [LETTERS]),
}


@pytest.mark.parametrize(("user", "secrets"), USERS.values(), ids=USERS)
@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_no_secret_of_the_url_comes_back_bare_or_encoded(user, secrets, status):
    name, _, word = user.partition(":")
    coded = base64.b64encode(f"{name}:{word}".encode()).decode()

    def script(asked):
        heard = f"Authorization: {asked.headers['authorization']}, {coded.rstrip('=')}, {secrets}"
        return says(heard) if status == 200 else error(status, heard)

    url = quote(user, safe=":")
    with serving(script) as server:
        served = connect(server.url.replace("//", f"//{url}@"), "tiny", key="", retries=0)
        try:
            found = repr(asyncio.run(once(served, question())))
        except Unusable as unusable:
            found = "".join(traceback.format_exception(unusable))
        assert server.keys == {f"Basic {coded}"}
    assert "Basic ***" in found
    assert not [one for one in (coded.rstrip("="), *secrets) if one in found]


@pytest.mark.parametrize("word", ["x", "1", "pass5"])
def test_a_password_too_short_to_be_kept_out_of_answers_is_refused(word):
    with pytest.raises(TstmetaError, match="password in the URL has fewer than 6") as caught:
        connect(f"http://ann:{word}@localhost/v1", "m", key="")
    assert f":{word}" not in str(caught.value)
    assert "pass5" not in str(caught.value)


@pytest.mark.parametrize("options", [{"key": "EMPTY"}, {"key": "", "user": "ann"}])
def test_what_stands_for_no_key_spoils_no_answer(options):
    with serving(lambda asked: says("An EMPTY plan by ann")) as server:
        user = options.pop("user", "")
        url = server.url.replace("//", f"//{user}@") if user else server.url
        found = asyncio.run(once(connect(url, "tiny", **options), question()))
    assert found.text == "An EMPTY plan by ann"


@pytest.mark.parametrize("key", ["short key", "clé", "a\nb"])
def test_a_key_that_no_header_takes_is_refused_without_being_shown(key):
    with pytest.raises(TstmetaError, match="the API key has a sign") as caught:
        connect("http://localhost:1/v1", "m", key=key)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"url": "localhost:8000"}, "no URL of a server"),
        ({"url": "ftp://x"}, "no URL of a server"),
        ({"model": " "}, "no model is named"),
        ({"timeout": 0}, "above 0 seconds"),
        ({"timeout": float("nan")}, "above 0 seconds"),
        ({"pause": -1.0}, "above 0 seconds"),
        ({"retries": -1}, "retries is -1"),
        ({"url": "http://ann:password@localhost/v1", "key": "k"}, "both an API key and a user"),
    ],
)
def test_a_slip_of_the_pen_is_told_before_anything_is_sent(options, words):
    given = {"url": "http://localhost:1/v1", "model": "m"} | options
    with pytest.raises(TstmetaError, match=words):
        connect(**given)


def test_without_the_package_only_a_question_fails(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    served = connect("http://localhost:1/v1", "m", key="")
    with pytest.raises(Unusable, match=r"pip install 'tstmeta\[judge\]'"):
        asyncio.run(served.ask(question()))


def test_a_proxy_of_the_environment_does_not_come_between_us_and_this_machine(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with serving() as server:
        assert ask(server).text == '{"rating": 3}'
