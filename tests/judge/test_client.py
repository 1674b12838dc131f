"""A chat model behind a server that behaves, and one that does not: real HTTP on loopback."""

import asyncio
import re
import socket
import time
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import pytest

from tests.judge import scripted
from tests.judge.asking import answers, ask, chat, free_port, once, question, questions
from tests.judge.scripted import error, says, serving
from tstmeta.judge import client as client_module
from tstmeta.judge.base import Reply, Sampling, Unusable
from tstmeta.judge.budget import Budget, Spent, worst
from tstmeta.judge.client import connect


def first(act, times=1):
    """A script: this for the first requests of all, then plain answers."""
    return lambda asked: act if asked.number <= times else None


PLAIN = Reply(text='{"rating": 3}', prompt_tokens=10, answer_tokens=5, model="tiny")


def test_a_question_is_sent_as_it_is_and_its_answer_comes_as_it_is():
    with serving() as server:
        found = ask(server, question("Größe 京都 \0 <b>", sampling=Sampling(seed=3)))
        assert found == PLAIN
        assert server.bodies == [
            {
                "model": "tiny",
                "messages": [{"role": "user", "content": "Größe 京都 \0 <b>"}],
                "temperature": 0.0,
                "top_p": 1.0,
                "max_tokens": 512,
                "seed": 3,
            }
        ]


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions", "/chat/completions/"])
def test_the_url_may_end_where_people_copy_it(ending):
    with serving() as server:
        served = connect(server.url + ending, "tiny", key="")
        assert served.server == server.url
        assert asyncio.run(once(served, question())) == PLAIN


# ------------------------------------------------------------------------------- what may pass


@pytest.mark.parametrize(
    "act",
    [
        error(408),
        error(409),
        error(429),
        error(429, retry_after="0.01"),
        error(500),
        error(502),
        error(503, retry_after="0"),
        scripted.page(503),
        scripted.raw({"error": {"code": 502, "message": "upstream"}}),
        scripted.reset(),
        scripted.half(),
    ],
    ids=lambda act: act.fault or str(act.status),
)
def test_what_may_pass_is_asked_again_until_it_passes(act):
    with serving(first(act, times=2)) as server:
        assert ask(server) == PLAIN
        assert server.requests == 3


@pytest.mark.parametrize(
    ("act", "tries", "words"),
    [
        (error(500, "out of memory"), 3, "answers 500: out of memory (tried 3 times)"),
        (error(429, "slow down"), 5, "answers 429: slow down (tried 5 times)"),
        (scripted.reset(), 3, "the connection broke"),
        (scripted.half(), 3, "the connection broke (RemoteProtocolError) (tried 3 times)"),
    ],
    ids=["500", "429", "reset", "half"],
)
def test_what_does_not_pass_fails_after_all_tries(act, tries, words):
    with serving(first(act, times=99)) as server:
        found = ask(server, retries=2)
        assert words in found.failure
        assert found == Reply(failure=found.failure)
        assert server.requests == tries


@pytest.mark.parametrize("act", [scripted.hang(), scripted.drip()], ids=["hang", "drip"])
def test_an_answer_has_a_limit_of_time_from_first_to_last_byte(act):
    with serving(first(act, times=99)) as server:
        begun = time.monotonic()
        found = ask(server, timeout=0.15, retries=1)
        assert 0.3 <= time.monotonic() - begun < 3
        assert found.failure == "no answer within 0.15 s (tried 2 times)"
        assert server.requests == 2


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (scripted.raw(b""), "the answer is empty"),
        (scripted.raw('{"choices": [{"mes'), "the answer is no JSON, or cut short"),
        (scripted.raw('{"choices": "é"}'.encode("utf-16-le")[:-1]), "the answer is"),
        (scripted.raw("caf\xe9".encode("latin-1")), "the answer is"),
        (scripted.page(), "the answer is a web page"),
        (scripted.raw({"choices": []}), "there is no choice in the answer"),
        (says(None), "there is no text in the answer"),
        (error(400, "no such thing"), "the server answers 400: no such thing"),
    ],
    ids=["empty", "cut", "half utf-16", "latin-1", "page", "no choice", "null", "400"],
)
def test_an_answer_that_will_not_get_better_is_paid_for_once(act, words):
    with serving(first(act, times=99)) as server:
        assert ask(server).failure.startswith(words)
        assert server.requests == 1


def test_an_answer_of_a_megabyte_is_cut():
    with serving(first(says("x" * 2**20))) as server:
        found = ask(server)
        assert (set(found.text), found.finish) == ({"x"}, "length")
        assert len(found.text) < 2**20


def test_an_answer_without_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr("tstmeta.judge.bounded.LONGEST_BODY", 1000)
    long = says("x" * 10_000)
    with serving(lambda asked: long if asked.number < 3 else error(500, "y" * 2000)) as server:
        assert ask(server).failure.startswith("the answer has more than")
        assert ask(server, question("Again.")).failure.startswith("the answer has more than")
        assert ask(server, retries=0).failure.startswith("the answer has more than")


def test_a_text_that_cannot_be_sent_is_said_and_not_sent():
    with serving() as server:
        assert "half a character" in ask(server, question("\ud800")).failure
        assert server.requests == 0


# --------------------------------------------------------------------------- many at the same time


def test_who_is_told_to_wait_waits_as_long():
    times: list[float] = []

    def script(asked):
        times.append(time.monotonic())
        return error(429, retry_after="0.4") if asked.number == 1 else None

    with serving(script) as server:
        assert ask(server) == PLAIN
    assert 0.39 <= times[1] - times[0] < 3


@pytest.mark.parametrize("pauses", [[0.1, 0.2, 0.4, 0.4]])
def test_each_wait_is_about_twice_the_one_before_up_to_a_limit(monkeypatch, pauses):
    monkeypatch.setattr(client_module, "LONGEST_PAUSE", 0.4)
    times: list[float] = []

    def script(asked):
        times.append(time.monotonic())
        return error(500)

    with serving(script) as server:
        ask(server, retries=len(pauses), pause=pauses[0])
    waits = [after - before for before, after in pairwise(times)]
    assert all(pause / 2 <= wait < pause + 1 for pause, wait in zip(pauses, waits, strict=True))


def test_a_server_that_takes_few_at_a_time_answers_all_in_the_end():
    """Any more than two at the same time are turned away; all 40 are answered even so."""
    turned = []

    def script(asked):
        full = server.now > 2
        turned.extend([asked.number] * full)
        return error(429, latency=0.005) if full else says(latency=0.005)

    with serving(script) as server:
        found = asyncio.run(once(chat(server, retries=6), *questions(40)))
    assert set(found) == {PLAIN}
    assert len(turned) >= 38


@pytest.mark.parametrize("count", [2, 15, 40])
def test_as_many_are_asked_at_the_same_time_as_wanted(count):
    with serving(latency=0.3) as server:
        found = asyncio.run(once(chat(server), *questions(count)))
        assert server.most_at_once == count
    assert found == [PLAIN] * count


# -------------------------------------------------------------------------- servers that know less


@pytest.mark.parametrize(
    ("asked", "field", "words"),
    [
        (question(schema={"type": "object"}), "response_format", "response_format"),
        (question(sampling=Sampling(seed=1)), "seed", "seed"),
        (question(sampling=Sampling(top_logprobs=3)), "logprobs", "logprobs"),
        (question(), "max_tokens", "max_completion_tokens is sent instead"),
    ],
)
def test_a_field_that_a_server_refuses_is_left_out_from_then_on_and_said(asked, field, words):
    def script(request):
        if field in request.body:
            return error(400, f"{field} is not supported, max_completion_tokens is")
        return None

    async def twice(served):
        found = await served.ask(asked), await served.ask(asked)
        await served.close()
        return found

    with serving(script) as server:
        served = chat(server)
        assert set(asyncio.run(twice(served))) == {PLAIN}
        assert server.requests == 3
    assert len(served.notes) == 1
    assert words in served.notes[0]


def test_several_fields_may_be_refused_one_after_the_other():
    def script(request):
        for field in ("seed", "response_format"):
            if field in request.body:
                return error(422, "unknown", fields={"param": field})
        return None

    with serving(script) as server:
        served = chat(server)
        asked = question(schema={}, sampling=Sampling(seed=1))
        assert asyncio.run(once(served, asked)) == PLAIN
    assert len(served.notes) == 2


def test_what_does_not_help_is_not_remembered():
    def script(request):
        return error(400, "response_format is not supported" if request.number == 1 else "no")

    with serving(script) as server:
        served = chat(server)
        found = asyncio.run(once(served, question(schema={})))
    assert found.failure == "the server answers 400: no"
    assert served.notes == []


def test_a_server_that_complains_for_ever_is_not_asked_for_ever():
    with serving(lambda asked: error(400, "unsupported seed, logprobs, top_p")) as server:
        asked = question(sampling=Sampling(seed=1, top_logprobs=2))
        assert "unsupported" in ask(server, asked).failure
        assert server.requests <= 4


# ------------------------------------------------------------------------------- no use at all


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (error(401, "wrong key"), "wrong key. Remedy: see the API key"),
        (error(403), "Remedy: see the API key"),
        (error(404, "no model tiny"), "Remedy: see whether the URL ends"),
        (error(429, fields={"code": "insufficient_quota"}), "quota"),
        (error(429, retry_after="4000"), "asks to wait 4,000 s"),
        (scripted.Act(302, headers={"location": "http://elsewhere"}), "URL that it leads to"),
    ],
    ids=["401", "403", "404", "quota", "tomorrow", "302"],
)
def test_a_server_that_can_answer_nothing_says_so_at_once(act, words):
    with serving(first(act, times=99)) as server:
        with pytest.raises(Unusable, match=words):
            ask(server)
        assert server.requests == 1


def test_where_nobody_listens_is_said_at_once():
    served = connect(f"http://127.0.0.1:{free_port()}/v1", "tiny", key="")
    with pytest.raises(Unusable, match=r"no connection to http://127\.0\.0\.1.*Remedy: start"):
        asyncio.run(once(served, question()))


def test_a_server_that_goes_away_is_waited_for_and_then_given_up():
    with serving() as server:
        served = chat(server, retries=2)
        assert asyncio.run(once(served, question())) == PLAIN
    with pytest.raises(Unusable, match=r"no connection.*\(tried 3 times\)"):
        asyncio.run(once(served, question()))


def test_a_server_that_answers_nobody_is_given_up(monkeypatch):
    monkeypatch.setattr(client_module, "DEAD", 5)
    words = r"no answer to any of 5 questions in a row.*500: oh"
    with serving(lambda asked: error(500, "oh")) as server, pytest.raises(Unusable, match=words):
        asyncio.run(once(chat(server, retries=0), *questions(5)))


@contextmanager
def deaf():
    """A server that takes no connection: two wait in a line for one, and it calls nobody."""
    with ExitStack() as held:
        listening = held.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            one = held.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(listening.getsockname())
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def test_a_connection_that_does_not_come_about_is_said_and_costs_nothing(tmp_path):
    budget = Budget(tokens=sum(worst(question())))  # room for one request that is lost, no more
    with deaf() as url:
        served = connect(url, "tiny", key="", timeout=0.3, retries=2, pause=0.001)
        found = answers(None, [question()], tmp_path, served=served, budget=budget)
    assert re.fullmatch(r"no connection to http://\S+/v1: .+ \(tried 3 times\)", found[0].failure)
    assert budget.spent == Spent(requests=3, failures=1)


def test_a_connection_that_stands_but_says_nothing_may_have_cost_something(tmp_path):
    budget = Budget()
    with serving(lambda asked: scripted.hang()) as server:
        found = answers(server, [question()], tmp_path, timeout=0.2, retries=1, budget=budget)
    assert found[0].failure == "no answer within 0.2 s (tried 2 times)"
    assert (budget.spent.lost, budget.spent.requests) == (2, 2)


def test_the_clients_own_limit_of_time_is_told_from_a_broken_connection():
    """The whole is limited by us; this is what a limit on one read alone would say."""
    import httpx2
    import openai

    served = connect("http://localhost:1/v1", "m", key="")
    late = openai.APITimeoutError(request=httpx2.Request("POST", "http://localhost:1/v1"))
    late.__cause__ = httpx2.ReadTimeout("")
    again = served._broken(late)
    assert (str(again), again.broke) == ("no answer within 120 s", True)


def test_one_answer_shows_that_a_server_lives(monkeypatch):
    monkeypatch.setattr(client_module, "DEAD", 3)
    with serving(lambda asked: error(500) if asked.number % 3 else None) as server:
        served = chat(server, retries=0)

        async def one_by_one():
            found = [await served.ask(one) for one in questions(9)]
            await served.close()
            return found

        assert sum(not one.failure for one in asyncio.run(one_by_one())) == 3
