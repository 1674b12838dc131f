"""Smatch: how much two labelled graphs, such as dependency trees, have in common.

It maps nodes so that as many triples (labels, attributes, relations) as possible agree.
"""

from random import Random
from types import SimpleNamespace
from typing import NamedTuple

from ..models.parses import Tree
from .base import Score, cut_note, installed, scored
from .learned import Elsewhere
from .trees import ParseMetric

#: Random starts after the first one, which maps nodes of equal labels (the library's own default),
#: and their seed.
RESTARTS, SEED = 4, 0
#: Nodes of a graph that are used; the search takes seconds beyond, and grows with the third power.
MAX_NODES = 64
_SEARCH = f"seed:{SEED} restarts:{RESTARTS} refs:max max_nodes:{MAX_NODES}"


class Graph(NamedTuple):
    """A labelled graph: nodes are places in ``labels``; attributes are (name, node, value)."""

    labels: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...] = ()
    relations: tuple[tuple[str, int, int], ...] = ()

    @property
    def triples(self) -> int:
        """Number of labels, attributes and relations: what Smatch counts."""
        return len(self.labels) + len(self.attributes) + len(self.relations)

    def first(self, nodes: int) -> "Graph":
        """The graph of the first nodes; what hangs on the others is left out."""
        attributes = tuple(part for part in self.attributes if part[1] < nodes)
        relations = tuple(part for part in self.relations if max(part[1:]) < nodes)
        return Graph(self.labels[:nodes], attributes, relations)


def matched(output: Graph, text: Graph) -> int:
    """Triples that agree under the best mapping that the search meets: a lower bound."""
    if output == text:  # the search might miss the mapping of each node to itself
        return output.triples
    import smatch

    before = smatch.random, smatch.iteration_num
    # the search starts from draws that depend on neither the clock nor other pairs
    smatch.random = SimpleNamespace(seed=lambda: None, randint=Random(SEED).randint)
    smatch.iteration_num = RESTARTS + 1
    try:
        _, best = smatch.get_best_match(*_named(output, "a"), *_named(text, "b"), "a", "b")
    finally:
        smatch.random, smatch.iteration_num = before
        smatch.match_triple_dict.clear()
    return int(best)


def _named(graph: Graph, prefix: str) -> tuple[list, list, list]:
    return (
        [("instance", f"{prefix}{node}", label) for node, label in enumerate(graph.labels)],
        [(name, f"{prefix}{node}", value) for name, node, value in graph.attributes],
        [(name, f"{prefix}{a}", f"{prefix}{b}") for name, a, b in graph.relations],
    )


def tree_graph(tree: Tree) -> Graph:
    """A dependency tree as a graph, words as nodes; a root has TOP, as in AMR."""
    words = list(enumerate(tree))
    return Graph(
        tuple(word.form.lower() for word in tree),
        tuple(("TOP", place, "top") for place, word in words if not word.head),
        tuple((word.relation, word.head - 1, place) for place, word in words if word.head),
    )


class SmatchDep(ParseMetric):
    """Smatch over dependency trees: F1 in [0, 1], as Mukherjee et al. (2025) use it."""

    name = "smatch-dep"
    modules = ("smatch",)
    facts = f"measure:f1 search:climb label:form {_SEARCH}"

    def fields(self) -> dict[str, object]:
        return {**super().fields(), "smatch": installed("smatch")}

    def find(self, text: str) -> Graph:
        return tree_graph(super().find(text))

    def compare(self, text: Graph, output: Graph) -> Score:
        nodes = max(len(text.labels), len(output.labels))
        text, output = text.first(MAX_NODES), output.first(MAX_NODES)
        share = 2 * matched(output, text) / (text.triples + output.triples)
        return scored(share, cut_note(nodes, MAX_NODES, "nodes"))


class SmatchAmr(Elsewhere):
    """Smatch over Abstract Meaning Representations: F1 in [0, 1] (Cai and Knight, 2013)."""

    name = "smatch-amr"
    facts = "measure:f1"
    how = "no parser comes with us: parse the texts with an AMR parser, run the package smatch"
