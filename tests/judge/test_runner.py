"""Many questions: each asked once, each kept before it is seen, whatever stops the run."""

import asyncio
import json
import sys
import threading
import weakref

import pytest

from tests.judge import scripted
from tests.judge.asking import answers, chat, kept, question, questions
from tests.judge.scripted import error, says, serving
from tstmeta.judge.base import Question, Reply, Unusable
from tstmeta.judge.cache import CacheError
from tstmeta.judge.runner import Budget, Price, run
from tstmeta.schema import TstmetaError


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
