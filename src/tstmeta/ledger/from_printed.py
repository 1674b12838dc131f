"""Recipes that recompute a printed number from other printed numbers of the same paper."""

from __future__ import annotations

import itertools
import math
import re

from scipy.stats import rankdata

from ..combine.gm import PRINTED, gm
from .cells import Cell, cells
from .inputs import Inputs
from .recipes import Answer, Settings, recipe

# ---------------------------------------------------------------------- pauli2025, summary columns


def _columns(cell: Cell, how: Settings) -> list[dict[str, Cell]]:
    """The printed correlations on basis source of a cell's table: a data set's metrics each."""
    grid: dict[str, dict[str, Cell]] = {}
    for printed in cells(cell.paper, cell.table):
        kept = printed.dataset not in how["without"]
        if kept and (printed.statistic, printed.basis) == ("pearson", "source"):
            grid.setdefault(printed.dataset, {})[printed.metric] = printed
    return list(grid.values())


@recipe
def mean_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean correlation over the data sets of a table, from the printed cells."""
    own = [column[cell.metric] for column in _columns(cell, how)]
    mean = math.fsum(printed.value for printed in own) / len(own)
    slack = _half(min(own, key=lambda printed: printed.decimals))
    signature = f"mean of {len(own)} printed correlations|table:{cell.table}"
    return Answer(mean, len(own), signature, "", mean - slack, mean + slack)


@recipe
def mean_rank_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean rank: highest correlation first, ties averaged, on each data set."""
    ranks = []
    for column in _columns(cell, how):
        places = rankdata([-printed.value for printed in column.values()])
        ranks.append(places[list(column).index(cell.metric)])
    mean = math.fsum(ranks) / len(ranks)
    signature = f"mean of {len(ranks)} ranks of printed correlations"
    return Answer(mean, len(ranks), signature, "", mean, mean)


def _half(cell: Cell) -> float:
    """Half a step of a cell's last printed digit."""
    return 0.5 * 10.0**-cell.decimals


# --------------------------------------------------------------------------------- mukherjee2025


@recipe
def learned_weight(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A learned weight of Table 5: an importance of Table 6 over the sum of the selected ones."""

    def setting(printed: Cell) -> tuple[str, str, str]:
        return printed.dataset, printed.language, printed.dimension

    same = [printed for printed in cells(cell.paper, "5") if printed.item == cell.item]
    chosen = [printed.metric for printed in same if setting(printed) == setting(cell)]
    importances = {
        printed.metric: printed
        for printed in cells(cell.paper, "6")
        if setting(printed) == setting(cell)
    }
    own, half = importances[cell.metric].value, _half(importances[cell.metric])
    rest = sum(importances[name].value for name in chosen if name != cell.metric)
    slack = half * (len(chosen) - 1)
    least, most = max(own - half, 0.0), own + half
    return Answer(
        own / (own + rest),
        len(chosen),
        f"importance of Table 6 renormalised over {len(chosen)} metrics",
        "",
        least / (least + rest + slack),
        most / (most + max(rest - slack, 0.0)),
    )


@recipe
def itself(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """The human score against itself."""
    return Answer(1.0, 1, "a score against itself, by construction", "", 1.0, 1.0)


# -------------------------------------------------------------------------------------- pang2019


def _printed(paper: str, dataset: str, model: str, metric: str) -> Cell:
    of_paper = itertools.chain(cells(paper, "2"), cells(paper, "3"))
    wanted = (dataset, model, metric)
    return next(
        printed for printed in of_paper if (printed.dataset, printed.item, printed.metric) == wanted
    )


@recipe
def geometric_mean(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """GM (Section 3.3) from the printed Acc, Sim and PP."""
    three = [_printed(cell.paper, cell.dataset, cell.item, name) for name in ("Acc", "Sim", "PP")]
    ranges = [(printed.value - _half(printed), printed.value + _half(printed)) for printed in three]
    corners = [float(gm(acc, sim, pp)) for acc, sim, pp in itertools.product(*ranges)]
    value = float(gm(three[0].value, three[1].value, three[2].value))
    signature = f"GM of printed Acc, Sim, PP|t:{PRINTED}"
    return Answer(value, len(three), signature, "", min(corners), max(corners))


@recipe
def difference(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 4's differences A - B of Sim and PP, from Tables 2 and 3."""
    models, metric = re.findall(r"M\d", cell.item), cell.metric.removeprefix("delta_")
    a, b = (_printed(cell.paper, cell.dataset, model, metric) for model in models)
    value, slack = a.value - b.value, _half(a) + _half(b)
    signature = f"difference of printed {metric}: {' - '.join(models)}"
    return Answer(value, 2, signature, "", value - slack, value + slack)


@recipe
def share_of_text(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 5's GM row: the text gives the counts behind the percentage."""
    hits, total = map(int, re.findall(r"(\d+) of (\d+)", cell.note)[0])
    value = 100 * hits / total
    return Answer(value, total, f"{hits} of {total}, from the running text", "", value, value)
