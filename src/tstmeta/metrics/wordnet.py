"""WordNet for METEOR: NLTK's corpus, else Debian's files, else nothing.

NLTK reads WordNet from a corpus folder that is downloaded.  Debian ships the same database
(packages ``wordnet-base`` and ``wordnet-sense-index``) without the one file that NLTK also wants,
``lexnames``, of which METEOR uses nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

#: Where Debian's ``wordnet-base`` puts the database.
DEBIAN = Path("/usr/share/wordnet")
#: The files that decide what ``synonyms`` answers.
_DATABASE = tuple(
    name.format(part)
    for part in ("adj", "adv", "noun", "verb")
    for name in ("data.{}", "index.{}", "{}.exc")
)
#: As long as the file that Debian leaves out: a number, a name and a category a line.
_LEXNAMES = "".join(f"{number:02d}\tunnamed\t0\n" for number in range(45))

#: NLTK's reader seeks in shared file handles, so one thread at a time.
_lock = threading.RLock()


def version() -> str | None:
    """What WordNet is used, e.g. ``wordnet-3.0-1a2b3c4d``; None where there is none.

    The last part is the start of the SHA-256 over the files that synonyms come from.
    """
    corpus = _corpus()
    return _version(corpus) if corpus is not None else None


@lru_cache(maxsize=2**16)
def synonyms(word: str) -> frozenset[str]:
    """One-word lemmas of all synsets of a word, as NLTK's METEOR looks them up.

    Inflected forms are reduced by WordNet's own rules (morphy); ``word`` is lower case.  Empty for
    a word that WordNet does not have, and wherever there is no WordNet.
    """
    with _lock:
        reader = _reader(os.getpid())
        if reader is None:
            return frozenset()
        names = {lemma.name() for synset in reader.synsets(word) for lemma in synset.lemmas()}
    return frozenset(name for name in names if "_" not in name)


class _Lemma(NamedTuple):
    word: str

    def name(self) -> str:
        return self.word


class _Synset(NamedTuple):
    words: frozenset[str]

    def lemmas(self) -> Iterator[_Lemma]:
        return map(_Lemma, self.words)


class Dictionary:
    """What NLTK's METEOR asks of a WordNet reader, answered from memory.

    METEOR puts the lemmas of all synsets of a word into one set, so one synset a word does.
    """

    def __init__(self, with_synonyms: bool = True):
        self._with_synonyms = with_synonyms

    def synsets(self, word: str) -> tuple[_Synset, ...]:
        """One synset that holds every synonym of a word."""
        return (_Synset(synonyms(word) if self._with_synonyms else frozenset()),)


@lru_cache(maxsize=1)
def _corpus() -> Any:
    """NLTK's pointer to the folder of the database; None where there is no WordNet."""
    import nltk.data

    for place in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(place)
        except LookupError:
            continue
    if not all((DEBIAN / name).is_file() for name in (*_DATABASE, "index.sense")):
        return None
    nltk.data.path.append(str(DEBIAN))  # NLTK reads from no other folders
    return nltk.data.FileSystemPathPointer(str(DEBIAN))


@lru_cache(maxsize=2)
def _reader(process: int) -> Any:
    """NLTK's reader; one a process, because a forked one would share file positions."""
    from nltk.corpus.reader import CorpusReader, WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    corpus = _corpus()
    if corpus is None:
        return None

    class English(WordNetCorpusReader):
        def open(self, file: str) -> Any:
            missing = file == "lexnames" and str(corpus) == str(DEBIAN)
            return StringIO(_LEXNAMES) if missing else super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """Leave out the map between versions: other languages need it, and it takes seconds."""

    # The reader warns when it gets no multilingual part; this one is never opened.
    multilingual = LazyCorpusLoader("omw-2.0", CorpusReader, r".*/wn-data-.*\.tab", encoding="utf8")
    return English(corpus, multilingual)


@lru_cache(maxsize=1)
def _version(corpus: Any) -> str:
    digest = hashlib.sha256()
    number = "unknown"
    for name in sorted(_DATABASE):
        with corpus.join(name).open() as file:
            content = file.read()
        digest.update(content)
        if match := re.search(rb"WordNet (\d+\.\d+) Copyright", content[:4000]):
            number = match[1].decode()
    return f"wordnet-{number}-{digest.hexdigest()[:8]}"
