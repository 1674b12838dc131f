"""How long to wait before a question is asked again, and how many are asked at once.

A question that fails waits longer from try to try, by chance a bit more or less, so that many do
not come back together.  A server that says "too many requests" is heard by all: nobody asks until
its pause is over, and then half as many ask at a time, slowly more while all goes well (additive
increase, multiplicative decrease, as in TCP: RFC 5681, Section 3.1).
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Seconds between two tries of one question, at most, if the server names no time.
LONGEST_PAUSE = 30.0
#: A server that asks for a longer wait is not waited for: the run ends, and is gone on with later.
LONGEST_WAIT = 300.0
#: "Not now" is no failure, so it may come this many times as often.
_NOT_NOW = 2


class Again(Exception):
    """A failure that may pass.

    Attributes:
        after: seconds that the server asked to wait; 0 if it named none.
        busy: the server is there, but asked for fewer requests.
        broke: the request may have been answered, and charged, unheard.
        closed: nobody listens.
    """

    def __init__(
        self, why: str, *, after: float = 0.0, busy: bool = False, broke: bool = False, closed=False
    ):
        super().__init__(why)
        self.after, self.busy, self.broke, self.closed = after, busy, broke, closed


class Tries:
    """The tries of one question.

    Args:
        retries: how often it is asked again after failures; twice as often if the server is busy.
        pause: seconds before the second try; doubled each time, up to :data:`LONGEST_PAUSE`.
        rng: draws the share of a pause, a half to all of it.
    """

    def __init__(self, retries: int, pause: float, rng: random.Random):
        self._retries, self._pause, self._rng = retries, pause, rng
        self._failed = self._busy = 0

    @property
    def made(self) -> int:
        """Tries that failed so far."""
        return self._failed + self._busy

    def wait(self, again: Again) -> float | None:
        """Seconds to wait before the next try; None if there is none."""
        if again.busy:
            self._busy += 1
        else:
            self._failed += 1
        if self._failed > self._retries or self._busy > _NOT_NOW * self._retries:
            return None
        pause = min(self._pause * 2 ** (self.made - 1), LONGEST_PAUSE)
        return max(again.after, pause * self._rng.uniform(0.5, 1.0))


class Pace:
    """How many requests are under way; shared by all questions to a server, in one event loop.

    Args:
        rng: spreads the return after a pause.
        clock: seconds from any start, never going back.
    """

    def __init__(self, rng: random.Random, clock: Callable[[], float] = time.monotonic):
        self._rng, self._clock = rng, clock
        self.width = math.inf
        self.inside = 0
        self._until = self._slowed = -math.inf
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> float:
        """Wait for one's turn; returns the time, for :meth:`slow`."""
        try:
            while True:
                pause = self._until - self._clock()
                if pause > 0:
                    # a tenth more at most, so that those who waited do not come as one
                    await asyncio.sleep(pause * self._rng.uniform(1.0, 1.1))
                elif self.inside < self.width:
                    self.inside += 1
                    return self._clock()
                else:
                    turn = asyncio.get_running_loop().create_future()
                    self._waiting.append(turn)
                    await turn
        except asyncio.CancelledError:
            self._wake()  # a turn that was given goes to the next
            raise

    def leave(self) -> None:
        """A request is over; the next may come."""
        self.inside -= 1
        self._wake()

    def well(self) -> None:
        """An answer came: one more at a time for each round of answers."""
        if self.width < math.inf:
            self.width += 1 / max(1.0, self.width)
            self._wake()

    def slow(self, sent: float, seconds: float) -> None:
        """The server asked for fewer requests; heard once of all that were sent before it did."""
        if sent >= self._slowed:
            self.width = max(1.0, min(self.width, self.inside) / 2)
            self._slowed = self._clock()
        self._until = max(self._until, self._clock() + seconds)

    def _wake(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return


def wait_of(headers: Mapping[str, str]) -> float:
    """Seconds of a Retry-After header, a number or a date (RFC 9110, Section 10.2.3); 0 for none.

    Some servers say it in milliseconds, in ``retry-after-ms``.
    """
    for name, share in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / share
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0.0, (then - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return 0.0
