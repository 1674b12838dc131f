"""What servers say of a prompt: two forms, read into one and checked.

One is the field ``prompt_logprobs`` of vLLM, the other ``echo`` with ``logprobs`` of the older
completion interface.  A log-probability that does not belong to its token is worse than none, so
counts, ids and values are held against the prompt that was sent.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .wire import ServerError

#: Two ways to ask for a prompt's log-probabilities, the first that works is kept.
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


class PromptScores(NamedTuple):
    """A prompt's log-probabilities, float32 [tokens], NaN for the first; its tokens as texts."""

    values: np.ndarray
    texts: list[str | None]


def read(way: str, choice: dict, prompt: tuple[int, ...]) -> PromptScores:
    """A choice of an answer to a request in a way of :data:`WAYS`.

    Raises:
        ServerError: it has no log-probabilities, is about other tokens, or has impossible values.
        AttributeError, KeyError, TypeError: it has another form.
    """
    values, texts = (_listed if way == "prompt_logprobs" else _echoed)(choice, prompt)
    if len(values) != len(prompt):
        raise ServerError(
            f"{len(values)} log-probabilities came to {len(prompt)} tokens. {OTHER_TOKENS}"
        )
    numbers = np.full(len(prompt), np.nan, dtype=np.float32)
    for place, value in enumerate(values[1:], 1):
        # whatever is no number, or none that float32 holds, stays NaN and is refused
        if isinstance(value, int | float) and abs(value) < 1e30:
            numbers[place] = value
    if not np.isfinite(numbers[1:]).all() or numbers[1:].max(initial=-1) > _ROUNDING:
        raise ServerError(
            "the server returned a value that is no log-probability (none is above 0; logits are). "
            "Remedy: start vLLM with --logprobs-mode raw_logprobs"
        )
    return PromptScores(numbers, texts)


def _listed(choice: dict, prompt: tuple[int, ...]) -> tuple[list, list]:
    """vLLM's own form: a mapping from token ids a place, with the prompt's token among them."""
    rows = choice.get("prompt_logprobs")
    if rows is None:
        raise ServerError(NO_LOGPROBS)
    tokens = [(row or {}).get(str(token)) for row, token in zip(rows, prompt, strict=False)]
    if any(row is not None and token is None for row, token in zip(rows, tokens, strict=False)):
        raise ServerError(f"the server read other tokens than we sent. {OTHER_TOKENS}")
    tokens += [None] * (len(rows) - len(tokens))
    values = [token and token["logprob"] for token in tokens]
    return values, [token and token.get("decoded_token") for token in tokens]


def _echoed(choice: dict, prompt: tuple[int, ...]) -> tuple[list, list]:
    """The older form: the prompt's tokens, then a generated one, which is dropped."""
    scores = choice.get("logprobs") or {}
    values = scores.get("token_logprobs")
    if values is None or len(values) <= 1:  # only what was generated
        raise ServerError(NO_LOGPROBS)
    ids = choice.get("prompt_token_ids")
    if ids is not None and tuple(ids) != prompt:
        raise ServerError(f"the server read other tokens than we sent. {OTHER_TOKENS}")
    end = len(prompt) if len(values) == len(prompt) + 1 else len(values)
    return values[:end], (scores.get("tokens") or [None] * end)[:end]


def letters(text: str) -> str:
    """A token's text without blanks and their marks; nothing where servers differ in writing."""
    if "\ufffd" in text or text.startswith(("<0x", "token_id:")):
        return ""
    return text.translate({ord(mark): " " for mark in "▁ĠĊ"}).strip()
