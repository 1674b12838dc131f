"""Where each item of a data set stands in the matrices that the statistics want.

:mod:`tstmeta.stats` speaks of matrices [sources, systems]; here items get their row and column, and
any statistic at any level can be asked of two vectors of items.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset
from ..schema import TstmetaError
from ..stats import LEVELS, Correlation, Setting

#: The label that names the group of raters who saw an item's source, where a set has one.
CLUSTERS = "survey"
#: The label that names an item's task.
TASKS = "task"
#: Levels at which columns must be systems.
OF_SYSTEMS = ("within-system", "system")
#: Levels that need tasks.
OF_TASKS = ("task", "within-task")
NO_SYSTEMS = "no item names its system"
NO_TASKS = "the items do not name two tasks or more"


class Layout(NamedTuple):
    """Where each item of a data set stands in its matrices.

    A system's second rewrite of the same source (rare) must not push out the first.  Where systems
    are compared it gets a row of its own, so that a column is a system, and items of unknown system
    have no place.  Elsewhere it gets a column of its own, ``name (2)``, so that a row is a source,
    and items of unknown system are numbered, ``rewrite (1)``.

    Attributes:
        sources: source of each row; a source has several rows only where systems are compared.
        systems: name of each column.
        row, column: place of each item, -1 where it has none.
        named: whether any item names its system; if not, nothing can be said of systems.
    """

    sources: list[str]
    systems: list[str]
    row: np.ndarray
    column: np.ndarray
    named: bool

    @classmethod
    def of(cls, dataset: Dataset, level: str = "pooled") -> Layout:
        """The layout of a data set for a level of :data:`tstmeta.stats.LEVELS`."""
        items = dataset.items[["source_id", "system"]].astype(str)
        items["again"] = items.groupby(["source_id", "system"]).cumcount()
        known = items["system"] != ""
        if level in OF_SYSTEMS:
            items, rows = items[known], ["source_id", "again"]
        else:
            number = " (" + (items["again"] + 1).astype(str) + ")"
            first = known & (items["again"] == 0)
            name = items["system"].where(known, "rewrite")
            items, rows = items.assign(system=name.where(first, name + number)), ["source_id"]
        row = items.groupby(rows, sort=False).ngroup()
        column, systems = pd.factorize(items["system"])
        column = pd.Series(column, items.index)
        return cls(
            items.drop_duplicates(rows)["source_id"].tolist(),
            [str(one) for one in systems],
            row.reindex(dataset.items.index, fill_value=-1).to_numpy(int),
            column.reindex(dataset.items.index, fill_value=-1).to_numpy(int),
            bool(known.any()),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.sources), len(self.systems)

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values ``[..., items]`` to ``[..., rows, columns]``, NaN where there is no item."""
        values = np.asarray(values, dtype=float)
        found = np.full((*values.shape[:-1], *self.shape), np.nan)
        placed = self.column >= 0
        found[..., self.row[placed], self.column[placed]] = values[..., placed]
        return found

    def by_source(self, values: np.ndarray) -> np.ndarray:
        """Labels of items to labels of rows; the first item of a row speaks for all."""
        placed = np.flatnonzero(self.column >= 0)[::-1]
        first = np.zeros(len(self.sources), dtype=int)
        first[self.row[placed]] = placed
        return np.asarray(values)[first]

    def labels(self, dataset: Dataset, name: str) -> np.ndarray | None:
        """A label of rows, None where the set has none or it says the same of all."""
        values = dataset.label(name).to_numpy(str)
        if len(set(values)) < 2:
            return None
        return self.by_source(values)


def known(statistic: str, level: str, statistics: tuple[str, ...] = ()) -> None:
    """Refuse a statistic or level that nobody knows.

    Raises:
        TstmetaError: with the names that are known.
    """
    names = statistics or tuple(stats.STATISTICS)
    if statistic not in names:
        raise TstmetaError(f"unknown statistic {statistic!r}; known: {', '.join(names)}")
    if level not in LEVELS:
        raise TstmetaError(f"unknown level {level!r}; known: {', '.join(LEVELS)}")
    try:
        stats.STATISTICS[statistic].check(level)
    except ValueError as error:
        raise TstmetaError(str(error)) from None


def at_level(
    dataset: Dataset,
    statistic: str,
    level: str,
    human: np.ndarray,
    metric: np.ndarray,
    *,
    micro: bool = False,
    undefined: float = math.nan,
) -> Correlation:
    """A named statistic at a named level, for two vectors of the data set's items.

    See :class:`tstmeta.stats.Setting` for ``micro`` and ``undefined``.  Items of unknown system are
    left out where systems are compared.

    Raises:
        TstmetaError: an unknown statistic or level.
    """
    known(statistic, level)
    layout = Layout.of(dataset, level)
    if level in OF_SYSTEMS and not layout.named:
        return Correlation(math.nan, math.nan, 0, NO_SYSTEMS)
    tasks = layout.labels(dataset, TASKS)
    if level in OF_TASKS and tasks is None:
        return Correlation(math.nan, math.nan, 0, NO_TASKS)
    setting = Setting(statistic, level, tasks, micro, undefined)  # type: ignore[arg-type]
    return stats.correlate(layout.matrix(human), layout.matrix(metric), setting)
