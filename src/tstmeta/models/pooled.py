"""Folders of sentence-transformers: which steps make one vector of a text, and what we refuse.

Such a folder names classes to import and may hold pickled weights: it is read before it is loaded.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from . import hub
from .causal import Backbone

#: Whose classes a folder may name: others would be imported, whatever they are.
_OURS = "sentence_transformers."


def pooling(model: Backbone) -> str:
    """The steps that make one vector of a text, and a hash of their settings and weights."""
    if not hub.here(model):
        return "missing"
    folder = Path(hub.folder(model))
    names = ["modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"]
    files = [folder / name for name in names]
    for step in steps(folder):
        if step["path"]:
            files += sorted(path for path in (folder / step["path"]).rglob("*") if path.is_file())
    whole = hashlib.sha256()
    for file in filter(Path.is_file, files):
        whole.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    kinds = ">".join(step["type"].rpartition(".")[2] for step in steps(folder))
    return f"{kinds}@{whole.hexdigest()[:8]}"


def steps(folder: Path) -> list[dict[str, str]]:
    """The steps of a sentence-transformers folder; none where it is not one."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return [{"type": str(step["type"]), "path": str(step["path"])} for step in modules]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def fault(folder: Path) -> str:
    """Why a folder is not read as a sentence-transformers model; empty when it is."""
    if not steps(folder):
        return "no modules.json: it is no sentence-transformers model"
    for step in steps(folder):
        if not step["type"].startswith(_OURS):
            return f"modules.json names {step['type']}, which is no part of sentence-transformers"
        inside = (folder / step["path"]).resolve()
        if not inside.is_relative_to(folder.resolve()):
            return f"modules.json leads out of the folder ({step['path']})"
        if any(inside.glob("*.bin")) and not any(inside.glob("*.safetensors")):
            return f"{step['path'] or 'the folder'} has weights that are no safetensors"
    return ""


def absent(network: Any, folder: Path) -> list[str]:
    """Weights that the files do not have: they would be random.  A pooler is not used."""
    from safetensors import safe_open

    names: set[str] = set()
    for file in folder.glob("*.safetensors"):
        with safe_open(file, "numpy") as stream:
            names |= set(stream.keys())
    prefix = f"{network.base_model_prefix}."
    bare = {name.removeprefix(prefix) for name in names}
    return [
        name
        for name, _ in network.named_parameters()
        if name not in bare and not name.startswith("pooler.")
    ]
