"""What recipes and claims compute with: data sets and pairs, each loaded and scored once a run."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from .. import scoring
from ..analysis.frame import pairs
from ..data import Dataset, available, load

#: What asks for a score that came with the data set.
RELEASED = "released:"


class Inputs:
    """Loads and scores what is wanted, and keeps it; arguments as of :func:`tstmeta.score`."""

    def __init__(self, store: Path | None = None, progress: bool = False):
        self.store, self.progress = store, progress
        self._data: dict[str, Dataset] = {}
        self._pairs: dict[tuple[str, str, str, str], pd.DataFrame] = {}

    def has(self, name: str) -> bool:
        """Whether the files of a data set are on this machine."""
        return name in self._data or available(name)

    def add(self, data: Dataset) -> None:
        """Take this data set for the one of its name."""
        self._data[data.name] = data

    def data(self, name: str) -> Dataset:
        """A data set or named subset."""
        if name not in self._data:
            self._data[name] = load(name)
        return self._data[name]

    def scores(self, name: str, metrics: list[str], basis: str) -> pd.DataFrame:
        """The ``scores`` table of metrics on one basis; either all are released or none."""
        data = self.data(name)
        if not any(metric.startswith(RELEASED) for metric in metrics):
            store, progress = self.store, self.progress
            return scoring.score(data, metrics, bases=[basis], store=store, progress=progress)
        return scoring.released(data, metrics).query("basis == @basis").reset_index(drop=True)

    def pairs(self, name: str, metric: str, basis: str, dimension: str = "content") -> pd.DataFrame:
        """The pairs of one metric on one basis, see :func:`tstmeta.pairs`; empty without scores.

        A judge released ratings of several dimensions under one name: the ones of ``dimension``.
        """
        key = (name, metric, basis, dimension)
        if key not in self._pairs:
            table = self.scores(name, [metric], basis)
            if metric.startswith(RELEASED):
                table = table[table["dimension"] == dimension]
            self._pairs[key] = pairs(self.data(name), table, dimension)
        return self._pairs[key]
