"""Requests as trees: tokens that several requests begin with are computed once a row.

Requests are sorted, so that those with a common beginning are neighbours, and laid out in rows.  A
row is a prefix tree: a token sees its ancestors and nothing else, and its position is its depth.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq

import numpy as np

from .causal import Continuation


@dataclass
class Row:
    """A tree: of each node its token, its depth and its parent, which is -1 for a first token.

    ``members``: the requests' places, and the nodes that foresee their tokens.
    """

    tokens: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    members: list[tuple[int, list[int]]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Tokens to compute."""
        return len(self.tokens)

    def sees(self) -> np.ndarray:
        """Which node attends to which, bool [size, size]."""
        mask = np.eye(self.size, dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                mask[node] |= mask[parent]
        return mask


def plan(
    requests: Sequence[Continuation], *, reuse: bool = True, row_tokens: int = 384
) -> list[Row]:
    """Rows, longest first, filled up to ``row_tokens``; a longer request has a row to itself.

    Without ``reuse`` each request has a row, and nothing is shared.
    """
    # the last token is only to be foreseen: nothing comes after it
    paths = [(*context, *tokens[:-1]) for context, tokens in requests]
    rows: list[Row] = []
    before: tuple[int, ...] = ()
    nodes: list[int] = []  # of the path before
    for place in sorted(range(len(paths)), key=lambda place: paths[place]):
        path = paths[place]
        shared = sum(takewhile(bool, map(eq, before, path)))  # tokens that both begin with
        if not rows or not reuse or rows[-1].size + len(path) - shared > row_tokens:
            rows.append(Row())
            shared = 0
        row = rows[-1]
        nodes = [*nodes[:shared], *range(row.size, row.size + len(path) - shared)]
        row.tokens += path[shared:]
        row.depths += range(shared, len(path))
        row.parents += [nodes[depth - 1] if depth else -1 for depth in range(shared, len(path))]
        row.members.append((place, nodes[len(requests[place].context) - 1 :]))
        before = path
    return sorted(rows, key=lambda row: -row.size)


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of rows, longest first, in batches of at most ``budget`` tokens, padding included."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    while order:
        size = max(1, budget // max(1, lengths[order[0]]))
        yield order[:size]
        del order[:size]
