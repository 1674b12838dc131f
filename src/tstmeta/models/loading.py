"""Models from a hub or a folder, ready to answer.

Device, dtype and attention are explicit and stand in the identity, for each changes a value.  Only
safetensors are read and no code that comes with a model is run.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .causal import EMBEDDED, Answer, Backbone, Continuation, MissingModel, backbone, described

if TYPE_CHECKING:
    from .engine import Engine

#: What the identity of a local model is made of: everything that can change a value.
_CONTENT = ("*.safetensors", "config.json", "generation_config.json", "tokenizer*", "*.jinja")


def device_of(wanted: str = "auto") -> str:
    """``cuda`` where there is one and ``auto`` is asked for, else ``cpu``."""
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    return wanted


def dtype_of(wanted: str = "auto", device: str = "cpu") -> str:
    """``auto`` is float32 on a CPU and bfloat16 elsewhere."""
    return ("float32" if device == "cpu" else "bfloat16") if wanted == "auto" else wanted


@lru_cache(maxsize=8)
def fingerprint(folder: Path) -> str:
    """First 12 hexadecimal digits of the SHA-256 of a local model's files.

    Raises:
        MissingModel: the folder has no weights.
    """
    names = sorted({file for pattern in _CONTENT for file in folder.glob(pattern)})
    if not any(file.suffix == ".safetensors" for file in names):
        raise MissingModel(
            f"{folder} holds no .safetensors file: is it the folder of a model? "
            "Weights in other formats (pickles among them) are not read"
        )
    whole = hashlib.sha256()
    for file in names:
        with open(file, "rb") as stream:
            part = hashlib.file_digest(stream, "sha256")
        whole.update(file.name.encode() + part.digest())
    return whole.hexdigest()[:12]


def identity(model: Backbone) -> str:
    """What a model is: ``embedded@hash``, ``folder-name@hash`` or ``hub/id@revision``."""
    if model.local:
        folder = Path(model.where).expanduser()
        name = model.name if folder == EMBEDDED else folder.resolve().name
        return f"{name}@{fingerprint(folder)}"
    return f"{model.where}@{model.revision or 'main'}"


def here(model: Backbone) -> bool:
    """Whether the model can be loaded without a network."""
    if not (find_spec("torch") and find_spec("transformers")):
        return False
    if model.local:
        return any(Path(model.where).expanduser().glob("*.safetensors"))
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(model.where, "config.json", revision=model.revision or None)
    return isinstance(found, str)


def remedy(model: Backbone) -> str:
    """What to do when a model is not here."""
    if not (find_spec("torch") and find_spec("transformers")):
        return "pip install 'tstmeta[likelihood]'"
    if Path(model.where) == EMBEDDED:
        return "install the package anew: its weights are missing, or train them: tstmeta train"
    access = "ask for access on its page at the hub, log in (hf auth login), then " * model.gated
    return (
        f"{access}hf download {model.where}"
        + (f" --revision {model.revision}" if model.revision else "")
        + ", or name a local folder that holds it"
    )


def load(
    name: str | Backbone,
    *,
    device: str = "auto",
    dtype: str = "auto",
    attention: str = "sdpa",
    rounded: bool = False,
    **options: Any,
) -> Engine:
    """Load a model by name (see :func:`~tstmeta.models.causal.backbone`).

    Args:
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ...
        dtype: ``auto``, ``float32``, ``bfloat16``, ``float16``.
        attention: ``sdpa`` or ``eager``.
        rounded: see :class:`~tstmeta.models.engine.Engine`, which also takes ``options``.

    Raises:
        MissingModel: it is not here and cannot be fetched; says what to do.
    """
    model = backbone(name) if isinstance(name, str) else name
    return Lazy(model, device, dtype, attention, rounded, **options).engine


class Lazy:
    """A model that is loaded when something is asked that no cache knows; a backend."""

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
        self.device, self.attention, self.rounded = device_of(device), attention, rounded
        self.dtype = dtype_of(dtype, self.device)
        self.where = str(Path(model.where).expanduser()) if model.local else model.where
        self._asked: dict[str, Any] = {"revision": model.revision} if model.revision else {}
        if here(model):
            self._asked["local_files_only"] = True

    @property
    def identity(self) -> str:
        return described(identity(self.model), self.dtype, self.attention, self.rounded)

    @cached_property
    def _config(self) -> Any:
        from transformers import AutoConfig

        config = self._fetched(AutoConfig)
        return config.get_text_config(decoder=True)

    @property
    def window(self) -> int:
        return window_of(self._config)

    @property
    def vocabulary(self) -> int:
        return int(self._config.vocab_size)

    @cached_property
    def tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return self._fetched(AutoTokenizer)

    @cached_property
    def engine(self) -> Engine:
        """The model itself."""
        import torch
        from transformers import AutoModelForCausalLM
        from transformers.utils import logging

        from .engine import Engine

        if not sys.stderr.isatty():  # bars are for people
            logging.disable_progress_bar()
        network = self._fetched(
            AutoModelForCausalLM,
            dtype=getattr(torch, self.dtype),
            attn_implementation=self.attention,
            use_safetensors=True,
        )
        name = identity(self.model)
        options = {"rounded": self.rounded, **self.options}
        return Engine(network.to(self.device), self.tokenizer, name, **options)

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """See :class:`~tstmeta.models.causal.LanguageModel`."""
        return self.engine.logprobs(requests, known=known, progress=progress)

    def _fetched(self, kind: Any, **options: Any) -> Any:
        try:
            return kind.from_pretrained(self.where, **options, **self._asked)
        except (OSError, ValueError, KeyError) as error:
            first = str(error).strip().splitlines() or [type(error).__name__]
            raise MissingModel(
                f"cannot load {self.where}: {first[0]} Remedy: {remedy(self.model)}"
            ) from error


def window_of(config: Any) -> int:
    """Longest text of a model in tokens; without a limit of its own about a million."""
    return int(getattr(config, "max_position_embeddings", 0) or 2**20)
