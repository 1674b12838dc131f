"""Hybrids judged on what they were fitted on, and on what they were not (mukherjee2025, Table 5).

A hybrid is chosen and weighed by ratings.  Judged on the same ratings it cannot lose: of many
metrics the ones that happen to agree are taken.  So each stands here twice, fitted on all ratings
and on those of other sources, beside the best single metric chosen in the same two ways, and beside
all metrics with equal weights, which look at no rating.  Metrics that are pure noise show how much
of the difference is chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from .. import stats
from ..combine import Combination, Settings, hybrid
from ..combine.folds import folds
from ..combine.hybrids import Kind, fold_by_fold, ratings_of
from ..combine.parts import Parts
from ..data import Dataset
from ..schema import TstmetaError
from ..stats import Setting
from ..stats.intervals import difference, of_resample
from . import html
from .bench import Bench
from .figures import BLUE, GREY, ORANGE, Picture, _panels, _styled
from .material import DISTANCES
from .matrices import matrices
from .overall import limits
from .tables import judged

INSIDE, OUTSIDE, NOTHING = "all ratings", "other sources", "nothing"
SINGLE, EQUAL = "best single metric", "all, equal weights"
HYBRIDS: dict[str, Kind] = {"Hybrid-Simulation": "simulation", "Hybrid-Learned": "learned"}
_NOTHING = Markdown("*No data set with ratings of this dimension is on the machine.*")


class Way(NamedTuple):
    """One combination in one way of fitting."""

    name: str
    fitted: str
    made: Combination


def asked(settings: Settings) -> list[tuple[str, str, Kind, Settings]]:
    """Name, what it is fitted on, kind and settings of every combination.

    The best single metric is a hybrid of one.
    """
    kinds: list[tuple[str, Kind, Settings]] = [
        (SINGLE, "simulation", settings._replace(top=1)),
        *((name, kind, settings) for name, kind in HYBRIDS.items()),
    ]
    found = [
        (name, fitted, kind, how._replace(in_sample=fitted == INSIDE))
        for name, kind, how in kinds
        for fitted in (INSIDE, OUTSIDE)
    ]
    return [*found, (EQUAL, NOTHING, "equal", settings._replace(in_sample=False))]


def ways(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str,
    settings: Settings = Settings(),  # noqa: B008  (a tuple: nothing can change it)
) -> list[Way]:
    """Every combination of the metrics of a ``scores`` table, fitted inside and outside.

    Raises:
        TstmetaError: what :func:`tstmeta.combine.hybrid` raises.
    """
    return [
        Way(name, fitted, hybrid(dataset, scores, dimension, kind, how, lower=DISTANCES))
        for name, fitted, kind, how in asked(settings)
    ]


class Compared(NamedTuple):
    """One data set: agreement of every way, and how much better than the best single metric.

    Attributes:
        dataset, dimension, metrics: what was combined, for what.
        estimand: what the intervals are about.
        rows: one row a way: name, fitted, value, low, high, more, more_low, more_high (value minus
            that of the best single metric chosen on other sources), n, chosen (metrics with their
            mean weight over folds), signature.
        made: the combinations.
    """

    dataset: str
    dimension: str
    metrics: tuple[str, ...]
    estimand: str
    rows: pd.DataFrame
    made: list[Way]


def inside_folds(sources: Sequence[str], settings: Settings) -> Setting:
    """Agreement over all items after both sides were standardised within the folds that judge.

    Two folds may have chosen other metrics, whose values lie elsewhere.  Pooled, that alone costs
    agreement, and a fit that chooses the same everywhere would look better for no reason.
    """
    own = folds(np.asarray(sources), settings.outer, settings.seed)
    return Setting(settings.statistic, "within-task", own)


def compare(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    settings: Settings = Settings(),  # noqa: B008
    *,
    draws: int = 1000,
    seed: int = 0,
) -> Compared:
    """Hybrids against the best single metric, with intervals over sources.

    Agreement is that of :func:`inside_folds`, for all alike.  The intervals draw sources again and
    keep what was fitted; they do not hold how the fit would change with other ratings.

    Args:
        scores: ``scores`` of the metrics to combine; only those that claim ``dimension`` count.
        settings: of the hybrids; its statistic is the one that is shown.

    Raises:
        TstmetaError: nobody rated the dimension, or too few metrics, items or sources.
    """
    made = ways(dataset, scores, dimension, settings)
    table = pd.concat([one.made.scores for one in made], ignore_index=True)
    found = matrices(dataset, table, dimension)
    plan, setting = found.plan("sources", draws), inside_folds(found.layout.sources, settings)
    drawn = stats.resample(found.human, found.metrics, setting, plan, np.random.default_rng(seed))
    base = next(k for k, one in enumerate(made) if (one.name, one.fitted) == (SINGLE, OUTSIDE))
    counted = np.isfinite(found.human) & np.isfinite(found.metrics)
    rows = []
    for k, (one, interval) in enumerate(zip(made, of_resample(drawn), strict=True)):
        value = float(drawn.estimates[k])
        more, both = math.nan, (math.nan, math.nan)
        if k != base:
            gap = difference(drawn, k, base)
            more, both = value - float(drawn.estimates[base]), (gap.low, gap.high)
        head = (one.name, one.fitted, value, interval.low, interval.high, more, *both)
        tail = (int(counted[k].sum()), chosen(one.made), one.made.scores["signature"].iloc[0])
        rows.append((*head, *tail))
    columns = ["name", "fitted", "value", "low", "high", "more", "more_low", "more_high"]
    frame = pd.DataFrame(rows, columns=[*columns, "n", "chosen", "signature"])
    own = scores.loc[scores["dimension"] == dimension, "metric"]
    names = tuple(dict.fromkeys(own))
    return Compared(dataset.name, dimension, names, plan.estimand, frame, made)


def chosen(made: Combination) -> str:
    """Metrics with their mean weight over folds, the heaviest first."""
    total: dict[str, float] = {}
    for fit in made.fits:
        for name, weight in fit.found.items():
            total[name] = total.get(name, 0.0) + weight / len(made.fits)
    order = sorted(total.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {weight:.2f}" for name, weight in order)


class Comparisons(list[Compared]):
    """Comparisons of data sets; ``left_out`` has the reason for each that could not be made."""

    def __init__(self, found: Sequence[Compared] = ()):
        super().__init__(found)
        self.left_out: dict[str, str] = {}


def comparisons(
    bench: Bench,
    datasets: Sequence[Dataset],
    metrics: Sequence[str],
    dimension: str = "content",
    settings: Settings = Settings(),  # noqa: B008
    *,
    draws: int = 1000,
    seed: int = 0,
) -> Comparisons:
    """:func:`compare` on each data set where people rated the dimension.

    Metrics without a value for every rated item (a model that is not here) are left out.
    """
    found = Comparisons()
    for data in datasets:
        if dimension not in judged(data) or dimension not in data.dimensions:
            found.left_out[data.name] = f"nobody rated {dimension}"
            continue
        try:
            scores = usable(data, bench.table(data, metrics, ["source", "none"]), dimension)
            found.append(compare(data, scores, dimension, settings, draws=draws, seed=seed))
        except TstmetaError as reason:
            found.left_out[data.name] = str(reason)
    return found


def usable(dataset: Dataset, scores: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """The scores without metrics that lack a value for a rated item."""
    rated = dataset.means[dimension].dropna().index
    here = scores[scores["item_id"].isin(rated)]
    full = here.groupby("signature", sort=False)["value"].transform("count") == len(rated)
    return scores[scores["signature"].isin(here.loc[full, "signature"])]


# ------------------------------------------------------------------------------------ noise


def noise(
    dataset: Dataset,
    dimension: str = "content",
    *,
    metrics: int = 10,
    sources: int | None = None,
    replicates: int = 10,
    settings: Settings = Settings(trees=25),  # noqa: B008
    seed: int = 0,
) -> pd.DataFrame:
    """Agreement of hybrids of metrics that know nothing, with the ratings of a data set.

    Each replicate draws ``metrics`` columns of normal noise (and ``sources`` sources, where fewer
    than all are asked for).  Fitted on all ratings, what chooses by agreement is above zero; fitted
    on other sources nothing is.  The learned hybrid gains little even inside: importances know no
    direction, so it takes noise that happens to disagree as readily as noise that agrees.

    Returns:
        One row a way: name, fitted, mean, low, high (of the middle 95 % of replicates), error (of
        the mean), sources, items (on average), metrics, replicates.
    """
    people = ratings_of(dataset, dimension)
    origin = dataset.items["source_id"].to_numpy(str)
    names = np.unique(origin)
    count = len(names) if sources is None else min(sources, len(names))
    values: dict[tuple[str, str], list[float]] = {}
    items = 0
    for replicate in range(replicates):
        rng = np.random.default_rng([seed, replicate])
        kept = np.isin(origin, rng.choice(names, count, replace=False))
        items += int(kept.sum())
        parts = bare_parts(origin[kept], rng.normal(size=(metrics, int(kept.sum()))))
        for name, fitted, kind, how in asked(settings._replace(seed=replicate)):
            made, _, _ = fold_by_fold(parts, people[kept], kind, how)
            setting = inside_folds(origin[kept].tolist(), how)
            found = stats.correlate(people[kept][:, None], made[:, None], setting).value
            values.setdefault((name, fitted), []).append(found)
    rows = []
    for (name, fitted), each in values.items():
        low, high = np.nanquantile(each, [0.025, 0.975])
        error = float(np.nanstd(each, ddof=1) / math.sqrt(replicates))
        head = (name, fitted, float(np.nanmean(each)), float(low), float(high), error)
        rows.append((*head, count, items / replicates, metrics, replicates))
    columns = ["name", "fitted", "mean", "low", "high", "error", "sources", "items", "metrics"]
    return pd.DataFrame(rows, columns=[*columns, "replicates"])


def bare_parts(sources: np.ndarray, matrix: np.ndarray) -> Parts:
    """Metrics that are values ``[M, N]`` and nothing else, on items of these sources ``[N]``."""
    names = tuple(f"noise-{k}" for k in range(len(matrix)))
    return Parts(
        names,
        ("none",) * len(names),
        ("",) * len(names),
        names,
        np.zeros(len(names), dtype=bool),
        matrix,
        np.full(matrix.shape, "ok"),
        np.arange(len(sources)).astype(str),
        sources,
        "noise",
    )


# -------------------------------------------------------------------------- tables, pictures


def tables(found: Comparisons) -> html.Html | Markdown:
    """One table a data set; those left out stand below with the reason."""
    if not found and not found.left_out:
        return _NOTHING
    parts = [_table(one) for one in found]
    for name, reason in found.left_out.items():
        parts.append(
            f"<p><code>{html.breakable(name)}</code> is left out: {html.code(reason)}.</p>"
        )
    return html.Html("\n".join(parts))


def _table(one: Compared) -> str:
    rows = one.rows
    gap = rows.rename(columns={"more_low": "low", "more_high": "high", "low": "_", "high": "__"})
    shown = pd.DataFrame(
        {
            "combination": rows["name"],
            "fitted on": rows["fitted"],
            "agreement": [html.signed(value) for value in rows["value"]],
            "95% interval": limits(rows),
            "more than best single": [html.signed(value) for value in rows["more"]],
            "its 95% interval": limits(gap),
            "n": [f"{n:,}" for n in rows["n"]],
        }
    )
    what = (
        f"{one.dataset}: {one.dimension}, {len(one.metrics)} metrics, within folds; {one.estimand}"
    )
    return html.table(shown, caption=what).text + _weights(one)


def _weights(one: Compared) -> str:
    """What each combination is made of, behind a title."""
    shown = one.rows[["name", "fitted", "chosen"]]
    shown.columns = ["combination", "fitted on", "metrics and mean weights over folds"]
    return html.folded(
        f"What the combinations on {one.dataset} are made of", html.table(shown).text
    )


def noise_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`noise`."""
    shown = pd.DataFrame(
        {
            "combination of noise": rows["name"],
            "fitted on": rows["fitted"],
            "mean agreement": [html.signed(value) for value in rows["mean"]],
            "middle 95% of draws": limits(rows),
        }
    )
    first = rows.iloc[0]
    caption = (
        f"{first['metrics']} metrics of noise, {first['sources']} sources,"
        f" {first['items']:,.0f} rewrites, {first['replicates']} draws"
    )
    return html.table(shown, caption=caption)


def picture(found: Sequence[Compared]) -> Picture | Markdown:
    """Agreement with its interval: orange fitted on all ratings, blue on other sources."""
    return Picture(_picture(found)) if found else _NOTHING


_COLOURS = {INSIDE: ORANGE, OUTSIDE: BLUE, NOTHING: GREY}
_MARKERS = {INSIDE: "o", OUTSIDE: "s", NOTHING: "D"}


@_styled
def _picture(found: Sequence[Compared]) -> Figure:
    figure, axes = _panels(len(found), 3.7, 2.2, most=2)
    for axis, one in zip(axes, found, strict=True):
        names = list(dict.fromkeys(one.rows["name"]))
        for row in one.rows.itertuples():
            shift = {INSIDE: -0.13, OUTSIDE: 0.13}.get(row.fitted, 0.0)
            y, colour = names.index(row.name) + shift, _COLOURS[row.fitted]
            axis.plot([row.low, row.high], [y, y], color=colour, lw=1.6)
            axis.plot([row.value], [y], _MARKERS[row.fitted], color=colour, label=row.fitted)
        axis.set_yticks(range(len(names)), names)
        axis.invert_yaxis()
        axis.set_title(one.dataset)
        axis.set_xlabel(f"agreement on {one.dimension}")
    handles, labels = axes[0].get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    words = [f"fitted on {name}" for name in unique]
    columns = 3 if len(found) > 1 else 1
    figure.legend(unique.values(), words, loc="outside lower center", ncols=columns)
    return figure
