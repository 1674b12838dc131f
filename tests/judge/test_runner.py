"""Many questions: each asked once, each kept before it is seen, whatever stops the run."""

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.asking import Chatting, answers, chat, kept, question, questions
from tests.judge.scripted import says, serving
from tstmeta.judge.base import Reply
from tstmeta.judge.client import Served
from tstmeta.judge.runner import AnswerCache, asking, estimate
from tstmeta.models.connection import ServerError
from tstmeta.schema import TstmetaError

FULL = Reply("4, for \ud800 it says \0 京都", "length", "no", "", 3, 0, "tiny", "fp")


def test_every_question_gets_its_own_answer_and_no_more_are_under_way_than_was_allowed(tmp_path):
    with serving(lambda asked: says(asked.prompt, latency=0.02)) as server:
        replies = answers(chat(server), questions(30), tmp_path, concurrency=5)
        assert server.most_at_once == 5
    assert [reply.text for reply in replies] == [f"Rate number {place}." for place in range(30)]


def test_a_second_run_asks_nothing_and_another_model_or_server_is_asked_anew(tmp_path):
    with serving() as server, serving() as other:
        first, second = (answers(chat(server), questions(2), tmp_path) for _ in range(2))
        assert first == second
        assert server.requests == 2
        answers(chat(server, revision="v2"), questions(2), tmp_path)
        answers(chat(other), questions(2), tmp_path)
        assert (server.requests, other.requests) == (4, 2)
    assert kept(tmp_path) == 6


@pytest.mark.parametrize("kind", [ServerError, ZeroDivisionError])
def test_an_error_of_the_chat_ends_the_run_and_what_came_before_is_kept(tmp_path, kind):
    def reply(question):
        if len(mine.questions) > 2:
            raise kind("broken")
        return Reply("4")

    mine = Chatting(reply)
    with pytest.raises(kind, match="broken"):
        answers(mine, questions(40), tmp_path, concurrency=4)
    assert (kept(tmp_path), mine.closed) == (2, 1)
    assert len(mine.questions) < 10


def test_an_estimate_counts_each_question_once_leaves_out_what_is_kept_and_asks_nothing(tmp_path):
    cache = tmp_path / "answers.sqlite"
    with serving() as server:
        foretold = estimate([*questions(3), *questions(2)], chat(server), cache)
        assert not cache.exists()
        answers(chat(server), questions(2), tmp_path)
        later = estimate(questions(5), chat(server), cache)
        assert server.requests == 2
    tokens = 3 * -(-len("Rate number 0.") // 4)
    assert foretold.startswith(f"3 requests (0 answers are kept), about {tokens} tokens of prompts")
    assert foretold.endswith(f"at most {3 * 512:,} of answers")
    assert later.startswith("3 requests (2 answers are kept)")


def test_a_run_of_another_model_does_not_wait(tmp_path):
    with serving() as server, asking(tmp_path / "answers.sqlite", server.url, "tiny"):
        answers(Served(server.url, "other", key=""), questions(2), tmp_path)
        assert {body["model"] for body in server.bodies} == {"other"}


@pytest.fixture
def cache(tmp_path):
    """A file with an answer under ``k``."""
    with AnswerCache(tmp_path / "a.sqlite") as answers:
        answers.put("k", question(), FULL)
        yield answers


@settings(max_examples=20)
@given(text=st.text())
def test_an_answer_comes_back_as_it_was(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("cache") / "new" / "a.sqlite"
    odd = Reply(text=text)
    with AnswerCache(path) as answers:
        assert answers.get("full") is None
        assert answers.put("full", question(), FULL) == FULL
        answers.put("odd", question(), odd)
    with AnswerCache(path) as answers:
        assert (answers.get("full"), answers.get("odd")) == (FULL, odd)


def test_an_answer_of_an_older_version_is_read_without_its_log_probabilities(cache):
    [[text]] = cache._db.execute("SELECT reply FROM answers")
    older = json.dumps(json.loads(text) | {"tokens": [["4", -0.1, [["4", -0.1]]]]})
    cache._db.execute("UPDATE answers SET reply = ?", (older,))
    assert cache.get("k") == FULL


def test_the_first_answer_to_a_question_stays(cache):
    """Two processes that ask the same at the same time go on with the same answer."""
    with AnswerCache(cache.path) as second:
        assert second.put("k", question(), Reply("5")) == second.get("k") == FULL


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_files_with_answers_are_their_owners_alone_and_a_mode_that_was_chosen_stays(tmp_path):
    path = tmp_path / "new" / "a.sqlite"
    for mode in ("-rw-------", "-rw-r-----"):
        with AnswerCache(path) as answers:
            answers.put("k", question(), FULL)
            assert answers.get("k") == FULL
            modes = {f.name: stat.filemode(f.stat().st_mode) for f in path.parent.iterdir()}
        assert modes == dict.fromkeys(("a.sqlite", "a.sqlite-wal", "a.sqlite-shm"), mode)
        path.chmod(0o640)


def damaged(path: Path) -> None:
    with AnswerCache(path) as answers:
        for number in range(500):
            answers.put(str(number), question(), FULL)
    data = bytearray(path.read_bytes())
    data[4096 : len(data) - 4096] = b"\xa5" * (len(data) - 8192)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("dear diary, " * 100), "not a database"),
        (damaged, "malformed"),
    ],
)
def test_a_file_that_is_no_cache_is_refused_with_a_remedy_and_left_alone(tmp_path, make, words):
    path = tmp_path / "a.sqlite"
    make(path)
    before = path.read_bytes()
    refused = pytest.raises(TstmetaError, match=rf"a\.sqlite.*{words}.*Remedy")
    with refused, AnswerCache(path) as answers:
        [answers.get(str(number)) for number in range(500)]
    assert before == path.read_bytes()
    with pytest.raises(TstmetaError, match="Remedy"):
        AnswerCache(path / "a.sqlite")


@pytest.mark.parametrize("broken", ["{", "[]", "{}"])
def test_an_answer_that_cannot_be_read_is_told_and_not_invented(cache, broken):
    cache._db.execute("UPDATE answers SET reply = ?", (broken,))
    with pytest.raises(TstmetaError, match="cannot be read"):
        cache.get("k")


def test_a_full_disk_stops_the_run_rather_than_lose_an_answer(cache):
    pages = cache._db.execute("PRAGMA page_count").fetchone()[0]
    cache._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(TstmetaError, match=r"full.*there is room"):
        cache.put("long", question(), Reply("x" * 100_000))
