"""JSON questions to a server, asked with patience, some at a time.

What passes is tried again, what does not is told with its remedy.  Nothing that a server says is
shown raw, and the API key never.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any, TypeVar

import httpx

from ..schema import TstmetaError
from ..secrecy import LEAST, Mask, said

#: Seconds between two tries, at most; a server that asks for more is believed up to the second.
_LONGEST_PAUSE = 30.0
_LONGEST_WAIT = 300.0
#: A server's words for a prompt that is too long, in the messages of those we know.
_TOO_LONG = ("context length", "maximum context", "max_model_len", "too long", "maximum model len")

Job = TypeVar("Job")
Result = TypeVar("Result")


class ServerError(TstmetaError):
    """A server that cannot be used; ``status`` is its HTTP status, 0 when there was none."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


class _Again(Exception):
    """A failure that may pass; ``after``: the seconds that the server asked us to wait."""

    def __init__(self, why: str, remedy: str, after: float = 0.0, status: int = 0, closed=False):
        super().__init__(why)
        self.remedy, self.after, self.status, self.closed = remedy, after, status, closed


@dataclass(frozen=True)
class Line:
    """A connection to an interface at ``url``, and how patient it is.

    Attributes:
        url: without user, password or query; the client knows who asks.
        mask: of what is sent to the server and must not come back.
        keyed: whether an API key is sent.
        retries: how often a question is asked again.
        pause: seconds before the first of these, doubled each time.
        eager: give up at once where nobody listens (a server that is to be used should be there;
            one that was there may come back).
        stop: set when nobody wants an answer any more.
    """

    url: httpx.URL
    client: httpx.Client
    mask: Mask = field(default=None, repr=False)
    keyed: bool = False
    retries: int = 5
    pause: float = 0.5
    eager: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that answers a POST of ``body``, or a GET without one.

        Raises:
            ServerError: refused, or still failing after all tries; says what to do.
        """
        tried = 0
        while True:
            try:
                return self._once(path, body)
            except _Again as again:
                tried += 1
                if tried > self.retries or (again.closed and self.eager):
                    times = f" (tried {tried} times)" * (tried > 1)
                    raise ServerError(f"{again}{times}. {again.remedy}", again.status) from again
                pause = min(self.pause * 2 ** (tried - 1), _LONGEST_PAUSE)
                if self.stop.wait(max(pause, min(again.after, _LONGEST_WAIT))):
                    raise ServerError("given up, for another question failed") from again

    def _once(self, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        where = f"{self.url}{path}"
        method = "GET" if body is None else "POST"
        try:
            response = self.client.request(method, where, json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise _Again(
                f"no connection to {self.url}: {said(str(error), mask=self.mask)}",
                "Remedy: start the server, or mend the URL",
                closed=True,
            ) from error
        except httpx.TimeoutException as error:
            raise _Again(
                f"{where} did not answer within {self.client.timeout.read:g} s",
                "Remedy: a longer timeout, or fewer prompts a request (batch)",
            ) from error
        except httpx.HTTPError as error:
            raise _Again(
                f"the connection to {self.url} broke ({type(error).__name__})",
                "Remedy: see the server's log. What was answered before is kept: run again",
            ) from error
        self._judge(response, where)
        return _object(response, where)

    def _judge(self, response: httpx.Response, where: str) -> None:
        """Raise what a status that is no success means."""
        code = response.status_code
        if code == 200:
            return
        words = said(_message(response), mask=self.mask)
        heard = f"{where} answers {code}" + (f": {words}" if words else "")
        if code in (408, 429) or code >= 500:
            raise _Again(
                heard,
                "Remedy: see the server's log, or ask for less at a time (concurrent, batch)",
                retry_after(response.headers),
                code,
            )
        if code in (401, 403):
            remedy = (
                "pass another API key" if self.keyed else "pass an API key or set OPENAI_API_KEY"
            )
        elif any(mark in words.lower() for mark in _TOO_LONG):
            remedy = "give the server's window in tokens (window), so that longer texts are cut"
        elif code in (404, 405):
            remedy = "see whether the URL ends where the interface starts (/v1 for most), and the "
            remedy += "model's name"
        elif 300 <= code < 400:
            remedy = "give the URL that it leads to"
        else:
            remedy = "mend what the server says"
        raise ServerError(f"{heard}. Remedy: {remedy}", code)


def grouped(prompts: Iterable[Job], size: int) -> Iterator[list[Job]]:
    """Lists of at most ``size``, in order."""
    rest = iter(prompts)
    while group := list(islice(rest, size)):
        yield group


def together(
    work: Callable[[Job], Result], jobs: Iterator[Job], width: int, stop: threading.Event
) -> Iterator[tuple[Job, Result]]:
    """Jobs and results as they come, at most ``width`` under way.

    After a failure no job is begun; those under way are waited for, their results come, and then
    the failure is raised.
    """
    failure: BaseException | None = None
    pool = ThreadPoolExecutor(width)
    try:
        under_way = {pool.submit(work, job): job for job in islice(jobs, width)}
        while under_way:
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            ready = [(under_way.pop(one), one) for one in done]
            failure = failure or next((f for _, one in ready if (f := one.exception())), None)
            if failure:
                stop.set()  # nobody sleeps before another try any more
            else:
                under_way |= {pool.submit(work, job): job for job in islice(jobs, len(ready))}
            for job, one in ready:
                if not one.exception():
                    yield job, one.result()
        if failure:
            raise failure
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def address(url: str) -> httpx.URL:
    """Where an interface starts: ``/v1`` is added to a bare host.

    Raises:
        ServerError: no http(s) URL, or a password too short to be kept out of answers.
    """
    try:
        parsed = httpx.URL(url.strip().rstrip("/"))
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    known = parsed.scheme in ("http", "https") and parsed.host and (parsed.port or 1) < 2**16
    if not known or "%20" in parsed.host:
        raise ServerError(
            "this is no URL of a server. Remedy: one that starts with http:// or https://, such "
            "as http://localhost:8000/v1"
        )
    if parsed.password and len(parsed.password) < LEAST:
        raise ServerError(
            f"the password in the URL has fewer than {LEAST} characters: where a server repeats "
            "it, it cannot be told from other words. Remedy: a longer one"
        )
    path = parsed.path.rstrip("/").removesuffix("/completions")
    return parsed.copy_with(path=path or "/v1", query=None, fragment=None)


def _message(response: httpx.Response) -> str:
    """The message of an error answer; its text where it is no object; nothing for a page."""
    try:
        body = response.json()
    except ValueError:
        return "" if _page(response) else response.text
    if isinstance(body, dict):
        inner = body.get("error", body)
        body = (
            inner.get("message", inner.get("detail", inner)) if isinstance(inner, dict) else inner
        )
    return str(body)


def _object(response: httpx.Response, where: str) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError as error:
        what = "a web page" if _page(response) else "something that is not JSON"
        raise ServerError(
            f"{where} answers with {what}. Remedy: the URL of the server's interface, such as "
            "http://localhost:8000/v1"
        ) from error
    if not isinstance(body, dict):
        raise ServerError(f"{where} answers with JSON that is no object. Remedy: another URL")
    return body


def _page(response: httpx.Response) -> bool:
    return response.text.lstrip()[:1] == "<"


def retry_after(headers: Mapping[str, str]) -> float:
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
