"""The way to a server that speaks OpenAI's interface: its address, its secrets, the client.

The ``openai`` client sends requests, and sends them again where that may help.  A key goes to the
server alone: it is in no message, no answer, no log and no ``repr``.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import httpx

from ..extras import needs
from ..schema import TstmetaError
from ..secrecy import excerpt, mask_of

if TYPE_CHECKING:
    import httpx2
    import openai

#: Bytes of an answer that are read: a long text with escapes and log-probabilities.
LONGEST_BODY = 16 * 2**20
#: Headers that the client's retries go by; all others may say anything.
_RETRY_HEADERS = ("retry-after", "retry-after-ms", "x-should-retry")
#: Where nobody listens the first request says so at once, not after all tries.
_TRIAL: dict[str, Any] = {"timeout": 10.0, "max_retries": 0}


class ServerError(TstmetaError):
    """A server that cannot be used; says the remedy."""


def address(url: str) -> str:
    """Where an interface starts: ``/v1`` is added to a bare host, ``/chat/completions`` taken off.

    Kept answers are found by it.  ServerError for what is no URL or holds a user or a password.
    """
    try:
        parsed = httpx.URL(url.strip().rstrip("/"))
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    known = parsed.scheme in ("http", "https") and parsed.host and (parsed.port or 1) < 2**16
    if not known or "%20" in parsed.host:
        raise ServerError(
            "this is no URL of a server. Remedy: name one, as http://localhost:8000/v1"
        )
    if parsed.userinfo:
        raise ServerError(
            "the URL of the server holds a user or a password. Remedy: if it is the key, write it "
            "into OPENAI_API_KEY"
        )
    path = (parsed.path.rstrip("/").removesuffix("/completions") or "/v1").removesuffix("/chat")
    return str(parsed.copy_with(path=path, query=None, fragment=None))


class Connection:
    """Requests to one server, whose ``url`` is as :func:`address` gives it; asks nothing yet.

    ``key`` is the API key (None: that of ``OPENAI_API_KEY``), ``timeout`` seconds for one answer,
    ``retries`` how often a request is sent again after 408, 409, 429, 5xx, a broken connection or
    no answer in time.  ``mask`` finds the key in what the server repeats.
    """

    def __init__(
        self, url: str, key: str | None = None, *, timeout: float = 120.0, retries: int = 6
    ):
        key = (os.environ.get("OPENAI_API_KEY", "") if key is None else key).strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        self.url, self.timeout, self.retries = url, timeout, retries
        self.mask = mask_of(key)
        self._sender = f"Bearer {key}" if key else ""
        self._client: openai.OpenAI | None = None
        self._async_client: openai.AsyncOpenAI | None = None

    def request(
        self, path: str, body: dict[str, Any] | None = None, **options: Any
    ) -> httpx2.Response | str:
        """What the server answers after all tries, an error too; or why nothing comes.

        A ``body`` is sent as JSON by POST.  ServerError where nobody listens.
        """
        needs("openai", extra="judge")
        import httpx2
        import openai

        try:
            if self._client is None:
                # without kept connections there is nothing to be closed later
                self._client = self._opened(openai.OpenAI, httpx2.Client, keepalive=0)
                self.request("/models", **_TRIAL)
            response: httpx2.Response = self._sent(self._client, path, body, options)
            return response
        except (openai.OpenAIError, UnicodeError) as error:
            return self._outcome(error, path)

    async def request_async(
        self, path: str, body: dict[str, Any] | None = None, **options: Any
    ) -> httpx2.Response | str:
        """:meth:`request`, for many at the same time; an answer is cut at ``LONGEST_BODY``."""
        needs("openai", extra="judge")
        import openai

        try:
            if self._async_client is None:
                self._async_client = self._opened(openai.AsyncOpenAI, _bounded_client())
                await self.request_async("/models", **_TRIAL)
            response: httpx2.Response = await self._sent(self._async_client, path, body, options)
            return response
        except (openai.OpenAIError, UnicodeError) as error:
            return self._outcome(error, path)

    async def close(self) -> None:
        """Let the connections of :meth:`request_async` go; its next call opens new ones."""
        if self._async_client:
            await self._async_client.close()
        self._async_client = None

    def _opened(self, client: Any, http: Any, keepalive: int | None = None) -> Any:
        import httpx2

        is_local = httpx.URL(self.url).host in ("localhost", "127.0.0.1", "::1")
        http_client = http(
            timeout=httpx2.Timeout(self.timeout, connect=min(10.0, self.timeout)),
            limits=httpx2.Limits(max_keepalive_connections=keepalive),
            trust_env=not is_local,  # a proxy does not know this machine
            follow_redirects=False,  # nor is a key sent where a server points
        )
        opened = client(
            base_url=self.url,
            api_key="in the headers",
            max_retries=self.retries,
            http_client=http_client,
        )
        # who pays is said by the key alone, not by variables meant for another server
        opened.organization = opened.project = None
        return opened

    def _sent(self, client: Any, path: str, body: dict[str, Any] | None, options: Any) -> Any:
        import httpx2
        import openai

        # the sender wins over headers of the environment
        options = {"headers": {"Authorization": self._sender or openai.Omit()}, **options}
        # get and post rather than chat.completions.create: answers are read strictly by others
        if body is None:
            return client.get(path, cast_to=httpx2.Response, options=options)
        return client.post(path, cast_to=httpx2.Response, options=options, body=body)

    def _outcome(self, error: Exception, path: str) -> httpx2.Response | str:
        """What an error of the client stands for: an answer of the server, or why there is none."""
        import httpx2
        import openai

        if isinstance(error, UnicodeError):
            return "a text holds half a character, which no JSON in UTF-8 takes"
        if isinstance(error, openai.APIStatusError):  # its words are the server's
            return error.response
        if isinstance(error, openai.APITimeoutError):
            return f"no answer within {self.timeout:g} s"
        cause = error.__cause__ or error
        if path == "/models" and isinstance(cause, httpx2.ConnectError):
            raise ServerError(
                f"no connection to {self.url}: {excerpt(str(cause), mask=self.mask)}. "
                "Remedy: start the server, or mend the URL"
            ) from None
        return f"the connection broke ({type(cause).__name__})"


def _bounded_client() -> Any:
    import httpx2

    class Bounded(httpx2.AsyncClient):
        """Reads an answer to its end, which must come in time and before it is too long."""

        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            data = bytearray()
            options["stream"] = True
            try:
                async with (
                    # the client's own limit begins anew with each byte
                    asyncio.timeout(request.extensions["timeout"]["read"]),
                    aclosing(await super().send(request, **options)) as response,
                ):
                    async for part in response.aiter_bytes():
                        data += part
                        if len(data) > LONGEST_BODY:  # what is cut here is no JSON
                            break
            except TimeoutError:
                raise httpx2.ReadTimeout("the answer is not whole in time") from None
            headers = response.headers
            return httpx2.Response(
                response.status_code,
                headers={name: headers[name] for name in _RETRY_HEADERS if name in headers},
                content=bytes(data),
                request=request,
            )

    return Bounded
