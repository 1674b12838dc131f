"""Models from a hub or a folder, ready to answer.

Device, dtype and attention are explicit and stand in the identity, for each changes a value.  Only
safetensors are read and no code that comes with a model is run.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..schema import TstmetaError
from .causal import EMBEDDED, Answer, Backbone, Continuation, MissingModel, backbone, described

if TYPE_CHECKING:
    from .engine import Engine

#: What the identity of a local model is made of: everything that can change a value.
_CONTENT = ("*.safetensors", "config.json", "generation_config.json", "tokenizer*", "*.jinja")


#: What must be empty in transformers' report of a loaded model.
_WRONG = ("missing_keys", "mismatched_keys", "error_msgs")
#: Number types that are known to give sound log-probabilities.
DTYPES = ("float32", "bfloat16", "float16")
#: What is fetched of a repository: words first, weights when they are needed.
_WORDS = ["*.json", "*.jinja", "*.txt", "*.model"]
_WEIGHTS = ["*.safetensors"]
#: Where a tokenizer has its tokens; one of these.
_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")


def device_of(wanted: str = "auto") -> str:
    """``cuda`` where there is one and ``auto`` is asked for, else ``cpu``.

    Raises:
        TstmetaError: no such device, or none on this machine.
    """
    import torch

    if wanted == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=wanted)
    except (RuntimeError, AssertionError) as error:
        first = str(error).splitlines()[0]
        raise TstmetaError(f"device {wanted!r} cannot be used here: {first}") from error
    return wanted


def dtype_of(wanted: str = "auto", device: str = "cpu") -> str:
    """``auto`` is bfloat16 on CUDA and float32 elsewhere."""
    if wanted == "auto":
        return "bfloat16" if device.startswith("cuda") else "float32"
    if wanted not in DTYPES:
        raise TstmetaError(f"dtype is {wanted!r}; use auto, {', '.join(DTYPES)}")
    return wanted


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
    stats = [file.stat() for file in names]
    return _hashed(tuple((f, s.st_size, s.st_mtime_ns) for f, s in zip(names, stats, strict=True)))


@lru_cache(maxsize=8)
def _hashed(files: tuple[tuple[Path, int, int], ...]) -> str:
    """Of files with their sizes and times of change: a model that is trained anew is another."""
    whole = hashlib.sha256()
    for file, _, _ in files:
        with open(file, "rb") as stream:
            part = hashlib.file_digest(stream, "sha256")
        whole.update(file.name.encode() + part.digest())
    return whole.hexdigest()[:12]


def identity(model: Backbone) -> str:
    """What a model is: ``embedded@hash``, ``folder-name@hash`` or ``hub/id@revision``.

    A model that is named without a revision has the one that was fetched, once it is here.
    """
    if model.local:
        folder = Path(model.where).expanduser()
        name = model.name if folder == EMBEDDED else folder.resolve().name
        return f"{name}@{fingerprint(folder)}"
    fetched = None if model.revision else _snapshot(model)
    return f"{model.where}@{model.revision or (fetched.name if fetched else 'main')}"


def here(model: Backbone) -> bool:
    """Whether the whole model can be loaded without a network."""
    if not (find_spec("torch") and find_spec("transformers")):
        return False
    folder = Path(model.where).expanduser() if model.local else _snapshot(model)
    return folder is not None and _complete(folder)


def _snapshot(model: Backbone) -> Path | None:
    """The folder in the hub's cache that holds what was fetched of a model."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(model.where, "config.json", revision=model.revision or None)
    return Path(found).parent if isinstance(found, str) else None


def _complete(folder: Path) -> bool:
    """Whether a folder has a tokenizer and all files of the weights; a fetch may have stopped."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        names = _shards(index)
        weights = bool(names) and all((folder / name).is_file() for name in names)
    else:
        weights = any(folder.glob("*.safetensors"))
    return weights and _spelt(folder)


def _shards(index: Path) -> set[str]:
    """The files that an index names; none where it cannot be read."""
    try:
        return set(map(str, json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _spelt(folder: Path) -> bool:
    """Whether a folder has a tokenizer."""
    return any((folder / name).is_file() for name in _TOKENIZERS)


def remedy(model: Backbone) -> str:
    """What to do when a model is not here."""
    if not (find_spec("torch") and find_spec("transformers")):
        return "pip install 'tstmeta[likelihood]'"
    if Path(model.where) == EMBEDDED:
        return "install the package anew, or train the model: tstmeta train backbone"
    if model.local:
        return "the folder needs config.json, the tokenizer's files and *.safetensors"
    access = "ask for access on its page at the hub, log in (hf auth login), then " * model.gated
    revision = f" --revision {model.revision}" if model.revision else ""
    return f"{access}hf download {model.where}{revision}; or name a local folder that holds it"


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

    @property
    def identity(self) -> str:
        return described(identity(self.model), self.dtype, self.attention, self.rounded)

    @cached_property
    def _config(self) -> Any:
        from transformers import AutoConfig

        return self._from(AutoConfig).get_text_config(decoder=True)

    @property
    def window(self) -> int:
        return window_of(self._config)

    @property
    def vocabulary(self) -> int:
        return int(self._config.vocab_size)

    @cached_property
    def tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        if self.model.local and not _spelt(Path(self.model.where).expanduser()):
            # transformers would make up an empty one of the model's kind
            raise self._missing(f"no tokenizer ({', '.join(_TOKENIZERS)})")
        return self._from(AutoTokenizer)

    @cached_property
    def engine(self) -> Engine:
        """The model itself."""
        import torch
        from transformers import AutoModelForCausalLM
        from transformers.utils import logging

        from .engine import Engine

        if not sys.stderr.isatty():  # bars are for people
            logging.disable_progress_bar()
        network, report = self._from(
            AutoModelForCausalLM,
            dtype=getattr(torch, self.dtype),
            attn_implementation=self.attention,
            use_safetensors=True,
            output_loading_info=True,
        )
        # what is missing would be filled with random numbers
        wrong = [f"{kind.replace('_', ' ')}: {report[kind]}" for kind in _WRONG if report.get(kind)]
        if wrong:
            raise self._missing("; ".join(wrong))
        options = {"rounded": self.rounded, **self.options}
        return Engine(network.to(self.device), self.tokenizer, identity(self.model), **options)

    def logprobs(
        self,
        requests: Sequence[Continuation],
        *,
        known: Collection[int] = (),
        progress: bool = False,
    ) -> Iterator[list[Answer]]:
        """See :class:`~tstmeta.models.causal.LanguageModel`."""
        return self.engine.logprobs(requests, known=known, progress=progress)

    def _from(self, kind: Any, **options: Any) -> Any:
        """Whatever ``kind`` reads, from the model's folder; fetched where it is not here."""
        weights = "use_safetensors" in options
        # said, not left out: unsaid, a model that brings code asks on the terminal to have it run
        options |= {"local_files_only": True, "trust_remote_code": False}
        try:
            return kind.from_pretrained(self._folder(weights), **options)
        except Exception as error:  # a hub, a file and a library can fail in many ways
            raise self._missing(f"{type(error).__name__}: {error}") from error

    def _folder(self, weights: bool) -> str:
        if self.model.local:
            return str(Path(self.model.where).expanduser())
        if here(self.model):
            return str(_snapshot(self.model))
        from huggingface_hub import HfApi, snapshot_download

        wanted = _WORDS + (_WEIGHTS if weights else [])
        revision = self.model.revision or None
        # without a network this fails at once; the fetch itself would try for half a minute
        HfApi().model_info(self.model.where, revision=revision, timeout=10)
        return str(snapshot_download(self.model.where, revision=revision, allow_patterns=wanted))

    def _missing(self, reason: str) -> MissingModel:
        said = " ".join(reason.split())
        said = said if len(said) <= 400 else f"{said[:400]} ..."
        access = " (a gated model: ask for access)" if "gated" in said.lower() else ""
        return MissingModel(
            f"cannot load {self.model.where}{access}: {said.rstrip('.')}. "
            f"Remedy: {remedy(self.model)}"
        )


def window_of(config: Any) -> int:
    """Longest text of a model in tokens; without a limit of its own about a million.

    Models with ``longrope`` (Phi-3.5) turn other angles in a text that is longer than their first
    window, so a token's number would depend on what else is in the batch: they end there.
    """
    rope = getattr(config, "rope_parameters", None) or {}
    first = rope.get("rope_type") == "longrope" and (
        rope.get("original_max_position_embeddings")
        or getattr(config, "original_max_position_embeddings", 0)
    )
    return int(first or getattr(config, "max_position_embeddings", 0) or 2**20)
