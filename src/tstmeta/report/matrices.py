"""From tables to matrices: one row a source, one column a system, NaN where there is nothing.

:mod:`tstmeta.stats` speaks matrices; this is where a data set becomes some.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..data import Dataset
from ..schema import TstmetaError
from ..stats import Plan, Setting, Statistic
from ..stats.matrices import Level
from ..stats.resampling import Units
from .layout import CLUSTERS, NO_TASKS, OF_TASKS, TASKS, Layout
from .tables import scored, truth


class Matrices(NamedTuple):
    """A data set and its scores as the statistics want them.

    Attributes:
        human: mean ratings (or labels by construction) ``[S, K]``.
        metrics: scores ``[M, S, K]``.
        names: (metric, basis) of each metric; ``signatures`` beside them.
        tasks, clusters: one label a row ``[S]``, or None where there are none.
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
        return self.layout.shape

    def plan(self, units: Units = "sources", n: int = 1000, clustered: bool = False) -> Plan:
        """The resampling plan that fits the data: tasks keep their size where the set has tasks.

        All rewrites of a source are drawn together; ``clustered`` draws whole groups of sources
        that shared their raters, where the set names such groups (few of them: see the book).
        Groups that reach over several tasks cannot leave tasks their size.
        """
        rows = np.asarray(self.layout.sources)
        alone = len(set(self.layout.sources)) == len(rows)
        clusters = self.clusters if clustered else None
        if clusters is None and not alone:
            clusters = rows
        strata = self.tasks
        if clusters is not None and strata is not None:
            pairs = set(zip(clusters.tolist(), strata.tolist(), strict=True))
            strata = strata if len(pairs) == len(set(clusters.tolist())) else None
        return Plan(units, n, clusters, strata)

    def setting(
        self,
        statistic: str | Statistic = "pearson",
        level: Level = "pooled",
        *,
        micro: bool = False,
        undefined: float = math.nan,
    ) -> Setting:
        """A statistic at a level of these data.

        Raises:
            TstmetaError: a level of tasks where the data set names none.
        """
        if level in OF_TASKS and self.tasks is None:
            raise TstmetaError(
                f"level {level} needs tasks: {NO_TASKS}; give each item a label {TASKS!r},"
                " or use another level"
            )
        return Setting(statistic, level, self.tasks, micro, undefined)


def matrices(
    dataset: Dataset, scores: pd.DataFrame, dimension: str = "content", level: str = "pooled"
) -> Matrices:
    """Human values and scores of one dimension of a data set.

    Args:
        scores: a ``scores`` table of the data set; scores without a value become NaN.  Metrics of
            whole outputs (corpus metrics) have no value an item and are left out.
        level: at levels of systems a column is a system, see :class:`Layout`.
    """
    layout = Layout.of(dataset, level)
    human, against = truth(dataset, dimension)
    names, signatures, vectors = [], [], []
    for one in scored(dataset, scores):
        if one.corpus is None:
            names.append((one.name, one.basis))
            signatures.append(one.signature)
            vectors.append(one.vector)
    stacked = np.array(vectors).reshape(len(names), len(dataset.items))
    return Matrices(
        layout.matrix(human),
        layout.matrix(stacked),
        names,
        signatures,
        layout,
        layout.labels(dataset, TASKS),
        layout.labels(dataset, CLUSTERS),
        against,
    )


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


def cube(dataset: Dataset, dimension: str = "content", level: str = "pooled") -> Cube:
    """The single ratings of a data set, laid out as :func:`matrices` lays out the scores."""
    layout = Layout.of(dataset, level)
    table = dataset.raters(dimension)
    single = [name for name in table.columns if name != "mean"]
    values = table[single].reindex(dataset.items["item_id"]).to_numpy(float).T
    values = values.reshape(len(single), len(dataset.items))
    found = np.moveaxis(layout.matrix(values), 0, -1)
    base = dataset.name.partition("@")[0].partition(" ")[0]
    if not len(table.columns):
        reason = f"no ratings of {dimension}"
    elif not single:
        reason = "only means of ratings were released"
    elif base in SLOTS:
        reason = SLOTS[base]
    elif len(single) < 2:
        reason = "one rater only"
    else:
        reason = ""
    return Cube(found, [str(name) for name in single], not reason, reason)
