"""What notebook 04 calls: metrics of style strength against people, and what else moves them.

A rewrite in another style differs from its source.  So whatever grows with the amount of change
agrees with people on style to a degree, without knowing what a style is.  Such rules stand beside
the metrics here: metrics of similarity turned round (``−bleu``), length, copied words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import data as datasets
from .. import stats
from ..data import Dataset
from ..metrics import lower_is_better
from ..schema import TstmetaError
from ..stats.matrices import Level
from . import figures, html, style_orders
from .analysis import Analysis, analyse
from .bench import Bench
from .certainty import Analyses
from .chapters import allowed, present
from .figures import Picture
from .material import Material, bounds, material
from .published import Cell, cells, names
from .tables import evaluate, judged

#: Data sets with ratings of style, those of pauli2025's Table 6 first.
RATED = ("mir", "lai@pauli2025", "pauli", "alva@asset")
#: Sets of ours whose style holds by construction.
BUILT = ("contrast", "world")
PAPER, TABLE = "pauli2025", "6"
#: What stands before the name of a metric that is turned round.
TURNED = "−"
#: Rules that look at the amount of change alone.
RULERS = ("copy-rate", "length-ratio")


class Strength:
    """The chapter for the parameters of its notebook.

    Attributes:
        metrics: metrics of style strength that are shown.
        similar: metrics of similarity that are turned round.
        rated, built: data sets with ratings of style, and those where it holds by construction.
        all: both.
        contrast, world: our sets with four cells; the second may be None.
    """

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        metrics: Sequence[str],
        similar: Sequence[str],
        *,
        statistic: str = "pearson",
        level: Level = "pooled",
        draws: int = 500,
        seed: int = 0,
        profile: str = "embedded",
    ):
        self.bench, self.statistic, self.level = bench, statistic, level
        self.draws, self.seed = draws, seed
        self.metrics, self.similar = allowed(metrics, profile), allowed(similar, profile)
        for name in self.similar:
            if lower_is_better(name, "source"):
                raise TstmetaError(f"{name} grows with change already: leave it out of `similar`")
        known = set(datasets.names())
        own = [name for name in BUILT if name in known]
        if dataset == "auto":
            self.rated = present(bench, RATED)
            self.built = present(bench, own)
        else:
            named = bench.dataset(dataset)
            self.rated = [named] if "style" in named.dimensions else []
            self.built = [] if self.rated else [named]
        self.all = [*self.rated, *self.built]
        self.contrast, *others = present(bench, own)
        self.world = others[0] if others else None
        self._tables: dict[str, pd.DataFrame] = {}

    def scores(self, data: Dataset) -> pd.DataFrame:
        """Metrics of style, released ones among them, similarity turned round, and sentinels."""
        if data.name not in self._tables:
            table = self.bench.table
            own = [table(data, self.metrics, ["source", "none"])] if self.metrics else []
            released = data.scores[data.scores["dimension"] == "style"]
            similar = [_turned(table(data, self.similar, ["source"]))] if self.similar else []
            sentinels = table(data, ["sentinel"], ["source", "none"])
            parts = [one for one in (*own, released, *similar, sentinels) if len(one)]
            whole = pd.concat(parts, ignore_index=True)
            # a sentinel may have been asked for as a metric
            whole = whole.drop_duplicates(["item_id", "metric", "basis"], ignore_index=True)
            self._tables[data.name] = whole
        return self._tables[data.name]

    # ---------------------------------------------------------------------------- agreement

    def analyses(self) -> Analyses:
        """Every metric against style, one analysis a data set; what cannot be asked is left out."""
        found = Analyses()
        for data in self.all:
            if "style" not in judged(data):
                found.left_out[data.name] = "nobody judged style"
                continue
            try:
                one = self._analysed(data)
            except TstmetaError as reason:
                found.left_out[data.name] = str(reason)
                continue
            if one.rows["value"].notna().any():
                found.append(one)
            else:
                found.left_out[data.name] = "no metric has a value"
        return found

    def _analysed(self, data: Dataset) -> Analysis:
        return analyse(
            data,
            self.scores(data),
            dimension="style",
            statistic=self.statistic,
            level=self.level,
            draws=self.draws,
            seed=self.seed,
        )

    def beside_change(self, found: Sequence[Analysis]) -> html.Html | Markdown:
        """Each metric of style beside the rule of change that agrees best on that data set.

        Which rule is best is decided on all data, which is a little too kind to the rules.
        """
        rows = []
        for one in found:
            rule = self._best_rule(one)
            for name in self.metrics:
                i = _place(one, name)
                if i is None or rule is None:
                    continue
                gap = one.difference(i, rule)
                value, best = (float(one.rows["value"][at]) for at in (i, rule))
                rows.append(
                    {
                        "data set": one.dataset,
                        "metric": name,
                        one.label: html.signed(value),
                        "best rule of change": one.rows["metric"][rule],
                        "its value": html.signed(best),
                        "difference": html.signed(value - best),
                        "95% interval": _limits(gap.low, gap.high),
                    }
                )
        return html.table(pd.DataFrame(rows)) if rows else _NOTHING

    def _best_rule(self, one: Analysis) -> int | None:
        """The row of the rule with the highest value: similarity turned round, and length."""
        rules = [f"{TURNED}{name}" for name in self.similar] + ["length-ratio"]
        values = {
            i: float(one.rows["value"][i])
            for i in (_place(one, name) for name in rules)
            if i is not None and math.isfinite(one.rows["value"][i])
        }
        return max(values, key=values.__getitem__) if values else None

    def said(self, found: Sequence[Analysis]) -> Markdown:
        """On how many data sets a metric beats, equals or loses to the best rule of change."""
        lines = []
        for name in self.metrics:
            count = {"beats": 0, "loses to": 0, "cannot be told from": 0}
            for one in found:
                i, rule = _place(one, name), self._best_rule(one)
                if i is None or rule is None:
                    continue
                gap = one.difference(i, rule)
                word = "beats" if gap.low > 0 else "loses to" if gap.high < 0 else ""
                count[word or "cannot be told from"] += 1
            total = sum(count.values())
            if total:
                told = ", ".join(f"{words} the best rule on {n}" for words, n in count.items())
                sets = "data set" if total == 1 else "data sets"
                lines.append(f"- `{name}`, {total} {sets}: it {told}.")
        return Markdown("\n".join(lines)) if lines else _NOTHING

    def beside_printed(self) -> html.Html | Markdown:
        """Rules of change, computed here, below the printed rows of Table 6 on the same ratings.

        Pearson's r over all items, as printed.
        """
        ours, here = self._printed_data()
        lines = [
            {"": escape(one.metric), "data": one.dataset, "cell": f"<i>{escape(one.printed)}</i>"}
            for one in _printed()
            if one.dataset in {ours[data.name] for data in here}
        ]
        for data in here:
            for name, value in self._rules(data).items():
                cell = f"<b>{html.signed(value)}</b>"
                lines.append({"": escape(name), "data": ours[data.name], "cell": cell})
        if not here:
            return Markdown("*None of the rated sets of the printed table is here.*")
        grid = html.pivot(pd.DataFrame(lines), [""], "data", "cell")
        made = html.table(grid, dict.fromkeys(grid.columns, str))
        return html.Html(f"{made.text}<p class='tst-legend'><b>ours</b> · <i>published</i></p>")

    def printed_said(self) -> Markdown:
        """Which printed values of the likelihood method the best rule of change passes."""
        lines = []
        ours, here = self._printed_data()
        for data in here:
            rules = {name: one for name, one in self._rules(data).items() if math.isfinite(one)}
            own = [one for one in _printed() if one.dataset == ours[data.name]]
            method = [one for one in own if one.metric.startswith("Likelihood")]
            if not rules or not method:
                continue
            best = max(rules, key=rules.__getitem__)
            passed = sum(rules[best] > one.value for one in method)
            values = " and ".join(f"*{one.printed}* ({one.metric})" for one in method)
            lines.append(
                f"- `{data.name}`: `{best}` {html.signed(rules[best])} (ours); published {values}."
                f" The rule is above {passed} of the {len(method)}."
            )
        return Markdown("\n".join(lines)) if lines else _NOTHING

    def _printed_data(self) -> tuple[dict[str, str], list[Dataset]]:
        """Our name -> printed name of the sets of Table 6, and those that are here."""
        ours = {names(PAPER, "dataset")[one.dataset][0]: one.dataset for one in _printed()}
        return ours, [data for data in self.rated if data.name in ours]

    def _rules(self, data: Dataset) -> dict[str, float]:
        """Rules of change against style, Pearson's r over all items."""
        scores, found = self.scores(data), {}
        for name in [*(f"{TURNED}{one}" for one in self.similar), "length-ratio"]:
            own = scores[scores["metric"] == name]
            [found[name]] = evaluate(data, own, dimensions=["style"])["value"]
        return found

    def with_content(self) -> Markdown:
        """How far people's own content rating goes as a metric of style."""
        lines = []
        for data in self.rated:
            if "content" in data.dimensions:
                found = stats.pearson(data.means["style"], data.means["content"])
                lines.append(f"- `{data.name}`: {html.signed(found.value)} (n = {found.n:,})")
        return Markdown("\n".join(lines)) if lines else Markdown("*Nobody rated both here.*")

    # ------------------------------------------------------------------ by task and direction

    def by_part(self) -> html.Html | Markdown:
        """Agreement with style in each task or direction, one table a data set."""
        made = []
        for data in self.all:
            parts = _parts(data)
            if len(parts) < 2 or "style" not in judged(data):
                continue
            rows = pd.concat(
                [self._agreement(self.scores(data), part, words) for words, part in parts.items()]
            )
            grid = html.pivot(rows, ["metric"], "part", "cell")
            caption = f"{data.name}: {self._label} with style, level {self.level}"
            made.append(html.table(grid, dict.fromkeys(grid.columns, str), caption).text)
        if not made:
            return Markdown("*No data set here has several tasks or directions.*")
        return html.Html("".join(made))

    @property
    def _label(self) -> str:
        return stats.STATISTICS[self.statistic].label

    def _agreement(self, whole: pd.DataFrame, part: Dataset, words: str) -> pd.DataFrame:
        """Rows metric, part, cell of one task or direction."""
        scores = whole[whole["item_id"].isin(part.items["item_id"])]
        rows = evaluate(
            part, scores, dimensions=["style"], statistic=self.statistic, level=self.level
        )
        head = f"{words}\nn = {rows['n'].max():,}"
        cells = [html.signed(value) for value in rows["value"]]
        metric = rows["metric"].map(escape)
        return pd.DataFrame({"metric": metric, "part": head, "cell": cells})

    # ---------------------------------------------------------------------- strong and light

    def cells_figure(self, data: Dataset | None) -> Picture | Markdown:
        """Scores in the four cells, see :func:`figures.cells`: metrics, then rules of change."""
        if data is None:
            return _NOTHING
        rules = [*(f"{TURNED}{name}" for name in self.similar[:1]), *RULERS]
        shown = [(name, "source") for name in [*self.metrics, *rules]]
        return Picture(figures.cells(data, self.scores(data), shown))

    def orders(self, data: Dataset | None) -> html.Html | Markdown:
        """How often the rewrite with more style comes out above, and what an error does.

        Shares of sources, a tie counts half, with percentile intervals over draws of sources.
        """
        if data is None:
            return _NOTHING
        return style_orders.table(self._shares(data), data.name)

    def orders_said(self) -> Markdown:
        """The same in words, for both sets, metrics beside the best similarity turned round."""
        here = [data for data in (self.contrast, self.world) if data is not None]
        found = {data.name: self._shares(data) for data in here}
        return style_orders.said(found, self.metrics, TURNED)

    def _shares(self, data: Dataset) -> pd.DataFrame:
        shown = [*self.metrics, *(f"{TURNED}{name}" for name in self.similar), *RULERS]
        return style_orders.shares(data, self.scores(data), shown, self.draws, self.seed)

    # --------------------------------------------------------------------------- confounds

    def confounded(self) -> html.Html | Markdown:
        """What a metric of style shares with length and copying, and what is left without them.

        All are Pearson's r over items; the partial values hold copied words and length fixed.
        """
        rows = []
        for data in self.all:
            if "style" not in judged(data):
                continue
            rows += self._confounded(data)
        return html.table(pd.DataFrame(rows)) if rows else _NOTHING

    def _confounded(self, data: Dataset) -> list[dict[str, str]]:
        scores = self.scores(data)
        chosen = scores[scores["metric"].isin([*self.metrics, *RULERS])]
        made = material(data, chosen, "style", self.draws, self.seed)
        found = made.found
        place = {name: i for i, (name, _) in enumerate(found.names)}
        rulers = found.metrics[[place[name] for name in RULERS]]
        rows = []
        for name in self.metrics:
            if name not in place:
                continue
            own = found.metrics[[place[name]]]
            raw, left = (_partial(made, own, given) for given in (rulers[:0], rulers))
            row = {"data set": data.name, "metric": name, "r with style": raw}
            for ruler, values in zip(RULERS, rulers, strict=True):
                found_r = stats.partial(values, own, rulers[:0])[0]
                row[f"r with {ruler}"] = html.signed(float(found_r))
            rows.append(row | {"r with style, both held fixed": left})
        return rows


_NOTHING = Markdown("*Nothing to compare: no data of this kind is on the machine.*")


def _printed() -> list[Cell]:
    return [one for one in cells() if (one.paper, one.table) == (PAPER, TABLE)]


def _turned(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of similarity with their sign turned, offered as if they measured style."""
    return scores.assign(
        value=-scores["value"],
        metric=TURNED + scores["metric"].astype(str),
        dimension="style",
        signature="turned round|" + scores["signature"].astype(str),
    )


def _parts(data: Dataset) -> dict[str, Dataset]:
    """A data set by task, or by direction where it has several."""
    label = data.label("task")
    if label.nunique() < 2:
        label = pd.Series(data.items["direction"].to_numpy(str))
    values = label.to_numpy(str)
    return {
        name: data.where(pd.Series(values == name), f"{data.name} {name}")
        for name in dict.fromkeys(values.tolist())
        if name
    }


def _place(one: Analysis, name: str) -> int | None:
    rows = np.flatnonzero(one.rows["metric"] == name)
    return int(rows[0]) if len(rows) else None


def _partial(made: Material, own: np.ndarray, given: np.ndarray) -> str:
    """Partial correlation with style and its interval."""
    human = made.found.human
    value = stats.partial(human, own, given)
    drawn = stats.partial(human, own, given, draws=made.draws)
    low, high = bounds(drawn, value, made.units)
    return f"{html.signed(float(value[0]))} ({_limits(float(low[0]), float(high[0]))})"


def _limits(low: float, high: float) -> str:
    return "–" if not math.isfinite(low) else f"{html.signed(low)} to {html.signed(high)}"
