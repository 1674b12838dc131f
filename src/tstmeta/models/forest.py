"""Requests as trees: every token that several requests share is computed once.

The *trunk* holds the prefixes that many contexts share.  A *row* is a set of branches that grow out
of the trunk; a token sees its ancestors and nothing else, and its position is its depth.  Here are
integers only; :mod:`~tstmeta.models.engine` brings the model.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .causal import Continuation

#: A request with its place among all requests.
Placed = tuple[int, Continuation]


class Trie:
    """A prefix tree of tokens that may grow out of another one.

    Nodes are numbered in the order they are added, after those of ``base``; -1 is the root.
    """

    def __init__(self, base: "Trie | None" = None):
        self.base = base
        self.offset = len(base) if base else 0
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self._children: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return self.offset + len(self.tokens)

    def walk(self, path: Sequence[int], node: int = -1, depth: int = 0) -> list[int]:
        """The nodes along a path that starts below ``node``; missing ones are added."""
        below = self.base._children if self.base else {}
        nodes = []
        for place, token in enumerate(path, depth):
            step = (node, token)
            child = below.get(step, self._children.get(step))
            if child is None:
                child = self._children[step] = len(self)
                self.tokens.append(token)
                self.parents.append(node)
                self.depths.append(place)
            node = child
            nodes.append(node)
        return nodes

    def sees(self, trunk: np.ndarray | None = None) -> np.ndarray:
        """Which node attends to which, bool [own nodes, all]; ``trunk``: what the base's see."""
        mask = np.zeros((len(self.tokens), len(self)), dtype=bool)
        for i, parent in enumerate(self.parents):
            if parent >= self.offset:
                mask[i] = mask[parent - self.offset]
            elif parent >= 0 and trunk is not None:
                mask[i, : self.offset] = trunk[parent]
            mask[i, self.offset + i] = True
        return mask


class Branches(NamedTuple):
    """A row; ``members``: the requests' places, and the nodes that foresee their tokens."""

    trie: Trie
    members: list[tuple[int, list[int]]]

    @property
    def size(self) -> int:
        """Tokens to compute."""
        return len(self.trie.tokens)


class Forest(NamedTuple):
    """The trunk, then the rows, longest first."""

    trunk: Trie
    rows: list[Branches]


def plan(
    requests: Sequence[Continuation],
    *,
    reuse: bool = True,
    row_tokens: int = 128,
    split_tokens: int = 2048,
    shared_by: int = 8,
) -> Forest:
    """Lay requests out in rows.

    Args:
        reuse: off = a row a request, nothing shared.
        row_tokens: rows are filled up to this; a longer request has a row of its own.
        split_tokens: the requests of one context are split over rows beyond this.
        shared_by: a prefix of this many different contexts belongs to the trunk.
    """
    trunk = Trie()
    groups: list[list[Placed]] = [[placed] for placed in enumerate(requests)]
    if reuse:
        by_context: dict[tuple[int, ...], list[Placed]] = {}
        for place, request in enumerate(requests):
            by_context.setdefault(request.context, []).append((place, request))
        trunk = _trunk(list(by_context), shared_by)
        pieces = [
            piece for group in by_context.values() for piece in _split(trunk, group, split_tokens)
        ]
        groups = _filled(pieces, row_tokens)
    rows = [_row(trunk, group) for group in groups]
    return Forest(trunk, sorted(rows, key=lambda row: -row.size))


def batches(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Places of rows, longest first, in batches of at most ``budget`` tokens, padding included."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def _row(trunk: Trie, requests: Sequence[Placed]) -> Branches:
    trie, ends = Trie(trunk), dict[tuple[int, ...], int]()
    return Branches(trie, [(place, _plant(trie, ends, request)) for place, request in requests])


def _plant(trie: Trie, ends: dict[tuple[int, ...], int], request: Continuation) -> list[int]:
    """The nodes that foresee a request's tokens; a context is walked once for all of its."""
    context, tokens = request
    if context not in ends:
        ends[context] = trie.walk(context)[-1]
    # the last token is only to be foreseen: nothing comes after it
    return [ends[context], *trie.walk(tokens[:-1], ends[context], len(context))]


def _trunk(contexts: list[tuple[int, ...]], shared_by: int, longest: int = 1024) -> Trie:
    """The prefixes that at least ``shared_by`` different contexts go on from."""
    trunk = Trie()
    level = [(-1, contexts)]
    for depth in range(longest):
        deeper = []
        for node, members in level:
            by_token: dict[int, list[tuple[int, ...]]] = {}
            for context in members:
                if len(context) > depth + 1:  # the last token of a context is never in the trunk
                    by_token.setdefault(context[depth], []).append(context)
            for token, those in by_token.items():
                if len(those) >= shared_by and len(trunk) < longest:
                    deeper.append((trunk.walk([token], node, depth)[0], those))
        level = deeper
    return trunk


def _split(trunk: Trie, group: list[Placed], limit: int) -> Iterator[tuple[int, list[Placed]]]:
    """Requests of one context in pieces, with their nodes: ``limit`` at most if a request may."""
    members: list[Placed] = []
    size, trie, ends = 0, Trie(trunk), dict[tuple[int, ...], int]()
    for placed in group:
        _plant(trie, ends, placed[1])
        if members and len(trie.tokens) > limit:
            yield size, members
            members, trie, ends = [], Trie(trunk), {}
            _plant(trie, ends, placed[1])
        members.append(placed)
        size = len(trie.tokens)
    yield size, members


def _filled(
    pieces: Sequence[tuple[int, list[Placed]]], limit: int, open_rows: int = 64
) -> list[list[Placed]]:
    """Pieces, longest first, each put into the first of the newest open rows that has room."""
    rows: list[tuple[int, list[Placed]]] = []
    for size, members in sorted(pieces, key=lambda piece: -piece[0]):
        for i in range(max(0, len(rows) - open_rows), len(rows)):
            if rows[i][0] + size <= limit:
                rows[i] = (rows[i][0] + size, rows[i][1] + members)
                break
        else:
            rows.append((size, list(members)))
    return [members for _, members in rows]
