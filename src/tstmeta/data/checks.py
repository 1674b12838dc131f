"""What cells must be: checks of pandera that name the remedy, one problem a fault."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa

from ..schema import FILLED, DataError, Problem, each, hold, one_of

__all__ = ["FILLED", "each", "one_of"]


def fault(
    path: Path | str, what: str, row: int | None = None, column: str = "", remedy: str = ""
) -> Problem:
    """A :class:`~tstmeta.schema.Problem` of a file; ``row`` counts from 1."""
    return Problem(str(path), row, column, what, remedy)


def check(problems: Iterable[Problem]) -> None:
    """Raise one DataError with all problems, if there are any."""
    if listed := list(problems):
        raise DataError(listed)


_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)


def number(cell: Any) -> float:
    """A cell as a number; NaN for what is none: no cell, a truth value, a word, "1,5", "1_0"."""
    if isinstance(cell, bool) or (isinstance(cell, str) and not _NUMBER.fullmatch(cell)):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def numeric(
    low: float = -math.inf, high: float = math.inf, *, whole=False, optional=False, hint=""
) -> pa.Check:
    """Cells that are finite numbers from ``low`` to ``high``, or empty where that is allowed."""
    kind = "whole" if whole else "finite"
    span = "" if math.isinf(low) else f" from {low:g} to {high:g}"
    remedy = f"use a {kind} number{span}" + ", or leave the cell empty" * optional + hint

    def passes(cell: Any) -> bool:
        if optional and (cell is None or (isinstance(cell, str) and not cell.strip())):
            return True
        value = number(cell)
        return math.isfinite(value) and low <= value <= high and not (whole and value % 1)

    return each(passes, remedy, "numeric")


def checked(
    frame: pd.DataFrame, checks: Mapping[str, Any], where: Path | str, unique: Sequence[str] = ()
) -> pd.DataFrame:
    """A table whose cells pass, with floats (NaN = empty) in the columns that :func:`numeric` held.

    ``frame`` is indexed by row number, from 1; ``checks`` gives a column its check, checks or None;
    in the columns ``unique`` no two rows may agree.
    """
    table = {name: pa.Column(checks=check, nullable=True) for name, check in checks.items()}
    try:
        hold(frame, pa.DataFrameSchema(table, unique=list(unique) or None), str(where))
    except TypeError:  # lists cannot be looked up among others: they are the fault
        hold(frame, pa.DataFrameSchema(table), str(where))
    numbers = [name for name, check in checks.items() if getattr(check, "name", "") == "numeric"]
    return frame.assign(**{name: frame[name].map(number).astype(float) for name in numbers})
