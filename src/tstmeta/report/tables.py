"""Agreement of metrics with people as tables: the one that the CLI prints and notebooks show."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import metrics, schema, stats
from ..data import Dataset
from ..metrics import CorpusMetric
from ..stats import Correlation
from ..stats.kernels import deviation
from .bench import USABLE
from .layout import at_level

#: Names under which a table says what a metric was held against.
HUMAN = "mean human rating"
_COLUMNS = [
    *("metric", "basis", "dimension", "value", "p", "n", "against", "mean", "sd", "min", "max"),
    *("scored", "empty", "truncated", "failed", "note", "signature"),
]
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
        statistic, level: names of :data:`tstmeta.stats.STATISTICS` and
            :data:`tstmeta.stats.LEVELS`.

    Returns:
        One row a metric, basis and dimension: metric, basis, dimension, value, p, n (pairs, or
        groups at a grouped level), against, mean, sd, min, max, scored, empty, truncated, failed,
        note, signature.  For a metric of whole outputs ``mean`` is its value over all of them.
        Without anything to hold a metric against, dimension is empty and value NaN.

    Raises:
        TstmetaError: a dimension, statistic or level that is none.
    """
    known_dimensions(dimensions or [])
    wanted = judged(dataset) if dimensions is None else dimensions
    rows = []
    for one in scored(dataset, scores):
        for dimension in wanted or [""]:
            human, against = truth(dataset, dimension) if dimension else (one.vector * math.nan, "")
            if not against:
                what = f"nothing to compare with: no ratings{f' of {dimension}' * bool(dimension)}"
                found = Correlation(math.nan, math.nan, 0, what)
            elif one.corpus:
                found = at_corpus_level(dataset, one, human, statistic, level)
            else:
                found = at_level(dataset, statistic, level, human, one.vector)
            head = {"metric": one.name, "basis": one.basis, "dimension": dimension}
            value = {"value": found.value, "p": found.p, "n": found.n, "against": against}
            tail = {"note": found.reason, "signature": one.signature}
            rows.append(head | value | one.about | tail)
    return pd.DataFrame(rows, columns=_COLUMNS)


def known_dimensions(dimensions: Sequence[str]) -> None:
    """Refuse dimensions that are none.

    Raises:
        TstmetaError: with those that there are.
    """
    if unknown := [name for name in dimensions if name not in schema.DIMENSIONS]:
        known = ", ".join(schema.DIMENSIONS)
        raise schema.TstmetaError(f"unknown dimension {', '.join(unknown)}; known: {known}")


class Scored(NamedTuple):
    """The scores of one metric on one basis, with one signature.

    Attributes:
        vector: values ``[items]``, NaN where there is none.
        by_item: rows of the scores table over the items.
        corpus: the metric itself if it is one of whole outputs.
        about: mean, sd, min, max, scored, empty, truncated, failed.
    """

    name: str
    basis: str
    signature: str
    vector: np.ndarray
    by_item: pd.DataFrame
    corpus: CorpusMetric | None
    about: dict[str, float | int]


def scored(dataset: Dataset, scores: pd.DataFrame) -> Iterator[Scored]:
    """The metrics of a ``scores`` table in order of appearance.

    The mean of a metric of whole outputs is its value over all of them.
    """
    keys = ["metric", "basis", "signature"]
    for (name, basis, signature), table in scores.groupby(keys, sort=False, observed=True):
        by_item = table.set_index("item_id").reindex(dataset.items["item_id"])
        values = by_item["value"].where(by_item["status"].isin(USABLE)).to_numpy(float)
        details = table.loc[table["status"].isin(USABLE), "detail"]
        # scores of that name from a file come without the statistics
        corpus = _corpus_metric(name) if details.ne("").all() else None
        about = _describe(values, table)
        if corpus and about["scored"]:
            about["mean"] = corpus.combine(list(details))
        yield Scored(str(name), str(basis), str(signature), values, by_item, corpus, about)


def _corpus_metric(name: str) -> CorpusMetric | None:
    """The metric of that name if it is one of whole sets of outputs."""
    found = metrics.known(name)  # None: a released or imported score
    return found if isinstance(found, CorpusMetric) else None


def at_corpus_level(
    dataset: Dataset, scored: Scored, human: np.ndarray, statistic: str, level: str
) -> Correlation:
    """Agreement of a corpus metric: one value a system, from the sum of its items' statistics."""
    if scored.corpus is None or level != "system":
        reason = "a metric of whole outputs: use level system"
        return Correlation(math.nan, math.nan, 0, reason)
    function = stats.STATISTICS[statistic]
    if function.whole is not None:
        reason = f"{function.label} needs a score for each rewrite"
        return Correlation(math.nan, math.nan, 0, reason)
    known = (dataset.items["system"] != "").to_numpy()
    both = scored.by_item["status"].isin(USABLE).to_numpy() & np.isfinite(human) & known
    systems = dataset.items["system"].to_numpy(str)[both]
    names, people = stats.means(human[both], systems)
    details = scored.by_item["detail"].to_numpy()[both]
    values = [scored.corpus.combine(list(details[systems == name])) for name in names]
    return function(people, values)


def _describe(values: np.ndarray, table: pd.DataFrame) -> dict[str, float | int]:
    finite = values[np.isfinite(values)]
    status = table["status"].value_counts()
    scored = len(finite)
    return {
        "mean": float(finite.mean()) if scored else math.nan,
        "sd": deviation(finite),
        "min": float(finite.min()) if scored else math.nan,
        "max": float(finite.max()) if scored else math.nan,
        "scored": scored,
        "empty": int(status.get("empty", 0)),
        "truncated": int(status.get("truncated", 0)),
        "failed": len(table) - scored,
    }
