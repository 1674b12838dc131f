"""A model that runs elsewhere: log-probabilities from a completion server such as vLLM.

The server is sent token ids, never text, and is asked for the field ``prompt_logprobs``, which
names the ids it read: counts, ids and values are held against the prompt that was sent, and the
server's vocabulary is tried once against the tokenizer's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any, NamedTuple

import httpx
import numpy as np

from ..schema import TstmetaError
from ..secrecy import excerpt, mask_of
from .causal import Answer, Continuation, check_requests, progress_bar
from .wire import Connection, ServerError, address, together

Prompt = tuple[int, ...]
#: Temperature and top_p are named, since a server's defaults change "processed" log-probabilities.
_OPTIONS = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "prompt_logprobs": 1}
#: What a server's vocabulary is tried on: a text, and ids from all over the vocabulary but its
#: ends, where marks for images and the like stand, which no text may hold.
_PROBE = "On Monday we walked to the old harbour, bought 12 lemons and watched the ships come in."
_SPREAD = np.linspace(0.05, 0.9, 24)
#: A tokenizer without a limit of its own says a number above this one.
_NO_LIMIT = 2**24
_OTHER_TOKENS = (
    "Remedy: name the tokenizer of the very model that is served, and ask the server itself, not "
    "something before it that rewrites prompts"
)


class PromptScores(NamedTuple):
    """A prompt's log-probabilities, float32 [tokens], NaN for the first; its tokens as texts."""

    values: np.ndarray
    texts: list[str]


class ServerModel:
    """A :class:`~tstmeta.models.causal.LanguageModel` that a server runs.

    Values depend on the server's dtype and batches: expect differences of rounding between runs.

    Args:
        url: where the interface starts, such as ``http://localhost:8000/v1``.
        model: what the server calls the model.
        window: most tokens the server takes, one generated token included; when None what
            ``/models`` says, or else the tokenizer.
        key: the API key; ``OPENAI_API_KEY`` of the environment when None.  Never shown.
        label: put into ``identity``, and with it into the cache's key.
        batch, concurrent: prompts in an HTTP request, and requests under way at the same time.
        retries, pause: see :func:`~tstmeta.retrying.retrying`.
    """

    def __init__(
        self,
        url: str,
        model: str,
        tokenizer: Any,
        *,
        window: int | None = None,
        key: str | None = None,
        label: str = "",
        batch: int = 8,
        concurrent: int = 4,
        timeout: float = 120.0,
        retries: int = 5,
        pause: float = 0.5,
    ):
        where = address(url)
        self._user = (where.username, where.password) if where.userinfo else None
        self.url = where.copy_with(username=None, password=None)
        self.model, self.tokenizer = model, tokenizer
        self.identity = f"{model}|server" + (f"|{label}" if label else "")
        self.vocabulary = len(tokenizer)
        self.batch, self.concurrent, self.timeout = batch, concurrent, timeout
        self.retries, self.pause = retries, pause
        self._key = (os.environ.get("OPENAI_API_KEY", "") if key is None else key).strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        self._mask = mask_of(self._key, *(self._user or ()))
        self._window, self._tried = window, False

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """Answers as they come; those under way come before a :class:`~.wire.ServerError`."""
        check_requests(requests, self.window)
        known = frozenset(known)
        places: dict[Prompt, list[int]] = {}
        for place, (context, tokens) in enumerate(requests):
            if place not in known:
                places.setdefault((*context, *tokens), []).append(place)
        if not places:
            return
        self.check()
        distinct = list(places)
        jobs = [distinct[a : a + self.batch] for a in range(0, len(distinct), self.batch)]
        bar = progress_bar(sum(map(len, distinct)), progress)
        with bar, self._connection() as connection:
            work = partial(self._scores, connection)
            for prompts, scores in together(work, jobs, self.concurrent, connection.stop):
                yield [
                    (place, score.values[len(requests[place].context) :])
                    for prompt, score in zip(prompts, scores, strict=True)
                    for place in places[prompt]
                ]
                bar.update(sum(map(len, prompts)))

    def _scores(self, connection: Connection, prompts: list[Prompt]) -> list[PromptScores]:
        body = {"model": self.model, "prompt": list(map(list, prompts)), **_OPTIONS}
        answer = connection.ask("/completions", body)
        try:
            choices = sorted(answer["choices"], key=lambda choice: choice["index"])
            used = (answer.get("usage") or {}).get("prompt_tokens")
            if [choice["index"] for choice in choices] != list(range(len(prompts))):
                raise ServerError(
                    f"{len(choices)} answers came to {len(prompts)} prompts. {_OTHER_TOKENS}"
                )
            if used and used != sum(map(len, prompts)):
                raise ServerError(f"the server read {used} tokens, not ours. {_OTHER_TOKENS}")
            return [_read(choice, ids) for choice, ids in zip(choices, prompts, strict=True)]
        except (AttributeError, KeyError, TypeError) as error:
            raise ServerError(
                f"{self.url}/completions answers in another form ({type(error).__name__}: "
                f"{excerpt(str(error))}). Remedy: the URL of a completion server"
            ) from error

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        with httpx.Client(
            timeout=httpx.Timeout(self.timeout, connect=10),
            headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
            auth=self._user,
            # a proxy does not know what listens on this machine
            trust_env=self.url.host not in ("localhost", "127.0.0.1", "::1"),
        ) as client:
            yield Connection(self.url, client, self._mask, self.retries, self.pause)

    @cached_property
    def window(self) -> int:
        limit = getattr(self.tokenizer, "model_max_length", _NO_LIMIT)
        whole = self._window or self._served_window() or (limit if limit < _NO_LIMIT else 0)
        if not whole:
            raise ServerError(
                "the server does not say how many tokens it takes (max_model_len in /models). "
                "Remedy: give its window in tokens"
            )
        # a prompt holds the last scored token, too, and one token is generated after it
        return int(whole) - 2

    def _served_window(self) -> int | None:
        try:
            with self._connection() as connection:
                cards = {str(card["id"]): card for card in connection.ask("/models")["data"]}
            window = cards.get(self.model, {}).get("max_model_len")
        except ServerError as error:
            if error.status in (404, 405):  # not every server has a list
                return None
            raise
        except (AttributeError, KeyError, TypeError):
            return None
        if cards and self.model not in cards:
            names = ", ".join(excerpt(name, 80) for name in list(cards)[:20])
            raise ServerError(f"the server has no model {self.model!r}. Remedy: one of {names}")
        return window if isinstance(window, int) else None

    def check(self) -> None:
        """Try the server on a short text, once: it must write most tokens as our tokenizer does."""
        if self._tried:
            return
        text = self.tokenizer(_PROBE, add_special_tokens=False)["input_ids"]
        probe = (*text, *map(int, _SPREAD * self.vocabulary))[: self.window + 1]
        with self._connection() as connection:
            [scores] = self._scores(connection, [probe])
        # A server takes any id that its model has, and vocabularies of bytes begin alike: of longer
        # tokens others share hardly an id.  A few are written otherwise: half is far from both.
        ours = (_letters(self.tokenizer.decode([token])) for token in probe)
        both = zip(ours, map(_letters, scores.texts), strict=True)
        pairs = [(a, b) for a, b in both if a and b and len(a) + len(b) > 2]
        wrong = [pair for pair in pairs if pair[0] != pair[1]]
        if 2 * len(wrong) > len(pairs):
            a, b = wrong[0]
            raise ServerError(
                "the server's tokens are not those of the tokenizer: it reads "
                f"{excerpt(b)!r} where we write {excerpt(a)!r}. {_OTHER_TOKENS}"
            )
        self._tried = True


def _read(choice: dict, prompt: Prompt) -> PromptScores:
    rows = choice.get("prompt_logprobs")
    if rows is None:
        raise ServerError(
            "the server returns no log-probabilities of the prompt. Remedy: use one that knows the "
            "field prompt_logprobs, such as `vllm serve` with --max-logprobs of at least 1"
        )
    if len(rows) != len(prompt) or any(
        str(token) not in row for row, token in zip(rows[1:], prompt[1:], strict=True)
    ):
        raise ServerError(f"the server read other tokens than we sent. {_OTHER_TOKENS}")
    tokens = [row[str(token)] for row, token in zip(rows[1:], prompt[1:], strict=True)]
    # what is no number, or none that float32 holds, stays NaN and is refused
    values = np.full(len(prompt), np.nan, dtype=np.float32)
    for place, token in enumerate(tokens, 1):
        if isinstance(token["logprob"], int | float) and abs(token["logprob"]) < 1e30:
            values[place] = token["logprob"]
    # rounding exceeds 0 by a little; what exceeds it by more is a logit
    if not (values[1:] <= 1e-3).all():
        raise ServerError(
            "the server returned a value that is no log-probability (none is above 0; logits are). "
            "Remedy: start vLLM with --logprobs-mode raw_logprobs"
        )
    return PromptScores(values, ["", *(token.get("decoded_token") or "" for token in tokens)])


def _letters(text: str) -> str:
    """A token's text without blanks and their marks; nothing where servers differ in writing."""
    if "\ufffd" in text or text.startswith(("<0x", "token_id:")):
        return ""
    return text.translate({ord(mark): " " for mark in "▁ĠĊ"}).strip()
