"""Tables of ratings that ``tstmeta judge run --out FILE`` wrote, for analyses: nobody is asked."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ..schema import TstmetaError
from .ratings import COLUMNS
from .treatments import JUDGE

_NEEDED = ("dataset", "item_id", "source_id", "dimension", "sample", "rating", "status")
#: Columns that hold texts, as far as a table has them: an id "007" stays one.
_TEXTS = tuple(dict.fromkeys((*_NEEDED[:4], "status", *JUDGE, "rival", "detail", "asked_how")))
_NUMBERS = ("rating", "expected", "place", "low", "high")
_REMEDY = "Remedy: write it with tstmeta judge run --out FILE"


def read(path: str | Path) -> pd.DataFrame:
    """A table of ratings: CSV, JSON or Parquet.

    Returns:
        The columns of :data:`tstmeta.judge.ratings.COLUMNS` that the file has; ``rival`` is empty
        where one output was rated alone.

    Raises:
        TstmetaError: no such file, another format, or columns that are missing.
    """
    path = Path(path)
    readers = {".csv": _csv, ".json": _json, ".parquet": pd.read_parquet}
    if path.suffix.lower() not in readers:
        raise TstmetaError(f"{path}: a table of ratings ends with {', '.join(readers)}")
    try:
        rows = readers[path.suffix.lower()](path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise TstmetaError(f"{path} cannot be read ({reason}). {_REMEDY}") from error
    if missing := [name for name in _NEEDED if name not in rows]:
        reason = f"has no column {', '.join(missing)}, so it is no table of ratings"
        raise TstmetaError(f"{path} {reason}. {_REMEDY}")
    rows = rows.assign(rival=rows.get("rival", ""))
    texts = {name: rows[name].fillna("").astype(str) for name in _TEXTS if name in rows}
    rows = rows.assign(**texts, rating=pd.to_numeric(rows["rating"], errors="coerce"))
    return rows.reindex(columns=[name for name in COLUMNS if name in rows])


def _csv(path: Path) -> pd.DataFrame:
    types, empty = dict.fromkeys(_TEXTS, str), {name: [""] for name in _NUMBERS}
    return pd.read_csv(path, dtype=types, keep_default_na=False, na_values=empty)


def _json(path: Path) -> pd.DataFrame:
    return pd.read_json(path, dtype=dict.fromkeys(_TEXTS, str))
