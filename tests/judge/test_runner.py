"""Many questions: each asked once, each kept before it is seen, whatever stops the run."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.judge import scripted
from tests.judge.asking import answers, chat, question, questions
from tests.judge.scripted import error, says, serving
from tstmeta.judge.base import Question, Reply, Unusable
from tstmeta.judge.cache import Answers, CacheError
from tstmeta.judge.runner import Budget, Price, run
from tstmeta.schema import TstmetaError


def kept(path: Path) -> int:
    with Answers(path) as found:
        return len(found)


def echo(asked: scripted.Asked) -> scripted.Act:
    return says(asked.prompt)


# ------------------------------------------------------------------------------------- a whole run


def test_every_question_gets_its_own_answer(tmp_path):
    with serving(echo) as server:
        found = answers(server, questions(50), tmp_path, concurrency=8)
        assert server.most_at_once <= 8
    assert {place: reply.text for place, reply in found.items()} == {
        place: f"Rate number {place}." for place in range(50)
    }


def test_no_more_are_under_way_than_was_said(tmp_path):
    with serving(latency=0.02) as server:
        answers(server, questions(30), tmp_path, concurrency=5)
        assert server.most_at_once == 5


def test_equal_questions_are_asked_once_and_all_answered(tmp_path):
    asked = [*questions(3), *questions(3), question("Rate number 0.", sample=1)]
    with serving(echo) as server:
        found = answers(server, asked, tmp_path)
        assert server.requests == 4
    assert len(found) == 7
    assert found[0] == found[3]


def test_a_second_run_asks_nothing(tmp_path):
    with serving(echo) as server:
        first = answers(server, questions(20), tmp_path)
        assert answers(server, questions(20), tmp_path) == first
        assert server.requests == 20


def test_another_model_revision_or_server_is_asked_anew(tmp_path):
    with serving() as server, serving() as other:
        answers(server, questions(2), tmp_path)
        answers(server, questions(2), tmp_path, served=chat(server, revision="v2"))
        answers(other, questions(2), tmp_path)
        assert (server.requests, other.requests) == (4, 2)
    assert kept(tmp_path / "answers.sqlite") == 6


def test_no_question_is_no_request(tmp_path):
    with serving() as server:
        assert answers(server, [], tmp_path) == {}
        assert server.requests == 0


def test_a_question_that_failed_is_asked_again_in_the_next_run(tmp_path):
    with serving(lambda asked: scripted.page() if asked.times == 1 else None) as server:
        assert all(one.failure for one in answers(server, questions(3), tmp_path).values())
        assert kept(tmp_path / "answers.sqlite") == 0
        found = answers(server, questions(3), tmp_path)
        assert not any(one.failure for one in found.values())


FAULTS = {
    "ok": says("4"),
    "429": error(429, retry_after="0.05"),
    "500": error(500, "oh"),
    "hang": scripted.hang(),
    "reset": scripted.reset(),
    "half": scripted.half(),
    "no JSON": scripted.raw("{"),
    "refusal": says(None, refusal="I will not."),
    "7 of 5": says("7"),
    "nothing": says(""),
    "1 MB": says("x" * 2**20),
    "encoding": scripted.raw('{"é": 1}'.encode("latin-1")),
    "null": says(None),
    "drip": scripted.drip(),
}
#: What ends as an answer; the others as failures, with one of these words.
WORDS = {
    "500": "answers 500: oh",
    "hang": "no answer within",
    "reset": "the connection broke",
    "half": "the connection broke",
    "no JSON": "no JSON",
    "encoding": "not in UTF-8",
    "null": "no text",
    "drip": "no answer within",
}


def test_a_server_with_every_fault_gives_a_reply_to_every_question(tmp_path):
    """429 passes, all else stays: each has its own end, and the sums add up."""
    names = [*FAULTS] * 3

    def script(asked):
        name = names[int(asked.prompt.split()[2].rstrip("."))]
        return None if name == "429" and asked.times > 1 else FAULTS[name]

    with serving(script) as server:
        budget = Budget()
        options = {"retries": 1, "timeout": 0.4, "concurrency": 8, "budget": budget}
        found = answers(server, questions(len(names)), tmp_path, **options)
        assert server.requests == budget.spent.requests
    assert len(found) == len(names)
    for place, name in enumerate(names):
        assert WORDS.get(name, "") in found[place].failure
        assert bool(found[place].failure) == (name in WORDS)
    failed = Counter(bool(reply.failure) for reply in found.values())
    assert failed == {True: 3 * len(WORDS), False: 3 * (len(FAULTS) - len(WORDS))}
    assert (budget.spent.failures, budget.spent.answers) == (failed[True], failed[False])
    assert kept(tmp_path / "answers.sqlite") == failed[False]
    ends = {name: found[place] for place, name in enumerate(FAULTS)}
    assert ends["7 of 5"].text == "7"  # what it is worth is for others to say
    assert ends["refusal"].refusal == "I will not."
    assert (ends["nothing"].text, ends["nothing"].finish) == ("", "stop")
    assert ends["1 MB"].finish == "length"


# ------------------------------------------------------------------------------------- who may call


def test_it_can_be_called_where_a_loop_runs_already(tmp_path):
    """As in a notebook."""

    async def cell():
        with serving(echo) as server:
            return answers(server, questions(5), tmp_path)

    assert len(asyncio.run(cell())) == 5


def test_it_can_be_called_in_a_thread(tmp_path):
    found = {}
    with serving(echo) as server:
        work = threading.Thread(
            target=lambda: found.update(answers(server, questions(5), tmp_path))
        )
        work.start()
        work.join(30)
    assert len(found) == 5


def test_one_chat_may_be_used_for_several_runs(tmp_path):
    with serving(echo) as server:
        served = chat(server)
        for number in range(3):
            cache = tmp_path / f"{number}.sqlite"
            assert len(answers(server, questions(4), tmp_path, served=served, cache=cache)) == 4


class Plain:
    """A chat of somebody's own: no price, no account."""

    server, model, revision = "mine", "m", ""

    def __init__(self, fails: type[Exception] | None = None):
        self.closed, self._fails = 0, fails

    async def ask(self, question: Question) -> Reply:
        if self._fails:
            raise self._fails("broken")
        await asyncio.sleep(0)
        return Reply(question.messages[0].content)

    async def close(self) -> None:
        self.closed += 1


def test_any_chat_will_do(tmp_path):
    mine, budget = Plain(), Budget(requests=3)
    found = dict(run(questions(4), mine, cache=tmp_path / "a.sqlite", budget=budget))
    assert sum(not reply.failure for reply in found.values()) == 3
    assert (budget.spent.requests, budget.spent.untold, mine.closed) == (3, 3, 1)


@pytest.mark.parametrize("kind", [Unusable, ZeroDivisionError])
def test_an_error_of_the_chat_ends_the_run_and_is_raised(tmp_path, kind):
    mine = Plain(kind)
    with pytest.raises(kind, match="broken"):
        dict(run(questions(4), mine, cache=tmp_path / "a.sqlite"))
    assert mine.closed == 1


def test_a_number_that_makes_no_sense_is_refused_before_anything_is_taken(tmp_path):
    with pytest.raises(TstmetaError, match="concurrency is 0"):
        run(questions(1), Plain(), cache=tmp_path / "a.sqlite", concurrency=0)


def test_a_file_that_is_no_cache_stops_the_run_before_anything_is_asked(tmp_path):
    (tmp_path / "a.txt").write_text("words " * 100)
    with serving() as server:
        with pytest.raises(CacheError):
            answers(server, questions(1), tmp_path, cache=tmp_path / "a.txt")
        assert server.requests == 0


# ---------------------------------------------------------------------------------- what stops it


def test_a_server_that_becomes_unusable_ends_the_run_but_what_came_is_there(tmp_path):
    """The key runs out at the tenth request; those before it are yielded and kept."""
    seen = []
    with serving(lambda asked: error(401) if asked.number >= 10 else None) as server:
        stream = run(
            questions(50), chat(server), cache=tmp_path / "a", concurrency=4, progress=False
        )
        with pytest.raises(Unusable, match="see the API key"):
            seen.extend(stream)
        assert server.requests < 10 + 4
    assert len(seen) == 9
    assert kept(tmp_path / "a") == 9


def test_who_has_enough_stops_the_rest(tmp_path):
    """Answers under way are waited for and kept, no more are asked."""
    with serving(latency=0.02) as server:
        stream = run(
            questions(500), chat(server), cache=tmp_path / "a", concurrency=4, progress=False
        )
        assert len(list(islice(stream, 3))) == 3
        stream.close()
        assert server.requests < 100
        assert kept(tmp_path / "a") == server.requests


def test_the_grace_has_an_end(tmp_path):
    """What hangs is not waited for longer than was said."""
    with serving(lambda asked: scripted.hang() if asked.number > 1 else None) as server:
        served = chat(server, timeout=60.0)
        stream = run(
            questions(9), served, cache=tmp_path / "a", concurrency=2, progress=False, grace=0.2
        )
        next(stream)
        begun = time.monotonic()
        stream.close()
        assert time.monotonic() - begun < 5


def test_answers_wait_for_who_takes_them(tmp_path):
    """Whoever takes one answer and pauses does not find the whole set asked."""
    with serving() as server:
        stream = run(
            questions(200), chat(server), cache=tmp_path / "a", concurrency=2, progress=False
        )
        next(stream)
        time.sleep(0.3)
        assert server.requests <= 2 * 4 + 2
        stream.close()


RUN = """
import json, sys
from pathlib import Path
from tstmeta.judge.base import Message, Question
from tstmeta.judge.client import connect
from tstmeta.judge.runner import run
url, cache, count = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
asked = [Question((Message("user", f"Rate number {n}."),)) for n in range(count)]
for place, reply in run(asked, connect(url, "tiny", key=""), cache=cache, concurrency=4):
    print(place, flush=True)
print("done", flush=True)
"""


def program(url: str, cache: Path, count: int) -> subprocess.Popen:
    command = [sys.executable, "-c", RUN, url, str(cache), str(count)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=heard_signals)


def heard_signals() -> None:
    """A shell that runs tests in the background has its children ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, -2), (signal.SIGTERM, 143), (signal.SIGKILL, -9)]
)
def test_a_run_that_is_stopped_goes_on_where_it_stopped(tmp_path, number, code):
    """After Ctrl-C and SIGTERM those under way are kept; a kill loses these at most."""
    cache = tmp_path / "a.sqlite"
    with serving(latency=0.02) as server:
        one = program(server.url, cache, 60)
        assert one.stdout is not None
        for _ in range(10):
            assert one.stdout.readline().strip().isdecimal()
        one.send_signal(number)
        printed, errors = one.communicate(timeout=60)
        assert "done" not in printed
        assert one.returncode == code, errors
        before = server.requests
        assert before < 60
        lost = before - kept(cache)
        assert 0 <= lost <= (4 if number == signal.SIGKILL else 0)
        found = answers(server, questions(60), tmp_path, cache=cache)
        assert server.requests == 60 + lost
        assert server.repeated() == lost
    assert len(found) == 60


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_second_ctrl_c_gives_up_what_is_under_way(tmp_path, capsys):
    """The first waits for the two that hang, as it says; nothing is left running."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    presses = [threading.Timer(at, os.kill, (os.getpid(), signal.SIGINT)) for at in (0.5, 1.0)]
    try:
        with serving(lambda asked: scripted.hang()) as server:
            served = chat(server, timeout=60.0)
            stream = run(questions(2), served, cache=tmp_path / "a", grace=60.0)
            for press in presses:
                press.start()
            with pytest.raises(KeyboardInterrupt):
                next(stream)
    finally:
        for press in presses:
            press.cancel()
        signal.signal(signal.SIGINT, before)
    assert "stopping: 2 questions are under way and have 60 s" in capsys.readouterr().err
    assert not [one for one in threading.enumerate() if one.name == "judge"]


def test_two_processes_share_a_cache_and_what_one_asked_the_other_has(tmp_path):
    cache = tmp_path / "a.sqlite"
    with serving(latency=0.01) as server:
        other = program(server.url, cache, 40)
        found = answers(server, questions(40), tmp_path, cache=cache, concurrency=4)
        printed, errors = other.communicate(timeout=60)
        assert "done" in printed, errors
        assert 40 <= server.requests <= 80
    assert len(found) == kept(cache) == 40


def test_what_another_run_was_told_meanwhile_is_not_asked(tmp_path):
    one, two = questions(2)

    def script(asked):
        with Answers(tmp_path / "answers.sqlite") as found:  # as another process would
            found.put(two.key(served.server, "tiny"), two, Reply("theirs"))

    with serving(script) as server:
        served = chat(server)
        found = answers(server, [one, two], tmp_path, served=served, concurrency=1)
        assert server.requests == 1
    assert found[1] == Reply("theirs")


# ------------------------------------------------------------------------------------------ memory


class Many:
    """A sequence of questions that are made when they are looked at."""

    def __init__(self, count: int):
        self._count = count
        self._made: list[weakref.ref[Question]] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> Question:
        if place >= self._count:
            raise IndexError
        made = question(f"Rate number {place}.")
        self._made.append(weakref.ref(made))
        return made

    def alive(self) -> int:
        return sum(one() is not None for one in self._made)


def test_few_questions_are_in_memory_at_a_time(tmp_path):
    many = Many(300)
    stream = run(many, Plain(), cache=tmp_path / "a", concurrency=4, progress=False)
    alive = [many.alive() for _ in stream]
    assert len(alive) == 300
    assert max(alive) <= 4 * 4 + 8


def test_the_bar_shows_tokens_money_and_failures(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with serving(lambda asked: None if asked.number % 2 else error(400)) as server:
        served = chat(server, price=Price(1.0, 1.0))
        dict(run(questions(20), served, cache=tmp_path / "a", concurrency=1))
    shown = capsys.readouterr().err
    assert "tokens" in shown
    assert "of money" in shown


def test_a_report_can_be_written_as_json(tmp_path):
    with serving() as server:
        budget = Budget()
        answers(server, questions(2), tmp_path, budget=budget)
    assert json.loads(json.dumps(vars(budget.spent)))["requests"] == 2
