"""TextCNN (Kim, 2014): filters over word vectors, the strongest answer of each, one layer.

The classifier behind the accuracy of Pang and Gimpel (2019).  Word vectors are learnt, too.
A filter begins at words only and reads zeros beyond the end of a text, so padding a batch changes
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from .. import storage
from .classifiers import FILE, About, Estimates, by_length
from .linear import words

#: Kim (2014, Section 3.1): widths of the filters, filters of a width, dropout.
WIDTHS, MAPS, DROPOUT = (3, 4, 5), 100, 0.5
#: Size of a word vector.
VECTOR = 128
#: Words that are read; a sentence is much shorter.
WINDOW = 400
_BATCH = 256
_PAD, _UNKNOWN = 0, 1


def vocabulary(texts: Iterable[str], least: int = 2, most: int = 20_000) -> list[str]:
    """The words that occur ``least`` times or more, the most frequent first."""
    counts = Counter(word for text in texts for word in words(text))
    kept = sorted((word for word, n in counts.items() if n >= least), key=lambda w: (-counts[w], w))
    return kept[:most]


def network(size: int, styles: int, seed: int, vector: int = VECTOR, maps: int = MAPS) -> Any:
    """The module: ids [B, T] and lengths [B] to logits [B, styles]; random weights by ``seed``.

    Args:
        size: words of the vocabulary, without those for padding and unknown words.
    """
    import torch
    from torch import nn

    class TextCNN(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.vectors = nn.Embedding(size + 2, vector, padding_idx=_PAD)
            self.filters = nn.ModuleList(nn.Conv1d(vector, maps, width) for width in WIDTHS)
            self.dropout = nn.Dropout(DROPOUT)
            self.out = nn.Linear(maps * len(WIDTHS), styles)

        def forward(self, ids: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
            seen = self.vectors(ids).transpose(1, 2)  # [B, vector, T]
            reach = max(WIDTHS) - 1
            seen = nn.functional.pad(seen, (0, reach))
            begins = torch.arange(ids.shape[1])[None, :] < lengths[:, None]  # [B, T]
            strongest = []
            for layer in self.filters:
                answers = torch.relu(layer(seen)[:, :, : ids.shape[1]])  # [B, maps, T]
                # relu leaves nothing below 0, so a place that may not win is one of 0
                strongest.append((answers * begins[:, None]).amax(2))
            return self.out(self.dropout(torch.cat(strongest, 1)))

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return TextCNN()


class Vocabulary:
    """Texts as numbers of words."""

    def __init__(self, known: Sequence[str]):
        self._number = {word: number for number, word in enumerate(known, _UNKNOWN + 1)}

    def ids(self, text: str) -> list[int]:
        """The numbers of a text's words, of all of them; at least one."""
        return [self._number.get(word, _UNKNOWN) for word in words(text)] or [_UNKNOWN]


def padded(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Ids [B, T] and lengths [B] as tensors, the first :data:`WINDOW` words of each row."""
    import torch

    cut = [torch.tensor(row[:WINDOW]) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(cut, batch_first=True, padding_value=_PAD)
    return ids, torch.tensor([len(row) for row in cut])


class TextCnn:
    """A TextCNN with its vocabulary, ready to answer."""

    def __init__(self, about: About, model: Any):
        self.about, self.model = about, model.eval()
        self._vocabulary = Vocabulary(about.features["vocabulary"])

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        """See :class:`~tstmeta.models.classifiers.Backend`."""
        rows = [self._vocabulary.ids(text) for text in texts]
        styles = len(self.about.tasks[task].styles)
        values = by_length(rows, styles, _BATCH, lambda batch: self.model(*padded(batch)))
        cut = [
            f"{len(row)} words, first {WINDOW} used" if len(row) > WINDOW else "" for row in rows
        ]
        return Estimates(values, cut)

    def write(self, folder: Path) -> None:
        """Write ``style.safetensors``."""
        from safetensors.torch import save

        tensors = {name: value.detach() for name, value in self.model.named_parameters()}
        storage.write(folder / FILE, save(tensors, {"about": self.about.text()}))

    @classmethod
    def read(cls, path: Path, about: About) -> TextCnn:
        """The model in a file."""
        from safetensors.torch import load_file

        sizes = about.features
        styles = len(about.tasks[0].styles)
        model = network(len(sizes["vocabulary"]), styles, 0, sizes["vector"], sizes["maps"])
        model.load_state_dict(load_file(path))
        return cls(about, model)
