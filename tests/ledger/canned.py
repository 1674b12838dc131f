"""Inputs at hand: a small data set under any name, and scores that nobody had to compute."""

import math

import pandas as pd

from tstmeta.analysis.frame import pairs
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.ledger import Inputs

IDS = list("abcdef")


def rated(name: str = "tiny", **items) -> Dataset:
    """Six rewrites of two sources by three systems, rated by two people."""
    texts = {
        "style": "formal",
        "source": ["he ran home"] * 3 + ["we ate soup"] * 3,
        "output": ["he ran", "he ran home", "she ran home", "we ate", "soup", "no"],
        "references": [["he walked home"]] * 3 + [["we had soup"]] * 3,
    }
    systems, sources = ["A", "B", "C"] * 2, ["s1"] * 3 + ["s2"] * 3
    table = items_table(name, item_id=IDS, source_id=sources, system=systems, **{**texts, **items})
    values = {
        ("content", "r1"): [2, 5, 3, 4, 2, 1],
        ("content", "r2"): [2, 5, 4, 3, 3, 1],
        ("style", "r1"): [4, 1, 3, 2, 5, 2],
    }
    card = Card(name, name, {"scale": {"content": [1, 5], "style": [1, 5]}})
    return Dataset.of(name, table, card, ratings=ratings_table(name, IDS, values))


class Canned(Inputs):
    """Has every data set (but those missing), and remembers which scores it was asked for.

    Args:
        missing: names of data sets that are not here.
        value: the score of the first item; the others have 2, 3, ...
    """

    def __init__(self, *missing: str, value: float = 1.0, signature: str = "likelihood|model:m"):
        super().__init__()
        self.missing, self.value, self.signature = missing, value, signature
        self.wanted: list[tuple[str, ...]] = []

    def has(self, name):
        return name not in self.missing

    def data(self, name):
        ids = {"item_id": [*IDS[:-1], "polite-14-style"]} if name == "pauli@polite" else {}
        data = rated(name)
        if not ids:
            return data
        names = dict(zip(IDS, ids["item_id"], strict=True))
        items = data.items.assign(item_id=data.items["item_id"].map(names))
        ratings = data.ratings.assign(item_id=data.ratings["item_id"].map(names))
        return Dataset.of(name, items, data.card, ratings=ratings)

    def pairs(self, name, metric, basis, dimension="content"):
        self.wanted.append((name, metric, basis))
        data = self.data(name)
        ids = data.items["item_id"]
        scores = pd.DataFrame(
            {
                "dataset": name,
                "item_id": ids,
                "metric": metric,
                "dimension": dimension,
                "basis": basis,
                "signature": self.signature,
                "sample": 0,
                "value": [2.0, 3.0, 4.0, 5.0, 6.0, self.value],
                "status": "error" if math.isnan(self.value) else "ok",
                "detail": "",
            }
        )
        return pairs(data, scores, dimension)
