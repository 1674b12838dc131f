"""A model that runs elsewhere: log-probabilities from an OpenAI-compatible completion server.

The server is sent token ids, never text, so that its tokens are ours, and is asked what it thinks
of the prompt itself.  There are two ways to ask (:data:`WAYS`): the field ``prompt_logprobs`` of
vLLM, and ``echo`` with ``logprobs`` of the older completion interface.  Which one a server knows is
found out once, with a short text that also shows whether its vocabulary is the tokenizer's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
from tqdm import tqdm

from ..schema import TstmetaError
from . import loading
from .causal import Answer, Continuation, MissingModel, backbone
from .wire import Line, ServerError, address, grouped, said, together

#: Two ways to ask for a prompt's log-probabilities, the first that works is kept.  The first names
#: token ids in its answer and the second does not.
WAYS: dict[str, dict[str, Any]] = {
    "prompt_logprobs": {"prompt_logprobs": 1},
    "echo": {"echo": True, "logprobs": 1},
}
#: One token is generated, for not every server does without.  Temperature and top_p are named,
#: since a server's own defaults would change what it returns as "processed" log-probabilities.
_ALWAYS = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0}
#: What a server's vocabulary is tried on: a text, and this many ids from all over the vocabulary.
_SPREAD = 24
_PROBE = "On Monday we walked to the old harbour, bought 12 lemons and watched the ships come in."
#: What a log-probability may exceed 0 by: rounding.  More is a logit.
_ROUNDING = 1e-3
#: A server that does not say how much it takes is not asked for more than a model ever took.
_NO_LIMIT = 2**24
_NO_LOGPROBS = (
    "the server returns no log-probabilities of the prompt. Remedy: use one that does, such as "
    "`vllm serve` with --max-logprobs of at least 1; interfaces for chats only, and "
    "`transformers serve`, do not"
)
_OTHER_TOKENS = (
    "Remedy: name the tokenizer of the very model that is served, and ask the server itself, not "
    "something before it that rewrites prompts"
)


class _Said(NamedTuple):
    """What a server said of one prompt, a value a token; the first has no log-probability."""

    values: list[float | None]
    texts: list[str | None]


class ServerModel:
    """A :class:`~tstmeta.models.causal.LanguageModel` that a server runs.

    Values depend on the server's dtype and on how it fills its batches, which it does not tell:
    expect differences of rounding between runs, and say what you know in ``label``.

    Args:
        url: where the interface starts, such as ``http://localhost:8000/v1``.
        model: what the server calls the model.
        tokenizer: the model's tokenizer (of transformers).
        window: most tokens the server takes, one generated token included; what ``/models`` says
            when None.
        key: the API key; ``OPENAI_API_KEY`` of the environment when None.  Never shown.
        label: put into ``identity``, and with it into the cache's key: a revision, a dtype, ...
        batch: prompts in one HTTP request; 1 sends a plain list of ids.
        concurrent: HTTP requests under way at the same time.
        timeout: seconds to wait for an answer.
        retries: how often a request is sent again after a time-out, a cut connection or the
            statuses 408, 429 and 5xx.
        pause: seconds before the first of these, doubled each time; ``Retry-After`` counts if
            it is longer.

    Raises:
        ServerError: the server does not answer, does not know the model, returns no
            log-probabilities of prompts, or has another vocabulary; says what to do.
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
        for name, value, least in (("batch", batch, 1), ("concurrent", concurrent, 1)):
            if value < least:
                raise TstmetaError(f"{name} is {value}; it must be at least {least}")
        self.url, self.model, self.tokenizer = address(url), model, tokenizer
        self.identity = f"{model}|server" + (f"|{label}" if label else "")
        self.vocabulary = len(tokenizer)
        self.batch, self.concurrent = batch, concurrent
        self.timeout, self.retries, self.pause = timeout, retries, pause
        self._key = (os.environ.get("OPENAI_API_KEY", "") if key is None else key).strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        #: What the user should know, for instance that the window is not known.
        self.notes: list[str] = []
        with self._line(eager=True) as line:
            # A prompt holds the last scored token, too, and one token is generated after it.
            self.window = self._takes(line, window) - 2
            self.way = self._found(line)

    # ------------------------------------------------------------------------------- answers

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """See :class:`~tstmeta.models.causal.LanguageModel`; one batch an HTTP answer.

        Raises:
            TstmetaError: a request without context or longer than the window.
            ServerError: the server failed.  Answers that were under way come first.
        """
        self._refuse(requests)
        known = frozenset(known)
        todo = [place for place in range(len(requests)) if place not in known]
        empty = [place for place in todo if not requests[place].tokens]
        if empty:
            yield [(place, np.empty(0, dtype=np.float32)) for place in empty]
        same: dict[tuple[int, ...], list[int]] = {}
        for place in todo:
            if requests[place].tokens:
                same.setdefault((*requests[place].context, *requests[place].tokens), []).append(
                    place
                )
        if not same:
            return
        bar = tqdm(
            total=sum(map(len, same)),
            desc="tokens",
            unit="tok",
            unit_scale=True,
            leave=False,
            disable=None if progress else True,
        )
        jobs = grouped(same, self.batch)
        with bar, self._line() as line:
            work = partial(self._asked, line)
            for prompts, found in together(work, jobs, self.concurrent, line.stop):
                yield [
                    (place, values[len(requests[place].context) :])
                    for prompt, values in zip(prompts, found, strict=True)
                    for place in same[prompt]
                ]
                bar.update(sum(map(len, prompts)))

    def _refuse(self, requests: Sequence[Continuation]) -> None:
        for request in requests:
            if not request.context:
                raise TstmetaError("a request needs a context of at least one token")
            if len(request.context) + len(request.tokens) - 1 > self.window:
                raise TstmetaError(
                    f"{len(request.context)} tokens of context and {len(request.tokens)} to score "
                    f"do not fit into the server's window: {self.window} without the last one; "
                    "cut the text before, or start the server with a larger --max-model-len"
                )

    def _asked(self, line: Line, prompts: list[tuple[int, ...]]) -> list[np.ndarray]:
        """Log-probabilities of all tokens of each prompt, float32 [tokens]; NaN for the first."""
        said_of = self._said(line, prompts, self.way)
        return [_checked(one.values, prompt) for one, prompt in zip(said_of, prompts, strict=True)]

    def _said(self, line: Line, prompts: list[tuple[int, ...]], way: str) -> list[_Said]:
        # What no list of ids needs: some servers know a prompt of one list only.
        prompt = list(map(list, prompts)) if self.batch > 1 else list(prompts[0])
        asked = {"model": self.model, "prompt": prompt, **_ALWAYS, **WAYS[way]}
        answer = line.ask("/completions", asked)
        try:
            choices = sorted(answer["choices"], key=lambda choice: choice["index"])
            used = (answer.get("usage") or {}).get("prompt_tokens")
            count = sum(map(len, prompts))
            if [choice["index"] for choice in choices] != list(range(len(prompts))):
                raise ServerError(
                    f"{len(choices)} answers came to {len(prompts)} prompts. Remedy: batch=1"
                )
            if used and used != count:
                raise ServerError(
                    f"the server read {used} tokens where {count} were sent. {_OTHER_TOKENS}"
                )
            read = _listed if way == "prompt_logprobs" else _echoed
            return [read(one, prompt) for one, prompt in zip(choices, prompts, strict=True)]
        except (AttributeError, KeyError, TypeError) as error:
            raise ServerError(
                f"{line.shown}/completions answered in a form that is not the interface's "
                f"({type(error).__name__}: {said(str(error))}). Remedy: see whether the URL is "
                "that of a completion server"
            ) from error

    # ----------------------------------------------------------------------------- the server

    @contextmanager
    def _line(self, eager: bool = False) -> Iterator[Line]:
        """A connection; ``eager`` gives up at once where nobody listens."""
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        here = self.url.host in ("localhost", "127.0.0.1", "::1")
        with httpx.Client(
            timeout=httpx.Timeout(self.timeout, connect=10),
            headers=headers,
            trust_env=not here,  # a proxy does not know what listens on this machine
        ) as client:
            yield Line(self.url, client, self._key, self.retries, self.pause, eager)

    def _takes(self, line: Line, window: int | None) -> int:
        """Tokens the server takes; also whether it knows the model."""
        try:
            cards = line.ask("/models").get("data") or []
            cards = {str(card["id"]): card for card in cards}
        except ServerError as error:
            if error.status not in (404, 405):
                raise
            cards = {}
        except (AttributeError, KeyError, TypeError):
            cards = {}
        if cards and self.model not in cards:
            names = ", ".join(said(name, 80) for name in islice(cards, 20))
            raise ServerError(f"the server has no model {self.model!r}. Remedy: one of {names}")
        told = cards.get(self.model, {}).get("max_model_len")
        limit = getattr(self.tokenizer, "model_max_length", None)
        known = [int(one) for one in (window, told) if one]
        if not known and limit and limit < _NO_LIMIT:
            known = [int(limit)]
            self.notes.append("the server does not say its window: it is taken from the tokenizer")
        if not known or min(known) < 4:
            raise ServerError(
                "the server does not say how many tokens it takes (max_model_len in /models). "
                "Remedy: give its window in tokens"
            )
        return min(known)

    def _found(self, line: Line) -> str:
        """The way to ask that this server knows, tried on a short text."""
        text = self.tokenizer(_PROBE, add_special_tokens=False)["input_ids"]
        spread = np.linspace(0, self.vocabulary - 1, _SPREAD).astype(int).tolist()
        probe = (*text, *spread)[: self.window + 1]
        refused: ServerError | None = None
        for way in WAYS:
            try:
                one = self._said(line, [probe], way)[0]
            except ServerError as error:
                if error.status not in (400, 422):  # it may be that it dislikes an unknown field
                    raise
                refused = error
                continue
            if any(value is not None for value in one.values):
                _checked(one.values, probe)
                self._compare(one.texts, probe)
                return way
        raise refused or ServerError(_NO_LOGPROBS)

    def _compare(self, texts: list[str | None], probe: tuple[int, ...]) -> None:
        """Whether the server writes the tokens as our tokenizer does, most of them.

        Ids alone tell nothing: a server takes any id that its model has.  Single letters tell
        little, for vocabularies of bytes begin alike.  Half is far from both ends: of longer
        tokens other vocabularies share hardly an id, and servers differ in how they write a few.
        """
        ours = [_letters(self.tokenizer.decode([token])) for token in probe]
        theirs = [_letters(text or "") for text in texts]
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a and b]
        pairs = [pair for pair in pairs if max(map(len, pair)) > 1]
        equal = sum(a == b for a, b in pairs)
        if 2 * equal < len(pairs):
            wrong = next((a, b) for a, b in pairs if a != b)
            raise ServerError(
                f"the server's tokens are not those of the tokenizer: it reads {said(wrong[1])!r} "
                f"where we write {said(wrong[0])!r}. {_OTHER_TOKENS}"
            )


def connect(url: str, model: str, tokenizer: str | None = None, **options: Any) -> ServerModel:
    """A model of a server, with its tokenizer from here.

    Args:
        tokenizer: a folder, a hub id (``owner/name@revision``) or a name that
            :func:`~tstmeta.models.causal.backbone` knows; the model's own name when None.
        options: see :class:`ServerModel`.

    Raises:
        MissingModel: the tokenizer is not here and cannot be fetched; says what to do.
        ServerError: see :class:`ServerModel`.
    """
    from transformers import AutoTokenizer

    address(url)  # a slip of the pen is told before anything is loaded
    try:
        one = backbone(tokenizer or model)
    except TstmetaError as error:
        if tokenizer:
            raise
        raise MissingModel(
            f"the tokenizer of {model!r} is not known. Remedy: name it, as a hub id or a folder"
        ) from error
    where = str(Path(one.where).expanduser()) if one.local else one.where
    asked: dict[str, Any] = {"revision": one.revision} if one.revision else {}
    if not one.local and loading.here(one):
        asked["local_files_only"] = True
    try:
        loaded = AutoTokenizer.from_pretrained(where, **asked)
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise MissingModel(
            f"cannot load the tokenizer {one.where}: {first[0]} Remedy: {loading.remedy(one)}"
        ) from error
    return ServerModel(url, model, loaded, **options)


def _listed(choice: dict, prompt: tuple[int, ...]) -> _Said:
    """vLLM's own form: a mapping from token ids a place, with the prompt's token among them."""
    rows = choice.get("prompt_logprobs")
    if rows is None:
        return _Said([None], [None])
    found: list[dict | None] = []
    for row, token in zip(rows, prompt, strict=False):
        if row is not None and str(token) not in row:
            raise ServerError(f"the server speaks of other tokens than we sent. {_OTHER_TOKENS}")
        found.append(None if row is None else row[str(token)])
    found += [None] * (len(rows) - len(found))  # a count that is wrong is told elsewhere
    return _Said(
        [None if one is None else one["logprob"] for one in found],
        [None if one is None else one.get("decoded_token") for one in found],
    )


def _echoed(choice: dict, prompt: tuple[int, ...]) -> _Said:
    """The older form: the prompt's tokens, then a generated one, which is dropped."""
    marks = choice.get("logprobs") or {}
    values = marks.get("token_logprobs")
    if values is None or (len(prompt) > 1 and len(values) <= 1):  # only what was generated
        return _Said([None], [None])
    ids = choice.get("prompt_token_ids")
    if ids is not None and tuple(ids) != prompt:
        raise ServerError(f"the server read other tokens than we sent. {_OTHER_TOKENS}")
    end = len(prompt) if len(values) == len(prompt) + 1 else len(values)
    return _Said(values[:end], (marks.get("tokens") or [None] * end)[:end])


def _checked(values: list[float | None], prompt: tuple[int, ...]) -> np.ndarray:
    """A prompt's log-probabilities, float32 [tokens], if they are such."""
    if values == [None] and len(prompt) > 1:
        raise ServerError(_NO_LOGPROBS)
    if len(values) != len(prompt):
        raise ServerError(
            f"{len(values)} log-probabilities came to {len(prompt)} tokens. {_OTHER_TOKENS}"
        )
    # Whatever is no number becomes one that is refused.
    numbers = [one if isinstance(one, int | float) else np.nan for one in values[1:]]
    found = np.array([np.nan, *numbers], dtype=np.float32)
    if not np.isfinite(found[1:]).all():
        raise ServerError(
            "the server returned a log-probability that is no number. " + _NO_LOGPROBS
        )
    if found[1:].max(initial=-1) > _ROUNDING:
        raise ServerError(
            "the server returned a log-probability above 0: these are logits. Remedy: start vLLM "
            "with --logprobs-mode raw_logprobs"
        )
    return found


def _letters(text: str) -> str:
    """A token's text without blanks and their marks; nothing where servers differ in writing."""
    if "\ufffd" in text or text.startswith(("<0x", "token_id:")):
        return ""
    return text.translate({ord(mark): " " for mark in "▁ĠĊ"}).strip()
