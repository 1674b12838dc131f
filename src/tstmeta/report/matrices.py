"""From tables to matrices: one row a source, one column a system, NaN where there is nothing.

:mod:`tstmeta.stats` speaks matrices; this is where a data set becomes some.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from ..data import Dataset
from ..stats import Plan
from ..stats.resampling import Units
from .bench import USABLE
from .tables import truth

#: The label that names the group of raters who saw an item's source, where a set has one.
CLUSTERS = "survey"


class Layout(NamedTuple):
    """Where each item of a data set stands in its matrices.

    A system's second rewrite of the same source (rare) stands in a column of its own,
    ``name (2)``; items of unknown system are numbered, ``rewrite 1``.
    """

    sources: list[str]
    systems: list[str]
    row: np.ndarray
    column: np.ndarray
    #: Whether columns are systems; if not, nothing can be said at the level of systems.
    named: bool

    @classmethod
    def of(cls, dataset: Dataset) -> Layout:
        items = dataset.items
        named = bool((items["system"] != "").any())
        system = items["system"].where(items["system"] != "", "rewrite").astype(str)
        again = items.assign(system=system).groupby(["source_id", "system"]).cumcount() + 1
        numbered = (again > 1) | (system == "rewrite")
        system = system.where(~numbered, system + " (" + again.astype(str) + ")")
        row, sources = pd.factorize(items["source_id"])
        column, systems = pd.factorize(system)
        return cls(list(sources), list(systems), row, column, named)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values ``[..., items]`` to ``[..., sources, systems]``."""
        values = np.asarray(values, dtype=float)
        shape = (*values.shape[:-1], len(self.sources), len(self.systems))
        found = np.full(shape, np.nan)
        found[..., self.row, self.column] = values
        return found

    def by_source(self, values: np.ndarray) -> np.ndarray:
        """Labels of items to labels of sources; the first item of a source speaks for all."""
        first = np.full(len(self.sources), -1)
        first[self.row[::-1]] = np.arange(len(self.row))[::-1]
        return np.asarray(values)[first]


class Matrices(NamedTuple):
    """A data set and its scores as the statistics want them.

    Attributes:
        human: mean ratings (or labels by construction) ``[S, K]``.
        metrics: scores ``[M, S, K]``.
        names: (metric, basis) of each metric; ``signatures`` beside them.
        tasks, clusters: one label a source ``[S]``, or None where there are none.
        against: what ``human`` is, in words; empty where there is nothing to hold against.
    """

    human: np.ndarray
    metrics: np.ndarray
    names: list[tuple[str, str]]
    signatures: list[str]
    layout: Layout
    tasks: np.ndarray | None
    clusters: np.ndarray | None
    against: str

    @property
    def shape(self) -> tuple[int, int]:
        """Sources and systems."""
        return len(self.layout.sources), len(self.layout.systems)

    def plan(self, units: Units = "sources", n: int = 1000, clustered: bool = False) -> Plan:
        """The resampling plan that fits the data: tasks keep their size where the set has tasks.

        All rewrites of a source are drawn together; ``clustered`` draws whole groups of sources
        that shared their raters, where the set names such groups (few of them: see the book).
        """
        return Plan(units, n, self.clusters if clustered else None, self.tasks)


def matrices(dataset: Dataset, scores: pd.DataFrame, dimension: str = "content") -> Matrices:
    """Human values and scores of one dimension of a data set.

    Args:
        scores: a ``scores`` table of the data set; scores without a value become NaN.  Metrics of
            whole outputs (corpus metrics) have no value an item and are left out.
    """
    layout = Layout.of(dataset)
    human, against = truth(dataset, dimension)
    names, signatures, vectors = [], [], []
    for (name, basis, signature), table in scores.groupby(
        ["metric", "basis", "signature"], sort=False, observed=True
    ):
        by_item = table.set_index("item_id").reindex(dataset.items["item_id"])
        value = by_item["value"].where(by_item["status"].isin(USABLE)).to_numpy(float)
        names.append((str(name), str(basis)))
        signatures.append(str(signature))
        vectors.append(value)
    stacked = np.array(vectors).reshape(len(names), len(dataset.items))
    return Matrices(
        layout.matrix(human),
        layout.matrix(stacked),
        names,
        signatures,
        layout,
        labels(dataset, layout, "task"),
        labels(dataset, layout, CLUSTERS),
        against,
    )


def labels(dataset: Dataset, layout: Layout, name: str) -> np.ndarray | None:
    """A label of sources ``[S]``, None where the set has none or it says the same of all."""
    values = dataset.label(name).to_numpy(str)
    if len(set(values)) < 2:
        return None
    return layout.by_source(values)


class Cube(NamedTuple):
    """Single ratings ``[S, K, R]`` of one dimension, NaN where a rater did not rate.

    ``persons`` says whether a rater is one person throughout; if not, ``reason`` says what was
    released instead, and nothing can be said of single raters.
    """

    ratings: np.ndarray
    raters: list[str]
    persons: bool
    reason: str


#: Sets whose rater columns are slots that different persons filled.
SLOTS = {"lai": "the two rating slots of an item were filled by different persons in each survey"}


def cube(dataset: Dataset, dimension: str = "content") -> Cube:
    """The single ratings of a data set."""
    layout = Layout.of(dataset)
    table = dataset.raters(dimension)
    single = [name for name in table.columns if name != "mean"]
    values = table[single].reindex(dataset.items["item_id"]).to_numpy(float).T
    values = values.reshape(len(single), len(dataset.items))
    found = np.moveaxis(layout.matrix(values), 0, -1)
    base = dataset.name.partition("@")[0].partition(" ")[0]
    if not single:
        reason = "only means of ratings were released"
    elif base in SLOTS:
        reason = SLOTS[base]
    elif len(single) < 2:
        reason = "one rater only"
    else:
        reason = ""
    return Cube(found, [str(name) for name in single], not reason, reason)
