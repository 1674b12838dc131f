"""SynWMD: word mover's distance that knows the syntax of both texts (Wei et al., 2023).

A word's mass is the reciprocal of its PageRank in a graph of all parses; to the cosine distance of
two words is added the mean distance of the subtrees that hold them.
"""

import lzma
import math
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..models import hub
from ..models.parses import English, Tree
from ..models.vectors import Vectors, identity
from .base import Score, cut_note, installed, scored
from .semantic import WORDLESS, WordMetric, WordSettings
from .trees import ParseMetric, ParseSettings, first

#: How far apart words still meet, and how deep a subtree reaches, in dependencies.
HOPS = 3
#: The share of PageRank that flows along edges; the authors' program takes this, not the usual .85.
DAMPING = 0.2
#: Words of a text that are used; time and memory grow with the square.
MAX_WORDS = 500
#: Weights of words by spaCy's parses of sources of open data sets (``tools/counts.py``).
WEIGHTS = Path(hub.__file__).parent / "weights" / "words" / "en_core_web_sm.txt.xz"
#: Their word for all that are not listed; no token is empty.
UNKNOWN = ""
#: Universal parts of speech whose words are left out: they are few and hold sentences together.
CLOSED = frozenset(["ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "PUNCT", "SCONJ", "SYM"])


def word_weights(trees: Iterable[Tree]) -> dict[str, float]:
    """1 / PageRank of each word, in lower case, that stands in a sentence with another one.

    An edge weighs the sum of 1 / h over all pairs h <= :data:`HOPS` dependencies apart.
    """
    edges: defaultdict[tuple[str, str], float] = defaultdict(float)
    for tree in trees:
        forms = [word.form.lower() for word in tree]
        heads = [[word.head - 1] if word.head else [] for word in tree]
        links = [up + down for up, down in zip(heads, _children(tree), strict=True)]
        for place, reached in enumerate(_reach(links)):
            for other, hops in reached.items():
                edges[forms[place], forms[other]] += 1 / hops
    if not edges:
        return {}
    places = {form: place for place, form in enumerate(sorted({form for form, _ in edges}))}
    ends = np.array([(places[form], places[other]) for form, other in edges])
    ranks = _page_rank(ends[:, 0], ends[:, 1], np.array(list(edges.values())), len(places))
    return dict(zip(places, (1 / ranks).tolist(), strict=True))


def read_weights(path: Path) -> dict[str, float]:
    """The weights of a table such as :data:`WEIGHTS`, by word."""
    lines = lzma.decompress(path.read_bytes()).decode().splitlines()
    return {form: float(weight) for form, _, weight in (line.partition(" ") for line in lines)}


def _children(tree: Tree) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in tree]
    for place, word in enumerate(tree):
        if word.head:
            children[word.head - 1].append(place)
    return children


def _reach(links: list[list[int]]) -> list[dict[int, int]]:
    """For each place those that 1 to HOPS links lead to, with the number of links."""
    reach = []
    for start in range(len(links)):
        reached, edge = {start: 0}, [start]
        for hops in range(1, HOPS + 1):
            edge = [other for place in edge for other in links[place] if other not in reached]
            reached |= dict.fromkeys(edge, hops)
        del reached[start]
        reach.append(reached)
    return reach


def _page_rank(
    source: np.ndarray, target: np.ndarray, weight: np.ndarray, nodes: int
) -> np.ndarray:
    """Weighted PageRank, shape [nodes], to 12 digits; every node has an edge."""
    share = DAMPING * weight / np.bincount(source, weight, nodes)[source]
    ranks = np.full(nodes, 1 / nodes)
    # each round shrinks the error to DAMPING of it
    for _ in range(math.ceil(12 / -math.log10(DAMPING))):
        ranks = (1 - DAMPING) / nodes + np.bincount(target, share * ranks[source], nodes)
    return ranks


class Travellers(NamedTuple):
    """The words of a text that have mass, and its subtrees."""

    mass: np.ndarray  # [n], sums to 1
    directions: np.ndarray  # [n, d], of length 1
    subtrees: np.ndarray  # [s, d], of length 1
    members: np.ndarray  # [s, n], 1 where a subtree holds a word


def distances(text: Travellers, other: Travellers) -> np.ndarray:
    """Costs [n, m]: cosine distances of words, plus the mean ones of subtrees that hold them."""
    words = 1 - text.directions @ other.directions.T
    between = text.members.T @ (1 - text.subtrees @ other.subtrees.T) @ other.members
    pairs = np.outer(text.members.sum(axis=0), other.members.sum(axis=0))
    mean = np.divide(between, pairs, out=np.zeros_like(between), where=pairs > 0)
    # rounding makes equal words a little nearer than 0
    return np.maximum(words + mean, 0)


def travellers(tree: Tree, weights: dict[str, float], source: Vectors) -> Travellers | None:
    """A text's words as the distance sees them; None where no word has a vector.

    A word that the graph does not know weighs as little as the lightest that it knows; with the
    shipped weights, as much as the median word of a single source.
    """
    vectors = [
        source.vectors(pieces).mean(axis=0) if len(pieces) else np.zeros(1)
        for pieces in source.places([word.form for word in tree])
    ]
    known = [place for place, vector in enumerate(vectors) if vector.any()]
    places = [place for place in known if tree[place].upos not in CLOSED] or known
    if not places:
        return None
    other = weights.get(UNKNOWN) or min(weights.values(), default=1.0)
    mass = np.array([weights.get(tree[place].form.lower(), other) for place in places])
    directions = _directions(np.array([vectors[place] for place in places]))
    rows = []
    # each word with its dependents down to one level, two levels, ... as far as more come
    for root, reached in enumerate(_reach(_children(tree))):
        depths = {root: 0, **reached}
        for level in sorted(set(reached.values())):
            rows.append([float(depths.get(place, HOPS + 1) <= level) for place in places])
    members = np.array([row for row in rows if any(row)]).reshape(-1, len(places))
    spans = _directions((members * mass) @ directions)
    return Travellers(mass / mass.sum(), directions, spans, members)


def _directions(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)


class SynWmdSettings(ParseSettings, WordSettings):
    """A CoNLL-U file, whose sentences make the graph of words, too, and word vectors."""


class SynWmd(ParseMetric):
    """Syntax-aware word mover's distance, >= 0, lower is better, symmetric (Wei et al., 2023).

    Other than in the authors' program vectors are static, words are left out by their part of
    speech, and the value is the distance itself, not 1 / (1 + distance).  A copy is not quite at 0.
    """

    name = "synwmd"
    higher_is_better = False
    limits = (0.0, 4.0)  # two cosine distances
    modules = ("ot",)
    facts = (
        f"parts:full refs:min hops:{HOPS} damping:{DAMPING} left-out:closed-class "
        f"max_words:{MAX_WORDS}"
    )
    Settings = SynWmdSettings

    def __init__(self, variant: str = ""):
        super().__init__(variant)
        file = self.settings.vectors
        self._words = WordMetric(f"vectors={file}" if file else "")
        self.languages = self.languages or self._words.languages
        # a source comes with one output after the other; long texts take megabytes
        self.find = lru_cache(maxsize=64)(self.find)  # type: ignore[method-assign]

    @property
    def missing(self) -> str:
        return super().missing or self._words.missing

    def fields(self) -> dict[str, object]:
        graph = {} if self.file else {"graph": identity(WEIGHTS)}
        return {**super().fields(), **graph, **self._words.fields(), "POT": installed("POT")}

    @cached_property
    def _facts(self) -> tuple[dict[str, float], Vectors]:
        parser = self.read()
        if isinstance(parser, English):
            return read_weights(WEIGHTS), self._words.source
        # a sentence is a text of its own, whatever longer text it stands in: one root
        parses = parser.parses.values()
        sentences = (tree for tree in parses if sum(not word.head for word in tree) == 1)
        return word_weights(dict.fromkeys(sentences)), self._words.source

    def find(self, text: str) -> tuple[Travellers | None, int]:
        """What travels of a text, and its length in words."""
        tree = super().find(text)
        return travellers(first(tree, MAX_WORDS), *self._facts), len(tree)

    def compare(self, text: Any, output: Any) -> Score:
        import ot

        (source, size), (target, target_size) = text, output
        if source is None or target is None:
            return WORDLESS
        costs = distances(source, target)
        value = float(ot.emd2(source.mass, target.mass, costs, numItermax=10**7))
        return scored(value, cut_note(max(size, target_size), MAX_WORDS, "words"))
