"""Sentence formality: the ratings of Pavlick and Tetreault (2016), a corpus without rewrites."""

from pathlib import Path

import pandas as pd

from .checks import numbers
from .files import read_csv
from .tables import corpus_table

CORPUS = True
SPLITS = ("train", "tune", "test")
FOLDER = Path("best-practices", "Formality", "PT16_for_huggingface")
#: The mean rating of a sentence: very informal to very formal.
SCALE = (-3.0, 3.0)
#: What stands in the test file where a sentence and its rating are missing.
NOTHING = "None"


def corpus(root: Path) -> pd.DataFrame:
    """Sentences with their mean formality as ``value``; columns of :data:`.tables.CORPUS`.

    ``style`` stays empty: where formal begins is for the reader to decide.  Rows without a sentence
    and a rating (15 in the test file) are left out; sentences that come twice are kept.
    """
    return pd.concat([_split(root, split) for split in SPLITS], ignore_index=True)


def _split(root: Path, split: str) -> pd.DataFrame:
    path = root / FOLDER / f"{split}.csv"
    table = read_csv(path, ("SID", "label", "sentence"), unique=["SID"])
    missing = (table["label"] == NOTHING) & (table["sentence"] == NOTHING)
    values = numbers(table["label"].mask(missing, "0"), path, "label", *SCALE)
    return corpus_table(table["sentence"][~missing], split=split, value=values[~missing])
