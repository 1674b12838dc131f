"""A chat model behind an OpenAI-compatible server: one question in, one reply out."""

from ..models.connection import Connection, ServerError, address
from .base import Question, Reply, body, error, refused_field, reply

#: So many questions in a row without any answer, and the server is taken for dead.
DEAD = 50


class Served:
    """A chat model that a server runs; asks nothing and loads nothing yet.

    Args:
        url: where the interface starts, such as ``http://localhost:8000/v1``.
        model: what the server calls the model; ``revision``: its weights, if you know.
        key: the API key; when None, that of ``OPENAI_API_KEY`` in the environment ("" sends none).
        timeout, retries: as of :class:`~tstmeta.models.connection.Connection`.

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
        key: str | None = None,
        timeout: float = 120.0,
        retries: int = 6,
    ):
        self.server, self.model, self.revision = address(url), model, revision
        self._connection = Connection(self.server, key, timeout=timeout, retries=retries)
        self.notes: list[str] = []
        self._without: frozenset[str] = frozenset()
        self._unanswered = self._requests = self._tokens = 0

    async def ask(self, question: Question) -> Reply:
        """One answer, or the failure after all tries.

        Raises:
            ServerError: no question can succeed; says the remedy.
        """
        without = self._without
        while True:
            sent = body(question, self.model, without)
            response = await self._connection.request_async("/chat/completions", sent)
            if isinstance(response, str):
                answer = Reply(failure=response)
                break
            status, data, mask = response.status_code, response.content, self._connection.mask
            field = refused_field(status, data, sent)
            if field is None:
                answer = reply(data, mask) if status == 200 else error(status, data, mask)
                break
            without |= {field}
        self._requests += 1
        self._tokens += (answer.prompt_tokens or 0) + (answer.answer_tokens or 0)
        if not answer.failure:
            self.notes += [f"{self.server} takes no {name}" for name in without - self._without]
            self._without |= without
        self._unanswered = self._unanswered + 1 if answer.failure else 0
        if self._unanswered >= DEAD:
            raise ServerError(
                f"no answer to any of {DEAD} questions in a row; the last: {answer.failure}. "
                "Remedy: see the server's log, ask fewer at a time or wait longer for an answer, "
                "and run again; answers so far are kept"
            )
        return answer

    def bill(self) -> str:
        """What was asked, and what the server says it took."""
        return f"{self._requests:,} requests, {self._tokens:,} tokens as the server counts them"

    async def close(self) -> None:
        """Let connections go; the next question opens new ones."""
        await self._connection.close()
