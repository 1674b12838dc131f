"""Vectors of words that do not depend on their neighbours, and how rare words are.

A file of word vectors is large and few of its words are asked for: it is read once for where each
word stands, and a line becomes numbers when its word is asked for.  A file with a fault is a model
that is missing: all that need it are told at once, and it is not read anew for each text.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from .causal import MissingModel
from .encoders import Encoder


class Vectors(Protocol):
    """Words of a text as numbers, and the vector of each."""

    def places(self, texts: Sequence[str]) -> list[np.ndarray]:
        """Numbers of the words of each text that have a vector, with repeats, in order."""
        ...

    def vectors(self, places: np.ndarray) -> np.ndarray:
        """Their vectors, float64 [n, d]."""
        ...


class TokenTable:
    """The vectors in which an encoder looks its tokens up (its input embeddings)."""

    def __init__(self, encoder: Encoder):
        self.encoder = encoder

    def places(self, texts: Sequence[str]) -> list[np.ndarray]:
        """See :class:`Vectors`; a word is a token of the encoder, control tokens left out."""
        return [np.array(ids, dtype=np.int64) for ids in self.encoder.ids(texts, control=False)]

    def vectors(self, places: np.ndarray) -> np.ndarray:
        """See :class:`Vectors`."""
        return self.encoder.static[places].astype(float)


class VectorFile:
    """Word vectors in GloVe's text format: a word and its numbers a line (Pennington et al., 2014).

    A first line of two numbers (word2vec's header) is skipped, a word may have spaces in it, and of
    a word that comes twice the first line counts.

    Raises:
        MissingModel: no such file, or a line that has no such form; names file and line.
    """

    def __init__(self, path: Path):
        self.path = path
        self._rows: dict[int, np.ndarray] = {}

    def places(self, texts: Sequence[str]) -> list[np.ndarray]:
        """See :class:`Vectors`; words are those of :func:`words`."""
        index = self._index
        found = ([index.get(word) for word in words(text)] for text in texts)
        return [np.array([one for one in row if one is not None], dtype=np.int64) for row in found]

    def vectors(self, places: np.ndarray) -> np.ndarray:
        """See :class:`Vectors`."""
        fresh = sorted(set(places.tolist()) - self._rows.keys())
        if fresh:
            with open(self.path, "rb") as file:
                for place in fresh:
                    file.seek(place)
                    self._rows[place] = self._numbers(file.readline(), place)
        return np.array([self._rows[place] for place in places.tolist()])

    @cached_property
    def _index(self) -> dict[str, int]:
        """Word -> byte at which its line begins."""
        found: dict[str, int] = {}
        self.dimension = 0
        with _opened(self.path) as file:
            start = 0
            for number, line in enumerate(file, 1):
                bare = line.rstrip()
                if number == 1 and _is_header(bare):
                    self.dimension = int(bare.split()[1])
                elif bare:
                    self.dimension = self.dimension or bare.count(b" ")
                    word = self._word(bare, number)
                    if not found:  # prose has words where numbers belong; other lines wait
                        self._numbers(bare, start)
                    found.setdefault(word, start)
                start += len(line)
        if not found:
            raise MissingModel(f"{self.path} holds no word vectors: a word and numbers a line")
        return found

    def _word(self, line: bytes, number: int) -> str:
        spaces = line.count(b" ")
        if spaces < self.dimension or not spaces:
            raise self._fault(number, f"{spaces} numbers, not {self.dimension or 'one or more'}")
        exact = spaces == self.dimension
        word = line[: line.index(b" ")] if exact else line.rsplit(b" ", self.dimension)[0]
        try:
            return word.decode()
        except UnicodeDecodeError:
            raise self._fault(number, "a word that is not UTF-8") from None

    def _numbers(self, line: bytes, place: int) -> np.ndarray:
        fields = line.rstrip().rsplit(b" ", self.dimension)[1:]
        try:
            row = np.array([float(one) for one in fields])
        except ValueError:
            row = np.array([math.nan])
        if not np.isfinite(row).all():
            with open(self.path, "rb") as file:
                number = file.read(place).count(b"\n") + 1
            raise self._fault(number, "something that is no number")
        return row

    def _fault(self, number: int, what: str) -> MissingModel:
        return MissingModel(
            f"{self.path}, line {number}: {what}; a line is a word and its numbers, "
            "with single spaces between them"
        )


def _is_header(line: bytes) -> bool:
    fields = line.split()
    return len(fields) == 2 and all(field.isdigit() for field in fields)


def _opened(path: Path):
    try:
        return open(path, "rb")
    except OSError as error:
        raise MissingModel(f"cannot read {path}: {error.strerror}; name a text file") from error


def words(text: str) -> list[str]:
    """Lower-case words as word vectors mostly have them: Penn Treebank rules, ``do n't``.

    The dandas that end sentences in Hindi and Bengali are words of their own, as ``.`` is.
    """
    for mark in "।॥":
        text = text.replace(mark, f" {mark} ")
    return [word.lower() for word in _treebank()(text)]


@lru_cache(maxsize=1)
def _treebank() -> Callable[[str], list[str]]:
    from nltk.tokenize import TreebankWordTokenizer

    return TreebankWordTokenizer().tokenize


# --------------------------------------------------------------------------------------- rarity


def texts_of(path: Path) -> list[str]:
    """The texts of a file, one a line, blank lines left out.

    Raises:
        MissingModel: it cannot be read, is not UTF-8 or has no text.
    """
    with _opened(path) as file:
        try:
            lines = file.read().decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            raise MissingModel(f"{path} is not UTF-8 (byte {error.start}); convert it") from error
    found = [text for line in lines if (text := line.strip())]
    if not found:
        raise MissingModel(f"{path} has no text; one a line is wanted")
    return found


def identity(path: Path) -> str:
    """``name@hash`` of a file; the hash is the first 12 digits of its SHA-256.

    Raises:
        MissingModel: it cannot be read.
    """
    try:
        facts = path.stat()
    except OSError as error:
        raise MissingModel(f"cannot read {path}: {error.strerror}; name a file") from error
    return f"{path.name}@{_hashed(path, facts.st_size, facts.st_mtime_ns)}"


@lru_cache(maxsize=16)
def _hashed(path: Path, size: int, changed: int) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def frequencies(bags: Iterable[Iterable[int]]) -> tuple[Counter[int], int]:
    """In how many texts each number occurs, and how many texts there are."""
    found: Counter[int] = Counter()
    total = 0
    for bag in bags:
        found.update(set(bag))
        total += 1
    return found, total
