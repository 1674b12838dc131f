"""How a download is tried again."""

import tenacity

#: Statuses that may pass: too slow, too busy, a fault of the moment.
PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
#: Seconds between two tries, at most.
LONGEST_PAUSE = 60.0


class Again(Exception):
    """A failure that may pass."""


def retrying(retries: int, pause: float) -> tenacity.Retrying:
    """Call a function again after :class:`Again`: ``retrying(4, 0.5)(function, *arguments)``.

    Args:
        retries: how often, after the first try; the last failure is raised.
        pause: seconds before the first of these, doubled each time.
    """
    return tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Again),
        stop=tenacity.stop_after_attempt(retries + 1),
        wait=tenacity.wait_exponential(multiplier=pause, max=LONGEST_PAUSE),
        reraise=True,
    )
