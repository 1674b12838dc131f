"""Everything that a server can do wrong, in one run: each answer ends in the right rows.

Two rewrites a source, a source a fault; the script finds the fault's name in the source.
"""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests import scored
from tests.judge import scripted
from tests.judge.scripted import Act, Asked, error, raw, says
from tstmeta.judge import ratings
from tstmeta.judge.client import Served
from tstmeta.judge.prompts import load
from tstmeta.models import connection

RATED = [4, 5]
ANSWER = json.dumps({"ratings": [{"number": n, "content": r} for n, r in enumerate(RATED, 1)]})
GOOD = says(ANSWER)


def slow_down(asked: Asked) -> Act:
    """A fault that passes."""
    return error(429, "slow down", retry_after="0") if asked.times == 1 else GOOD


PACKED = {"content-encoding": "gzip"}
#: Bytes of an answer that are read in these tests.
LONGEST = 2 * 2**20
#: What the server does, the status of both rows, and words of why.
CASES: dict[str, tuple[Act | Callable[[Asked], Act], str, str]] = {
    "all is well": (GOOD, "ok", ""),
    "429 with Retry-After": (slow_down, "ok", ""),
    "500 for ever": (error(500, "oh"), "error", "the server answers 500: oh"),
    "a hang": (scripted.HANG, "error", "no answer within 1 s"),
    "a connection that is reset": (scripted.RESET, "error", "(ReadError)"),
    "half an answer": (scripted.HALF, "error", "(RemoteProtocolError)"),
    "an answer that drips": (scripted.DRIP, "error", "no answer within 1 s"),
    "a head that drips": (scripted.DRIP_HEAD, "error", "no answer within 1 s"),
    "a web page": (Act(200, b"<!doctype html><h1>", "text/html"), "error", "came: <!doctype html>"),
    "wrong encoding": (raw(GOOD.data.replace(b"tiny", b"tr\xe8s")), "error", "no chat completion"),
    "half a character": (raw(GOOD.data.replace(b"tiny", b"\\ud800")), "error", "no chat"),
    "nested ten thousand deep": (raw("[" * 10**5), "error", "came: [[["),
    "an error that is nested so": (raw('{"error":' * 10**5, status=400), "error", "answers 400: {"),
    "ratings that are nested so": (says('{"ratings":' * 10**4), "invalid", "never"),
    "half characters in an error": (error(400, "\ud800 no"), "error", "answers 400: no"),
    "a body that is too long": (says("4" * 2 * LONGEST), "error", "no chat completion"),
    "an error that is too long": (error(400, "no " * LONGEST), "error", "no no"),
    "a packed answer": (Act(data=gzip.compress(GOOD.data), headers=PACKED), "ok", ""),
    "a bomb": (Act(data=gzip.compress(b" " * 4 * LONGEST), headers=PACKED), "error", "nothing"),
    "an odd encoding": (replace(error(400), kind="text; charset=zlib"), "error", "400: no"),
    "a vendor's filter": (error(400, "held", fields={"code": "content_filter"}), "refused", "held"),
    "a refusal": (says(None, refusal="I cannot rate this."), "refused", "I cannot"),
    "a message without content": (says(None), "error", "there is no text"),
    "a megabyte of rubbish": (says("x1 " * 350_000), "truncated", "x1"),
    "a megabyte before the ratings": (says("so " * 350_000 + ANSWER), "truncated", "so"),
    "a megabyte after the ratings": (says(ANSWER + " so" * 350_000), "ok", ""),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The table of one run over all faults."""
    rows = [
        {"source_id": name, "source": f"case {place}: {name}.", "style": "formal"}
        | {"output": f"rewrite {number}", "system": f"s{number}"}
        for place, name in enumerate(CASES)
        for number in range(len(RATED))
    ]

    def script(asked):
        (name,) = (name for name in CASES if f": {name}.\n" in asked.prompt)
        act = CASES[name][0]
        return act(asked) if callable(act) else act

    with pytest.MonkeyPatch.context() as patch, scripted.serving(script) as server:
        patch.setattr(connection, "LONGEST_BODY", LONGEST)
        chat = Served(server.url, "tiny", key="", timeout=1.0, retries=2)
        dataset, prompt = scored.dataset(*rows), load("lai2023-content")
        cache = tmp_path_factory.mktemp("faults") / "answers.sqlite"
        return ratings.ask(dataset, prompt, chat, cache=cache, concurrency=40)


@pytest.mark.parametrize("name", CASES)
def test_a_fault_ends_in_the_right_rows(run, name):
    rows = run[run["source_id"] == name]
    _, status, words = CASES[name]
    assert rows["status"].tolist() == [status] * len(RATED)
    assert rows["rating"].dropna().tolist() == (RATED if status == "ok" else [])
    assert (rows["detail"].str.len().between(1, 2500) | (status == "ok")).all()
    assert rows["detail"].str.contains(words, regex=False).all()
