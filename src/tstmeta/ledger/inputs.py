"""What a recipe works with: a cell, its settings in ``data/published/recipes.yaml``, and inputs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from .. import scoring
from ..analysis.frame import pairs
from ..data import Dataset, available, has_texts, load, paths
from ..schema import TstmetaError
from .cells import Cell, names

#: What asks for a score that came with the data set.
RELEASED = "released:"


class Inputs:
    """Loads and scores what is wanted, once; arguments as of :func:`tstmeta.score`."""

    def __init__(self, store: Path | None = None, progress: bool = False):
        self.store, self.progress = store, progress
        self._data: dict[str, Dataset] = {}
        self._known: dict[tuple, Any] = {}

    def has(self, name: str, texts: bool = False) -> bool:
        """Whether a data set can be computed with, or its texts can be read."""
        return name in self._data or (has_texts if texts else available)(name)

    def once(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """``function(self, *arguments)``, computed once."""
        key = (function, arguments)
        if key not in self._known:
            self._known[key] = function(self, *arguments)
        return self._known[key]

    def data(self, name: str) -> Dataset:
        if name not in self._data:
            self._data[name] = load(name)
        return self._data[name]

    def scores(self, name: str, metrics: list[str], basis: str) -> pd.DataFrame:
        """The ``scores`` table of metrics on one basis; either all are released or none."""
        data = self.data(name)
        if any(metric.startswith(RELEASED) for metric in metrics):
            wanted = data.scores["metric"].isin(metrics) & (data.scores["basis"] == basis)
            return data.scores[wanted].reset_index(drop=True)
        return scoring.score(data, metrics, bases=[basis], store=self.store, progress=self.progress)

    def pairs(self, name: str, metric: str, basis: str, dimension: str = "content") -> pd.DataFrame:
        """The pairs of one metric on one basis, see :func:`tstmeta.pairs`; empty without scores."""
        return self.once(_pairs, name, metric, basis, dimension)


def _pairs(inputs: Inputs, name: str, metric: str, basis: str, dimension: str) -> pd.DataFrame:
    table = inputs.scores(name, [metric], basis)
    if metric.startswith(RELEASED):  # a judge released several dimensions under one name
        table = table[table["dimension"] == dimension]
    return pairs(inputs.data(name), table, dimension)


class Answer(NamedTuple):
    """Our value for a cell."""

    value: float
    n: int
    signature: str
    reason: str = ""
    low: float = math.nan  # the range of what follows from printed numbers, rounded as they are
    high: float = math.nan
    via: int | None = None  # decimals to which the paper seems to have rounded first


@dataclass(eq=False)
class Needs(Exception):
    """What is missing to compute a cell, and why."""

    what: str
    reason: str = ""


Settings = dict[str, Any]


@cache
def settings() -> dict[str, list[Settings]]:
    """The recipes of each paper, in order."""
    return yaml.safe_load(paths.project("published", "recipes.yaml").read_text(encoding="utf-8"))


def settings_of(cell: Cell) -> Settings:
    """The first recipe that fits a cell."""
    for entry in settings()[cell.paper]:
        where = entry.get("where", {}).items()
        if all(getattr(cell, key) in (v if isinstance(v, list) else [v]) for key, v in where):
            return entry
    raise TstmetaError(f"recipes.yaml has no recipe for {cell.cell}")


def model_of(cell: Cell) -> str:
    """The model that a cell's metric runs on; empty where it runs on none."""
    return names(cell.paper, "metric").get(cell.metric, ("", ""))[1]
