"""A chat model behind an OpenAI-compatible server.

The ``openai`` client sends requests, and sends them again where that may help; what comes back is
read in :mod:`.protocol`.  The API key is in no message, no answer and no ``repr``.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from ..extras import needs
from ..models.wire import ServerError, address
from ..schema import TstmetaError
from ..secrecy import excerpt, mask_of
from .base import Question, Reply, Unusable
from .budget import Price
from .protocol import body, error, refused_field, reply

if TYPE_CHECKING:
    import httpx2
    import openai

#: So many questions in a row without any answer, and the server is taken for dead.
DEAD = 50
#: Bytes of an answer that are read: a long text with escapes and log-probabilities.
LONGEST_BODY = 16 * 2**20


class Served:
    """A :class:`~.base.Chat` that a server runs; asks nothing and loads nothing yet.

    What a server does not take (a schema, a seed, log-probabilities, the name ``max_tokens``) is
    seen from its refusal, left out from then on, and told in ``notes``.

    Args:
        url: where the interface starts, such as ``http://localhost:8000/v1``.
        model: what the server calls the model.
        revision: which weights the server runs, if you know; part of every key.
        key: the API key; ``OPENAI_API_KEY`` of the environment when None.  Never shown, and not
            sent where the URL names a user.
        timeout: seconds for one answer.
        retries: how often a question is sent again after 408, 409, 429, 5xx, a broken connection or
            no answer in time; pauses grow, and ``Retry-After`` counts.
        price: of a million tokens, for estimates.

    Attributes:
        server: the address as it is shown and hashed, without user, password or query.
        notes: what the user should know of this server.

    Raises:
        TstmetaError: no URL, a key that no header takes, or a password in the URL of fewer than six
            characters.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        revision: str = "",
        key: str | None = None,
        timeout: float = 120.0,
        retries: int = 6,
        price: Price | None = None,
    ):
        key = (os.environ.get("OPENAI_API_KEY", "") if key is None else key).strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        try:
            parsed = address(url)
        except ServerError as fault:
            raise Unusable(str(fault)) from None
        if parsed.userinfo:
            user = f"{parsed.username}:{parsed.password}".encode()
            self._sender = f"Basic {base64.b64encode(user).decode()}"
        else:
            self._sender = f"Bearer {key}" if key else ""
        self._mask = mask_of(key, parsed.username, parsed.password)
        path = parsed.path.removesuffix("/chat")  # "/completions" is cut off by address
        self.server = str(parsed.copy_with(username=None, password=None, path=path))
        self.model, self.revision, self.price = model, revision, price
        self.notes: list[str] = []
        self._timeout, self._retries = timeout, retries
        self._local = parsed.host in ("localhost", "127.0.0.1", "::1")
        self._without: frozenset[str] = frozenset()
        self._unanswered = 0
        self._client: openai.AsyncOpenAI | None = None

    def __repr__(self) -> str:
        return f"Served({self.server!r}, {self.model!r}, revision={self.revision!r})"

    async def ask(self, question: Question) -> Reply:
        """One answer, or the failure after all tries.

        Raises:
            Unusable: wrong key, no such model, nobody listens, no quota, or no answer to any of the
                last 50 questions; says the remedy.
        """
        without = self._without
        while True:
            sent = body(question, self.model, without)
            response = await self._send(sent)
            if isinstance(response, str):
                return self._failed(Reply(failure=response))
            if response.status_code == 200:
                answer = reply(response.content, self._mask)
                if answer.failure:
                    return self._failed(answer)
                break
            field = refused_field(response.status_code, response.content, sent)
            if field is None:
                answer = error(response.status_code, response.content, self._mask)
                return self._failed(answer) if answer.failure else answer
            without |= {field}
        self._unanswered = 0
        self.notes += [f"{self.server} takes no {field}" for field in without - self._without]
        self._without |= without
        return answer

    def _failed(self, answer: Reply) -> Reply:
        """The failure; raises when there were too many in a row."""
        self._unanswered += 1
        if self._unanswered >= DEAD:
            raise Unusable(
                f"no answer to any of {DEAD} questions in a row; the last: {answer.failure}. "
                "Remedy: see the server's log, ask fewer at a time or wait longer for an answer, "
                "and run again; answers so far are kept"
            )
        return answer

    async def _send(self, sent: dict[str, Any]) -> httpx2.Response | str:
        """What comes back for a request, after all tries; or why nothing does."""
        client = await self._connected()
        import httpx2
        import openai

        # who asks: it wins over headers of the environment
        headers: dict[str, Any] = {"Authorization": self._sender or openai.Omit()}
        try:
            # not chat.completions.create: to copy what we made ourselves, and to model answers that
            # are read strictly here, takes longer than all the rest
            return await client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                body=sent,
                options={"headers": headers | {"Accept-Encoding": "identity"}},
            )
        except openai.APIStatusError as failure:  # its words are the server's, with all it repeats
            return failure.response
        except UnicodeError:
            return "a text holds half a character, which no JSON in UTF-8 takes"
        except openai.APITimeoutError:
            return f"no answer within {self._timeout:g} s"
        except openai.OpenAIError as failure:
            cause = failure.__cause__ or failure
            return f"the connection broke ({type(cause).__name__})"

    # ----------------------------------------------------------------------------- connections

    async def _connected(self) -> openai.AsyncOpenAI:
        """The client.  Where nobody listens the first call says so at once, not after all tries."""
        if self._client is not None:
            return self._client
        needs("openai", extra="judge")
        import httpx2
        import openai

        http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(self._timeout, connect=min(10.0, self._timeout), pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            # certificates take as long to load as fifty questions to be asked; no use without TLS
            verify=not (self._local and self.server.startswith("http://")),
            trust_env=not self._local,  # a proxy does not know what listens on this machine
            follow_redirects=False,  # nor is a key sent where a server points
            event_hooks={"response": [_bound(self._timeout)]},
        )
        self._client = openai.AsyncOpenAI(
            base_url=self.server,
            api_key="said in each request",
            max_retries=self._retries,
            http_client=http,
        )
        # who pays is said by the key alone, not by variables meant for another server
        self._client.organization = self._client.project = None
        try:
            sender = {"Authorization": self._sender} if self._sender else {}
            await http.get(f"{self.server}/models", headers=sender, timeout=10.0)
        except httpx2.ConnectError as failure:
            raise Unusable(
                f"no connection to {self.server}: {excerpt(str(failure), mask=self._mask)}. "
                "Remedy: start the server, or mend the URL"
            ) from None
        except httpx2.HTTPError:  # it is there; what it can do is seen from the answers
            pass
        return self._client

    async def close(self) -> None:
        """Let connections go; the next question opens new ones."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def _bound(seconds: float) -> Any:
    """A hook of the client: a body has an end, in bytes and in time."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream):
            self.stream, self.end = stream, time.monotonic() + seconds

        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in self.stream:
                size += len(part)
                if time.monotonic() > self.end:
                    raise httpx2.ReadTimeout("the answer is not whole in time")
                if size > LONGEST_BODY:
                    return  # what is cut there is no JSON
                yield part

        async def aclose(self) -> None:
            await self.stream.aclose()

    async def bound(response: httpx2.Response) -> None:
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = Bounded(response.stream)

    return bound


#: The name that clients have elsewhere in the package.
connect = Served
