"""Style lexicons: words and what they weigh for a style; read from a file or learned from texts.

A masked metric hides such words, so that a rewrite is not punished for changing them (Mir et al.,
2019).  A lexicon is one file; every word of it counts as a style word.  Others register a lexicon
under a name as an entry point of the group ``tstmeta.lexicons``: a function that gives the path.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

from .. import storage
from ..schema import DataError, Problem, TstmetaError

GROUP = "tstmeta.lexicons"
COLUMNS = ("word", "style", "weight")
_REMEDY = 'write CSV with the columns word,style,weight, or JSON {"style": [["word", weight], ...]}'
#: Of words that are learned: the prior's weight in words, the least |z|, the least odds ratio, and
#: the least number of times that a word occurs in both corpora together.
PRIOR, THRESHOLD, RATIO, LEAST = 1000.0, 3.0, 3.0, 5


class StyleWord(NamedTuple):
    """A word, or a phrase of several, and its weight for a style (negative: against it)."""

    word: str
    style: str
    weight: float


@dataclass(frozen=True)
class Lexicon:
    """Style words under a name."""

    name: str
    entries: tuple[StyleWord, ...]

    @property
    def hash(self) -> str:
        """First 12 hexadecimal digits of a SHA-256 of the words, whatever their order.

        Weights and styles are left out: they change no masked text.
        """
        words = "\n".join(sorted({entry.word for entry in self.entries}))
        return hashlib.sha256(words.encode()).hexdigest()[:12]


# -------------------------------------------------------------------------------------- reading


@cache
def names() -> tuple[str, ...]:
    """Lexicons that are registered under a name."""
    return tuple(sorted(point.name for point in entry_points(group=GROUP)))


def place(name: str) -> Path:
    """Where the file of a registered lexicon is.

    Raises:
        MissingData: it is not on this machine; the message says how to get it.
        TstmetaError: no lexicon is registered under that name.
    """
    for point in entry_points(group=GROUP, name=name):
        return Path(point.load()())
    known = ", ".join(names()) or "none"
    raise TstmetaError(f"no lexicon is called {name!r}; registered: {known}. Or name a file")


def read(path: Path | str) -> Lexicon:
    """A lexicon from CSV (``word,style,weight``) or JSON (``{style: [[word, weight], ...]}``).

    Raises:
        DataError: no such file, or what is wrong with it, row by row.
    """
    path = Path(path).expanduser()
    try:
        return _read(path, path.stat().st_mtime_ns, path.stat().st_size)
    except OSError as error:
        problem = Problem(str(path), None, "", f"cannot be read: {error.strerror}", _REMEDY)
        raise DataError([problem]) from None


@lru_cache(maxsize=32)
def _read(path: Path, changed: int, size: int) -> Lexicon:
    try:
        rows = list(_rows(path))
    except (ValueError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        what = f"is no lexicon ({error})"
        raise DataError([Problem(path.name, None, "", what, _REMEDY)]) from None
    problems, entries = [], dict[tuple[str, str], StyleWord]()
    for number, row in enumerate(rows, 1):
        try:
            entry = _entry(row)
            if entries.setdefault((entry.word.casefold(), entry.style), entry) is not entry:
                raise ValueError(f"{entry.word!r} stands twice for {entry.style!r}")
        except (ValueError, TypeError, OverflowError) as error:
            problems.append(Problem(path.name, number, "", str(error), "mend or drop the row"))
    if not rows:
        problems.append(Problem(path.name, None, "", "has no words", "give at least one row"))
    if problems:
        raise DataError(problems)
    return Lexicon(path.name, tuple(entries.values()))


def _rows(path: Path) -> Iterator[Sequence[Any]]:
    """Word, style and weight, as the file has them."""
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".json":
        for style, pairs in json.loads(text).items():
            for word, weight in pairs:
                yield word, style, weight
        return
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header = next(rows, [])
    if tuple(header) != COLUMNS:
        raise ValueError(f"the columns are {', '.join(header) or 'none'}")
    yield from filter(None, rows)


def _entry(row: Sequence[Any]) -> StyleWord:
    """A row as an entry; what is wrong with it as a ValueError or TypeError."""
    if len(row) != len(COLUMNS):
        raise ValueError(f"{len(row)} cells where {len(COLUMNS)} are needed")
    word, style, weight = row
    for column, cell in (("word", word), ("style", style)):
        if not isinstance(cell, str) or not cell.strip():
            raise ValueError(f"no {column}")
    number = math.nan if isinstance(weight, bool) else float(weight)
    if not math.isfinite(number):
        raise ValueError(f"the weight {weight!r} is no finite number")
    return StyleWord(" ".join(word.split()), style.strip(), number)


def write(lexicon: Lexicon, path: Path) -> None:
    """Write CSV that :func:`read` reads; whole or not at all."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(COLUMNS)
    rows.writerows((*entry[:2], f"{entry.weight:.6g}") for entry in lexicon.entries)
    storage.write(path, text.getvalue())


# ------------------------------------------------------------------------------------- learning


class Odds(NamedTuple):
    """How much likelier a word is in the first of two corpora."""

    log: float  # log of the odds ratio under the prior
    z: float  # the same in estimated standard deviations


def log_odds(first: Counter[str], second: Counter[str], prior: float = PRIOR) -> dict[str, Odds]:
    """How much likelier each word is in the first corpus than in the second.

    Monroe et al. (2008, Section 3): log-odds ratio under an informative Dirichlet prior, and its
    z-score.  The prior, ours, has the words' shares in both corpora together and weighs ``prior``
    words, so rare words are drawn to 0.

    Args:
        first, second: how often each word occurs.
        prior: > 0; the more, the less a rare word stands out.

    Raises:
        TstmetaError: a corpus without words, or both with one word only.
    """
    both = first + second
    sizes = first.total(), second.total()
    if not all(sizes) or len(both) < 2:
        raise TstmetaError("there is too little to compare: each of two corpora needs words")
    odds = {}
    for word, count in both.items():
        expected = prior * count / sum(sizes)
        here, elsewhere = (corpus[word] + expected for corpus in (first, second))
        log = math.log(here / (sizes[0] + prior - here))
        log -= math.log(elsewhere / (sizes[1] + prior - elsewhere))
        odds[word] = Odds(log, log / math.sqrt(1 / here + 1 / elsewhere))
    return odds


def learn(
    name: str, texts: Mapping[str, Iterable[Sequence[str]]], threshold: float = THRESHOLD
) -> Lexicon:
    """The words that tell two corpora apart, the most telling first.

    Args:
        name: of the lexicon.
        texts: style -> its texts, each as words; two styles.
        threshold: a word is kept when the size of its z-score is at least this (how sure it is;
            the larger the corpora, the more words are), when its odds are :data:`RATIO` times as
            high in one of them, and when it occurs :data:`LEAST` times in both together.

    Returns:
        Entries with the style in which a word is more frequent, and the size of its z-score.

    Raises:
        TstmetaError: not two styles, too few texts, or no word that is kept.
    """
    if len(texts) != 2:
        names = ", ".join(map(repr, texts)) or "none"
        raise TstmetaError(
            f"a lexicon tells two styles apart; the corpus has {len(texts)}: {names}"
        )
    styles = list(texts)
    first, second = (Counter(word for text in texts[style] for word in text) for style in styles)
    odds = log_odds(first, second)
    kept = [
        StyleWord(word, styles[z < 0], abs(z))
        for word, (log, z) in odds.items()
        if z and abs(z) >= threshold and abs(log) >= math.log(RATIO)
        if first[word] + second[word] >= LEAST
    ]
    if not kept:
        raise TstmetaError(
            f"none of {len(odds):,} words is kept: lower the threshold ({threshold:g}), or give "
            "more texts"
        )
    return Lexicon(name, tuple(sorted(kept, key=lambda entry: (-entry.weight, entry.word))))
