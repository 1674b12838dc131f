"""How long is waited, and how many ask at a time, without any server."""

import asyncio
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tstmeta.judge.patience import LONGEST_PAUSE, Again, Pace, Tries, wait_of


def waits(tries: Tries, again: Again) -> list[float]:
    """All waits until there is no more."""
    found = []
    while (wait := tries.wait(again)) is not None:
        found.append(wait)
    return found


def test_each_wait_is_about_twice_the_one_before():
    found = waits(Tries(4, 1.0, random.Random(0)), Again("oh"))
    assert len(found) == 4
    for number, wait in enumerate(found):
        assert 2**number / 2 <= wait <= 2**number


def test_no_wait_is_longer_than_half_a_minute_unless_the_server_asks():
    assert max(waits(Tries(30, 1.0, random.Random(0)), Again("oh"))) <= LONGEST_PAUSE
    assert waits(Tries(2, 1.0, random.Random(0)), Again("oh", after=100.0)) == [100.0, 100.0]


def test_not_now_may_be_said_twice_as_often_as_no():
    assert len(waits(Tries(3, 0.1, random.Random(0)), Again("busy", busy=True))) == 6
    tries = Tries(1, 0.1, random.Random(0))
    assert tries.wait(Again("busy", busy=True)) is not None
    assert tries.wait(Again("oh")) is not None
    assert tries.wait(Again("oh")) is None
    assert tries.made == 3


def test_the_same_seed_waits_the_same():
    one, two = (waits(Tries(5, 1.0, random.Random(3)), Again("oh")) for _ in range(2))
    assert one == two
    assert one != waits(Tries(5, 1.0, random.Random(4)), Again("oh"))


DATES = st.from_regex(r"[A-Z][a-z]{2}, [0-9A-Za-z :+-]{0,30}")


@given(st.text(st.characters(codec="latin-1")) | DATES)
def test_no_header_breaks_the_reader_of_waits(text):
    for name in ("retry-after", "retry-after-ms"):
        assert 0 <= wait_of({name: text}) < math.inf


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def inside(pace: Pace, count: int) -> list[float]:
    """Enter so many times at once; for a pace without a pause or a full house."""

    async def enter() -> list[float]:
        return [await asyncio.wait_for(pace.enter(), 1) for _ in range(count)]

    return asyncio.run(enter())


def test_half_as_many_ask_after_a_server_said_too_many():
    clock = Clock()
    pace = Pace(random.Random(0), clock)
    sent = inside(pace, 64)
    assert pace.width == math.inf
    clock.now = 1.0
    pace.slow(sent[0], 0.0)
    assert pace.width == 32


def test_those_that_were_sent_before_are_heard_once():
    """64 that are turned away together say one thing, not 64."""
    clock = Clock()
    pace = Pace(random.Random(0), clock)
    sent = inside(pace, 64)
    clock.now = 1.0
    for one in sent:
        pace.slow(one, 0.0)
        pace.leave()
    assert pace.width == 32
    clock.now = 2.0
    pace.slow(inside(pace, 32)[-1], 0.0)
    assert pace.width == 16


def test_one_may_always_ask():
    clock = Clock()
    pace = Pace(random.Random(0), clock)
    for _ in range(20):
        sent = inside(pace, 1)[0]
        clock.now += 1
        pace.slow(sent, 0.0)
        pace.leave()
    assert pace.width == 1


def test_the_width_grows_by_about_one_in_each_round_of_answers():
    pace = Pace(random.Random(0), Clock())
    pace.width = 8.0
    for _ in range(8):
        pace.well()
    assert 8.9 < pace.width < 9.1


@given(width=st.integers(1, 5), count=st.integers(1, 20), cancelled=st.sets(st.integers(0, 19)))
def test_all_get_their_turn_and_never_too_many(width, count, cancelled):
    """Whoever is cancelled while waiting takes nobody's turn along."""

    async def crowd() -> tuple[int, int]:
        pace = Pace(random.Random(0))
        pace.width = float(width)
        most = done = 0

        async def one() -> None:
            nonlocal most, done
            await pace.enter()
            most = max(most, pace.inside)
            await asyncio.sleep(0)
            pace.leave()
            done += 1

        tasks = [asyncio.create_task(one()) for _ in range(count)]
        waiting = tasks[width:]  # the others are inside by now
        await asyncio.sleep(0)
        gone = {task for place, task in enumerate(waiting) if place in cancelled}
        for task in gone:
            task.cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        assert done == count - len(gone)
        assert pace.inside == 0
        return most, done

    most, _ = asyncio.run(crowd())
    assert most <= width


def test_who_is_cancelled_as_the_turn_comes_passes_it_on():
    async def three() -> None:
        pace = Pace(random.Random(0))
        pace.width = 1.0
        await pace.enter()
        second, third = (asyncio.create_task(pace.enter()) for _ in range(2))
        await asyncio.sleep(0)
        pace.leave()  # the turn of the second, which is cancelled before it takes it
        second.cancel()
        await asyncio.wait_for(third, 5)
        assert second.cancelled()

    asyncio.run(three())


@pytest.mark.parametrize("pause", [0.05, 0.2])
def test_nobody_enters_during_a_pause(pause):
    async def wait() -> float:
        pace = Pace(random.Random(0))
        begun = await pace.enter()
        pace.slow(begun, pause)
        pace.leave()
        return await pace.enter() - begun

    assert pause <= asyncio.run(wait()) < pause + 2
