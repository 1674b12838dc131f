"""Models from a hub or a folder, ready to answer.

Device, dtype and attention are explicit and stand in the identity, for each changes a value.  Only
safetensors are read and no code that comes with a model is run.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .causal import EMBEDDED, Backbone, MissingModel, backbone

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
    if model.local:
        return any(Path(model.where).expanduser().glob("*.safetensors"))
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(model.where, "config.json", revision=model.revision or None)
    return isinstance(found, str)


def remedy(model: Backbone) -> str:
    """What to do when a model is not here."""
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
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    from .engine import Engine

    model = backbone(name) if isinstance(name, str) else name
    device = device_of(device)
    kind = getattr(torch, dtype_of(dtype, device))
    where = str(Path(model.where).expanduser()) if model.local else model.where
    asked: dict[str, Any] = {"revision": model.revision} if model.revision else {}
    if here(model):
        asked["local_files_only"] = True
    try:
        name_of = identity(model)
        tokenizer = AutoTokenizer.from_pretrained(where, **asked)
        network: Any = AutoModelForCausalLM.from_pretrained(
            where, dtype=kind, attn_implementation=attention, use_safetensors=True, **asked
        )
    except (OSError, ValueError, KeyError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise MissingModel(
            f"cannot load {model.where}: {first[0]} Remedy: {remedy(model)}"
        ) from error
    return Engine(network.to(device), tokenizer, name_of, rounded=rounded, **options)
