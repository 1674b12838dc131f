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

from ..schema import DataError, Problem, TstmetaError

GROUP = "tstmeta.lexicons"
COLUMNS = ("word", "style", "weight")
#: How :func:`learn` works unless told otherwise: the prior's weight in words, the least |z|, the
#: least odds ratio, and the least number of times that a word occurs in both corpora together.
PRIOR, THRESHOLD, RATIO, LEAST = 1000.0, 3.0, 3.0, 5


class Entry(NamedTuple):
    """A word, or a phrase of several, and its weight for a style (negative: against it)."""

    word: str
    style: str
    weight: float


@dataclass(frozen=True)
class Lexicon:
    """Style words under a name."""

    name: str
    entries: tuple[Entry, ...]

    @property
    def styles(self) -> tuple[str, ...]:
        """The styles, sorted."""
        return tuple(sorted({entry.style for entry in self.entries}))

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
        stat = path.stat()
    except OSError as error:
        raise _fault(
            path, None, "", f"cannot be read: {error.strerror}", "check the path"
        ) from None
    return _read(path, stat.st_mtime_ns, stat.st_size)


@lru_cache(maxsize=32)
def _read(path: Path, changed: int, size: int) -> Lexicon:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise _fault(path, None, "", "is not UTF-8", "save it as UTF-8") from None
    except OSError as error:
        raise _fault(
            path, None, "", f"cannot be read: {error.strerror}", "check the path"
        ) from None
    rows = _json(path, text) if path.suffix.lower() == ".json" else _csv(path, text)
    entries, problems, seen = [], [], set()
    for row, found in rows:
        if isinstance(found, Problem):
            problems.append(found)
        elif (found.word.casefold(), found.style) in seen:
            what = f"{found.word!r} stands twice for {found.style!r}"
            problems.append(Problem(path.name, row, "word", what, "keep one row"))
        else:
            seen.add((found.word.casefold(), found.style))
            entries.append(found)
    if not entries and not problems:
        problems.append(Problem(path.name, None, "", "has no words", "give at least one row"))
    if problems:
        raise DataError(problems)
    return Lexicon(path.name, tuple(entries))


def _csv(path: Path, text: str) -> Iterator[tuple[int, Entry | Problem]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(rows, [])
        if tuple(header) != COLUMNS:
            what = f"the columns are {', '.join(header) or 'none'}"
            raise _fault(path, 0, "", what, f"name them {','.join(COLUMNS)}")
        for number, row in enumerate((row for row in rows if row), 1):
            if len(row) == len(COLUMNS):
                yield number, _entry(path, number, *row)
            else:
                what = f"{len(row)} cells"
                remedy = f"{len(COLUMNS)} are needed: {', '.join(COLUMNS)}"
                yield number, Problem(path.name, number, "", what, remedy)
    except csv.Error as error:
        remedy = "save it as CSV with quotes closed"
        raise _fault(path, None, "", f"is no CSV (line {rows.line_num}: {error})", remedy) from None


def _json(path: Path, text: str) -> Iterator[tuple[int, Entry | Problem]]:
    form = '{"style": [["word", weight], ...], ...}'
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _fault(path, None, "", f"is no JSON ({error})", f"write {form}") from None
    if not isinstance(whole, dict) or not all(isinstance(one, list) for one in whole.values()):
        raise _fault(path, None, "", "has another form", f"write {form}")
    number = 0
    for style, pairs in whole.items():
        for pair in pairs:
            number += 1
            if isinstance(pair, list) and len(pair) == 2:
                yield number, _entry(path, number, pair[0], style, pair[1])
            else:
                yield number, Problem(path.name, number, style, "is no pair", f"write {form}")


def _entry(path: Path, row: int, word: Any, style: str, weight: Any) -> Entry | Problem:
    if not isinstance(word, str) or not word.strip():
        return Problem(path.name, row, "word", "no word", "fill it in or drop the row")
    if not style.strip():
        return Problem(path.name, row, "style", "no style", "say which style the word is of")
    try:
        number = math.nan if isinstance(weight, bool) else float(weight)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        return Problem(path.name, row, "weight", f"{weight!r} is no number", "give a finite number")
    return Entry(" ".join(word.split()), style.strip(), number)


def _fault(path: Path, row: int | None, column: str, what: str, remedy: str) -> DataError:
    return DataError(
        [Problem(path.name if row is not None else str(path), row, column, what, remedy)]
    )


def write(lexicon: Lexicon, path: Path) -> None:
    """Write CSV that :func:`read` reads; whole or not at all."""
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with part.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        rows.writerows((*entry[:2], f"{entry.weight:.6g}") for entry in lexicon.entries)
    part.replace(path)


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
        TstmetaError: a corpus without words, both with one word only, or a prior that is not > 0.
    """
    if not (math.isfinite(prior) and prior > 0):
        raise TstmetaError(f"the prior is {prior}; it is a number of words, above 0")
    both = first + second
    sizes = first.total(), second.total()
    if not all(sizes) or len(both) < 2:
        raise TstmetaError("there is too little to compare: each of two corpora needs words")
    found = {}
    for word, count in both.items():
        expected = prior * count / sum(sizes)
        one, other = (corpus[word] + expected for corpus in (first, second))
        log = math.log(one / (sizes[0] + prior - one)) - math.log(
            other / (sizes[1] + prior - other)
        )
        found[word] = Odds(log, log / math.sqrt(1 / one + 1 / other))
    return found


def learn(
    name: str,
    texts: Mapping[str, Iterable[Sequence[str]]],
    prior: float = PRIOR,
    threshold: float = THRESHOLD,
    ratio: float = RATIO,
    least: int = LEAST,
) -> Lexicon:
    """The words that tell two corpora apart, the most telling first.

    Args:
        texts: style -> its texts, each as words; two styles.
        prior: see :func:`log_odds`.
        threshold: a word is kept when the size of its z-score is at least this: how sure it is.
            The larger the corpora, the more words are, ``and`` and ``is`` among them.
        ratio: and when its odds are so many times as high in one of them: how much it tells.
        least: and when it occurs so often in both together.

    Returns:
        Entries with the style in which a word is more frequent, and the size of its z-score.

    Raises:
        TstmetaError: not two styles, too few texts, or no word that is kept.
    """
    if len(texts) != 2:
        said = ", ".join(map(repr, texts)) or "none"
        raise TstmetaError(f"a lexicon tells two styles apart; the corpus has {len(texts)}: {said}")
    if not ratio >= 1:
        raise TstmetaError(f"the ratio is {ratio}; it is 1 or more, 2 for twice as likely")
    (one, first), (other, second) = (
        (style, Counter(word for text in each for word in text)) for style, each in texts.items()
    )
    odds = log_odds(first, second, prior)
    kept = [
        Entry(word, one if found.z > 0 else other, abs(found.z))
        for word, found in odds.items()
        if abs(found.z) >= threshold and found.z
        if abs(found.log) >= math.log(ratio) and first[word] + second[word] >= least
    ]
    if not kept:
        raise TstmetaError(
            f"none of {len(odds):,} words is kept: lower the threshold ({threshold:g}), the ratio "
            f"({ratio:g}) or the least count ({least}), or give more texts"
        )
    return Lexicon(name, tuple(sorted(kept, key=lambda entry: (-entry.weight, entry.word))))
