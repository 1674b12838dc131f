"""What metrics of graphs and trees share: the words after the colon, which name a file of parses.

``ted:lemma+/path/parses.conllu`` is the variant ``lemma`` on the parses of that file.  A word that
is no option is a file; ``seed=7`` is a seed where a metric takes one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from ..models import hub
from ..models.parses import Parser
from ..models.treebank import Tree
from ..schema import Status, TstmetaError
from .base import Score

Parse = TypeVar("Parse")

#: What a word of a tree can be called by.
LABELS = ("form", "lemma", "upos")
#: What to do for a metric of dependency trees that was given none.
TREES = (
    "parse the texts with UDPipe, Stanza or another parser and name the CoNLL-U file, or name a "
    "UDPipe model, as in {name}:/path/parses.conllu and {name}:/path/model.udpipe"
)
#: The same for meaning graphs.
GRAPHS = (
    "parse the texts with an AMR parser and name the file in PENMAN notation, each graph under its "
    "text (# ::snt The text.), as in {name}:/path/parsed.amr"
)


class Given(Generic[Parse]):
    """What the words of a metric give it: options, a seed, files, and the parses in the first file.

    Args:
        metric: its name, for what users are told.
        words: what stands after the colon.
        options: kind of option -> its words; the first one is the default.
        read: makes a parser of a file (:func:`~tstmeta.models.parses.trees` or ``graphs``).
        remedy: what to do where no file is given.
        modules: libraries that the metric needs.
        seeded: whether it takes a seed.
        files: how many files it takes.

    Raises:
        TstmetaError: two words of one kind, or more files than it takes.
    """

    def __init__(
        self,
        metric: str,
        words: str,
        options: Mapping[str, Collection[str]],
        read: Callable[[str], Parser[Parse]],
        remedy: str,
        modules: tuple[str, ...] = (),
        seeded: bool = False,
        files: int = 1,
    ):
        self.chosen = {kind: next(iter(known)) for kind, known in options.items()}
        self.files: list[str] = []
        self._metric, self._read, self._modules = metric, read, modules
        self._remedy = remedy.format(name=metric)
        said: set[str] = set()
        for word in filter(None, words.split("+")):
            kind, value = _understood(word, options, seeded)
            if kind == "file":
                self.files.append(value)
            elif kind in said:
                raise TstmetaError(f"{words!r} names two words of the kind {kind}; name one")
            else:
                said.add(kind)
                self.chosen[kind] = value
        if len(self.files) > files:
            known = ", ".join(one for each in options.values() for one in each)
            raise TstmetaError(
                f"{words!r} names {len(self.files)} files where {metric} takes {files}; "
                f"what is no file is one of {known}"
            )
        self.seed = int(self.chosen.get("seed", 0))

    @property
    def missing(self) -> str:
        """What to do when there are no parses; empty when there are.  Reads the file."""
        if lacking := hub.lacking(*self._modules):
            return lacking
        if not self.files:
            return f"{self._metric} needs parses and no parser comes with us: {self._remedy}"
        if not Path(self.files[0]).expanduser().is_file():
            return f"{self.files[0]} is no file: {self._remedy}"
        try:
            self._parser()
        except TstmetaError as error:
            return str(error)
        return ""

    @property
    def identity(self) -> str:
        """Which parses they are, for a signature."""
        return "none" if self.missing else self._parser().identity

    def find(self, text: str) -> Parse:
        """The parse of a text.

        Raises:
            MissingParse: there is none.
        """
        return self._parser().find(text)

    def _parser(self) -> Parser[Parse]:
        return self._read(self.files[0])


def _understood(word: str, options: Mapping[str, Collection[str]], seeded: bool) -> tuple[str, str]:
    """The kind of a word, ``seed`` and ``file`` among them, and what it says."""
    for kind, known in options.items():
        if word in known:
            return kind, word
    if seeded and (match := re.fullmatch(r"seed=([0-9]+)", word)):
        return "seed", match[1]
    return "file", word


def labels(tree: Tree, by: str) -> list[str]:
    """What the words of a tree are called by, in lower case.

    Args:
        by: ``form``, ``lemma`` or ``upos``.

    Raises:
        TstmetaError: the parser gave no lemmas or parts of speech.
    """
    found = [str(getattr(word, by)) for word in tree]
    for word, label in zip(tree, found, strict=True):
        if label == "_" and word.form != "_":
            raise TstmetaError(f"the parse has no {by} of {word.form!r}: use the variant form")
    return [label.lower() for label in found]


def first(tree: Tree, limit: int) -> Tree:
    """The first words of a long text; words whose head is cut off become roots."""
    kept = tree[:limit]
    return tuple(one._replace(head=one.head if one.head <= limit else 0) for one in kept)


def failed(error: Exception) -> Score:
    """The score of a pair with a text that has no parse."""
    return Score(math.nan, Status.ERROR, str(error))


def cut(sizes: tuple[int, int], limit: int, what: str) -> str:
    """What to tell of parses of which only the first part is used; empty when all is."""
    return f"{max(sizes)} {what}, first {limit} used" if max(sizes) > limit else ""
