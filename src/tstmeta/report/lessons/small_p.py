"""Lesson 3: why the p-value of a correlation over rewrites of the same sources is too small.

The usual p-value counts rewrites as if each were drawn on its own.  Rewrites of one source share
what is hard about it: they are drawn together, and say less than their number.  In a simulated
world where rating and metric have nothing to do with each other, the share of false alarms shows
it; on real ratings, the widths of both intervals do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import special
from scipy import stats as scipy_stats

from ...data import Dataset
from ...stats import Plan, Setting, correlate
from ...stats.intervals import intervals
from .. import html
from ..bench import Bench
from ..figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from ..matrices import matrices

#: Share of the variance of both sides that belongs to the source.
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8)
ALARM = 0.05


def unrelated(
    share: float, sources: int, rewrites: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Ratings and scores ``[S, K]`` of variance 1 that are independent of each other.

    ``share`` of the variance of each belongs to the source, the rest to the single rewrite.
    """
    sides = [
        math.sqrt(share) * rng.normal(size=(sources, 1))
        + math.sqrt(1 - share) * rng.normal(size=(sources, rewrites))
        for _ in range(2)
    ]
    return sides[0], sides[1]


def false_alarms(
    sources: int = 40,
    rewrites: int = 8,
    *,
    shares: Sequence[float] = SHARES,
    replicates: int = 400,
    draws: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """How often each way of judging sees a correlation where there is none.

    Returns:
        One row a share: share, naive (p below .05 as scipy counts it), clustered (the interval with
        sources drawn whole leaves out zero), error (standard error of either), and p, a list of the
        naive p-values.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for share in shares:
        p, alarms = np.empty(replicates), np.empty(replicates)
        for i in range(replicates):
            human, metric = unrelated(share, sources, rewrites, rng)
            p[i] = scipy_stats.pearsonr(human.ravel(), metric.ravel()).pvalue
            plan = Plan("sources", draws)
            (found,) = intervals(human, metric[None], Setting(), plan, rng, confidence=1 - ALARM)
            alarms[i] = not found.low <= 0 <= found.high
        rows.append(
            {
                "share": share,
                "naive": float((p < ALARM).mean()),
                "clustered": float(alarms.mean()),
                "error": math.sqrt(ALARM * (1 - ALARM) / replicates),
                "p": p,
            }
        )
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`false_alarms` in percent."""
    shown = rows[["share", "naive", "clustered"]].rename(
        columns={"share": "variance that belongs to the source"}
    )
    return html.table(shown, dict.fromkeys(shown.columns, html.percent))


def picture(rows: pd.DataFrame) -> Picture:
    """False alarms of both ways, and the naive p-values where sources weigh most."""
    return Picture(_picture(rows))


@_styled
def _picture(rows: pd.DataFrame) -> Figure:
    figure, (left, right) = _panels(2, 3.6, 2.9)
    for name, colour, marker in (("naive", ORANGE, "o"), ("clustered", BLUE, "s")):
        left.plot(
            100 * rows["share"], 100 * rows[name], color=colour, marker=marker, label=name, lw=1.6
        )
    left.axhline(100 * ALARM, color=GREY, lw=1, linestyle="--")
    left.set(
        xlabel="variance that belongs to the source, %", ylabel="false alarms, %", ylim=(0, None)
    )
    left.set_title("Nothing is there, yet …")
    left.legend()
    last = rows.iloc[-1]
    right.hist(last["p"], bins=np.linspace(0, 1, 21), color=ORANGE)
    right.axhline(len(last["p"]) / 20, color=GREY, lw=1, linestyle="--")
    right.set(xlabel="naive p-value", ylabel="worlds")
    right.set_title(f"p-values where it is {last['share']:.0%}")
    return figure


def fisher(r: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """The usual interval of Pearson's r, items taken for independent (Fisher 1921)."""
    if n < 4 or abs(r) >= 1:
        return math.nan, math.nan
    half = float(special.ndtri(0.5 + confidence / 2)) / math.sqrt(n - 3)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def real(
    bench: Bench, datasets: Sequence[Dataset], metric: str, draws: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """Both intervals of one metric on each data set, and how many independent items it is worth.

    ``worth`` is the number of independent items whose usual interval would be as wide as the
    clustered one.
    """
    rows = []
    for data in datasets:
        found = matrices(data, bench.table(data, [metric], ["source"]))
        r = correlate(found.human, found.metrics[0], Setting())
        plan, rng = found.plan("sources", draws), np.random.default_rng(seed)
        (ours,) = intervals(found.human, found.metrics, Setting(), plan, rng)
        low, high = fisher(r.value, r.n)
        width = math.atanh(ours.high) - math.atanh(ours.low) if abs(r.value) < 1 else math.nan
        worth = (2 * float(special.ndtri(0.975)) / width) ** 2 + 3 if width > 0 else math.nan
        rows.append(
            {
                "data": data.name,
                "n": r.n,
                "sources": len(found.layout.sources),
                "r": r.value,
                "naive low": low,
                "naive high": high,
                "low": ours.low,
                "high": ours.high,
                "worth": worth,
            }
        )
    return pd.DataFrame(rows)


def real_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`real`."""
    shown = pd.DataFrame(
        {
            "data": rows["data"],
            "rewrites": rows["n"],
            "sources": rows["sources"],
            "r": [html.signed(value) for value in rows["r"]],
            "usual interval": _limits(rows["naive low"], rows["naive high"]),
            "sources drawn whole": _limits(rows["low"], rows["high"]),
            "worth, independent items": [
                "–" if math.isnan(value) else f"{value:,.0f}" for value in rows["worth"]
            ],
        }
    )
    return html.table(shown)


def _limits(low: pd.Series, high: pd.Series) -> list[str]:
    return [f"{html.signed(a)} to {html.signed(b)}" for a, b in zip(low, high, strict=True)]
