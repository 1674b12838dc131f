"""Style lexicons: words and what they weigh for a style, read from a file.

A masked metric hides such words: a rewrite is not punished for changing them (Mir et al., 2019).
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..data import paths
from ..data.paths import read_text
from ..schema import FILLED, DataError, MissingData, Problem, checked, numeric

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
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
        what = f"is no lexicon ({error})"
        raise DataError([Problem(str(path), what, remedy=_REMEDY)]) from None


def _read(path: Path) -> Lexicon:
    import pandas as pd  # imported late: metrics are listed without it

    from ..data.files import read_csv

    if path.suffix.lower() == ".json":
        styles = json.loads(read_text(path)).items()
        rows = [(word, style, weight) for style, pairs in styles for word, weight in pairs]
        table = pd.DataFrame(rows, columns=COLUMNS, dtype=object)
    else:
        table = read_csv(path, COLUMNS)
    if table.empty:
        raise ValueError("it needs rows of word, style and weight")
    words = table["word"].str.split().str.join(" ")
    table = table.assign(word=words.str.casefold()).set_axis(range(1, len(table) + 1))
    checks = {"word": FILLED, "style": FILLED, "weight": numeric()}
    table = checked(table, checks, path.name, ("word", "style"))
    columns = (words, table["style"].str.strip(), table["weight"])
    return Lexicon(path.name, tuple(map(StyleWord, *columns)))
