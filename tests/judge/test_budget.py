"""Limits that no request under way can break, and sums that add up."""

import asyncio
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.judge import scripted
from tests.judge.asking import answers, chat, free_port, question, questions
from tests.judge.scripted import error, says, serving
from tstmeta.judge.base import Message, Question, Reply, Sampling, Unusable
from tstmeta.judge.budget import Account, Budget, Price, Spent, estimate, worst
from tstmeta.judge.cache import CacheError
from tstmeta.judge.client import connect
from tstmeta.schema import TstmetaError

PRICE = Price(prompt=1.0, answer=10.0)

# ----------------------------------------------------------------------------------- estimates


def test_an_estimate_counts_each_question_once_and_asks_nothing(tmp_path):
    with serving() as server:
        asked = [*questions(3), *questions(2)]
        told = estimate(asked, chat(server), cache=tmp_path / "a.sqlite", price=PRICE)
        assert server.requests == 0
    letters = len("Rate number 0.")
    assert (told.requests, told.kept) == (3, 0)
    assert told.prompt_tokens == 3 * -(-letters // 4)
    assert told.answer_tokens == 3 * 512
    assert told.money == (told.prompt_tokens * 1.0 + told.answer_tokens * 10.0) / 1e6
    assert not (tmp_path / "a.sqlite").exists()
    assert "3 requests (0 answers are kept)" in str(told)


def test_an_estimate_leaves_out_what_is_kept(tmp_path):
    with serving() as server:
        answers(server, questions(2), tmp_path)
        told = estimate(questions(5), chat(server), cache=tmp_path / "answers.sqlite")
    assert (told.requests, told.kept, told.money) == (3, 2, None)


def test_an_estimate_refuses_a_file_that_is_no_cache(tmp_path):
    (tmp_path / "a.txt").write_text("words " * 100)
    with serving() as server, pytest.raises(CacheError):
        estimate(questions(1), chat(server), cache=tmp_path / "a.txt")


# -------------------------------------------------------------------------------------- limits


@given(st.text())
def test_no_prompt_has_more_tokens_than_are_reserved_for_it(text):
    """Bytes are the most tokens that a text has in vocabularies made of bytes."""
    most, answer = worst(question(text, sampling=Sampling(max_tokens=7)))
    assert most >= len(text.encode("utf-8", "replace"))
    assert answer == 7


@pytest.mark.parametrize("limit", [0, 1, 7])
def test_a_limit_on_requests_holds_and_the_rest_says_so(tmp_path, limit):
    with serving() as server:
        found = answers(server, questions(10), tmp_path, budget=Budget(requests=limit))
        assert server.requests == limit
    failed = [reply for reply in found.values() if reply.failure]
    assert (len(found), len(failed)) == (10, 10 - limit)
    assert {reply.failure for reply in failed} == {f"budget: {limit} requests are used up"}


def test_tries_that_failed_are_requests_too(tmp_path):
    with serving(lambda asked: error(500) if asked.times < 3 else None) as server:
        budget = Budget(requests=7)
        found = answers(server, questions(5), tmp_path, budget=budget, concurrency=1)
        assert server.requests == budget.spent.requests == 7
    assert sum(not reply.failure for reply in found.values()) == 2
    assert all("budget: 7 requests" in one.failure for one in found.values() if one.failure)
    assert budget.spent.answers == 2
    assert budget.spent.failures == 1  # the third question; the others were never asked


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_limit_on_tokens_holds_whatever_is_under_way(tmp_path, concurrency):
    """Each answer takes all that it may: 20 tokens, and its prompt as many as it has bytes."""
    asked = [question(f"{number:04}", sampling=Sampling(max_tokens=20)) for number in range(30)]
    prompt, answer = worst(asked[0])
    script = says("4", usage=(prompt, answer), latency=0.01)
    budget = Budget(tokens=10 * (prompt + answer) + 3)
    with serving(lambda _: script) as server:
        found = answers(server, asked, tmp_path, budget=budget, concurrency=concurrency)
        assert server.requests == 10
    assert budget.spent.tokens == 10 * (prompt + answer)
    assert sum(not reply.failure for reply in found.values()) == 10


def test_what_answers_do_not_use_is_free_for_others(tmp_path):
    """Only one answer at a time fits in, at its worst; all ten do, for they are short."""
    asked = [question(f"{number:04}", sampling=Sampling(max_tokens=1000)) for number in range(10)]
    budget = Budget(tokens=sum(worst(asked[0])) + 9 * 15)
    with serving() as server:  # each takes 10 + 5 tokens
        found = answers(server, asked, tmp_path, budget=budget, concurrency=8)
        assert server.most_at_once == 1
    assert not [reply for reply in found.values() if reply.failure]
    assert budget.spent.tokens == 150


def test_a_limit_on_money_holds(tmp_path):
    asked = questions(20)
    prompt, answer = worst(asked[0])
    each = PRICE.of(prompt, answer)
    budget = Budget(money=each * 3.5)
    script = says("4", usage=(prompt, answer))
    with serving(lambda _: script) as server:
        answers(server, asked, tmp_path, served=chat(server, price=PRICE), budget=budget)
        assert server.requests == 3
    assert budget.price == PRICE
    assert budget.spent.money(PRICE) == pytest.approx(3 * each)


def test_a_request_that_breaks_off_may_have_cost_all_it_could(tmp_path):
    asked = question(sampling=Sampling(max_tokens=9))
    prompt, answer = worst(asked)
    budget = Budget()
    with serving(lambda one: scripted.reset() if one.number < 3 else None) as server:
        answers(server, [asked], tmp_path, budget=budget)
    assert budget.spent == Spent(
        requests=3,
        answers=1,
        prompt_tokens=10,
        answer_tokens=5,
        lost=2,
        lost_prompt=2 * prompt,
        lost_answer=2 * answer,
    )


def test_a_limit_counts_what_broke_off(tmp_path):
    asked = question(sampling=Sampling(max_tokens=9))
    budget = Budget(tokens=2 * sum(worst(asked)))
    with serving(lambda _: scripted.reset()) as server:
        found = answers(server, [asked], tmp_path, budget=budget)
        assert server.requests == 2
    assert "budget:" in found[0].failure
    assert "the connection broke" in found[0].failure
    assert budget.spent.tokens == budget.tokens


def test_rubbish_may_have_been_charged_but_an_error_was_not(tmp_path):
    budget = Budget()
    acts = [scripted.page(), error(400, "no")]
    with serving(lambda asked: acts[asked.number - 1]) as server:
        answers(server, questions(2), tmp_path, budget=budget, concurrency=1)
    assert (budget.spent.lost, budget.spent.failures, budget.spent.requests) == (1, 2, 2)


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_server_that_can_answer_nothing_charges_nothing(tmp_path, status):
    budget = Budget()
    with serving(lambda _: error(status)) as server, pytest.raises(Unusable):
        answers(server, questions(1), tmp_path, budget=budget)
    assert budget.spent == Spent(requests=1, failures=1)


def test_where_nobody_listens_nobody_charges(tmp_path):
    budget = Budget()
    served = connect(f"http://127.0.0.1:{free_port()}/v1", "tiny", key="")
    with pytest.raises(Unusable, match="no connection"):
        answers(None, questions(1), tmp_path, served=served, budget=budget)
    assert budget.spent == Spent(requests=1, failures=1)


def test_without_the_package_nothing_is_charged(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    budget, served = Budget(), connect("http://localhost:1/v1", "m", key="")
    with pytest.raises(Unusable, match="pip install"):
        answers(None, questions(1), tmp_path, served=served, budget=budget)
    assert budget.spent.tokens == budget.spent.lost == 0


def test_a_server_that_is_given_up_may_have_charged_for_what_broke_off(tmp_path, monkeypatch):
    monkeypatch.setattr("tstmeta.judge.client.DEAD", 1)
    budget = Budget()
    with serving(lambda _: scripted.reset()) as server, pytest.raises(Unusable):
        answers(server, questions(1), tmp_path, retries=1, budget=budget)
    assert (budget.spent.requests, budget.spent.lost) == (2, 2)


@pytest.mark.parametrize(
    ("act", "lost"), [(error(500, retry_after="60"), 0), (scripted.hang(), 1)], ids=["pause", "ask"]
)
def test_who_stops_while_a_request_is_under_way_may_be_charged_for_it(act, lost):
    """In the pause before the next try there is none."""
    budget = Budget()

    async def stopped(served):
        account = budget.open(question())
        task = asyncio.create_task(served.ask(question(), account))
        while not server.requests:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        task.cancel()
        await asyncio.wait([task])
        account.close(None)
        await served.close()

    with serving(lambda _: act) as server:
        asyncio.run(stopped(chat(server)))
    assert budget.spent.lost == lost


def test_an_answer_that_the_server_did_not_count_costs_what_it_may_have(tmp_path):
    asked = question(sampling=Sampling(max_tokens=9))
    budget = Budget()
    with serving(lambda _: says("4", usage=None)) as server:
        answers(server, [asked], tmp_path, budget=budget)
    assert budget.spent.untold == 1
    assert (budget.spent.prompt_tokens, budget.spent.answer_tokens) == worst(asked)


def test_a_budget_holds_for_several_runs_together(tmp_path):
    budget = Budget(requests=5)
    with serving() as server:
        answers(server, questions(3), tmp_path, budget=budget)
        found = answers(server, questions(8), tmp_path, budget=budget)
        assert server.requests == 5
    assert sum(not reply.failure for reply in found.values()) == 5  # three of them were kept
    assert (budget.spent.answers, budget.under_way) == (5, 0)


def test_what_is_kept_costs_nothing(tmp_path):
    with serving() as server:
        answers(server, questions(3), tmp_path)
        budget = Budget(requests=0, tokens=0)
        found = answers(server, questions(3), tmp_path, budget=budget)
    assert not [reply for reply in found.values() if reply.failure]
    assert budget.spent == Spent()


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({"requests": -1}, "a budget of -1 requests"),
        ({"tokens": -5}, "a budget of -5 tokens"),
        ({"money": float("nan")}, "a budget of nan money"),
    ],
)
def test_a_limit_that_is_none_is_refused(limits, words):
    with pytest.raises(TstmetaError, match=words):
        Budget(**limits)


def test_money_without_a_price_is_refused_before_anything_is_asked(tmp_path):
    with serving() as server:
        with pytest.raises(TstmetaError, match="a limit on money needs a price"):
            answers(server, questions(1), tmp_path, budget=Budget(money=1.0))
        assert server.requests == 0


# ----------------------------------------------------------------------- accounts, without a server


ENDS = ["answer", "untold", "fail", "retry", "lose", "cancel"]


@given(
    st.lists(st.sampled_from([*ENDS, "open", "open", "open"]), max_size=40), st.integers(0, 4000)
)
def test_no_order_of_events_breaks_a_limit(events, limit):
    """Whatever happens to several requests at once, what is spent stays under the limit."""
    asked = Question((Message("user", "x" * 50),), sampling=Sampling(max_tokens=30))
    prompt, answer = worst(asked)
    budget = Budget(tokens=limit)
    under_way: list[Account] = []
    lost = 0
    for event in events:
        reserved = len(under_way) * (prompt + answer)
        if event == "open":
            account = budget.open(asked)
            if account:
                under_way.append(account)
            else:
                assert budget.spent.tokens + reserved + prompt + answer > limit
                assert "tokens" in budget.why(asked)
        elif under_way and event in ("retry", "lose"):
            lost += event == "lose"
            if under_way[0].again(broke=event == "lose"):  # it may not be sent
                under_way.pop(0).close(Reply(failure="budget"))
        elif under_way:
            full = Reply("4", prompt_tokens=prompt, answer_tokens=answer)
            ends = {"answer": full, "untold": Reply("4"), "fail": Reply(failure="no")}
            under_way.pop(0).close(ends.get(event))
            lost += event == "cancel"
        assert budget.under_way == len(under_way)
        assert budget.spent.tokens + len(under_way) * (prompt + answer) <= limit
    spent = budget.spent
    assert spent.answers + spent.failures + len(under_way) <= spent.requests
    assert (spent.lost, spent.lost_prompt) == (lost, lost * prompt)
