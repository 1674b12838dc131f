"""What the parts of the judge hand each other: questions and replies."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from ..schema import TstmetaError

Role = Literal["system", "user", "assistant"]


class Message(NamedTuple):
    """One turn of a chat."""

    role: Role
    content: str


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn; every field is sent, for a server's own defaults differ.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_p: share of probability that tokens are drawn from.
        max_tokens: most tokens of an answer.
        seed: sent to servers that take one; None sends none.
        top_logprobs: log-probabilities of this many tokens beside each chosen one; 0 asks for none.
    """

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(ge=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(ge=1)] = 512
    seed: Annotated[int, Field(ge=0)] | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] = 0


@dataclass(frozen=True)
class Question:
    """One request to a chat model.

    Attributes:
        schema: a JSON schema that the answer must follow, for servers that enforce one; or None.
        sample: which of several answers to the same question this is, from 0.
    """

    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    sample: int = 0

    def key(self, server: str, model: str, revision: str = "") -> str:
        """SHA-256 of all that decides the answer: who is asked, and what."""
        facts = {"server": server, "model": model, "revision": revision, **asdict(self)}
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class TokenChoice(NamedTuple):
    """One token of an answer and the (token, log-probability) pairs that could replace it."""

    token: str
    logprob: float
    alternatives: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Reply:
    """What came back, as it came.

    Attributes:
        finish: why it ended: ``stop``, ``length``, ``content_filter``, or what the server says.
        refusal: the server's words for a refusal; empty if it gave none.
        failure: why there is no answer after all retries; such a question is asked again.
        prompt_tokens, answer_tokens: as the server counted them, 0 for a request that it turned
            down; None if it did not say.
        model, fingerprint: names of the model and of its build that the server put into the answer.
        tokens: the tokens of the answer with log-probabilities, where they came.
    """

    text: str = ""
    finish: str = "stop"
    refusal: str = ""
    failure: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    model: str = ""
    fingerprint: str = ""
    tokens: tuple[TokenChoice, ...] = ()


class Unusable(TstmetaError):
    """A server that cannot answer any question; says the remedy."""
