"""What the notebooks call: each function makes one table, figure or sentence from the data at hand.

With real data on the machine the pages show real ratings; without, the contrast set, and they say
which.  Sentences take their numbers from results, so that they change with the parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from ..data import Dataset
from ..metrics import families, get, resolve
from ..schema import TstmetaError
from ..scoring import HUMAN_STYLE
from . import demonstration, figures, html
from .bench import LEVELS, Bench
from .figures import Picture
from .ledger import ledger
from .material import upright
from .published import cells, matches
from .tables import HUMAN, evaluate, truth

#: Rated data sets of chapter 1, in the order of pauli2025 and then the others.
RATED = (
    "lai@pauli2025",
    "mir",
    "alva@asset",
    "lens@simpda_2022",
    "ziegen_editing",
    "li2018@yelp-rated",
    "pauli",
)
PROFILES = ("embedded", "real")
#: Our set with the design of the published one: the two cells that tie style to content.
TIED = "contrast@tied"
#: Chapter 2: output of systems, and what people wrote.
SYSTEMS = ("mir", "lai@pauli2025-systems", "alva@asset", "lens@simpda_2022")
REFERENCES = ("lai@pauli2025-references", "lens@simpda_2022")


def present(bench: Bench, wanted: Sequence[str]) -> list[Dataset]:
    """The wanted data sets that are on this machine, as loaded."""
    return [bench.dataset(name) for name in wanted if bench.has(name)]


def chosen(bench: Bench, dataset: str) -> list[Dataset]:
    """Data sets of a parameter: a name, or ``auto`` for the rated ones here (else contrast)."""
    if dataset == "auto":
        return present(bench, RATED) or [bench.dataset("contrast")]
    return [bench.dataset(dataset)]


def which(datasets: Sequence[Dataset]) -> Markdown:
    """Say whether the page rests on ratings by people, on the contrast set, or on neither."""
    rated = [data.name for data in datasets if len(data.ratings)]
    if rated:
        listed = ", ".join(f"`{name}`" for name in rated)
        return Markdown(f"**This page was built with real human ratings**: {listed}.")
    contrast = "It shows the contrast set, whose labels hold by construction."
    shown = contrast if datasets else "What rests on ratings is left out."
    return Markdown(
        "**This page was built without human ratings**: none of the rated data sets was on the"
        f" machine. {shown} Get the ratings with `tstmeta data fetch --all`, then build again."
    )


_NO_RATINGS = Markdown("*Nothing to draw: these data sets have no ratings.*")


# ------------------------------------------------------------------------- printed beside ours


_LABELS = {
    "annotators_per_sample": "ratings an item",
    "n_systems": "systems",
    "style_ge3_percent": "style 3 or more, %",
}


def printed(bench: Bench, paper: str, table: str, rows: str, columns: str) -> html.Html:
    """A table of a paper: ours in bold, the printed number in italics, a mark for the status.

    Args:
        rows: column of cells.csv that makes the rows; ``metric`` shows the basis too.
        columns: column of cells.csv that makes the columns.
    """
    found = ledger(paper, table, bench).set_index("cell")
    lines = []
    for cell in cells():
        if (cell.paper, cell.table) != (paper, table) or cell.statistic == "pvalue":
            continue
        entry = found.loc[cell.cell]
        row, column = getattr(cell, rows), getattr(cell, columns)
        key = cell.cell.split(".")[2]
        if rows == "metric" and key.startswith(("s-", "r-")):
            row = f"{key[0].upper()}-{row}"
        if cell.statistic == "mean_rank":
            column = "mean rank"
        about = f"n = {entry['n']}; {entry['status']}; {entry['reason']}; {entry['signature']}"
        # one more decimal where the printed number was reached by rounding twice
        twice = entry["status"] == "match" and not matches(entry["ours"], cell)
        shown = html.status_cell(
            entry["ours"], cell.printed, entry["status"], about, cell.decimals + twice
        )
        label = _LABELS.get(column, column)
        lines.append({"row": escape(row), "column": label, "cell": shown})
    grid = html.pivot(pd.DataFrame(lines), ["row"], "column", "cell")
    grid = grid.rename(columns={"row": ""})
    legend = " · ".join(f"{mark} {words}" for mark, words in html.STATUS.values() if mark)
    made = html.table(grid, dict.fromkeys(grid.columns, str))
    note = f"<p class='tst-legend'><b>ours</b> · <i>published</i> · {escape(legend)}</p>"
    return html.Html(made.text + note)


# --------------------------------------------------------------------------------- chapter one


def overview(datasets: Sequence[Dataset]) -> html.Html:
    """Counts of the data sets shown: items, sources, systems, dimensions, ratings, scale."""
    rows = []
    for data in datasets:
        each = data.ratings.groupby(["item_id", "dimension"], observed=True).size()
        scale = {f"{low:g}–{high:g}" for low, high in data.card.scale.values()}
        rows.append(
            {
                "data set": data.name,
                "items": len(data.items),
                "sources": data.items["source_id"].nunique(),
                "systems": data.items.loc[data.items["system"] != "", "system"].nunique(),
                "rated": ", ".join(data.dimensions) or "by construction",
                "ratings an item": f"{each.median():g}" if len(each) else "–",
                "scale": ", ".join(sorted(scale)).replace("–", "\u2060–\u2060") or "–",
                "mean words": float(data.items["output"].str.split().str.len().mean()),
            }
        )
    return html.table(pd.DataFrame(rows), {"mean words": lambda value: f"{value:.1f}"})


def agreement_of_raters(datasets: Sequence[Dataset]) -> html.Html | Markdown:
    """Krippendorff's alpha by dimension; means alone say nothing of agreement."""
    rows = []
    for data in datasets:
        for dimension in data.dimensions:
            matrix = data.raters(dimension)
            ordinal, interval = (stats.alpha(matrix, level) for level in ("ordinal", "interval"))
            rows.append(
                {
                    "data set": data.name,
                    "dimension": dimension,
                    "alpha (ordinal)": ordinal.value,
                    "alpha (interval)": interval.value,
                    "items": ordinal.n,
                    "raters": ordinal.raters,
                    "note": ordinal.reason,
                }
            )
    return html.table(pd.DataFrame(rows)) if rows else _NO_RATINGS


def spread(datasets: Sequence[Dataset]) -> Picture | Markdown:
    """How ratings are spread, see :func:`figures.rating_distributions`."""
    rated = [data for data in datasets if data.dimensions]
    return Picture(figures.rating_distributions(rated)) if rated else _NO_RATINGS


def style_content(datasets: Sequence[Dataset], seed: int = 0) -> Picture | Markdown:
    """Style against content, see :func:`figures.style_content`."""
    rated = [data for data in datasets if {"style", "content"} <= set(data.dimensions)]
    return Picture(figures.style_content(rated, seed)) if rated else _NO_RATINGS


def design(dataset: Dataset) -> html.Html:
    """How many rewrites a set has for each style shift and content error."""
    table = pd.crosstab(dataset.label("shift"), dataset.label("error"))
    columns = [name for name in ("none", "substitution", "deletion", "insertion") if name in table]
    table = table[columns].rename(columns={"none": "content kept"})
    return html.table(table.rename_axis("style shift").reset_index())


def quartet(dataset: Dataset, source_id: str) -> html.Html:
    """A source of the contrast set with its four rewrites, the error marked."""
    items = dataset.items
    return html.examples(dataset, list(items.loc[items["source_id"] == source_id, "item_id"]))


# --------------------------------------------------------------------------------- chapter two


def allowed(wanted: Sequence[str], profile: str) -> list[str]:
    """The wanted metrics (families expanded) that a profile lets run.

    ``embedded`` takes metrics that need nothing from a model hub, ``real`` takes all.

    Raises:
        TstmetaError: an unknown profile.
    """
    if profile not in PROFILES:
        raise TstmetaError(f"profile is {profile!r}; use one of {', '.join(PROFILES)}")
    names = resolve([name for name in wanted if name != HUMAN_STYLE], profile)
    return [
        name for name in names if profile == "real" or get(name, imports=True).profile == "embedded"
    ]


def _written(dataset: Dataset, by_people: bool) -> Dataset:
    """The rewrites that people (or that systems) wrote; the name says so where both are there."""
    human = dataset.items["is_reference"]
    if human.all() or not human.any():
        return dataset
    return dataset.where(
        human == by_people, f"{dataset.name} ({'people' if by_people else 'systems'})"
    )


class Parts:
    """The data of chapter 2 by section, for the parameters of its notebook.

    ``systems``, ``references``, ``constructed`` and ``referenced`` (those with references) are
    lists of data sets, empty where nothing of the kind is here; ``contrast`` is always there,
    and ``both_ways`` has it with the cells of the published design and with all four.
    """

    def __init__(
        self,
        bench: Bench,
        dataset: str,
        metrics: Sequence[str],
        statistic: str,
        level: str,
        profile: str = "embedded",
    ):
        if level not in LEVELS:
            raise TstmetaError(f"level is {level!r}; use one of {', '.join(LEVELS)}")
        if statistic not in stats.STATISTICS:
            known = ", ".join(stats.STATISTICS)
            raise TstmetaError(f"statistic is {statistic!r}; use one of {known}")
        self.bench, self.statistic, self.level = bench, statistic, level
        self.metrics = [*allowed(metrics, profile), "sentinel", HUMAN_STYLE]
        self.contrast = bench.dataset("contrast")
        if dataset == "auto":
            self.systems = [_written(data, False) for data in present(bench, SYSTEMS)]
            self.references = [_written(data, True) for data in present(bench, REFERENCES)]
            here = bench.has("pauli")
            self.constructed = by_task(bench, "pauli") if here else [bench.dataset(TIED)]
        else:
            named = bench.dataset(dataset)
            human = bool(named.items["is_reference"].all())
            built_for_it = bool((named.label("shift") != "").any())
            self.systems = [] if human or built_for_it else [named]
            self.references = [named] if human else []
            self.constructed = by_task(bench, dataset) if built_for_it else [self.contrast]
        self.both_ways = [bench.dataset(TIED), self.contrast]
        self.all = [*self.systems, *self.references, self.constructed[0]]
        self.referenced = [
            data
            for data in [*self.systems, *self.constructed]
            if any(data.items["references"].str.len() > 0)
        ]

    def compare(self, section: str, bases: Sequence[str] = ("source", "none")) -> pd.DataFrame:
        """Agreement with content on the data sets of a section; no rows where there are none."""
        return compare(
            self.bench, getattr(self, section), self.metrics, bases, self.statistic, self.level
        )


def compare(
    bench: Bench,
    datasets: Sequence[Dataset],
    metrics: Sequence[str],
    bases: Sequence[str] = ("source",),
    statistic: str = "pearson",
    level: str = "pooled",
    dimension: str = "content",
) -> pd.DataFrame:
    """Agreement of every metric with one dimension on every data set, with n, p and signature.

    Where less is better the sign is turned, and the name has an arrow.
    """
    tables = []
    for data in datasets:
        scores = upright(bench.table(data, metrics, bases))
        if not len(scores):
            continue
        rows = evaluate(data, scores, dimensions=[dimension], statistic=statistic, level=level)
        tables.append(rows.assign(data=data.name))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


_NOTHING = Markdown("*Nothing to compare: no data of this kind is on the machine.*")


def agreement_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`compare` as a grid: metric by data set, n and signature on pointing."""
    if rows.empty:
        return _NOTHING
    shown = rows.assign(cell=[_value_cell(row) for row in rows.to_dict("records")])
    sizes = rows.groupby("data", sort=False)["n"].max()
    shown["data"] = [f"{name}\nn = {sizes[name]:,}" for name in rows["data"]]
    grid = html.pivot(shown, ["metric", "basis"], "data", "cell")
    raw = [name for name in grid.columns if name not in ("metric", "basis")]
    return html.table(grid, dict.fromkeys(raw, str))


def _value_cell(row: dict) -> str:
    about = f"n = {row['n']}, p = {row['p']:.2g}; {row['note']} {row['signature']}"
    return f"<span title='{escape(about, quote=True)}'>{html.signed(row['value'])}</span>"


def heatmap(rows: pd.DataFrame, statistic: str = "pearson") -> Picture | Markdown:
    """Rows of :func:`compare` as a heat map."""
    if rows.empty:
        return html.SILENCE
    rule = next((name for name in rows["metric"] if name in _sentinels()), "")
    return Picture(figures.agreement_heatmap(rows, stats.STATISTICS[statistic].label, rule))


def oracle(bench: Bench, dataset: Dataset) -> Markdown:
    """How much of the content verdict could be had by looking at style alone."""
    human, against = truth(dataset, "content")
    style, _ = truth(dataset, "style")
    found = stats.pearson(human, style)
    what = "rating" if against == HUMAN else "label by construction"
    return Markdown(
        f"On `{dataset.name}` the style {what} alone, offered as if it were a content metric,"
        f" agrees with the content {what} at r = {html.signed(found.value)} (n = {found.n:,})."
    )


def strongest(rows: pd.DataFrame) -> Markdown:
    """Name the best and the worst metric of each data set, sentinels and demonstrations apart."""
    if rows.empty:
        return html.SILENCE
    lines = []
    apart = {*_sentinels(), *demonstration.shown(list(rows["metric"].unique()))}
    for name, group in rows[~rows["metric"].isin(apart)].groupby("data", sort=False):
        ranked = group.dropna(subset="value").sort_values("value")
        if len(ranked) < 2:
            continue
        low, high = ranked.iloc[0], ranked.iloc[-1]
        lines.append(
            f"- `{name}`: from {html.signed(low['value'])} (`{low['metric']}`) to"
            f" {html.signed(high['value'])} (`{high['metric']}`), n = {int(high['n']):,}."
        )
    return Markdown("\n".join(lines))


def _sentinels() -> set[str]:
    return {*families().get("sentinel", []), HUMAN_STYLE}


def cells_figure(bench: Bench, dataset: Dataset, metrics: Sequence[str]) -> Picture:
    """See :func:`figures.cells`, basis source."""
    scores = bench.table(dataset, metrics, ["source"])
    return Picture(figures.cells(dataset, scores, [(name, "source") for name in metrics]))


def tasks_figure(bench: Bench, dataset: Dataset, metric: str, seed: int = 0) -> Picture:
    """See :func:`figures.by_task`, basis source."""
    scores = bench.table(dataset, [metric], ["source"])
    return Picture(figures.by_task(dataset, scores, metric, seed=seed))


def by_task(bench: Bench, dataset: str) -> list[Dataset]:
    """A data set and its tasks, each as a data set of its own; a subset stands for itself."""
    whole = bench.dataset(dataset)
    label = whole.label("task")
    tasks = [name for name in dict.fromkeys(label) if name]
    if "@" in dataset or len(tasks) < 2:
        return [whole]
    return [whole, *(whole.where(label == task, f"{whole.name}@{task}") for task in tasks)]


def share_kept_above(bench: Bench, dataset: Dataset, metric: str) -> Markdown:
    """On the 2 x 2: how often a metric prefers the faithful rewrite to the one with an error."""
    scores = bench.table(dataset, [metric], ["source"]).set_index("item_id")["value"]
    items = dataset.items.assign(value=scores.reindex(dataset.items["item_id"]).to_numpy())
    grid = items.pivot_table(index="source_id", columns="system", values="value")
    pairs = {
        "a light rewrite that keeps the content above the same one with an error": (
            "light",
            "light-error",
        ),
        "a strong rewrite that keeps the content above a light one with an error": (
            "strong",
            "light-error",
        ),
    }
    lines = []
    for words, (good, bad) in pairs.items():
        difference = (grid[good] - grid[bad]).dropna()
        share = float(np.mean((difference > 0) + 0.5 * (difference == 0)))
        lines.append(f"- `{metric}` puts {words} in {share:.0%} of {len(difference):,} sources.")
    return Markdown("\n".join(lines))
