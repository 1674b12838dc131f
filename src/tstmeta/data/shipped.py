"""Numbers without texts: what the project passes on of a data set whose licence allows it.

``data/ratings/<set>`` holds Parquet files: the items without their texts (ids, source, system,
style, direction, language, number of references, lengths, whether the output is a copy, and a
digest of the texts), ratings, labels, preferences, and scores with their signatures: those that
came with the data set and our own.  Where the raw files are not, the data set is loaded from here,
and each text is missing (NaN); :func:`tstmeta.score` finds the scores.
"""

from functools import lru_cache
from pathlib import Path

import pandas as pd

from ..schema import Status
from . import paths
from .base import LENGTHS, Card, Dataset

_KNOWN = [*LENGTHS, "digest"]
#: Labels that are passed on: words of ours or of the raters' form, never texts.
LABELS = (
    *("ambiguous", "collection", "construction", "corpus", "domain", "error", "intention"),
    *("sentence_type", "shift", "survey", "task"),
)


def available(name: str) -> bool:
    """Whether the numbers of a data set were passed on with the project."""
    return folder(name).joinpath("items.parquet").is_file()


def folder(name: str) -> Path:
    """The folder with the numbers of a data set."""
    return paths.own("ratings", name)


@lru_cache(maxsize=16)
def load(name: str) -> Dataset:
    """A data set without its texts, with the scores that came with it."""
    tables = {file.stem: _read(name, file.stem) for file in folder(name).glob("*.parquet")}
    items = tables.pop("items")
    known = items.set_index("item_id")[_KNOWN]
    lists = [[None] * count for count in items.pop("references")]
    items = items.drop(columns=_KNOWN).assign(source=None, output=None)
    items["references"] = pd.Series(lists, dtype=object)
    tables["scores"] = tables["scores"][tables["scores"]["metric"].str.startswith("released:")]
    every = {table: frame.assign(dataset=name) for table, frame in tables.items()}
    return Dataset.of(name, items.assign(dataset=name), Card.read(name), known, **every)


def scores(data: Dataset, metric: str, basis: str, signature: str = "") -> pd.DataFrame:
    """Our scores of a metric that were passed on of these items, with the columns of the table.

    Where an item's texts are here, they must be those that were scored.

    Args:
        signature: of the metric; empty takes it as the metric had it (it cannot run here).
    """
    name = data.name.partition("@")[0]
    if not available(name):
        return pd.DataFrame()
    table = _by_metric(name).get((metric, basis))
    if table is None or signature not in ("", table["signature"].iloc[0]):
        return pd.DataFrame()
    table = table[table["item_id"].isin(_unchanged(data, name))]
    return table.assign(dataset=name)


def _unchanged(data: Dataset, name: str) -> set[str]:
    """The items whose texts are not here, or are those that were scored."""
    ids = data.items["item_id"]
    return set(ids[data.digests.to_numpy(object) == _digests(name).reindex(ids).to_numpy(object)])


@lru_cache(maxsize=16)
def _digests(name: str) -> pd.Series:
    return _read(name, "items").set_index("item_id")["digest"]


@lru_cache(maxsize=16)
def _by_metric(name: str) -> dict[tuple[str, str], pd.DataFrame]:
    own = _read(name, "scores")
    own = own[~own["metric"].str.startswith("released:")]
    return dict(iter(own.groupby(["metric", "basis"], sort=False)))


def _read(name: str, table: str) -> pd.DataFrame:
    return pd.read_parquet(folder(name) / f"{table}.parquet")


def write(data: Dataset, own: pd.DataFrame, target: Path) -> None:
    """Write the numbers of a data set, with our scores of it."""
    target.mkdir(parents=True, exist_ok=True)
    items = data.items.drop(columns=["source", "output", "dataset"])
    items["references"] = items["references"].map(len)
    items = items.merge(data.lengths.assign(digest=data.digests), "left", "item_id")
    labels = data.labels[data.labels["name"].isin(LABELS)]
    own = own[own["status"] != str(Status.ERROR)]
    scores = pd.concat([data.scores, own], ignore_index=True)
    tables = {"ratings": data.ratings, "labels": labels, "preferences": data.preferences}
    for table, frame in {"items": items, **tables, "scores": scores}.items():
        if frame.empty:
            continue
        frame = frame.drop(columns="dataset", errors="ignore").reset_index(drop=True)
        frame.to_parquet(target / f"{table}.parquet", index=False, compression="zstd")
