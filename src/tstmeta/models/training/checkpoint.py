"""Checkpoints: weights, the optimiser's moments and the course so far, in one safetensors file.

One file, written beside its place and then moved there, so that a run killed at any moment leaves
the old state or the new one.  Nothing is pickled, and no torch is needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...schema import TstmetaError

if TYPE_CHECKING:
    import numpy as np

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


def save(folder: Path, tensors: Mapping[str, np.ndarray], about: Mapping) -> None:
    """Write the state; ``about`` is kept as JSON in the file's header."""
    from safetensors.numpy import save as to_bytes

    write_atomically(folder / FILE, to_bytes(dict(tensors), {"about": json.dumps(about)}))


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
        with safe_open(path, "np") as file:
            return json.loads(file.metadata()["about"])
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise TstmetaError(
            f"the checkpoint {path} cannot be read ({error}); delete it to begin anew"
        ) from error
