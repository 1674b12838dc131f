"""Tests of metric against metric side by side: ours, corrected for the whole table, and Williams'.

Williams' test takes every item for independent and is shown for that reason only: what it says too
loudly, the permutation of whole sources does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from ..data import Dataset
from ..stats.multiple import benjamini_yekutieli, over_pairs
from ..stats.parametric import williams
from . import html
from .analysis import Analysis
from .asked import METRIC, SENTINEL
from .bench import USABLE, Bench
from .figures_ranks import names
from .tables import truth


def table(
    bench: Bench, datasets: Sequence[Dataset], found: Sequence[Analysis]
) -> html.Html | Markdown:
    """The best metric against the next, against the last and against the best sentinel.

    Only for Pearson's r over all items, which Williams' test is about.
    """
    rows = []
    by_name = {data.name: data for data in datasets}
    for one in found:
        if one.setting.function.name != "pearson" or one.setting.level != "pooled":
            return Markdown("*Shown for Pearson's r over all rewrites only.*")
        rows += _rows(bench, by_name[one.dataset], one)
    if not rows:
        return Markdown("*No pair of metrics was tested.*")
    return html.table(pd.DataFrame(rows))


def _rows(bench: Bench, data: Dataset, one: Analysis) -> list[dict]:
    if one.tests is None or one.adjusted is None:
        return []
    shown = names(one.rows)
    corrected = over_pairs(one.tests.p, benjamini_yekutieli)
    lines = []
    for first, second in _pairs(one.rows):
        limits = one.difference(first, second)
        lines.append(
            {
                "data": one.dataset,
                "first": shown[first],
                "second": shown[second],
                "difference": float(one.made.estimates[first] - one.made.estimates[second]),
                "interval": f"{html.signed(limits.low, 3)} to {html.signed(limits.high, 3)}",
                "p, sources swapped": _p(one.tests.p[first, second]),
                "after Holm": _p(one.adjusted[first, second]),
                "after Benjamini–Yekutieli": _p(corrected[first, second]),
                "p, Williams": _p(_williams(bench, data, one, first, second)),
            }
        )
    return lines


def _pairs(rows: pd.DataFrame) -> list[tuple[int, int]]:
    """Best metric and second, best and last, best and the best sentinel, as far as there are."""
    valued = rows[rows["value"].notna()]
    metrics = list(valued.index[valued["kind"] == METRIC])
    sentinels = list(valued.index[valued["kind"] == SENTINEL])
    seconds = [*metrics[1:2], *metrics[2:][-1:], *sentinels[:1]]
    return [(metrics[0], second) for second in seconds] if metrics else []


def _williams(bench: Bench, data: Dataset, one: Analysis, first: int, second: int) -> float:
    """p of Williams' test over the items that people and both metrics have."""
    human, _ = truth(data, one.dimension)
    sides = [human]
    for row in (first, second):
        metric, basis = one.rows.loc[row, ["metric", "basis"]]
        scores = bench.table(data, [metric], [basis]).set_index("item_id")
        scores = scores.reindex(data.items["item_id"])
        value = scores["value"].where(scores["status"].isin(USABLE)).to_numpy(float)
        sides.append(-value if one.rows.loc[row, "better"] == "lower" else value)
    x, y, z = (side[np.isfinite(sides).all(axis=0)] for side in sides)
    own, other, between = (stats.pearson(a, b).value for a, b in ((x, y), (x, z), (y, z)))
    if math.isnan(own + other + between):
        return math.nan
    return williams(own, other, between, len(x)).p


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
