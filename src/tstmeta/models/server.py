"""A model that runs elsewhere: log-probabilities from a completion server such as vLLM.

The server is sent token ids and returns ``prompt_logprobs``, which name the ids that it read.
"""

import json
import re
from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np

from ..secrecy import excerpt
from .causal import Answers, Requests, check_requests, progress_bar
from .connection import Connection, ServerError

Prompt = tuple[int, ...]
#: Temperature and top_p are named, since a server's defaults change "processed" log-probabilities.
_OPTIONS = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0, "prompt_logprobs": 1}
#: The remedy for what may pass.
_LOOK = "see the server's log, and run again: what was answered is kept"
#: What a server's vocabulary is tried on.
_PROBE = "On Monday we walked to the old harbour, bought 12 lemons and watched the ships come in."
#: A tokenizer without a limit of its own says a number above this one.
_NO_LIMIT = 2**24
_OTHER_TOKENS = "Remedy: name the tokenizer of the very model that is served"


class ServerModel:
    """A :class:`~tstmeta.models.causal.LanguageModel` that a server runs and calls ``model``.

    Values depend on the server's dtype and batches: expect differences of rounding between runs.
    """

    #: Prompts of an HTTP request, which the server may compute at the same time.
    batch = 32

    def __init__(self, url: str, model: str, tokenizer: Any, identity: str):
        self.url, self.model, self.tokenizer = url, model, tokenizer
        self.identity, self.vocabulary = identity, len(tokenizer)
        self._connection = Connection(url)
        self._mask = self._connection.mask
        self._tried = False

    def logprobs(
        self, requests: Requests, *, known: Collection[int] = (), progress: bool = False
    ) -> Answers:
        """Answers, a request at a time; those that came are given before a :class:`ServerError`."""
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
        with progress_bar(sum(map(len, distinct)), progress) as bar:
            for start in range(0, len(distinct), self.batch):
                prompts = distinct[start : start + self.batch]
                yield [
                    (place, values[len(requests[place].context) - 1 :])
                    for prompt, (values, _) in zip(prompts, self._read(prompts), strict=True)
                    for place in places[prompt]
                ]
                bar.update(sum(map(len, prompts)))

    @cached_property
    def window(self) -> int:
        """What the server says (``max_model_len`` in /models), or else the tokenizer."""
        try:
            models = self._ask("/models")["data"]
            served = {str(card["id"]): card.get("max_model_len") for card in models}
        except (AttributeError, KeyError, TypeError):  # not every server has such a list
            served = {}
        if served and self.model not in served:
            names = ", ".join(excerpt(name, 80, self._mask) for name in list(served)[:20])
            raise ServerError(f"the server has no model {self.model!r}. Remedy: one of {names}")
        limit = served.get(self.model)
        if not isinstance(limit, int) or limit <= 0:
            limit = self.tokenizer.model_max_length
        if limit >= _NO_LIMIT:
            raise ServerError(
                "neither server nor tokenizer says how many tokens the model takes. "
                "Remedy: name a tokenizer with a model_max_length"
            )
        # a prompt holds the last scored token, too, and one token is generated after it
        return int(limit) - 2

    def check(self) -> None:
        """Try the server on a short text, once: its tokens must spell what ours do."""
        if self._tried:  # with another vocabulary all numbers would be wrong, and none show it
            return
        probe = self.tokenizer(_PROBE, add_special_tokens=False)["input_ids"][: self.window + 1]
        [(_, read)] = self._read([tuple(probe)])
        ours = self.tokenizer.decode(probe[1:])
        if _letters(read) not in ("", _letters(ours)):
            theirs = excerpt(read, mask=self._mask)
            raise ServerError(
                "the server's tokens are not those of the tokenizer: it reads "
                f"{theirs!r} where we write {excerpt(ours)!r}. {_OTHER_TOKENS}"
            )
        self._tried = True

    def _read(self, prompts: list[Prompt]) -> list[tuple[np.ndarray, str]]:
        """Of each prompt's tokens, less the first: log-probabilities, float32, and the text."""
        body = {"model": self.model, "prompt": list(map(list, prompts)), **_OPTIONS}
        answer = self._ask("/completions", body)
        try:
            # ids are held against those of the prompt: no answer can be taken for another one
            choices = sorted(answer["choices"], key=lambda choice: choice["index"])
            return [_read_choice(choice, ids) for choice, ids in zip(choices, prompts, strict=True)]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ServerError(
                f"{self.url}/completions answers in another form ({type(error).__name__}: "
                f"{excerpt(str(error), mask=self._mask)}). Remedy: the URL of a completion server"
            ) from None

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """What the server answers; of /models nothing where it has no such list."""
        response = self._connection.request(path, body)
        if isinstance(response, str):
            raise ServerError(f"{self.url}{path}: {response}. Remedy: {_LOOK}")
        status = response.status_code
        if not body and status in (404, 405):
            return {}
        try:
            answer = json.loads(response.content) if status == 200 else None
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict):
            return answer
        remedy = "see whether the URL ends where the interface starts (/v1 for most)"
        if status in (408, 409, 429) or status >= 500:
            remedy = _LOOK
        elif status in (401, 403):
            remedy = "set OPENAI_API_KEY to the server's API key"
        text = excerpt(response.content.decode("utf-8", "replace"), mask=self._mask)
        raise ServerError(f"{self.url}{path} answers {status}: {text}. Remedy: {remedy}")


def _read_choice(choice: dict[str, Any], prompt: Prompt) -> tuple[np.ndarray, str]:
    rows = choice.get("prompt_logprobs")
    if rows is None:
        raise ServerError(
            "the server returns no log-probabilities of the prompt. Remedy: use one that knows "
            "prompt_logprobs, such as `vllm serve --max-logprobs 1`"
        )
    ids = list(map(str, prompt[1:]))
    if len(rows) != len(prompt) or any(i not in row for i, row in zip(ids, rows[1:], strict=True)):
        raise ServerError(f"the server read other tokens than we sent. {_OTHER_TOKENS}")
    tokens = [row[i] for i, row in zip(ids, rows[1:], strict=True)]
    values = [token["logprob"] for token in tokens]
    # rounding exceeds 0 by a little; what exceeds it by more is a logit
    if not all(isinstance(value, int | float) and -1e30 < value <= 1e-3 for value in values):
        raise ServerError(
            "the server returned a value that is no log-probability (none is above 0; logits are). "
            "Remedy: start vLLM with --logprobs-mode raw_logprobs"
        )
    text = "".join(str(token.get("decoded_token") or "") for token in tokens)
    return np.array(values, dtype=np.float32), text


def _letters(text: str) -> str:
    """Letters and digits alone: servers write blanks, and some bytes, in their own ways."""
    return re.sub(r"token_id:\d+|[^a-z0-9]", "", text.lower())
