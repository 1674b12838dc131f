"""Checkpoints: weights, the optimiser's moments and the course so far, in one safetensors file.

One file, written beside its place and then moved there, so that a run killed at any moment leaves
the old state or the new one.  Nothing is pickled.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema import TstmetaError

if TYPE_CHECKING:
    from torch.optim import Optimizer
    from transformers import LlamaForCausalLM

FILE = "checkpoint.safetensors"


def write_atomically(path: Path, data: bytes) -> None:
    """Put bytes at a path in one move."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise TstmetaError(f"cannot write {path}: {error.strerror}; is there room?") from error


def save(
    folder: Path, model: LlamaForCausalLM, optimisers: Sequence[Optimizer], about: Mapping
) -> None:
    """Write the state; ``about`` is kept as JSON in the file's header."""
    from safetensors.torch import save as to_bytes

    tensors = {f"weight/{name}": value.detach() for name, value in model.named_parameters()}
    for name, value in model.named_parameters():
        for optimiser in optimisers:
            # each parameter has one optimiser; get() makes no entry in the other's state
            state = optimiser.state.get(value, {})
            tensors |= {f"{moment}/{name}": tensor for moment, tensor in state.items()}
    write_atomically(folder / FILE, to_bytes(tensors, {"about": json.dumps(about)}))


def about(folder: Path) -> dict[str, Any] | None:
    """What a checkpoint says of itself; None where there is none.

    Raises:
        TstmetaError: the file is damaged.
    """
    path = folder / FILE
    if not path.exists():
        return None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            return json.loads(file.metadata()["about"])
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise TstmetaError(
            f"the checkpoint {path} cannot be read ({error}); delete it to begin anew"
        ) from error


def load(folder: Path, model: LlamaForCausalLM, optimisers: Sequence[Optimizer]) -> None:
    """Put a checkpoint's state into a model and its optimisers.

    Raises:
        TstmetaError: the tensors are not those of the model.
    """
    import torch
    from safetensors.torch import load_file

    tensors = load_file(folder / FILE)
    moments = sorted({name.partition("/")[0] for name in tensors} - {"weight"})
    owners = {
        value: optimiser
        for optimiser in optimisers
        for group in optimiser.param_groups
        for value in group["params"]
    }
    for name, value in model.named_parameters():
        weight = tensors.get(f"weight/{name}")
        if weight is None or weight.shape != value.shape:
            raise TstmetaError(
                f"{folder / FILE} has no {name} of shape {tuple(value.shape)}; "
                "it belongs to another model: delete it to begin anew"
            )
        with torch.no_grad():
            value.copy_(weight)
        owners[value].state[value] = {
            moment: tensors[f"{moment}/{name}"]
            for moment in moments
            if f"{moment}/{name}" in tensors
        }
