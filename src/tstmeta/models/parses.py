"""Dependency trees of texts: by spaCy, or of a file."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ..data.paths import read_text
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


class Parser(NamedTuple):
    """The parses of a file by text; ``identity`` names all that changes them."""

    identity: str
    file: str
    parses: Mapping[str, Tree]

    def prepare(self, texts: Iterable[str]) -> None:
        """Nothing is to be done: all parses are known."""

    def find(self, text: str) -> Tree:
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
        return _read(file, hub.file_hash(file))
    model = fetching.catalogue()[MODEL]
    if not model.here:
        raise TstmetaError(f"{MODEL} is not here: {model.remedy}")
    return _english(fetching.folder(MODEL))


@lru_cache(maxsize=4)
def _read(path: Path, digest: str) -> Parser:
    return Parser(f"conllu@{digest[:12]}", path.name, read_conllu(path))


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
    from ufal import udpipe

    shown = udpipe.OutputFormat.newOutputFormat("plaintext").writeSentence(sentence)
    return (sentence.getText() or shown).strip() + " " * shown[-1:].isspace()
