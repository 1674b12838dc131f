"""Many questions: each asked once, each kept before it is seen, whatever stops the run."""

import pytest

from tests.judge.asking import Chatting, answers, chat, kept, questions
from tests.judge.scripted import says, serving
from tstmeta.judge.base import Reply
from tstmeta.judge.cache import asking
from tstmeta.judge.client import Served
from tstmeta.judge.runner import estimate
from tstmeta.models.connection import ServerError


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
