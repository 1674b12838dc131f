"""Many questions: each asked once, each kept before it is seen, whatever stops the run."""

import threading

import pytest

from tests.judge import scripted
from tests.judge.asking import Chatting, answers, chat, kept, questions
from tests.judge.scripted import error, says, serving
from tstmeta.judge.base import Reply
from tstmeta.judge.cache import asking
from tstmeta.judge.client import Served
from tstmeta.judge.runner import Budget, Price, estimate, worst
from tstmeta.models.connection import ServerError

PRICE = Price(prompt=1.0, answer=10.0)


def echo(asked: scripted.Asked) -> scripted.Act:
    return says(asked.prompt)


def failures(replies: list[Reply]) -> list[str]:
    return [reply.failure for reply in replies if reply.failure]


def test_every_question_gets_its_own_answer_and_no_more_are_under_way_than_was_allowed(tmp_path):
    with serving(lambda asked: says(asked.prompt, latency=0.02)) as server:
        replies = answers(server, questions(30), tmp_path, concurrency=5)
        assert server.most_at_once == 5
    assert [reply.text for reply in replies] == [f"Rate number {place}." for place in range(30)]


def test_a_second_run_asks_nothing_and_another_model_or_server_is_asked_anew(tmp_path):
    with serving() as server, serving() as other:
        before = answers(server, questions(2), tmp_path)
        assert answers(server, questions(2), tmp_path) == before
        assert server.requests == 2
        answers(server, questions(2), tmp_path, served=chat(server, revision="v2"))
        answers(other, questions(2), tmp_path)
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
        answers(None, questions(40), tmp_path, served=mine, concurrency=4)
    assert (kept(tmp_path), mine.closed) == (2, 1)
    assert len(mine.questions) < 10


def test_an_estimate_counts_each_question_once_leaves_out_what_is_kept_and_asks_nothing(tmp_path):
    cache = tmp_path / "answers.sqlite"
    with serving() as server:
        todo = [*questions(3), *questions(2)]
        foretold = estimate(todo, chat(server), cache=cache, price=PRICE)
        assert not cache.exists()
        answers(server, questions(2), tmp_path)
        later = estimate(questions(5), chat(server), cache=cache)
        assert server.requests == 2
    assert foretold[:2] == (3, 0)
    assert foretold.prompt_tokens == 3 * -(-len("Rate number 0.") // 4)
    assert foretold.answer_tokens == 3 * 512
    assert foretold.money == PRICE.of(foretold.prompt_tokens, foretold.answer_tokens)
    assert "3 requests (0 answers are kept)" in str(foretold)
    assert (later.requests, later.on_file, later.money) == (3, 2, None)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_limit_on_money_holds_whatever_is_under_way(tmp_path, concurrency):
    """Each answer costs all that it may."""
    prompt, answer = worst(questions(1)[0])
    budget = Budget(money=PRICE.of(prompt, answer) * 3.5, price=PRICE)
    act = says("4", usage=(prompt, answer), latency=0.01)
    with serving(lambda asked: act) as server:
        replies = answers(server, questions(10), tmp_path, budget=budget, concurrency=concurrency)
        assert server.requests == 3
    assert len(failures(replies)) == 7
    assert (budget.prompt_tokens, budget.answer_tokens) == (3 * prompt, 3 * answer)


def test_what_answers_do_not_use_is_free_for_others(tmp_path):
    """Only one answer at a time fits in, at its worst; all ten do, for they are short."""
    money = PRICE.of(*worst(questions(1)[0])) + 9 * PRICE.of(10, 5)
    budget = Budget(money=money, price=PRICE)
    with serving() as server:  # each takes 10 + 5 tokens
        assert not failures(answers(server, questions(10), tmp_path, budget=budget))
        assert server.most_at_once == 1
    assert (budget.prompt_tokens, budget.answer_tokens, budget.uncounted) == (100, 50, 0)


@pytest.mark.parametrize(
    ("act", "counted"),
    [(says("4", usage=None), False), (scripted.RESET, False), (error(500), True)],
    ids=["no usage", "reset", "500"],
)
def test_what_the_server_did_not_count_costs_what_it_may_have(tmp_path, act, counted):
    budget = Budget()
    with serving(lambda asked: act) as server:
        answers(server, questions(1), tmp_path, served=chat(server, retries=0), budget=budget)
    cost = (0, 0) if counted else worst(questions(1)[0])
    assert (budget.prompt_tokens, budget.answer_tokens) == cost
    assert (budget.sent, budget.uncounted) == (1, not counted)


def test_a_second_run_of_a_model_waits_for_the_first_and_one_of_another_does_not(tmp_path):
    with serving(echo) as server:
        with asking(tmp_path / "answers.sqlite", server.url, "tiny"):
            second = threading.Thread(target=answers, args=(server, questions(3), tmp_path))
            second.start()
            other = Served(server.url, "other", key="")
            answers(server, questions(2), tmp_path, served=other)
            assert {body["model"] for body in server.bodies} == {"other"}
        second.join(30)
        assert (server.requests, kept(tmp_path)) == (5, 5)
