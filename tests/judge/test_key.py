"""The API key goes to the server and nowhere else: not into logs, files, tables or messages.

A recognisable key is put into the environment, servers do their best to give it away, and
everything that is printed, logged, written or raised is searched for it, bare and encoded.
"""

import base64
import json
import logging
import re
import subprocess
import sys
import traceback
import urllib.parse

import pytest

from tests.command import command_line
from tests.judge import scripted
from tests.judge.asking import ask
from tests.judge.scripted import error, raw, says, serving
from tstmeta.judge.base import error as failure
from tstmeta.judge.base import reply
from tstmeta.models.connection import ServerError
from tstmeta.secrecy import mask_of

KEY = "sk-test+Kx7/Recognise_Me.0123456789"
BEARER = f"Bearer {KEY}"


def spellings() -> set[bytes]:
    """The key as it may be written: bare, in a URL, in JSON, in base64 at any offset."""
    plain = KEY.encode()
    found = {plain, urllib.parse.quote(KEY, safe="").encode()}
    found.add(json.dumps(KEY).strip('"').replace("/", "\\/").encode())
    for before in range(3):
        coded = base64.b64encode(b"\0" * before + plain + b"\0" * 3)
        found.add(coded[4:-8])  # what does not depend on its neighbours
    return found


def unescaped(data: bytes) -> bytes:
    """The data without escapes, also of JSON within JSON."""
    for _ in range(3):
        data = re.sub(rb"\\u00([0-9a-fA-F]{2})", lambda m: bytes([int(m[1], 16)]), data)
        data = re.sub(rb"\\([\\/\"'])", rb"\1", data)
    return data


def leaks(data: bytes | str) -> list[bytes]:
    data = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    bare = unescaped(data)
    return sorted(spelling for spelling in spellings() if spelling in data or spelling in bare)


def coded(text: str) -> str:
    return "".join(f"\\u{ord(sign):04X}" for sign in text)


ANSWER = json.loads(says(f"my key is {KEY}, 4", finish=KEY, model=KEY).data)
ANSWER |= {"id": KEY, "system_fingerprint": KEY}
SERVERS = {
    "all is well": lambda asked: says("4"),
    "403 with the header": lambda asked: error(403, asked.headers.get("authorization", "")),
    "500 for ever": lambda asked: error(500, f"log: {asked.headers}"),
    "a header": lambda asked: error(500, "no", x_request_id=KEY),
    "a redirect": lambda asked: error(307, "", location=f"/v1/elsewhere?key={KEY}"),
    "half an answer": lambda asked: scripted.HALF,
    "an answer": lambda asked: raw(ANSWER),
    "an answer with escapes": lambda asked: raw(json.dumps(ANSWER).replace(KEY, coded(KEY))),
}


@pytest.fixture
def tstmeta(tmp_path, monkeypatch, caplog):
    """Run a command with the key in the environment, and with everything logged."""
    run = command_line(tmp_path, monkeypatch)
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    (tmp_path / "mine.csv").write_text("source,output,style\nx,y,formal\n")
    (tmp_path / "texts.txt").write_text("Send me the file now.\n")
    return run


SERVED = "--server URL --model tiny --retries 0 --timeout 2"
JUDGE = f"judge run -d mine.csv -p content --out rows.csv {SERVED}"
CONSTRUCT = f"construct --style formal --sources texts.txt --out made {SERVED}"


def leaking(result, caplog, folder) -> dict[str, list[bytes]]:
    """Where in all that a command left behind the key stands."""
    # at DEBUG, which somebody must ask for, the client writes down what headers servers send
    records = [record for record in caplog.records if record.levelno >= logging.INFO]
    left = {
        "stdout and stderr": result.output.encode(),
        "log": "\n".join(f"{record.getMessage()} {record.args}" for record in records).encode(),
    }
    if result.exception:
        lines = traceback.format_exception(result.exception)
        left["exception"] = "".join([*lines, repr(result.exception.args)]).encode()
    files = [path for path in folder.rglob("*") if path.is_file()]
    left |= {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return {where: leaks(data) for where, data in left.items() if leaks(data)}


#: How JSON may spell the key: each is the key to who decodes it, and none holds its letters.
WAYS = {
    "a sign": coded(KEY[0]).lower() + KEY[1:],
    "all signs": coded(KEY),
    "a slash": KEY.replace("/", "\\/"),
    "JSON within JSON": coded(KEY[:4]).replace("\\", "\\\\") + KEY[4:].replace("/", "\\\\/"),
}
REPEATED = {
    "an answer": raw({**ANSWER, "usage": {"prompt_tokens": KEY, KEY: KEY}}),
    "a refusal": says(None, refusal=f"my key is {KEY}", finish=KEY),
    "JSON that is no completion": raw({"error": KEY, KEY: [KEY]}),
    "JSON that ends early": raw('{"error": "' + KEY),
    "a client error": error(400, f"log: {KEY}", fields={"param": KEY}),
    "an error of another form": raw({KEY: KEY}, status=422),
    "an unknown key": error(401, f"Incorrect API key: {KEY}"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", REPEATED)
def test_no_spelling_of_the_key_in_json_passes(name, way):
    act, mask = REPEATED[name], mask_of(KEY)
    data = act.data.replace(KEY.encode(), WAYS[way].encode())
    try:
        read = repr(reply(data, mask) if act.status == 200 else failure(act.status, data, mask))
    except ServerError as raised:
        read = "".join(traceback.format_exception(raised))
    assert "***" in read
    assert leaks(read) == []


def test_a_key_of_digits_is_masked_in_texts_and_leaves_the_json_intact():
    read = reply(says("it is 12345678", usage=(12345678, 5)).data, mask_of("12345678"))
    assert (read.text, read.failure) == ("it is ***", "")


@pytest.mark.parametrize("name", SERVERS)
def test_no_server_makes_a_run_give_the_key_away(tstmeta, caplog, tmp_path, name):
    with serving(SERVERS[name]) as server:
        result = tstmeta(JUDGE.replace("URL", server.url))
        assert server.keys == {BEARER}, "the key was sent, or there is nothing to search for"
    assert leaking(result, caplog, tmp_path) == {}
    assert list(tmp_path.rglob("answers.sqlite"))


QUOTED = urllib.parse.quote(KEY, safe="")
#: An address with the key in it; HOST stands for that of a server which repeats what it is sent.
URLS = {
    "a password": f"http://me:{QUOTED}@HOST/v1",
    "a query": f"http://HOST/v1?api_key={QUOTED}",
    "nobody listens": "http://127.0.0.1:9/v1",
}


@pytest.mark.parametrize("name", URLS)
@pytest.mark.parametrize("command", [JUDGE, CONSTRUCT], ids=["judge", "construct"])
def test_no_command_gives_away_a_key_of_the_environment_or_the_address(
    tstmeta, caplog, tmp_path, monkeypatch, command, name
):
    if QUOTED in URLS[name]:
        monkeypatch.delenv("OPENAI_API_KEY")
    with serving(SERVERS["403 with the header"]) as server:
        host = server.url.removeprefix("http://").removesuffix("/v1")
        result = tstmeta(command.replace("URL", URLS[name].replace("HOST", host)))
    assert result.exit_code
    assert leaking(result, caplog, tmp_path) == {}


def test_not_even_the_clients_own_debug_log_shows_it(tstmeta, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_LOG", "debug")
    with serving(SERVERS["an answer"]) as server:
        words = JUDGE.replace("URL", server.url).split()
        command = [sys.executable, "-m", "tstmeta", *words, "--cache", "a.sqlite"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert server.keys == {BEARER}
    assert b"POST" in done.stderr, "the log is on"
    # the answer's own bytes are no business of a log of requests
    assert leaks(done.stdout + done.stderr) == []


def test_no_key_sends_no_header_and_other_variables_do_not_count(monkeypatch):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: {BEARER}")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-hidden-42")
    headers = []
    for key, sent in (("mine-0123", "Bearer mine-0123"), ("", "")):
        with serving(lambda asked: headers.append(asked.headers)) as server:
            ask(server, key=key)
            assert server.keys == {sent}
    assert "org-hidden-42" not in str(headers)


def test_a_test_set_holds_no_spelling_of_the_key(tstmeta, caplog, tmp_path):
    data = json.dumps({"text": f"Kindly send {KEY} now."}).replace(KEY, coded(KEY))
    with serving(lambda asked: says(data, model=KEY)) as server:
        result = tstmeta(CONSTRUCT.replace("URL", server.url))
    assert "Kindly send *** now." in (tmp_path / "made" / "rows.csv").read_text()
    assert leaking(result, caplog, tmp_path) == {}
