"""TextCNN (Kim, 2014): filters over word vectors, the strongest answer of each, one layer.

The classifier behind the accuracy of Pang and Gimpel (2019).  A filter begins at words only and
reads zeros beyond the end of a text, so padding a batch changes nothing.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Self

from .. import storage
from .classifiers import FILE, About, Estimates, StyleModel, by_length, words

#: Kim (2014, Section 3.1).
WIDTHS, DROPOUT = (3, 4, 5), 0.5
#: Words that are read; a sentence is much shorter.
WINDOW = 400
_BATCH = 256
PAD, UNKNOWN = 0, 1
_Cut = Callable[[str], Sequence[str]]  # a text to its words


def vocabulary(
    texts: Iterable[str], least: int = 2, most: int = 20_000, cut: _Cut = words
) -> list[str]:
    """The words that occur ``least`` times or more, the most frequent first."""
    counts = Counter(word for text in texts for word in cut(text))
    kept = sorted((word for word, n in counts.items() if n >= least), key=lambda w: (-counts[w], w))
    return kept[:most]


def network(size: int, styles: int, seed: int, vector: int, maps: int) -> Any:
    """The module for ``size`` known words: ids [B, T] and lengths [B] to logits [B, styles]."""
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
    """The strongest answer of each filter [B, F] to vectors [B, T, V] of texts."""
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
    """A TextCNN with its vocabulary, ready to answer."""

    def __init__(self, about: About, model: Any):
        self.about, self.model = about, model.eval()

    def logits(self, texts: Sequence[str], task: int) -> Estimates:
        rows = numbered(texts, self.about.features["vocabulary"])
        styles = len(self.about.tasks[task].styles)
        lengths = [len(row) for row in rows]
        values = by_length(rows, lengths, styles, _BATCH, lambda rows: self.model(*padded(rows)))
        cut = [
            f"{len(row)} words, first {WINDOW} used" if len(row) > WINDOW else "" for row in rows
        ]
        return Estimates(values, cut)

    def write(self, folder: Path) -> None:
        from safetensors.torch import save

        tensors = {name: value.detach() for name, value in self.model.named_parameters()}
        storage.write(folder / FILE, save(tensors, {"about": self.about.text()}))

    @classmethod
    def read(cls, path: Path, about: About) -> Self:
        from safetensors.torch import load_file

        sizes, styles = about.features, len(about.tasks[0].styles)
        model = network(len(sizes["vocabulary"]), styles, 0, sizes["vector"], sizes["maps"])
        model.load_state_dict(load_file(path))
        return cls(about, model)
