"""Parses of texts: dependency trees by spaCy or of a file, meaning graphs of a file."""

import io
import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ..data.files import read_text
from ..extras import needs
from ..schema import TstmetaError
from ..secrecy import excerpt
from . import fetching, hub

#: What parses English where no file is named.
MODEL = "en_core_web_sm"


class Word(NamedTuple):
    """A word of a dependency tree; ``head`` is a place in its text from 1, or 0 for a root."""

    form: str
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


class Parser(NamedTuple):
    """The parses of a file by text; ``identity`` names all that changes them."""

    identity: str
    file: str
    parses: Mapping[str, Any]

    def prepare(self, texts: Iterable[str]) -> None:
        """Nothing is to be done: all parses are known."""

    def find(self, text: str) -> Any:
        """The parse of a text, whatever its white space; TstmetaError where there is none."""
        if (parse := self.parses.get(_key(text))) is None:
            words = excerpt(text, 60)
            raise TstmetaError(f"{self.file} has no parse of {words!r}: parse it and add it")
        return parse


class English:
    """Dependency trees of English texts by :data:`MODEL`, which spaCy runs (Honnibal et al., 2020).

    White space does not count.  Relations are those of spaCy's model, parts of speech universal.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self._trees: dict[str, Tree] = {}

    @property
    def identity(self) -> str:
        """The model with its version, and spaCy's."""
        facts = json.loads((self.folder / "meta.json").read_text(encoding="utf-8"))
        return f"{MODEL}-{facts['version']}+spacy-{version('spacy')}"

    @cached_property
    def _pipe(self) -> Callable[[Iterable[str]], Iterable[Any]]:
        import spacy

        return spacy.load(self.folder, exclude=["ner", "lemmatizer"]).pipe

    def prepare(self, texts: Iterable[str]) -> None:
        """Parse texts in batches; those of the last call are remembered."""
        keys = list(dict.fromkeys(map(_key, texts)))
        self._trees = dict(zip(keys, map(_spacy_tree, self._pipe(keys)), strict=True))

    def find(self, text: str) -> Tree:
        """The tree of a text; its sentences have a root each."""
        if _key(text) not in self._trees:
            self.prepare([text])
        return self._trees[_key(text)]


def _spacy_tree(doc: Any) -> Tree:
    # the head of a root is itself
    heads = [0 if token.head == token else token.head.i + 1 for token in doc]
    return tuple(Word(word.text, word.pos_, heads[word.i], word.dep_) for word in doc)


_english = lru_cache(maxsize=1)(English)


def trees(path: str = "") -> Parser | English:
    """Dependency trees: of a file in CoNLL-U, or of English texts where none is named."""
    needs("ufal" if path else "spacy")
    if path:
        file = Path(path).expanduser()
        return _read("conllu", file, hub.file_hash(file))
    model = fetching.catalogue()[MODEL]
    if not model.here:
        raise TstmetaError(f"{MODEL} is not here: {model.remedy}")
    return _english(fetching.folder(MODEL))


def graphs(path: str) -> Parser:
    """Meaning graphs: a file of AMRs in PENMAN notation, each with a line ``# ::snt``."""
    file = Path(path).expanduser()
    return _read("amr", file, hub.file_hash(file))


@lru_cache(maxsize=4)
def _read(kind: str, path: Path, digest: str) -> Parser:
    parses: dict[str, Any] = read_amr(path) if kind == "amr" else read_conllu(path)
    return Parser(f"{kind}@{digest[:12]}", path.name, parses)


def _key(text: str) -> str:
    return " ".join(text.split())


def _sentences(path: Path) -> list[Any]:
    """The sentences of a file in CoNLL-U, as UDPipe reads them."""
    from ufal import udpipe

    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(read_text(path).replace("\0", " "))  # a zero byte would end the text
    sentences: list[Any] = []
    while reader.nextSentence(sentence := udpipe.Sentence(), error):
        sentences.append(sentence)
    if error.occurred() or not sentences:
        place = f"{path} is not read as CoNLL-U, sentence {len(sentences) + 1}"
        remedy = "write it with the CoNLL-U writer of a parser"
        raise TstmetaError(f"{place}: {error.message or 'no word'}. Remedy: {remedy}")
    return sentences


def _tree(sentences: list[Any]) -> Tree:
    """The tree of a text from its sentences of UDPipe, whose first word is a root of its own."""
    words: list[Word] = []
    for sentence in sentences:
        before = len(words)
        for word in list(sentence.words)[1:]:
            head = word.head + before if word.head else 0
            words.append(Word(word.form, word.upostag or "_", head, word.deprel or "_"))
    return tuple(words)


def read_conllu(path: Path) -> dict[str, Tree]:
    """Trees of a CoNLL-U file by text: of documents, else paragraphs, else sentences."""
    sentences = _sentences(path)
    for number, sentence in enumerate(sentences, 1):
        reached = [0]
        for place in reached:
            reached += list(sentence.words[place].children)
        if lost := sorted(set(range(len(sentence.words))) - {*reached}):
            raise TstmetaError(
                f"{path}, sentence {number}: {sentence.words[lost[0]].form!r} (word {lost[0]}) does"
                " not lead to a root by heads. Remedy: parse the text; tags alone make no tree"
            )
    trees: dict[str, Tree] = {}
    for level in range(3):
        groups: list[list[Any]] = []
        for sentence in sentences:
            starts = (sentence.getNewDoc(), sentence.getNewDoc() or sentence.getNewPar(), True)
            if not groups or starts[level]:
                groups.append([])
            groups[-1].append(sentence)
        for group in groups:
            trees.setdefault(_key("".join(map(_surface, group))), _tree(group))
    return trees


def _surface(sentence: Any) -> str:
    """A sentence's text, with the space that follows it."""
    several = {token.idFirst: token for token in sentence.multiwordTokens}
    shown, place = "", 1
    while place < len(sentence.words):
        token = several.get(place, sentence.words[place])
        shown += token.form + " " * token.getSpaceAfter()
        place = getattr(token, "idLast", place) + 1
    return (sentence.getText() or shown).strip() + " " * shown.endswith(" ")


def read_amr(path: Path) -> dict[str, Graph]:
    """Meaning graphs by text, parted by blank lines, from a file in PENMAN notation.

    The library smatch (Cai and Knight, 2013) reads them, turns inverse relations round and adds the
    attribute TOP.  Where texts are equal, the first one counts.
    """
    graphs: dict[str, Graph] = {}
    lines = enumerate(read_text(path).split("\n"), 1)
    for filled, block in groupby(lines, key=lambda line: bool(line[1].strip())):
        text, body = "", []
        for number, line in block:
            if match := re.match(r"#\s*::snt\s+(.*)", line):
                text = text or match[1]
            elif not line.startswith("#"):
                body.append((number, line.strip()))
        if not filled or not body:  # blank lines, or a heading
            continue
        where = f"{path}, line {body[0][0]}"
        if not text:
            what = "a graph without its text. Remedy: write it before: # ::snt The text."
            raise TstmetaError(f"{where}: {what}")
        try:
            graph = _graph(" ".join(line for _, line in body))
        except ValueError as error:
            remedy = "write the graph anew in PENMAN notation, as (w / want-01 :ARG0 (b / boy))"
            what = f"a graph that cannot be read ({error}). Remedy: {remedy}"
            raise TstmetaError(f"{where}: {what}") from error
        graphs.setdefault(_key(text), graph)
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
