"""Small data sets and metrics that remember what they were asked, for the tests of scoring."""

import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pandas as pd

from tstmeta import scoring
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.metrics import PairMetric, Request
from tstmeta.store import FILE

NAN = math.nan
TABLES = ("scores", "tokens", "claims")


def dataset(*rows: dict, ratings: dict | None = None, name: str = "tiny", **tables) -> Dataset:
    """A data set of rows; item ids count from 1, each row is its own source unless it says so."""
    full = [
        {
            **{"item_id": str(n), "source_id": str(n), "source": f"source {n}"},
            **{"output": f"output {n}", "references": [], "is_reference": False},
            **{"style": "", "language": "en", "system": "", "direction": ""},
            **row,
        }
        for n, row in enumerate(rows, 1)
    ]
    columns = {key: [row[key] for row in full] for key in full[0]}
    if ratings:
        tables["ratings"] = ratings_table(name, columns["item_id"], ratings)
    return Dataset.of(name, items_table(name, **columns), Card(name), **tables)


class Logged(PairMetric):
    """Number of characters of the output; remembers every call, fails on chosen outputs."""

    name = "logged"

    def __init__(self, version: int = 1, broken: Sequence[str] = ()):
        self.version, self.broken = version, broken
        self.calls: list[str] = []

    def fields(self) -> dict[str, object]:
        return {"version": self.version}

    def value(self, request: Request) -> float:
        self.calls.append(request.output)
        if request.output in self.broken:
            raise ValueError(f"cannot read {request.output}")
        return float(len(request.output))


def run(data: Dataset, metric: PairMetric, store: Path, basis: str = "source") -> pd.DataFrame:
    return scoring.score(data, [metric], bases=[basis], store=store, progress=False)


def contents(store: Path) -> dict[str, list[tuple]]:
    """All rows of a store, by table, with signatures for their ids."""
    joined = "SELECT s.signature, r.* FROM {} r JOIN signatures s ON s.id = r.signature"
    with closing(sqlite3.connect(store / FILE)) as file:
        rows = {table: file.execute(joined.format(table)).fetchall() for table in TABLES}
    return {table: sorted((row[0], *row[2:]) for row in rows[table]) for table in TABLES}


THREE = dataset({}, {}, {})
