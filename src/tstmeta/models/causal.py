"""Causal language models: what is asked of them, and which ones have a name.

A backend is an ``Engine`` (a model here), a ``ServerModel`` (elsewhere) or ``Cached`` answers.
"""

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
    """Token ids to be scored after those of a context; at least one each."""

    context: tuple[int, ...]
    tokens: tuple[int, ...]


#: The place of a request in the list of requests, and float32 log-probabilities [tokens].
Answer = tuple[int, np.ndarray]
#: What a backend is asked, and its answers in batches.
Requests = Sequence[Continuation]
Answers = Iterator[list[Answer]]


@runtime_checkable
class LanguageModel(Protocol):
    """A causal language model as the scorer sees it.

    ``identity`` is all that changes a log-probability (model, revision, dtype, rounding),
    ``window`` the longest context with all but the last scored token, ``vocabulary`` the number of
    tokens, ``tokenizer`` one of transformers.
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
        self, requests: Requests, *, known: Collection[int] = (), progress: bool = False
    ) -> Answers:
        """Natural logarithms of the probability of each token, in batches as they are done.

        Args:
            requests: what to score; equal requests are computed once.
            known: places that need no answer; how the others are batched does not depend on it.
            progress: show a bar on standard error (only on a terminal).
        """
        ...


def check_requests(requests: Requests, window: int) -> None:
    """Refuse requests without a context or tokens and those that do not fit into a window."""
    for context, tokens in requests:
        if not context or not tokens:
            raise TstmetaError("a request needs at least one token of context and one to score")
        if len(context) + len(tokens) - 1 > window:
            raise TstmetaError(
                f"{len(context)} tokens of context and {len(tokens)} to score do not fit into the "
                f"model's window of {window}; cut the text before"
            )


def progress_bar(tokens: int, show: bool) -> Any:
    """A bar on standard error that goes when it is done; only on a terminal."""
    from tqdm import tqdm

    disable = None if show else True
    return tqdm(total=tokens, unit="tok", unit_scale=True, leave=False, disable=disable)


@dataclass(frozen=True)
class Backbone:
    """A model by name; ``where`` is a hub id or a folder, ``course`` what trains it there.

    ``languages``: codes of those that it is made for; empty = many, or not known.
    """

    name: str
    where: str
    revision: str = ""
    profile: str = "real"
    gated: bool = False
    course: str = ""
    languages: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        return bool(self.course) or self.folder.is_dir()

    @property
    def folder(self) -> Path:
        return Path(self.where).expanduser()


def named(*models: Backbone) -> dict[str, Backbone]:
    """Models by name."""
    return {model.name: model for model in models}


def described(name: str, dtype: str, rounded: bool = False) -> str:
    """The identity of a model that runs here: all that changes a log-probability."""
    return f"{name}|{dtype}|sdpa" + ("|rounded" if rounded else "")


ENGLISH = ("en",)
#: The demonstration model that comes with the package, trained by us on generated text.
EMBEDDED = Path(__file__).parent / "weights" / "backbone"
#: Models of a hub; the Llamas are those of Pauli et al. (2025, Section 4.3).
_HUB = {
    "3b": ("meta-llama/Llama-3.2-3B-Instruct", "0cb88a4f764b7a12671c53f0838cd831a0843b95"),
    "8b": ("meta-llama/Llama-3.1-8B-Instruct", "0e9e39f249a16976918f6564b8830bc894c89659"),
    "smollm2-135m": (
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        "12fd25f77366fa6b3b4b768ec3050bf629380bac",
    ),
    "qwen2.5-0.5b": ("Qwen/Qwen2.5-0.5B-Instruct", "7ae557604adf67be50417f59c2c2f167def9a775"),
}
#: Models by name.
BACKBONES = {
    "embedded": Backbone("embedded", str(EMBEDDED), profile="embedded", languages=ENGLISH)
} | {
    name: Backbone(
        name,
        where,
        revision,
        gated=where.startswith("meta-llama/"),
        languages=ENGLISH if name.startswith("smollm2") else (),
    )
    for name, (where, revision) in _HUB.items()
}

#: An id of a hub: two names, each with letters or digits at its ends.
_HUB_ID = re.compile(r"\w([\w.-]*\w)?/\w([\w.-]*\w)?", re.ASCII)


def backbone(name: str) -> Backbone:
    """A model by its name here, by ``hub/id`` or ``hub/id@revision``, or by a folder."""
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
