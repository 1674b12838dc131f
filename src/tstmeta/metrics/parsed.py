"""What metrics of graphs and trees share: options and a file of parses after the colon.

``ted:lemma+/path/parses.conllu`` is the variant ``lemma`` on the parses of that file.  A word that
is no option is a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from ..extras import lacking
from ..models.parses import Parser
from ..models.treebank import Tree
from ..schema import TstmetaError
from .base import Score
from .batched import ModelMetric, Pair, failed

Parse = TypeVar("Parse")

#: What a word of a tree can be called by.
LABELS = ("form", "lemma", "upos")
#: What to do for a metric of dependency trees that was given none.
TREES = (
    "parse the texts with UDPipe, Stanza or another parser and name the CoNLL-U file, or name a "
    "UDPipe model, as in {name}:/path/parses.conllu and {name}:/path/model.udpipe"
)


class ParseMetric(ModelMetric, Generic[Parse]):
    """A metric of parses, which come from the file that its words name.

    Attributes:
        options: kind of option -> its words; the first one is the default.
        remedy: what to do where no file is named.
        modules: libraries that the metric needs.

    Raises:
        TstmetaError: two words of one kind, or two files.
    """

    profile = "real"
    options: ClassVar[dict[str, tuple[str, ...]]]
    remedy: ClassVar[str] = TREES
    modules: ClassVar[tuple[str, ...]] = ()

    def __init__(self, words: str = ""):
        every = [word for word in words.split("+") if word]
        self.chosen: dict[str, str] = {}
        for kind, known in self.options.items():
            named = [word for word in every if word in known]
            if len(named) > 1:
                raise TstmetaError(f"{words!r} names two words of the kind {kind}; name one")
            self.chosen[kind] = named[0] if named else known[0]
        known_words = [word for known in self.options.values() for word in known]
        files = [word for word in every if word not in known_words]
        if len(files) > 1:
            raise TstmetaError(
                f"{words!r} names {len(files)} files where {self.name} takes one; what is no file "
                f"is one of {', '.join(known_words)}"
            )
        self.file = files[0] if files else ""
        self._bare, self._remedy = self.name, self.remedy.format(name=self.name)
        super().__init__(words)

    def read(self, file: str) -> Parser[Parse]:
        """The parses of a file."""
        raise NotImplementedError

    @property
    def missing(self) -> str:
        return self.parses_missing

    @property
    def parses_missing(self) -> str:
        """What to do when there are no parses; empty when there are.  Reads the file."""
        if packages := lacking(*self.modules):
            return packages
        if not self.file:
            return f"{self._bare} needs parses and no parser comes with us: {self._remedy}"
        if not Path(self.file).expanduser().is_file():
            return f"{self.file} is no file: {self._remedy}"
        try:
            self.read(self.file)
        except TstmetaError as error:
            return str(error)
        return ""

    @property
    def identity(self) -> str:
        """Which parses they are, for a signature."""
        return "none" if self.parses_missing else self.read(self.file).identity

    def pairs(self, pairs: Sequence[Pair]) -> list[Score]:
        return [self._pair(*pair) for pair in pairs]

    def _pair(self, text: str, output: str) -> Score:
        try:
            return self.compare(self.find(text), self.find(output))
        except TstmetaError as error:  # a text without a parse costs only itself
            return failed(error)

    def find(self, text: str) -> Parse:
        """The parse of a text.

        Raises:
            MissingParse: there is none.
        """
        return self.read(self.file).find(text)

    def compare(self, text: Parse, output: Parse) -> Score:
        """The score of an output beside the text that it is compared with."""
        raise NotImplementedError


def labels(tree: Tree, by: str) -> list[str]:
    """What the words of a tree are called by, in lower case.

    Args:
        by: ``form``, ``lemma`` or ``upos``.

    Raises:
        TstmetaError: the parser gave no lemmas or parts of speech.
    """
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
