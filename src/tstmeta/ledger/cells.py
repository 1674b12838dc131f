"""The printed numbers of the four papers, and what it means to match one."""

from decimal import ROUND_HALF_UP, Decimal
from functools import cache
from typing import NamedTuple

import pandas as pd

from ..data import paths

PAPERS = ("pauli2025", "lai2023", "mukherjee2025", "pang2019")


class Cell(NamedTuple):
    """One printed number; the fields are the columns of ``data/published/cells.csv``."""

    cell: str
    paper: str
    table: str
    item: str
    dimension: str
    metric: str
    basis: str
    dataset: str
    language: str
    direction: str
    level: str
    statistic: str
    printed: str
    value: float
    decimals: int
    note: str


@cache
def cells(paper: str | None = None, table: str | None = None) -> tuple[Cell, ...]:
    """The printed numbers, all or those of a paper or table, in the order of the file."""
    if paper or table:
        return tuple(c for c in cells() if paper in (None, c.paper) and table in (None, c.table))
    frame = read("cells").astype({"value": float, "decimals": int})
    return tuple(Cell(*row) for row in frame[list(Cell._fields)].itertuples(index=False))


@cache
def names(paper: str, kind: str) -> dict[str, tuple[str, str, str]]:
    """Printed name of a dataset, metric, system or item -> ours, or what it needs; and of a metric
    those of ours that it is listed with.
    """
    rows = read("names").query("paper == @paper and kind == @kind")
    return {row.printed: (row.ours, row.needs, row.listed) for row in rows.itertuples()}


@cache
def remarks() -> dict[str, tuple[str, str]]:
    """Cell -> (status, reason) for cells that our value is known not to equal."""
    return {row.cell: (row.status, row.reason) for row in read("remarks").itertuples()}


def read(name: str) -> pd.DataFrame:
    """A file of ``data/published``, all of it text."""
    return pd.read_csv(paths.project("published", f"{name}.csv"), dtype=str, keep_default_na=False)


def round_half_up(value: float, decimals: int) -> float:
    """Round as papers do: halves away from zero, on the shortest decimal form of the float."""
    step = Decimal(1).scaleb(-decimals)
    return float(Decimal(repr(float(value))).quantize(step, rounding=ROUND_HALF_UP)) + 0.0


def matches(value: float, cell: Cell) -> bool:
    """Whether a value equals the printed one at the decimals printed."""
    return round_half_up(value, cell.decimals) == round_half_up(cell.value, cell.decimals)
