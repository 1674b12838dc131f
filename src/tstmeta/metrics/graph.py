"""Smatch: how much two labelled graphs, such as dependency trees, have in common.

It maps nodes so that as many triples (labels, attributes, relations) as possible agree.
"""

from random import Random
from types import SimpleNamespace

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
#: Labels, attributes and relations, as the library smatch takes them.
Graph = tuple[list[tuple[str, ...]], ...]


def tree_graph(tree: Tree) -> Graph:
    """A dependency tree as a graph, words as nodes 0, 1, ...; a root has TOP, as in AMR.

    Of a tree that was cut, relations to words beyond its end are left out.
    """
    words = [(str(place), word) for place, word in enumerate(tree)]
    return (
        [("instance", node, word.form.lower()) for node, word in words],
        [("TOP", node, "top") for node, word in words if not word.head],
        [
            (word.relation, str(word.head - 1), node)
            for node, word in words
            if 0 < word.head <= len(tree)
        ],
    )


def matched(output: Graph, text: Graph) -> int:
    """Triples that agree under the best mapping that the search meets: a lower bound."""
    if output == text:  # the search might miss the mapping of each node to itself
        return sum(map(len, output))
    import smatch

    before = smatch.random, smatch.iteration_num
    # the search starts from draws that depend on neither the clock nor other pairs
    smatch.random = SimpleNamespace(seed=lambda: None, randint=Random(SEED).randint)
    smatch.iteration_num = RESTARTS + 1
    try:
        _, best = smatch.get_best_match(*output, *text, "", "")
    finally:
        smatch.random, smatch.iteration_num = before
        smatch.match_triple_dict.clear()
    return int(best)


class SmatchDep(ParseMetric):
    """Smatch over dependency trees: F1 in [0, 1], as Mukherjee et al. (2025) use it."""

    name = "smatch-dep"
    modules = ("smatch",)
    facts = f"measure:f1 search:climb label:form {_SEARCH}"

    def fields(self) -> dict[str, object]:
        return {**super().fields(), "smatch": installed("smatch")}

    def compare(self, text: Tree, output: Tree) -> Score:
        graphs = [tree_graph(tree[:MAX_NODES]) for tree in (output, text)]
        triples = sum(len(part) for graph in graphs for part in graph)
        note = cut_note(max(len(text), len(output)), MAX_NODES, "nodes")
        return scored(2 * matched(*graphs) / triples, note)


class SmatchAmr(Elsewhere):
    """Smatch over Abstract Meaning Representations: F1 in [0, 1] (Cai and Knight, 2013)."""

    name = "smatch-amr"
    facts = "measure:f1"
    how = "no parser comes with us: parse the texts with an AMR parser, run the package smatch"
