"""How each printed number is recomputed: the functions that ``data/published/recipes.yaml`` names.

A recipe takes a cell, its settings and the :class:`Inputs`, whose data are loaded and scored once a
run, and gives an :class:`Answer` or raises what it :class:`Needs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from .. import scoring
from ..analysis.frame import pairs
from ..data import Dataset, available, load, paths
from ..schema import TstmetaError
from .cells import Cell, names

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


class Answer(NamedTuple):
    """Our value for a cell.

    ``low`` and ``high`` are set when the value was recomputed from printed numbers: the range it
    can take when those are anywhere within their rounding.  ``via`` are the decimals to which the
    paper seems to have rounded first, before the decimals printed.
    """

    value: float
    n: int
    signature: str
    reason: str = ""
    low: float = math.nan
    high: float = math.nan
    via: int | None = None


class Needs(Exception):
    """What is missing to compute a cell, and why."""

    def __init__(self, what: str, reason: str = ""):
        super().__init__(what, reason)
        self.what, self.reason = what, reason


Settings = dict[str, Any]
Recipe = Callable[[Cell, Settings, Inputs], Answer]
_RECIPES: dict[str, Recipe] = {}


def recipe(function: Recipe) -> Recipe:
    """Let ``recipes.yaml`` name this function."""
    _RECIPES[function.__name__] = function
    return function


@cache
def settings() -> dict[str, list[Settings]]:
    """The recipes of each paper, in order."""
    return yaml.safe_load(paths.own("published", "recipes.yaml").read_text(encoding="utf-8"))


def settings_of(cell: Cell) -> Settings:
    """The first recipe that fits a cell."""
    for entry in settings()[cell.paper]:
        where = entry.get("where", {})
        wanted = {
            key: value if isinstance(value, list) else [value] for key, value in where.items()
        }
        if all(getattr(cell, key) in values for key, values in wanted.items()):
            return entry
    raise TstmetaError(f"recipes.yaml has no recipe for {cell.cell}")


def answer(cell: Cell, inputs: Inputs) -> Answer:
    """Compute one cell; raises :class:`Needs` where something is missing for it."""
    how = settings_of(cell)
    if "needs" in how:
        raise Needs(*(how[key].format(model=model_of(cell)) for key in ("needs", "reason")))
    return _RECIPES[how["recipe"]](cell, how, inputs)


def model_of(cell: Cell) -> str:
    """The model that a cell's metric runs on; empty where it runs on none."""
    return names(cell.paper, "metric").get(cell.metric, ("", ""))[1]
