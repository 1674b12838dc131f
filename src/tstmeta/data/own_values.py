"""Ratings and scores in files of your own, one value a row."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd

from .. import schema
from ..schema import BASES, DIMENSIONS, MEAN_RATER, Problem, Status
from ..secrecy import conceal
from .base import Dataset
from .checks import FILLED, check, each, numeric, one_of
from .sheet import misspelt, read_sheet
from .tables import rename_raters

#: Dimension -> (lowest, highest) possible rating.
Scale = Mapping[str, tuple[float, float]]

_LONG = ("item_id", "dimension", "rater", "value")
_SCORE = ("item_id", "metric", "value")
#: What empty cells of a score file mean.
_DEFAULTS = {"dimension": "content", "basis": "source", "sample": 0, "status": "ok"}


def _known(ids: set[str]):
    return each(
        lambda cell: isinstance(cell, str) and cell in ids, "use an item_id of the data set"
    )


def long(path: Path, dataset: str, ids: set[str], scale: Scale) -> pd.DataFrame:
    """Ratings from a file with one rating a row; raters are as the file names them."""
    sheet = read_sheet(path)
    for column in sheet.columns:
        if column not in (*_LONG, "dataset"):
            remedy = f"drop it: a file of ratings has only {', '.join(_LONG)}"
            sheet.fault(sheet.header, column, "unknown column", remedy)
    sheet.check_columns(*_LONG)
    table = sheet.frame(_LONG[:3])
    checks = {"item_id": _known(ids), "dimension": one_of(DIMENSIONS), "rater": FILLED}
    table = sheet.hold(table, {**checks, "value": numeric()}, _LONG[:3])
    for dimension, rows in table.groupby("dimension"):
        sheet.hold(rows, {"value": numeric(*scale.get(str(dimension), ()))})
    check(mixed(table, sheet.file))
    return table.assign(dataset=dataset)[schema.columns("ratings")]


def rated(dataset: Dataset, path: Path) -> Dataset:
    """A data set with the ratings of a long file in the place of those it has."""
    name, ids = dataset.items["dataset"].iloc[0], set(dataset.items["item_id"])
    ratings = long(path, name, ids, dataset.card.scale)
    rename_raters(ratings)
    return replace(dataset, ratings=schema.validate(ratings, "ratings", name))


def mixed(ratings: pd.DataFrame, file: str) -> list[Problem]:
    """Dimensions that have both single ratings and a mean, which would count people twice."""
    raters = ratings.groupby("dimension")["rater"].agg(set)
    what = "{} has single ratings and a mean"
    return [
        Problem(file, None, str(dimension), what.format(dimension), "drop the mean")
        for dimension, names in raters.items()
        if MEAN_RATER in names and len(names) > 1
    ]


def read_scores(path: Path, dataset: Dataset) -> pd.DataFrame:
    """Scores that were computed elsewhere, from CSV, TSV, JSONL or Parquet, as a ``scores`` table.

    Required columns: ``item_id, metric, value``; optional, also cell by cell: ``dimension``
    (content), ``basis`` (source), ``signature``, ``sample`` (0), ``status`` (ok), ``detail``.
    Without a signature the file's name and SHA-256 stand in for one.  A row whose status has no
    value (refused, invalid, error) needs none, and one given there does not count.
    """
    sheet, columns = read_sheet(path), schema.columns("scores")
    for column in sheet.columns:
        near = misspelt(column, columns)
        if column not in columns and near:
            what = "unknown column that looks misspelt"
            sheet.fault(sheet.header, column, what, f"write {near}")
    names = [column for column in columns if column not in ("sample", "value")]
    sheet.check_columns(*_SCORE)
    table = sheet.frame(names).reindex(columns=columns).astype(object)
    for column in columns:
        empty = table[column].isna() | (table[column].map(str) == "")
        table[column] = table[column].mask(empty, _DEFAULTS.get(column, ""))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    for column in ("metric", "signature"):
        table[column] = table[column].map(lambda x: conceal(x) if isinstance(x, str) else x)
    origin = table["metric"].astype(str) + f"|file:{path.name}|sha256:{digest}"
    table["signature"] = table["signature"].mask(table["signature"] == "", origin)
    without = [str(status) for status in Status if not status.has_value]
    nothing = table["status"].isin(without)
    checks = {
        "item_id": _known(set(dataset.items["item_id"])),
        "metric": FILLED,
        "dimension": one_of(DIMENSIONS),
        "basis": one_of(BASES),
        "sample": numeric(whole=True),
        "status": one_of([str(status) for status in Status]),
        "value": numeric(hint=f", or give a status: {', '.join(without)}"),
    }
    held = table.assign(value=table["value"].mask(nothing, 0.0))
    held = sheet.hold(held, checks, ("item_id", "signature", "basis", "sample"))
    held = held.assign(dataset=dataset.name.partition("@")[0], value=held["value"].mask(nothing))
    return schema.validate(held.astype({"sample": int}), "scores", str(path))
