"""Models of a hub or a folder, whose safetensors are read and none of whose code is run."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Mapping
from fnmatch import fnmatch
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..data.paths import regular
from ..extras import lacking, needs
from ..schema import TstmetaError
from ..secrecy import excerpt
from . import fetching, gguf
from .causal import Answers, Backbone, MissingModel, Requests, backbone, described, window_of

if TYPE_CHECKING:
    from .engine import Engine

#: Everything in a folder that can change a value.
_CONTENT = ("*.safetensors", "config.json", "generation_config.json", "tokenizer*", "*.jinja")
#: What is fetched of a repository, less the weights.
_WORDS = ["*.json", "*.jinja", "*.txt", "*.model"]
#: Where a tokenizer has its tokens; one of these.
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")


def file_hash(path: Path) -> str:
    """SHA-256 of a file in hexadecimal digits; MissingModel where it cannot be read."""
    try:
        facts = regular(path).stat()
        return _hashed(path, facts.st_size, facts.st_mtime_ns)
    except OSError as error:
        raise MissingModel(f"cannot read {path}: {error.strerror}; name a file") from error


@lru_cache(maxsize=64)
def _hashed(path: Path, *_stamp: int) -> str:
    return fetching.sha256(path)


def fingerprint(folder: Path, digits: int = 12) -> str:
    """First hexadecimal digits of the SHA-256 of a local model's files."""
    files = {file.name: file for pattern in _CONTENT for file in folder.glob(pattern)}
    if not any(name.endswith(".safetensors") for name in files):
        raise MissingModel(
            f"{folder} holds no .safetensors file: is it the folder of a model? "
            "Other weights, such as pickles, are not read"
        )
    return _hash_of({name: file_hash(file) for name, file in files.items()})[:digits]


def _hash_of(files: Mapping[str, str]) -> str:
    """One hash of the names and hashes of files."""
    parts = (name.encode() + bytes.fromhex(digest) for name, digest in sorted(files.items()))
    return hashlib.sha256(b"".join(parts)).hexdigest()


def identity(model: Backbone) -> str:
    """``name@hash`` of a folder or GGUF file, ``name@missing``, or ``hub/id@revision`` of a hub.

    The name of a GGUF file says by custom how its weights were quantised.  What can be fetched has
    its hash before it is here.
    """
    files = fetching.catalogue()[model.fetched].files if model.fetched else {}
    if model.quantised:
        name = model.folder.name
        return f"{name}@{(files.get(name) or file_hash(model.folder))[:12]}"
    if model.local:
        name = model.name if model.profile == "embedded" else model.folder.resolve().name
        try:
            return f"{name}@{fingerprint(model.folder)}"
        except MissingModel:  # scoring says so, row by row
            known = {n: files[n] for n in files if any(fnmatch(n, p) for p in _CONTENT)}
            return f"{name}@{_hash_of(known)[:12] if known else 'missing'}"
    fetched = None if model.revision else _snapshot(model)
    return f"{model.where}@{model.revision or (fetched.name if fetched else 'main')}"


def here(model: Backbone) -> bool:
    """Whether the whole model is here; a fetch may have stopped half-way."""
    if lacking("torch", "transformers"):
        return False
    if model.quantised:
        return model.folder.is_file() and not lacking("gguf")
    folder = model.folder if model.local else _snapshot(model)
    if folder is None or not _has_tokenizer(folder):
        return False
    weights = [file.stem for file in folder.glob("*.safetensors")]
    # of several files each says how many there are, as in model-00001-of-00003
    counts = {int(stem[-5:]) for stem in weights if re.search(r"-\d{5}-of-\d{5}$", stem)}
    return len(weights) >= max(counts, default=1)


def absent(model: Backbone) -> str:
    """A message that a model is not here, with the remedy; empty when it is."""
    name = model.fetched or model.where
    return "" if here(model) else f"{name} is not here: {remedy(model)}"


def _snapshot(model: Backbone) -> Path | None:
    """The folder in the hub's cache that holds what was fetched of a model."""
    if lacking("huggingface_hub"):
        return None
    from huggingface_hub.constants import HF_HUB_CACHE

    if not Path(HF_HUB_CACHE, f"models--{model.where.replace('/', '--')}").is_dir():
        return None
    from huggingface_hub import try_to_load_from_cache  # takes long to import

    file = try_to_load_from_cache(model.where, "config.json", revision=model.revision or None)
    return Path(file).parent if isinstance(file, str) else None


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _TOKENIZERS)


def remedy(model: Backbone) -> str:
    """What to do when a model is not here."""
    if words := lacking("torch", "transformers"):
        return words
    if model.quantised and (words := lacking("gguf")):
        return words
    if model.fetched:
        return fetching.catalogue()[model.fetched].remedy
    if model.quantised:
        return "name a GGUF file that is complete, of a causal model that transformers can read"
    if model.course:
        command = f"python -m experiments.training {model.course} --out {model.where}"
        return f"train it in the repository: {command}"
    if model.local:
        return "the folder needs config.json, the tokenizer's files and *.safetensors"
    access = "ask for access on its page at the hub, log in (hf auth login), then " * model.gated
    revision = f" --revision {model.revision}" * bool(model.revision)
    folder = "a local folder that holds it as safetensors"
    return f"{access}hf download {model.where}{revision}; or name {folder}"


def read(model: Backbone, kind: Any, **options: Any) -> Any:
    """Whatever ``kind`` reads (an Auto class of transformers); any failure is a MissingModel."""
    from transformers.utils import logging

    if not sys.stderr.isatty():  # its bars are for people
        logging.disable_progress_bar()
    weights = "use_safetensors" in options
    # left out, a model that brings code asks on the terminal to have it run
    options |= {"local_files_only": True, "trust_remote_code": False}
    try:
        return kind.from_pretrained(folder(model, weights), **options)
    except MissingModel:
        raise
    except Exception as error:  # a hub, a file and a library can fail in many ways
        raise missing(model, f"{type(error).__name__}: {error}") from error


def weights(model: Backbone, kind: Any, *, pooler: bool = True, **options: Any) -> Any:
    """A model as :func:`read` gives it; MissingModel where weights are missing, save a pooler."""
    network, report = read(model, kind, use_safetensors=True, output_loading_info=True, **options)
    if wrong := [name for name in faults(report) if pooler or "pooler." not in name]:
        raise missing(model, f"missing or mismatched weights: {', '.join(sorted(wrong)[:5])}")
    return network


def faults(report: Mapping[str, Any]) -> list[str]:
    """What is missing or wrong by transformers' report of a loaded model."""
    faults = ("missing_keys", "mismatched_keys", "error_msgs")
    keys = [key for fault in faults for key in report.get(fault) or ()]
    return [key if isinstance(key, str) else str(key[0]) for key in keys]


def tokenizer(model: Backbone) -> Any:
    """A model's tokenizer; MissingModel where it has none, or it cannot be read."""
    from transformers import AutoTokenizer

    if model.local and here(model) and not _has_tokenizer(Path(folder(model))):
        # transformers would make up an empty one of the model's kind
        raise missing(model, f"no tokenizer ({', '.join(_TOKENIZERS)})")
    return read(model, AutoTokenizer)


def folder(model: Backbone, weights: bool = True) -> str:
    """Where a model's files are, fetched from the hub where they are not here."""
    if model.fetched and not here(model):
        raise MissingModel(absent(model))
    if model.quantised:
        digest = file_hash(model.folder)
        if model.fetched and not identity(model).endswith(digest[:12]):
            raise missing(model, "the file is damaged (by SHA-256)")
        return str(gguf.folder(model.folder, digest))
    if model.local:
        for file in model.folder.rglob("*"):
            regular(file)
        return str(model.folder)
    if here(model):
        return str(_snapshot(model))
    wanted = _WORDS + ["*.safetensors"] * weights
    return fetching.snapshot(model.where, model.revision or None, allow_patterns=wanted)


def missing(model: Backbone, reason: str) -> MissingModel:
    """The error that says why a model cannot be loaded, and what to do."""
    words = excerpt(reason, 400).rstrip(".")
    return MissingModel(f"cannot load {model.where}: {words}. Remedy: {remedy(model)}")


def device_of(wanted: str = "auto") -> str:
    """``cuda`` where there is one and ``auto`` is asked for, else ``cpu``; checked to be here."""
    needs("torch", "transformers")
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise TstmetaError(f"device {wanted!r} cannot be used here: {first}") from error
    return wanted


def dtype_of(model: Backbone, device: str = "") -> str:
    """bfloat16 on CUDA, but for quantised models and those that all have; float32 elsewhere."""
    if model.profile == "embedded" or model.quantised:
        return "float32"
    return "bfloat16" if (device or device_of()).startswith("cuda") else "float32"


def load(name: str | Backbone, **options: Any) -> Engine:
    """Load a causal model by name (:func:`~.causal.backbone`), with options of :class:`Lazy`.

    Raises:
        MissingModel: it is not here and cannot be fetched; says what to do.
    """
    return Lazy(backbone(name) if isinstance(name, str) else name, **options).engine


class Lazy:
    """A causal model that is loaded at the first request that no cache can answer.

    ``device`` is ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ...; ``dtype`` is ``auto``, ``float32``,
    ``bfloat16`` or ``float16``; ``options`` are those of :class:`~tstmeta.models.engine.Engine`.
    """

    def __init__(self, model: Backbone, device: str = "auto", dtype: str = "auto", **options: Any):
        self.model, self.options = model, options
        self.device = device_of(device)
        self.dtype = dtype_of(model, self.device) if dtype == "auto" else dtype

    @property
    def identity(self) -> str:
        return described(identity(self.model), self.dtype, self.options.get("rounded", False))

    @cached_property
    def _config(self) -> Any:
        from transformers import AutoConfig

        return read(self.model, AutoConfig).get_text_config(decoder=True)

    @property
    def window(self) -> int:
        return window_of(self._config)

    @property
    def vocabulary(self) -> int:
        return int(self._config.vocab_size)

    @cached_property
    def tokenizer(self) -> Any:
        return tokenizer(self.model)

    @cached_property
    def engine(self) -> Engine:
        from transformers import AutoModelForCausalLM

        from .engine import Engine

        how: dict[str, Any] = {"dtype": self.dtype, "attn_implementation": "sdpa"}
        network = weights(self.model, AutoModelForCausalLM, **how).to(self.device)
        return Engine(network, self.tokenizer, identity(self.model), **self.options)

    def logprobs(self, requests: Requests, **options: Any) -> Answers:
        return self.engine.logprobs(requests, **options)


#: The one model that is held: metrics that follow each other and name the same load it once.
loaded = lru_cache(maxsize=1)(Lazy)
