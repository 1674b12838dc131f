"""GGUF files: quantised weights, written out once as safetensors in float32.

transformers reads them with the package gguf, which takes seconds, for a large model minutes; the
folder that is written here is read like any other, and kept in the user's cache folder.
"""

import os
import shutil
import sys
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path

from .. import storage
from . import fetching


def folder(file: Path, digest: str) -> Path:
    """The folder with the weights and the tokenizer of a GGUF file with that SHA-256.

    Raises:
        Exception: whatever a file that is broken, or of an unknown kind, makes transformers raise.
    """
    target = fetching.folder(f"dequantised-{digest[:12]}")
    with storage.locked(target.with_name(f".{target.name}.lock")):
        if not target.is_dir():
            draft = target.with_name(f".{target.name}.part")
            shutil.rmtree(draft, ignore_errors=True)
            try:
                _write(file, draft)
                os.replace(draft, target)
            except OSError as error:
                raise storage.cannot_write(target, error) from error
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    return target


def _write(file: Path, target: Path) -> None:
    from safetensors.torch import save_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = {"gguf_file": file.name, "local_files_only": True, "trust_remote_code": False}
    with redirect_stderr(sys.stderr if sys.stderr.isatty() else StringIO()):  # a bar is for people
        network = AutoModelForCausalLM.from_pretrained(file.parent, dtype="float32", **options)
    tokenizer = AutoTokenizer.from_pretrained(file.parent, **options)
    del network.config.quantization_config  # the weights that are written are not quantised
    network.config.architectures = [type(network).__name__]  # by which a server finds the class
    target.mkdir(parents=True)
    network.config.save_pretrained(target)
    tokenizer.save_pretrained(target)
    # save_pretrained refuses a model that was quantised
    save_model(network, str(target / "model.safetensors"), metadata={"format": "pt"})
