"""Style lexicons: words and what they weigh for a style; read from a file or learned from texts.

A masked metric hides such words: a rewrite is not punished for changing them (Mir et al., 2019).
"""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import storage
from ..data import paths
from ..data.files import read_csv, read_text
from ..schema import FILLED, DataError, MissingData, Problem, TstmetaError, checked, numeric

COLUMNS = ("word", "style", "weight")
_REMEDY = 'write CSV with the columns word,style,weight, or JSON {"style": [["word", weight], ...]}'
#: Of words that are learned: the prior's weight in words; the least |z|, odds ratio, and count in
#: both corpora together.
PRIOR, THRESHOLD, RATIO, LEAST = 1000.0, 3.0, 3.0, 5


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
        raise DataError([Problem(str(path), None, "", what, _REMEDY)]) from None


def _read(path: Path) -> Lexicon:
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


def write(lexicon: Lexicon, path: Path) -> None:
    """Write CSV that :func:`read` reads; whole or not at all."""
    frame = pd.DataFrame(lexicon.entries, columns=COLUMNS)
    storage.write(path, frame.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def log_odds(first: Counter[str], second: Counter[str]) -> pd.DataFrame:
    """How much likelier each word is in the first corpus: ``log``, ``z``, ``count`` in both.

    Monroe et al. (2008, Section 3): log-odds ratio under an informative Dirichlet prior, and its
    z-score.  The prior, ours, has the words' shares in both corpora and weighs :data:`PRIOR` words.
    """
    counts = pd.DataFrame({"first": first, "second": second}, dtype=float).fillna(0)
    sizes, both = counts.sum(), counts.sum(axis=1)
    if not sizes.all() or len(counts) < 2:
        raise TstmetaError("there is too little to compare: each of two corpora needs words")
    here = counts.add(PRIOR * both / sizes.sum(), axis=0)
    odds = np.log(here / (sizes + PRIOR - here))
    log = odds["first"] - odds["second"]
    return pd.DataFrame({"log": log, "z": log / np.sqrt((1 / here).sum(axis=1)), "count": both})


def learn(name: str, texts: Mapping[str, Iterable[Sequence[str]]]) -> Lexicon:
    """The words that tell the texts of two styles, each as words, apart; the most telling first.

    A word has the style in which it is more frequent, and the size of its z-score.  It occurs
    :data:`LEAST` times at least, its z-score is :data:`THRESHOLD` or more, and its odds are
    :data:`RATIO` times as high in one corpus.
    """
    if len(texts) != 2:
        raise TstmetaError(f"a lexicon tells two styles apart; the corpus has {list(texts)}")
    styles = list(texts)
    first, second = (Counter(chain.from_iterable(texts[style])) for style in styles)
    odds = log_odds(first, second)
    telling = (odds["z"].abs() >= THRESHOLD) & (odds["log"].abs() >= math.log(RATIO))
    chosen = odds.loc[telling & (odds["count"] >= LEAST), "z"]
    if chosen.empty:
        raise TstmetaError(
            f"none of {len(odds):,} words is kept: no z reaches {THRESHOLD:g}; give more texts"
        )
    entries = [StyleWord(str(word), styles[int(z < 0)], abs(z)) for word, z in chosen.items()]
    return Lexicon(name, tuple(sorted(entries, key=lambda entry: (-entry.weight, entry.word))))
