"""Recipes that recompute a printed number from other printed numbers of the same paper."""

import itertools
import re
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any

from scipy.stats import rankdata

from ..combine.gm import PRINTED, gm
from .cells import Cell, cells
from .recipes import Answer, Inputs, Recipe, Settings


def of_printed(function: Callable[..., Any], printed: Sequence[Cell], signature: str) -> Answer:
    """A function, monotone in each printed number, and its range within their rounding."""
    halves = [0.5 * 10.0**-cell.decimals for cell in printed]
    ranges = [(cell.value - h, cell.value + h) for cell, h in zip(printed, halves, strict=True)]
    corners = [float(function(*corner)) for corner in itertools.product(*ranges)]
    value = float(function(*(cell.value for cell in printed)))
    return Answer(value, len(printed), signature, "", min(corners), max(corners))


def _columns(cell: Cell, how: Settings) -> list[dict[str, Cell]]:
    """The printed correlations on basis source of a cell's table: a data set's metrics each."""
    grid: dict[str, dict[str, Cell]] = {}
    for printed in cells(cell.paper, cell.table):
        kept = printed.dataset not in how["without"]
        if kept and (printed.statistic, printed.basis) == ("pearson", "source"):
            grid.setdefault(printed.dataset, {})[printed.metric] = printed
    return list(grid.values())


def mean_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean correlation over the data sets of a table, from the printed cells."""
    own = [column[cell.metric] for column in _columns(cell, how)]
    signature = f"mean of {len(own)} printed correlations|table:{cell.table}"
    return of_printed(lambda *values: fmean(values), own, signature)


def mean_rank_of_printed(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A metric's mean rank: highest correlation first, ties averaged, on each data set."""
    ranks = []
    for column in _columns(cell, how):
        places = rankdata([-printed.value for printed in column.values()])
        ranks.append(float(places[list(column).index(cell.metric)]))
    signature = f"mean of {len(ranks)} ranks of printed correlations"
    return Answer(fmean(ranks), len(ranks), signature, "", fmean(ranks), fmean(ranks))


def learned_weight(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """A learned weight of Table 5: an importance of Table 6 over the sum of the selected ones."""

    def of(table: str) -> list[Cell]:
        same = (cell.dataset, cell.language, cell.dimension)
        rows = cells(cell.paper, table)
        return [row for row in rows if (row.dataset, row.language, row.dimension) == same]

    def share(own: float, *others: float) -> float:
        own = max(own, 0.0)
        return own / (own + sum(max(importance, 0.0) for importance in others))

    importances = {row.metric: row for row in of("6")}
    chosen = [importances[row.metric] for row in of("5") if row.item == cell.item]
    chosen.sort(key=lambda row: row.metric != cell.metric)
    signature = f"importance of Table 6 renormalised over {len(chosen)} metrics"
    return of_printed(share, chosen, signature)


def itself(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """The human score against itself."""
    return Answer(1.0, 1, "a score against itself, by construction", "", 1.0, 1.0)


def _printed(cell: Cell, model: str, metric: str) -> Cell:
    """What Tables 2 and 3 print of a model on the data set of a cell."""
    wanted, rows = (cell.dataset, model, metric), (*cells(cell.paper, "2"), *cells(cell.paper, "3"))
    return next(row for row in rows if (row.dataset, row.item, row.metric) == wanted)


def geometric_mean(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """GM (Section 3.3) from the printed Acc, Sim and PP."""
    three = [_printed(cell, cell.item, name) for name in ("Acc", "Sim", "PP")]
    return of_printed(gm, three, f"GM of printed Acc, Sim, PP|t:{PRINTED}")


def difference(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 4's differences A - B of Sim and PP, from Tables 2 and 3."""
    models, metric = re.findall(r"M\d", cell.item), cell.metric.removeprefix("delta_")
    both = [_printed(cell, model, metric) for model in models]
    signature = f"difference of printed {metric}: {' - '.join(models)}"
    return of_printed(lambda a, b: a - b, both, signature)


def share_of_text(cell: Cell, how: Settings, inputs: Inputs) -> Answer:
    """Table 5's GM row: the text gives the counts behind the percentage."""
    hits, total = map(int, re.findall(r"(\d+) of (\d+)", cell.note)[0])
    value = 100 * hits / total
    return Answer(value, total, f"{hits} of {total}, from the running text", "", value, value)


_ALL = (mean_of_printed, mean_rank_of_printed, learned_weight, itself)
#: What ``recipes.yaml`` can name.
RECIPES: dict[str, Recipe] = {
    recipe.__name__: recipe for recipe in (*_ALL, geometric_mean, difference, share_of_text)
}
