"""The scripted server does what its script says; asked with the standard library's client."""

import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.judge import scripted
from tests.judge.scripted import error, says, serving


def ask(url: str, text: str = "Rate.", timeout: float = 10.0) -> tuple[int, dict, bytes]:
    """Status, headers and body of one completion request."""
    where = urlsplit(url)
    line = http.client.HTTPConnection(where.hostname or "", where.port, timeout=timeout)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    try:
        line.request("POST", f"{where.path}/chat/completions", body, {"Authorization": "Bearer k"})
        response = line.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        line.close()


def test_it_answers_with_a_rating_unless_told_otherwise():
    with serving() as server:
        status, _, data = ask(server.url)
    assert status == 200
    assert json.loads(data)["choices"][0]["message"]["content"] == '{"rating": 3}'


def test_the_script_sees_the_request_and_says_the_answer():
    seen = []

    def script(asked):
        seen.append((asked.number, asked.times, asked.prompt, asked.headers["authorization"]))
        return says(asked.prompt.upper(), usage=None, finish="length")

    with serving(script) as server:
        for text in ("a", "b", "a"):
            data = json.loads(ask(server.url, text)[2])
            assert data["choices"][0]["message"]["content"] == text.upper()
            assert "usage" not in data
        assert (server.requests, server.repeated(), server.keys) == (3, 1, {"Bearer k"})
    assert seen == [(1, 1, "a", "Bearer k"), (2, 1, "b", "Bearer k"), (3, 2, "a", "Bearer k")]


def test_an_error_has_its_status_words_and_headers():
    act = error(429, "slow", fields={"code": "x"}, retry_after="2")
    with serving(lambda asked: act) as server:
        status, headers, data = ask(server.url)
    assert (status, headers["retry-after"]) == (429, "2")
    assert json.loads(data) == {"error": {"message": "slow", "code": "x"}}


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (scripted.reset(), ConnectionError),
        (scripted.half(), http.client.IncompleteRead),
        (scripted.hang(), TimeoutError),
    ],
    ids=lambda one: getattr(one, "fault", ""),
)
def test_a_fault_is_one(act, kind):
    with serving(lambda asked: act) as server, pytest.raises(kind):
        ask(server.url, timeout=0.2)


def test_what_drips_never_ends_though_each_byte_is_in_time():
    with serving(lambda asked: scripted.drip()) as server:
        found: list[bytes] = []

        def read() -> None:
            where = urlsplit(server.url)
            line = http.client.HTTPConnection(where.hostname or "", where.port, timeout=2)
            line.request("POST", f"{where.path}/chat/completions", '{"messages": []}')
            response = line.getresponse()
            found.extend(response.read(1) for _ in range(5))
            line.close()

        reader = threading.Thread(target=read)
        begun = time.monotonic()
        reader.start()
        reader.join(10)
        assert found == [b" "] * 5
        assert time.monotonic() - begun >= 0.06


def test_it_counts_how_many_were_there_at_the_same_time():
    with serving(latency=0.3) as server:
        threads = [threading.Thread(target=ask, args=(server.url, str(n))) for n in range(5)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(10)
        assert server.most_at_once == 5


def test_as_a_program_it_says_where_it_is_and_at_the_end_what_it_saw():
    script = str(Path(scripted.__file__))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, script], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert ask(url)[0] == 200
        told, _ = process.communicate(timeout=20)
    assert json.loads(told) == {"requests": 1, "most_at_once": 1, "repeated": 0}
