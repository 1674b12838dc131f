"""What lessons 6 and 7 share: tokens of a set through the scorer's cache, and pairs of rewrites.

Sets built by construction have four rewrites a source: strong or light in style, with or without a
content error.  A pair is won where the metric puts the better rewrite above the worse one; a tie
counts half.  Each source has one pair of a kind, so sources are what is drawn for an interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from ...data import Dataset, paths
from ...likelihood.scorer import Judged, Rewrite, Scorer
from ...metrics import get
from ...stats.intervals import of_values
from .. import demonstration, html
from ..bench import Bench


class Pair(NamedTuple):
    """Two cells of the design, and in what the first is better than the second."""

    better: str
    worse: str
    dimension: str = "content"

    def __str__(self) -> str:
        return f"{self.better} > {self.worse}"


#: Three questions about content; the last is the one that similarity to the source cannot answer.
CONTENT = (
    Pair("light", "light-error"),
    Pair("strong", "strong-error"),
    Pair("strong", "light-error"),
)
STYLE = (Pair("strong", "light", "style"),)
FAULTY = ("strong-error", "light-error")
#: The name of :func:`all_right` among pairs, and what a draw by lot has there.
ALL_RIGHT, BY_LOT = "both kept > both faulty", 1 / 6


def metric_name(model: str, *words: str, name: str = "likelihood") -> str:
    """The metric's name: ``likelihood``, or with a model other than ours and further words."""
    said = "+".join([*([] if model == "embedded" else [model]), *words])
    return f"{name}:{said}" if said else name


def warning(model: str) -> html.Html:
    """What readers must know of the embedded model; nothing where another one is used."""
    names = ("likelihood", "likelihood-style")
    return demonstration.warning([metric_name(model, name=name) for name in names])


def scorer(bench: Bench, model: str, *words: str) -> Scorer:
    """The scorer behind ``likelihood``, with the bench's cache of tokens."""
    metric = get(metric_name(model, *words))
    metric.keep_in(bench.store or paths.scores(), bench.progress)  # type: ignore[attr-defined]
    return metric.scorer()  # type: ignore[attr-defined]


def tokens(asked: Scorer, data: Dataset) -> dict[str, Judged]:
    """Every rewrite of a set with its tokens' log-probabilities, by item id."""
    items = data.items
    rewrites = [
        Rewrite(*row) for row in items[["source", "output", "style"]].itertuples(index=False)
    ]
    return dict(zip(items["item_id"], asked.judge(rewrites), strict=True))


def tasks(data: Dataset) -> np.ndarray:
    """The task of each source, in the order of the sources."""
    first = ~data.items["source_id"].duplicated().to_numpy()
    return data.label("task").to_numpy(str)[first]


def wins(data: Dataset, values: Mapping[str, float], pair: Pair) -> np.ndarray:
    """For each source in order 1 (won), 0.5 (tie), 0 (lost), NaN (a value is missing)."""
    items = data.items.assign(value=data.items["item_id"].map(values))
    grid = items.pivot_table(
        index="source_id", columns="system", values="value", sort=False, dropna=False
    ).reindex(items["source_id"].unique())
    lead = (grid[pair.better] - grid[pair.worse]).to_numpy(float)
    return np.where(np.isnan(lead), np.nan, (np.sign(lead) + 1) / 2)


def all_right(data: Dataset, values: Mapping[str, float]) -> np.ndarray:
    """For each source 1 where both faithful rewrites beat both faulty ones, else 0 (NaN: no value).

    A draw by lot has it in one source of six: four rewrites have 24 orders, four of them right.
    """
    kept = [wins(data, values, Pair(a, b)) for a in ("strong", "light") for b in FAULTY]
    least = np.min(kept, axis=0)  # NaN where any is
    return np.where(np.isnan(least), np.nan, (least == 1).astype(float))


def shares(
    won: Sequence[np.ndarray], draws: int = 2000, seed: int = 0, parts: ArrayLike | None = None
) -> pd.DataFrame:
    """Share of pairs won with its 95 % interval, sources drawn again; the same draws for all.

    Args:
        won: results of :func:`wins` on one set.
        parts: a label for each source; sources are drawn within labels.

    Returns:
        One row each: value, low, high, n (pairs).
    """
    if not len(won):
        return pd.DataFrame(columns=["value", "low", "high", "n"])
    matrix = np.array(won, dtype=float)
    counts = _counts(matrix.shape[1], draws, seed, parts)
    there = np.isfinite(matrix)
    with np.errstate(invalid="ignore"):
        drawn = (np.where(there, matrix, 0) @ counts.T) / (there @ counts.T)
        value = np.where(there, matrix, 0).sum(1) / there.sum(1)
    rows = []
    for one, own, n in zip(value, drawn, there.sum(1), strict=True):
        (found,) = of_values(own[None], [one], units=int(n), bounds=(0.0, 1.0))
        rows.append({"value": float(one), "low": found.low, "high": found.high, "n": int(n)})
    return pd.DataFrame(rows)


def _counts(sources: int, draws: int, seed: int, parts: ArrayLike | None) -> np.ndarray:
    """How often each source counts ``[draws, sources]``."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(sources, dtype=int) if parts is None else pd.factorize(np.asarray(parts))[0]
    counts = np.zeros((draws, sources))
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        counts[:, own] = rng.multinomial(len(own), np.full(len(own), 1 / len(own)), size=draws)
    return counts


def share_cell(row: Mapping) -> str:
    """A share with its limits as HTML; n on pointing."""
    if math.isnan(row["value"]):
        return "–"
    limits = f"{row['low']:.2f}–{row['high']:.2f}"
    return f"<span title='n = {row['n']}'><b>{row['value']:.2f}</b> ({limits})</span>"
