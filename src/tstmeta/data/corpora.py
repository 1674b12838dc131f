"""Corpora: single sentences with a style, which train classifiers and language models."""

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

#: ``value`` is a mean human rating of the style, NaN where there is none; ``style`` and ``split``
#: are empty where the files know of none.
COLUMNS = ("text", "style", "split", "value")


def table(
    text: Iterable[str],
    style: str = "",
    split: str = "",
    value: Iterable[float] | float = math.nan,
) -> pd.DataFrame:
    """A corpus of one style and one split; a single value holds for all sentences."""
    frame = pd.DataFrame({"text": list(text), "style": style, "split": split}, columns=COLUMNS[:3])
    return frame.astype(str).assign(value=np.array(value if isinstance(value, float) else [*value]))
