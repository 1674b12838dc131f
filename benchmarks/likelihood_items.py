"""What the likelihood benchmark scores: real rewrites where they are here, as token ids.

The texts are cut into pieces as a large byte-pair vocabulary would cut them: a word with the space
before it, punctuation, and what goes beyond seven letters apart.  Which number a piece has does not
matter, for the models have random weights.  What matters is kept: how long contexts and rewrites
are, and which beginnings rewrites of a source share.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import measure
import numpy as np
import texts

from tstmeta.data import available, load
from tstmeta.likelihood import instructions
from tstmeta.models.causal import Continuation

#: Rewrites a source.
SHAPES = {"lai": 9, "pauli": 2}
_PIECE = re.compile(r" ?\w{1,7}|[^\w\s]+|\s+")
#: The chat layout of Llama 3, marks as pieces of their own.
_MARK = re.compile(r"(<\|\w+\|>)")
_LAYOUT = (
    "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{system}<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\n{user}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n"
)


class Rewrite(NamedTuple):
    """A source, the style asked for, and a rewrite."""

    source: str
    style: str
    output: str


class Workload(NamedTuple):
    """Requests of one shape: three an item, one under each instruction.

    Attributes:
        name: the shape.
        origin: what the texts are.
        items: number of rewrites.
        requests: ``3 * items``, in item order.
    """

    name: str
    origin: str
    items: int
    requests: list[Continuation]

    @property
    def tokens(self) -> dict[str, float]:
        """Mean length of contexts and of rewrites."""
        return {
            "context_tokens": float(np.mean([len(one.context) for one in self.requests])),
            "output_tokens": float(np.mean([len(one.tokens) for one in self.requests])),
        }


class Pieces:
    """Numbers for pieces of text, given as they come."""

    def __init__(self, vocabulary: int):
        self.vocabulary = vocabulary
        self._numbers: dict[str, int] = {}

    def ids(self, text: str) -> tuple[int, ...]:
        parts = (
            [part] if part.startswith("<|") else _PIECE.findall(part) for part in _MARK.split(text)
        )
        return tuple(self._number(piece) for part in parts for piece in part)

    def _number(self, piece: str) -> int:
        # a small vocabulary gives a number to several pieces: harmless, weights are random
        return self._numbers.setdefault(piece, len(self._numbers)) % self.vocabulary


def workload(name: str, items: int, vocabulary: int) -> Workload:
    """About ``items`` rewrites of one shape, all rewrites of some sources, at least one source."""
    sources = max(1, items // SHAPES[name])
    here = available(name) and load(name).has_texts
    rewrites, origin = _real(name, sources) if here else _made(name, sources)
    pieces = Pieces(vocabulary)
    asked = instructions.get("paper")
    requests = []
    for one in rewrites:
        output = pieces.ids(one.output)
        for user in asked.fill(one.source, one.style):
            prompt = _LAYOUT.replace("{system}", asked.system).replace("{user}", user)
            requests.append(Continuation(pieces.ids(prompt), output))
    return Workload(name, origin, len(rewrites), requests)


def _real(name: str, sources: int) -> tuple[list[Rewrite], str]:
    """The rewrites of sources drawn from a data set."""
    items = load(name).items
    every = items["source_id"].unique()
    drawn = np.random.default_rng(measure.SEED).permutation(len(every))[:sources]
    kept = items[items["source_id"].isin(every[drawn])]
    return list(map(Rewrite, kept["source"], kept["style"], kept["output"])), "real rewrites"


def _made(name: str, sources: int) -> tuple[list[Rewrite], str]:
    """Random rewrites of the same shape, for machines without the data set."""
    pairs = texts.random_pairs(sources * SHAPES[name], SHAPES[name], measure.SEED)
    return [Rewrite(one.source, "formal", one.output) for one in pairs], "random words"


def describe(found: Workload) -> dict[str, Any]:
    """The columns of a row that say what was scored."""
    return {"metric": f"{found.name}-shaped", "rewrites": found.items}
