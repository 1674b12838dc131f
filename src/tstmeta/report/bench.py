"""The workbench of the ledger and the notebooks: data sets and agreement values, each made once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import scoring, stats
from ..data import Dataset, available, load
from ..stats import LEVELS
from .layout import at_level

__all__ = ["LEVELS", "USABLE", "Agreement", "Bench"]

#: Scores that count in an analysis; the others have no value.
USABLE = ("ok", "empty", "truncated")


class Agreement(NamedTuple):
    """How far a metric agrees with one human dimension, and the signature behind it."""

    value: float
    p: float
    n: int
    signature: str
    reason: str = ""


class Bench:
    """Loads and scores what it is asked for and remembers it.

    Args:
        store: folder of the score store (default ``data/scores``).
        progress: show progress bars while scoring.
    """

    def __init__(self, store: Path | None = None, progress: bool = False):
        self.store, self.progress = store, progress
        self._datasets: dict[str, Dataset] = {}
        self._scores: dict[tuple[str, str, str, str], pd.DataFrame] = {}

    def has(self, name: str) -> bool:
        """Whether a data set's files are on this machine."""
        return name in self._datasets or available(name)

    def dataset(self, name: str) -> Dataset:
        """A data set or named subset."""
        if name not in self._datasets:
            self._datasets[name] = load(name)
        return self._datasets[name]

    def scores(self, name: str, metric: str, basis: str, dimension: str = "") -> pd.DataFrame:
        """The scores of one metric on one basis: rows over item_id in item order, as scored.

        Released metrics (``released:...``) come from the data set, others computed if needed.
        ``dimension`` chooses among released scores of one name, such as a judge's.
        Columns: value (NaN where there is none), status, signature.
        """
        key = (name, metric, basis, dimension)
        if key not in self._scores:
            dataset = self.dataset(name)
            if metric.startswith("released:"):
                table = scoring.released(dataset, [metric])
                table = table[(table["basis"] == basis) & (table["dimension"] == dimension)]
            else:
                table = scoring.score(
                    dataset, [metric], bases=[basis], store=self.store, progress=self.progress
                )
            columns = ["value", "status", "signature"]
            self._scores[key] = table.set_index("item_id")[columns].reindex(
                dataset.items["item_id"]
            )
        return self._scores[key]

    def table(
        self, dataset: Dataset, metrics: Sequence[str], bases: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """A ``scores`` table of several metrics or families (``human-style`` among them)."""
        return scoring.score(
            dataset, metrics, bases=bases, store=self.store, progress=self.progress
        )

    def vectors(
        self, name: str, metric: str, basis: str, dimension: str
    ) -> tuple[np.ndarray, np.ndarray, str]:
        """Human means and scores of the same items, both [items], and the signature."""
        scores = self.scores(name, metric, basis, dimension)
        value = scores["value"].where(scores["status"].isin(USABLE)).to_numpy(float)
        signature = scores["signature"].dropna()
        human = self.dataset(name).means[dimension].to_numpy(float)
        return human, value, signature.iloc[0] if len(signature) else ""

    def agreement(
        self,
        name: str,
        metric: str,
        basis: str,
        dimension: str = "content",
        statistic: str = "pearson",
        level: str = "pooled",
    ) -> Agreement:
        """A metric against the mean human rating of one dimension.

        Args:
            level: one of :data:`tstmeta.stats.LEVELS`; see :mod:`tstmeta.stats.matrices`.

        Raises:
            TstmetaError: an unknown statistic or level.
        """
        human, value, signature = self.vectors(name, metric, basis, dimension)
        found = at_level(self.dataset(name), statistic, level, human, value)
        return Agreement(found.value, found.p, found.n, signature, found.reason)

    def between(self, name: str, first: str, second: str, statistic: str = "pearson") -> Agreement:
        """Agreement of two human dimensions over the items of a data set."""
        means = self.dataset(name).means
        found = stats.STATISTICS[statistic](means[first], means[second])
        signature = f"{statistic}|mean {first}|mean {second}|data:{name}"
        return Agreement(found.value, found.p, found.n, signature, found.reason)
