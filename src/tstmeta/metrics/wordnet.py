"""WordNet for METEOR: NLTK's corpus, else Debian's files, else nothing.

Debian ships the same database (packages ``wordnet-base`` and ``wordnet-sense-index``) without the
file ``lexnames``, which NLTK wants.
"""

import hashlib
import os
import re
import threading
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

#: Where Debian's ``wordnet-base`` puts the database.
DEBIAN = Path("/usr/share/wordnet")
#: The files that decide which synsets a word has.
_DATABASE = tuple(
    name.format(part)
    for part in ("adj", "adv", "noun", "verb")
    for name in ("data.{}", "index.{}", "{}.exc")
)
#: As long as the file that Debian leaves out: a number, a name and a category a line.
_LEXNAMES = "".join(f"{number:02d}\tunnamed\t0\n" for number in range(45))

#: NLTK's reader seeks in shared file handles, so one thread at a time.
_lock = threading.RLock()


@lru_cache(maxsize=2**16)
def synsets(word: str) -> tuple:
    """NLTK's synsets of a lower-case word, by WordNet's own lemmas; none where no WordNet is."""
    with _lock:
        reader = _reader(os.getpid())
        return tuple(reader.synsets(word)) if reader else ()


@lru_cache(maxsize=1)
def version() -> str | None:
    """What WordNet is used, e.g. ``wordnet-3.0-1a2b3c4d``; None where there is none.

    The last part is the start of the SHA-256 over the files that synsets come from.
    """
    corpus = _corpus()
    if corpus is None:
        return None
    digest, number = hashlib.sha256(), None
    for name in sorted(_DATABASE):
        with corpus.join(name).open() as file:
            content = file.read()
        digest.update(content)
        number = number or re.search(rb"WordNet (\d+\.\d+) Copyright", content[:4000])
    return f"wordnet-{number[1].decode() if number else 'unknown'}-{digest.hexdigest()[:8]}"


@lru_cache(maxsize=1)
def _corpus() -> Any:
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
