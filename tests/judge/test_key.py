"""The API key goes to the server and nowhere else: not into logs, files, tables or messages.

A recognisable key is put into the environment, servers do their best to give it away, and
everything that is printed, logged, written or raised is searched for it, bare and encoded.
"""

import base64
import json
import logging
import os
import subprocess
import sys
import traceback
import urllib.parse

import pytest

from tests.command import command_line
from tests.judge import scripted
from tests.judge.asking import question
from tests.judge.scripted import error, raw, says
from tstmeta import metrics
from tstmeta.judge.client import connect
from tstmeta.judge.prompts import load
from tstmeta.metrics.judges import Judge

KEY = "sk-test+Kx7/Recognise_Me.0123456789"
BEARER = f"Bearer {KEY}"


def spellings() -> set[bytes]:
    """The key as it may be written: bare, in a URL, in JSON, in base64 at any offset."""
    plain = KEY.encode()
    found = {plain, urllib.parse.quote(KEY, safe="").encode(), plain[::-1], KEY.upper().encode()}
    found.add(json.dumps(KEY).strip('"').replace("/", "\\/").encode())
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + plain + b"\0" * 3)
        found.add(coded[4:-8])  # what does not depend on its neighbours
    return found


def leaks(data: bytes | str) -> list[bytes]:
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return sorted(one for one in spellings() if one in data)


def test_the_search_finds_the_key_however_it_is_written():
    for before in ("", "x", "xy", "user:"):
        assert leaks(base64.b64encode(f"{before}{KEY}:z".encode()))
    assert leaks(f"Authorization: {BEARER}")
    assert leaks(json.dumps({"key": KEY}))
    assert not leaks(KEY[:12])


# ------------------------------------------------------------------------- what servers say


def giving_away(field):
    """A good completion with the key in one of its fields."""
    made = json.loads(says("4").data)
    choice = made["choices"][0]
    if field in ("model", "id", "system_fingerprint"):
        made[field] = f"x {KEY}"
    elif field in ("content", "refusal"):
        choice["message"][field] = f"my key is {KEY}, 4"
    elif field == "finish":
        choice["finish_reason"] = KEY
    elif field == "tokens":
        one = {"token": KEY, "logprob": -0.1, "bytes": None}
        choice["logprobs"] = {"content": [{**one, "top_logprobs": [one]}]}
    return raw(made)


SERVERS = {
    "all is well": lambda asked: says("4"),
    "401 that says it back": lambda asked: error(401, f"Incorrect API key: {KEY}"),
    "403 with the header": lambda asked: error(403, asked.headers.get("authorization", "")),
    "404": lambda asked: error(404, f"no model for {KEY}"),
    "400": lambda asked: error(400, f"bad request by {KEY}"),
    "500 for ever": lambda asked: error(500, f"log: {asked.headers}"),
    "429 for ever": lambda asked: error(429, f"{KEY} asks too often", retry_after="0"),
    "a page": lambda asked: raw(f"<h1>{KEY}</h1>", kind="text/html"),
    "no JSON": lambda asked: raw(f"{{'key': '{KEY}'"),
    "JSON that is no completion": lambda asked: raw({"error": KEY}),
    "a header": lambda asked: error(500, "no", x_request_id=KEY),
    "a redirect": lambda asked: error(307, "", location=f"/v1/elsewhere?key={KEY}"),
    "a reset": lambda asked: scripted.reset(),
    "half an answer": lambda asked: scripted.half(),
    **{
        f"the answer's {field}": lambda asked, field=field: giving_away(field)
        for field in ("model", "id", "content", "refusal", "finish", "tokens", "system_fingerprint")
    },
}


@pytest.fixture
def tstmeta(tmp_path, monkeypatch, caplog):
    """Run a command with the key in the environment, and with everything logged."""
    run = command_line(tmp_path, monkeypatch)
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "mine.csv").write_text("source,output,style\nx,y,formal\nu,v,formal\n")
    (tmp_path / "texts.txt").write_text("Send me the file now.\n")
    return run


def judge_run(url):
    words = ["judge", "run", "-d", "mine.csv", "-p", "content", "--server", url, "-m", "tiny"]
    return [*words, "--retries", "0", "--timeout", "2", "--out", "rows.csv", "--logprobs"]


def scoring(url):
    return ["score", "-d", "mine.csv", "-m", f"judge:{url}#tiny+content", "--out", "s.csv"]


def construct(url):
    words = ["construct", "--style", "formal", "--sources", "texts.txt", "--server", url]
    return [*words, "--model", "tiny", "--out", "made", "--retries", "0", "--timeout", "2"]


COMMANDS = {"judge run": judge_run, "score": scoring, "construct": construct}


def everything(result, caplog, folder) -> dict[str, bytes]:
    """All that a command left behind, by where it is."""
    # at DEBUG, which somebody must ask for, the client writes down what headers servers send
    records = [one for one in caplog.records if one.levelno >= logging.INFO]
    found = {
        "stdout and stderr": result.output.encode(),
        "stderr": result.stderr.encode(),
        "log": "\n".join(f"{one.getMessage()} {one.args}" for one in records).encode(),
    }
    if result.exception:
        lines = traceback.format_exception(result.exception)
        found["exception"] = "".join([*lines, repr(result.exception.args)]).encode()
    for path in folder.rglob("*"):
        if path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


@pytest.mark.parametrize("name", SERVERS)
def test_no_server_makes_a_run_give_the_key_away(tstmeta, caplog, tmp_path, name):
    with scripted.serving(SERVERS[name]) as server:
        result = tstmeta(*judge_run(server.url))
        assert server.keys == {BEARER}, "the key was sent, or there is nothing to search for"
    found = everything(result, caplog, tmp_path)
    assert {where: leaks(data) for where, data in found.items() if leaks(data)} == {}
    assert any("answers.sqlite" in where for where in found)


@pytest.mark.parametrize("name", ["401 that says it back", "500 for ever", "the answer's content"])
@pytest.mark.parametrize("command", ["score", "construct"])
def test_no_other_command_gives_it_away_either(tstmeta, caplog, tmp_path, command, name):
    monkey = {"500 for ever": "400"}.get(name, name)  # score has no option for retries
    with scripted.serving(SERVERS[monkey if command == "score" else name]) as server:
        result = tstmeta(*COMMANDS[command](server.url))
        assert server.keys == {BEARER}
    found = everything(result, caplog, tmp_path)
    assert {where: leaks(data) for where, data in found.items() if leaks(data)} == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_connection_that_is_refused_gives_nothing_away(tstmeta, caplog, tmp_path, command):
    result = tstmeta(*COMMANDS[command]("http://127.0.0.1:9/v1"))
    found = everything(result, caplog, tmp_path)
    assert result.exit_code
    assert {where: leaks(data) for where, data in found.items() if leaks(data)} == {}


URLS = {
    "a password": f"http://me:{urllib.parse.quote(KEY, safe='')}@HOST/v1",
    "a user": f"http://{urllib.parse.quote(KEY, safe='')}@HOST/v1",
    "a query": f"http://HOST/v1?api_key={urllib.parse.quote(KEY, safe='')}",
}


@pytest.mark.parametrize("url", URLS.values(), ids=URLS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_key_in_the_address_stays_there(tstmeta, caplog, tmp_path, monkeypatch, url, command):
    monkeypatch.delenv("OPENAI_API_KEY")
    with scripted.serving(SERVERS["403 with the header"]) as server:
        host = server.url.removeprefix("http://").removesuffix("/v1")
        result = tstmeta(*COMMANDS[command](url.replace("HOST", host)))
    found = everything(result, caplog, tmp_path)
    assert {where: leaks(data) for where, data in found.items() if leaks(data)} == {}


def test_another_variable_may_hold_the_key_and_the_usual_one_is_left_alone(
    tstmeta, caplog, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-altogether")
    monkeypatch.setenv("MY_VENDOR_KEY", KEY)
    with scripted.serving(SERVERS["401 that says it back"]) as server:
        result = tstmeta(*judge_run(server.url), "--key-variable", "MY_VENDOR_KEY")
        assert server.keys == {BEARER}
    found = everything(result, caplog, tmp_path)
    assert {where: leaks(data) for where, data in found.items() if leaks(data)} == {}


@pytest.mark.parametrize("name", ["the answer's content", "401 that says it back"])
def test_not_even_the_clients_own_debug_log_shows_it(tstmeta, tmp_path, name):
    with scripted.serving(SERVERS[name]) as server:
        done = subprocess.run(
            [sys.executable, "-m", "tstmeta", *judge_run(server.url)],
            cwd=tmp_path,
            env={**os.environ, "OPENAI_LOG": "debug"},
            capture_output=True,
            timeout=120,
            check=False,
        )
        assert server.keys == {BEARER}
    assert b"POST" in done.stderr, "the log is on"
    # the answer's own bytes are no business of a log of requests
    assert leaks(done.stdout + done.stderr) == []


def test_objects_do_not_show_it_in_their_repr(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = connect("http://127.0.0.1:9/v1", "tiny")
    judge = Judge(chat=chat, prompt=load("content"))
    named = metrics.get("judge:http://127.0.0.1:9/v1#tiny+content")
    shown = [repr(one) for one in (chat, judge, named, vars(judge), judge.signature("source"))]
    shown += [str(chat), judge.name, question().key(chat.server, chat.model)]
    assert leaks(" ".join(shown)) == []


def test_the_key_that_is_given_is_taken_as_it_is(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(Exception, match="copy it anew") as caught:
        connect("http://127.0.0.1:9/v1", "tiny", key=f"{KEY}\u00e9")
    assert leaks("".join(traceback.format_exception(caught.value))) == []
