"""Evidence for claims: numbers with bootstrap confidence intervals, each a few lines of API.

``data/published/claims.yaml`` names these functions and their arguments.  A metric is written as
tables print it: ``S-bleu`` against the source, ``R-bleu`` against the reference, else as it is.
Where a set names several systems they are resampled with the sources, unless ``unit`` says
otherwise; ``part`` is which rewrites take part, see :func:`inside`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm, t

from experiments.transfer.runs import trajectories
from tstmeta import stats
from tstmeta.analysis.agreement import Analysis, analyses, resample
from tstmeta.analysis.agreement import agreement as agreement_of
from tstmeta.analysis.committed import read_frozen
from tstmeta.analysis.frame import pairs
from tstmeta.combine import Settings, hybrid
from tstmeta.combine.parts import folds
from tstmeta.ledger.cells import cells, names
from tstmeta.ledger.inputs import RELEASED, Inputs
from tstmeta.ledger.recipes import second_rater as second_against_first
from tstmeta.ledger.recipes import yelp_bleu
from tstmeta.stats import Interval, Resample, ResamplingPlan
from tstmeta.stats.intervals import difference, pair_of

#: Resamples of what takes long, at most; the note beside the number says so.
_SLOW = 500
#: What an interval over resampled sources speaks of.
_SOURCES = ResamplingPlan().estimand
#: The group of evidence that decides; what is of another group is shown and does not count.
COUNTED = "counted"


class Finding(NamedTuple):
    """A number for or against a claim."""

    evidence: str
    value: float
    limits: Callable[[float], Interval] | None = None  # at a confidence; None: a published number
    n: int = 0
    note: str = ""
    scope: str = ""  # what the interval speaks of, see ``ResamplingPlan.estimand``
    group: str = COUNTED
    dataset: str = ""  # or several, with blanks between

    @property
    def counts(self) -> bool:
        return self.limits is not None and self.group == COUNTED

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Low and high, NaN where there are none."""
        return self.limits(confidence)[:2] if self.limits else (np.nan, np.nan)


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
    return metric.replace(RELEASED, "")


def inside(setup: Setup, data: str, frame: pd.DataFrame, part: str) -> pd.Series:
    """Which pairs are of a part: all, systems, people, design, a direction, or a subset.

    ``design``: of the output of systems what the built set of pauli2025 has, strong shifts that
    keep the content and light ones that break it: what lies above the median rating, or, where the
    median is the highest rating, has it.
    """
    items = setup.inputs.data(part if "@" in part else data).items
    people = frame["item_id"].isin(items["item_id"][items["is_reference"]])
    if part == "design":
        ratings = frame[["style", "human"]].where(~people)
        high = ratings.gt(ratings.median()) | ratings.eq(ratings.max())
        return ~people & (high["style"] == high["human"])
    if part in set(frame["direction"]):
        return frame["direction"] == part
    named = frame["item_id"].isin(items["item_id"])
    return {"systems": ~people, "people": people}.get(part, named)


def analysis_of(
    setup: Setup, data: str, metrics: Sequence[str], dimension: str = "content", **how: Any
) -> Analysis:
    """Several metrics on one data set; ``how`` may have part, statistic, level, unit."""
    tables = [setup.inputs.pairs(data, *name_and_basis(metric), dimension) for metric in metrics]
    frame, part = pd.concat(tables, ignore_index=True), how.pop("part", "all")
    return _analysis(setup, frame[inside(setup, data, frame, part)], **how)


def _analysis(setup: Setup, frame: pd.DataFrame, **how: Any) -> Analysis:
    how.setdefault("unit", "both" if len(set(frame["system"])) > 1 else "source")
    return next(analyses(frame, **{"draws": setup.draws, "seed": setup.seed, **how}))


def finding(
    analysis: Analysis, what: str, place: int = 0, minus: int = 0, drawn: Resample | None = None
) -> Finding:
    """A metric of an analysis, or that metric minus a later one, with its interval."""
    drawn = drawn or resample(analysis)
    table, index, sign = pair_of(drawn, place, minus) if minus else (drawn, place, 1)
    value = sign * float(table.estimates[index])

    def limits(confidence: float) -> Interval:
        if minus:
            return difference(drawn, place, minus, confidence=confidence)
        return stats.confidence_intervals(drawn, confidence=confidence)[place]

    n = min(agreement_of(analysis, row).n for row in (place, minus or place))
    return Finding(what, value, limits, n, _note(analysis, limits), analysis.plan.estimand)


def _note(analysis: Analysis, limits: Callable[[float], Interval]) -> str:
    """What was resampled, and reasons for doubt."""
    units = "sources and systems" if analysis.plan.units == "both" else analysis.plan.units
    return "; ".join(filter(None, [f"{units} resampled", limits(0.95).reason]))


def from_draws(
    estimate: float, values: Sequence[float], units: int, bounds: tuple[float, float]
) -> Callable[[float], Interval]:
    """The limits of a value whose draws are at hand."""
    how: dict[str, Any] = {"units": units, "bounds": bounds}
    limits = partial(stats.percentile_intervals, [values], [estimate], **how)
    return lambda confidence: limits(confidence=confidence)[0]


# --------------------------------------------------------------------------- kinds of evidence


def agreement(setup: Setup, data: str, metric: str, **how: Any) -> list[Finding]:
    """How far a metric agrees with people."""
    return [finding(analysis_of(setup, data, [metric], **how), f"{label_of(metric)} on {data}")]


def gap(setup: Setup, data: str, a: str, b: str, **how: Any) -> list[Finding]:
    """The agreement of one metric minus that of another, in the same resamples."""
    what = f"{label_of(a)} minus {label_of(b)} on {data}"
    return [finding(analysis_of(setup, data, [a, b], **how), what, 0, 1)]


def best_gap(
    setup: Setup, data: str, metric: str, others: Sequence[str], **how: Any
) -> list[Finding]:
    """One metric minus the best of several; which is best is decided once, on all data.

    The choice is part of the data, so the interval is a little too kind to the others.
    """
    analysis = analysis_of(setup, data, [metric, *others], **how)
    human, rivals = analysis.matrices.human, analysis.matrices.metrics[1:]
    best = int(np.nanargmax(stats.estimate(human, rivals, analysis.setting)))
    what = f"{label_of(metric)} minus the best other, {label_of(others[best])}, on {data}"
    return [finding(analysis.of([0, 1 + best]), what, 0, 1)]


def reference_free(setup: Setup, data: str, metrics: Sequence[str]) -> list[Finding]:
    """Metrics' agreement against the source minus that against the references, their mean."""
    k, both = len(metrics), [*metrics, *(f"R-{metric[2:]}" for metric in metrics)]
    analysis = analysis_of(setup, data, both, part="systems")
    drawn = resample(analysis)
    gaps = np.column_stack([drawn.pairs.estimates, drawn.pairs.resampled])
    rows = [pair_of(drawn, place, place + k)[1] for place in range(k)]
    value, *values = gaps[rows].mean(axis=0).tolist()
    limits = from_draws(value, values, drawn.fewest, (-2, 2))
    row = finding(analysis, f"source minus reference on {data}, mean of {k}", drawn=drawn)
    n = min(agreement_of(analysis, place).n for place in range(2 * k))
    return [row._replace(value=value, limits=limits, n=n, note=_note(analysis, limits))]


def across(setup: Setup, data: str, metric: str, parts: Sequence[str], **how: Any) -> list[Finding]:
    """Agreement on one part of a data set minus that on another; also of the second rating slot."""
    dimension = how.pop("dimension", "content")
    frame = (
        second_against_first(setup.inputs, data, dimension)
        if metric == "second slot"
        else setup.inputs.pairs(data, *name_and_basis(metric), dimension)
    )
    frame = frame.dropna(subset="score")
    masks = {part: inside(setup, data, frame, part) for part in parts}
    either = np.logical_or(*masks.values())
    tables = [frame.assign(metric=k, score=frame["score"].where(m)) for k, m in masks.items()]
    analysis = _analysis(setup, pd.concat([table[either] for table in tables]), **how)
    row = finding(analysis, f"{label_of(metric)} on {data}, {parts[0]} minus {parts[1]}", 0, 1)
    return [row._replace(n=int(either.sum()))]


def alpha(setup: Setup, data: str, dimension: str) -> list[Finding]:
    """Krippendorff's ordinal alpha, sources resampled."""
    dataset = setup.inputs.data(data)
    ratings = dataset.raters(dimension).to_numpy(float)
    groups = list(dataset.items.groupby("source_id", sort=False).indices.values())
    rng, n, draws = np.random.default_rng(setup.seed), len(groups), min(setup.draws, _SLOW)
    picked = (np.concatenate([groups[g] for g in rng.integers(n, size=n)]) for _ in range(draws))
    values, estimate = [stats.alpha(ratings[rows]).value for rows in picked], stats.alpha(ratings)
    limits = from_draws(estimate.value, values, n, (-1, 1))
    what = f"Krippendorff's alpha (ordinal) of {dimension} on {data}"
    note = f"sources resampled; {draws:,} draws"
    return [Finding(what, estimate.value, limits, estimate.n, note, _SOURCES)]


def untransferred(
    setup: Setup, data: Sequence[str], systems: Sequence[str], references: str
) -> list[Finding]:
    """Corpus BLEU of pang2019's sources as they are minus that of systems, sources resampled."""
    ours = [names("pang2019", "system")[system][0] for system in systems]
    bleu, *_ = setup.inputs.once(yelp_bleu, "")
    parts = [setup.inputs.once(yelp_bleu, name)[1][references] for name in ("", *ours)]
    drawn = (resampled_sums(setup, part) for part in parts)
    copies, *others = (np.apply_along_axis(bleu.aggregate, 1, sums) for sums in drawn)
    rows, n = [], len(parts[0])
    for system, (value, *values) in zip(systems, copies - others, strict=True):
        what = f"BLEU of the sources minus that of {system}, {references} references"
        limits = from_draws(value, values, n, (-100, 100))
        rows.append(Finding(what, value, limits, n, "sources resampled", _SOURCES))
    return rows


def resampled_sums(setup: Setup, parts: np.ndarray) -> np.ndarray:
    """Sums of sources ``[n, k]``: of them all, then of each resample ``[1 + D, k]``."""
    n, rng = len(parts), np.random.default_rng(setup.seed)
    times = rng.multinomial(n, np.full(n, 1 / n), size=setup.draws)
    return np.vstack([np.ones(n), times]) @ parts


def hybrids(setup: Setup, data: str, metrics: Sequence[str], words: str) -> list[Finding]:
    """Two hybrids of metrics for content minus the best single metric, all cross-validated.

    Agreement is Pearson's r after both sides were standardised within the folds that judge: two
    folds may have chosen other metrics, whose values lie elsewhere.  The resamples keep the fits.
    """
    dataset, settings = setup.inputs.data(data), Settings(seed=setup.seed)
    names = [name_and_basis(metric)[0] for metric in metrics]
    scores = setup.inputs.scores(data, names, "source")
    kinds = [("simulation", settings), ("learned", settings)]
    kinds += [("simulation", settings._replace(top=1))]
    combined = [hybrid(dataset, scores, "content", *how).scores for how in kinds]
    analysis = _analysis(setup, pairs(dataset, pd.concat(combined)), draws=min(setup.draws, _SLOW))
    judging = folds(np.asarray(analysis.matrices.layout.sources), settings.outer, settings.seed)
    analysis = analysis._replace(setting=stats.Setting(settings.statistic, "within-task", judging))
    drawn, rows = resample(analysis), []
    for place, name in enumerate(("Hybrid-Simulation", "Hybrid-Learned")):
        what = f"{name} minus the best single metric on {data}, {words}"
        row = finding(analysis, what, place, 2, drawn)
        rows.append(row._replace(note=f"{row.note}; {analysis.plan.n:,} draws, fits kept"))
    return rows


def preferred(setup: Setup, data: str, dimension: str, better: str, worse: str) -> list[Finding]:
    """The share of comparisons that one system wins minus the share it loses to the other."""
    dataset = setup.inputs.data(data)
    items = dataset.items.set_index("item_id")
    answers = dataset.preferences.query("dimension == @dimension")
    a, b = (answers[side].map(items["system"]) for side in ("item_a", "item_b"))
    sign = (a.eq(better) & b.eq(worse)) * 1.0 - (a.eq(worse) & b.eq(better))
    won = answers["value"].map({"a": 1.0, "b": -1.0, "tie": 0.0}) * sign
    sources = answers["item_a"].map(items["source_id"])
    sums = won[sign != 0].groupby(sources).agg(["sum", "size"]).to_numpy(float)
    drawn = resampled_sums(setup, sums)
    value, *values = (drawn[:, 0] / drawn[:, 1]).tolist()
    what, size = f"{better} over {worse}, {dimension}, on {data}", int(sums[:, 1].sum())
    limits = from_draws(value, values, len(sums), (-1, 1))
    return [Finding(what, value, limits, size, "share won less share lost", _SOURCES)]


def choices(
    setup: Setup, table: str, dataset: str, dimension: str, metric: str, share: str = "balanced"
) -> list[Finding]:
    """A metric's share of the choices of people, from the frozen aggregate that ``table`` names."""
    rows = read_frozen(table).set_index(["dataset", "dimension", "metric"])
    row = rows.loc[(dataset, dimension, metric)]
    value, *ends = (float(row[name]) for name in (share, f"{share}_low", f"{share}_high"))

    def limits(confidence: float) -> Interval:  # a normal's, of its own width on each side
        ratio = norm.ppf(0.5 + confidence / 2) / norm.ppf(0.975)
        low, high = (value + (end - value) * ratio for end in ends)
        return Interval(low, high)

    what, n = f"{metric}, choices by {dimension}, {share}", int(row["comparisons"])
    return [Finding(what, value, limits, n, "sources resampled", _SOURCES)]


def transfer(
    setup: Setup, of: str, model: str, minus: str = "", along: str = "", acc: float = 0.0
) -> list[Finding]:
    """A metric of a transfer model, mean over seeds, less that of another.

    At the end of training; with ``acc`` at the point whose Acc on other sentences is next to it
    (no more than 0.05 off, else nothing is compared); with ``along`` its rank correlation with that
    metric over all points.  Student's t, with the variance of seeds pooled over models.
    """
    wide, run = setup.inputs.once(_trained), ["model", "seed"]
    report = wide.loc["report"]
    values = report[of].groupby(run).last()
    if along:
        values = report.groupby(run).apply(lambda part: part[of].corr(part[along], "spearman"))
    elif acc:
        off = wide.loc["choose", "style-accuracy:yelp"].sub(acc).abs().groupby(run)
        values = report.loc[off.idxmin()[off.min() <= 0.05], of]
    by, signs = values.groupby("model"), pd.Series({model: 1} | ({minus: -1} if minus else {}))
    n, mean = by.size().reindex(signs.index, fill_value=0), by.mean().reindex(signs.index)
    if not (n.all() and (freedom := len(values) - by.ngroups)):
        return []
    variance = (values - by.transform("mean")).pow(2).sum() / freedom
    value, error = float(mean @ signs), float(np.sqrt(variance * (1 / n).sum()))

    def limits(confidence: float) -> Interval:
        low, high = t.interval(confidence, freedom, value, error)
        return Interval(low, high)

    note, scope = f"Student's t, {freedom} degrees of freedom", "runs like these, these sources"
    return [Finding(" minus ".join(signs.index), value, limits, int(n.sum()), note, scope)]


def _trained(inputs: Inputs) -> pd.DataFrame:
    """Metrics along training: index part, model, seed, step."""
    rows = trajectories().query("basis != 'reference'")
    rows = rows[rows["model"].str.fullmatch("M[0-7]")]  # what is trained for a metric is no sample
    return rows.pivot_table("value", ["part", "model", "seed", "step"], "metric")


def published(setup: Setup, cell: str) -> list[Finding]:
    """A printed number, marked as such."""
    [printed] = [printed for printed in cells() if printed.cell == cell]
    facts = (printed.metric, printed.dimension, printed.basis, printed.dataset, printed.language)
    return [Finding(", ".join(facts).replace(", none", ""), printed.value, note=cell)]


_ALL = (agreement, gap, best_gap, reference_free, across, alpha, untransferred, hybrids, preferred)
_MORE = (choices, transfer, published)
#: What ``claims.yaml`` can name.
KINDS: dict[str, Callable[..., list[Finding]]] = {kind.__name__: kind for kind in (*_ALL, *_MORE)}
