"""What metrics of graphs and trees share: options and a file of parses after the colon."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from ..extras import lacking
from ..models import parses
from ..models.parses import Parser, Tree
from ..schema import TstmetaError
from .base import Score, failed
from .batched import ModelMetric, Pair
from .variants import choose

#: What a word of a tree can be called by.
LABELS = ("form", "lemma", "upos")


class ParseMetric(ModelMetric):
    """A metric of parses, dependency trees mostly, which come from the file that its words name.

    ``options`` are the words of each kind, the default first; ``remedy`` says what to do where no
    file is named; ``modules`` are the libraries that the metric needs.
    """

    profile = "real"
    options: ClassVar[dict[str, tuple[str, ...]]]
    remedy: ClassVar[str] = (
        "parse the texts with UDPipe, Stanza or another parser and name the CoNLL-U file, or name "
        "a UDPipe model, as in {name}:/path/parses.conllu and {name}:/path/model.udpipe"
    )
    modules: ClassVar[tuple[str, ...]] = ()

    def __init__(self, words: str = ""):
        chosen, files = choose(words, self.options)
        if len(files) > 1:
            raise TstmetaError(f"{words!r} names {len(files)} files where {self.name} takes one")
        self.chosen = {kind: known[0] for kind, known in self.options.items()} | chosen
        self.file = files[0] if files else ""
        super().__init__(words)

    def read(self, file: str) -> Parser:
        """The parses of a file."""
        return parses.trees(file)

    @property
    def missing(self) -> str:
        """What to do when there are no parses; empty when there are.  Reads the file."""
        if packages := lacking(*self.modules):
            return packages
        name = type(self).name
        remedy = self.remedy.format(name=name)
        if not self.file:
            return f"{name} needs parses and no parser comes with us: {remedy}"
        if not Path(self.file).expanduser().is_file():
            return f"{self.file} is no file: {remedy}"
        try:
            self.read(self.file)
        except TstmetaError as error:
            return str(error)
        return ""

    @property
    def identity(self) -> str:
        """Which parses they are, for a signature."""
        try:
            return self.read(self.file).identity if self.file else "none"
        except (TstmetaError, OSError):
            return "none"

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        return [self._pair(*pair) for pair in pairs]

    def _pair(self, text: str, output: str) -> Score:
        try:
            return self.compare(self.find(text), self.find(output))
        except TstmetaError as error:  # a text without a parse costs only itself
            return failed(error)

    def find(self, text: str) -> Any:
        """The parse of a text."""
        return self.read(self.file).find(text)


def labels(tree: Tree, by: str) -> list[str]:
    """What the words of a tree are called by (one of :data:`LABELS`), in lower case."""
    names = [str(getattr(word, by)) for word in tree]
    for word, name in zip(tree, names, strict=True):
        if name == "_" and word.form != "_":
            raise TstmetaError(f"the parse has no {by} of {word.form!r}: use the variant form")
    return [name.lower() for name in names]


def first(tree: Tree, limit: int) -> Tree:
    """The first words of a long text; words whose head is cut off become roots."""
    return tuple(
        word._replace(head=word.head if word.head <= limit else 0) for word in tree[:limit]
    )
