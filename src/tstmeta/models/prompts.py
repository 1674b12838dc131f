"""What servers say of a prompt: two forms, read into one and judged.

One is the field ``prompt_logprobs`` of vLLM, the other ``echo`` with ``logprobs`` of the older
completion interface.  A log-probability that does not belong to its token is worse than none, so
counts, ids and values are held against what was asked.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .wire import ServerError

#: Two ways to ask for a prompt's log-probabilities, the first that works is kept.  The first names
#: token ids in its answer and the second does not.
WAYS: dict[str, dict[str, Any]] = {
    "prompt_logprobs": {"prompt_logprobs": 1},
    "echo": {"echo": True, "logprobs": 1},
}
#: What a log-probability may exceed 0 by: rounding.  More is a logit.
_ROUNDING = 1e-3
NO_LOGPROBS = (
    "the server returns no log-probabilities of the prompt. Remedy: use one that does, such as "
    "`vllm serve` with --max-logprobs of at least 1; interfaces for chats only, and "
    "`transformers serve`, do not"
)
OTHER_TOKENS = (
    "Remedy: name the tokenizer of the very model that is served, and ask the server itself, not "
    "something before it that rewrites prompts"
)


class Said(NamedTuple):
    """What a server said of one prompt, a value a token; the first has no log-probability."""

    values: list[float | None]
    texts: list[str | None]


def read(way: str, choice: dict, prompt: tuple[int, ...]) -> Said:
    """One choice of an answer to a question in a way of :data:`WAYS`.

    Raises:
        ServerError: it is about other tokens.
        AttributeError, KeyError, TypeError: it has another form.
    """
    return (_listed if way == "prompt_logprobs" else _echoed)(choice, prompt)


def _listed(choice: dict, prompt: tuple[int, ...]) -> Said:
    """vLLM's own form: a mapping from token ids a place, with the prompt's token among them."""
    rows = choice.get("prompt_logprobs")
    if rows is None:
        return Said([None], [None])
    found: list[dict | None] = []
    for row, token in zip(rows, prompt, strict=False):
        if row is not None and str(token) not in row:
            raise ServerError(f"the server speaks of other tokens than we sent. {OTHER_TOKENS}")
        found.append(None if row is None else row[str(token)])
    found += [None] * (len(rows) - len(found))  # a count that is wrong is told elsewhere
    return Said(
        [None if one is None else one["logprob"] for one in found],
        [None if one is None else one.get("decoded_token") for one in found],
    )


def _echoed(choice: dict, prompt: tuple[int, ...]) -> Said:
    """The older form: the prompt's tokens, then a generated one, which is dropped."""
    marks = choice.get("logprobs") or {}
    values = marks.get("token_logprobs")
    if values is None or (len(prompt) > 1 and len(values) <= 1):  # only what was generated
        return Said([None], [None])
    ids = choice.get("prompt_token_ids")
    if ids is not None and tuple(ids) != prompt:
        raise ServerError(f"the server read other tokens than we sent. {OTHER_TOKENS}")
    end = len(prompt) if len(values) == len(prompt) + 1 else len(values)
    return Said(values[:end], (marks.get("tokens") or [None] * end)[:end])


def checked(values: list[float | None], prompt: tuple[int, ...]) -> np.ndarray:
    """A prompt's log-probabilities, float32 [tokens], if they are such."""
    if values == [None] and len(prompt) > 1:
        raise ServerError(NO_LOGPROBS)
    if len(values) != len(prompt):
        raise ServerError(
            f"{len(values)} log-probabilities came to {len(prompt)} tokens. {OTHER_TOKENS}"
        )
    # Whatever is no number, or none that float32 holds, becomes one that is refused.
    numbers = [
        one if isinstance(one, int | float) and abs(one) < 1e30 else np.nan for one in values[1:]
    ]
    found = np.array([np.nan, *numbers], dtype=np.float32)
    if not np.isfinite(found[1:]).all():
        raise ServerError("the server returned a log-probability that is no number. " + NO_LOGPROBS)
    if found[1:].max(initial=-1) > _ROUNDING:
        raise ServerError(
            "the server returned a log-probability above 0: these are logits. Remedy: start vLLM "
            "with --logprobs-mode raw_logprobs"
        )
    return found


def letters(text: str) -> str:
    """A token's text without blanks and their marks; nothing where servers differ in writing."""
    if "\ufffd" in text or text.startswith(("<0x", "token_id:")):
        return ""
    return text.translate({ord(mark): " " for mark in "▁ĠĊ"}).strip()
