"""Answers that were paid for stay, whatever happens to the process, the machine or the file."""

import json
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge.asking import question
from tstmeta.judge import cache
from tstmeta.judge.base import Reply, Sampling, TokenChoice
from tstmeta.judge.cache import Answers, CacheError

FULL = Reply(
    text="4, for \ud800 it says \0 京都",
    finish="length",
    refusal="no",
    prompt_tokens=3,
    answer_tokens=0,
    model="tiny",
    fingerprint="fp",
    tokens=(TokenChoice("4", -0.1, (("4", -0.1), ("five", -math.inf))), TokenChoice(" ", 0.0)),
)


def test_an_answer_comes_back_as_it_was(tmp_path):
    with Answers(tmp_path / "new" / "folder" / "a.sqlite") as answers:
        assert answers.get("k") is None
        assert answers.put("k", question(), FULL) == FULL
        assert answers.get("k") == FULL
        assert len(answers) == 1
    with Answers(tmp_path / "new" / "folder" / "a.sqlite") as answers:
        assert answers.get("k") == FULL


@given(
    text=st.text(),
    token=st.text(),
    logprob=st.floats(allow_nan=False),
    count=st.none() | st.just(5),
)
def test_any_answer_is_read_as_it_was_written(text, token, logprob, count):
    reply = Reply(text=text, prompt_tokens=count, tokens=(TokenChoice(token, logprob),))
    assert cache.read(cache.written(reply)) == reply


def test_a_failure_is_not_kept_as_an_answer(tmp_path):
    with Answers(tmp_path / "a.sqlite") as answers:
        failed = Reply(failure="no answer within 5 s")
        assert answers.put("k", question(), failed) == failed
        assert answers.get("k") is None


def test_the_first_answer_to_a_question_stays(tmp_path):
    """Two processes that ask the same at the same time go on with the same answer."""
    with Answers(tmp_path / "a.sqlite") as one, Answers(tmp_path / "a.sqlite") as two:
        one.put("k", question(), Reply("4"))
        assert two.put("k", question(), Reply("5")) == Reply("4")
        assert two.get("k") == Reply("4")


def test_what_was_asked_stands_beside_the_answer(tmp_path):
    asked = question("How good?", schema={"type": "object"}, sampling=Sampling(seed=4), sample=2)
    with Answers(tmp_path / "a.sqlite") as answers:
        answers.put("k", asked, Reply("4"))
    with sqlite3.connect(tmp_path / "a.sqlite") as raw:
        key, kept, reply, at = raw.execute(
            "SELECT key, question, reply, at FROM answers"
        ).fetchone()
    raw.close()
    kept = json.loads(kept)
    assert (key, json.loads(reply)["text"], at[:2]) == ("k", "4", "20")
    assert kept["messages"] == [["user", "How good?"]]
    assert (kept["schema"], kept["sampling"]["seed"], kept["sample"]) == ({"type": "object"}, 4, 2)


# ---------------------------------------------------------------------------- processes and kills

WRITER = """
import sys
from pathlib import Path
from tstmeta.judge.base import Message, Question, Reply
from tstmeta.judge.cache import Answers
path, who, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Answers(path) as answers:
    for number in range(count):
        answers.put(f"{who}-{number}", Question((Message("user", "?"),)), Reply(str(number)))
        print(number, flush=True)
"""


def writer(path: Path, who: str, count: int) -> subprocess.Popen:
    command = [sys.executable, "-c", WRITER, str(path), who, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_several_processes_begin_and_write_at_the_same_time(tmp_path):
    path = tmp_path / "a.sqlite"
    writers = [writer(path, who, 50) for who in "ab"]
    for one in writers:
        _, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors
    with Answers(path) as answers:
        assert len(answers) == 100
        assert answers.get("b-49") == Reply("49")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_process_that_is_killed_leaves_all_that_it_had_said(tmp_path):
    path = tmp_path / "a.sqlite"
    one = writer(path, "a", 10**6)
    assert one.stdout is not None
    for _ in range(40):
        one.stdout.readline()
    one.kill()
    said, _ = one.communicate(timeout=60)
    count = 40 + sum(line.endswith("\n") for line in said.splitlines(keepends=True))
    with Answers(path) as answers:
        assert len(answers) >= count
        assert all(answers.get(f"a-{number}") == Reply(str(number)) for number in range(count))


def test_two_thousand_answers_are_served_in_no_time(tmp_path):
    """No test of speed: a slip such as a scan for each answer would take minutes, not seconds."""
    with Answers(tmp_path / "a.sqlite") as answers:
        for number in range(2000):
            answers.put(str(number), question(), FULL)
        begun = time.monotonic()
        assert all(answers.get(str(number)) == FULL for number in range(2000))
        assert time.monotonic() - begun < 20


# -------------------------------------------------------------------------------- files of others


def refused(path: Path) -> str:
    with pytest.raises(CacheError) as caught:
        Answers(path).close()
    assert "Remedy" in str(caught.value)
    assert path.name in str(caught.value)
    return str(caught.value)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("dear diary, " * 100)
    assert "no SQLite file" in refused(path)
    assert path.read_text() == "dear diary, " * 100


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "shop.sqlite"
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE answers (key TEXT)")
    raw.commit()
    raw.close()
    before = path.read_bytes()
    assert "another program" in refused(path)
    assert path.read_bytes() == before


def test_a_file_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "a.sqlite"
    Answers(path).close()
    raw = sqlite3.connect(path)
    raw.execute("PRAGMA user_version = 99")
    raw.close()
    assert "newer version" in refused(path)


def test_a_damaged_file_is_said_to_be_damaged(tmp_path):
    path = tmp_path / "a.sqlite"
    with Answers(path) as answers:
        for number in range(500):
            answers.put(str(number), question(), FULL)
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)
    with pytest.raises(CacheError, match=r"damaged.*Remedy"), Answers(path) as answers:
        [answers.get(str(number)) for number in range(500)]


def test_an_answer_that_cannot_be_read_is_said_and_not_made_up(tmp_path):
    path = tmp_path / "a.sqlite"
    with Answers(path) as answers:
        answers.put("k", question(), FULL)
        raw = sqlite3.connect(path)
        for broken in ("{", "[]", '{"tokens": [], "new": 1}', "{}"):
            raw.execute("UPDATE answers SET reply = ?", (broken,))
            raw.commit()
            with pytest.raises(CacheError, match="cannot be read"):
                answers.get("k")
        raw.close()


def test_a_folder_is_no_cache(tmp_path):
    assert "cannot be opened" in refused(tmp_path)


def test_a_file_where_the_folder_should_be_is_said(tmp_path):
    (tmp_path / "taken").write_text("")
    assert "cannot be made" in refused(tmp_path / "taken" / "a.sqlite")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_file_that_may_not_be_written_is_said(tmp_path):
    path = tmp_path / "a.sqlite"
    Answers(path).close()
    path.chmod(0o400)
    assert "Remedy" in refused(path)


def test_a_file_that_another_program_holds_is_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "a.sqlite"
    Answers(path).close()
    monkeypatch.setattr(cache, "PATIENCE", 0.1)
    holder = sqlite3.connect(path, isolation_level=None)
    with Answers(path) as answers:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(CacheError, match=r"another program has held the file for 0\.1 s"):
            answers.put("k", question(), FULL)
        holder.execute("ROLLBACK")
        assert answers.put("k", question(), FULL) == FULL
    holder.close()


def test_a_full_disk_stops_the_run_rather_than_lose_an_answer(tmp_path, monkeypatch):
    with Answers(tmp_path / "a.sqlite") as answers:
        pages = answers._db.execute("PRAGMA page_count").fetchone()[0]
        answers._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(CacheError, match="the disk is full"):
            answers.put("k", question(), Reply("x" * 100_000))
