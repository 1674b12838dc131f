"""Causal language models: what is asked of them, and which ones have a name.

A model is asked for the log-probabilities of given tokens after a given context, nothing else.
Backends are :class:`~tstmeta.models.engine.Engine` (a model here),
:class:`~tstmeta.models.server.ServerModel` (one that runs elsewhere) and
:class:`~tstmeta.models.tokencache.Cached` (answers that are kept).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..schema import TstmetaError


class MissingModel(TstmetaError):
    """A model that cannot be loaded here; the message says what to do."""


class Continuation(NamedTuple):
    """Tokens to be scored after a context; both are token ids of the model's own tokenizer.

    ``context`` has at least one token (the model cannot foresee the first token of all), ``tokens``
    may be empty.  Together, less the last, they must fit into the model's window.
    """

    context: tuple[int, ...]
    tokens: tuple[int, ...]


#: The place of a request in the list of requests, and float32 log-probabilities [tokens].
Answer = tuple[int, np.ndarray]


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model as the scorer sees it.

    Attributes:
        identity: all that changes a log-probability: model, revision, dtype, attention, rounding.
        window: longest context with all but the last scored token, in tokens.
        vocabulary: number of different tokens.
        tokenizer: a tokenizer of transformers (``PreTrainedTokenizerBase``).
    """

    @property
    def identity(self) -> str: ...

    @property
    def window(self) -> int: ...

    @property
    def vocabulary(self) -> int: ...

    @property
    def tokenizer(self) -> Any: ...

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """Natural logarithms of the probability of each token, in batches as they are done.

        Args:
            requests: what to score; equal requests are computed once.
            known: places that need no answer.  How the others are batched does not depend on it,
                so that a run that goes on where it was stopped gives the same bytes.
            progress: show a bar on standard error (only on a terminal).

        Raises:
            TstmetaError: a request without context, or longer than the window.
        """
        ...


def check_requests(requests: Sequence[Continuation], window: int) -> None:
    """Refuse requests without a context and those that do not fit into a window."""
    for context, tokens in requests:
        if not context:
            raise TstmetaError("a request needs a context of at least one token")
        if len(context) + len(tokens) - 1 > window:
            raise TstmetaError(
                f"{len(context)} tokens of context and {len(tokens)} to score do not fit into the "
                f"model's window of {window}; cut the text before"
            )


def empty_answers(requests: Sequence[Continuation], known: Collection[int]) -> list[Answer]:
    """The answers to requests without tokens, for which no model is needed."""
    return [
        (place, np.empty(0, dtype=np.float32))
        for place, request in enumerate(requests)
        if not request.tokens and place not in known
    ]


def refuse(values: np.ndarray, request: Continuation, backend: str) -> None:
    """Refuse an answer that has not one value a token, or a log-probability above 0."""
    if len(values) != len(request.tokens):
        raise TstmetaError(f"{backend} gives {len(values)} values for {len(request.tokens)} tokens")
    # rounding exceeds 0 by a little; what exceeds it by more is a logit
    if len(values) and np.max(values) > 1e-3:
        raise TstmetaError(
            f"{backend} gives a log-probability of {np.max(values):.4g}, but none is above 0; "
            "take the log-softmax of its logits"
        )


def progress_bar(total: int, show: bool, unit: str = "tok") -> Any:
    """A bar on standard error that goes when it is done; only on a terminal."""
    from tqdm import tqdm

    return tqdm(
        total=total, unit=unit, unit_scale=True, leave=False, disable=None if show else True
    )


@dataclass(frozen=True)
class Backbone:
    """A model by name: where it is, in which revision, and what it needs.

    ``where`` is a hub id or a folder.  ``parameters`` are in millions; 0 = not known.
    """

    name: str
    where: str
    revision: str = ""
    profile: str = "real"
    parameters: float = 0
    gated: bool = False
    about: str = ""

    @property
    def local(self) -> bool:
        """Whether it is a folder on this machine."""
        return self.folder.is_dir()

    @property
    def folder(self) -> Path:
        """``where`` as a folder."""
        return Path(self.where).expanduser()


def described(name: str, dtype: str, attention: str, rounded: bool) -> str:
    """The identity of a model that runs here: all that changes a log-probability."""
    return f"{name}|{dtype}|{attention}" + ("|rounded" if rounded else "")


#: The demonstration model that comes with the package.
EMBEDDED = Path(__file__).parent / "weights" / "backbone"
DEMONSTRATION = "trained by us on generated text: a demonstration, never a reproduction"

_SMALL = "small and open; runs on a laptop"
#: Models by name.  The Llamas are those of Pauli et al. (2025, Section 4.3).
BACKBONES = {
    model.name: model
    for model in (
        Backbone("embedded", str(EMBEDDED), "", "embedded", 4.3, about=DEMONSTRATION),
        Backbone(
            "3b",
            "meta-llama/Llama-3.2-3B-Instruct",
            "0cb88a4f764b7a12671c53f0838cd831a0843b95",
            parameters=3213,
            gated=True,
            about="the small model of Pauli et al. (2025)",
        ),
        Backbone(
            "8b",
            "meta-llama/Llama-3.1-8B-Instruct",
            "0e9e39f249a16976918f6564b8830bc894c89659",
            parameters=8030,
            gated=True,
            about="the large model of Pauli et al. (2025)",
        ),
        Backbone(
            "smollm2-135m",
            "HuggingFaceTB/SmolLM2-135M-Instruct",
            "12fd25f77366fa6b3b4b768ec3050bf629380bac",
            parameters=135,
            about=_SMALL,
        ),
        Backbone(
            "qwen2.5-0.5b",
            "Qwen/Qwen2.5-0.5B-Instruct",
            "7ae557604adf67be50417f59c2c2f167def9a775",
            parameters=494,
            about=_SMALL,
        ),
    )
}

#: What a hub takes as an id: two names, each with letters or digits at its ends.
_HUB_ID = re.compile(r"\w([\w.-]*\w)?/\w([\w.-]*\w)?", re.ASCII)


def backbone(name: str) -> Backbone:
    """A model by its name here, by ``hub/id`` or ``hub/id@revision``, or by a folder.

    Raises:
        TstmetaError: a name that is not listed here, no folder and no id of a hub.
    """
    if name in BACKBONES:
        return BACKBONES[name]
    if name and Path(name).expanduser().is_dir():
        return Backbone(name, str(Path(name).expanduser()))
    where, _, revision = name.partition("@")
    if _HUB_ID.fullmatch(where) and "--" not in where and ".." not in where:
        return Backbone(name, where, revision)
    raise TstmetaError(
        f"no model is called {name!r}: use {', '.join(BACKBONES)}, an id such as "
        "owner/name@revision, or a folder that holds config.json, the tokenizer and safetensors"
    )
