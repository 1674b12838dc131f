"""Parses of texts: dependency trees and meaning graphs that a user's file gives.

A file of parsed texts (CoNLL-U for dependency trees, PENMAN for Abstract Meaning Representation) is
looked up by text; a UDPipe model parses what it is given (Straka and Straková, 2017).
"""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from ..extras import needs
from ..schema import TstmetaError
from . import hub
from .treebank import Graph, Tree, Word, joined, lookup_key, read_amr, read_conllu

Parse = TypeVar("Parse", covariant=True)


class MissingParse(TstmetaError):
    """A text that has no parse; the message says which and what to do."""


class Parser(Protocol[Parse]):
    """Whoever knows the parses of texts; ``identity`` is all that changes a parse."""

    @property
    def identity(self) -> str: ...

    def find(self, text: str) -> Parse:
        """The parse of a text; MissingParse where there is none."""
        ...


class Kept(Generic[Parse]):
    """Parses of a file, looked up by text; runs of white space count as one space."""

    def __init__(self, path: Path, kind: str, parses: dict[str, Parse]):
        self.parses = parses
        self.identity = f"{kind}@{hub.file_hash(path)[:12]}"
        self._path = path

    def find(self, text: str) -> Parse:
        parse = self.parses.get(lookup_key(text))
        if parse is None:
            raise MissingParse(
                f"{self._path.name} has no parse of {_beginning(text)!r}: parse the text and add it"
            )
        return parse


class Udpipe:
    """A UDPipe model that cuts a text into sentences and words, tags and parses them."""

    def __init__(self, path: Path):
        needs("ufal")
        from ufal import udpipe

        self._udpipe, self._path = udpipe, path
        self.identity = f"udpipe@{hub.file_hash(path)[:12]}+{version('ufal.udpipe')}"
        # a broken file gives None, and any use of that ends the process
        self._model = udpipe.Model.load(str(path))
        if self._model is None:
            raise TstmetaError(f"{path} is no UDPipe model: fetch it again, or train it anew")
        # sources come back with every system's output
        self.find = lru_cache(maxsize=2**14)(self._parsed)

    def _parsed(self, text: str) -> Tree:
        default, error = self._model.DEFAULT, self._udpipe.ProcessingError()
        reader = self._model.newTokenizer(default)
        sentences = []
        able = reader is not None
        if able:
            # a zero byte would end the text for the library, half a character its call
            reader.setText(text.replace("\0", " ").encode("utf-8", "replace").decode())
        while able and reader.nextSentence(sentence := self._udpipe.Sentence(), error):
            able = self._model.tag(sentence, default) and self._model.parse(sentence, default)
            # the first word is UDPipe's own root
            sentences.append([_word(word) for word in list(sentence.words)[1:]])
        if not able:
            raise MissingParse(
                f"the UDPipe model {self._path.name} cannot parse texts: take one with tokenizer, "
                "tagger and parser"
            )
        if error.occurred() or not sentences:
            why = error.message or "no word"
            raise MissingParse(f"UDPipe cannot parse {_beginning(text)!r}: {why}")
        return joined(sentences)


def trees(path: str) -> Parser[Tree]:
    """Dependency trees: a UDPipe model if the name ends in ``.udpipe``, else a CoNLL-U file."""
    file = Path(path).expanduser()
    return _read("udpipe" if file.suffix == ".udpipe" else "conllu", file, hub.file_hash(file))


def graphs(path: str) -> Parser[Graph]:
    """Meaning graphs: a file of AMRs in PENMAN notation, each with a line ``# ::snt``."""
    file = Path(path).expanduser()
    return _read("amr", file, hub.file_hash(file))


@lru_cache(maxsize=4)
def _read(kind: str, path: Path, _hash: str) -> Parser:
    """A file's parser; a file that is written anew is another."""
    if kind == "udpipe":
        return Udpipe(path)
    return Kept(path, kind, read_amr(path) if kind == "amr" else read_conllu(path))


def _beginning(text: str) -> str:
    shown = lookup_key(text)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


def _word(word) -> Word:
    return Word(word.form, word.lemma or "_", word.upostag or "_", word.head, word.deprel)
