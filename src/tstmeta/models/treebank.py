"""Files of parsed texts: dependency trees in CoNLL-U, meaning graphs (AMR) in PENMAN notation.

Both are text, so they are read here in full and each fault is told with its line.  The trees are
those of Universal Dependencies; the graphs are read by the library smatch, which also scores them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..schema import TstmetaError


class Word(NamedTuple):
    """A word of a dependency tree; ``_`` where the parser said nothing.

    ``head`` is the place in its text of the word that it hangs on, counted from 1; 0 for the root
    of a sentence.
    """

    form: str
    lemma: str
    upos: str
    head: int
    relation: str


#: The words of a text in order; a text of several sentences has several roots.
Tree = tuple[Word, ...]


class Graph(NamedTuple):
    """A labelled graph; nodes are places in ``labels``.

    ``attributes`` are (name, node, value), ``relations`` (name, from, to).
    """

    labels: tuple[str, ...]
    attributes: tuple[tuple[str, int, str], ...] = ()
    relations: tuple[tuple[str, int, int], ...] = ()

    @property
    def triples(self) -> int:
        """Number of labels, attributes and relations: what Smatch counts."""
        return len(self.labels) + len(self.attributes) + len(self.relations)

    def first(self, nodes: int) -> Graph:
        """The graph of the first nodes; what hangs on the others is left out."""
        attributes = tuple(one for one in self.attributes if one[1] < nodes)
        relations = tuple(one for one in self.relations if max(one[1:]) < nodes)
        return Graph(self.labels[:nodes], attributes, relations)


def lookup_key(text: str) -> str:
    """What a text is looked up by: runs of white space count as one space."""
    return " ".join(text.split())


def _blocks(path: Path) -> Iterator[list[tuple[int, str]]]:
    """Lines with their numbers, in blocks that blank lines part."""
    block: list[tuple[int, str]] = []
    try:
        with open(path, encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    block.append((number, line.rstrip("\r\n")))
                elif block:
                    yield block
                    block = []
    except UnicodeDecodeError as error:
        raise TstmetaError(f"{path} is not UTF-8 text: save it as UTF-8") from error
    if block:
        yield block


def _fault(path: Path, line: int, what: str, remedy: str) -> TstmetaError:
    return TstmetaError(f"{path}, line {line}: {what}. Remedy: {remedy}")


# ------------------------------------------------------------------------------------ CoNLL-U


class _Sentence(NamedTuple):
    text: str
    words: list[Word]
    #: Whether white space follows it in its text.
    spaced: bool
    marks: frozenset[str]


def read_conllu(path: Path) -> dict[str, Tree]:
    """Dependency trees by text, from a file in CoNLL-U.

    A text is a document (from ``# newdoc`` to the next), a paragraph (``# newpar``) or a sentence
    of the file; where texts are equal, the first one of the largest kind counts.  Of the columns
    ID, FORM, LEMMA, UPOS, HEAD and DEPREL are used; empty nodes and enhanced dependencies are not.

    Raises:
        TstmetaError: a line that breaks the format; says which, what and the remedy.
    """
    sentences = [_sentence(path, block) for block in _blocks(path)]
    if not sentences:
        raise TstmetaError(f"{path} holds no sentence: is it the right file?")
    found: dict[str, Tree] = {}
    for starts in ({"newdoc"}, {"newdoc", "newpar"}, None):
        for group in _groups(sentences, starts):
            text = "".join(one.text + " " * one.spaced for one in group)
            found.setdefault(lookup_key(text), joined([one.words for one in group]))
    return found


def _groups(sentences: list[_Sentence], starts: set[str] | None) -> list[list[_Sentence]]:
    """Runs of sentences, each begun by one of the marks; None: each sentence by itself."""
    groups: list[list[_Sentence]] = []
    for one in sentences:
        if not groups or starts is None or one.marks & starts:
            groups.append([])
        groups[-1].append(one)
    return groups


def joined(sentences: list[list[Word]]) -> Tree:
    """The tree of a text from those of its sentences, whose heads count from each one's start."""
    words: list[Word] = []
    for sentence in sentences:
        before = len(words)
        words += [one._replace(head=one.head + before if one.head else 0) for one in sentence]
    return tuple(words)


def _sentence(path: Path, block: list[tuple[int, str]]) -> _Sentence:
    comments = dict(_comment(line) for _, line in block if line.startswith("#"))
    rows = [(number, line) for number, line in block if not line.startswith("#")]
    if not rows:
        raise _fault(path, block[0][0], "a sentence without words", "remove the block, or parse it")
    words: list[Word] = []
    surface: list[tuple[str, bool]] = []
    covered = 0
    for number, line in rows:
        columns = line.split("\t")
        if len(columns) != 10:
            what = f"{len(columns)} columns, separated by tabs, where CoNLL-U has 10"
            raise _fault(path, number, what, "write the file with a CoNLL-U writer")
        place, form, spaced = columns[0], columns[1], "SpaceAfter=No" not in columns[9].split("|")
        if re.fullmatch(r"\d+\.\d+", place):  # an empty node is in no tree
            continue
        if many := re.fullmatch(r"(\d+)-(\d+)", place):  # one token, several words
            surface.append((form, spaced))
            covered = int(many[2])
            continue
        if place != str(len(words) + 1):
            what = f"the word's number is {place!r} where {len(words) + 1} follows"
            raise _fault(path, number, what, "number words from 1; part sentences by a blank line")
        if len(words) + 1 > covered:
            surface.append((form, spaced))
        words.append(Word(form, columns[2], columns[3], _head(path, number, columns), columns[7]))
    _check_tree(path, rows[0][0], words)
    text = comments.get("text") or "".join(form + " " * spaced for form, spaced in surface)
    return _Sentence(text.strip(), words, surface[-1][1], frozenset(comments))


def _comment(line: str) -> tuple[str, str]:
    """``# key = value``, or a mark such as ``# newdoc id = 3``, whose first word is the key."""
    key, _, value = line.lstrip("#").partition("=")
    return (key.split() or [""])[0], value.strip()


def _head(path: Path, number: int, columns: list[str]) -> int:
    if not re.fullmatch(r"[0-9]+", columns[6]):
        what = f"the head of {columns[1]!r} is {columns[6]!r}, no number"
        raise _fault(path, number, what, "parse the text: tags alone make no tree")
    return int(columns[6])


def _check_tree(path: Path, line: int, words: list[Word]) -> None:
    """Refuse heads outside the sentence and words that do not hang on a root."""
    safe = {0}
    for start in range(1, len(words) + 1):
        way, here = [], start
        while here not in safe:
            if here > len(words) or here in way:
                what = f"word {start} ({words[start - 1].form!r}) does not lead to a root by heads"
                raise _fault(path, line, what, "heads are 0 or numbers of words, without circles")
            way.append(here)
            here = words[here - 1].head
        safe.update(way)


# ---------------------------------------------------------------------------------------- AMR

#: Alignments to words, which some parsers write behind a node or relation.
_ALIGNMENT = re.compile(r"~(e\.)?[0-9]+(,[0-9]+)*")
_SENTENCE_OF = re.compile(r"#\s*::snt\s+(.*)")


def read_amr(path: Path) -> dict[str, Graph]:
    """Meaning graphs by text, from a file of AMRs in PENMAN notation.

    Graphs are parted by blank lines and each has its whole text in a line ``# ::snt``.  They are
    read by the library smatch (Cai and Knight, 2013), which turns inverse relations round and adds
    the attribute TOP; before that, alignments are removed, and spaces in quotes become ``_``, since
    the library would drop what follows them.  Where texts are equal, the first one counts.

    Raises:
        TstmetaError: a graph that cannot be read; says where, why and the remedy.
    """
    found: dict[str, Graph] = {}
    for block in _blocks(path):
        body = [(number, line) for number, line in block if not line.startswith("#")]
        if not body:  # a heading
            continue
        said = [match[1] for _, line in block if (match := _SENTENCE_OF.match(line))]
        if not said:
            what = "a graph without its text"
            raise _fault(path, body[0][0], what, "write the text before it: # ::snt The text.")
        graph = _graph(path, body[0][0], " ".join(line.strip() for _, line in body))
        found.setdefault(lookup_key(said[0]), graph)
    if not found:
        raise TstmetaError(f"{path} holds no graph: is it the right file?")
    return found


def _graph(path: Path, line: int, penman: str) -> Graph:
    remedy = "write the graph anew in PENMAN notation, as (w / want-01 :ARG0 (b / boy))"
    plain = penman.split('"')  # what is in quotes stands in odd places
    if len(plain) % 2 == 0:
        raise _fault(path, line, "a quote is not closed", remedy)
    plain[0::2] = [_ALIGNMENT.sub("", part) for part in plain[0::2]]
    plain[1::2] = ["_".join(part.split()) for part in plain[1::2]]
    brackets = "".join(re.findall(r"[()]", "".join(plain[0::2])))
    while "()" in brackets:
        brackets = brackets.replace("()", "")
    if brackets:
        raise _fault(path, line, "its parentheses do not match", remedy)
    return _read_penman(path, line, '"'.join(plain), remedy)


def _read_penman(path: Path, line: int, penman: str, remedy: str) -> Graph:
    from smatch import amr

    # the library tells a log of its own what is wrong, and breaks on some faults
    kept, amr.ERROR_LOG = amr.ERROR_LOG, io.StringIO()
    try:
        read = amr.AMR.parse_AMR_line(penman)
        why = amr.ERROR_LOG.getvalue()
    except (IndexError, KeyError) as error:
        read, why = None, f"{type(error).__name__}: {error}"
    finally:
        amr.ERROR_LOG = kept
    if read is None:
        what = f"a graph that cannot be read ({' '.join(why.split())[:200]})"
        raise _fault(path, line, what, remedy)
    read.rename_node("")  # nodes become their places
    labels, attributes, relations = read.get_triples()
    return Graph(
        tuple(label for _, _, label in labels),
        tuple((name, int(node), value) for name, node, value in attributes),
        tuple((name, int(one), int(other)) for name, one, other in relations),
    )
