"""Lai et al. (2023), Multidimensional Evaluation for TST Using ChatGPT: Tables 1 to 4.

All from released scores and ratings of nine outputs a source (eight systems and the reference).
Values are percent (system level) or Kendall's tau-b times 100.
"""

from __future__ import annotations

import math

import numpy as np

from ... import stats
from ..bench import Bench
from ..ledger import Answer, Needs
from ..published import Cell, names, round_half_up

PAPER = "lai2023"
DATA = "lai@lai2023"
#: Larger is worse: turned round before they are held against ratings.
DISTANCES = ("released:wmd", "released:gpt2_ppl")


def recipe(cell: Cell, bench: Bench) -> Answer | Needs:
    """Compute one cell: a metric (or the second rater) against people, at one level."""
    if not bench.has("lai"):
        return Needs("lai data", "tstmeta data fetch lai")
    human, metric, signature = _vectors(cell, bench)
    items = bench.dataset(DATA).items
    direction = items["direction"].to_numpy(str)
    inside = (
        np.full(len(items), True) if cell.direction == "overall" else direction == cell.direction
    )
    source, system = items["source_id"].to_numpy(str), items["system"].to_numpy(str)
    if cell.level == "system":
        value, n = _system(human, metric, direction, system, cell)
    elif cell.level == "sample":
        found = stats.grouped(
            stats.kendall, human[inside], metric[inside], source[inside], undefined=0.0
        )
        value, n = 100 * found.value, found.n
    else:
        found = stats.kendall(human[inside], metric[inside])
        value, n = 100 * found.value, found.n
    return Answer(value, n, f"{signature}|level:{cell.level}|direction:{cell.direction}")


def _vectors(cell: Cell, bench: Bench) -> tuple[np.ndarray, np.ndarray, str]:
    """Human values, metric values [items] and a signature."""
    data = bench.dataset(DATA)
    if cell.metric == "inter-annotator agreement":
        raters = data.raters(cell.dimension)
        first, second = sorted(raters.columns)
        signature = f"second rater against first|{cell.dimension}"
        return raters[first].to_numpy(), raters[second].to_numpy(), signature
    name = names(PAPER, "metric")[cell.metric][0]
    basis = "source" if cell.dimension == "content" else "none"
    if name == "released:chatgpt":
        name += "-multi" if cell.item == "multiple" else ""
    human, value, signature = bench.vectors(DATA, name, basis, cell.dimension)
    return human, -value if name in DISTANCES else value, signature


def _system(
    human: np.ndarray, metric: np.ndarray, direction: np.ndarray, system: np.ndarray, cell: Cell
) -> tuple[float, int]:
    """Pairwise accuracy over systems, in percent.

    Overall is the mean of the two directions after each was rounded to one decimal.
    """
    wanted = ("I2F", "F2I") if cell.direction == "overall" else (cell.direction,)
    values, pairs = [], 0
    for one in wanted:
        inside = direction == one
        of_human = stats.means(human[inside], system[inside])[1]
        of_metric = stats.means(metric[inside], system[inside])[1]
        found = stats.pairwise_accuracy(of_human, of_metric)
        values.append(100 * found.value)
        pairs += found.n
    if len(values) == 1:
        return values[0], pairs
    # to one decimal, then exact halves: 38.9 and 75.0 give 56.95, which is printed 57.0
    return round_half_up(math.fsum(round_half_up(v, 1) for v in values) / 2, 2), pairs
