"""Putting columns into our tables."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from .. import schema
from .base import Card, Dataset

#: Names that say nothing of a person.
_NEUTRAL = re.compile(rf"r[1-9][0-9]{{0,3}}|{schema.MEAN_RATER}")


def rater_names(raters: Iterable[str]) -> dict[str, str]:
    """Rater in a file -> rater in our tables, so that no name or id of a person is stored.

    ``r1``, ``r2``, ... and ``mean`` stay; others become the next free ``r<number>`` as they appear.
    """
    raters = list(dict.fromkeys(raters))
    names = {rater: rater for rater in raters if _NEUTRAL.fullmatch(rater)}
    free = (f"r{n}" for n in range(1, len(raters) + 1 + len(names)) if f"r{n}" not in names)
    return {rater: names.get(rater) or next(free) for rater in raters}


def rename_raters(*tables: pd.DataFrame) -> None:
    """Rename the raters of all tables together, see :func:`rater_names`."""
    names = rater_names(pd.concat([table["rater"] for table in tables]))
    for table in tables:
        table["rater"] = table["rater"].map(names)


def items_table(dataset: str, frame: pd.DataFrame | None = None, **columns: Any) -> pd.DataFrame:
    """An items table from columns, each a sequence or one value for all rows, or from ``frame``.

    Defaults: language ``en``, no references, ``is_reference`` False, empty texts.
    """
    known = schema.columns("items")
    if frame is not None:
        columns = dict(frame[frame.columns.intersection(known)]) | columns
    default = dict.fromkeys(known, "") | {"language": "en", "is_reference": False}
    default["references"] = [[] for _ in columns["item_id"]]
    values = {**default, **columns, "dataset": dataset}
    values["references"] = [list(texts) for texts in values["references"]]
    return pd.DataFrame({name: _without_index(column) for name, column in values.items()})


def _without_index(column: Any) -> Any:
    """One value for all rows as it is, else the values as an array; texts stay packed."""
    return column if isinstance(column, str | bool) else pd.Series(column).array


def assemble(
    name: str,
    frame: pd.DataFrame | None = None,
    *,
    ratings: pd.DataFrame | Mapping[tuple[str, str], Any] | None = None,
    labels: Mapping[str, Iterable[object]] | None = None,
    preferences: pd.DataFrame | None = None,
    scores: pd.DataFrame | None = None,
    card: Card | None = None,
    **columns: Any,
) -> Dataset:
    """A data set from its items, see :func:`items_table`, and other tables, or their columns."""
    items = items_table(name, frame, **columns)
    if isinstance(ratings, pd.DataFrame):
        ratings = ratings.assign(dataset=name)
    else:
        ratings = ratings_table(name, items["item_id"], ratings or {})
    preferences = schema.empty("preferences") if preferences is None else preferences
    preferences = preferences.assign(dataset=name)
    rename_raters(ratings, preferences)
    return Dataset.of(
        name,
        items,
        card,
        ratings=ratings,
        labels=labels_table(name, items["item_id"], **(labels or {})),
        preferences=preferences,
        scores=scores,
    )


def long_ratings(item_ids: Iterable[str], columns: Iterable[tuple[Any, Any, Any]]) -> pd.DataFrame:
    """Ratings, column by column, from triples of dimension, rater and values; NaN = not rated."""
    ids, tables = list(item_ids), []
    for dimension, rater, value in columns:
        rating = {"item_id": ids, "dimension": dimension, "rater": rater, "value": value}
        plain = {name: _without_index(cells) for name, cells in rating.items()}
        tables.append(pd.DataFrame(plain))
    return pd.concat(tables or [schema.empty("ratings")]).dropna(subset="value")


def ratings_table(
    dataset: str, item_ids: Iterable[str], values: Mapping[tuple[str, str], Any]
) -> pd.DataFrame:
    """Ratings, item by item, from a column of values a (dimension, rater); NaN = not rated."""
    columns = [(*pair, column) for pair, column in values.items()]
    table = long_ratings(item_ids, columns).sort_index(kind="stable", ignore_index=True)
    return table.assign(dataset=dataset)


def labels_table(dataset: str, item_ids: Iterable[str], **named: Iterable[object]) -> pd.DataFrame:
    """Labels, item by item, from one column a label; an empty text is no label."""
    rows = [
        (dataset, item, name, str(value))
        for item, *values in zip(item_ids, *named.values(), strict=True)
        for name, value in zip(named, values, strict=True)
        if value != ""
    ]
    return pd.DataFrame(rows, columns=schema.columns("labels"), dtype=str)


def scores_table(
    dataset: str,
    item_ids: Iterable[str],
    values: Any,
    metric: str,
    dimension: str,
    basis: str,
    fields: Mapping[str, object],
) -> pd.DataFrame:
    """Scores that somebody released, shape [items]; ``fields`` are of the signature.

    NaN = ``invalid``.
    """
    numbers = np.asarray(values, dtype=float)
    known = np.isfinite(numbers)
    facts = {"dataset": dataset, "metric": metric, "dimension": dimension, "basis": basis}
    signature = schema.Signature.of(metric, {"basis": basis, **fields})
    rows = {
        "item_id": list(item_ids),
        "value": np.where(known, numbers, np.nan),
        "status": np.where(known, str(schema.Status.OK), str(schema.Status.INVALID)),
        "detail": np.where(known, "", "no value was released"),
    }
    return pd.DataFrame(rows).assign(**facts, signature=str(signature), sample=0)
