"""Inputs at hand: a small data set under any name, and scores that nobody had to compute."""

import math

import pandas as pd

from tests.analysis import tiny
from tstmeta.analysis.frame import pairs
from tstmeta.ledger import Inputs

IDS = ["a", "b", "c", "d", "e", "polite-14-style"]


class Canned(Inputs):
    """Has every data set but those missing, and remembers which scores were wanted.

    Args:
        missing: names of data sets that are not here.
        value: the score of the last item; the others have 2, 3, ...
    """

    def __init__(self, *missing: str, value: float = 1.0):
        super().__init__()
        self.missing, self.value = missing, value
        self.wanted: list[tuple[str, ...]] = []

    def has(self, name, texts=False):
        return name not in self.missing

    def data(self, name):
        return tiny.rated(name=name, ids=IDS)

    def pairs(self, name, metric, basis, dimension="content"):
        self.wanted.append((name, metric, basis))
        scores = pd.DataFrame({"item_id": IDS, "value": [2.0, 3.0, 4.0, 5.0, 6.0, self.value]})
        scores["status"] = "error" if math.isnan(self.value) else "ok"
        facts = {"dataset": name, "metric": metric, "dimension": dimension, "basis": basis}
        scores = scores.assign(**facts, signature="likelihood|model:m", sample=0, detail="")
        return pairs(self.data(name), scores, dimension)
