"""Numbers without texts: what the project passes on of a data set whose licence allows it.

``data/ratings/<set>`` holds Parquet files: the items with lengths and a digest in the place of
their texts, ratings, labels, preferences, and scores, a file a metric.  Where the raw files are
not, the data set is loaded from here, and each text is missing (NaN).
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from .. import schema
from . import paths
from .base import LENGTHS, Card, Dataset

_KNOWN = [*LENGTHS, "digest"]
#: Columns of scores with few different texts, which are read once each.
_ALIKE = ["metric", "dimension", "basis", "signature", "status", "detail"]
#: Labels that are passed on: words of ours or of the raters' form, never texts.
LABELS = (
    *("ambiguous", "collection", "construction", "corpus", "domain", "error", "intention"),
    *("sentence_type", "shift", "survey", "task"),
)


def folder(name: str) -> Path:
    """The folder with the numbers of a data set."""
    return paths.project("ratings", name)


@lru_cache(maxsize=16)
def load(name: str) -> Dataset:
    """A data set without its texts, with the scores that came with it."""
    items = _read(name, "items")
    known = items.set_index("item_id")[_KNOWN]
    lists = [[None] * count for count in items.pop("references")]
    items = items.drop(columns=_KNOWN).assign(dataset=name, source=None, output=None)
    items["references"] = pd.Series(lists, dtype=object)
    about = {table: _read(name, table) for table in ("ratings", "labels", "preferences")}
    about["scores"] = _read(name, "scores/released")
    return Dataset.of(name, items, Card.read(name), known, **about)


def scores(data: Dataset, metric: str, basis: str, signature: str = "") -> pd.DataFrame:
    """The shipped scores of a metric (an empty signature takes any) for these items.

    Where an item's texts are here, they must be those that were scored.
    """
    name, stem = data.name.partition("@")[0], metric.partition(":")[0]
    if stem == "released" or (table := _by_metric(name, stem).get((metric, basis))) is None:
        return pd.DataFrame()
    if signature:
        table = table[table["signature"] == signature]
    ids = data.items["item_id"]
    if data.has_texts:
        ids = ids[data.digests.to_numpy(object) == _digests(name).reindex(ids).to_numpy(object)]
    known = pd.Index(ids).get_indexer(table["item_id"])  # isin takes 40 times as long
    return table[known >= 0]


@lru_cache(maxsize=16)
def _digests(name: str) -> pd.Series:
    return pd.read_parquet(folder(name) / "items.parquet").set_index("item_id")["digest"]


@lru_cache(maxsize=256)
def _by_metric(name: str, stem: str) -> dict[tuple[str, str], pd.DataFrame]:
    file = folder(name) / "scores" / f"{stem}.parquet"
    if not file.is_file():
        return {}
    table = pd.read_parquet(file, read_dictionary=_ALIKE).assign(dataset=name)
    places = table.groupby(["metric", "basis"], sort=False, observed=True).indices
    table = table[schema.columns("scores")].astype(dict.fromkeys(_ALIKE, "str"))
    return {key: table.take(rows) for key, rows in places.items()}


def _read(name: str, table: str) -> Any:
    """A table with the columns of its schema; None where there is none."""
    file = folder(name) / f"{table}.parquet"
    return pd.read_parquet(file).assign(dataset=name) if file.is_file() else None


def numbers(data: Dataset) -> dict[str, pd.DataFrame]:
    """Items without their texts, ratings, labels that are no texts, and preferences."""
    items = data.items.drop(columns=["source", "output"])
    items["references"] = items["references"].map(len)
    items = items.merge(data.lengths.assign(digest=data.digests), "left", "item_id")
    labels = data.labels[data.labels["name"].isin(LABELS)]
    tables = {"items": items, "ratings": data.ratings, "labels": labels}
    return tables | {"preferences": data.preferences}
