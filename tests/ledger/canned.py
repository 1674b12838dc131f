"""Inputs at hand: a small data set under any name, and scores that nobody had to compute."""

import math

import pandas as pd

from tstmeta.analysis.frame import pairs
from tstmeta.data import Card, Dataset
from tstmeta.data.tables import items_table, ratings_table
from tstmeta.ledger import Inputs

IDS = ["a", "b", "c", "d", "e", "polite-14-style"]


def rated(name: str = "tiny") -> Dataset:
    """Six rewrites of two sources by three systems, rated by two people."""
    table = items_table(
        name,
        item_id=IDS,
        source_id=["s1"] * 3 + ["s2"] * 3,
        system=["A", "B", "C"] * 2,
        style="formal",
        source=["he ran home"] * 3 + ["we ate soup"] * 3,
        output=["he ran", "he ran home", "she ran home", "we ate", "soup", "no"],
        references=[["he walked home"]] * 3 + [["we had soup"]] * 3,
    )
    values = {
        ("content", "r1"): [2, 5, 3, 4, 2, 1],
        ("content", "r2"): [2, 5, 4, 3, 3, 1],
        ("style", "r1"): [4, 1, 3, 2, 5, 2],
    }
    card = Card(name, name, {"scale": {"content": [1, 5], "style": [1, 5]}})
    return Dataset.of(name, table, card, ratings=ratings_table(name, IDS, values))


class Canned(Inputs):
    """Has every data set but those missing, and remembers which scores were wanted.

    Args:
        missing: names of data sets that are not here.
        value: the score of the last item; the others have 2, 3, ...
    """

    def __init__(self, *missing: str, value: float = 1.0, signature: str = "likelihood|model:m"):
        super().__init__()
        self.missing, self.value, self.signature = missing, value, signature
        self.wanted: list[tuple[str, ...]] = []

    def has(self, name):
        return name not in self.missing

    def data(self, name):
        return rated(name)

    def pairs(self, name, metric, basis, dimension="content"):
        self.wanted.append((name, metric, basis))
        scores = pd.DataFrame({"item_id": IDS, "value": [2.0, 3.0, 4.0, 5.0, 6.0, self.value]})
        scores["status"] = "error" if math.isnan(self.value) else "ok"
        facts = {"dataset": name, "metric": metric, "dimension": dimension, "basis": basis}
        scores = scores.assign(**facts, signature=self.signature, sample=0, detail="")
        return pairs(self.data(name), scores, dimension)
