"""Smatch: how much two graphs have in common, over meaning graphs and over dependency trees.

A graph is a set of triples: labels of nodes, attributes and relations.  Smatch (Cai and Knight,
2013) maps the nodes of one graph to those of the other so that as many triples as possible agree.
The library smatch searches the mapping by climbing from several starts.  It draws the starts from
the process's random numbers, which it seeds by the clock; here they come from a seed of ours, anew
for each pair, so that a score depends on neither the order of pairs nor the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from random import Random
from threading import Lock
from types import SimpleNamespace
from typing import Any

from ..models import parses
from ..models.treebank import Graph, Tree
from ..schema import Signature, Status, TstmetaError
from .base import Score
from .batched import Answer, BatchedMetric, Pair
from .parsed import GRAPHS, LABELS, TREES, Given, cut, failed, labels

#: Random starts after the first one, which maps nodes of equal labels: the library's own default.
RESTARTS = 4
#: Nodes of a graph that are used; the search takes seconds beyond, and grows with the third power.
MAX_NODES = 64

#: Seconds in which an exact mapping must be found.
PATIENCE = 60

_OPTIONS = {"measure": ("f1", "p", "r"), "search": ("climb", "exact")}
#: The library keeps its settings and what it has seen in its module.
_ONE_AT_A_TIME = Lock()


def matched(one: Graph, other: Graph, seed: int = 0, restarts: int = RESTARTS) -> int:
    """Triples that agree under the best mapping found: at most :func:`optimum`, and often less
    where many nodes have the same label, as the function words of a tree have.

    Labels, names and values agree regardless of case.
    """
    if one == other:  # the search might miss the mapping of each node to itself
        return one.triples
    with _settings(seed, restarts) as smatch:
        _, best = smatch.get_best_match(*_named(one, "a"), *_named(other, "b"), "a", "b")
    return int(best)


@contextmanager
def _settings(seed: int, restarts: int) -> Iterator[Any]:
    """The library with its own random numbers, an empty memory and a number of starts."""
    import smatch

    with _ONE_AT_A_TIME:
        kept = smatch.random, smatch.iteration_num
        smatch.random = SimpleNamespace(seed=lambda: None, randint=Random(seed).randint)
        smatch.iteration_num = restarts + 1
        try:
            yield smatch
        finally:
            smatch.random, smatch.iteration_num = kept
            smatch.match_triple_dict.clear()


def _named(graph: Graph, prefix: str) -> tuple[list, list, list]:
    """The three lists of triples that the library takes: labels, attributes, relations."""
    return (
        [("instance", f"{prefix}{node}", label) for node, label in enumerate(graph.labels)],
        [(name, f"{prefix}{node}", value) for name, node, value in graph.attributes],
        [(name, f"{prefix}{a}", f"{prefix}{b}") for name, a, b in graph.relations],
    )


def optimum(one: Graph, other: Graph) -> int:
    """Triples that agree under the best of all mappings, by integer programming.

    The program of Cai and Knight (2013, Section 3), solved by scipy: a variable for each pair of
    nodes, each node in one pair at most, and a variable for each pair of relations, which counts
    where the pairs of their ends do.  It takes longer than the search, and gains exactness.

    Raises:
        TstmetaError: it was not solved in :data:`PATIENCE` seconds.
    """
    import numpy as np
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import coo_array

    gains, joined = _agreements(_plain(one), _plain(other))
    pairs = sorted({*gains, *(pair for ends in joined for pair in ends)})
    if not pairs:
        return 0
    number = {pair: place for place, pair in enumerate(pairs)}
    # rows of the program: a node of one graph, a node of the other, an end of a pair of relations
    rows = [(a, number[a, b], 1) for a, b in pairs]
    rows += [(len(one.labels) + b, number[a, b], 1) for a, b in pairs]
    nodes = len(one.labels) + len(other.labels)
    for place, ends in enumerate(joined):
        for end, pair in enumerate(ends):
            row = nodes + 2 * place + end
            rows += [(row, len(pairs) + place, 1), (row, number[pair], -1)]
    row, column, value = np.array(rows).T
    size = (nodes + 2 * len(joined), len(pairs) + len(joined))
    limit = np.repeat([1, 0], [nodes, 2 * len(joined)])
    solved = milp(
        -np.array([*(gains[pair] for pair in pairs), *[1] * len(joined)]),
        constraints=LinearConstraint(coo_array((value, (row, column)), size).tocsr(), ub=limit),
        integrality=np.ones(size[1]),
        bounds=(0, 1),
        options={"time_limit": PATIENCE},
    )
    if solved.status != 0:
        raise TstmetaError(f"no best mapping in {PATIENCE} seconds: leave out the word exact")
    return round(-solved.fun)


def _agreements(
    one: Graph, other: Graph
) -> tuple[Counter[tuple[int, int]], list[tuple[tuple[int, int], tuple[int, int]]]]:
    """What can agree: labels and attributes for each pair of nodes, and relations by the two pairs
    of nodes that they need."""
    gains = Counter(
        (a, b)
        for (a, label), (b, other_label) in product(enumerate(one.labels), enumerate(other.labels))
        if label == other_label
    )
    gains.update(
        (node, other_node)
        for (name, node, value), (other_name, other_node, other_value) in product(
            one.attributes, other.attributes
        )
        if (name, value) == (other_name, other_value)
    )
    joined = [
        ((a, c), (b, d))
        for (name, a, b), (other_name, c, d) in product(one.relations, other.relations)
        if name == other_name
    ]
    return gains, joined


def _plain(graph: Graph) -> Graph:
    """Labels, names and values as the library compares them."""
    return Graph(
        tuple(_folded(label) for label in graph.labels),
        tuple((_folded(name), node, _folded(value)) for name, node, value in graph.attributes),
        tuple((_folded(name), a, b) for name, a, b in graph.relations),
    )


def _folded(text: str) -> str:
    return text.lower().rstrip("_")


def tree_graph(tree: Tree, by: str = "form") -> Graph:
    """A dependency tree as a graph.

    The rule is ours: a word is a node with its form (or lemma, or part of speech) as label, a
    dependency a relation from the head to the word with the dependency's name, and the root of a
    sentence has the attribute TOP, as in AMR.  A text of n words has 2 n triples.

    Args:
        by: ``form``, ``lemma`` or ``upos``.

    Raises:
        TstmetaError: the parser gave no lemmas or parts of speech.
    """
    words = list(enumerate(tree))
    return Graph(
        tuple(labels(tree, by)),
        tuple(("TOP", place, "top") for place, word in words if not word.head),
        tuple((word.relation, word.head - 1, place) for place, word in words if word.head),
    )


def _scored(graphs: list[Graph], given: Given) -> Score:
    """Precision is the share of the output's triples that agree, recall that of the text's."""
    text, output = graphs
    sizes = (len(text.labels), len(output.labels))
    detail = cut(sizes, MAX_NODES, "nodes")
    text, output = text.first(MAX_NODES), output.first(MAX_NODES)
    exact = given.chosen["search"] == "exact"
    try:
        both = optimum(output, text) if exact else matched(output, text, given.seed)
    except TstmetaError as error:
        return failed(error)
    whole = {"f1": (text.triples + output.triples) / 2, "p": output.triples, "r": text.triples}
    return Score(
        both / whole[given.chosen["measure"]], Status.TRUNCATED if detail else Status.OK, detail
    )


def _fields(given: Given) -> dict[str, object]:
    search: dict[str, object] = {"scipy": version("scipy")}
    if given.chosen["search"] == "climb":
        search = {"seed": given.seed, "restarts": RESTARTS}
    return {
        **given.chosen,
        **search,
        "refs": "max",
        "max_nodes": MAX_NODES,
        "parses": given.identity,
        "smatch": version("smatch") if find_spec("smatch") else "none",
    }


class SmatchAmr(BatchedMetric):
    """Smatch over Abstract Meaning Representations, in [0, 1] (Cai and Knight, 2013).

    Words: the file of graphs (``smatch-amr:/path/parsed.amr``; see
    :func:`tstmeta.models.treebank.read_amr`), ``f1`` (default), ``p`` or ``r``; ``seed=7`` for
    another search, or ``exact`` for :func:`optimum`.  The best of several references counts.
    """

    name = "smatch-amr"
    profile = "real"
    max_tokens = None

    def __init__(self, words: str = ""):
        self._given: Given[Graph] = Given(
            self.name,
            words,
            _OPTIONS,
            parses.graphs,
            GRAPHS,
            ("smatch",),
            seeded=True,
        )
        self.name = f"{self.name}:{words}" if words else self.name

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when there are no graphs, or the file has a fault; empty when all is well."""
        return self._given.missing

    def signature(self, basis: str) -> Signature:
        return Signature.of("smatch-amr", {"basis": basis, **_fields(self._given)})

    def pairs(self, pairs: Sequence[Pair]) -> Sequence[Answer]:
        return [self._pair(*pair) for pair in pairs]

    def _pair(self, text: str, output: str) -> Score:
        try:
            graphs = [self._given.find(one) for one in (text, output)]
        except TstmetaError as error:
            return failed(error)
        return _scored(graphs, self._given)


class SmatchDep(BatchedMetric):
    """Smatch over dependency trees, in [0, 1], as Mukherjee et al. (2025) use it.

    The triples of a tree: see :func:`tree_graph`; the trees of a text's sentences are one graph.
    Words: the parses (``smatch-dep:/path/parses.conllu`` or ``smatch-dep:/path/model.udpipe``),
    what words are called by (``form``, the default, ``lemma``, ``upos``), ``f1`` (default), ``p``
    or ``r``; ``seed=7`` for another search, or ``exact`` for :func:`optimum`.  The best of several
    references counts.
    """

    name = "smatch-dep"
    profile = "real"
    max_tokens = None

    def __init__(self, words: str = ""):
        self._given: Given[Tree] = Given(
            self.name,
            words,
            {**_OPTIONS, "label": LABELS},
            parses.trees,
            TREES,
            ("smatch",),
            seeded=True,
        )
        self.name = f"{self.name}:{words}" if words else self.name

    @staticmethod
    def accepts_variant(words: str) -> bool:
        """Any words are taken; what they may be is said when they are not understood."""
        return bool(words)

    @property
    def missing(self) -> str:
        """What to do when there are no parses, or the file has a fault; empty when all is well."""
        return self._given.missing

    def signature(self, basis: str) -> Signature:
        return Signature.of("smatch-dep", {"basis": basis, **_fields(self._given)})

    def pairs(self, pairs: Sequence[Pair]) -> Sequence[Answer]:
        return [self._pair(*pair) for pair in pairs]

    def _pair(self, text: str, output: str) -> Score:
        try:
            trees = [self._given.find(one) for one in (text, output)]
            graphs = [tree_graph(tree, self._given.chosen["label"]) for tree in trees]
        except TstmetaError as error:
            return failed(error)
        return _scored(graphs, self._given)
