"""A chat model behind an OpenAI-compatible server.

The ``openai`` client sends requests, and sends them again where that may help; what comes back is
read in :mod:`.base`.  The API key is in no message, no answer and no ``repr``.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..extras import needs
from ..models.server import address
from ..schema import TstmetaError
from ..secrecy import excerpt, mask_of
from .base import Question, Reply, Unusable, answered, body

if TYPE_CHECKING:
    import httpx2
    import openai

#: So many questions in a row without any answer, and the server is taken for dead.
DEAD = 50
#: Bytes of an answer that are read: a long text with escapes and log-probabilities.
LONGEST_BODY = 16 * 2**20
#: Why a text is not sent.
HALF = "a text holds half a character, which no JSON in UTF-8 takes"
#: Headers that the client's retries go by; all others may say anything.
_KEPT_HEADERS = ("retry-after", "retry-after-ms", "x-should-retry")


class Served:
    """A chat model that a server runs; asks nothing and loads nothing yet.

    Args:
        url: where the interface starts, such as ``http://localhost:8000/v1``.
        model: what the server calls the model; ``revision``: its weights, if you know.
        key: the API key; never shown.
        timeout: seconds for one answer.
        retries: how often a question is sent again after 408, 409, 429, 5xx, a broken connection or
            no answer in time; pauses grow, and ``Retry-After`` counts.

    Attributes:
        server: the address as it is shown and hashed, without a query.
        notes: which fields of a question the server does not take, so that they are left out.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        revision: str = "",
        key: str = "",
        timeout: float = 120.0,
        retries: int = 6,
    ):
        key = key.strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        parsed = address(url)
        if parsed.userinfo:
            raise Unusable(
                "the URL of the server holds a user or a password, and a key comes from the "
                "environment alone. Remedy: write it into OPENAI_API_KEY"
            )
        self._sender, self.mask = f"Bearer {key}" if key else "", mask_of(key)
        path = parsed.path.removesuffix("/chat")  # "/completions" is cut off by address
        self.server = str(parsed.copy_with(path=path))
        self.model, self.revision = model, revision
        self.notes: list[str] = []
        self._timeout, self._retries = timeout, retries
        self._local = parsed.host in ("localhost", "127.0.0.1", "::1")
        self.without: frozenset[str] = frozenset()
        self._unanswered = 0
        self._client: openai.AsyncOpenAI | None = None

    async def ask(self, question: Question) -> Reply:
        """One answer, or the failure after all tries; Unusable where no question can succeed."""
        without = self.without
        while True:
            sent = body(question, self.model, without)
            response = await self.send("post", "/chat/completions", body=sent)
            if isinstance(response, str):
                answer: Reply | str = Reply(failure=response)
            else:
                answer = answered(response.status_code, response.content, sent, self.mask)
            if isinstance(answer, Reply):
                break
            without |= {answer}
        if not answer.failure:
            self._unanswered = 0
            self.leave_out(without)
            return answer
        self._unanswered += 1
        if self._unanswered >= DEAD:
            raise Unusable(
                f"no answer to any of {DEAD} questions in a row; the last: {answer.failure}. "
                "Remedy: see the server's log, ask fewer at a time or wait longer for an answer, "
                "and run again; answers so far are kept"
            )
        return answer

    def leave_out(self, fields: frozenset[str]) -> None:
        """The server does not take these fields: no question has them from now on."""
        self.notes += [f"{self.server} takes no {field}" for field in fields - self.without]
        self.without |= fields

    async def send(
        self,
        verb: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        **content: Any,
    ) -> httpx2.Response | str:
        """What the server answers after all tries, an error too; or why nothing comes."""
        needs("openai", extra="judge")
        import httpx2
        import openai

        # who asks: it wins over headers of the environment
        sender = {"Authorization": self._sender or openai.Omit()}
        options: dict[str, Any] = {"headers": {**sender, **(headers or {})}}
        options |= {"timeout": timeout} if timeout is not None else {}
        options |= {"max_retries": retries} if retries is not None else {}
        try:
            if self._client is None:
                self._client = self._connected()
                # where nobody listens the first question says so at once, not after all tries
                await self.send("get", "/models", timeout=10.0, retries=0)
            method = getattr(self._client, verb)
            # not chat.completions.create: to copy what we made ourselves, and to model answers
            # that are read strictly here, takes longer than all the rest
            return await method(path, cast_to=httpx2.Response, options=options, **content)
        except openai.APIStatusError as failure:  # its words are the server's, with all it repeats
            return failure.response
        except UnicodeError:
            return HALF
        except openai.APITimeoutError:
            return f"no answer within {timeout or self._timeout:g} s"
        except openai.OpenAIError as failure:
            cause = failure.__cause__ or failure
            if path == "/models" and isinstance(cause, httpx2.ConnectError):
                words = excerpt(str(cause), mask=self.mask)
                raise Unusable(
                    f"no connection to {self.server}: {words}. Remedy: start the server, or mend "
                    "the URL"
                ) from None
            return f"the connection broke ({type(cause).__name__})"

    def _connected(self) -> openai.AsyncOpenAI:
        import httpx2
        import openai

        class Bounded(httpx2.AsyncClient):
            """Reads an answer to its end, which must come in time and before it is too long."""

            async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
                data = bytearray()
                options["stream"] = True
                try:  # the client's own limit begins anew with each byte
                    async with asyncio.timeout(request.extensions["timeout"]["read"]):
                        response = await super().send(request, **options)
                        try:
                            async for part in response.aiter_bytes():
                                data += part
                                if len(data) > LONGEST_BODY:  # what is cut here is no JSON
                                    break
                        finally:
                            await response.aclose()
                except TimeoutError:
                    raise httpx2.ReadTimeout("the answer is not whole in time") from None
                headers = response.headers
                return httpx2.Response(
                    response.status_code,
                    headers={name: headers[name] for name in _KEPT_HEADERS if name in headers},
                    content=bytes(data),
                    request=request,
                )

        http = Bounded(
            timeout=httpx2.Timeout(self._timeout, connect=min(10.0, self._timeout)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            trust_env=not self._local,  # a proxy does not know what listens on this machine
            follow_redirects=False,  # nor is a key sent where a server points
        )
        client = openai.AsyncOpenAI(
            base_url=self.server,
            api_key="in the headers",
            max_retries=self._retries,
            http_client=http,
        )
        # who pays is said by the key alone, not by variables meant for another server
        client.organization = client.project = None
        return client

    async def close(self) -> None:
        """Let connections go; the next question opens new ones."""
        if self._client:
            await self._client.close()
        self._client = None
