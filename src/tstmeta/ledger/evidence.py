"""Evidence for claims: numbers with 95 % bootstrap confidence intervals, each a few lines of API.

``data/published/claims.yaml`` names these functions and their arguments.  A metric is written as
tables print it: ``S-bleu`` against the source, ``R-bleu`` against the reference, else as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..analysis.agreement import Analysis, analyses, resample
from ..analysis.agreement import agreement as agreement_of
from ..analysis.frame import DISTANCES, pairs
from ..combine import Settings, hybrid
from ..combine.folds import folds
from ..combine.hybrids import Kind
from ..stats.intervals import difference
from .cells import cells
from .from_data import second_rater as second_against_first
from .recipes import RELEASED, Inputs

#: Resamples of what takes long, at most; the note beside the number says so.
_SLOW = 500


class Finding(NamedTuple):
    """A number for or against a claim; without ``low`` and ``high`` where it is a published one."""

    evidence: str
    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    note: str = ""
    published: bool = False
    group: str = "counted"


class Setup(NamedTuple):
    """What all evidence is computed with."""

    inputs: Inputs
    draws: int = 2000
    seed: int = 0


def name_and_basis(metric: str) -> tuple[str, str]:
    """Name and basis: ``S-bleu`` gives bleu, source."""
    basis = {"S-": "source", "R-": "reference"}.get(metric[:2])
    return (metric[2:], basis) if basis else (metric, "none")


def label_of(metric: str) -> str:
    """``S-`bleu```: as a page shows it."""
    name, _ = name_and_basis(metric)
    return f"{metric.removesuffix(name)}`{name.removeprefix(RELEASED)}`"


def analysis_of(
    setup: Setup, data: str, metrics: Sequence[str], dimension: str = "content", **how: Any
) -> Analysis:
    """Several metrics on one data set; ``how`` may have statistic, level, unit."""
    each = [setup.inputs.pairs(data, *name_and_basis(metric), dimension) for metric in metrics]
    return _analysis(setup, pd.concat(each, ignore_index=True), **how)


def _analysis(setup: Setup, frame: pd.DataFrame, **how: Any) -> Analysis:
    return next(analyses(frame, **{"draws": setup.draws, "seed": setup.seed, **how}))


def finding(analysis: Analysis, evidence: str, minus: int | None = None, place: int = 0) -> Finding:
    """A metric of an analysis, or that metric minus another, with its interval."""
    drawn = resample(analysis)
    value = float(drawn.estimates[place])
    if minus is None:
        limits = stats.of_resample(drawn)[place]
    else:
        value -= float(drawn.estimates[minus])
        limits = difference(drawn, place, minus)
    units = "sources and systems" if analysis.plan.units == "both" else analysis.plan.units
    note = "; ".join(filter(None, [f"{units} resampled", limits.reason]))
    return Finding(evidence, value, limits.low, limits.high, agreement_of(analysis, place).n, note)


# --------------------------------------------------------------------------- kinds of evidence


def agreement(setup: Setup, data: str, metric: str, **how: Any) -> list[Finding]:
    """How far a metric agrees with people."""
    return [finding(analysis_of(setup, data, [metric], **how), f"{label_of(metric)} on `{data}`")]


def gap(setup: Setup, data: str, a: str, b: str, **how: Any) -> list[Finding]:
    """The agreement of one metric minus that of another, in the same resamples."""
    what = f"{label_of(a)} minus {label_of(b)} on `{data}`"
    return [finding(analysis_of(setup, data, [a, b], **how), what, 1)]


def best_gap(
    setup: Setup, data: str, metric: str, others: Sequence[str], **how: Any
) -> list[Finding]:
    """One metric minus the best of several; which is best is decided once, on all data.

    The choice is part of the data, so the interval is a little too kind to the others.
    """
    best = best_of(analysis_of(setup, data, others, **how), others)
    [row] = gap(setup, data, metric, best, **how)
    what = f"{label_of(metric)} minus the best other, {label_of(best)}, on `{data}`"
    return [row._replace(evidence=what)]


def best_of(analysis: Analysis, metrics: Sequence[str]) -> str:
    """The metric that agrees most."""
    values = stats.estimate(analysis.matrices.human, analysis.matrices.metrics, analysis.setting)
    return metrics[int(np.nanargmax(values))]


def first_places(setup: Setup, data: Sequence[str], metrics: Sequence[str]) -> list[Finding]:
    """The best metric on each of two sets (Pearson's r), less the best on the other set."""
    firsts = [best_of(analysis_of(setup, name, metrics), metrics) for name in data]
    if firsts[0] == firsts[1]:
        return [row for name in data for row in agreement(setup, name, firsts[0])]
    orders = zip(data, firsts, reversed(firsts), strict=True)
    return [row for name, a, b in orders for row in gap(setup, name, a, b)]


def across(setup: Setup, data: str, parts: Sequence[str], metric: str) -> list[Finding]:
    """Pearson's r on one part of a data set minus that on another, the same sources resampled."""
    frame = setup.inputs.pairs(data, *name_and_basis(metric))
    tables = []
    for part in parts:
        inside = frame["item_id"].isin(setup.inputs.data(part).items["item_id"])
        tables.append(frame.assign(metric=part, score=frame["score"].where(inside)))
    analysis = _analysis(setup, pd.concat(tables, ignore_index=True))
    row = finding(analysis, f"{label_of(metric)} on `{parts[0]}` minus on `{parts[1]}`", 1)
    return [row._replace(n=int(np.isfinite(analysis.matrices.metrics).sum()))]


def second_rater(setup: Setup, data: str, dimension: str, direction: str) -> list[Finding]:
    """Kendall's tau-b of the second rating slot with the first, in one direction."""
    frame = second_against_first(setup.inputs, data, dimension)
    analysis = _analysis(setup, frame[frame["direction"] == direction], statistic="kendall")
    return [finding(analysis, f"second slot with first, {dimension}, {direction}")]


def alpha(setup: Setup, data: str, dimension: str) -> list[Finding]:
    """Krippendorff's ordinal alpha, sources resampled."""
    dataset = setup.inputs.data(data)
    ratings = dataset.raters(dimension).to_numpy(float)
    groups = list(dataset.items.groupby("source_id", sort=False).indices.values())
    rng, values = np.random.default_rng(setup.seed), np.empty(min(setup.draws, _SLOW))
    for i in range(len(values)):
        picked = rng.integers(len(groups), size=len(groups))
        values[i] = stats.alpha(ratings[np.concatenate([groups[g] for g in picked])]).value
    whole = stats.alpha(ratings)
    [limits] = stats.of_values(values[None], [whole.value], units=len(groups), bounds=(-1, 1))
    what = f"Krippendorff's alpha (ordinal) of {dimension} on `{data}`"
    note = f"sources resampled; {len(values):,} draws"
    return [Finding(what, whole.value, limits.low, limits.high, whole.n, note)]


def hybrids(setup: Setup, data: str, metrics: Sequence[str], words: str) -> list[Finding]:
    """Two hybrids of metrics for content minus the best single metric, all cross-validated.

    Agreement is Pearson's r after both sides were standardised within the folds that judge: two
    folds may have chosen other metrics, whose values lie elsewhere.  The resamples keep the fits.
    """
    dataset, settings = setup.inputs.data(data), Settings(seed=setup.seed)
    names = [name_and_basis(metric)[0] for metric in metrics]
    scores = setup.inputs.scores(data, names, "source")
    lower = [name for name in DISTANCES if name in names]
    kinds: list[tuple[Kind, Settings]] = [("simulation", settings._replace(top=1))]
    kinds += [("simulation", settings), ("learned", settings)]
    combined = [hybrid(dataset, scores, "content", *how, lower=lower).scores for how in kinds]
    analysis = _analysis(setup, pairs(dataset, pd.concat(combined)), draws=min(setup.draws, _SLOW))
    judging = folds(np.asarray(analysis.matrices.layout.sources), settings.outer, settings.seed)
    analysis = analysis._replace(setting=stats.Setting(settings.statistic, "within-task", judging))
    rows = []
    for place, name in ((1, "Hybrid-Simulation"), (2, "Hybrid-Learned")):
        what = f"{name} minus the best single metric on `{data}`, {words}"
        row = finding(analysis, what, 0, place)
        rows.append(row._replace(note=f"{row.note}; {analysis.plan.n:,} draws, fits kept"))
    return rows


def published(setup: Setup, cell: str) -> list[Finding]:
    """A printed number, marked as such."""
    [value] = [printed.value for printed in cells() if printed.cell == cell]
    return [Finding(cell, value, note=cell, published=True)]


def best_published(
    setup: Setup, paper: str, table: str, dataset: str, language: str
) -> list[Finding]:
    """The highest printed Pearson's r of a table for one data set and language, if there is one."""
    wanted = (dataset, language, "pearson")
    rows = [c for c in cells(paper, table) if (c.dataset, c.language, c.statistic) == wanted]
    if not rows:
        return []
    best = max(rows, key=lambda cell: cell.value)
    what = f"best for {best.dimension}, {dataset}, {language}: {best.metric}"
    return [Finding(what, best.value, note=best.cell, published=True)]


_ALL = (agreement, gap, best_gap, first_places, across, second_rater, alpha, hybrids)
#: What ``claims.yaml`` can name.
KINDS: dict[str, Callable[..., list[Finding]]] = {
    kind.__name__: kind for kind in (*_ALL, published, best_published)
}
