"""Finding WordNet for METEOR: NLTK's corpus, else Debian's files, else nothing.

NLTK reads WordNet from a corpus folder that is downloaded.  Debian ships the same database
(packages ``wordnet-base`` and ``wordnet-sense-index``) without the one file that NLTK also wants,
``lexnames``; we copy the files once into the user's cache and write that file.  Nothing is read
before it is needed, several processes may convert at once, and a forked process opens the files
anew.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from platformdirs import user_cache_dir

#: Where Debian's ``wordnet-base`` puts the database.
DEBIAN = Path("/usr/share/wordnet")
#: The files that decide what ``synonyms`` answers.
_DATABASE = tuple(
    name.format(part)
    for part in ("adj", "adv", "noun", "verb")
    for name in ("data.{}", "index.{}", "{}.exc")
)
#: What NLTK's reader wants besides; ``lexnames`` is written by us.
_COPIED = (*_DATABASE, "cntlist.rev", "index.sense")

#: The lexicographer files in order of their number; manual page lexnames(5WN) of WordNet 3.0.
_LEXICOGRAPHER_FILES = (
    *("adj.all", "adj.pert", "adv.all"),
    *("noun.Tops", "noun.act", "noun.animal", "noun.artifact", "noun.attribute", "noun.body"),
    *("noun.cognition", "noun.communication", "noun.event", "noun.feeling", "noun.food"),
    *("noun.group", "noun.location", "noun.motive", "noun.object", "noun.person"),
    *("noun.phenomenon", "noun.plant", "noun.possession", "noun.process", "noun.quantity"),
    *("noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time"),
    *("verb.body", "verb.change", "verb.cognition", "verb.communication", "verb.competition"),
    *("verb.consumption", "verb.contact", "verb.creation", "verb.emotion", "verb.motion"),
    *("verb.perception", "verb.possession", "verb.social", "verb.stative", "verb.weather"),
    "adj.ppl",
)
_CATEGORY = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}

#: NLTK's reader seeks in shared file handles, so one thread at a time.
_lock = threading.RLock()


def lexnames() -> str:
    """The file ``lexnames``: number, name and syntactic category of the 45 lexicographer files."""
    return "".join(
        f"{number:02d}\t{name}\t{_CATEGORY[name.partition('.')[0]]}\n"
        for number, name in enumerate(_LEXICOGRAPHER_FILES)
    )


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
        self._look_up: Callable[[str], frozenset[str]] = (
            synonyms if with_synonyms else lambda word: frozenset()
        )

    def synsets(self, word: str) -> tuple[_Synset, ...]:
        """One synset that holds every synonym of a word."""
        return (_Synset(self._look_up(word)),)


# ----------------------------------------------------------------------------- finding it


@lru_cache(maxsize=1)
def _corpus() -> Any:
    """NLTK's pointer to a WordNet corpus folder, or None."""
    with _lock:
        found = _registered()
        if found is None and (folder := _converted(DEBIAN, cache())) is not None:
            import nltk.data

            nltk.data.path.append(str(folder))
            found = _registered()
        return found


def _registered() -> Any:
    import nltk.data

    for place in ("corpora/wordnet", "corpora/wordnet.zip/wordnet/"):
        try:
            return nltk.data.find(place)
        except LookupError:
            continue
    return None


@lru_cache(maxsize=2)
def _reader(process: int) -> Any:
    """NLTK's reader; one a process, because a forked one would share file positions."""
    from nltk.corpus.reader import CorpusReader, WordNetCorpusReader
    from nltk.corpus.util import LazyCorpusLoader

    corpus = _corpus()
    if corpus is None:
        return None

    class English(WordNetCorpusReader):
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
        if found := re.search(rb"WordNet (\d+\.\d+) Copyright", content[:4000]):
            number = found[1].decode()
    return f"wordnet-{number}-{digest.hexdigest()[:8]}"


# ------------------------------------------------------------------------ converting Debian's


def cache() -> Path:
    """The folder below which converted copies are kept."""
    return Path(user_cache_dir("tstmeta", appauthor=False))


def _converted(debian: Path, target: Path) -> Path | None:
    """An NLTK data folder made of Debian's files, or None where they are not or cannot be copied.

    The copy is made beside its place and renamed into it, so that it is whole or absent; of several
    processes the first one wins.  The name carries a hash of the files' sizes and dates, so that an
    upgraded package is converted anew.
    """
    if not all((debian / name).is_file() for name in _COPIED):
        return None
    folder = target / f"nltk-wordnet-{_fingerprint(debian)}"
    if (folder / "corpora" / "wordnet" / "lexnames").is_file():
        return folder
    try:
        target.mkdir(parents=True, exist_ok=True)
        # mkdtemp's folders are private to the user, which NLTK demands of a data folder.
        made = Path(tempfile.mkdtemp(prefix=".wordnet-", dir=target))
        try:
            _fill(debian, made)
            try:
                made.rename(folder)
            except OSError:
                if not folder.is_dir():
                    raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        warnings.warn(
            f"WordNet is in {debian} but cannot be converted below {target} ({error}); METEOR "
            "works without synonyms. Remedy: make that folder writable, or set XDG_CACHE_HOME.",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    return folder


def _fill(debian: Path, root: Path) -> None:
    corpus = root / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for name in _COPIED:
        shutil.copyfile(debian / name, corpus / name)
    (corpus / "lexnames").write_text(lexnames(), encoding="ascii")
    # Whatever the umask: NLTK refuses files and folders that others may write to.
    for path in root.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _fingerprint(debian: Path) -> str:
    digest = hashlib.sha256(lexnames().encode())
    for name in _COPIED:
        state = (debian / name).stat()
        digest.update(f"{name} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:12]
