"""Lists of style words, read from a file.

A masked metric hides such words: a rewrite is not punished for changing them (Mir et al., 2019).
"""

import csv
import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path

from ..data import paths
from ..data.paths import read_text
from ..schema import FILLED, MissingData, Problem, check, shown


@dataclass(frozen=True)
class Lexicon:
    """Style words and phrases under a name."""

    name: str
    words: tuple[str, ...]

    @property
    def hash(self) -> str:
        """12 hexadecimal digits of the words, in any order."""
        return hashlib.sha256("\n".join(sorted({*self.words})).encode()).hexdigest()[:12]


def sentiment() -> Path:
    """Words of sentiment with weights, released with Mir et al. (2019): 433 words of reviews."""
    try:
        return paths.raw("mir") / "style_lexicon" / "style_words_and_weights.json"
    except MissingData:  # this goes into pages and score files: no folder of a machine
        reason = "the lexicon of mir is not on this machine; get it with: tstmeta data fetch mir"
        raise MissingData(reason) from None


def read(path: Path | str) -> Lexicon:
    """A lexicon from a CSV file's column ``word``, or JSON (``{style: [[word, weight], ...]}``).

    Raises:
        DataError: no such file, or what is wrong with it, row by row.
    """
    path = Path(path).expanduser()
    text = read_text(path)
    try:
        if path.suffix.lower() == ".json":
            words = [word for pairs in json.loads(text).values() for word, _ in pairs]
        else:
            table = csv.DictReader(io.StringIO(text), strict=True)  # pandas takes long to import
            words = [line["word"] for line in table]
        fault = "" if words else "has no words"
    except KeyError:
        fault = "has no column word"
    except csv.Error as error:
        fault = f"is no lexicon (after line {table.line_num}: {error})"
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        fault = f"is no lexicon ({error})"
    remedy = 'write CSV with a column word, or JSON {"style": [["word", weight], ...]}'
    check([Problem(str(path), fault, remedy=remedy)] * bool(fault))
    check(
        Problem(path.name, f"bad value {shown(word)}", place, "word", FILLED.remedy)
        for place, word in enumerate(words, 1)
        if not FILLED.passes(word)
    )
    return Lexicon(path.name, tuple(" ".join(word.split()) for word in words))
