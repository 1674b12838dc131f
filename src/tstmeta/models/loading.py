"""Language models of a hub or a folder, loaded when they are needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import hub
from .causal import Answer, Backbone, Continuation, backbone, described

if TYPE_CHECKING:
    from .engine import Engine


def load(name: str | Backbone, **options: Any) -> Engine:
    """Load a model by name (:func:`~.causal.backbone`), with options of :class:`Lazy`.

    Raises:
        MissingModel: it is not here and cannot be fetched; says what to do.
    """
    return Lazy(backbone(name) if isinstance(name, str) else name, **options).engine


class Lazy:
    """A backend whose model is loaded when something is asked that no cache knows.

    Args:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ...
        dtype: ``auto``, ``float32``, ``bfloat16``, ``float16``.
        rounded, options: see :class:`~tstmeta.models.engine.Engine`.
    """

    def __init__(
        self,
        model: Backbone,
        device: str = "auto",
        dtype: str = "auto",
        rounded: bool = False,
        **options: Any,
    ):
        self.model, self.rounded, self.options = model, rounded, options
        self.device = hub.device_of(device)
        self.dtype = hub.dtype_of(dtype, self.device)

    @property
    def identity(self) -> str:
        return described(hub.identity(self.model), self.dtype, self.rounded)

    @cached_property
    def _config(self) -> Any:
        from transformers import AutoConfig

        return hub.read(self.model, AutoConfig).get_text_config(decoder=True)

    @property
    def window(self) -> int:
        return window_of(self._config)

    @property
    def vocabulary(self) -> int:
        return int(self._config.vocab_size)

    @cached_property
    def tokenizer(self) -> Any:
        return hub.tokenizer(self.model)

    @cached_property
    def engine(self) -> Engine:
        import torch
        from transformers import AutoModelForCausalLM

        from .engine import Engine

        quiet()
        options = {"dtype": getattr(torch, self.dtype), "attn_implementation": "sdpa"}
        network = hub.weights(self.model, AutoModelForCausalLM, **options).to(self.device)
        identity = hub.identity(self.model)
        return Engine(network, self.tokenizer, identity, rounded=self.rounded, **self.options)

    def logprobs(self, requests: Sequence[Continuation], **options: Any) -> Iterator[list[Answer]]:
        return self.engine.logprobs(requests, **options)


def quiet() -> None:
    """Bars of transformers are for people at a terminal."""
    from transformers.utils import logging

    if not sys.stderr.isatty():
        logging.disable_progress_bar()


def window_of(config: Any) -> int:
    """Longest text of a model in tokens; without a limit of its own about a million."""
    return int(getattr(config, "max_position_embeddings", 0) or 2**20)
