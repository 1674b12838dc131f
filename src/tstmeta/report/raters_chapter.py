"""What the chapter of raters calls: how good people themselves are, and who could replace them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ..data import Dataset
from ..schema import TstmetaError
from ..scoring import HUMAN_STYLE
from . import alternative, html, raters
from .bench import Bench
from .chapters import allowed, present
from .figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from .material import upright

#: Sets with single ratings of content by persons, by slots, and as means only.
RATED = ("pauli", "lens@simpda_2022", "alva@asset", "lai@pauli2025", "mir")
#: Below this number of systems, nothing is said of them.
FEW = 5
_WORDS = {"pooled": "pooled", "source": "per source", "system": "system means"}


class Raters:
    """The data of the chapter for the parameters of its notebook.

    ``all`` are the data sets shown; nothing is shown of a set without ratings but that it has none.
    """

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        metrics: Sequence[str],
        dimension: str = "content",
        seed: int = 0,
        profile: str = "embedded",
    ):
        self.bench, self.dimension, self.seed = bench, dimension, seed
        self.metrics = [*allowed(metrics, profile), "sentinel", HUMAN_STYLE]
        if dataset == "auto":
            self.all = present(bench, RATED) or [bench.dataset("contrast")]
        else:
            self.all = [bench.dataset(dataset)]
        self.rated = [data for data in self.all if dimension in data.dimensions]

    def scores(self, data: Dataset) -> pd.DataFrame:
        """Scores on bases source and none; where less is better they are turned round (``↓``)."""
        return upright(self.bench.table(data, self.metrics, ["source", "none"]))

    def reliability(self) -> html.Html | Markdown:
        """How far single ratings and their means can be trusted."""
        rows = [
            raters.reliability(data, self.dimension, seed=self.seed).assign(data=data.name)
            for data in self.rated
        ]
        if not rows:
            return _no_ratings(self.dimension)
        table = pd.concat(rows, ignore_index=True)
        shown = pd.DataFrame(
            {
                "data": table["data"],
                "released": table["released"],
                "alpha, ordinal": table["alpha_ordinal"],
                "alpha, interval": table["alpha_interval"],
                "one rating": table["single"],
                "ratings an item": [_count(value) for value in table["per_item"]],
                "their mean": table["of_mean"],
                "random halves": table["halves"],
                "halves, stepped up": table["stepped"],
                "items": table["n"],
                "note": table["note"],
            }
        )
        return html.table(shown)

    def ceilings(self) -> pd.DataFrame:
        """:func:`tstmeta.report.raters.human_ceiling` of every data set that has ratings."""
        rows = [
            raters.human_ceiling(data, self.scores(data), self.dimension).assign(data=data.name)
            for data in self.rated
        ]
        return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()

    def ceiling_table(self, rows: pd.DataFrame) -> html.Html | Markdown:
        """People and the best of all metrics and sentinels, at each level."""
        if rows.empty:
            return _no_ratings(self.dimension)
        lines = []
        for (data, level), group in rows.groupby(["data", "level"], sort=False):
            person, metrics = group.iloc[0], group.iloc[1:].dropna(subset="value")
            line = {"data": data, "level": _WORDS[level], "held out": person["metric"]}
            line |= {"people": person["value"], "n": int(person["n"])}
            if level == "system" and 0 < line["n"] < FEW:
                line |= {"people": math.nan, "best": "", "its value": math.nan}
                lines.append(line | {"note": f"{line['n']} systems are too few"})
                continue
            if len(metrics):
                best = metrics.loc[metrics["value"].idxmax()]
                line |= {"best": best["metric"], "its value": best["value"]}
            else:
                line |= {"best": "", "its value": math.nan}
            lines.append(line | {"note": person["note"]})
        order = ["data", "level", "people", "n", "best", "its value", "held out", "note"]
        return html.table(pd.DataFrame(lines)[order])

    def ceiling_picture(self, rows: pd.DataFrame) -> Picture | Markdown:
        """Metrics against the held-out person, pooled, one panel a data set."""
        some = rows[(rows["level"] == "pooled")].dropna(subset="value") if len(rows) else rows
        return Picture(_ceilings(some)) if len(some) else html.SILENCE

    def corrected(self) -> html.Html | Markdown:
        """Pearson's r of the best metric as it is, and corrected for the noise of mean ratings.

        Where nothing can be corrected the row says why.
        """
        if not self.rated:
            return _no_ratings(self.dimension)
        rows = []
        for data in self.rated:
            found = raters.corrected(data, self.scores(data), self.dimension)
            known = found.dropna(subset="raw")
            for row in known.loc[known["raw"].nlargest(1).index].to_dict("records"):
                rows.append(
                    {
                        "data": data.name,
                        "best": row["metric"],
                        "r": row["raw"],
                        "ratings' reliability": row["reliability"],
                        "r, corrected": row["corrected"],
                        "items": row["n"],
                        "note": row["note"],
                    }
                )
        return html.table(pd.DataFrame(rows)) if rows else Markdown("*No metric has a value.*")

    def replacing(self, epsilon: float = 0.1) -> html.Html | Markdown:
        """The alternative annotator test of every metric on every data set with persons."""
        rows = []
        for data in self.rated:
            try:
                found = alternative.alternative(
                    data, self.scores(data), self.dimension, epsilon, seed=self.seed
                )
            except TstmetaError as reason:
                rows.append({"data": data.name, "metric": "–", "verdict": str(reason)})
                continue
            # the flat line, whoever passes, and the best of the others
            keep = found[found["verdict"].str.startswith("passes")]
            keep = pd.concat([found.iloc[:1], keep, _best(found)]).drop_duplicates("metric")
            rows += keep.assign(data=data.name).to_dict("records")
        if not rows:
            return _no_ratings(self.dimension)
        columns = ["data", "metric", "verdict", "omega", "rho", "beaten", "tested", "n", "note"]
        table = pd.DataFrame(rows).reindex(columns=columns)
        for name in ("beaten", "tested", "n"):
            table[name] = [_count(value) for value in table[name]]
        names = {"omega": "raters beaten", "rho": "as close or closer", "beaten": "of them"}
        return html.table(table.fillna({"note": ""}).drop(columns="beaten").rename(columns=names))


def _best(found: pd.DataFrame) -> pd.DataFrame:
    """The metric with the highest advantage probability, the flat line apart."""
    others = found.iloc[1:].dropna(subset="rho")
    return others.loc[[others["rho"].idxmax()]] if len(others) else others


def _no_ratings(dimension: str) -> Markdown:
    return Markdown(f"*None of the data sets shown has ratings of {dimension}.*")


def _count(value: float) -> str:
    return "–" if pd.isna(value) else f"{value:,.4g}"


@_styled
def _ceilings(rows: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(rows["data"]))
    most = int(rows.groupby("data").size().max())
    figure, axes = _panels(len(names), 3.1, 1.0 + 0.2 * most, most=2)
    for axis, name in zip(axes, names, strict=True):
        own = rows[rows["data"] == name]
        person, metrics = own.iloc[0], own.iloc[1:].sort_values("value", ascending=False)
        place = range(len(metrics))
        axis.axvline(0, color=GREY, lw=0.8)
        axis.axvline(person["value"], color=ORANGE, lw=2)
        axis.hlines(place, 0, metrics["value"], color=BLUE, lw=1, alpha=0.5)
        axis.plot(metrics["value"], place, "o", color=BLUE, ms=4.5)
        axis.set_yticks(place, metrics["metric"], fontsize=8)
        axis.set_ylim(len(metrics) - 0.4, -0.6)
        axis.set_xlim(min(-0.3, metrics["value"].min() - 0.05), 1)
        axis.set_title(f"{name}\n{person['metric']}: {person['value']:.2f}", fontsize=9)
        axis.grid(visible=False, axis="y")
    figure.supxlabel("Pearson's r with the mean of the other raters", fontsize=9)
    return figure
