"""The networks and losses of Pang and Gimpel (2019, Section 4), after Shen et al. (2017).

B sentences, T places, V words, S states (style and content vectors side by side).  The losses, Eq.
2 to 7 and one of ours (:func:`self_critical`), are sums over words, means over B sentences.  Style
``t`` is 0 or 1, ``read[t]`` are sentences of it, and each loss sums over both: a scalar tensor.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.distributions import Categorical
from torch.nn.functional import cross_entropy, softplus
from torch.nn.utils.rnn import pack_padded_sequence

from tstmeta.models.classifiers import PAD, UNKNOWN, strongest

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
            output, state = self.decoder(fed, state)
            states.append(output)
            logits.append(self.out(output))
            fed = (logits[-1] / self.temperature).softmax(2) @ self.words.weight
        return Unfolded(torch.cat(states, 1), read.lengths + 1, torch.cat(logits, 1))

    @torch.no_grad()
    def transfer(
        self, read: Sentences, source: int, target: int, places: int, draw: bool = False
    ) -> Sentences:
        """The likeliest word at each place, or one drawn, up to the end mark; at least one word."""
        state, ids = self.begin(target, self.encode(read, source)), [read.fed()[:, :1]]
        for place in range(places):
            output, state = self.decoder(self.words(ids[-1]), state)
            logits = self.out(output)
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


# ------------------------------------------------------------------------------------ losses

#: The weight of the gradient penalty, as printed.
XI = 10.0
#: What a decoder does for both styles.
Pair = Sequence[Unfolded]
#: What written sentences are worth beside those that were read [B].
Reward = Callable[[Sentences, Sentences], torch.Tensor]


def unlikelihood(logits: torch.Tensor, written: Sentences) -> torch.Tensor:
    """-log p of sentences and their end marks under logits [B, T + 1, V], the mean over B."""
    flat, targets = logits.flatten(0, 1), written.targets().flatten()
    return cross_entropy(flat, targets, ignore_index=PAD, reduction="sum") / len(logits)


def reconstruction(followed: Pair, read: Sequence[Sentences]) -> torch.Tensor:
    """Eq. 2, of what :meth:`.Generator.follow` gives from y_t and E(x_t, y_t)."""
    return torch.stack([unlikelihood(followed[t].logits, read[t]) for t in (0, 1)]).sum()


def adversarial(judges: Any, followed: Pair, transferred: Pair) -> torch.Tensor:
    """Eq. 3, L_adv,0 + L_adv,1: the discriminators go down it, the generator up.

    ``transferred[t]`` unfolds from (y_{1-t}, z_t): judge t tells h_t from h~_{1-t}.
    """
    sides = zip(judges, followed, reversed(transferred), strict=True)
    # -log D = softplus(-logit), -log(1 - D) = softplus(logit)
    losses = [
        softplus(-judge(*real[:2])).mean() + softplus(judge(*other[:2])).mean()
        for judge, real, other in sides
    ]
    return torch.stack(losses).sum()


def cyclic(generator: Generator, read: Sequence[Sentences], longest: int) -> torch.Tensor:
    """Eq. 4: back from the likeliest transferred words, through which no gradient goes."""
    losses = []
    for t in (0, 1):
        away = generator.transfer(read[t], t, 1 - t, longest)
        back = generator.follow(read[t], t, generator.encode(away, 1 - t))
        losses.append(unlikelihood(back.logits, read[t]))
    return torch.stack(losses).sum()


def paraphrase(
    generator: Generator, us: Sequence[Sentences], vs: Sequence[Sentences]
) -> torch.Tensor:
    """Eq. 5: of pairs (u, v) of style t, v from y_t and E(u, y_t)."""
    both = [generator.follow(vs[t], t, generator.encode(us[t], t)) for t in (0, 1)]
    return reconstruction(both, vs)


def language(models: Any, transferred: Pair) -> torch.Tensor:
    """Eq. 6: cross-entropy of the decoder's words under the language model of style 1 - t.

    Up to the first end mark that is decoded, and not beyond ``lengths``.
    """
    losses = []
    for t, (_, lengths, logits) in enumerate(transferred):
        with torch.no_grad():
            fed = nn.functional.pad(logits.argmax(2)[:, :-1], (1, 0), value=BEGIN)
            expected = models[1 - t](fed).softmax(2)
            places = torch.arange(fed.shape[1], device=fed.device) < lengths[:, None]
            places &= (fed == END).cumsum(1) == 0
        crossed = -(expected * logits.log_softmax(2)).sum(2)  # CE(l, g) [B, T]
        losses.append((crossed * places).sum() / len(fed))
    return torch.stack(losses).sum()


def wasserstein(judges: Any, followed: Pair, transferred: Pair) -> torch.Tensor:
    """Eq. 7 without the penalty: judge t values h~_t against h_t, of the same sentences."""
    sides = zip(judges, followed, transferred, strict=True)
    return torch.stack([(j(*other[:2]) - j(*real[:2])).mean() for j, real, other in sides]).sum()


def gradient_penalty(
    judges: Any, followed: Pair, transferred: Pair, shares: Sequence[torch.Tensor]
) -> torch.Tensor:
    """The rest of Eq. 7, without xi: (norm of the gradient - 1)^2 between h_t and h~_t.

    ``shares[t]`` [B] in [0, 1] say how near h_t each sentence is.
    """
    penalties = []
    for judge, real, other, share in zip(judges, followed, transferred, shares, strict=True):
        between = torch.lerp(other.states, real.states, share[:, None, None])
        between = between.detach().requires_grad_()
        values = judge(between, real.lengths).sum()  # sentences do not touch each other
        (slope,) = torch.autograd.grad(values, between, create_graph=True)
        penalties.append(((slope.flatten(1).norm(dim=1) - 1) ** 2).mean())
    return torch.stack(penalties).sum()


def self_critical(
    generator: Generator, read: Sequence[Sentences], longest: int, reward: Reward
) -> torch.Tensor:
    """Drawn transfers as far as they are worth more than the likeliest ones (Rennie et al., 2017).

    -max(0, r(drawn) - r(likeliest)) log p(drawn).  In print draws that are worth less are made
    rarer, too; nearly all of a small model are, and it then forgets how to write.
    """
    losses = []
    for t in (0, 1):
        drawn, likeliest = (
            generator.transfer(read[t], t, 1 - t, longest, d) for d in (True, False)
        )
        gain = (reward(read[t], drawn) - reward(read[t], likeliest)).clamp(min=0)
        logits = generator.follow(drawn, 1 - t, generator.encode(read[t], t)).logits.transpose(1, 2)
        words = cross_entropy(logits, drawn.targets(), ignore_index=PAD, reduction="none")
        losses.append(words.sum(1) @ gain / len(gain))
    return torch.stack(losses).sum()
