"""Agreement of metrics with people as tables: the one that the CLI prints and notebooks show."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import schema
from ..data import Dataset
from .bench import USABLE, at_level

#: Names under which a table says what a metric was held against.
HUMAN = "mean human rating"
CONSTRUCTION = "label by construction"


def truth(dataset: Dataset, dimension: str) -> tuple[np.ndarray, str]:
    """What a metric is held against: values [items] (NaN where there is none) and what they are.

    Human ratings where there are any; otherwise, on a set built for it, the labels by construction:
    content is 1 where nothing was changed and 0 where one content error was made, style is 1 for a
    strong and 0 for a light shift.  These labels are not ratings and are never called so.
    """
    if dimension in dataset.means:
        return dataset.means[dimension].to_numpy(float), HUMAN
    name, yes = {"content": ("error", "none"), "style": ("shift", "strong")}.get(
        dimension, ("", "")
    )
    labels = dataset.label(name) if name else pd.Series("", index=dataset.items["item_id"])
    values = np.where(labels == "", math.nan, (labels == yes).astype(float))
    return values, CONSTRUCTION if np.isfinite(values).any() else ""


def judged(dataset: Dataset) -> list[str]:
    """Dimensions for which there is something to hold a metric against."""
    return [dimension for dimension in schema.DIMENSIONS if truth(dataset, dimension)[1]]


def evaluate(
    dataset: Dataset,
    scores: pd.DataFrame,
    *,
    dimensions: list[str] | None = None,
    statistic: str = "pearson",
    level: str = "pooled",
) -> pd.DataFrame:
    """Each metric against each dimension, with what its scores look like.

    Args:
        scores: a ``scores`` table of the data set.
        dimensions: default: all for which there are ratings (or labels by construction).
        statistic: pearson, spearman or kendall.
        level: see :meth:`tstmeta.report.bench.Bench.agreement`.

    Returns:
        One row a metric, basis and dimension: metric, basis, dimension, value, p, n (pairs, or
        groups at a grouped level), against, mean, sd, min, max, scored, empty, truncated, failed,
        note, signature.  Without anything to hold a metric against, dimension is empty and value
        NaN.
    """
    wanted = judged(dataset) if dimensions is None else dimensions
    rows = []
    keys = ["metric", "basis", "signature"]
    for (metric, basis, signature), table in scores.groupby(keys, sort=False, observed=True):
        by_item = table.set_index("item_id").reindex(dataset.items["item_id"])
        values = by_item["value"].where(by_item["status"].isin(USABLE)).to_numpy(float)
        about = _describe(values, table)
        for dimension in wanted or [""]:
            row = {"metric": metric, "basis": basis, "dimension": dimension}
            if dimension:
                human, against = truth(dataset, dimension)
                found = at_level(dataset, statistic, level, human, values)
                row |= {"value": found.value, "p": found.p, "n": found.n, "against": against}
                note = found.reason
            else:
                row |= {"value": math.nan, "p": math.nan, "n": 0, "against": ""}
                note = "nothing to compare with: no ratings"
            rows.append({**row, **about, "note": note, "signature": signature})
    return pd.DataFrame(rows)


def _describe(values: np.ndarray, table: pd.DataFrame) -> dict[str, float | int]:
    finite = values[np.isfinite(values)]
    status = table["status"].value_counts()
    scored = len(finite)
    return {
        "mean": float(finite.mean()) if scored else math.nan,
        "sd": float(finite.std(ddof=1)) if scored > 1 else math.nan,
        "min": float(finite.min()) if scored else math.nan,
        "max": float(finite.max()) if scored else math.nan,
        "scored": scored,
        "empty": int(status.get("empty", 0)),
        "truncated": int(status.get("truncated", 0)),
        "failed": len(table) - scored,
    }
