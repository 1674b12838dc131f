"""The losses of Pang and Gimpel (2019, Eq. 2 to 7): sums over words, means over B sentences.

Style ``t`` is 0 or 1; ``read[t]`` are sentences of it.  Each function gives the sum over both
styles, a scalar tensor.
"""

from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.nn.functional import cross_entropy, softplus

from .network import BEGIN, END, PAD, Generator, Sentences, Unfolded

#: The weight of the gradient penalty, as printed.
XI = 10.0
Pair = Sequence[Unfolded]
Judge = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def unlikelihood(logits: torch.Tensor, written: Sentences) -> torch.Tensor:
    """-log p of sentences and their end marks under logits [B, T + 1, V], the mean over B."""
    flat, targets = logits.flatten(0, 1), written.targets().flatten()
    return cross_entropy(flat, targets, ignore_index=PAD, reduction="sum") / len(logits)


def reconstruction(followed: Pair, read: Sequence[Sentences]) -> torch.Tensor:
    """Eq. 2, of what :meth:`.Generator.follow` gives from y_t and E(x_t, y_t)."""
    return torch.stack([unlikelihood(followed[t].logits, read[t]) for t in (0, 1)]).sum()


def adversarial(judges: Sequence[Judge], followed: Pair, transferred: Pair) -> torch.Tensor:
    """Eq. 3, L_adv,0 + L_adv,1: the discriminators go down it, the generator up.

    ``transferred[t]`` unfolds from (y_{1-t}, z_t): judge t tells h_t from h~_{1-t}, whose
    style is t.
    """
    total = followed[0].states.new_zeros(())
    for t, judge in enumerate(judges):
        own, other = followed[t], transferred[1 - t]
        total = total + softplus(-judge(own.states, own.lengths)).mean()  # -log D
        total = total + softplus(judge(other.states, other.lengths)).mean()  # -log(1 - D)
    return total


def cyclic(generator: Generator, read: Sequence[Sentences], longest: int) -> torch.Tensor:
    """Eq. 4: back from the likeliest transferred words, through which no gradient goes."""
    total = generator.styles.new_zeros(())
    for t in (0, 1):
        away = generator.transfer(read[t], t, 1 - t, longest)
        back = generator.follow(read[t], t, generator.encode(away, 1 - t))
        total = total + unlikelihood(back.logits, read[t])
    return total


def paraphrase(
    generator: Generator, us: Sequence[Sentences], vs: Sequence[Sentences]
) -> torch.Tensor:
    """Eq. 5: of pairs (u, v) of style t, v from y_t and E(u, y_t)."""
    total = generator.styles.new_zeros(())
    for t, (u, v) in enumerate(zip(us, vs, strict=True)):
        followed = generator.follow(v, t, generator.encode(u, t))
        total = total + unlikelihood(followed.logits, v)
    return total


def language(models: Sequence[nn.Module], transferred: Pair) -> torch.Tensor:
    """Eq. 6: cross-entropy of the decoder's words under the language model of style 1 - t.

    At each place up to the first end mark that is decoded, and not beyond ``lengths``.
    """
    total = transferred[0].states.new_zeros(())
    for t in (0, 1):
        _, logits, lengths = transferred[t]
        words = logits.argmax(2)
        with torch.no_grad():
            fed = nn.functional.pad(words[:, :-1], (1, 0), value=BEGIN)
            expected = models[1 - t](fed).softmax(2)
            ended = (fed == END).cumsum(1) > 0
            places = torch.arange(fed.shape[1], device=fed.device)[None] < lengths[:, None]
        crossed = -(expected * logits.log_softmax(2)).sum(2)  # CE(l, g) [B, T]
        total = total + (crossed * (places & ~ended)).sum() / len(words)
    return total


def wasserstein(judges: Sequence[Judge], followed: Pair, transferred: Pair) -> torch.Tensor:
    """Eq. 7 without the penalty: judge t values h~_t against h_t, of the same sentences."""
    total = followed[0].states.new_zeros(())
    for judge, own, other in zip(judges, followed, transferred, strict=True):
        values = judge(other.states, other.lengths) - judge(own.states, own.lengths)
        total = total + values.mean()
    return total


def gradient_penalty(
    judges: Sequence[Judge], followed: Pair, transferred: Pair, shares: Sequence[torch.Tensor]
) -> torch.Tensor:
    """The rest of Eq. 7, without xi: (norm of the gradient - 1)^2 between h_t and h~_t.

    ``shares[t]`` [B] in [0, 1] say how near h_t each sentence is.
    """
    total = followed[0].states.new_zeros(())
    for judge, own, other, share in zip(judges, followed, transferred, shares, strict=True):
        weight = share[:, None, None]
        between = (weight * own.states + (1 - weight) * other.states).detach().requires_grad_()
        values = judge(between, own.lengths).sum()  # sentences do not touch each other
        (slope,) = torch.autograd.grad(values, between, create_graph=True)
        total = total + ((slope.flatten(1).norm(dim=1) - 1) ** 2).mean()
    return total
