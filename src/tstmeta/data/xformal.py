"""Sentence formality: the ratings of Pavlick and Tetreault (2016), a corpus without rewrites."""

from pathlib import Path

import pandas as pd

from .raw import floats, read_csv
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
    table = read_csv(root / FOLDER / f"{split}.csv")
    table = table[(table["label"] != NOTHING) | (table["sentence"] != NOTHING)]
    return corpus_table(table["sentence"], split=split, value=floats(table["label"]))
