"""The chat protocol as JSON: what is sent for a question, and what comes back.

An answer is read strictly and never mended: what is none is a failure with a short, safe excerpt.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, WrapValidator

from ..secrecy import Mask, blotted, excerpt
from .base import Question, Reply, TokenChoice, Unusable

#: Characters of an answer that are kept; a longer one is cut as if it had run out of tokens.
LONGEST_TEXT = 200_000
#: Fields that a server may not take -> how it names them.  ``max_tokens`` then goes by its newer
#: name; those of _NEUTRAL are left out only where they say "as it comes".
OPTIONAL = {
    "response_format": "response_format|json_schema",
    "seed": "seed",
    "logprobs": "logprobs|top_logprobs",
    "max_tokens": "max_completion_tokens",
    "top_p": "top_p",
    "temperature": "temperature",
}
_NEUTRAL = {"top_p": 1.0, "temperature": 1.0}
_REMEDIES = {
    401: "see the API key (OPENAI_API_KEY, or the variable that was named) and what it may use",
    402: "see the account's quota; answers so far are kept",
    404: "see whether the URL ends where the interface starts (/v1 for most), and the model's name",
}
_REMEDIES |= {403: _REMEDIES[401], 405: _REMEDIES[404]}


def body(question: Question, model: str, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The JSON object to send, without the fields of :data:`OPTIONAL` that a server refuses."""
    how = question.sampling
    fields: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in question.messages],
        "temperature": how.temperature,
        "top_p": how.top_p,
        "max_tokens": how.max_tokens,
    }
    if how.seed is not None:
        fields["seed"] = how.seed
    if how.top_logprobs:
        fields |= {"logprobs": True, "top_logprobs": how.top_logprobs}
    if question.schema is not None:
        inner = {"name": "answer", "schema": question.schema, "strict": True}
        fields["response_format"] = {"type": "json_schema", "json_schema": inner}
    if "max_tokens" in without:
        fields["max_completion_tokens"] = how.max_tokens
    if "logprobs" in without:
        fields.pop("top_logprobs", None)
    return {name: value for name, value in fields.items() if name not in without}


def _or_none(value: Any, check: Callable[[Any], Any]) -> Any:
    try:
        return check(value)
    except ValueError:
        return None


#: What an answer can do without: None where it is malformed.
_Spare = WrapValidator(_or_none)
_Count = Annotated[int | None, Field(ge=0, lt=2**53)]


class _Message(BaseModel, strict=True):
    content: str | None = None
    refusal: str | None = None


class _Alternative(BaseModel, strict=True):
    token: str
    logprob: Annotated[float, Field(le=1.0)]  # above 0 by rounding at most; no NaN


class _Position(_Alternative):
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(BaseModel, strict=True):
    content: list[_Position] | None = None


class _Choice(BaseModel, strict=True):
    message: _Message
    finish_reason: str | None = None
    logprobs: Annotated[_Logprobs | None, _Spare] = None


class _Usage(BaseModel, strict=True):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None


class _Completion(BaseModel, strict=True):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    usage: Annotated[_Usage | None, _Spare] = None
    model: str | None = None
    system_fingerprint: str | None = None


def answered(status: int, data: bytes, sent: Mapping[str, Any], mask: Mask = None) -> Reply | str:
    """The reply to what was sent; or the field of it that the server wants left out.

    ``mask`` is of secrets, which are blotted out.

    Raises:
        Unusable: no question can succeed; says the remedy.
    """
    if status == 200:
        return reply(data, mask)
    return refused_field(status, data, sent) or error(status, data, mask)


def reply(data: bytes, mask: Mask = None) -> Reply:
    """What the body of a successful answer says."""
    try:
        raw = data.decode()
        clean = blotted(raw, mask)
        completion = _Completion.model_validate_json(clean)
    except ValueError:  # no UTF-8, no JSON, or JSON of another kind
        return _failed("no chat completion came", data, mask)
    choice = completion.choices[0]
    text, refusal = choice.message.content, choice.message.refusal or ""
    finish = choice.finish_reason or "stop"
    if text is None and not refusal and finish not in ("length", "content_filter"):
        return _failed("there is no text in the answer", data, mask)
    if text and len(text) > LONGEST_TEXT:
        text, finish = text[:LONGEST_TEXT], "length"
    usage = completion.usage or _Usage()
    positions = (choice.logprobs and choice.logprobs.content) or []
    has_secret = clean != raw or (mask and mask.search("".join(p.token for p in positions)))
    tokens = tuple(
        TokenChoice(
            position.token,
            position.logprob,
            tuple((rival.token, rival.logprob) for rival in position.top_logprobs or ()),
        )
        for position in positions
    )
    return Reply(
        text=text or "",
        finish=finish[:80],
        refusal=refusal[:LONGEST_TEXT],
        prompt_tokens=usage.prompt_tokens,
        answer_tokens=usage.completion_tokens,
        model=excerpt(completion.model or ""),
        fingerprint=excerpt(completion.system_fingerprint or ""),
        tokens=() if has_secret else tokens,
    )


def _failed(why: str, data: bytes, mask: Mask) -> Reply:
    words = excerpt(data.decode("utf-8", "replace"), mask=mask)
    return Reply(failure=f"{why}: {words or 'nothing'}")


def refused_field(status: int, data: bytes, sent: Mapping[str, Any]) -> str | None:
    """The field of a request that the server names in an error, if an answer can do without it."""
    words = data.decode("utf-8", "replace") if status in (400, 422) else ""
    for field, names in OPTIONAL.items():
        optional = field in sent and sent[field] == _NEUTRAL.get(field, sent[field])
        if optional and re.search(rf"\b({names})\b", words):
            return field
    return None


def error(status: int, data: bytes, mask: Mask = None) -> Reply:
    """A failure; or, for a vendor's filter, a refusal, which is an answer."""
    text = blotted(data.decode("utf-8", "replace"), mask)
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
    kind = {"insufficient_quota": 402, "model_not_found": 404}.get(str(code), status)
    if kind in (400, 408, 409, 413, 422, 429) or kind >= 500:
        return Reply(failure=failure, prompt_tokens=0, answer_tokens=0)
    remedy = "give the URL that it leads to" if kind < 400 else "mend what the server says"
    raise Unusable(f"{failure}. Remedy: {_REMEDIES.get(kind, remedy)}")
