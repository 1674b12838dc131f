"""What a metric costs, and what one gets for it: agreement with people against time.

Times, memory and parameters come from the committed run of ``benchmarks/cost.py``; agreement is
computed here, from the scores of the data sets that are on the machine.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from ..data import Dataset, paths
from ..metrics import known, lower_is_better
from . import figures, html
from .bench import Bench
from .chapters import present
from .figures import Picture
from .tables import evaluate, judged

#: A metric that costs at most this many times word BLEU is called cheap.
CHEAP = 20
#: Values that lie closer together, as a share of a panel's height, are not told apart by eye.
SEEN = 0.04
#: What is shown unless another data set is asked for.
RATED = ("mir", "lai@pauli2025", "alva@asset", "lens@simpda_2022", "pauli")
_NOTHING = Markdown("*No costs are committed here. Measure them: `python benchmarks/cost.py`.*")
_NO_VALUE = Markdown("*No metric has a value for agreement here: there is too little to compare.*")


def committed(path: Path | None = None) -> pd.DataFrame:
    """The committed costs, one row a metric, cheapest first.

    Returns:
        metric, basis, seconds (for a thousand rewrites), times (word BLEU's time), mib (at the peak
        above the start; NaN where unknown), parameters; empty where nothing is committed.
    """
    path = path or paths.home() / "benchmarks" / "results" / "cost.json"
    columns = {
        "metric": "metric",
        "basis": "basis",
        "seconds_a_thousand": "seconds",
        "ratio": "times",
        "above_start_mib": "mib",
        "parameters": "parameters",
    }
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.is_file() else []
    frame = pd.DataFrame(rows, columns=list(columns)).rename(columns=columns)
    return frame.sort_values("seconds", ignore_index=True)


def sets(bench: Bench, dataset: str) -> list[Dataset]:
    """Data sets of a parameter: a name, or ``auto`` for rated ones that are here and contrast."""
    if dataset != "auto":
        return [bench.dataset(dataset)]
    return present(bench, (*RATED, "contrast"))


class Worth:
    """Agreement beside cost, for the parameters of a notebook.

    Args:
        data: data sets with something to hold a metric against.
        dimension: of people's ratings (or labels by construction).

    Attributes:
        rows: one row a metric and data set: columns of :func:`committed`, dataset, value, n.
    """

    def __init__(
        self,
        bench: Bench,
        data: Sequence[Dataset],
        dimension: str,
        *,
        statistic: str = "pearson",
        level: str = "pooled",
        costs: pd.DataFrame | None = None,
    ):
        self.dimension = dimension
        costs = committed() if costs is None else costs
        own = [dimension in getattr(known(name), "dimensions", ()) for name in costs["metric"]]
        costs = costs[np.array(own, dtype=bool)]
        found = []
        for one in data:
            if dimension not in judged(one) or costs.empty:
                continue
            table = evaluate(
                one,
                bench.table(one, list(costs["metric"]), ["source", "none"]),
                dimensions=[dimension],
                statistic=statistic,
                level=level,
            )
            table = table[["metric", "basis", "value", "n"]].assign(dataset=one.name)
            heads = zip(table["metric"], table["basis"], strict=True)
            table["value"] *= [-1 if lower_is_better(*head) else 1 for head in heads]
            found.append(costs.merge(table, on=["metric", "basis"]))
        self.rows = pd.concat(found, ignore_index=True) if found else pd.DataFrame()
        self._lacking = _NOTHING
        if found and not self.rows["value"].notna().any():  # too few systems, for instance
            self._lacking, self.rows = _NO_VALUE, pd.DataFrame()

    def table(self) -> html.Html | Markdown:
        """Metrics by cost, with their agreement on each data set; best of each in bold.

        A metric that has no value for single rewrites anywhere is left out.
        """
        if self.rows.empty:
            return self._lacking
        rows = self.rows.dropna(subset="value").sort_values("times", kind="stable")
        best = rows.groupby("dataset")["value"].transform("max")
        shown = rows.assign(
            best=rows["value"] == best,
            metric=[f"<code>{escape(name)}</code>" for name in rows["metric"]],
        )
        lines = []
        for name, own in shown.groupby("metric", sort=False):
            first = own.iloc[0]
            line = {
                "metric": name,
                "seconds for 1,000": _figure(first["seconds"]),
                "times BLEU": _figure(first["times"]),
                "MiB": "–" if pd.isna(first["mib"]) else f"{first['mib']:,.0f}",
                "parameters": _millions(int(first["parameters"])),
            }
            for row in own.to_dict("records"):
                value = html.signed(row["value"])
                line[row["dataset"]] = f"<b>{value}</b>" if row["best"] else value
            lines.append(line)
        frame = pd.DataFrame(lines).fillna("–")
        most = rows.groupby("dataset")["n"].max()
        frame = frame.rename(columns={name: f"{name}\nn = {n:,}" for name, n in most.items()})
        return html.table(frame, dict.fromkeys(frame.columns, str))

    def said(self) -> Markdown:
        """The best metric of each data set beside the best cheap one."""
        if self.rows.empty:
            return self._lacking
        lines = []
        for name, own in self.rows.dropna(subset="value").groupby("dataset", sort=False):
            top = own.loc[own["value"].idxmax()]
            cheap = own[own["times"] <= CHEAP]
            if cheap.empty:
                continue
            low = cheap.loc[cheap["value"].idxmax()]
            line = (
                f"- `{name}`: best is `{top['metric']}` ({html.signed(top['value'])}), which takes"
            )
            line += f" {_figure(top['times'])} times as long as word BLEU."
            if top["metric"] != low["metric"]:
                line += (
                    f" Among metrics of at most {CHEAP} times BLEU it is `{low['metric']}`"
                    f" ({html.signed(low['value'])})."
                )
            lines.append(line)
        return Markdown("\n".join(lines))

    def picture(self) -> Picture | Markdown:
        """Agreement against time, a panel a data set; the line joins what no cheaper one beats."""
        return self._lacking if self.rows.empty else Picture(scatter(self.rows, self.dimension))


@figures._styled
def scatter(rows: pd.DataFrame, dimension: str) -> Figure:
    """Agreement against time as a multiple of BLEU's (logarithmic), a panel a data set.

    The multiple was taken in the same round as BLEU, so that a busy machine weighs on both.  A
    metric on the line is named where it is better than the one named before by :data:`SEEN`.
    """
    known = rows.dropna(subset="value")
    names = list(dict.fromkeys(known["dataset"]))
    figure, axes = figures._panels(len(names), 4.2, 3.4, most=2, sharex=True)
    for axis, name in zip(axes, names, strict=True):
        own = known[known["dataset"] == name].sort_values(["times", "value"])
        front = own[own["value"] >= own["value"].cummax()].drop_duplicates("value")
        axis.scatter(own["times"], own["value"], s=18, color=figures.GREY, zorder=2)
        axis.step(
            front["times"], front["value"], where="post", color=figures.BLUE, lw=1.2, zorder=1
        )
        axis.scatter(front["times"], front["value"], s=26, color=figures.BLUE, zorder=3)
        for place, row in enumerate(_named(front, _height(own["value"]))):
            axis.annotate(
                row["metric"],
                (row["times"], row["value"]),
                xytext=(4, 5 if place % 2 else -11),
                textcoords="offset points",
                fontsize=8.5,
                color=figures.BLUE,
            )
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.axhline(0, color="#B0B0B0", lw=0.8)
        axis.set_title(name)
        axis.margins(x=0.25, y=0.12)
    figure.supxlabel("time, as a multiple of BLEU's", fontsize=9)
    figure.supylabel(f"agreement with {dimension}", fontsize=9)
    return figure


def _height(values: pd.Series) -> float:
    """From the lowest to the highest value; zero is always in the panel."""
    return max(float(values.max()), 0.0) - min(float(values.min()), 0.0)


def _named(front: pd.DataFrame, height: float) -> list[dict]:
    """Points of the line that are better than the one named before by a step that can be seen."""
    named: list[dict] = []
    for row in front.to_dict("records"):
        if not named or row["value"] - named[-1]["value"] >= SEEN * height:
            named.append(row)
    return named


def _figure(value: float) -> str:
    if not math.isfinite(value):
        return "–"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _millions(count: int) -> str:
    return "none" if not count else f"{count / 1e6:,.1f} million"
