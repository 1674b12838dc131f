"""The reproduction ledger: every printed number, the value we compute, and what to make of both.

A recipe, one module a paper in :mod:`tstmeta.report.cells`, gives for each cell either an
:class:`Answer` or what it :class:`Needs`.  The ledger turns both into a status:

- ``match``: computed from data, equal at the decimals printed (half up); where a paper seems to
  have rounded in two steps, the recipe says so and the reason shows both;
- ``differs``: computed from data, not equal; the reason is given where it is known;
- ``misprint``: not equal, and the evidence speaks against the printed number;
- ``printed-only``: recomputed from other printed numbers, equal within their rounding;
- ``needs ...``: what is missing here: a model, data, or the wording of a prompt.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

from ..schema import TstmetaError
from .bench import Bench
from .published import Cell, cells, matches, remarks, round_half_up

PAPERS = ("pauli2025", "lai2023", "mukherjee2025", "pang2019")
COLUMNS = ("cell", "paper", "table", "printed", "ours", "n", "signature", "status", "reason")


class Answer(NamedTuple):
    """Our value for a cell.

    ``low`` and ``high`` are set when the value was recomputed from printed numbers: the range it
    can take when those are anywhere within their rounding.
    """

    value: float
    n: int
    signature: str
    reason: str = ""
    low: float = math.nan
    high: float = math.nan
    #: Decimals to which the paper seems to have rounded first, before the decimals printed.
    via: int | None = None

    @property
    def from_printed(self) -> bool:
        """Whether the value was recomputed from other printed numbers."""
        return math.isfinite(self.low)


class Needs(NamedTuple):
    """What is missing to compute a cell."""

    what: str
    reason: str = ""


Recipe = Callable[[Cell, Bench], Answer | Needs]


def ledger(
    paper: str | None = None, table: str | None = None, bench: Bench | None = None
) -> pd.DataFrame:
    """The ledger, one row a printed number, in the order of the papers' tables.

    Args:
        paper: only this paper (a key of the four).
        table: only this table, e.g. ``5`` or ``fig1``.
        bench: the workbench to compute with.

    Raises:
        TstmetaError: no such paper or table.
    """
    chosen = [c for c in cells() if paper in (None, c.paper) and table in (None, c.table)]
    if not chosen:
        known = sorted({f"{c.paper} {c.table}" for c in cells() if paper in (None, c.paper)})
        raise TstmetaError(
            f"nothing is printed under paper {paper!r}, table {table!r}; known: "
            + ", ".join(known or PAPERS)
        )
    bench = bench or Bench()
    recipes: dict[str, Recipe] = {
        name: importlib.import_module(f".cells.{name}", __package__).recipe
        for name in dict.fromkeys(cell.paper for cell in chosen)
    }
    rows = [_row(cell, recipes[cell.paper](cell, bench)) for cell in chosen]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def counts(rows: pd.DataFrame) -> pd.DataFrame:
    """How many cells have each status, by paper; all that is needed counts as ``needs``."""
    kind = rows["status"].str.partition(" ")[0]
    table = pd.crosstab(rows["paper"], kind)
    order = ["match", "printed-only", "differs", "misprint", "needs"]
    table = table.reindex(
        index=[name for name in PAPERS if name in table.index], columns=order, fill_value=0
    )
    table["cells"] = table.sum(axis=1)
    table.loc["all"] = table.sum()
    table.columns.name = None
    return table.rename_axis("paper").reset_index()


def _row(cell: Cell, answer: Answer | Needs) -> tuple:
    head = (cell.cell, cell.paper, cell.table, cell.printed)
    if isinstance(answer, Needs):
        return (*head, math.nan, 0, "", f"needs {answer.what}", answer.reason or cell.note)
    status, reason = _judge(cell, answer)
    return (*head, answer.value, answer.n, answer.signature, status, reason)


def _judge(cell: Cell, answer: Answer) -> tuple[str, str]:
    if not math.isfinite(answer.value):
        return "differs", answer.reason or "no value can be computed"
    equal = matches(answer.value, cell)
    if answer.from_printed:
        half = 0.5 * 10.0**-cell.decimals
        slack = 1e-9
        if equal:
            return "printed-only", answer.reason
        if answer.low - slack <= cell.value + half and answer.high + slack >= cell.value - half:
            return "printed-only", "equal within the rounding of the printed inputs"
        status, reason = remarks().get(cell.cell, ("", ""))
        return status or "misprint", reason or "does not follow from the other printed numbers"
    if equal:
        return "match", answer.reason
    if answer.via and matches(first := round_half_up(answer.value, answer.via), cell):
        return "match", f"rounded in two steps: {first:.{answer.via}f}, then {cell.printed}"
    status, reason = remarks().get(cell.cell, ("differs", ""))
    reasons = [text for text in (reason, answer.reason) if text]
    return status, "; ".join(reasons) or "the reason is not known"
