"""Sentence formality: the ratings of Pavlick and Tetreault (2016), a corpus without rewrites."""

from pathlib import Path

import pandas as pd

from .raw import floats, read_csv

CORPUS = True
SPLITS = ("train", "tune", "test")
FOLDER = Path("best-practices", "Formality", "PT16_for_huggingface")
#: What stands in the test file where a sentence and its rating are missing.
NOTHING = "None"


def corpus(root: Path) -> pd.DataFrame:
    """Sentences with their mean formality, -3 to 3, as ``value``; see :mod:`tstmeta.data`.

    ``style`` stays empty: where formal begins is for the reader to decide.  Rows without a sentence
    and a rating (15 in the test file) are left out; sentences that come twice are kept.
    """
    tables = []
    for split in SPLITS:
        table = read_csv(root / FOLDER / f"{split}.csv")
        table = table[(table["label"] != NOTHING) | (table["sentence"] != NOTHING)]
        facts = {"text": table["sentence"], "style": "", "split": split}
        tables.append(pd.DataFrame({**facts, "value": floats(table["label"])}))
    return pd.concat(tables, ignore_index=True)
