"""Lesson 2, last part: a tie threshold fitted on the pairs it is judged on flatters the metric."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ...stats import tie_calibrated
from .. import html
from ..bench import Bench
from ..figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from .ties import Case, case_of

#: Numbers of sources a threshold is fitted on.
SIZES = (10, 20, 40, 80)


def most_tied(shown: Sequence[Case]) -> Case:
    """The case whose people tie the largest share of pairs: where a threshold matters most."""

    def tied(case: Case) -> float:
        groups = case.human if case.level == "source" else case.human.reshape(1, -1)
        gaps = np.concatenate([_gaps(row[np.isfinite(row)]) for row in groups])
        return float((gaps == 0).mean()) if len(gaps) else 0.0

    return max(shown, key=tied)


def _gaps(row: np.ndarray) -> np.ndarray:
    first, second = np.triu_indices(len(row), 1)
    return row[first] - row[second]


def thresholds(
    bench: Bench, chosen: Case, metrics: Sequence[str], folds: int = 5, seed: int = 0
) -> pd.DataFrame:
    """acc_eq of metrics with threshold 0, with one fitted on the same pairs, and by K-fold.

    The metrics are scored on the data set of the chosen case.

    Returns:
        metric, untuned, same data, held out, threshold (fitted on everything), lowest and highest
        (threshold of the folds), n.
    """
    rows = []
    for metric in dict.fromkeys(metrics):
        case = case_of(bench, chosen.data, metric) if chosen.data else chosen
        rng = np.random.default_rng(seed)
        found = tie_calibrated(case.human, case.metric, case.level, folds=folds, rng=rng)
        fitted = found.thresholds[np.isfinite(found.thresholds)]
        ends = (fitted.min(), fitted.max()) if len(fitted) else (np.nan, np.nan)
        rows.append(
            {
                "metric": metric,
                "untuned": found.untuned,
                "same data": found.in_sample,
                "held out": found.value,
                "threshold": found.threshold,
                "lowest": float(ends[0]),
                "highest": float(ends[1]),
                "n": found.n,
            }
        )
    return pd.DataFrame(rows)


def thresholds_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`thresholds`; thresholds in units of the metric."""
    ends = zip(rows["lowest"], rows["highest"], strict=True)
    folds = [f"{_short(low)} to {_short(high)}" for low, high in ends]
    shown = rows.drop(columns=["lowest", "highest", "n"]).assign(**{"of the folds": folds})
    return html.table(shown, {"threshold": lambda value: _short(float(value))})  # type: ignore[arg-type]


def _short(value: float) -> str:
    return "–" if isnan(value) else f"{value:.3g}".replace("-", "−")


def flattery(
    case: Case,
    sizes: Sequence[int] = SIZES,
    times: int = 40,
    folds: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """The three values of :func:`thresholds` for fewer sources, averaged over random choices.

    Returns:
        One row a number of sources, the last one for all: sources, untuned, same data, held out,
        spread (largest less smallest threshold of the folds).
    """
    rng = np.random.default_rng(seed)
    there = np.flatnonzero((np.isfinite(case.human) & np.isfinite(case.metric)).any(axis=1))
    rows = []
    for size in [*(one for one in sizes if one < len(there)), len(there)]:
        found = []
        for _ in range(times if size < len(there) else 1):
            chosen = rng.choice(there, size, replace=False)
            one = tie_calibrated(
                case.human[chosen], case.metric[chosen], case.level, folds=folds, rng=rng
            )
            found.append((one.untuned, one.in_sample, one.value, one.spread))
        kept = np.array(found)[np.isfinite(found).all(axis=1)]
        means = kept.mean(axis=0) if len(kept) else np.full(4, np.nan)
        names = ("untuned", "same data", "held out", "spread")
        rows.append({"sources": size, **dict(zip(names, map(float, means), strict=True))})
    return pd.DataFrame(rows)


def picture(rows: pd.DataFrame, metric: str) -> Picture:
    """Rows of :func:`flattery`: gains over no threshold on the left, spread on the right."""
    return Picture(_picture(rows, metric))


@_styled
def _picture(rows: pd.DataFrame, metric: str) -> Figure:
    figure, (left, right) = _panels(2, 3.6, 2.8)
    places = range(len(rows))
    for name, colour, marker in (("same data", ORANGE, "v"), ("held out", BLUE, "o")):
        gain = rows[name] - rows["untuned"]
        left.plot(places, gain, color=colour, marker=marker, lw=1.6, label=name)
    left.axhline(0, color=GREY, lw=1, linestyle="--")
    left.set_ylabel("gain over no threshold")
    left.set_title("What fitting promises and keeps")
    left.legend()
    right.plot(places, rows["spread"], color=BLUE, marker="o", lw=1.6)
    right.set(ylabel=f"points of {metric}", ylim=(0, None))
    right.set_title("Thresholds of the folds: range")
    for axis in (left, right):
        axis.set_xticks(places, [str(size) for size in rows["sources"]])
        axis.set_xlabel("sources")
    return figure


def flattery_said(rows: pd.DataFrame, name: str) -> Markdown:
    """How much of what fitting promises it keeps, with the fewest sources and with all."""
    first, last = rows.iloc[0], rows.iloc[-1]
    if rows[["untuned", "same data", "held out"]].isna().any(axis=None):
        return Markdown(f"`{name}` is too small to hold sources out.")
    said = [
        f"with {row['sources']:.0f} sources the fitted threshold promises"
        f" {_gain(row['same data'] - row['untuned'])} and keeps"
        f" {_gain(row['held out'] - row['untuned'])}"
        for row in (first, last)
    ]
    return Markdown(f"On `{name}`, over no threshold at all, {'; '.join(dict.fromkeys(said))}.")


def _gain(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
