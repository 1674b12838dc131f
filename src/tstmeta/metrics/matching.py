"""Greedy matching of tokens by the cosine of their vectors, many pairs of texts at once.

The heart of BERTScore (Zhang et al., 2020, Section 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..models.encoders import TokenVectors

#: Numbers of a padded batch: 16 MiB a side.
_BATCH = 2**22


class Matched(NamedTuple):
    """Precision, recall and their harmonic mean, in [-1, 1]; NaN where no token has a weight."""

    p: float
    r: float
    f1: float


def greedy(
    given: Sequence[TokenVectors], made: Sequence[TokenVectors], weights: np.ndarray
) -> list[Matched]:
    """How well the tokens of each made text and of the text it is compared with match.

    Zhang et al. (2020), Section 3: precision is the mean, over the made text's tokens, of the
    largest cosine with a token of the given text; recall the same the other way round.

    Args:
        given, made: the two texts of each pair, as the same encoder has them.
        weights: of each token of the vocabulary, >= 0; means are weighted by them.
    """
    found: list[Matched] = [Matched(math.nan, math.nan, math.nan)] * len(given)
    for batch in _batches(given, made):
        ours, theirs = ([texts[place] for place in batch] for texts in (made, given))
        for place, one in zip(batch, _matched(ours, theirs, weights), strict=True):
            found[place] = one
    return found


def _batches(given: Sequence[TokenVectors], made: Sequence[TokenVectors]) -> Iterator[list[int]]:
    """Places of pairs of similar length, so that little is padded."""
    lengths = [max(len(a.ids), len(b.ids)) for a, b in zip(given, made, strict=True)]
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    while order:
        longest = lengths[order[0]]
        width = max(longest, int(given[order[0]].vectors.shape[-1]))
        size = max(1, _BATCH // max(1, longest * width))
        yield order[:size]
        order = order[size:]


def _matched(
    made: list[TokenVectors], given: list[TokenVectors], weights: np.ndarray
) -> Iterator[Matched]:
    import torch

    with torch.inference_mode():
        out, out_weights = _padded(made, weights)  # [pairs, m, d], [pairs, m]
        ref, ref_weights = _padded(given, weights)  # [pairs, n, d], [pairs, n]
        cosines = torch.bmm(out, ref.transpose(1, 2))  # [pairs, m, n]
        # padding must lose against every token, whatever its cosine
        low = torch.tensor(-2.0, device=cosines.device)
        of_out = torch.where(_there(given, ref)[:, None, :], cosines, low).amax(2)
        of_ref = torch.where(_there(made, out)[:, :, None], cosines, low).amax(1)
        p = (of_out * out_weights).sum(1) / out_weights.sum(1)
        r = (of_ref * ref_weights).sum(1) / ref_weights.sum(1)
        both = torch.stack([p, r], 1).cpu().double().tolist()
    for precision, recall in both:
        total = precision + recall
        # as the library has it: where the two cancel out there is no mean, and 0 is said
        yield Matched(precision, recall, 2 * precision * recall / total if total else 0.0)


def _padded(texts: list[TokenVectors], weights: np.ndarray) -> tuple[Any, Any]:
    """Unit vectors [texts, longest, d] and weights [texts, longest], both 0 in the padding."""
    import torch
    from torch.nn.utils.rnn import pad_sequence

    vectors = pad_sequence([text.vectors for text in texts], batch_first=True)
    vectors = torch.nn.functional.normalize(vectors, dim=-1)
    heavy = np.zeros(vectors.shape[:2], dtype=np.float32)
    for row, text in enumerate(texts):
        heavy[row, : len(text.ids)] = weights[text.ids]
    return vectors, torch.from_numpy(heavy).to(vectors.device)


def _there(texts: list[TokenVectors], padded: Any) -> Any:
    """Which places hold a token, boolean [texts, longest]."""
    import torch

    lengths = torch.tensor([len(text.ids) for text in texts], device=padded.device)
    return torch.arange(padded.shape[1], device=padded.device)[None, :] < lengths[:, None]
