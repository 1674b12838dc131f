"""The tiny models of :mod:`tests.models.tiny` with windows that hold an instruction."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import torch

from tests.models import tiny
from tstmeta.models.engine import Engine

#: Family of a tokenizer -> an architecture that comes with it, and what its window is called.
KINDS = {
    "llama": ("llama", "max_position_embeddings"),
    "qwen": ("qwen3", "max_position_embeddings"),
    "gpt2": ("gpt2", "n_positions"),
}


def network(kind: str, window: int = 2048) -> torch.nn.Module:
    architecture, name = KINDS[kind]
    return tiny.network(architecture, **{name: window})


@cache
def engine(kind: str = "llama", window: int = 2048, rounded: bool = False) -> Engine:
    return Engine(network(kind, window), tiny.tokenizer(kind), f"tiny-{kind}", rounded=rounded)


def saved(folder: Path, kind: str = "llama") -> Path:
    """The same model as a folder that can be named in a metric."""
    return tiny.save(folder, network(kind), tiny.tokenizer(kind))


class Counted:
    """A backend that remembers its requests."""

    def __init__(self, model: Engine):
        self.model = model
        self.requests: list = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def logprobs(self, requests, *, known=(), progress: bool = False) -> Iterator[list]:
        self.requests += [r for place, r in enumerate(requests) if place not in set(known)]
        return self.model.logprobs(requests, known=known, progress=progress)
