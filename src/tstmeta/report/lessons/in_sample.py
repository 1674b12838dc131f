"""Lesson 8: a combination judged on the data it was fitted on.

A small study draws some sources from many.  A hybrid of three metrics (mukherjee2025) is chosen and
weighed on the study's ratings, and judged in three ways: on the same ratings, in nested folds of
the study, and on the sources that were left behind.  Only the last is the truth, and only whoever
makes the world, or has ratings to spare, can look it up.  What stands above it is flattery.  It
grows with what there was to choose from and shrinks with what was rated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ... import stats
from ...combine import Settings
from ...combine.folds import folds
from ...combine.hybrids import LEAST, Kind, fit, fold_by_fold
from ...combine.orient import oriented
from ...combine.parts import CombineError, Parts, gather
from ...data import Dataset
from ...schema import TstmetaError
from ...stats import Setting
from .. import chapters, html
from ..bench import Bench
from ..figures import BLUE, GREY, ORANGE, _panels, _styled
from ..heatmaps import described
from ..hybrids import bare_parts
from ..tables import truth

OWN, FOLDS, NEW = "its own ratings", "nested folds", "new sources"
WAYS = (OWN, FOLDS, NEW)
#: What is changed: how many metrics there are to choose from, how many sources are rated.
CANDIDATES: tuple[int, ...] = (3, 6, 12, 24)
SOURCES: tuple[int, ...] = (10, 20, 40, 80, 160)
#: What stays: metrics while sources change, sources while metrics change.
MANY, FEW = 24, 20
#: Data sets with ratings of content; the first that is here is taken.
RATED = ("mir", "lai@pauli2025", "lens@simpda_2022", "pauli")
#: Share of the variance of ratings, metrics and noise that belongs to the source.
SHARE = 0.3
#: Fewer folds than elsewhere, so that the page is made in seconds.
HOW = Settings(outer=5, inner=3, trees=20)
_STYLES = {OWN: (ORANGE, "o", "-"), FOLDS: (BLUE, "s", "-"), NEW: (GREY, "D", "--")}


class Pool(NamedTuple):
    """Rated rewrites from which studies are drawn.

    Attributes:
        name: for a title.
        parts: the metrics that know something, on N items.
        people: ratings ``[N]``.
        best: place of the metric that agrees best with all of them; -1 where there is none.
    """

    name: str
    parts: Parts
    people: np.ndarray
    best: int

    @property
    def sources(self) -> int:
        """How many sources there are."""
        return len(np.unique(self.parts.sources))


# --------------------------------------------------------------------------------------- worlds


def world(
    knowing: int = 3,
    *,
    agreement: float = 0.4,
    alike: float = 0.7,
    sources: int = 1500,
    rewrites: int = 4,
    seed: int = 0,
) -> Pool:
    """A simulated world whose metrics agree with people to a known degree.

    Args:
        knowing: metrics that know something; all others of a study will be noise.
        agreement: Pearson's r of each of them with the ratings, below 1.
        alike: Pearson's r between any two of them, ``agreement`` squared at the least: metrics
            share their faults.

    Raises:
        TstmetaError: metrics that are less alike than their agreement makes them.
    """
    if not agreement**2 - 1e-9 <= alike <= 1:
        raise TstmetaError(
            f"metrics that agree with people at {agreement:g} are alike at {agreement**2:g} at the"
            f" least; alike = {alike:g} cannot be"
        )
    rng = np.random.default_rng([seed, knowing])
    origin = np.repeat([f"s{place:05}" for place in range(sources)], rewrites)
    people, shared, *own = _columns(origin, 2 + knowing, rng)
    # the faults of all metrics have a common part, so that the metrics are as alike as asked for
    common = max(0.0, alike - agreement**2) / (1 - agreement**2)
    faults = [math.sqrt(common) * shared + math.sqrt(1 - common) * one for one in own]
    rows = [agreement * people + math.sqrt(1 - agreement**2) * one for one in faults]
    parts = bare_parts(origin, np.array(rows).reshape(knowing, len(origin)))
    parts = parts._replace(names=tuple(f"metric-{place}" for place in range(knowing)))
    name = f"{knowing} metrics know something" if knowing else "noise only"
    return Pool(name, parts, people, _best(parts, people))


def _columns(origin: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Normal values of variance 1 ``[count, N]``; :data:`SHARE` of it belongs to the source."""
    _, place = np.unique(origin, return_inverse=True)
    made = np.empty((count, len(origin)))
    for row in range(count):
        of_source, of_rewrite = rng.normal(size=place.max() + 1), rng.normal(size=len(origin))
        made[row] = math.sqrt(SHARE) * of_source[place] + math.sqrt(1 - SHARE) * of_rewrite
    return made


def worlds(
    knowing: Sequence[int] = (0, 3),
    *,
    kind: Kind = "simulation",
    replicates: int = 24,
    seed: int = 0,
) -> pd.DataFrame:
    """:func:`sweep` in worlds with so many metrics that know something, one below the other."""
    made = [
        sweep(world(one, seed=seed), kind=kind, replicates=replicates, seed=seed) for one in knowing
    ]
    return pd.concat(made, ignore_index=True)


def _best(parts: Parts, people: np.ndarray) -> int:
    found = [_agreement(people, row) for row in oriented(parts.matrix, parts.lower)]
    return int(np.nanargmax(found)) if found else -1


def rated(
    bench: Bench, dataset: str, metrics: Sequence[str], dimension: str = "content"
) -> tuple[Dataset, Pool]:
    """A data set as a pool: the first rated one that is here (else the contrast set), or by name.

    Metrics without a value for every item that was judged are left out.

    Raises:
        TstmetaError: nobody judged the dimension, or no metric is left.
    """
    if dataset == "auto":
        data = (chapters.present(bench, RATED) or [bench.dataset("contrast")])[0]
    else:
        data = bench.dataset(dataset)
    people, _ = truth(data, dimension)
    given = np.isfinite(people)
    if not given.any():
        raise CombineError(f"{data.name}: nobody judged {dimension}; take another data set")
    parts = gather(data, bench.table(data, metrics, ["source"]), dimension)
    parts = _items(parts.take(np.flatnonzero(np.isfinite(parts.matrix[:, given]).all(1))), given)
    if not len(parts.names):
        raise CombineError(f"{data.name}: no metric has a value for every item; take others")
    return data, Pool(data.name, parts, people[given], _best(parts, people[given]))


def _items(parts: Parts, kept: np.ndarray) -> Parts:
    """Only these items (a mask ``[N]``)."""
    return parts._replace(
        matrix=parts.matrix[:, kept],
        statuses=parts.statuses[:, kept],
        item_ids=parts.item_ids[kept],
        sources=parts.sources[kept],
    )


def _with_noise(parts: Parts, metrics: int, rng: np.random.Generator) -> Parts:
    """So many metrics in all: the first of those that there are, and noise for the rest."""
    own = parts.take(range(min(metrics, len(parts.names))))
    more = bare_parts(parts.sources, _columns(parts.sources, metrics - len(own.names), rng))
    return own._replace(
        names=own.names + more.names,
        bases=own.bases + more.bases,
        dimensions=own.dimensions + more.dimensions,
        signatures=own.signatures + more.signatures,
        lower=np.concatenate([own.lower, more.lower]),
        matrix=np.concatenate([own.matrix, more.matrix]),
        statuses=np.concatenate([own.statuses, more.statuses]),
    )


# -------------------------------------------------------------------------------------- studies


def study(
    pool: Pool, candidates: int, sources: int, kind: Kind = "simulation", seed: int = 0
) -> dict[str, float]:
    """One study: what the hybrid seems to gain, judged in each of :data:`WAYS`.

    The gain is the hybrid's agreement (Pearson's r) less that of the best metric of the pool on the
    same items, or the agreement itself where there is no metric to compare with.

    Raises:
        TstmetaError: fewer sources than folds or none left over, or too few items to fit on.
    """
    if not HOW.outer <= sources < pool.sources:
        raise TstmetaError(
            f"{pool.name} has {pool.sources} sources: a study can have {HOW.outer} to"
            f" {pool.sources - 1}, not {sources}"
        )
    # more metrics are the same ones and some more, on the same sources
    rng = np.random.default_rng([seed, sources])
    origin = pool.parts.sources
    drawn = np.isin(origin, rng.choice(np.unique(origin), sources, replace=False))
    parts = _with_noise(pool.parts, candidates, rng)
    here, people = _items(parts, drawn), pool.people[drawn]
    how = HOW._replace(seed=seed)
    everything = np.ones(len(people), dtype=bool)
    published = fit(here, people, everything, kind, how._replace(in_sample=True))
    apart, _, _ = fold_by_fold(here, people, kind, how)
    own = folds(here.sources, how.outer, how.seed)
    found = {
        OWN: _agreement(people, published(here.matrix), own),
        FOLDS: _agreement(people, apart, own),
        NEW: _agreement(pool.people[~drawn], published(parts.matrix[:, ~drawn])),
    }
    if pool.best < 0:
        return found
    best = oriented(pool.parts.matrix, pool.parts.lower)[pool.best]
    base = _agreement(people, best[drawn], own)
    less = {OWN: base, FOLDS: base, NEW: _agreement(pool.people[~drawn], best[~drawn])}
    return {way: value - less[way] for way, value in found.items()}


def _agreement(people: np.ndarray, values: np.ndarray, own: np.ndarray | None = None) -> float:
    """Pearson's r, within folds where they are given; 0 where a side does not vary."""
    setting = Setting("pearson", "pooled" if own is None else "within-task", own)
    found = stats.estimate(people[:, None], values[None, :, None], setting)
    return float(np.nan_to_num(found[0], nan=0.0))


def sweep(
    pool: Pool,
    *,
    candidates: Sequence[int] = CANDIDATES,
    sources: Sequence[int] = SOURCES,
    kind: Kind = "simulation",
    replicates: int = 24,
    seed: int = 0,
) -> pd.DataFrame:
    """Studies with more and more metrics (:data:`FEW` sources), and sources (:data:`MANY` metrics).

    Sizes that a pool has no room for, half of its sources at the most, are left out.

    Returns:
        One row a size and way: pool, changed (``candidates`` or ``sources``), candidates, sources,
        way, gain (mean), low, high (the middle 80 % of studies), error (of the mean), replicates.

    Raises:
        TstmetaError: no size fits.
    """
    most, each = pool.sources // 2, len(pool.people) / pool.sources
    fits = [one for one in sources if one <= most and 0.5 * one * each >= LEAST]
    if not fits:
        raise CombineError(
            f"{pool.name} has {pool.sources} sources, too few to draw studies from and have as many"
            " left over: take a larger data set"
        )
    few, own = min(FEW, max(fits)), len(pool.parts.names)
    sizes = sorted({max(one, own) for one in candidates})
    cells = [("candidates", one, few) for one in sizes]
    cells += [("sources", max(MANY, own), one) for one in fits]
    seen: dict[tuple[int, int], list[dict[str, float]]] = {}
    rows = []
    for changed, metrics, number in cells:
        if (metrics, number) not in seen:
            seen[(metrics, number)] = [
                study(pool, metrics, number, kind, seed + k) for k in range(replicates)
            ]
        for way in WAYS:
            values = np.array([one[way] for one in seen[(metrics, number)]])
            low, high = np.quantile(values, [0.1, 0.9])
            error = float(values.std(ddof=1) / math.sqrt(replicates)) if replicates > 1 else 0.0
            spread = (float(values.mean()), float(low), float(high), error, replicates)
            rows.append((pool.name, changed, metrics, number, way, *spread))
    columns = ["pool", "changed", "candidates", "sources", "way", "gain", "low", "high", "error"]
    return pd.DataFrame(rows, columns=[*columns, "replicates"])


# --------------------------------------------------------------------------------- what is shown


def picture(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`sweep`, of one pool or several: two panels a pool."""
    words = ["Gain of a hybrid by how it is judged."]
    for (pool, changed), own in rows.groupby(["pool", "changed"], sort=False):
        first, last = (own[own[changed] == own[changed].agg(end)] for end in ("min", "max"))
        told = [
            f"{way} {html.signed(_gain(first, way))} to {html.signed(_gain(last, way))}"
            for way in WAYS
        ]
        what = "metrics" if changed == "candidates" else "sources"
        ends = f"from {first[changed].iloc[0]} to {last[changed].iloc[0]} {what}"
        words.append(f"{pool}, {ends}: {', '.join(told)}.")
    return described(picture_figure(rows), " ".join(words))


def _gain(rows: pd.DataFrame, way: str) -> float:
    return float(rows.loc[rows["way"] == way, "gain"].iloc[0])


@_styled
def picture_figure(rows: pd.DataFrame) -> Figure:
    """Lines are means over studies, bands the middle 80 % of them; the grey line is the truth."""
    panels = list(rows.groupby(["pool", "changed"], sort=False))
    figure, axes = _panels(len(panels), 3.5, 2.7, most=2, sharey="row")
    for axis, ((pool, changed), own) in zip(axes, panels, strict=True):
        _lines(axis, own, str(changed))
        axis.set_title(f"{pool}\n{_stays(own, str(changed))}", fontsize=9)
    for axis in axes[::2]:
        axis.set_ylabel("gain, Pearson's r")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def _lines(axis: Axes, rows: pd.DataFrame, changed: str) -> None:
    axis.axhline(0, color="#222222", lw=0.8)
    for way in WAYS:
        own, (colour, marker, stroke) = rows[rows["way"] == way], _STYLES[way]
        if way != NEW:
            axis.fill_between(own[changed], own["low"], own["high"], color=colour, alpha=0.13, lw=0)
        axis.plot(own[changed], own["gain"], stroke, color=colour, marker=marker, label=way, ms=5)
    ticks = sorted(set(rows[changed]))
    axis.set_xscale("log")
    axis.set_xticks(ticks, [str(one) for one in ticks])
    axis.minorticks_off()
    axis.set_xlabel("metrics to choose from" if changed == "candidates" else "rated sources")


def _stays(rows: pd.DataFrame, changed: str) -> str:
    if changed == "candidates":
        return f"{rows['sources'].iloc[0]} sources"
    return f"{rows['candidates'].iloc[0]} metrics"


def table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`sweep`: a size a line, the three gains with the standard error of the mean."""
    sizes = ["pool", "candidates", "sources"]
    one = rows.drop_duplicates([*sizes, "way"]).set_index([*sizes, "way"])
    lines = []
    for pool, metrics, number in dict.fromkeys(key[:3] for key in one.index):
        cells = {way: one.loc[(pool, metrics, number, way)] for way in WAYS}
        line = {"data": pool, "metrics": metrics, "sources": number}
        line |= {
            way: f"{html.signed(cell['gain'], 3)} ± {cell['error']:.3f}"
            for way, cell in cells.items()
        }
        lines.append(line)
    count = rows["replicates"].iloc[0]
    caption = f"Gain judged on each, mean of {count} studies ± its standard error"
    return html.table(pd.DataFrame(lines), caption=caption)


def said(rows: pd.DataFrame) -> Markdown:
    """For each pool: where judging on its own ratings flatters most, and where it does least."""
    lines = []
    for pool, own in rows.drop_duplicates(["pool", "candidates", "sources", "way"]).groupby(
        "pool", sort=False
    ):
        wide = own.pivot_table(index=["candidates", "sources"], columns="way", values="gain")
        flattery = wide[OWN] - wide[NEW]
        most, least = flattery.idxmax(), flattery.idxmin()
        lines.append(
            f"- {pool}: its own ratings flatter the hybrid most with {most[0]} metrics and"
            f" {most[1]} sources, by {html.signed(flattery[most])}, and least with {least[0]}"
            f" metrics and {least[1]} sources, by {html.signed(flattery[least])}. Nested folds are"
            f" off by {html.signed((wide[FOLDS] - wide[NEW]).mean())} on average."
        )
    return Markdown("\n".join(lines))


def on_ratings(
    pool: Pool, *, kind: Kind = "simulation", replicates: int = 24, seed: int = 0
) -> html.Html | Markdown:
    """Picture and table of studies drawn from real ratings, or why there are none."""
    try:
        rows = sweep(pool, kind=kind, replicates=replicates, seed=seed)
    except TstmetaError as reason:  # a handful of sources
        return Markdown(f"*No studies can be drawn: {reason}.*")
    return html.Html(picture(rows).text + table(rows).text)
