"""The ratings in a file of your own: as columns ``<dimension>.<rater>``, or as a second long file.

Names of raters end here.  What goes on is ``r1``, ``r2``, ... or ``mean``.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from .. import schema
from ..schema import DIMENSIONS, MEAN_RATER, DataError, Problem
from .base import Dataset
from .sheet import Sheet, read_sheet, shown

#: Dimension -> (lowest, highest) possible rating.
Scale = Mapping[str, tuple[float, float]]

_LONG = ("item_id", "dimension", "rater", "value")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_KEPT = re.compile(rf"r[1-9][0-9]{{0,3}}|{MEAN_RATER}")


class Judgement(NamedTuple):
    """One rating; ``rater`` as the user wrote it until :func:`ratings_table` renames it."""

    item_id: str
    dimension: str
    rater: str
    value: float


def wide(
    sheet: Sheet, columns: Mapping[str, tuple[str, str]], ids: Mapping[int, str], scale: Scale
) -> list[Judgement]:
    """Ratings from columns, item by item; an empty cell is no rating.

    Args:
        columns: column -> (dimension, rater).
        ids: row number -> item id.
    """
    found = []
    for row, cells in sheet.rows.items():
        for column, (dimension, rater) in columns.items():
            value = _number(sheet, row, column, cells.get(column), scale.get(dimension))
            if value is not None:
                found.append(Judgement(ids[row], dimension, rater, value))
    return found


def long(path: Path, known: set[str], scale: Scale) -> tuple[list[Judgement], list[Problem]]:
    """Ratings from a file with one rating a row: ``item_id, dimension, rater, value``.

    Args:
        known: ids of the items there are.
    """
    try:
        sheet = read_sheet(path)
    except DataError as error:
        return [], error.problems
    for column in _LONG:
        if column not in sheet.columns:
            what, remedy = "missing column", f"a file of ratings has {', '.join(_LONG)}"
            sheet.fault(sheet.header, column, what, remedy)
    for column in sheet.columns:
        if column not in (*_LONG, "dataset"):
            remedy = f"drop it: a file of ratings has only {', '.join(_LONG)}"
            sheet.fault(sheet.header, column, "unknown column", remedy)
    if not set(_LONG) <= set(sheet.columns):
        return [], sheet.problems
    found: dict[tuple[str, str, str], tuple[int, Judgement]] = {}
    for row, cells in sheet.rows.items():
        item, dimension, rater = (sheet.name(row, column) for column in _LONG[:3])
        if item not in known:
            near = difflib.get_close_matches(item, known, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else "add the item or drop the rating"
            sheet.fault(row, "item_id", f"no item is called {shown(item)}", remedy.rstrip("?"))
        if dimension not in DIMENSIONS:
            sheet.fault(row, "dimension", *unknown_dimension(dimension))
        if not rater:
            sheet.fault(row, "rater", "no rater", "write r1, r2, ... or mean")
        value = _number(sheet, row, "value", cells.get("value"), scale.get(dimension))
        if value is None:
            if cells.get("value") in (None, ""):
                sheet.fault(row, "value", "no value", "fill it in or drop the row")
            continue
        key = (item, dimension, rater)
        if key in found:
            what = f"item, dimension and rater are those of row {found[key][0]}"
            sheet.fault(row, "value", what, "keep one of the two")
        found.setdefault(key, (row, Judgement(*key, value)))
    return [judgement for _, judgement in found.values()], sheet.problems


def rated(dataset: Dataset, path: Path) -> Dataset:
    """A data set with the ratings of a long file in the place of those it has.

    Raises:
        DataError: everything that is wrong with the file; the scale is that of the data set's card.
    """
    judged, problems = long(path, set(dataset.items["item_id"]), dataset.card.scale)
    for dimension in mixed(judged):
        what, remedy = f"{dimension} has single ratings and a mean", "drop the mean"
        problems.append(Problem(path.name, None, "rater", what, remedy))
    if problems:
        raise DataError(problems)
    return replace(dataset, ratings=ratings_table(dataset.items["dataset"].iloc[0], judged))


def unknown_dimension(dimension: str) -> tuple[str, str]:
    """What is wrong, and the remedy."""
    near = difflib.get_close_matches(dimension.lower(), DIMENSIONS, n=1)
    hint = f"write {near[0]!r}; there are" if near else "use one of"
    return f"unknown dimension {shown(dimension)}", f"{hint} {', '.join(DIMENSIONS)}"


def mixed(judgements: Iterable[Judgement]) -> list[str]:
    """Dimensions that have both single ratings and a mean, which would count people twice."""
    raters: dict[str, set[str]] = {}
    for judgement in judgements:
        raters.setdefault(judgement.dimension, set()).add(judgement.rater)
    return [name for name, who in raters.items() if MEAN_RATER in who and len(who) > 1]


def ratings_table(name: str, judgements: Iterable[Judgement]) -> pd.DataFrame:
    """A ratings table with renamed raters."""
    judged = list(judgements)
    raters = rater_names(judgement.rater for judgement in judged)
    rows = [(name, j.item_id, j.dimension, raters[j.rater], j.value) for j in judged]
    columns = schema.columns("ratings")
    return pd.DataFrame(rows, columns=columns) if rows else schema.empty("ratings")


def rater_names(given: Iterable[str]) -> dict[str, str]:
    """Rater as written -> rater as kept.

    ``r1``, ``r2``, ... and ``mean`` stay; any other name, which may be a person's, becomes the next
    free ``r<number>`` in order of first appearance.
    """
    raters = list(dict.fromkeys(given))
    names = {rater: rater for rater in raters if _KEPT.fullmatch(rater)}
    free = (f"r{n}" for n in range(1, len(raters) + 1 + len(names)) if f"r{n}" not in names)
    return {rater: names.get(rater) or next(free) for rater in raters}


def _number(
    sheet: Sheet, row: int, column: str, cell: Any, limits: tuple[float, float] | None
) -> float | None:
    """A rating, or None: nothing was given, or it is a fault."""
    text = cell.strip() if isinstance(cell, str) else cell
    if text is None or text == "":
        return None
    if isinstance(text, bool) or not isinstance(text, str | int | float | Decimal):
        sheet.fault(row, column, f"{shown(cell)} is not a number", "write a number or leave it out")
        return None
    if isinstance(text, str) and re.fullmatch(r"[+-]?\d+,\d+", text):
        sheet.fault(row, column, f"{shown(cell)} has a decimal comma", "write a decimal point")
        return None
    try:
        value = float(text)
    except (ValueError, OverflowError):
        value = None
    if value is not None and not math.isfinite(value):
        what, remedy = f"{shown(cell)} is not a finite number", "leave the cell empty if not rated"
        sheet.fault(row, column, what, remedy)
        return None
    if value is None or (isinstance(text, str) and not _NUMBER.fullmatch(text)):
        remedy = "write a number, or leave the cell empty if not rated"
        sheet.fault(row, column, f"{shown(cell)} is not a number", remedy)
        return None
    if limits is not None and not limits[0] <= value <= limits[1]:
        low, high = limits
        remedy = "correct the rating or the scale"
        sheet.fault(row, column, f"{value:g} is not on the scale {low:g} to {high:g}", remedy)
        return None
    return value
