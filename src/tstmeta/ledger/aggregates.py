"""Frozen aggregates: numbers of data sets that may not be passed on, as they came out once.

``data/frozen/NAME.csv`` is the main frame of notebook NAME with all rated data sets, and
``claims.csv`` the evidence of all claims: correlations and counts, no text and no single rating.
"""

import pandas as pd

from ..data import available, has_texts, names, paths


def frozen(notebook: str, texts: bool = False) -> pd.DataFrame:
    """Rows of a notebook's headline frame that cannot be computed on this machine.

    Args:
        texts: also rows of data sets whose ratings and scores are here, but not their texts.

    Returns:
        The columns of the headline frame, its index first; no row where all data sets are here,
        and no column where the frame is not by data set.
    """
    table = whole(notebook)
    if list(table)[:1] != ["dataset"]:
        return pd.DataFrame()
    here = has_texts if texts else available
    absent = [name for name in names() if not here(name)]
    bare = table["dataset"].str.replace(r"[@ ].*", "", regex=True)
    return table[bare.isin(absent)].reset_index(drop=True)


def whole(name: str) -> pd.DataFrame:
    """All that is frozen under a name; without columns where nothing is."""
    file = paths.own("frozen", f"{name}.csv")
    if not file.is_file():
        return pd.DataFrame()
    return pd.read_csv(file, keep_default_na=False, na_values=[""])
