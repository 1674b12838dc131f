"""The printed hybrids of mukherjee2025: what they chose, and what they gained over one metric.

The ratings are not public, so all that can be done is to hold printed numbers against one another:
the metrics of Table 5 against the rule that chose them, and the hybrids of Tables 1 and 2 against
the best single metric of the same column.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

import pandas as pd
from IPython.display import Markdown

from . import html
from .published import Cell, cells

PAPER = "mukherjee2025"
#: Rows of Tables 1 and 2 that are no single metric: prompted models, and the hybrids.
OTHERS = ("Hybrid", "GPT", "LLaMA")
HYBRIDS = ("Hybrid-Simulation", "Hybrid-Learned")


class Setting(NamedTuple):
    """One column of the paper's tables, for one dimension."""

    dimension: str
    task: str
    language: str


def _values(tables: Iterable[str], statistic: str) -> dict[Setting, dict[str, Cell]]:
    """Printed cells of a statistic by setting and metric."""
    found: dict[Setting, dict[str, Cell]] = {}
    for one in cells():
        if one.paper == PAPER and one.table in tables and one.statistic == statistic:
            setting = Setting(one.dimension, one.dataset, one.language)
            found.setdefault(setting, {})[one.metric] = one
    return found


def _single(column: dict[str, Cell]) -> dict[str, float]:
    """The metrics of a column that a hybrid could take."""
    return {name: one.value for name, one in column.items() if not name.startswith(OTHERS)}


# ------------------------------------------------------------------------------------- choices


def choices() -> pd.DataFrame:
    """The metrics that each printed hybrid takes (Table 5) beside those that its rule would take.

    The rule: for the simulation the highest Pearson correlations of Tables 1 and 2, for the learned
    hybrid the highest importances of Table 6; prompted models and hybrids themselves do not count.
    Printed numbers are rounded, so a metric that ties with the last one taken may stand in its
    place.

    Returns:
        One row a hybrid, dimension, task and language: hybrid, dimension, task, language, printed,
        rule (texts), same.
    """
    taken: dict[tuple[str, Setting], list[str]] = {}
    for one in cells():
        if (one.paper, one.table) == (PAPER, "5"):
            setting = Setting(one.dimension, one.dataset, one.language)
            taken.setdefault((one.item, setting), []).append(one.metric)
    sides = {
        "hybrid-simulation": _values(("1", "2"), "pearson"),
        "hybrid-learned": _values(("6",), "importance"),
    }
    rows = []
    for (name, setting), metrics in taken.items():
        values = _single(sides[name][setting])
        best = sorted(values, key=lambda name: -values[name])[: len(metrics)]
        least = values[best[-1]]
        sure = {name for name in values if values[name] > least}
        same = sure <= set(metrics) and all(values[name] >= least for name in metrics)
        rows.append((name, *setting, ", ".join(metrics), ", ".join(best), same))
    columns = ["hybrid", *Setting._fields, "printed", "rule", "same"]
    return pd.DataFrame(rows, columns=columns)


def choices_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`choices` that do not follow their rule; the caption counts those that do."""
    count = rows.groupby("hybrid", sort=False)["same"].agg(["sum", "size"])
    told = "; ".join(
        f"{name.title()}: {a} of {n} printed choices follow the rule"
        for name, a, n in count.itertuples()
    )
    odd = rows[~rows["same"]]
    shown = pd.DataFrame(
        {
            "hybrid": odd["hybrid"].str.title(),
            "for": odd["dimension"],
            "setting": odd["task"] + ", " + odd["language"],
            "as published": odd["printed"],
            "by the rule": odd["rule"],
        }
    )
    return html.table(shown, caption=f"{told}. These do not:")


# --------------------------------------------------------------------------------------- gains


def gains() -> pd.DataFrame:
    """What each printed hybrid has over the best single metric of its column (Tables 1 and 2).

    Returns:
        One row a setting and hybrid: dimension, task, language, hybrid, candidates (single metrics
        in the column), best (the highest of them), single, combined (both Pearson's r as printed),
        gain.
    """
    rows = []
    for setting, column in _values(("1", "2"), "pearson").items():
        single = _single(column)
        best = max(single, key=lambda name: single[name])
        for name in HYBRIDS:
            value = column[name].value
            gain = round(value - single[best], 9)
            rows.append((*setting, name, len(single), best, single[best], value, gain))
    columns = [*Setting._fields, "hybrid", "candidates", "best", "single", "combined", "gain"]
    return pd.DataFrame(rows, columns=columns)


def gains_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`gains`, one line a setting."""
    lines = []
    for setting, own in rows.groupby(list(Setting._fields), sort=False):
        first = own.iloc[0]
        dimension, task, language = (str(one) for one in setting)
        line = {
            "for": escape(dimension),
            "setting": escape(f"{task}, {language}"),
            "metrics to choose from": str(first["candidates"]),
            "best single metric": f"{escape(first['best'])} <i>{html.signed(first['single'])}</i>",
        }
        for row in own.itertuples():
            told = f"<i>{html.signed(row.combined)}</i> ({_plus(row.gain)})"
            line[f"{row.hybrid} (gain)"] = told
        lines.append(line)
    frame = pd.DataFrame(lines)
    caption = "Pearson's r as published, and the difference; n is not in the tables"
    made = html.table(frame, dict.fromkeys(frame.columns, str), caption=caption)
    return html.Html(f"{made.text}<p class='tst-legend'><i>published</i></p>")


def _plus(value: float) -> str:
    return f"+{html.signed(value)}" if value > 0 else html.signed(value)


def gains_said(rows: pd.DataFrame) -> Markdown:
    """How many of the printed gains are above zero, and how large they are."""
    above, median = int((rows["gain"] > 0).sum()), float(rows["gain"].median())
    return Markdown(
        f"Of {len(rows)} printed gains {above} are above zero. The median is"
        f" {html.signed(median, 3)}, the largest {html.signed(rows['gain'].max())}, the lowest"
        f" {html.signed(rows['gain'].min())}."
    )
