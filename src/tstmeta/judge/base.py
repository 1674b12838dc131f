"""Questions and replies, and the chat protocol: what is sent for one, what comes back.

An answer is read strictly and never mended: what is none is a failure with a short, safe excerpt.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field

from ..secrecy import Mask, excerpt, masked

#: Characters of an answer that are kept; a longer one is cut as if it had run out of tokens.
LONGEST_TEXT = 200_000
#: Fields that a server may not take -> how it names them; those of _NEUTRAL are left out only where
#: they say "as it comes".
OPTIONAL = {
    "response_format": "response_format|json_schema",
    "seed": "seed",
    "max_tokens": "max_completion_tokens",
    "top_p": "top_p",
    "temperature": "temperature",
}
_NEUTRAL = {"top_p": 1.0, "temperature": 1.0}


class Message(NamedTuple):
    """One turn of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Sampling:
    """How an answer is drawn; every field is sent, for a server's own defaults differ."""

    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(ge=0, le=1)] = 1.0
    max_tokens: Annotated[int, Field(ge=1)] = 512
    seed: Annotated[int, Field(ge=0)] | None = None

    def __str__(self) -> str:
        words = f"temperature {self.temperature:g}, top_p {self.top_p:g}"
        return words + f", max_tokens {self.max_tokens}, seed {self.seed}"


@dataclass(frozen=True)
class Question:
    """One request to a chat model; ``sample``: which of several answers to it, from 0."""

    messages: tuple[Message, ...]
    schema: dict[str, Any] | None = None
    sampling: Sampling = field(default_factory=Sampling)
    sample: int = 0

    def key(self, server: str, model: str, revision: str = "") -> str:
        """SHA-256 of all that decides the answer: who is asked, and what."""
        facts = {"server": server, "model": model, "revision": revision, **asdict(self)}
        facts["sampling"]["top_logprobs"] = 0  # as in the keys of answers that are on file
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back, as it came.

    Attributes:
        finish: why it ended: ``stop``, ``length``, ``content_filter``, or what the server says.
        failure: why there is no answer after all retries; such a question is asked again.
        fingerprint: of the model's build; it, ``model`` and the counts are as the server says.
    """

    text: str = ""
    finish: str = "stop"
    refusal: str = ""
    failure: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    model: str = ""
    fingerprint: str = ""


def body(question: Question, model: str, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The JSON object to send, without the fields of :data:`OPTIONAL` that a server refuses."""
    how = question.sampling
    fields: dict[str, Any] = {
        "model": model,
        "messages": [message._asdict() for message in question.messages],
        "temperature": how.temperature,
        "top_p": how.top_p,
        "max_completion_tokens" if "max_tokens" in without else "max_tokens": how.max_tokens,
    }
    if how.seed is not None:
        fields["seed"] = how.seed
    if question.schema is not None:
        inner = {"name": "answer", "schema": question.schema, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": inner}
    return {name: value for name, value in fields.items() if name not in without}


class _Message(BaseModel, strict=True):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel, strict=True):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(BaseModel, strict=True):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: _Usage | None = None
    model: str | None = None
    system_fingerprint: str | None = None


def reply(data: bytes, mask: Mask = None) -> Reply:
    """What the body of a successful answer says.

    Secrets are masked in the fields as they are read, for JSON has many ways to spell a sign.
    """
    try:
        completion = _Completion.model_validate_json(data)
    except ValueError:  # no UTF-8, no JSON, or JSON of another kind
        return _failed("no chat completion came", data, mask)
    choice = completion.choices[0]
    text, refusal = choice.message.content, choice.message.refusal or ""
    finish = choice.finish_reason or "stop"
    if text is None and not refusal and finish not in ("length", "content_filter"):
        return _failed("there is no text in the answer", data, mask)
    text = masked(text or "", mask)
    if len(text) > LONGEST_TEXT:
        text, finish = text[:LONGEST_TEXT], "length"
    usage = completion.usage or _Usage()
    return Reply(
        text=text,
        finish=masked(finish, mask)[:80],
        refusal=masked(refusal, mask)[:LONGEST_TEXT],
        prompt_tokens=usage.prompt_tokens,
        answer_tokens=usage.completion_tokens,
        model=excerpt(completion.model or "", mask=mask),
        fingerprint=excerpt(completion.system_fingerprint or "", mask=mask),
    )


def _failed(why: str, data: bytes, mask: Mask) -> Reply:
    words = excerpt(data.decode("utf-8", "replace"), mask=mask)
    return Reply(failure=f"{why}: {words or 'nothing'}")


def refused_field(status: int, data: bytes, sent: Mapping[str, Any]) -> str | None:
    """The field of a request that the server names in an error, if an answer can do without it."""
    words = data.decode("utf-8", "replace") if status in (400, 422, 500) else ""
    for name, spelled in OPTIONAL.items():
        is_neutral = name in sent and sent[name] == _NEUTRAL.get(name, sent[name])
        if is_neutral and re.search(rf"\b({spelled})\b", words):
            return name
    return None


def error(status: int, data: bytes, mask: Mask = None) -> Reply:
    """A failure; or, for a vendor's filter, a refusal, which is an answer; or ServerError."""
    text = data.decode("utf-8", "replace")
    try:
        fields = json.loads(text)
        fields = fields.get("error", fields)
        code = fields.get("code")
        text = str(fields.get("message") or fields.get("detail") or fields)
    except (ValueError, RecursionError, AttributeError):  # no JSON, or of another form
        code, text = "", "" if text.lstrip().startswith("<") else text
    words = excerpt(text, 300, mask)
    failure = f"the server answers {status}" + (f": {words}" if words else "")
    if code == "content_filter":
        return Reply(finish="content_filter", refusal=words)
    may_pass = status in (400, 408, 409, 413, 422, 429) or status >= 500
    if may_pass and code not in ("insufficient_quota", "model_not_found"):
        return Reply(failure=failure)
    from ..models.connection import ServerError  # takes time to import

    raise ServerError(
        f"{failure}. Remedy: see the API key (OPENAI_API_KEY) and the account's quota, whether the "
        "URL ends where the interface starts (/v1 for most), and the model's name"
    )
