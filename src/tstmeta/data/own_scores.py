"""Scores that were computed elsewhere (COMET, BLEURT, ...), in a file of yours."""

from __future__ import annotations

import difflib
import hashlib
import math
from pathlib import Path
from typing import Any

import pandas as pd

from .. import schema
from ..schema import BASES, DIMENSIONS, DataError, Status
from ..secrecy import conceal
from .base import Dataset
from .own_ratings import unknown_dimension
from .sheet import Sheet, read_sheet, shown

_NEEDED = ("item_id", "metric", "value")
_WITHOUT = [str(status) for status in Status if not status.has_value]


def read_scores(path: Path, dataset: Dataset) -> pd.DataFrame:
    """Scores of a data set's items, from CSV, TSV, JSONL or Parquet, as a ``scores`` table.

    Required columns: ``item_id, metric, value``; optional, also cell by cell: ``dimension``
    (content), ``basis`` (source), ``signature``, ``sample`` (0), ``status`` (ok), ``detail``.
    Without a signature the file's name and SHA-256 stand in for one.  A row whose status has no
    value (refused, invalid, error) needs none, and one given there does not count.

    Raises:
        DataError: with row, column and remedy for every fault.
    """
    sheet = read_sheet(path)
    _check_columns(sheet)
    if not set(_NEEDED) <= set(sheet.columns):
        raise DataError(sheet.problems)
    origin = f"file:{path.name}|sha256:{hashlib.sha256(path.read_bytes()).hexdigest()[:16]}"
    known = set(dataset.items["item_id"])
    rows: list[dict[str, Any]] = []
    places: dict[tuple, int] = {}
    for row in sheet.rows:
        one = _row(sheet, row, known, origin)
        key = tuple(one[name] for name in ("item_id", "signature", "basis", "sample"))
        if key in places:
            what = f"item, signature, basis and sample are those of row {places[key]}"
            sheet.fault(row, "value", what, "keep one of the two")
        places.setdefault(key, row)
        rows.append(one)
    if sheet.problems:
        raise DataError(sheet.problems)
    name = dataset.name.partition("@")[0]
    table = pd.DataFrame(rows).assign(dataset=name)[schema.columns("scores")]
    return schema.validate(table, "scores", str(path))


def _check_columns(sheet: Sheet) -> None:
    for column in _NEEDED:
        if column not in sheet.columns:
            remedy = f"a score file has {', '.join(_NEEDED)}"
            sheet.fault(sheet.header, column, "missing column", remedy)
    columns = schema.columns("scores")
    for column in sheet.columns:
        near = difflib.get_close_matches(column.lower(), columns, n=1, cutoff=0.8)
        if column not in columns and near:
            what, remedy = "unknown column that looks misspelt", f"write {near[0]}"
            sheet.fault(sheet.header, column, what, remedy)


def _row(sheet: Sheet, row: int, known: set[str], origin: str) -> dict[str, Any]:
    """One score; its faults go to the sheet."""
    names = ("item_id", "metric", "dimension", "basis", "signature", "status", "detail")
    one: dict[str, Any] = {name: sheet.name(row, name) for name in names}
    if one["item_id"] not in known:
        near = difflib.get_close_matches(one["item_id"], known, n=1)
        remedy = f"write {near[0]!r}" if near else "use the item_ids of the data set"
        sheet.fault(row, "item_id", f"no item is called {shown(one['item_id'])}", remedy)
    if not one["metric"]:
        sheet.fault(row, "metric", "no metric", "name the metric")
    one["dimension"] = one["dimension"] or "content"
    if one["dimension"] not in DIMENSIONS:
        sheet.fault(row, "dimension", *unknown_dimension(one["dimension"]))
    for name, default, allowed in (("basis", "source", BASES), ("status", "ok", tuple(Status))):
        one[name] = one[name] or default
        if one[name] not in allowed:
            sheet.fault(row, name, f"unknown {name} {one[name]!r}", f"use {', '.join(allowed)}")
    one["metric"], one["signature"] = map(conceal, (one["metric"], one["signature"]))
    one["signature"] = one["signature"] or f"{one['metric']}|{origin}"
    sample = _number(sheet.rows[row].get("sample") or 0)
    if not sample.is_integer():
        what = f"{shown(sheet.rows[row]['sample'])} is not a whole number"
        sheet.fault(row, "sample", what, "number the samples 0, 1, 2, ...")
        sample = 0.0
    value = _number(sheet.rows[row].get("value"))
    if one["status"] in _WITHOUT:
        value = math.nan
    elif not math.isfinite(value):
        what = f"{shown(sheet.rows[row].get('value'))} is not a finite number"
        sheet.fault(row, "value", what, f"give a number, or a status: {', '.join(_WITHOUT)}")
    return {**one, "sample": int(sample), "value": value}


def _number(cell: Any) -> float:
    """A cell as a number; NaN for what is none."""
    if isinstance(cell, bool):
        return math.nan
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan
