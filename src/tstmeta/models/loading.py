"""Language models of a hub or a folder, loaded when they are needed."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
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
    """A model that is loaded when something is asked that no cache knows; a backend.

    Device, dtype and attention stand in the identity, for each changes a value.

    Args:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ...
        dtype: ``auto``, ``float32``, ``bfloat16``, ``float16``.
        attention: ``sdpa`` or ``eager``.
        rounded, options: see :class:`~tstmeta.models.engine.Engine`.
    """

    def __init__(
        self,
        model: Backbone,
        device: str = "auto",
        dtype: str = "auto",
        attention: str = "sdpa",
        rounded: bool = False,
        **options: Any,
    ):
        self.model, self.options = model, options
        self.device, self.attention, self.rounded = hub.device_of(device), attention, rounded
        self.dtype = hub.dtype_of(dtype, self.device)

    @property
    def identity(self) -> str:
        return described(hub.identity(self.model), self.dtype, self.attention, self.rounded)

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
        """The model itself."""
        import torch
        from transformers import AutoModelForCausalLM

        from .engine import Engine

        quiet()
        network = hub.weights(
            self.model,
            AutoModelForCausalLM,
            dtype=getattr(torch, self.dtype),
            attn_implementation=self.attention,
        )
        return Engine(
            network.to(self.device),
            self.tokenizer,
            hub.identity(self.model),
            rounded=self.rounded,
            **self.options,
        )

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        return self.engine.logprobs(requests, known=known, progress=progress)


def quiet() -> None:
    """Bars of transformers are for people at a terminal."""
    from transformers.utils import logging

    if not sys.stderr.isatty():
        logging.disable_progress_bar()


def window_of(config: Any) -> int:
    """Longest text of a model in tokens; without a limit of its own about a million."""
    return int(getattr(config, "max_position_embeddings", 0) or 2**20)
