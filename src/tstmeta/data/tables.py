"""Putting columns into our tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from .. import schema


def rater_names(ids: Iterable[str]) -> dict[str, str]:
    """Raw rater id -> ``r1``, ``r2``, … by first appearance: neither id nor id order leaks."""
    return {raw: f"r{number}" for number, raw in enumerate(dict.fromkeys(ids), 1)}


def rename_raters(*tables: pd.DataFrame) -> None:
    """Number the raters of all tables through; ``mean``, which is nobody, stays."""
    ids = pd.concat([table["rater"] for table in tables])
    names = rater_names(ids[ids != schema.MEAN_RATER]) | {schema.MEAN_RATER: schema.MEAN_RATER}
    for table in tables:
        table["rater"] = table["rater"].map(names)


def items_table(dataset: str, **columns: Any) -> pd.DataFrame:
    """An items table from columns given as sequences or as one value for all rows.

    What is not given: ``language`` is ``en``, ``references`` are empty lists, ``is_reference`` is
    False, texts are empty.  ``references`` must be a sequence of lists, one a row.
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
    """A ratings table from one column of values for each (dimension, rater); NaN = not rated.

    Rows come item by item, in the order of the columns.
    """
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
    """A labels table from one column a label; an empty text means that the item has no such label.

    Rows come item by item, in the order of the labels.
    """
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
    """Scores that somebody released, one a row; NaN = status ``invalid`` (no value was released).

    Args:
        fields: what is known of how they were made; goes into the signature after the basis.
    """
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
