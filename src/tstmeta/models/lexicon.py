"""Style lexicons: words and what they weigh for a style, read from a file.

A masked metric hides such words: a rewrite is not punished for changing them (Mir et al., 2019).
"""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from ..data import paths
from ..data.paths import read_text
from ..schema import FILLED, DataError, MissingData, Problem, check, number, numeric, shown

COLUMNS = ("word", "style", "weight")
_REMEDY = 'write CSV with the columns word,style,weight, or JSON {"style": [["word", weight], ...]}'


class StyleWord(NamedTuple):
    """A word or phrase, and its weight for a style (negative: against it)."""

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
        """12 hexadecimal digits of the words alone, in any order: weights change no masked text."""
        words = "\n".join(sorted({entry.word for entry in self.entries}))
        return hashlib.sha256(words.encode()).hexdigest()[:12]


def sentiment() -> Path:
    """Words of sentiment with weights, released with Mir et al. (2019): 433 words of reviews."""
    try:
        return paths.raw("mir") / "style_lexicon" / "style_words_and_weights.json"
    except MissingData:  # this goes into pages and score files: no folder of a machine
        reason = "the lexicon of mir is not on this machine; get it with: tstmeta data fetch mir"
        raise MissingData(reason) from None


def read(path: Path | str) -> Lexicon:
    """A lexicon from CSV (``word,style,weight``) or JSON (``{style: [[word, weight], ...]}``).

    Raises:
        DataError: no such file, or what is wrong with it, row by row.
    """
    path = Path(path).expanduser()
    try:
        return _read(path)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, csv.Error) as error:
        what = f"is no lexicon ({error})"
        raise DataError([Problem(str(path), what, remedy=_REMEDY)]) from None


def _read(path: Path) -> Lexicon:
    # without pandas, which takes long to import: metrics are listed with their lexicons
    text = read_text(path)
    if path.suffix.lower() == ".json":
        styles = json.loads(text).items()
        rows = [(word, style, weight) for style, pairs in styles for word, weight in pairs]
    else:
        # cells behind the last column make their row's weight a list, which is no number
        table = csv.DictReader(io.StringIO(text), restkey="weight", strict=True)
        lacking = [name for name in COLUMNS if name not in (table.fieldnames or ())]
        check(Problem(str(path), "missing column", None, name, _REMEDY) for name in lacking)
        rows = [(line["word"], line["style"], line["weight"]) for line in table]
    if not rows:
        raise ValueError("it needs rows of word, style and weight")
    check(_problems(rows, path.name))
    entries = ((" ".join(word.split()), style.strip(), number(x)) for word, style, x in rows)
    return Lexicon(path.name, tuple(StyleWord(*entry) for entry in entries))


def _problems(rows: Sequence[tuple[Any, Any, Any]], name: str) -> Iterator[Problem]:
    """What is wrong with cells (word, style, weight), row by row from 1."""
    seen = set()
    for place, row in enumerate(rows, 1):
        for column, cell, test in zip(COLUMNS, row, (FILLED, FILLED, numeric()), strict=True):
            if not test.passes(cell):
                what = f"bad value {shown(cell)}" if str(cell or "").strip() else "missing value"
                yield Problem(name, what, place, column, test.remedy)
        key = (" ".join(str(row[0]).casefold().split()), row[1])
        if key in seen:
            what = "keep one row for each combination of these columns"
            yield Problem(name, "duplicate row", place, "word, style", what)
        seen.add(key)
