"""Models that know styles: how probable each style of a text is.

A linear model, over hashed n-grams or a sentence's vector, or a TextCNN is a file
``style.safetensors``; any sequence classifier of transformers is a model, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import TypeAdapter

from ..extras import lacking
from ..schema import TstmetaError
from ..secrecy import excerpt
from . import encoders, hub, sequence
from .causal import Backbone, MissingModel, catalogue
from .sequence import by_length

FILE = "style.safetensors"
#: Packages whose version can change a value, by kind.
PACKAGES = {
    "linear": ("scikit-learn",),
    "vectors": ("sentence-transformers", "transformers"),
    "textcnn": ("torch",),
    "transformer": ("torch", "transformers"),
}
Kind = Literal["linear", "vectors", "textcnn", "transformer"]
_MODULES = ("safetensors", "sklearn", "torch", "transformers")
#: Models by name.
MODELS = catalogue("style")


class UnknownStyle(TstmetaError):
    """A style that a model was not trained on."""


@dataclass(frozen=True)
class Task:
    """Styles that exclude each other, with other ``wordings``; ``temperature`` divides logits."""

    name: str
    styles: tuple[str, ...]
    wordings: Mapping[str, str] = field(default_factory=dict)
    temperature: float = 1.0


@dataclass(frozen=True)
class About:
    """What a model is; ``features`` says how a text becomes numbers."""

    kind: Kind
    tasks: tuple[Task, ...]
    features: Mapping[str, Any] = field(default_factory=dict)


_ABOUT = TypeAdapter(About)  # it takes long to make


class Estimates(NamedTuple):
    """Logits or probabilities [n, k] of styles, and a note on each cut text."""

    values: np.ndarray
    cut: list[str]


class StyleModel:
    """A loaded model of style; a kind of model defines ``logits``."""

    about: About

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        """Logits [n, k] of the styles of a task."""
        raise NotImplementedError

    def place(self, style: str, wordings: Mapping[str, str] | None = None) -> tuple[int, int]:
        """The task of a style and its place among the task's styles; ``wordings`` go first."""
        if not style:
            raise TstmetaError("no target style; name it in the column style")
        style = (wordings or {}).get(style, style)
        for number, task in enumerate(self.about.tasks):
            name = task.wordings.get(style, style)
            if name in task.styles:
                return number, task.styles.index(name)
        known = list(dict.fromkeys(name for task in self.about.tasks for name in task.styles))
        shown = excerpt(style, 60)
        raise UnknownStyle(
            f"the model knows no style {shown!r}, only {', '.join(known)}. Remedy: name a model "
            "that does, train one (tstmeta train style CORPUS --out DIR), or say which of these it "
            f"is: a word such as {known[0]}={shown}"
        )

    def probabilities(self, texts: Sequence[str], task: int) -> Estimates:
        """Calibrated probabilities [n, k] of the styles of a task; rows sum to 1."""
        from scipy.special import softmax

        if len(self.about.tasks[task].styles) < 2:
            raise MissingModel("the model has one label and tells no styles apart; name another")
        values, cut = self.logits(texts, task)
        return Estimates(softmax(values / self.about.tasks[task].temperature, axis=1), cut)


def words(text: str) -> list[str]:
    """Words with their marks and joiners, and punctuation, which is style; in lower case."""
    import regex

    return regex.findall(r"[\p{L}\p{N}_][\p{L}\p{N}\p{M}_'’\u200c\u200d]*|[^\s]", text.lower())


def features(texts: Sequence[str], bits: int) -> Any:
    """A sparse matrix [n, 2**bits] in float64; each half of a row has length 1."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import HashingVectorizer

    common = {"n_features": 2 ** (bits - 1), "norm": "l2", "alternate_sign": True}
    word = HashingVectorizer(tokenizer=words, token_pattern=None, ngram_range=(1, 2), **common)
    character = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), **common)
    return hstack([word.transform(texts), character.transform(texts)]).tocsr()


def vectors(texts: Sequence[str]) -> Estimates:
    """The encoder's sentence vectors [n, d] in float64, of length 1."""
    encoder = encoders.load(encoders.MINILM)
    rows, window = encoder.sentences(texts), encoder.sentence_window
    cut = [f"{n} tokens, first {window} used" if n > window else "" for _, n in rows]
    return Estimates(np.array([row.vector for row in rows], dtype=float), cut)


def encoder_identity() -> str:
    """The encoder behind :func:`vectors`, its weights and pooling."""
    return f"{hub.identity(encoders.MINILM)} {encoders.pooling(encoders.MINILM)}"


class Linear(StyleModel):
    """A linear model; ``weights`` has [k, d] a task (k = 1 for two styles), ``bias`` [k]."""

    def __init__(self, about: About, weights: Sequence[np.ndarray], bias: Sequence[np.ndarray]):
        self.about, self.weights, self.bias = about, weights, bias

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        if self.about.kind == "vectors":
            table, cut = vectors(texts)
        else:
            table, cut = features(texts, int(self.about.features["bits"])), [""] * len(texts)
        values = table @ self.weights[task].astype(float).T + self.bias[task]
        if values.shape[1] == 1:  # one number tells two styles apart
            values = np.concatenate([np.zeros_like(values), values], axis=1)
        return Estimates(values, cut)

    @classmethod
    def read(cls, path: Path, about: About) -> Self:
        from safetensors.numpy import load_file

        if about.kind == "vectors" and about.features["encoder"] != encoder_identity():
            raise MissingModel(f"{path} was trained on vectors of another encoder; train it anew")
        tensors, tasks = load_file(path), range(len(about.tasks))
        weights = [tensors[f"weight/{number}"] for number in tasks]
        return cls(about, weights, [tensors[f"bias/{number}"] for number in tasks])


# ------------------------------------------------------------------------------- TextCNN

#: Kim (2014, Section 3.1).
WIDTHS, DROPOUT = (3, 4, 5), 0.5
#: Words that are read; a sentence is much shorter.
WINDOW = 400
_BATCH = 256
PAD, UNKNOWN = 0, 1
_Cut = Callable[[str], Sequence[str]]  # a text to its words


def text_cnn(size: int, styles: int, seed: int, vector: int, maps: int) -> Any:
    """The network of Kim (2014) for ``size`` words: ids [B, T], lengths [B] to logits [B, k]."""
    import torch
    from torch import nn

    class TextCNN(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors = nn.Embedding(size + 2, vector, padding_idx=PAD)
            self.filters = nn.ModuleList(nn.Conv1d(vector, maps, width) for width in WIDTHS)
            self.dropout = nn.Dropout(DROPOUT)
            self.out = nn.Linear(maps * len(WIDTHS), styles)

        def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            answers = strongest(self.filters, self.vectors(ids), lengths)
            return self.out(self.dropout(answers))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TextCNN()


def strongest(filters: Any, vectors: Any, lengths: Any) -> Any:
    """The strongest answer of each filter [B, F] to vectors [B, T, V] of texts.

    A filter begins at words only and reads zeros beyond the end: padding changes nothing.
    """
    import torch

    places, widest = vectors.shape[1], max(layer.kernel_size[0] for layer in filters)
    begins = torch.arange(places, device=vectors.device) < lengths[:, None]  # [B, T]
    seen = (vectors * begins[:, :, None]).transpose(1, 2)
    seen = torch.nn.functional.pad(seen, (0, widest - 1))
    # relu leaves nothing below 0, so a place that may not win is one of 0
    answers = [torch.relu(layer(seen)[:, :, :places]) * begins[:, None] for layer in filters]
    return torch.cat([answer.amax(2) for answer in answers], 1)


def numbered(texts: Iterable[str], known: Sequence[str], cut: _Cut = words) -> list[list[int]]:
    """The numbers of each text's words, of all of them; at least one."""
    numbers = {word: number for number, word in enumerate(known, UNKNOWN + 1)}
    return [[numbers.get(word, UNKNOWN) for word in cut(text)] or [UNKNOWN] for text in texts]


def padded(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Ids [B, T] and lengths [B] as tensors, the first :data:`WINDOW` words of each row."""
    import torch

    cut = [torch.tensor(row[:WINDOW]) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(cut, batch_first=True, padding_value=PAD)
    return ids, torch.tensor([len(row) for row in cut])


class TextCnn(StyleModel):
    """A TextCNN with its vocabulary: the classifier behind Acc of Pang and Gimpel (2019)."""

    def __init__(self, about: About, model: Any):
        self.about, self.model = about, model.eval()

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        rows = numbered(texts, self.about.features["vocabulary"])
        styles = len(self.about.tasks[task].styles)
        lengths = [len(row) for row in rows]
        values = by_length(rows, lengths, styles, _BATCH, lambda rows: self.model(*padded(rows)))
        cut = [f"{n} words, first {WINDOW} used" if n > WINDOW else "" for n in lengths]
        return Estimates(values, cut)

    @classmethod
    def read(cls, path: Path, about: About) -> Self:
        from safetensors.torch import load_file

        sizes, styles = about.features, len(about.tasks[0].styles)
        model = text_cnn(len(sizes["vocabulary"]), styles, 0, sizes["vector"], sizes["maps"])
        model.load_state_dict(load_file(path))
        return cls(about, model)


# ------------------------------------------------------------------------------- transformers

#: Where ``config.json`` keeps what we know of a model: its task and temperature.
KEY = "tstmeta_task"
_TRANSFORMER_BATCH = 64


class Transformer(StyleModel):
    """A sequence classifier of transformers, ready to answer in single precision."""

    def __init__(self, about: About, model: Any, tokenizer: Any):
        self.about, self.model, self.tokenizer = about, model.eval(), tokenizer
        self.window = sequence.longest(model.config, tokenizer)

    @classmethod
    def read(cls, model: Backbone) -> Self:
        """The model of a hub or a folder."""
        from transformers import AutoModelForSequenceClassification

        network = hub.weights(model, AutoModelForSequenceClassification, dtype="float32")
        config = network.config
        if facts := getattr(config, KEY, None):  # what we wrote, else the labels as they are called
            task = TypeAdapter(Task).validate_python(facts)
        else:
            labels = (str(name) for _, name in sorted(config.id2label.items()))
            task = Task(model.where, tuple(labels))
        about = About("transformer", (task,))
        return cls(about, network.to(hub.device_of()), hub.tokenizer(model))

    def judge(self, *sides: Sequence[str]) -> tuple[np.ndarray, list[int]]:
        """Logits [n, k] of n texts, or pairs in two lists, and their tokens before the cut."""
        rows, tokens = sequence.encode(self.tokenizer, *sides, window=self.window)

        def answer(batch: list[dict[str, list[int]]]) -> Any:
            return self.model(**sequence.padded(self.tokenizer, batch, self.model.device)).logits

        lengths = [len(row["input_ids"]) for row in rows]
        width = self.model.config.num_labels
        return by_length(rows, lengths, width, _TRANSFORMER_BATCH, answer), tokens

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        values, tokens = self.judge(texts)
        cut = [f"{n} tokens, first {self.window} used" if n > self.window else "" for n in tokens]
        return Estimates(values, cut)


# --------------------------------------------------------------------------------- files


def ours(model: Backbone) -> Path | None:
    """The file of a model of ours; None where the model is one of transformers."""
    path = model.folder / FILE
    return path if path.is_file() else None


def missing(model: Backbone) -> str:
    """What to do when a model cannot be used here; empty when it can."""
    path = ours(model)
    if path is None:
        return hub.absent(model)
    if absent := lacking(*_MODULES):
        return absent
    try:
        kind = read_about(path).kind
        return encoders.missing(encoders.MINILM) if kind == "vectors" else ""
    except MissingModel as error:
        return str(error)


def packages(model: Backbone) -> tuple[str, ...]:
    """The installed packages whose version can change a value of the model."""
    path = ours(model)
    if path is None:
        return () if lacking(*_MODULES) else PACKAGES["transformer"]
    return () if missing(model) else PACKAGES[read_about(path).kind]


def read_about(path: Path) -> About:
    """Read the header of a ``style.safetensors``; MissingModel where it has none of ours."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "np") as file:
            return _ABOUT.validate_json(file.metadata()["about"])
    except (SafetensorError, KeyError, TypeError, ValueError, OSError) as error:
        raise MissingModel(
            f"{path} is no model of tstmeta ({type(error).__name__}: {error}); "
            "train it anew: tstmeta train style CORPUS --out DIR"
        ) from error


def load(model: Backbone) -> StyleModel:
    """Load a model of style; the last two stay in memory."""
    if words := missing(model):
        raise MissingModel(words)
    return _load(model, hub.identity(model))


@lru_cache(maxsize=2)
def _load(model: Backbone, identity: str) -> StyleModel:
    path = ours(model)
    if path is None:
        return Transformer.read(model)
    about = read_about(path)
    return (TextCnn if about.kind == "textcnn" else Linear).read(path, about)
