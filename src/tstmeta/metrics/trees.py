"""Tree edit distance between the dependency trees of two texts (Zhang and Shasha, 1989).

The library zss keeps the edits of every pair of subtrees: gigabytes for texts of a hundred words.
"""

from typing import ClassVar, NamedTuple

from ..models.parses import Tree
from ..schema import Status
from .base import Request, Score, scored
from .batched import cut_note
from .parsed import LABELS, ParseMetric, first, labels

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
    """
    names = ["", *labels(tree, by)]
    children: list[list[int]] = [[] for _ in names]
    for place, word in enumerate(tree, 1):
        children[word.head].append(place)
    forest = Ordered([], [])
    # a stack, not recursion: a tree can be as deep as its text is long
    stack = [(0, False)]
    before = [0] * len(names)  # how many nodes were done when a node was come upon
    while stack:
        node, done = stack.pop()
        if done:
            forest.labels.append(names[node])
            forest.leftmost.append(before[node])
            continue
        before[node] = len(forest.labels)
        stack.append((node, True))
        stack += [(child, False) for child in reversed(children[node])]
    return forest


def distance(tree: Ordered, other: Ordered) -> int:
    """The fewest nodes inserted, deleted or relabelled, each at cost 1 (Zhang and Shasha, 1989)."""
    subtrees = [[0] * len(other.labels) for _ in tree.labels]
    for root in tree.keyroots:
        for other_root in other.keyroots:
            _between_forests(tree, root, other, other_root, subtrees)
    return subtrees[-1][-1]


def _between_forests(
    tree: Ordered, root: int, other: Ordered, other_root: int, subtrees: list[list[int]]
) -> None:
    """Fill in the distances of subtrees on the left edge of two keyroots' trees.

    Row x, column y: the distance of the first x nodes from the first y nodes of the two trees.
    """
    start, other_start = tree.leftmost[root], other.leftmost[other_root]
    columns = range(other_start, other_root + 1)
    rows = [list(range(len(columns) + 1))]
    for node in range(start, root + 1):
        above, label, leaf = rows[-1], tree.labels[node], tree.leftmost[node]
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


class Ted(ParseMetric):
    """Tree edit distance of dependency trees, >= 0, lower is better (Mukherjee et al., 2025).

    The fewest words to insert, delete or relabel that turn one ordered tree into the other.  The
    nearest of several references counts; symmetric.  A blank text is a tree without words.

    Args:
        words: the parses, a CoNLL-U file or a UDPipe model; what words are called by (``form``, the
            default, ``lemma``, ``upos``); ``normalised``: the distance divided by the number of
            words of both texts, in [0, 1].
    """

    name = "ted"
    higher_is_better = False
    options: ClassVar = {"label": LABELS, "scale": ("edits", "normalised")}

    def fields(self) -> dict[str, object]:
        return {
            **self.chosen,
            "refs": "min",
            "case": "lower",
            "costs": 1,
            "max_words": MAX_WORDS,
            "parses": self.identity,
        }

    def find(self, text: str) -> Tree:
        return super().find(text) if text.strip() else ()

    def compare(self, text: Tree, output: Tree) -> Score:
        forests = [ordered(first(tree, MAX_WORDS), self.chosen["label"]) for tree in (text, output)]
        edits = float(distance(*forests))
        if self.chosen["scale"] == "normalised":
            edits /= max(sum(len(forest.labels) - 1 for forest in forests), 1)  # less the roots
        return scored(edits, cut_note(max(len(text), len(output)), MAX_WORDS, "words"))

    def _blank(self, request: Request) -> Score | None:
        if super()._blank(request) is None:
            return None
        score = self._best([self._pair(text, request.output) for text in request.against])
        return Score(score.value, Status.EMPTY, "empty text") if score.status.has_value else score
