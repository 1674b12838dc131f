"""What a metric's agreement with content may owe to style, to easy items or to single errors.

Tables of one data set, from its scores.  In all of them the human style rating (or, where labels
hold by construction, the style label) stands as a row like any metric: what looking at style alone
would give.  A metric for which less is better is turned round first, so that above 0 always means
that it agrees as it claims; ``better`` says which.  Intervals are percentiles of draws of sources,
the same draws for all metrics.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..data import Dataset
from ..stats import confounds
from ..stats.matrices import Level
from ..stats.partial_correlation import partial
from ..stats.partial_correlation import partials as with_reasons
from .layout import known
from .material import ORACLES, STYLE_LABEL, bounds, ends_of, material, ordered
from .strata import ALL, ANY, by_disagreement, by_error_type, by_style_shift
from .tables import judged

#: Statistics that partial correlations know.
PARTIAL = ("pearson", "spearman")

__all__ = [
    "ALL",
    "ANY",
    "STYLE_LABEL",
    "by_disagreement",
    "by_error_type",
    "by_style_shift",
    "discriminants",
    "partials",
]


def partials(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    *,
    statistic: str = "pearson",
    within_tasks: bool = False,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement with people as it is, given the first other dimension, and given all others.

    For content that is: raw, given style, given style and fluency.  All over the same items, those
    that were judged in every dimension used, so the raw value can differ from that over all items.

    Args:
        within_tasks: standardise everything within tasks first.

    Returns:
        One row a metric and ``given``: metric, basis, better, given, value, low, high, p, n,
        change (from the raw value), change_low, change_high, reason, signature.

    Raises:
        TstmetaError: nobody judged the dimension, or another statistic than Pearson or Spearman.
    """
    known(statistic, "pooled", PARTIAL)
    ready = material(dataset, scores, dimension, draws, seed)
    others, found = ready.other(dimension), ready.found
    held = [others[:count] for count in range(len(others) + 1)]
    human = found.human
    for one in others:
        human = np.where(np.isfinite(ready.dimensions[one]), human, np.nan)
    tasks = found.tasks if within_tasks else None
    raw: tuple[np.ndarray, np.ndarray] | None = None
    tables = []
    for given in held:
        fixed = np.array([ready.dimensions[one] for one in given]).reshape(-1, *found.shape)
        sides = human, found.metrics, fixed
        each = with_reasons(*sides, statistic=statistic, tasks=tasks)
        drawn = partial(*sides, statistic=statistic, tasks=tasks, draws=ready.draws)
        value = np.array([one.value for one in each])
        raw = raw or (value, drawn)
        change = value - raw[0]
        low, high = bounds(drawn, value, ready.units)
        change_low, change_high = bounds(drawn - raw[1], change, ready.units, (-2.0, 2.0))
        columns = {
            "given": ", ".join(given),
            "value": value,
            "low": low,
            "high": high,
            "p": [one.p for one in each],
            "n": [one.n for one in each],
            "change": change,
            "change_low": change_low,
            "change_high": change_high,
            "reason": [one.reason for one in each],
        }
        tables.append(pd.DataFrame(ready.rows).assign(**columns))
    return ordered(pd.concat(tables, ignore_index=True), len(ready.rows))


def discriminants(
    dataset: Dataset,
    scores: pd.DataFrame,
    *,
    statistic: str = "pearson",
    level: Level = "pooled",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Each metric against every judged dimension of content, style and fluency.

    Returns:
        One row a metric and dimension: metric, basis, better, dimension, claimed (does the metric
        claim this dimension?), value, low, high, n, gap (agreement with the claimed dimension less
        agreement with this one; none for the oracle, which is one of them), gap_low, gap_high,
        signature.  A metric that claims a dimension that nobody judged is taken to claim the first.

    Raises:
        TstmetaError: nobody judged anything, or an unknown statistic or level.
    """
    first = judged(dataset)[:1] or ["content"]
    known(statistic, level)
    ready = material(dataset, scores, first[0], draws, seed, level)
    found = ready.found
    names = ready.other("")
    human = {name: ready.dimensions[name] for name in names}
    setting = found.setting(statistic, level)
    ends = ends_of(setting)
    made = confounds.discriminant(human, found.metrics, setting, ready.draws)
    claims = [one if one in names else names[0] for one in ready.claims]
    own = np.array([names.index(one) for one in claims], dtype=int)
    each = np.arange(len(own))
    oracle = np.array([row["metric"] in ORACLES for row in ready.rows], dtype=bool)
    tables = []
    for column, name in enumerate(names):
        low, high = bounds(made.drawn[:, column], made.value[:, column], ready.units, ends)
        gap = made.value[each, own] - made.value[:, column]
        drawn = made.drawn[each, own] - made.drawn[:, column]
        gap_low, gap_high = bounds(drawn, gap, ready.units, (ends[0] - ends[1], ends[1] - ends[0]))
        claimed = own == column
        hidden = claimed | oracle
        columns = {
            "dimension": name,
            "claimed": claimed,
            "value": made.value[:, column],
            "low": low,
            "high": high,
            "n": made.n,
            "gap": np.where(hidden, np.nan, gap),
            "gap_low": np.where(hidden, np.nan, gap_low),
            "gap_high": np.where(hidden, np.nan, gap_high),
        }
        tables.append(pd.DataFrame(ready.rows).assign(**columns))
    return ordered(pd.concat(tables, ignore_index=True), len(ready.rows))
