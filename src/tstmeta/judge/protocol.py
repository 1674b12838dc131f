"""The chat protocol as JSON: what is sent for a question, and what an answer of a server means.

Nothing here knows of connections.  An answer is read strictly and never mended: text that is not
there is a failure with a short, safe excerpt of what came instead.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from ..retrying import retry_after
from ..secrecy import Mask, blotted, said
from .base import Question, Reply, TokenChoice, Unusable

#: Characters of an answer that are kept; ratings with reasons have hundreds, long lists thousands.
#: What is longer is cut, and ends as an answer that ran out of tokens does.
LONGEST_TEXT = 200_000
#: Bytes of an answer that are read: a text of the longest kind with escapes and log-probabilities.
LONGEST_BODY = 16 * 2**20
#: Fields that a server may not know, and that are left out for one that says so; ``max_tokens``
#: goes by its newer name then.  The last two are left out only where they say "as it comes".
OPTIONAL = ("response_format", "seed", "logprobs", "max_tokens", "top_p", "temperature")
_NEUTRAL = {"top_p": 1.0, "temperature": 1.0}
#: Other names under which a server may complain of a field.
_ALIASES = {"top_logprobs": "logprobs", "json_schema": "response_format"}
#: What a complaint about a field says, beside its name.
_COMPLAINT = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|extra|not permitted|invalid", re.IGNORECASE
)
#: A server's words for a prompt that is too long, in the messages of those we know.
_TOO_LONG = ("context length", "maximum context", "max_model_len", "too long", "context size")
#: Names that vendors give to what no waiting mends, though they send it as 429 or 400.
_PAID_OUT = ("insufficient_quota", "billing_hard_limit", "insufficient_balance")


#: A server that asks for a longer wait is not waited for: the run ends, and is gone on with later.
LONGEST_WAIT = 300.0


class Again(Exception):
    """A failure that may pass.

    Attributes:
        after: seconds that the server asked to wait; 0 if it named none.
        busy: the server is there, but asked for fewer requests.
        broke: the request may have been answered, and charged, unheard.
        closed: nobody listens.
    """

    def __init__(
        self, why: str, *, after: float = 0.0, busy: bool = False, broke: bool = False, closed=False
    ):
        super().__init__(why)
        self.after, self.busy, self.broke, self.closed = after, busy, broke, closed


class Refused(Exception):
    """The server does not take a field; it may be asked again without it."""

    def __init__(self, field: str, words: str):
        super().__init__(words)
        self.field = field


def body(question: Question, model: str, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """The JSON object to send.

    Args:
        without: fields of :data:`OPTIONAL` that the server does not take.
    """
    how = question.sampling
    made: dict[str, Any] = {
        "model": model,
        "messages": [{"role": m.role, "content": m.content} for m in question.messages],
        "temperature": how.temperature,
        "top_p": how.top_p,
    }
    made["max_completion_tokens" if "max_tokens" in without else "max_tokens"] = how.max_tokens
    if how.seed is not None:
        made["seed"] = how.seed
    if how.top_logprobs:
        made |= {"logprobs": True, "top_logprobs": how.top_logprobs}
    if question.schema is not None:
        inner = {"name": "answer", "schema": question.schema, "strict": True}
        made["response_format"] = {"type": "json_schema", "json_schema": inner}
    for field in without - {"max_tokens"}:
        made.pop(field, None)
        if field == "logprobs":
            made.pop("top_logprobs", None)
    return made


# ------------------------------------------------------------------------------------ answers


def reply(data: bytes, mask: Mask = None) -> Reply:
    """What the body of a successful answer says.

    Args:
        mask: of secrets, from :func:`~tstmeta.secrecy.mask_of`, that are blotted out wherever the
            server repeats them.

    Raises:
        Again: an error that passes, sent as a success (gateways do so).
    """
    try:
        found = json.loads(data)
    except UnicodeDecodeError:
        return _failed("the answer is not in UTF-8", data, mask)
    except (ValueError, RecursionError):
        what = "a web page" if data.lstrip()[:1] == b"<" else "no JSON, or cut short"
        return _failed(
            f"the answer is {what}" if data.strip() else "the answer is empty", data, mask
        )
    if not isinstance(found, dict):
        return _failed("the answer is JSON, but no object", data, mask)
    choices = found.get("choices")
    if not (isinstance(choices, list) and choices and isinstance(choices[0], dict)):
        code = _object(found.get("error")).get("code")
        if isinstance(code, int) and _passes(code):
            raise Again(f"an error instead of an answer: {_words(found, mask)}", busy=code == 429)
        return _failed("there is no choice in the answer", data, mask)
    return _chosen(found, choices[0], data, mask)


def _chosen(found: dict[str, Any], choice: dict[str, Any], data: bytes, mask: Mask) -> Reply:
    message = _object(choice.get("message"))
    text, refusal = _text(message.get("content")), _plain(message.get("refusal"), mask)
    finish = _plain(choice.get("finish_reason") or "stop", mask)[:80]
    if text is None and not refusal and finish not in ("length", "content_filter"):
        return _failed("there is no text in the answer", data, mask)
    tokens = _tokens(choice.get("logprobs"), text or "", mask)
    text = blotted(text or "", mask)
    if len(text) > LONGEST_TEXT:
        text, finish = text[:LONGEST_TEXT], "length"
    usage = _object(found.get("usage"))
    return Reply(
        text=text,
        finish=finish,
        refusal=refusal[:LONGEST_TEXT],
        prompt_tokens=_count(usage.get("prompt_tokens")),
        answer_tokens=_count(usage.get("completion_tokens")),
        model=said(_plain(found.get("model"), mask)),
        fingerprint=said(_plain(found.get("system_fingerprint"), mask)),
        tokens=tokens,
    )


def _text(content: Any) -> str | None:
    """The words of a message, which may come in parts; None if there are none."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        words = [part for part in parts if isinstance(part, str)]
        return "".join(words) if words else None
    return content if isinstance(content, str) else None


def _tokens(logprobs: Any, text: str, mask: Mask) -> tuple[TokenChoice, ...]:
    """Chosen tokens with what could stand in their place.

    None if any of them is malformed, or if they spell a secret or belong to a text that does: it
    may be spread over several, so that no one of them shows it.
    """
    content = _object(logprobs).get("content")
    try:
        found = tuple(
            TokenChoice(
                str(one["token"]),
                _logprob(one["logprob"]),
                tuple(
                    (str(other["token"]), _logprob(other["logprob"]))
                    for other in one.get("top_logprobs") or ()
                ),
            )
            for one in (content if isinstance(content, list) else ())
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError):
        return ()
    if mask and found:
        joined = "".join(one.token for one in found)
        # a line each, which no secret spans
        others = "\n".join(other for one in found for other, _ in one.others)
        if any(map(mask.search, (text, joined, others))):
            return ()
    return found


def _logprob(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
        raise ValueError
    return float(value)


def _failed(why: str, data: bytes, mask: Mask) -> Reply:
    excerpt = said(data.decode("utf-8", "replace"), mask=mask)
    return Reply(failure=why + (f": {excerpt}" if excerpt else ""))


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**53 else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(value: Any, mask: Mask) -> str:
    return blotted(value, mask) if isinstance(value, str) else ""


# ------------------------------------------------------------------------------------- errors


def verdict(
    status: int, headers: Mapping[str, str], data: bytes, sent: Mapping[str, Any], mask: Mask = None
) -> Reply:
    """What an answer that is no success means for its question.

    Args:
        sent: the fields that were sent.

    Returns:
        A failure that will not pass; or, for a vendor's filter, a refusal, which is an answer.

    Raises:
        Again: it may pass.
        Refused: the server does not take one of the fields.
        Unusable: no question can succeed.
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    words = _words(found, mask) if found is not None else _excerpt(data, mask)
    error = _object(_object(found).get("error")) or _object(found)
    code = " ".join(str(error.get(name, "")) for name in ("code", "type"))
    heard = f"the server answers {status}" + (f": {words}" if words else "")
    if any(name in code for name in _PAID_OUT) or status == 402:
        raise Unusable(f"{heard}. Remedy: see the account's quota; answers so far are kept")
    if _passes(status):
        wait = retry_after(headers)
        if wait > LONGEST_WAIT and status in (429, 503):
            raise Unusable(
                f"{heard}, and asks to wait {wait:,.0f} s. Remedy: run again after that; answers "
                "so far are kept"
            )
        busy = status == 429 or (status == 503 and wait > 0)
        raise Again(heard, after=min(wait, LONGEST_WAIT), busy=busy)
    if status in (400, 422):
        if "content_filter" in code:
            return Reply(finish="content_filter", refusal=words)
        _refused_field(found, error, heard, sent)
        if "model_not_found" not in code:
            return Reply(failure=heard)
    raise Unusable(f"{heard}. Remedy: {_remedy(status)}")


def _passes(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500


def _remedy(status: int) -> str:
    if status in (401, 403):
        return (
            "see the API key (OPENAI_API_KEY, or the variable that was named) and what it may use"
        )
    if 300 <= status < 400:
        return "give the URL that it leads to"
    if status in (400, 404, 405, 422):
        return (
            "see whether the URL ends where the interface starts (/v1 for most), and the "
            "model's name"
        )
    return "mend what the server says"


def _refused_field(found: Any, error: dict[str, Any], heard: str, sent: Mapping[str, Any]) -> None:
    """Raise what a complaint about a field of the request means; nothing if it is about none."""
    if any(mark in heard.lower() for mark in _TOO_LONG):
        return
    for name in _complaints(found, error, heard):
        field = _ALIASES.get(name, name)
        if field in _NEUTRAL and sent.get(field, _NEUTRAL[field]) != _NEUTRAL[field]:
            raise Unusable(
                f"{heard}. Remedy: ask with the {field} that this model takes, not {sent[field]:g}"
            )
        if field == "max_tokens" and "max_completion_tokens" not in heard:
            continue  # its value is wrong, not its name
        if field in sent:
            raise Refused(field, heard)


def _complaints(found: Any, error: dict[str, Any], words: str) -> list[str]:
    """Fields that an error names, the surest place first: the place it gives, or its words."""
    named = [error.get("param")]
    details = _object(found).get("detail")
    for one in details if isinstance(details, list) else []:
        place = _object(one).get("loc")
        named += place if isinstance(place, list) else []
    known = (*OPTIONAL, *_ALIASES)
    sure = [str(name).split(".")[0] for name in named if name]
    if sure := [name for name in sure if name in known]:
        return sure
    # words may repeat what was sent, so the field must stand there as a name and be complained of
    if not _COMPLAINT.search(words):
        return []
    return [name for name in known if re.search(rf"\b{name}\b", words)]


def _words(found: Any, mask: Mask) -> str:
    """The message of an error; all of it where it has no message."""
    inner = _object(found).get("error", found)
    if isinstance(inner, dict):
        inner = inner.get("message", inner.get("detail", inner))
    text = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
    return said(text, 300, mask)


def _excerpt(data: bytes, mask: Mask) -> str:
    """The start of what is no JSON; nothing of a page."""
    text = data.decode("utf-8", "replace")
    return "" if text.lstrip()[:1] == "<" else said(text, mask=mask)


def is_number(value: float) -> bool:
    """Whether a setting is a finite number above zero."""
    return math.isfinite(value) and value > 0
