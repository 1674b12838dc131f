"""Requests as trees: every token that several requests share is computed once.

Rewrites of one source share the whole context, contexts share the system prompt and the head of the
instruction.  So requests are laid out as prefix trees.  The *trunk* holds the prefixes that many
contexts share; its keys and values are computed once for all.  A *row* is a set of branches that
grow out of the trunk, written one after the other; a token sees its ancestors and nothing else, and
its position is its depth.  What a model then computes is one token a node.

Here are integers only; :mod:`~tstmeta.models.engine` brings the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .causal import Continuation


class Trie:
    """A prefix tree of tokens that may grow out of another one.

    Nodes are numbered in the order they are made, after those of ``base``; -1 is the root.
    """

    def __init__(self, base: Trie | None = None):
        self.base = base
        self.offset = len(base) if base else 0
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self.depths: list[int] = []
        self._children: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return self.offset + len(self.tokens)

    @property
    def own(self) -> int:
        """Number of nodes without those of the base."""
        return len(self.tokens)

    def walk(self, path: Sequence[int], node: int = -1, depth: int = 0) -> list[int]:
        """The nodes along a path that starts below ``node``; missing ones are made."""
        children = self._children
        below = self.base._children if self.base else {}
        nodes = []
        for token in path:
            step = (node, token)
            found = below.get(step)
            if found is None:
                found = children.get(step)
            if found is None:
                found = children[step] = self.offset + len(self.tokens)
                self.tokens.append(token)
                self.parents.append(node)
                self.depths.append(depth)
            node = found
            depth += 1
            nodes.append(node)
        return nodes

    def sees(self, trunk: np.ndarray | None = None) -> np.ndarray:
        """Which node attends to which: bool [own, offset + own]; a node sees itself.

        ``trunk`` is what the base's nodes see, [offset, offset].
        """
        mask = np.zeros((self.own, len(self)), dtype=bool)
        for i, parent in enumerate(self.parents):
            if parent >= self.offset:
                mask[i] = mask[parent - self.offset]
            elif parent >= 0 and trunk is not None:
                mask[i, : self.offset] = trunk[parent]
            mask[i, self.offset + i] = True
        return mask


class Member(NamedTuple):
    """A request in a row: its place among all requests, and the nodes that foresee its tokens."""

    place: int
    nodes: list[int]


@dataclass
class Row:
    """Branches that are computed together."""

    trie: Trie
    members: list[Member] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Tokens to compute."""
        return self.trie.own


class Plan(NamedTuple):
    """What to compute: the trunk, then the rows, longest first."""

    trunk: Trie
    rows: list[Row]
    #: Tokens that one forward pass a request would compute.
    naive: int

    @property
    def computed(self) -> int:
        """Tokens that the plan computes, without padding."""
        return len(self.trunk) + sum(row.size for row in self.rows)


def plan(
    requests: Sequence[Continuation],
    *,
    reuse: bool = True,
    row_tokens: int = 128,
    split_tokens: int = 2048,
    shared_by: int = 8,
) -> Plan:
    """Lay requests out in rows.

    Args:
        requests: each with a context of at least one token; those without tokens get no row.
        reuse: off = a row a request, nothing shared.
        row_tokens: rows are filled up to this; a longer request has a row of its own.
        split_tokens: the requests of one context are split over rows beyond this.
        shared_by: a prefix of this many different contexts belongs to the trunk.
    """
    asked = [(place, request) for place, request in enumerate(requests) if request.tokens]
    naive = sum(len(one.context) + len(one.tokens) - 1 for _, one in asked)
    trunk = Trie()
    if not reuse:
        rows = [row(trunk, [one]) for one in asked]
        return Plan(trunk, sorted(rows, key=lambda row: -row.size), naive)
    groups: dict[tuple[int, ...], list[tuple[int, Continuation]]] = {}
    for one in asked:
        groups.setdefault(one[1].context, []).append(one)
    trunk = _trunk(list(groups), shared_by)
    pieces = [piece for group in groups.values() for piece in _split(trunk, group, split_tokens)]
    rows = [row(trunk, members) for members in _filled(pieces, row_tokens)]
    return Plan(trunk, sorted(rows, key=lambda row: -row.size), naive)


def batches(rows: Sequence[Row], budget: int) -> Iterator[list[Row]]:
    """Rows in order, together as long as rows x longest row stays within ``budget`` tokens."""
    batch: list[Row] = []
    longest = 0
    for row in rows:
        longest = max(longest, row.size)
        if batch and (len(batch) + 1) * longest > budget:
            yield batch
            batch, longest = [], row.size
        batch.append(row)
    if batch:
        yield batch


def row(trunk: Trie, requests: Sequence[tuple[int, Continuation]]) -> Row:
    """A row of requests, each with its place."""
    made = Row(Trie(trunk))
    ends: dict[tuple[int, ...], int] = {}  # a context is walked once for all that comes after it
    for place, (context, tokens) in requests:
        if context not in ends:
            ends[context] = made.trie.walk(context)[-1]
        # the last token is only to be foreseen: nothing comes after it
        nodes = made.trie.walk(tokens[:-1], ends[context], len(context))
        made.members.append(Member(place, [ends[context], *nodes]))
    return made


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


def _split(
    trunk: Trie, group: list[tuple[int, Continuation]], limit: int
) -> Iterator[tuple[int, list[tuple[int, Continuation]]]]:
    """The requests of one context, in pieces of at most ``limit`` nodes if a request allows it."""
    context = group[0][1].context
    members: list[tuple[int, Continuation]] = []
    size, trie = 0, Trie(trunk)
    end = trie.walk(context)[-1]
    for one in group:
        trie.walk(one[1].tokens[:-1], end, len(context))
        if members and trie.own > limit:
            yield size, members
            members, trie = [], Trie(trunk)
            end = trie.walk(context)[-1]
            trie.walk(one[1].tokens[:-1], end, len(context))
        members.append(one)
        size = trie.own
    yield size, members


def _filled(
    pieces: Sequence[tuple[int, list[tuple[int, Continuation]]]], limit: int, open_rows: int = 64
) -> Iterator[list[tuple[int, Continuation]]]:
    """Pieces, longest first, each put into the first of the newest open rows that has room."""
    rows: list[tuple[int, list[tuple[int, Continuation]]]] = []
    for size, members in sorted(pieces, key=lambda piece: -piece[0]):
        for i in range(max(0, len(rows) - open_rows), len(rows)):
            if rows[i][0] + size <= limit:
                rows[i] = (rows[i][0] + size, rows[i][1] + members)
                break
        else:
            rows.append((size, list(members)))
    return (members for _, members in rows)
