"""One file over HTTP: resumed where it was cut, judged before it counts, put in place in one step.

Bytes arrive in ``<file>.part``.  The caller's verdict on that file decides: right, and it takes the
real name; wrong, and it is kept aside as ``<file>.wrong`` for a person to look at.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from .. import __version__

_CHUNK = 1 << 16
_BUSY = (429, 500, 502, 503, 504)
_LONGEST_WAIT = 60.0


class Refused(Exception):
    """The file will not come, however often we ask; the message says why."""


class Unreachable(Exception):
    """No connection to the host: most likely this machine is offline."""


class _Again(Exception):
    """A failure that may pass; ``after`` is what the server asked us to wait, in seconds."""

    def __init__(self, why: str, after: float = 0.0):
        super().__init__(why)
        self.after = after


@dataclass(frozen=True)
class Line:
    """What the downloads of one call share.

    Attributes:
        retries: how often a file is tried again after a busy server or a cut connection.
        pause: seconds before the first retry, doubled each time.
        report: told the bytes a file has so far.
        stop: set when the user gives up.
    """

    client: httpx.Client
    retries: int = 4
    pause: float = 0.5
    report: Callable[[Path, int], None] = lambda part, size: None
    stop: threading.Event = field(default_factory=threading.Event)


def client() -> httpx.Client:
    """A client that never waits for ever; it asks for bytes as they are, to resume."""
    return httpx.Client(
        timeout=httpx.Timeout(30, connect=10),
        follow_redirects=True,
        headers={"User-Agent": f"tstmeta/{__version__}", "Accept-Encoding": "identity"},
    )


def download(
    line: Line,
    url: str,
    target: Path,
    verdict: Callable[[Path], str],
    *,
    size: int | None,
    limit: int,
    resume: bool = True,
) -> None:
    """Fetch ``url`` into ``target``.

    Args:
        verdict: what is wrong with a complete file; an empty text when it is right.
        size: its bytes, None when not known; ``limit`` is the most that is accepted.
        resume: whether to go on from a partial file (only sensible when the verdict would notice
            that the halves do not belong together).

    Raises:
        Refused: another size or hash, not found, too large, or still failing after all retries.
        Unreachable: no connection, twice.
        OSError: the file cannot be written.
    """
    part = target.with_name(f"{target.name}.part")
    if not resume:
        part.unlink(missing_ok=True)
    last, unreachable = _Again("not tried"), 0
    for attempt in range(line.retries + 1):
        if attempt:
            line.stop.wait(min(max(line.pause * 2 ** (attempt - 1), last.after), _LONGEST_WAIT))
        if line.stop.is_set():
            raise Refused("interrupted")
        try:
            resumed = _receive(line, url, part, size, limit)
        except _Again as again:
            last = again
            continue
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            unreachable += 1
            if unreachable == 2 or not line.retries:
                raise Unreachable(str(error)) from error
            continue
        if _settled(part, target, verdict, resumed):
            return
        last = _Again("the resumed file was wrong")
    raise Refused(f"{last} (tried {line.retries + 1} times)")


def _settled(part: Path, target: Path, verdict: Callable[[Path], str], resumed: bool) -> bool:
    """Put a complete file in place; False when it should be fetched again from its start."""
    if not (wrong := verdict(part)):
        os.replace(part, target)
        return True
    if resumed:  # the old half may have been something else
        part.unlink()
        return False
    aside = target.with_name(f"{target.name}.wrong")
    os.replace(part, aside)
    raise Refused(f"{wrong}: refused, kept aside as {aside}")


def _receive(line: Line, url: str, part: Path, size: int | None, limit: int) -> bool:
    """Receive the rest of a file; returns whether it went on from an earlier part.

    Raises:
        _Again: worth another try.  Refused, httpx.ConnectError, OSError: not worth it.
    """
    have = part.stat().st_size if part.exists() else 0
    if have and have == size:
        return True
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        with line.client.stream("GET", url, headers=headers) as response:
            start = _accepted(response, have, part)
            _fits(response, start, size, limit)
            _write(line, response, part, start, limit)
    except (httpx.ConnectError, httpx.ConnectTimeout):
        raise
    except httpx.TransportError as error:
        raise _Again(f"the connection broke ({type(error).__name__})") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Refused(str(error)) from error
    if size is not None and part.stat().st_size < size:
        raise _Again(f"cut off after {part.stat().st_size} of {size} bytes")
    return start > 0


def _accepted(response: httpx.Response, have: int, part: Path) -> int:
    """At which byte the answer starts."""
    code = response.status_code
    if code == 200:
        return 0
    if code == 206 and response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
        return have
    if code in (206, 416):
        part.unlink(missing_ok=True)
        raise _Again("the server could not go on from the partial file")
    if code in _BUSY:
        after = response.headers.get("Retry-After", "")
        raise _Again(f"the server answers {code}", float(after) if after.isdecimal() else 0.0)
    raise Refused(f"the server answers {code} {response.reason_phrase}: {response.url}")


def _fits(response: httpx.Response, start: int, size: int | None, limit: int) -> None:
    """Refuse by the announced length, before anything is received."""
    announced = response.headers.get("Content-Length", "")
    if not announced.isdecimal():
        return
    total = start + int(announced)
    if size is not None and total != size:
        raise Refused(f"wrong size: the server has {total} bytes, the manifest says {size}")
    if total > limit:
        raise Refused(f"too large: {total} bytes, at most {limit} are accepted")


def _write(line: Line, response: httpx.Response, part: Path, start: int, limit: int) -> None:
    received = start
    # Not before there is something to write: an empty folder would look like a data set.
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.open("ab" if start else "wb") as file:
        line.report(part, received)
        for block in response.iter_bytes(_CHUNK):
            received += len(block)
            if received > limit:
                raise Refused(f"too large: more than {limit} bytes came")
            file.write(block)
            line.report(part, received)
            if line.stop.is_set():
                raise Refused("interrupted")
