"""Encoder, decoder and discriminators (Pang and Gimpel, 2019, Section 4; Shen et al., 2017).

B sentences, T places, V words, S states (style and content vectors side by side).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn.utils.rnn import pack_padded_sequence

from ..models.textcnn import PAD, UNKNOWN, strongest
from .configuration import TransferOptions

#: Words that begin and end a sentence; they stand before all others.
MARKS = ("<s>", "</s>")
BEGIN, END = UNKNOWN + 1, UNKNOWN + 2
#: Of the language models, as printed; widths of the discriminators' filters (Eq. 3 and 7).
DROPOUT = 0.5
#: The temperature at which words are drawn.
DRAWING = 0.5
WIDTHS = {"adversarial": (3, 4, 5), "wasserstein": (1, 2, 3)}


class Sentences(NamedTuple):
    """Word numbers [B, T], padded on the right, and lengths [B]."""

    ids: torch.Tensor
    lengths: torch.Tensor

    def fed(self) -> torch.Tensor:
        """What a decoder reads to write them [B, T + 1]."""
        return nn.functional.pad(self.ids, (1, 0), value=BEGIN)

    def targets(self) -> torch.Tensor:
        """What it then should write [B, T + 1]: the words and the end mark."""
        return nn.functional.pad(self.ids, (0, 1)).scatter(1, self.lengths[:, None], END)


class Unfolded(NamedTuple):
    """A decoder's states [B, T, S], to which place they count [B], and logits [B, T, V]."""

    states: torch.Tensor
    lengths: torch.Tensor
    logits: torch.Tensor


class Generator(nn.Module):
    """Encoder E and decoder G with the style vectors y."""

    def __init__(self, words: int, options: TransferOptions):
        super().__init__()
        size = options.style + options.content
        self.words = nn.Embedding(words, options.word, padding_idx=PAD)
        self.styles = nn.Parameter(torch.randn(2, options.style) * 0.1)
        self.encoder = nn.GRU(options.word, size, batch_first=True)
        self.decoder = nn.GRU(options.word, size, batch_first=True)
        self.out = nn.Linear(size, words)
        self.content, self.temperature = options.content, options.temperature

    def begin(self, style: int, content: torch.Tensor) -> torch.Tensor:
        """The first state [1, B, S]."""
        return torch.cat([self.styles[style].expand(len(content), -1), content], 1)[None]

    def encode(self, read: Sentences, style: int) -> torch.Tensor:
        """Content vectors z = E(x, y) [B, content]."""
        blank = self.styles.new_zeros(len(read.ids), self.content)
        packed = pack_padded_sequence(self.words(read.ids), read.lengths.cpu(), True, False)
        _, last = self.encoder(packed, self.begin(style, blank))
        return last[0][:, -self.content :]

    def follow(self, read: Sentences, style: int, content: torch.Tensor) -> Unfolded:
        """Unfold from (y, z) with the words of sentences fed in."""
        states, _ = self.decoder(self.words(read.fed()), self.begin(style, content))
        return Unfolded(states, read.lengths + 1, self.out(states))

    def unfold(self, read: Sentences, style: int, content: torch.Tensor) -> Unfolded:
        """Unfold from (y, z) with its own previous distributions fed in, as long as ``read``."""
        state, fed = self.begin(style, content), self.words(read.fed()[:, :1])
        states, logits = [], []
        for _ in range(read.ids.shape[1] + 1):
            own, state = self.decoder(fed, state)
            states.append(own)
            logits.append(self.out(own))
            fed = (logits[-1] / self.temperature).softmax(2) @ self.words.weight
        return Unfolded(torch.cat(states, 1), read.lengths + 1, torch.cat(logits, 1))

    @torch.no_grad()
    def transfer(
        self, read: Sentences, source: int, target: int, places: int, draw: bool = False
    ) -> Sentences:
        """The likeliest word at each place, or one drawn, up to the end mark; at least one word."""
        state, ids = self.begin(target, self.encode(read, source)), [read.fed()[:, :1]]
        for place in range(places):
            own, state = self.decoder(self.words(ids[-1]), state)
            logits = self.out(own)
            logits[..., [PAD, UNKNOWN, BEGIN] + [END] * (place == 0)] = -torch.inf
            words = Categorical(logits=logits / DRAWING).sample() if draw else None
            ids.append(logits.argmax(2) if words is None else words)
        written = torch.cat(ids[1:], 1)
        before = (written == END).cumsum(1) == 0
        return Sentences(written.where(before, PAD), before.sum(1))


class Discriminator(nn.Module):
    """A CNN over a decoder's states (Kim, 2014): a logit or a value of each sentence [B]."""

    def __init__(self, states: int, widths: Sequence[int], maps: int):
        super().__init__()
        self.filters = nn.ModuleList(nn.Conv1d(states, maps, width) for width in widths)
        self.out = nn.Linear(maps * len(widths), 1)

    def forward(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return self.out(strongest(self.filters, states, lengths))[:, 0]


class LanguageGru(nn.Module):
    """A language model of a style: word numbers [B, T] to logits of the next words [B, T, V]."""

    def __init__(self, words: int, options: TransferOptions):
        super().__init__()
        size = options.style + options.content
        self.words = nn.Embedding(words, options.word, padding_idx=PAD)
        self.gru = nn.GRU(options.word, size, batch_first=True)
        self.dropout = nn.Dropout(DROPOUT)
        self.out = nn.Linear(size, words)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        states, _ = self.gru(self.dropout(self.words(ids)))
        return self.out(self.dropout(states))


class TransferModel(nn.Module):
    """A generator and, for each of its adversarial losses, two discriminators, one a style."""

    def __init__(self, words: int, losses: Sequence[str], options: TransferOptions):
        super().__init__()
        self.generator = Generator(words, options)
        size = options.style + options.content
        self.discriminators = nn.ModuleDict()
        for loss in sorted(set(WIDTHS) & {"adversarial", *losses}):
            both = [Discriminator(size, WIDTHS[loss], options.maps) for _ in range(2)]
            self.discriminators[loss] = nn.ModuleList(both)
