"""Tree edit distance between the dependency trees of two texts.

The fewest words to insert, delete or relabel that turn one ordered tree into the other, by the
algorithm of Zhang and Shasha (1989).  The library zss computes the same and is what the tests hold
it against; it also keeps the edits of every pair of subtrees, which takes gigabytes for texts of a
hundred words, so the distance alone is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..models import parses
from ..models.treebank import Tree
from ..schema import Signature, Status, TstmetaError
from .base import Request, Score
from .batched import Answer, BatchedMetric, Pair
from .parsed import LABELS, TREES, Given, cut, failed, first, labels

#: Words of a text that are used; time grows with the fourth power in the worst case.
MAX_WORDS = 200


class Ordered(NamedTuple):
    """A tree in postorder (children, left to right, before their parent), shape [n] each."""

    labels: list[str]
    #: The place of the leftmost leaf below each node, itself where it is a leaf.
    leftmost: list[int]

    @property
    def keyroots(self) -> list[int]:
        """The last node of each leftmost leaf, ascending (Zhang and Shasha, 1989, Section 3)."""
        return sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())


def ordered(tree: Tree, by: str = "form") -> Ordered:
    """A dependency tree with words in their order; the roots of sentences hang on one more node.

    That node is alike in all trees, so it changes no distance between texts of one sentence.

    Args:
        by: ``form``, ``lemma`` or ``upos``, of which lower case is the label.

    Raises:
        TstmetaError: the parser gave no lemmas or parts of speech.
    """
    names = ["", *labels(tree, by)]
    children: list[list[int]] = [[] for _ in names]
    for place, word in enumerate(tree, 1):
        children[word.head].append(place)
    found = Ordered([], [])
    # a stack, not recursion: a tree can be as deep as its text is long
    stack = [(0, False)]
    first: list[int] = [0] * len(names)  # how many nodes were done when a node was come upon
    while stack:
        node, done = stack.pop()
        if done:
            found.labels.append(names[node])
            found.leftmost.append(first[node])
            continue
        first[node] = len(found.labels)
        stack.append((node, True))
        stack += [(child, False) for child in reversed(children[node])]
    return found


def distance(one: Ordered, other: Ordered) -> int:
    """The fewest nodes inserted, deleted or relabelled, each at cost 1 (Zhang and Shasha, 1989)."""
    subtrees = [[0] * len(other.labels) for _ in one.labels]
    for root in one.keyroots:
        for other_root in other.keyroots:
            _between_forests(one, root, other, other_root, subtrees)
    return subtrees[-1][-1]


def _between_forests(
    one: Ordered, root: int, other: Ordered, other_root: int, subtrees: list[list[int]]
) -> None:
    """Fill in the distances of subtrees on the left edge of two keyroots' trees.

    Row x, column y: the distance of the first x nodes from the first y nodes of the two trees.
    """
    start, other_start = one.leftmost[root], other.leftmost[other_root]
    columns = range(other_start, other_root + 1)
    rows = [list(range(len(columns) + 1))]
    for node in range(start, root + 1):
        above, label, leaf = rows[-1], one.labels[node], one.leftmost[node]
        row, known = [above[0] + 1], subtrees[node]
        left_of_node = rows[leaf - start]
        for y, other_node in enumerate(columns):
            change = min(above[y + 1], row[y]) + 1
            other_leaf = other.leftmost[other_node]
            if leaf == start and other_leaf == other_start:
                change = min(change, above[y] + (label != other.labels[other_node]))
                known[other_node] = change
            else:
                whole = left_of_node[other_leaf - other_start] + known[other_node]
                change = min(change, whole)
            row.append(change)
        rows.append(row)


class Ted(BatchedMetric):
    """Tree edit distance of dependency trees, >= 0, lower is better (Mukherjee et al., 2025).

    Unit costs; see :func:`ordered` and :func:`distance`.  Words: the parses
    (``ted:/path/parses.conllu`` or ``ted:/path/model.udpipe``), what words are called by (``form``,
    the default, ``lemma``, ``upos``), and ``normalised``: the distance divided by the number of
    words of both texts, in [0, 1].  The nearest of several references counts; symmetric.  A blank
    text is a tree without words.
    """

    name = "ted"
    profile = "real"
    higher_is_better = False
    max_tokens = None

    def __init__(self, words: str = ""):
        options = {"label": LABELS, "scale": ("edits", "normalised")}
        self._given: Given[Tree] = Given(self.name, words, options, parses.trees, TREES)
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
        fields = {
            "basis": basis,
            **self._given.chosen,
            "refs": "min",
            "case": "lower",
            "costs": 1,
            "max_words": MAX_WORDS,
            "parses": self._given.identity,
        }
        return Signature.of("ted", fields)

    def pairs(self, pairs: Sequence[Pair]) -> Sequence[Answer]:
        return [self._pair(*pair) for pair in pairs]

    def _pair(self, text: str, output: str) -> Score:
        try:
            trees = [self._find(one) for one in (text, output)]
            forests = [
                ordered(first(tree, MAX_WORDS), self._given.chosen["label"]) for tree in trees
            ]
        except TstmetaError as error:
            return failed(error)
        detail = cut((len(trees[0]), len(trees[1])), MAX_WORDS, "words")
        edits = float(distance(*forests))
        if self._given.chosen["scale"] == "normalised":
            # less the root that both were given
            words = sum(len(forest.labels) - 1 for forest in forests)
            return Score(edits / max(words, 1), _status(detail), detail)
        return Score(edits, _status(detail), detail)

    def _find(self, text: str) -> Tree:
        return self._given.find(text) if text.strip() else ()

    def _blank(self, request: Request) -> Score | None:
        if super()._blank(request) is None:
            return None
        found = self._best([self._pair(text, request.output) for text in request.against])
        if not found.status.has_value:
            return found
        return Score(found.value, Status.EMPTY, "empty text")


def _status(detail: str) -> Status:
    return Status.TRUNCATED if detail else Status.OK
