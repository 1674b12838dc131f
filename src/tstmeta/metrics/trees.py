"""Tree edit distance between the dependency trees of two texts (Zhang and Shasha, 1989).

The library zss keeps the edits of every pair of subtrees: gigabytes for texts of a hundred words.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, ClassVar, NamedTuple

from ..extras import lacking
from ..models import parses
from ..models.parses import English, Parser, Tree
from ..schema import Status, TstmetaError
from .base import Request, Score, cut_note, failed, scored
from .batched import ModelMetric, Pair
from .settings import MetricSettings

#: Words of a text that are used; time grows with the fourth power in the worst case.
MAX_WORDS = 200


class ParseSettings(MetricSettings):
    """The file of parses in CoNLL-U."""

    default_key = "parses"
    parses: str = ""


class ParseMetric(ModelMetric):
    """A metric of dependency trees, by spaCy's model for English or of a file."""

    profile = "real"
    modules: ClassVar[tuple[str, ...]] = ()
    Settings: ClassVar[type[ParseSettings]] = ParseSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        self.file = self.settings.parses
        self.languages = () if self.file else ("en",)

    def read(self) -> Parser | English:
        return parses.trees(self.file)

    @property
    def missing(self) -> str:
        if packages := lacking(*self.modules):
            return packages
        try:
            self.read()
        except TstmetaError as error:
            return str(error)
        return ""

    def fields(self) -> dict[str, object]:
        return {**super().fields(), "parses": "none" if self.missing else self.read().identity}

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        self.read().prepare(text for pair in pairs for text in pair)
        return [self._pair(*pair) for pair in pairs]

    def _pair(self, text: str, output: str) -> Score:
        try:
            return self.compare(self.find(text), self.find(output))
        except TstmetaError as error:  # a text without a parse costs only itself
            return failed(error)

    def find(self, text: str) -> Any:
        return self.read().find(text)


def first(tree: Tree, limit: int) -> Tree:
    """The first words of a long text; words whose head is cut off become roots."""
    words = tree[:limit]
    return tuple(word if word.head <= limit else word._replace(head=0) for word in words)


class Ordered(NamedTuple):
    """A tree in postorder (children, left to right, before their parent), shape [n] each."""

    labels: list[str]
    #: The place of the leftmost leaf below each node, itself where it is a leaf.
    leftmost: list[int]

    @property
    def keyroots(self) -> list[int]:
        """The last node of each leftmost leaf, ascending (Zhang and Shasha, 1989, Section 3)."""
        return sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())


def ordered(tree: Tree) -> Ordered:
    """A dependency tree with words in their order; the roots of sentences hang on one more node."""
    names = ["", *(word.form.lower() for word in tree)]
    children: list[list[int]] = [[] for _ in names]
    for place, word in enumerate(tree, 1):
        children[word.head].append(place)
    forest = Ordered([], [])

    def visit(node: int) -> None:
        before = len(forest.labels)
        for child in children[node]:
            visit(child)
        forest.labels.append(names[node])
        forest.leftmost.append(before)

    visit(0)
    return forest


def distance(tree: Ordered, other: Ordered) -> int:
    """The fewest nodes inserted, deleted or relabelled, each at cost 1 (Zhang and Shasha, 1989)."""
    subtrees = [[0] * len(other.labels) for _ in tree.labels]
    for root, other_root in product(tree.keyroots, other.keyroots):
        start, other_start = tree.leftmost[root], other.leftmost[other_root]
        columns = range(other_start, other_root + 1)
        # row x, column y: how far the first x nodes are from the first y of the two roots' trees
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
                    apart = left_of_node[other_leaf - other_start] + known[other_node]
                    change = min(change, apart)
                row.append(change)
            rows.append(row)
    return subtrees[-1][-1]


class Ted(ParseMetric):
    """Tree edit distance of dependency trees, >= 0, lower is better (Mukherjee et al., 2025)."""

    name = "ted"
    higher_is_better = False
    facts = f"label:form scale:edits refs:min case:lower costs:1 max_words:{MAX_WORDS}"

    def find(self, text: str) -> Tree:
        return super().find(text) if text.strip() else ()

    def compare(self, text: Tree, output: Tree) -> Score:
        edits = distance(*(ordered(first(tree, MAX_WORDS)) for tree in (text, output)))
        return scored(edits, cut_note(max(len(text), len(output)), MAX_WORDS, "words"))

    def _blank(self, request: Request) -> Score | None:
        if super()._blank(request) is None:
            return None
        score = self._best([self._pair(text, request.output) for text in request.against])
        return Score(score.value, Status.EMPTY, "empty text") if score.status.has_value else score
