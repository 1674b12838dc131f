"""Yelp review sentences by sentiment: the corpus of Shen et al. (2017), without rewrites.

One tokenised, lower-cased sentence a line; ``.0`` files are negative, ``.1`` files positive.  The
training files are not read: the development and test parts are large enough to train on.
"""

import math
from pathlib import Path

import pandas as pd

from .raw import read_lines

CORPUS = True
SPLITS = ("dev", "test")
STYLES = ("negative", "positive")


def corpus(root: Path) -> pd.DataFrame:
    """All sentences (columns: :mod:`tstmeta.data`), negative before positive in a split."""
    folder = root / "data" / "yelp"
    tables = [
        pd.DataFrame(
            {"text": read_lines(folder / f"sentiment.{split}.{number}"), "style": style}
        ).assign(split=split, value=math.nan)
        for split in SPLITS
        for number, style in enumerate(STYLES)
    ]
    return pd.concat(tables, ignore_index=True)
