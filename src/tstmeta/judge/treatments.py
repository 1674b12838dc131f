"""What an analysis does with answers that are no rating: said by name, never done in silence.

A judge that refuses, babbles or breaks off leaves rows without a rating.  Whoever correlates has to
leave them out or put something in their place, and the choice can move a result; these are the
choices.  The rows themselves never change.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from ..schema import Status, TstmetaError

#: What counts as one judge: the rest of a row may differ within it.
JUDGE = ("server", "model", "revision", "prompt", "prompt_hash")


def _drop(ratings: pd.Series, rows: pd.DataFrame) -> pd.Series:
    return ratings


#: Whose mean stands for a rating that is missing.
_ALIKE = ("dataset", *JUDGE, "asked_how", "dimension")


def _mean(ratings: pd.Series, rows: pd.DataFrame) -> pd.Series:
    keys = [rows[name] for name in _ALIKE]
    return ratings.fillna(ratings.groupby(keys, sort=False, dropna=False).transform("mean"))


def _worst(ratings: pd.Series, rows: pd.DataFrame) -> pd.Series:
    return ratings.fillna(rows["low"].astype(float))


_TREATMENTS: dict[str, Callable[[pd.Series, pd.DataFrame], pd.Series]] = {
    "drop": _drop,
    "mean": _mean,
    "worst": _worst,
}
#: What each treatment does, in words.
TREATMENTS = {
    "drop": "rows without a rating are left out",
    "mean": "they get the mean of the judge's ratings of that dimension (Pauli et al., 2025)",
    "worst": "they get the lowest rating of the prompt's scale",
}


def treated(rows: pd.DataFrame, how: str, value: str = "rating") -> pd.DataFrame:
    """Rows with two more columns: ``value``, and ``filled`` where it is no rating of the judge's.

    Args:
        rows: as :func:`tstmeta.judge.ratings.ask` returns them.
        how: a name of :data:`TREATMENTS`.  The mean is over all ratings in ``rows`` of the same
            data set and dimension by the same judge (server, model, revision, prompt, manner of
            asking); where there is none, nothing is filled in.
        value: the column treated: ``rating``, or ``expected`` where log-probabilities came.

    Raises:
        TstmetaError: no such treatment or column.
    """
    if how not in _TREATMENTS:
        raise TstmetaError(f"no treatment is called {how!r}; there are {', '.join(_TREATMENTS)}")
    if value not in ("rating", "expected"):
        raise TstmetaError(f"no rating stands in a column {value!r}; use rating or expected")
    given = rows[value].astype(float)
    found = _TREATMENTS[how](given, rows)
    return rows.assign(value=found, filled=given.isna() & found.notna())


def counted(rows: pd.DataFrame) -> pd.DataFrame:
    """How the answers ended, one row a dimension: dimension, rows, rated, one column a status.

    ``rows`` is the sum of all statuses.  ``rated`` counts rows with a rating.
    """
    statuses = [str(status) for status in Status]
    found = []
    for dimension, group in rows.groupby("dimension", sort=False):
        counts = group["status"].astype(str).value_counts()
        head = {"dimension": dimension, "rows": len(group), "rated": _rated(group)}
        found.append(head | {status: int(counts.get(status, 0)) for status in statuses})
    return pd.DataFrame(found, columns=["dimension", "rows", "rated", *statuses])


def _rated(rows: pd.DataFrame) -> int:
    return int(np.isfinite(rows["rating"].to_numpy(float)).sum())
