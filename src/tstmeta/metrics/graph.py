"""Smatch: how much two meaning graphs, or dependency trees, have in common.

A graph is a set of triples: labels of nodes, attributes and relations.  Smatch (Cai and Knight,
2013) maps the nodes of one graph to those of the other so that as many triples as possible agree.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from threading import Lock
from types import SimpleNamespace
from typing import Any, ClassVar

from ..models import parses
from ..models.parses import Graph, Parser, Tree
from .base import Score, scored
from .batched import cut_note, installed
from .parsed import LABELS, ParseMetric, labels

#: Random starts after the first one, which maps nodes of equal labels (the library's own default),
#: and their seed.
RESTARTS, SEED = 4, 0
#: Nodes of a graph that are used; the search takes seconds beyond, and grows with the third power.
MAX_NODES = 64
#: The library keeps its settings and what it has seen in its module.
_ONE_AT_A_TIME = Lock()


def matched(output: Graph, text: Graph) -> int:
    """Triples that agree under the best mapping that the search meets.

    It is a lower bound of the best mapping there is, which it often misses where many nodes have
    the same label.  Labels, names and values agree regardless of case.
    """
    if output == text:  # the search might miss the mapping of each node to itself
        return output.triples
    with _library() as smatch:
        _, best = smatch.get_best_match(*_named(output, "a"), *_named(text, "b"), "a", "b")
    return int(best)


@contextmanager
def _library() -> Iterator[Any]:
    """The library smatch, climbing from starts that depend on neither the clock nor other pairs."""
    import smatch

    with _ONE_AT_A_TIME:
        kept = smatch.random, smatch.iteration_num
        smatch.random = SimpleNamespace(seed=lambda: None, randint=Random(SEED).randint)
        smatch.iteration_num = RESTARTS + 1
        try:
            yield smatch
        finally:
            smatch.random, smatch.iteration_num = kept
            smatch.match_triple_dict.clear()


def _named(graph: Graph, prefix: str) -> tuple[list, list, list]:
    return (
        [("instance", f"{prefix}{node}", label) for node, label in enumerate(graph.labels)],
        [(name, f"{prefix}{node}", value) for name, node, value in graph.attributes],
        [(name, f"{prefix}{a}", f"{prefix}{b}") for name, a, b in graph.relations],
    )


def tree_graph(tree: Tree, by: str = "form") -> Graph:
    """A dependency tree as a graph.

    The rule is ours: a word is a node with its form (or lemma, or part of speech) as label, a
    dependency a relation from the head to the word with the dependency's name, and the root of a
    sentence has the attribute TOP, as in AMR.  A text of n words has 2 n triples.
    """
    words = list(enumerate(tree))
    return Graph(
        tuple(labels(tree, by)),
        tuple(("TOP", place, "top") for place, word in words if not word.head),
        tuple((word.relation, word.head - 1, place) for place, word in words if word.head),
    )


class _Smatch(ParseMetric):
    modules = ("smatch",)
    options: ClassVar = {"measure": ("f1", "p", "r")}

    def fields(self) -> dict[str, object]:
        return {
            "measure": self.chosen["measure"],
            "search": "climb",
            **{kind: word for kind, word in self.chosen.items() if kind != "measure"},
            "seed": SEED,
            "restarts": RESTARTS,
            "refs": "max",
            "max_nodes": MAX_NODES,
            "parses": self.identity,
            "smatch": installed("smatch"),
        }

    def compare(self, text: Graph, output: Graph) -> Score:
        """Precision is the share of the output's triples that agree, recall that of the text's."""
        nodes = max(len(text.labels), len(output.labels))
        text, output = text.first(MAX_NODES), output.first(MAX_NODES)
        whole = {"f1": (text.triples + output.triples) / 2, "p": output.triples, "r": text.triples}
        share = matched(output, text) / whole[self.chosen["measure"]]
        return scored(share, cut_note(nodes, MAX_NODES, "nodes"))


class SmatchAmr(_Smatch):
    """Smatch over Abstract Meaning Representations, in [0, 1] (Cai and Knight, 2013).

    The best of several references counts.

    Args:
        words: the file of graphs (``smatch-amr:/path/parsed.amr``), ``f1`` (default), ``p``, ``r``.
    """

    name = "smatch-amr"
    remedy = (
        "parse the texts with an AMR parser and name the file in PENMAN notation, each graph under "
        "its text (# ::snt The text.), as in {name}:/path/parsed.amr"
    )

    def read(self, file: str) -> Parser:
        return parses.graphs(file)


class SmatchDep(_Smatch):
    """Smatch over dependency trees, in [0, 1], as Mukherjee et al. (2025) use it.

    The triples of a tree: see :func:`tree_graph`; the trees of a text's sentences are one graph.
    The best of several references counts.

    Args:
        words: the parses, a CoNLL-U file or a UDPipe model; what words are called by (``form``, the
            default, ``lemma``, ``upos``); ``f1`` (default), ``p`` or ``r``.
    """

    name = "smatch-dep"
    options: ClassVar = {**_Smatch.options, "label": LABELS}

    def find(self, text: str) -> Graph:
        return tree_graph(super().find(text), self.chosen["label"])
