"""Parses of texts: dependency trees and meaning graphs that a user's file gives.

A file of parsed texts (CoNLL-U for dependency trees, PENMAN for Abstract Meaning Representation) is
looked up by text; a UDPipe model parses what it is given (Straka and Straková, 2017).
"""

import io
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Generic, NamedTuple, Protocol, TypeVar

from ..data.files import read_text
from ..extras import needs
from ..schema import TstmetaError
from ..secrecy import excerpt
from . import hub

Parse = TypeVar("Parse", covariant=True)


class Word(NamedTuple):
    """A word of a dependency tree; ``head`` is a place in its text from 1, or 0 for a root."""

    form: str
    lemma: str
    upos: str
    head: int
    relation: str


#: The words of a text in order; a text of several sentences has several roots.
Tree = tuple[Word, ...]


class Graph(NamedTuple):
    """A labelled graph: nodes are places in ``labels``; attributes are (name, node, value)."""

    labels: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...] = ()
    relations: tuple[tuple[str, int, int], ...] = ()

    @property
    def triples(self) -> int:
        """Number of labels, attributes and relations: what Smatch counts."""
        return len(self.labels) + len(self.attributes) + len(self.relations)

    def first(self, nodes: int) -> "Graph":
        """The graph of the first nodes; what hangs on the others is left out."""
        attributes = tuple(part for part in self.attributes if part[1] < nodes)
        relations = tuple(part for part in self.relations if max(part[1:]) < nodes)
        return Graph(self.labels[:nodes], attributes, relations)


class Parser(Protocol[Parse]):
    """Whoever knows the parses of texts; ``identity`` is all that changes a parse."""

    @property
    def identity(self) -> str: ...

    def find(self, text: str) -> Parse:
        """The parse of a text; TstmetaError where there is none."""
        ...


class Kept(Generic[Parse]):
    """Parses of a file, looked up by text; runs of white space count as one space."""

    def __init__(self, path: Path, kind: str, parses: dict[str, Parse]):
        self.parses, self._path = parses, path
        self.identity = f"{kind}@{hub.file_hash(path)[:12]}"

    def find(self, text: str) -> Parse:
        parse = self.parses.get(_key(text))
        if parse is None:
            raise TstmetaError(
                f"{self._path.name} has no parse of {excerpt(text, 60)!r}: parse it and add it"
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
            sentences.append(
                [
                    Word(word.form, word.lemma or "_", word.upostag or "_", word.head, word.deprel)
                    for word in list(sentence.words)[1:]
                ]
            )
        if not able:
            raise TstmetaError(
                f"the UDPipe model {self._path.name} cannot parse texts: take one with tokenizer, "
                "tagger and parser"
            )
        if error.occurred() or not sentences:
            why = error.message or "no word"
            raise TstmetaError(f"UDPipe cannot parse {excerpt(text, 60)!r}: {why}")
        return _joined(sentences)


def trees(path: str) -> Parser[Tree]:
    """Dependency trees: a UDPipe model if the name ends in ``.udpipe``, else a CoNLL-U file."""
    file = Path(path).expanduser()
    return _parser("udpipe" if file.suffix == ".udpipe" else "conllu", file, hub.file_hash(file))


def graphs(path: str) -> Parser[Graph]:
    """Meaning graphs: a file of AMRs in PENMAN notation, each with a line ``# ::snt``."""
    file = Path(path).expanduser()
    return _parser("amr", file, hub.file_hash(file))


@lru_cache(maxsize=4)
def _parser(kind: str, path: Path, _hash: str) -> Parser:
    if kind == "udpipe":
        return Udpipe(path)
    return Kept(path, kind, read_amr(path) if kind == "amr" else read_conllu(path))


def _key(text: str) -> str:
    return " ".join(text.split())


def _joined(sentences: Iterable[list[Word]]) -> Tree:
    """The tree of a text from those of its sentences."""
    words: list[Word] = []
    for sentence in sentences:
        before = len(words)
        words += [word._replace(head=word.head + before if word.head else 0) for word in sentence]
    return tuple(words)


def _blocks(path: Path) -> Iterator[list[tuple[int, str]]]:
    """Lines with their numbers, in blocks that blank lines part."""
    lines = [line.rstrip("\r") for line in read_text(path, remedy="save it as UTF-8").split("\n")]
    for filled, block in groupby(enumerate(lines, 1), key=lambda line: bool(line[1].strip())):
        if filled:
            yield list(block)


def _fault(path: Path, line: int, what: str, remedy: str) -> TstmetaError:
    return TstmetaError(f"{path}, line {line}: {what}. Remedy: {remedy}")


def read_conllu(path: Path) -> dict[str, Tree]:
    """Dependency trees by text, from a file in CoNLL-U.

    A text is a document (from ``# newdoc`` to the next), a paragraph (``# newpar``) or a sentence
    of the file; where texts are equal, the first one of the largest kind counts.
    """
    sentences = [_sentence(path, block) for block in _blocks(path)]
    if not sentences:
        raise TstmetaError(f"{path} holds no sentence: is it the right file?")
    trees: dict[str, Tree] = {}
    for starts in ({"newdoc"}, {"newdoc", "newpar"}, None):
        groups: list[list[tuple[str, list[Word], set[str]]]] = []
        for sentence in sentences:
            if not groups or starts is None or sentence[2] & starts:
                groups.append([])
            groups[-1].append(sentence)
        for group in groups:
            texts, words, _ = zip(*group, strict=True)
            trees.setdefault(_key("".join(texts)), _joined(words))
    return trees


def _sentence(path: Path, block: list[tuple[int, str]]) -> tuple[str, list[Word], set[str]]:
    """A sentence's text, words, and the keys of its comments, such as ``newdoc``."""
    # "# key = value", or a mark such as "# newdoc id = 3", whose first word is the key
    marks = [line.lstrip("#").partition("=") for _, line in block if line.startswith("#")]
    comments = {(key.split() or [""])[0]: value.strip() for key, _, value in marks}
    rows = [(number, line) for number, line in block if not line.startswith("#")]
    words: list[Word] = []
    surface = [""]
    covered = 0
    for number, line in rows:
        columns = line.split("\t")
        if len(columns) != 10:
            what = f"{len(columns)} columns, separated by tabs, where CoNLL-U has 10"
            raise _fault(path, number, what, "write the file with a CoNLL-U writer")
        place, form, lemma, upos, _, _, head, relation, _, misc = columns
        if re.fullmatch(r"\d+\.\d+", place):  # an empty node is in no tree
            continue
        many = re.fullmatch(r"\d+-(\d+)", place)  # one token, several words
        if many or len(words) + 1 > covered:
            surface.append(form + " " * ("SpaceAfter=No" not in misc.split("|")))
        if many:
            covered = int(many[1])
            continue
        if place != str(len(words) + 1):
            what = f"the word's number is {place!r} where {len(words) + 1} follows"
            raise _fault(path, number, what, "number words from 1; part sentences by a blank line")
        if not re.fullmatch(r"[0-9]+", head):
            what = f"the head of {form!r} is {head!r}, no number"
            raise _fault(path, number, what, "parse the text: tags alone make no tree")
        words.append(Word(form, lemma, upos, int(head), relation))
    if not words:
        raise _fault(path, block[0][0], "a sentence without words", "remove the block, or parse it")
    reached, before = {0}, 0
    while len(reached) > before:
        before = len(reached)
        reached |= {place for place, word in enumerate(words, 1) if word.head in reached}
    if lost := set(range(1, len(words) + 1)) - reached:
        what = f"word {min(lost)} ({words[min(lost) - 1].form!r}) does not lead to a root by heads"
        remedy = "heads are 0 or numbers of words, without circles"
        raise _fault(path, rows[0][0], what, remedy)
    text = (comments.get("text") or "".join(surface)).strip() + " " * surface[-1].endswith(" ")
    return text, words, set(comments)


def read_amr(path: Path) -> dict[str, Graph]:
    """Meaning graphs by text, from a file of AMRs in PENMAN notation.

    Graphs are parted by blank lines and each has its whole text in a line ``# ::snt``.  They are
    read by the library smatch (Cai and Knight, 2013), which turns inverse relations round and adds
    the attribute TOP.  Where texts are equal, the first one counts.
    """
    graphs: dict[str, Graph] = {}
    for block in _blocks(path):
        body = [(number, line) for number, line in block if not line.startswith("#")]
        if not body:  # a heading
            continue
        texts = [match[1] for _, line in block if (match := re.match(r"#\s*::snt\s+(.*)", line))]
        if not texts:
            what = "a graph without its text"
            raise _fault(path, body[0][0], what, "write the text before it: # ::snt The text.")
        try:
            graph = _graph(" ".join(line.strip() for _, line in body))
        except ValueError as error:
            what = f"a graph that cannot be read ({error})"
            remedy = "write the graph anew in PENMAN notation, as (w / want-01 :ARG0 (b / boy))"
            raise _fault(path, body[0][0], what, remedy) from error
        graphs.setdefault(_key(texts[0]), graph)
    if not graphs:
        raise TstmetaError(f"{path} holds no graph: is it the right file?")
    return graphs


#: Alignments to words, which some parsers write behind a node or relation.
_ALIGNMENT = re.compile(r"~(e\.)?[0-9]+(,[0-9]+)*")


def _graph(penman: str) -> Graph:
    """A graph; ValueError where smatch cannot read it, or would read another one."""
    from smatch import amr

    # what is in quotes stands in odd places; the library would drop what follows a space in it
    parts = penman.split('"')
    parts[0::2] = [_ALIGNMENT.sub("", part) for part in parts[0::2]]
    parts[1::2] = ["_".join(part.split()) for part in parts[1::2]]
    brackets = "".join(re.findall(r"[()]", "".join(parts[0::2])))
    while "()" in brackets:
        brackets = brackets.replace("()", "")
    if brackets or len(parts) % 2 == 0:
        raise ValueError("its quotes or parentheses do not match")
    # the library writes to a log of its own what is wrong, and breaks on some faults
    log, amr.ERROR_LOG = amr.ERROR_LOG, io.StringIO()
    try:
        graph = amr.AMR.parse_AMR_line('"'.join(parts))
        if graph is None:
            raise ValueError(" ".join(amr.ERROR_LOG.getvalue().split())[:200])
    except (IndexError, KeyError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    finally:
        amr.ERROR_LOG = log
    graph.rename_node("")  # nodes become their places
    labels, attributes, relations = graph.get_triples()
    return Graph(
        tuple(label for _, _, label in labels),
        tuple((name, int(node), value) for name, node, value in attributes),
        tuple((name, int(start), int(end)) for name, start, end in relations),
    )
