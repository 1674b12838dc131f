"""Vectors of words that do not depend on their neighbours, and how rare words are.

A file with a fault is a model that is missing: all that need it say so.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import BaseModel, Field, PositiveInt

from ..data.paths import read_text
from ..schema import DataError
from ..secrecy import excerpt
from . import hub
from .causal import MissingModel
from .encoders import Encoder


class VectorFile:
    """Word vectors in GloVe's text format: a word and its numbers a line (Pennington et al., 2014).

    A first line of two numbers (word2vec's header) is skipped, a word may have spaces in it, and of
    a word that comes twice the first line counts.  Vectors that were read stay in memory.
    """

    def __init__(self, path: Path):
        self.path, self.dimension = path, 0
        self._rows: dict[int, np.ndarray] = {}

    def places(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Numbers of the words of each text that have a vector, with repeats, in order."""
        index = self._index
        rows = ([index[word] for word in words(text) if word in index] for text in texts)
        return [np.array(row, dtype=np.int64) for row in rows]

    def vectors(self, places: np.ndarray) -> np.ndarray:
        """Their vectors, float64 [n, d]."""
        if fresh := sorted(set(places.tolist()) - self._rows.keys()):
            with open(self.path, "rb") as file:
                for place in fresh:
                    file.seek(place)
                    self._rows[place] = self._numbers(file.readline())
        return np.array([self._rows[place] for place in places.tolist()])

    @cached_property
    def _index(self) -> dict[str, int]:
        """Word -> byte at which its line begins."""
        index: dict[str, int] = {}
        start = 0
        hub.file_hash(self.path)  # says what to do about a file that cannot be read
        with open(self.path, "rb") as file:
            for line in file:
                fields = line.split()
                header = not start and len(fields) == 2 and all(map(bytes.isdigit, fields))
                if fields and not header:
                    if not index:
                        self.dimension = line.rstrip().count(b" ")
                        self._numbers(line)  # prose has words where numbers belong
                    word = line.rstrip().rsplit(b" ", self.dimension)[0]
                    index.setdefault(word.decode(errors="replace"), start)
                start += len(line)
        if not index:
            raise MissingModel(f"{self.path} holds no word vectors: a word and numbers a line")
        return index

    def _numbers(self, line: bytes) -> np.ndarray:
        parts = line.rstrip().split(b" ")[1:] if self.dimension else []
        try:
            row = np.array([float(part) for part in parts[-self.dimension :]])
        except ValueError:
            row = np.array([np.nan])
        if len(row) != max(1, self.dimension) or not np.isfinite(row).all():
            shown = excerpt(line.decode(errors="replace"), 40)
            raise MissingModel(
                f"{self.path}, line {shown!r}: not a word and {self.dimension or 'its'} numbers "
                "with single spaces between them"
            )
        return row


#: Where words have vectors: of an encoder a word is a token.
Vectors = Encoder | VectorFile


def words(text: str) -> list[str]:
    """Lower-case words as word vectors mostly have them: Penn Treebank rules, ``do n't``."""
    from nltk.tokenize import TreebankWordTokenizer

    for mark in "।॥":  # dandas end sentences in Hindi and Bengali
        text = text.replace(mark, f" {mark} ")
    return [word.lower() for word in TreebankWordTokenizer().tokenize(text)]


def texts_of(path: Path) -> list[str]:
    """The texts of a file, one a line, blank lines left out; there is at least one."""
    try:
        lines = read_text(path).split("\n")
    except DataError as error:
        raise MissingModel(str(error)) from None
    texts = [text for line in lines if (text := line.strip())]
    if not texts:
        raise MissingModel(f"{path} has no text; one a line is wanted")
    return texts


def identity(path: Path) -> str:
    """``name@hash`` of a file; the hash is the first 12 digits of its SHA-256."""
    return f"{path.name}@{hub.file_hash(path)[:12]}"


# ------------------------------------------------------------------------------- how rare words are

#: In how many sources of open data sets each token of MiniLM occurs (``tools/counts.py``).
COUNTS = Path(__file__).parent / "weights" / "idf" / "sources.json"


class Frequencies(NamedTuple):
    """In how many of ``total`` texts each number (of a token, of a word) occurs."""

    counts: dict[int, int]
    total: int


class _Table(BaseModel, strict=True):
    texts: int
    tokens: Annotated[dict[str, PositiveInt], Field(min_length=1)]


def frequencies(bags: Iterable[Iterable[int]]) -> Frequencies:
    """Of texts as bags of numbers."""
    sets = [set(bag) for bag in bags]
    return Frequencies(Counter(chain.from_iterable(sets)), len(sets))


def read_counts(encoder: Encoder, path: Path) -> Frequencies:
    """Frequencies of tokens by a table (``.json``) or, of any other file, in its lines."""
    if path.suffix != ".json":
        return frequencies(encoder.ids(texts_of(path)))
    hub.file_hash(path)  # says what to do about a file that cannot be read
    try:
        texts, tokens = _Table.model_validate_json(path.read_bytes()).model_dump().values()
        if max(tokens.values()) > texts:
            raise ValueError
    except ValueError:
        raise MissingModel(
            f"{path} is no table of counts. Remedy: name a text file, one text a line, not .json"
        ) from None
    known = encoder.tokenizer.get_vocab()
    if strange := next((token for token in tokens if token not in known), None):
        what = f"{path.name} counts {strange!r}, which is no token of {encoder.model.name}"
        raise MissingModel(f"{what}: it was made for another encoder; name a file of texts")
    return Frequencies({known[token]: count for token, count in tokens.items()}, texts)
