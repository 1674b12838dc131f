"""A model that runs elsewhere: log-probabilities from an OpenAI-compatible completion server.

The server is sent token ids, never text, so that its tokens are ours, and is asked what it thinks
of the prompt itself.  Which of the two ways to ask (:mod:`~tstmeta.models.prompts`) it knows is
found out once, with a short text that also shows whether its vocabulary is the tokenizer's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from tqdm import tqdm

from ..schema import TstmetaError
from ..secrecy import mask_of, said
from . import hub
from .causal import Answer, Continuation, MissingModel, backbone
from .prompts import NO_LOGPROBS, OTHER_TOKENS, WAYS, Said, checked, letters, read
from .wire import Line, ServerError, address, grouped, together

#: One token is generated, for not every server does without.  Temperature and top_p are named,
#: since a server's own defaults would change what it returns as "processed" log-probabilities.
_ALWAYS = {"max_tokens": 1, "temperature": 1.0, "top_p": 1.0}
#: What a server's vocabulary is tried on: a text, and this many ids from all over the vocabulary.
_SPREAD = 24
_PROBE = "On Monday we walked to the old harbour, bought 12 lemons and watched the ships come in."
#: A server that does not say how much it takes is not asked for more than a model ever took.
_NO_LIMIT = 2**24


class ServerModel:
    """A :class:`~tstmeta.models.causal.LanguageModel` that a server runs.

    Values depend on the server's dtype and on how it fills its batches, which it does not tell:
    expect differences of rounding between runs, and say what you know in ``label``.  Nothing is
    asked before it is needed: with ``window`` given, a cache that knows all needs no server.

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
        TstmetaError: no URL, or a number that is too small.
        ServerError: (when it is asked) the server does not answer, does not know the model,
            returns no log-probabilities of prompts, or has another vocabulary; says what to do.
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
        least = {"batch": (batch, 1), "concurrent": (concurrent, 1), "retries": (retries, 0)}
        if window is not None:
            least["window"] = (window, 4)
        for name, (value, bound) in least.items():
            if value < bound:
                raise TstmetaError(f"{name} is {value}; it must be at least {bound}")
        where = address(url)
        self._user = (where.username, where.password) if where.userinfo else None
        self.url = where.copy_with(username=None, password=None)
        self.model, self.tokenizer = model, tokenizer
        self.identity = f"{model}|server" + (f"|{label}" if label else "")
        self.vocabulary = len(tokenizer)
        self.batch, self.concurrent = batch, concurrent
        self.timeout, self.retries, self.pause = timeout, retries, pause
        self._key = (os.environ.get("OPENAI_API_KEY", "") if key is None else key).strip()
        if not (self._key.isascii() and self._key.isprintable()):
            raise TstmetaError("the API key has a sign that no HTTP header takes; copy it anew")
        self._mask = mask_of(self._key, *(self._user or ()))
        self._window = window
        #: What the user should know, for instance that the window is not known.
        self.notes: list[str] = []

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
        way = self.way  # asks the server, once
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
            work = partial(self._asked, line, way)
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

    def _asked(self, line: Line, way: str, prompts: list[tuple[int, ...]]) -> list[np.ndarray]:
        """Log-probabilities of all tokens of each prompt, float32 [tokens]; NaN for the first."""
        said_of = self._said(line, prompts, way)
        return [checked(one.values, prompt) for one, prompt in zip(said_of, prompts, strict=True)]

    def _said(self, line: Line, prompts: list[tuple[int, ...]], way: str) -> list[Said]:
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
                    f"the server read {used} tokens where {count} were sent. {OTHER_TOKENS}"
                )
            return [read(way, one, prompt) for one, prompt in zip(choices, prompts, strict=True)]
        except (AttributeError, KeyError, TypeError) as error:
            raise ServerError(
                f"{line.url}/completions answered in a form that is not the interface's "
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
            auth=self._user,
            trust_env=not here,  # a proxy does not know what listens on this machine
        ) as client:
            yield Line(
                self.url,
                client,
                self._mask,
                bool(self._key),
                self.retries,
                self.pause,
                eager,
            )

    @cached_property
    def _told(self) -> int | None:
        """The server's window as it tells it; also whether it knows the model."""
        try:
            with self._line(eager=True) as line:
                cards = {str(card["id"]): card for card in line.ask("/models")["data"]}
        except ServerError as error:
            if error.status not in (404, 405):  # not every server has a list
                raise
            cards = {}
        except (AttributeError, KeyError, TypeError):
            cards = {}
        if cards and self.model not in cards:
            names = ", ".join(said(name, 80) for name in islice(cards, 20))
            raise ServerError(f"the server has no model {self.model!r}. Remedy: one of {names}")
        told = cards.get(self.model, {}).get("max_model_len")
        return told if isinstance(told, int) and told > 0 else None

    @cached_property
    def window(self) -> int:
        """Longest context with all but the last scored token, in tokens."""
        limit = getattr(self.tokenizer, "model_max_length", None)
        whole = self._window or self._told
        if not whole and limit and limit < _NO_LIMIT:
            whole = int(limit)
            self.notes.append("the server does not say its window: it is taken from the tokenizer")
        if not whole:
            raise ServerError(
                "the server does not say how many tokens it takes (max_model_len in /models). "
                "Remedy: give its window in tokens"
            )
        # A prompt holds the last scored token, too, and one token is generated after it.
        return whole - 2

    @cached_property
    def way(self) -> str:
        """The one of :data:`~tstmeta.models.prompts.WAYS` that the server knows."""
        if self._told and self._window and self._told < self._window:
            raise ServerError(
                f"the server takes {self._told} tokens, not {self._window}. "
                f"Remedy: window={self._told}"
            )
        with self._line(eager=True) as line:
            return self._found(line)

    def check(self) -> None:
        """Ask the server at once whether it can be used; otherwise the first question does.

        Raises:
            ServerError: it cannot; says what to do.
        """
        _ = self.window, self.way

    def _found(self, line: Line) -> str:
        """The way to ask that this server knows, tried on a short text."""
        text = self.tokenizer(_PROBE, add_special_tokens=False)["input_ids"]
        # not the ends, where marks for images and the like stand, which no text may hold
        spread = np.linspace(0.05, 0.9, _SPREAD) * self.vocabulary
        probe = (*text, *map(int, spread))[: self.window + 1]
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
                checked(one.values, probe)
                self._compare(one.texts, probe)
                return way
        raise refused or ServerError(NO_LOGPROBS)

    def _compare(self, texts: list[str | None], probe: tuple[int, ...]) -> None:
        """Whether the server writes the tokens as our tokenizer does, most of them.

        Ids alone tell nothing: a server takes any id that its model has.  Single letters tell
        little, for vocabularies of bytes begin alike.  Half is far from both ends: of longer
        tokens other vocabularies share hardly an id, and servers differ in how they write a few.
        """
        ours = [letters(self.tokenizer.decode([token])) for token in probe]
        theirs = [letters(text or "") for text in texts]
        pairs = [(a, b) for a, b in zip(ours, theirs, strict=False) if a and b]
        pairs = [pair for pair in pairs if max(map(len, pair)) > 1]
        equal = sum(a == b for a, b in pairs)
        if 2 * equal < len(pairs):
            wrong = next((a, b) for a, b in pairs if a != b)
            raise ServerError(
                f"the server's tokens are not those of the tokenizer: it reads {said(wrong[1])!r} "
                f"where we write {said(wrong[0])!r}. {OTHER_TOKENS}"
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
    try:
        from transformers import AutoTokenizer

        # said, not left out: unsaid, a tokenizer that brings code asks on the terminal to run it
        loaded = AutoTokenizer.from_pretrained(
            where, revision=one.revision or "main", trust_remote_code=False
        )
    except (OSError, ValueError, KeyError, ImportError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise MissingModel(
            f"cannot load the tokenizer {one.where}: {said(first[0])} Remedy: {hub.remedy(one)}"
        ) from error
    return ServerModel(url, model, loaded, **options)
