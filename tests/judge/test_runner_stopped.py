"""What stops a run: errors, limits, signals, kills.  Nothing that came is lost or asked twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import islice
from pathlib import Path

import pytest

from tests.judge import scripted
from tests.judge.asking import answers, chat, kept, questions
from tests.judge.scripted import error, serving
from tstmeta.judge.base import Reply, Unusable
from tstmeta.judge.cache import Answers
from tstmeta.judge.runner import run


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
