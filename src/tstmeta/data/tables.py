"""Putting columns into our tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .. import schema

_KEPT = re.compile(rf"r[1-9][0-9]{{0,3}}|{schema.MEAN_RATER}")


def rater_names(given: Iterable[str]) -> dict[str, str]:
    """Rater as written -> rater as kept: nobody's name goes on, nor the order of ids.

    ``r1``, ``r2``, ... and ``mean`` stay; any other name, which may be a person's, becomes the next
    free ``r<number>`` in order of first appearance.
    """
    raters = list(dict.fromkeys(given))
    names = {rater: rater for rater in raters if _KEPT.fullmatch(rater)}
    free = (f"r{n}" for n in range(1, len(raters) + 1 + len(names)) if f"r{n}" not in names)
    return {rater: names.get(rater) or next(free) for rater in raters}


def rename_raters(*tables: pd.DataFrame) -> None:
    """Give the raters of all tables the names that are kept, numbered through."""
    names = rater_names(pd.concat([table["rater"] for table in tables]))
    for table in tables:
        table["rater"] = table["rater"].map(names)


def items_table(dataset: str, **columns: Any) -> pd.DataFrame:
    """An items table from columns, each a sequence or one value for all rows.

    What is not given: ``language`` is ``en``, ``references`` are empty lists, ``is_reference`` is
    False, texts are empty.
    """
    size = len(columns["item_id"])
    references = columns.pop("references", None)
    frame = pd.DataFrame({"dataset": [dataset] * size})
    for name in schema.columns("items")[1:]:
        default: object = {"language": "en", "is_reference": False}.get(name, "")
        value = columns.pop(name, default)
        frame[name] = value if isinstance(value, str | bool) else list(value)
    if columns:
        raise TypeError(f"no such column: {', '.join(columns)}")
    lists = [[] for _ in range(size)] if references is None else [list(r) for r in references]
    frame["references"] = pd.Series(lists, dtype=object)
    return frame


def ratings_table(
    dataset: str,
    item_ids: Sequence[str] | pd.Series,
    values: Mapping[tuple[str, str], Sequence[float] | np.ndarray | pd.Series],
) -> pd.DataFrame:
    """Ratings, item by item, from a column of values a (dimension, rater); NaN = not rated."""
    size, pairs = len(item_ids), list(values)
    if not pairs:
        return schema.empty("ratings")
    matrix = np.column_stack([np.asarray(values[pair], dtype=float) for pair in pairs])
    frame = pd.DataFrame(
        {
            "dataset": dataset,
            "item_id": np.repeat(np.asarray(item_ids, dtype=object), len(pairs)),
            "dimension": [dimension for dimension, _ in pairs] * size,
            "rater": [rater for _, rater in pairs] * size,
            "value": matrix.ravel(),
        }
    )
    return frame[frame["value"].notna()].reset_index(drop=True)


def long_ratings(
    dataset: str, item_ids: Iterable[str], dimension: Any, rater: Any, value: Any
) -> pd.DataFrame:
    """A ratings table from columns, one row a rating; a single value holds for all rows."""
    columns = {"dimension": dimension, "rater": rater, "value": value}
    plain = {name: c if isinstance(c, str) else list(c) for name, c in columns.items()}
    return pd.DataFrame({"dataset": dataset, "item_id": list(item_ids), **plain})


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
    values: Sequence[float] | np.ndarray,
    *,
    metric: str,
    dimension: str,
    basis: str,
    fields: Mapping[str, object],
) -> pd.DataFrame:
    """Scores that somebody released; NaN = ``invalid``; ``fields`` go into the signature."""
    numbers = np.asarray(values, dtype=float)
    known = np.isfinite(numbers)
    signature = schema.Signature.of(metric, {"basis": basis, **fields})
    return pd.DataFrame(
        {
            "dataset": dataset,
            "item_id": list(item_ids),
            "metric": metric,
            "dimension": dimension,
            "basis": basis,
            "signature": str(signature),
            "sample": 0,
            "value": np.where(known, numbers, np.nan),
            "status": np.where(known, str(schema.Status.OK), str(schema.Status.INVALID)),
            "detail": np.where(known, "", "no value was released"),
        }
    )
