"""A chat model behind an OpenAI-compatible server, asked with patience.

The ``openai`` client writes the request; what comes back is read in :mod:`.protocol`.  Retries are
ours, for each of them counts in the budget.  The API key is in no message, no answer, no ``repr``.
"""

from __future__ import annotations

import asyncio
import base64
import os
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..models.wire import ServerError, address
from ..schema import TstmetaError
from ..secrecy import mask_of, said
from .base import Question, Reply, Unusable
from .budget import Account, Price
from .protocol import LONGEST_BODY, Again, Refused, body, is_number, reply, verdict

if TYPE_CHECKING:
    import openai

#: So many questions in a row without any answer, and the server is taken for dead.
DEAD = 50
#: Seconds between two tries of one question, at most, if the server names no time.
LONGEST_PAUSE = 30.0


class Served:
    """A :class:`~.base.Chat` that a server runs; asks nothing and loads nothing yet.

    The package ``openai`` is needed for the first question, not for answers that are kept.  What a
    server does not take (a schema, a seed, log-probabilities, the name ``max_tokens``) is found out
    from its refusal, left out from then on, and said in ``notes``.  The question's key holds what
    was wanted: a server takes a field or does not, so its answers to one key are alike.

    Args:
        url: where the interface starts, such as ``http://localhost:8000/v1``.
        model: what the server calls the model.
        revision: which weights the server runs, if you know; part of every key.
        key: the API key; ``OPENAI_API_KEY`` of the environment when None.  Never shown.
        timeout: seconds for one answer, from the request to its last byte; a connection must stand
            after half of it, ten seconds at most.
        retries: how often a question is asked again after 408, 409, 5xx, a broken connection or
            no answer in time; twice as often after 429, which says only "not now".
        price: of a million tokens, for estimates and budgets.
        pause: seconds before the first of these; doubled each time, up to half a minute.
            ``Retry-After`` counts if it is longer.
        seed: of the chance in pauses.

    Attributes:
        server: the address as it is shown and hashed, without user, password or query.
        notes: what the user should know of this server.
        price: of a million tokens, or None.
        metered: its ``ask`` takes an account, in which it counts each try.

    Raises:
        TstmetaError: no URL, no model, a key that no header takes, a password in the URL of fewer
            than six characters, or a number that makes no sense.
    """

    metered = True

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
        pause: float = 0.5,
        seed: int = 0,
    ):
        if not model.strip():
            raise TstmetaError("no model is named. Remedy: what the server calls it")
        if not is_number(timeout) or not is_number(pause):
            raise TstmetaError(f"timeout ({timeout}) and pause ({pause}) must be above 0 seconds")
        if retries < 0:
            raise TstmetaError(f"retries is {retries}; it must be at least 0")
        key = (os.environ.get("OPENAI_API_KEY", "") if key is None else key).strip()
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        try:
            parsed = address(url)
        except ServerError as error:
            raise Unusable(str(error)) from None
        path = parsed.path.removesuffix("/chat")  # "/completions" is cut off by address
        if key and parsed.userinfo:
            raise TstmetaError(
                "both an API key and a user in the URL. Remedy: only one of them (key='' or an "
                "empty OPENAI_API_KEY sends no key)"
            )
        user = f"{parsed.username}:{parsed.password}" if parsed.userinfo else ""
        self._basic = base64.b64encode(user.encode()).decode()
        self._mask = mask_of(key, parsed.username, parsed.password)
        self.server = str(parsed.copy_with(username=None, password=None, path=path))
        self.model, self.revision, self.price = model, revision, price
        self.notes: list[str] = []
        self._key, self._timeout = key, timeout
        self._retries, self._pause = retries, pause
        self._rng = random.Random(seed)
        self._here = parsed.host in ("localhost", "127.0.0.1", "::1")
        self._without: frozenset[str] = frozenset()
        self._answered, self._unanswered = False, 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"Served({self.server!r}, {self.model!r}, revision={self.revision!r})"

    # ---------------------------------------------------------------------------------- asking

    async def ask(self, question: Question, account: Account | None = None) -> Reply:
        """One answer, or the failure after all tries; see :class:`~.base.Chat`.

        Args:
            account: where each try is counted; it may forbid the next one.

        Raises:
            Unusable: wrong key, no such model, nobody listens, no quota, or a server that has not
                answered any of the last 50 questions; says the remedy.
        """
        account = account or Account.free_of_limits(question)
        account.over(False)  # nothing is sent yet
        client, tries, without = self._connected(), 0, self._without
        while True:
            account.sent()
            try:
                found = await self._once(client, question, without, account)
                self._answered, self._unanswered = True, 0
                return found
            except Refused as refused:
                if refused.field in without:  # it cannot be sent, so this is about something else
                    return Reply(failure=str(refused))
                without |= {refused.field}
                why, broke, wait = str(refused), False, 0.0
            except Again as again:
                tries += 1
                most = self._retries * (2 if again.busy else 1)
                if tries > most or (again.closed and not self._answered):
                    return self._given_up(again, tries, account)
                # by chance a bit shorter, so that many do not come back together
                pause = min(self._pause * 2 ** min(tries - 1, 20), LONGEST_PAUSE)
                wait = max(again.after, pause * self._rng.uniform(0.5, 1.0))
                why, broke = str(again), again.broke
            except Unusable:
                account.over(False)  # it was refused, so there is nothing to charge for
                raise
            if limit := account.again(broke):
                return Reply(failure=f"budget: {limit} do not allow another try after: {why}")
            account.over(False)
            await asyncio.sleep(wait)

    async def _once(
        self,
        client: openai.AsyncOpenAI,
        question: Question,
        without: frozenset[str],
        account: Account,
    ) -> Reply:
        """One request; raises :class:`Again`, :class:`Refused` or :class:`Unusable`."""
        from .bounded import TooLong

        sent = body(question, self.model, without)
        try:
            status, headers, data = await self._send(client, sent)
        except UnicodeError:
            return Reply(failure="a text holds half a character, which no JSON in UTF-8 takes")
        except TooLong:
            found = Reply(failure=f"the answer has more than {LONGEST_BODY:,} bytes")
        else:
            if status != 200:
                return verdict(status, headers, data, sent, self._mask)
            found = reply(data, self._mask)
        if not found.failure:
            self._learned(without)
        else:
            account.over(True)  # rubbish, too, may be charged
        return found

    async def _send(
        self, client: openai.AsyncOpenAI, sent: dict[str, Any]
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of what comes back; raises :class:`Again` if nothing does."""
        import anyio
        import httpx2
        import openai

        try:
            async with asyncio.timeout(self._timeout):
                # not chat.completions.create: to check and copy what we made ourselves, and to
                # model answers that are read strictly here, takes longer than all the rest
                found = await client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body=sent,
                    options={"headers": self._headers()},
                )
        except TimeoutError:
            raise self._late() from None
        except openai.APIStatusError as error:
            # not judged here: what is raised here would carry the server's raw words along
            found = error.response
        except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
            raise self._broken(error) from None
        except (OSError, anyio.EndOfStream) as error:
            raise self._broken(error) from None
        return found.status_code, found.headers, found.content

    def _broken(self, error: Exception) -> Again:
        import httpx2

        cause = error.__cause__ or error
        # openai gives all that took too long one name, but what was never sent costs nothing
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            words = said(str(cause), mask=self._mask) or "it takes too long"
            # one that takes too long may be there, with many before us
            closed = isinstance(cause, httpx2.ConnectError)
            return Again(f"no connection to {self.server}: {words}", closed=closed)
        if isinstance(cause, httpx2.TimeoutException):
            return self._late()
        return Again(f"the connection broke ({type(cause).__name__})", broke=True)

    def _late(self) -> Again:
        return Again(f"no answer within {self._timeout:g} s", broke=True)

    def _learned(self, without: frozenset[str]) -> None:
        """Remember what an answer came without."""
        for field in sorted(without - self._without):
            self.notes.append(
                f"{self.server} takes no {field}"
                + (": max_completion_tokens is sent instead" if field == "max_tokens" else "")
            )
        self._without |= without

    def _given_up(self, again: Again, tries: int, account: Account) -> Reply:
        """The failure after the last try; raises when the server is taken for dead."""
        times = f" (tried {tries} times)" if tries > 1 else ""
        account.over(again.broke)
        self._unanswered += 1
        if again.closed:
            raise Unusable(
                f"{again}{times}. Remedy: start the server, or mend the URL; answers so far are "
                "kept"
            )
        if self._unanswered >= DEAD:
            raise Unusable(
                f"no answer to any of {DEAD} questions in a row; the last: {again}{times}. "
                "Remedy: see the server's log, ask fewer at a time or wait longer for an answer, "
                "and run again; answers so far are kept"
            )
        return Reply(failure=f"{again}{times}")

    # ----------------------------------------------------------------------------- connections

    def _connected(self) -> openai.AsyncOpenAI:
        """Connections of the loop that runs; those of another loop are of no use."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._client, self._loop = self._connections(), loop
        return self._client

    def _connections(self) -> openai.AsyncOpenAI:
        try:
            import httpx2
            import openai
        except ImportError as error:
            raise Unusable(
                "asking a server needs the package openai. Remedy: pip install 'tstmeta[judge]'"
            ) from error
        from .bounded import bound

        http = httpx2.AsyncClient(
            # the limit on the whole is ours; a connection must stand before, lest it be taken for
            # a request without an answer
            timeout=httpx2.Timeout(self._timeout, connect=min(10.0, self._timeout / 2), pool=None),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
            # certificates take as long to load as fifty questions to be asked; no use without TLS
            verify=not (self._here and self.server.startswith("http://")),
            trust_env=not self._here,  # a proxy does not know what listens on this machine
            follow_redirects=False,  # nor is a key sent where a server points
            event_hooks={"response": [bound]},
        )
        client = openai.AsyncOpenAI(
            base_url=self.server,
            api_key="said in each request",
            max_retries=0,
            http_client=http,
        )
        # who pays is said by the key alone, not by variables meant for another server
        client.organization = client.project = None
        return client

    def _headers(self) -> dict[str, Any]:
        """Who asks, which wins over headers of the environment; and answers as they are."""
        import openai

        who: Any = openai.Omit()
        if self._key or self._basic:
            who = f"Bearer {self._key}" if self._key else f"Basic {self._basic}"
        return {"Authorization": who, "Accept-Encoding": "identity"}

    async def close(self) -> None:
        """Let connections go; the next question opens new ones."""
        if self._loop is asyncio.get_running_loop():
            await self._client.close()
            self._loop = None


#: The name that clients have elsewhere in the package.
connect = Served
