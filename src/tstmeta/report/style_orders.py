"""Which of two rewrites of a source a metric of style puts first, on sets with four cells.

Correlations on such a set mix tasks and sources.  A pair of one source does not: all else is equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from . import html
from .material import bounds

#: What is compared: words -> (cell that should be above, cell below).
ORDERS = {
    "strong above light": ("strong", "light"),
    "strong above light, both with an error": ("strong-error", "light-error"),
    "strong with an error above light": ("strong-error", "light"),
    "error above kept, both light": ("light-error", "light"),
}
#: The question about style, and the one to which a metric of style has nothing to say.
STYLE, ERROR = "strong above light", "error above kept, both light"


def shares(
    data: Dataset, scores: pd.DataFrame, metrics: Sequence[str], draws: int, seed: int
) -> pd.DataFrame:
    """Shares of sources, a tie counts half, with percentile intervals over draws of sources.

    Returns:
        One row a metric and comparison: metric, order (a key of :data:`ORDERS`), value, low, high;
        NaN where the set has no such cells.
    """
    cell = data.label("shift") + np.where(data.label("error") == "none", "", "-error")
    rng = np.random.default_rng(seed)
    rows = []
    for name in metrics:
        values = scores[scores["metric"] == name].set_index("item_id")["value"]
        items = data.items.assign(
            cell=cell.to_numpy(), value=values.reindex(data.items["item_id"]).to_numpy()
        )
        grid = items.pivot_table(index="source_id", columns="cell", values="value")
        rows += [(name, order, *_share(grid, *pair, draws, rng)) for order, pair in ORDERS.items()]
    return pd.DataFrame(rows, columns=["metric", "order", "value", "low", "high"])


def _share(
    grid: pd.DataFrame, above: str, below: str, draws: int, rng: np.random.Generator
) -> tuple[float, float, float]:
    missing = not {above, below} <= set(grid.columns)
    difference = np.array([]) if missing else (grid[above] - grid[below]).dropna().to_numpy()
    if not len(difference):
        return math.nan, math.nan, math.nan
    wins = (difference > 0) + 0.5 * (difference == 0)
    picked = rng.integers(len(wins), size=(draws, len(wins)))
    value = float(wins.mean())
    drawn = wins[picked].mean(axis=1)
    low, high = bounds(drawn[None], np.array([value]), len(wins), (0.0, 1.0))
    return value, float(low[0]), float(high[0])


def table(rows: pd.DataFrame, name: str) -> html.Html:
    """Rows of :func:`shares` as a grid: metric by comparison."""
    shown = rows.assign(cell=[_cell(row.value, row.low, row.high) for row in rows.itertuples()])
    grid = html.pivot(shown, ["metric"], "order", "cell")
    return html.table(grid, caption=f"{name}: shares of sources")


def _cell(value: float, low: float, high: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f} ({low:.2f} to {high:.2f})"


def said(found: dict[str, pd.DataFrame], metrics: Sequence[str], turned: str) -> Markdown:
    """Each metric beside the best similarity turned round, set by set.

    Args:
        found: rows of :func:`shares` by data set.
        metrics: of style.
        turned: what the names of similarities that are turned round begin with.
    """
    lines = []
    for data, rows in found.items():
        known = rows.dropna().set_index(["metric", "order"])["value"]
        asked = known[known.index.get_level_values("order") == STYLE].droplevel("order")
        rules = asked[[name for name in asked.index if name.startswith(turned)]]
        for name in metrics:
            if name not in asked or rules.empty or (name, ERROR) not in known:
                continue
            best = rules.idxmax()
            lines.append(
                f"- On `{data}`, `{name}` puts strong above light in {asked[name]:.0%} of the"
                f" sources, the best similarity turned round, `{best}`, in {rules[best]:.0%}. A"
                f" content error moves a light rewrite up in {known[name, ERROR]:.0%} and"
                f" {known[best, ERROR]:.0%}."
            )
    return Markdown("\n".join(lines)) if lines else Markdown("*No set with four cells is here.*")
