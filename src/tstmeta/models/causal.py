"""Causal language models: the requests and answers of a backend, and models by name."""

import re
import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ..schema import TstmetaError
from . import fetching


class MissingModel(TstmetaError):
    """A model that cannot be loaded here; the message says what to do."""


class Continuation(NamedTuple):
    """Token ids to be scored after those of a context; at least one each."""

    context: tuple[int, ...]
    tokens: tuple[int, ...]


#: The place of a request in the list of requests, and float32 log-probabilities [tokens].
Answer = tuple[int, np.ndarray]
#: The requests to a backend, and its answers in batches.
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

        Equal requests are computed once.  ``known`` are places that need no answer; how the others
        are batched does not depend on it.  ``progress`` shows a bar at a terminal.
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
    """A model by name; ``where`` is a hub id, a folder or a GGUF file.

    ``course`` is what trains it there, ``fetched`` the name by which ``tstmeta models fetch`` gets
    it.  ``languages``: codes of those that it is made for; empty = many, or not known.
    """

    name: str
    where: str
    revision: str = ""
    profile: str = "real"
    gated: bool = False
    course: str = ""
    fetched: str = ""
    languages: tuple[str, ...] = ()

    @property
    def local(self) -> bool:
        return bool(self.course or self.fetched) or self.quantised or self.folder.is_dir()

    @property
    def quantised(self) -> bool:
        """Whether it is a GGUF file."""
        return self.folder.suffix == ".gguf"

    @property
    def folder(self) -> Path:
        """The folder or the GGUF file of a local model."""
        return Path(self.where).expanduser()


def described(name: str, dtype: str, rounded: bool = False) -> str:
    """The identity of a model that runs here: all that changes a log-probability."""
    return f"{name}|{dtype}|sdpa" + ("|rounded" if rounded else "")


ENGLISH = ("en",)
_FOLDER = Path(__file__).parent
#: The causal model of a metric that names none.
DEFAULT = "smollm2-135m"


def catalogue(use: str) -> dict[str, Backbone]:
    """The models of a table in ``models.toml``, by name."""
    tables = tomllib.loads((_FOLDER / "models.toml").read_text(encoding="utf-8"))
    models = {}
    for name, facts in tables[use].items():
        where, facts["languages"] = facts.get("where", ""), tuple(facts.get("languages", ()))
        if "fetched" in facts:
            where = str(fetching.folder(facts["fetched"]) / where)
        elif "profile" in facts:
            where = str(_FOLDER / "weights" / where)
        elif "course" in facts:
            from ..data import paths  # takes time to import

            where = str(paths.scores() / "models" / where)
        models[name] = Backbone(**{"name": name, **facts, "where": where})
    return models


#: Models for the likelihood method.
BACKBONES = catalogue("causal")

#: An id of a hub: two names, each with letters or digits at its ends.
_HUB_ID = re.compile(r"\w([\w.-]*\w)?/\w([\w.-]*\w)?", re.ASCII)


def backbone(name: str) -> Backbone:
    """A model by its name here, ``hub/id`` or ``hub/id@revision``, a folder or a GGUF file."""
    if name in BACKBONES:
        return BACKBONES[name]
    path = Path(name).expanduser()
    if name and (path.is_dir() or (path.suffix == ".gguf" and path.is_file())):
        return Backbone(name, str(path))
    where, _, revision = name.partition("@")
    strange = "--" in where or ".." in where or path.suffix == ".gguf"
    if _HUB_ID.fullmatch(where) and not strange:
        return Backbone(name, where, revision)
    known = f"{', '.join(BACKBONES)}, an id such as owner/name@revision, or a folder or GGUF file"
    raise TstmetaError(f"no model is called {name!r}: use {known}")


def window_of(config: Any) -> int:
    """Longest text of a model in tokens; without a limit of its own about a million."""
    return int(getattr(config, "max_position_embeddings", 0) or 2**20)
