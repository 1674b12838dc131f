"""JSON requests to a server of models, made again where a failure may pass."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from ..retrying import PASSING, Again, retry_after, retrying
from ..schema import TstmetaError
from ..secrecy import LEAST, Mask, excerpt

Job = TypeVar("Job")
Result = TypeVar("Result")


class ServerError(TstmetaError):
    """A server that cannot be used; ``status`` is its HTTP status, 0 when there was none."""

    def __init__(self, message: str, status: int = 0):
        super().__init__(message)
        self.status = status


def address(url: str) -> httpx.URL:
    """Where an interface starts: ``/v1`` is added to a bare host."""
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


@dataclass(frozen=True)
class Connection:
    """A connection to an interface; ``url`` is without user and password, ``mask`` hides them."""

    url: httpx.URL
    client: httpx.Client
    mask: Mask = field(default=None, repr=False)
    retries: int = 5
    pause: float = 0.5
    stop: threading.Event = field(default_factory=threading.Event)

    def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON object that answers a POST of ``body``, or a GET without one."""
        try:
            return retrying(self.retries, self.pause, self.stop)(self._answer, path, body)
        except Again as failure:
            raise ServerError(
                f"{failure}. Remedy: see the server's log, and run again: what was answered is kept"
            ) from failure

    def _answer(self, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        where = f"{self.url}{path}"
        try:
            response = self.client.request("POST" if body else "GET", where, json=body)
        except httpx.ConnectError as error:
            words = excerpt(str(error), mask=self.mask)
            raise ServerError(
                f"no connection to {self.url}: {words}. Remedy: start the server, or mend the URL"
            ) from error
        except httpx.HTTPError as error:  # too slow, or broken
            raise Again(f"no answer of {where} ({type(error).__name__})") from error
        status = response.status_code
        try:
            answer = response.json() if status == 200 else None
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return answer
        words = f"{where} answers {status}: {excerpt(response.text, mask=self.mask)}"
        if status in PASSING or status >= 500:
            raise Again(words, retry_after(response.headers))
        remedy = "see whether the URL ends where the interface starts (/v1 for most)"
        if status in (401, 403):
            remedy = "set OPENAI_API_KEY to the server's API key"
        raise ServerError(f"{words}. Remedy: {remedy}", status)


def together(
    work: Callable[[Job], Result], jobs: Iterable[Job], width: int, stop: threading.Event
) -> Iterator[tuple[Job, Result]]:
    """Jobs and results as they come; after a failure those under way, and then the failure."""
    failure: BaseException | None = None
    pool = ThreadPoolExecutor(width)
    try:
        futures = {pool.submit(work, job): job for job in jobs}
        for future in as_completed(futures):
            if future.cancelled():
                continue
            if error := future.exception():
                failure = failure or error
                stop.set()  # nobody sleeps before another try any more
                for waiting in futures:
                    waiting.cancel()
            else:
                yield futures[future], future.result()
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    if failure:
        raise failure
