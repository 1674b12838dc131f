"""Lai et al. (2023), Multidimensional Evaluation for TST Using ChatGPT: Tables 1 to 4.

All from released scores and ratings of nine outputs a source (eight systems and the reference).
Values are percent (system level) or Kendall's tau-b times 100.  What the paper calls a level is a
:class:`~tstmeta.stats.Setting`; nothing else here knows of levels.
"""

from __future__ import annotations

import math

import numpy as np

from ...stats import Setting, correlate
from ..bench import Bench
from ..layout import Layout
from ..ledger import Answer, Needs
from ..published import Cell, names, round_half_up

PAPER = "lai2023"
DATA = "lai@lai2023"
#: Larger is worse: turned round before they are held against ratings.
DISTANCES = ("released:wmd", "released:gpt2_ppl")
#: The paper's levels.  A source whose ratings or scores are all equal counts as no agreement.
LEVELS = {
    "dataset": Setting("kendall", "pooled"),
    "sample": Setting("kendall", "source", undefined=0.0),
    "system": Setting("pairwise-accuracy", "system"),
}


def recipe(cell: Cell, bench: Bench) -> Answer | Needs:
    """Compute one cell: a metric (or the second rater) against people, at one level."""
    if not bench.has("lai"):
        return Needs("lai data", "tstmeta data fetch lai")
    human, metric, signature = _vectors(cell, bench)
    data, setting = bench.dataset(DATA), LEVELS[cell.level]
    layout = Layout.of(data, setting.level)
    direction = layout.by_source(data.items["direction"].to_numpy(str))
    wanted = ("I2F", "F2I") if cell.direction == "overall" else (cell.direction,)
    # systems are compared within a direction, all else over all sources at once
    groups = [(one,) for one in wanted] if cell.level == "system" else [wanted]
    values, n = [], 0
    for group in groups:
        rows = np.isin(direction, group)
        found = correlate(layout.matrix(human)[rows], layout.matrix(metric)[rows], setting)
        values.append(100 * found.value)
        n += math.comb(found.n, 2) if cell.level == "system" else found.n
    return Answer(_mean(values), n, f"{signature}|level:{cell.level}|direction:{cell.direction}")


def _mean(values: list[float]) -> float:
    """One value, or the mean of the directions after each was rounded to one decimal.

    To one decimal, then exact halves: 38.9 and 75.0 give 56.95, which is printed 57.0.
    """
    if len(values) == 1:
        return values[0]
    return round_half_up(math.fsum(round_half_up(v, 1) for v in values) / len(values), 2)


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
