"""Tiny transfer models and sentences that tests build."""

import torch

from tstmeta.models.textcnn import padded
from tstmeta.transfer import configuration
from tstmeta.transfer.network import Generator, LanguageGru, Sentences, TransferModel

WORDS = 9
SIZES = {"word": 3, "style": 2, "content": 3, "maps": 2, "batch": 3, "temperature": 0.5}
OPTIONS = configuration.read().options.model_copy(update=SIZES)
#: Sentences of both styles by word number: 4 and above are words.
ROWS = [[[4, 5, 6], [7], [8, 4]], [[5], [6, 7, 4, 8], [4, 4]]]
READ = [Sentences(*padded(rows)) for rows in ROWS]


def model(*losses: str) -> TransferModel:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return TransferModel(WORDS, losses, OPTIONS).double()


def readers() -> list[LanguageGru]:
    with torch.random.fork_rng():
        torch.manual_seed(4)
        return [LanguageGru(WORDS, OPTIONS).double().eval() for _ in range(2)]


def passes(generator: Generator):
    """What losses are given: (y_t, z_t) unfolded with x_t, (y_{1-t}, z_t) with its own words."""
    contents = [generator.encode(READ[t], t) for t in (0, 1)]
    followed = [generator.follow(READ[t], t, contents[t]) for t in (0, 1)]
    return followed, [generator.unfold(READ[t], 1 - t, contents[t]) for t in (0, 1)]
