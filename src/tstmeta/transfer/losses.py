"""The losses of Pang and Gimpel (2019, Eq. 2 to 7): sums over words, means over B sentences.

One more, of ours, rewards what a metric likes (:func:`self_critical`).

Style ``t`` is 0 or 1, and ``read[t]`` are sentences of it.  Each function gives the sum over both
styles, a scalar tensor.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy, softplus

from .network import BEGIN, END, PAD, Generator, Sentences, Unfolded

#: The weight of the gradient penalty, as printed.
XI = 10.0
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
    each = [
        softplus(-judge(*own[:2])).mean() + softplus(judge(*other[:2])).mean()
        for judge, own, other in sides
    ]
    return torch.stack(each).sum()


def cyclic(generator: Generator, read: Sequence[Sentences], longest: int) -> torch.Tensor:
    """Eq. 4: back from the likeliest transferred words, through which no gradient goes."""
    each = []
    for t in (0, 1):
        away = generator.transfer(read[t], t, 1 - t, longest)
        back = generator.follow(read[t], t, generator.encode(away, 1 - t))
        each.append(unlikelihood(back.logits, read[t]))
    return torch.stack(each).sum()


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
    each = []
    for t, (_, lengths, logits) in enumerate(transferred):
        with torch.no_grad():
            fed = nn.functional.pad(logits.argmax(2)[:, :-1], (1, 0), value=BEGIN)
            expected = models[1 - t](fed).softmax(2)
            places = torch.arange(fed.shape[1], device=fed.device) < lengths[:, None]
            places &= (fed == END).cumsum(1) == 0
        crossed = -(expected * logits.log_softmax(2)).sum(2)  # CE(l, g) [B, T]
        each.append((crossed * places).sum() / len(fed))
    return torch.stack(each).sum()


def wasserstein(judges: Any, followed: Pair, transferred: Pair) -> torch.Tensor:
    """Eq. 7 without the penalty: judge t values h~_t against h_t, of the same sentences."""
    sides = zip(judges, followed, transferred, strict=True)
    return torch.stack([(j(*other[:2]) - j(*own[:2])).mean() for j, own, other in sides]).sum()


def gradient_penalty(
    judges: Any, followed: Pair, transferred: Pair, shares: Sequence[torch.Tensor]
) -> torch.Tensor:
    """The rest of Eq. 7, without xi: (norm of the gradient - 1)^2 between h_t and h~_t.

    ``shares[t]`` [B] in [0, 1] say how near h_t each sentence is.
    """
    each = []
    for judge, own, other, share in zip(judges, followed, transferred, shares, strict=True):
        between = torch.lerp(other.states, own.states, share[:, None, None])
        between = between.detach().requires_grad_()
        values = judge(between, own.lengths).sum()  # sentences do not touch each other
        (slope,) = torch.autograd.grad(values, between, create_graph=True)
        each.append(((slope.flatten(1).norm(dim=1) - 1) ** 2).mean())
    return torch.stack(each).sum()


def self_critical(
    generator: Generator, read: Sequence[Sentences], longest: int, reward: Reward
) -> torch.Tensor:
    """Drawn transfers as far as they are worth more than the likeliest ones (Rennie et al., 2017).

    -max(0, r(drawn) - r(likeliest)) log p(drawn).  In print draws that are worth less are made
    rarer, too; nearly all of a small model are, and it then forgets how to write.
    """
    each = []
    for t in (0, 1):
        drawn, likeliest = (
            generator.transfer(read[t], t, 1 - t, longest, d) for d in (True, False)
        )
        gain = (reward(read[t], drawn) - reward(read[t], likeliest)).clamp(min=0)
        logits = generator.follow(drawn, 1 - t, generator.encode(read[t], t)).logits.transpose(1, 2)
        words = cross_entropy(logits, drawn.targets(), ignore_index=PAD, reduction="none")
        each.append(words.sum(1) @ gain / len(gain))
    return torch.stack(each).sum()
