"""How a download is tried again, and how long after."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import tenacity

#: Statuses that may pass: too slow, too busy, a fault of the moment.
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
#: Seconds between two tries, at most, whatever a server asks for.
LONGEST_PAUSE = 60.0


class Again(Exception):
    """A failure that may pass; ``after`` is what the server asked us to wait, in seconds."""

    def __init__(self, message: str, after: float = 0.0):
        super().__init__(message)
        self.after = after


def retrying(retries: int, pause: float) -> tenacity.Retrying:
    """Call a function again after :class:`Again`: ``retrying(4, 0.5)(function, *arguments)``.

    Args:
        retries: how often, after the first try; the last failure is raised.
        pause: seconds before the first of these, doubled each time; what the server asked for
            counts if it is longer.
    """
    doubling = tenacity.wait_exponential(multiplier=pause, max=LONGEST_PAUSE)

    def wait(state: tenacity.RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        return min(max(doubling(state), getattr(failure, "after", 0.0)), LONGEST_PAUSE)

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Again),
        stop=tenacity.stop_after_attempt(retries + 1),
        wait=wait,
        reraise=True,
    )


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds of a Retry-After header, a number or a date (RFC 9110, 10.2.3); 0 for none."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
        return max(0.0, seconds) if math.isfinite(seconds) else 0.0
    except ValueError:
        pass
    try:
        then = parsedate_to_datetime(value)
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        return max(0.0, (then - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):  # no date, or none that a clock shows
        return 0.0
