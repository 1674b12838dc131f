"""Mukherjee et al. (2025), Evaluating TST Evaluation: Are There Any Reliable Metrics?

The human ratings are not public, so almost every cell needs them.  What follows from other printed
cells is recomputed: the learned weights of Table 5 are importances of Table 6, renormalised.
"""

from __future__ import annotations

from functools import cache

from ..bench import Bench
from ..ledger import Answer, Needs
from ..published import Cell, cells

PAPER = "mukherjee2025"
_RATINGS = Needs(
    "ratings of Mukherjee et al. (2024)", "the human annotations behind this table are not public"
)


def recipe(cell: Cell, bench: Bench) -> Answer | Needs:
    """Recompute a cell from other printed cells, or say what it needs."""
    if cell.table == "5" and cell.item == "hybrid-learned":
        return _learned_weight(cell)
    if cell.table == "4" and cell.metric == "Human":
        return Answer(1.0, 1, "a score against itself, by construction", "", 1.0, 1.0)
    return _RATINGS


@cache
def _importances() -> dict[tuple[str, str, str, str], Cell]:
    rows = [cell for cell in cells() if cell.paper == PAPER and cell.table == "6"]
    return {(cell.dataset, cell.language, cell.dimension, cell.metric): cell for cell in rows}


def _learned_weight(cell: Cell) -> Answer | Needs:
    """A learned weight: the metric's importance over the sum of the selected metrics' ones."""
    setting = (cell.dataset, cell.language, cell.dimension)
    chosen = [
        _importances()[(*setting, one.metric)]
        for one in cells()
        if (one.paper, one.table, one.item) == (PAPER, "5", "hybrid-learned")
        and (one.dataset, one.language, one.dimension) == setting
    ]
    own = _importances()[(*setting, cell.metric)]
    others = [one for one in chosen if one is not own]
    half = 0.5 * 10.0**-own.decimals

    def share(of_own: float, of_others: float) -> float:
        return of_own / (of_own + of_others)

    rest = sum(one.value for one in others)
    slack = half * len(others)
    return Answer(
        share(own.value, rest),
        len(chosen),
        f"importance of Table 6 renormalised over {len(chosen)} metrics",
        "",
        share(max(own.value - half, 0.0), rest + slack),
        share(own.value + half, max(rest - slack, 0.0)),
    )
