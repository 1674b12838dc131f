"""Answers that were paid for stay, whatever happens to the process, the machine or the file."""

import json
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.judge.asking import question
from tstmeta.judge.base import Reply
from tstmeta.judge.cache import AnswerCache
from tstmeta.schema import TstmetaError

FULL = Reply("4, for \ud800 it says \0 京都", "length", "no", "", 3, 0, "tiny", "fp")


@pytest.fixture
def answers(tmp_path):
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


def test_an_answer_of_an_older_version_is_read_without_its_log_probabilities(answers):
    [[text]] = answers._db.execute("SELECT reply FROM answers")
    older = json.dumps(json.loads(text) | {"tokens": [["4", -0.1, [["4", -0.1]]]]})
    answers._db.execute("UPDATE answers SET reply = ?", (older,))
    assert answers.get("k") == FULL


def test_the_first_answer_to_a_question_stays(answers):
    """Two processes that ask the same at the same time go on with the same answer."""
    with AnswerCache(answers.path) as second:
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
def test_an_answer_that_cannot_be_read_is_told_and_not_invented(answers, broken):
    answers._db.execute("UPDATE answers SET reply = ?", (broken,))
    with pytest.raises(TstmetaError, match="cannot be read"):
        answers.get("k")


def test_a_full_disk_stops_the_run_rather_than_lose_an_answer(answers):
    pages = answers._db.execute("PRAGMA page_count").fetchone()[0]
    answers._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(TstmetaError, match=r"full.*there is room"):
        answers.put("long", question(), Reply("x" * 100_000))
