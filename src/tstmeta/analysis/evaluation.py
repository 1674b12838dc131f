"""Everything about one data set and one dimension: what ``tstmeta evaluate`` prints."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset, load
from ..metrics import Metric
from ..schema import TstmetaError
from . import choice, comparison
from .agreement import Analysis, agreement, analyses, correlate, intervals, resample
from .findings import Evaluation
from .frame import METRIC, check_dimension, pairs_both_ways, select_dimension, separated
from .people import people
from .render import COLUMNS

#: The remark about a corpus metric.
NOT_PER_ITEM = "one value a system; tst.correlate at level system holds it against people"
#: Of one of these the others are held fixed: the first alone, then both.
_PARTED = ("content", "style", "fluency")


def evaluate(
    data: Dataset | str | Path,
    metrics: Sequence[str | Metric] | None = None,
    dimension: str = "content",
    statistic: str | None = None,
    level: str | None = None,
    unit: str = "source",
    draws: int = 1000,
    seed: int = 0,
    *,
    clusters: bool = True,
    scores: pd.DataFrame | None = None,
) -> Evaluation:
    """Hold metrics and sentinels against one dimension of human judgement.

    Args:
        data: a data set, its name, or a file of your own.
        metrics: names or families to score, by default one metric an idea of those that run here
            (``tstmeta.analysis.choice.DEFAULTS``).  A family stands under its own dimensions, a
            name under all.  Sentinels and people's style rating stand beside.
        dimension: content, style or fluency.
        scores: a ``scores`` table to take instead of scoring.
        clusters: part metrics that differ; without it the column and the summary are empty.
        statistic, level: see :func:`tstmeta.correlate`.  Without both: accuracy on the pairs of
            rewrites of one source that people separate (accuracy, same-source) if there are any,
            else Pearson's r over all rewrites.  Without one of them: pearson, or pooled.
        unit, draws, seed: see :func:`tstmeta.bootstrap`.

    Returns:
        ``frame`` has the columns dataset, statistic, level, metric, basis, dimension, kind (metric,
        sentinel, oracle), better (higher, or lower and then flipped), value, low, high, r (Pearson,
        over all rewrites, where the value is another), n (rewrites, or groups at a level of them),
        pairs (of rewrites that people separate, at level same-source), without_low, without_high
        and without (at level system, see :func:`tstmeta.correlate`), rank, rank_low, rank_high
        (among all rows with a value, and the ranks it could have), cluster (1 is best, see
        :func:`tstmeta.rank_sets`), partial and partial_all (at level pooled, the statistic with
        given and given_all held fixed; these name it where it is another), as_rater (the metric in
        the place of a rater), against, note, signature.

    Raises:
        TstmetaError: what does not exist or cannot be had from these data.
    """
    data, remarks = data if isinstance(data, Dataset) else load(str(data)), list[str]()
    check_dimension(data, dimension)
    if scores is None:
        scores = choice.score(data, [dimension], metrics, progress=False)
        scores = choice.listed(scores, dimension, metrics)
        remarks = choice.left_out(dimension) if metrics is None else []
    scores = select_dimension(scores, dimension)
    frame = pairs_both_ways(data, scores, dimension)
    if statistic is None and level is None and separated(frame):
        statistic, level = "accuracy", "same-source"
    corpus = frame["metric"][frame["statistics"].notna()] if "statistics" in frame else []
    remarks += [f"{name}: {NOT_PER_ITEM}" for name in sorted(set(corpus))]
    setting = statistic or "pearson", level or "pooled"
    analysis = next(analyses(frame, *setting, unit, draws, seed), None)
    if analysis is None or not len(analysis.matrices.heads):
        raise TstmetaError("; ".join([f"{data.name}: there are no scores to evaluate", *remarks]))
    remarks += choice.gaps(data, scores, dimension)
    return _evaluated(analysis, data, frame, dimension, clusters, remarks)


def _evaluated(
    analysis: Analysis,
    data: Dataset,
    frame: pd.DataFrame,
    dimension: str,
    tested: bool,
    remarks: Sequence[str],
) -> Evaluation:
    """All that is computed of an analysis of a frame of pairs, best metrics first."""
    heads = analysis.matrices.heads
    value = np.array([agreement(analysis, place).value for place in range(len(heads))])
    below = (heads["kind"] != METRIC).to_numpy()  # sentinels and oracles
    order = np.lexsort((np.where(np.isfinite(value), -value, np.inf), below))
    analysis, setting = analysis.of(order), analysis.setting
    laid, drawn = analysis.matrices, resample(analysis)
    p = comparison.p_of_pairs(drawn)
    ranks = comparison.ranks(drawn, p)
    human, in_place = people(data, dimension, laid, setting)
    pooled = (setting.function.name, setting.level) == ("pearson", "pooled")
    table = intervals(analysis, drawn).rename(columns={"reason": "note"})
    table = table.assign(
        n=table["groups"].fillna(table["n"]).astype(int),
        better=np.where(laid.heads["flipped"], "lower", "higher"),
        as_rater=in_place,
        dimension=dimension,
        against=laid.against,
        statistic=setting.function.name,
        level=setting.level,
        r=np.nan if pooled else correlate(frame)["value"].to_numpy()[order],
        pairs=separated(frame) if setting.level == "same-source" else pd.NA,
        signature=laid.heads["signature"],
    )
    ranks = ranks if tested else ranks.assign(cluster=pd.NA)
    items, single = int(np.isfinite(laid.human).sum()), data.raters(dimension)
    several = single.drop(columns="mean", errors="ignore").notna().sum(axis=1) > 1
    table = pd.concat([table, ranks, _partials(analysis, data, dimension)], axis=1)
    return Evaluation(
        dataset=data.name,
        dimension=dimension,
        against=laid.against,
        items=items,
        sources=len(set(laid.layout.sources)),
        systems=len(laid.layout.names),
        analysis=analysis,
        frame=table[COLUMNS],
        human=human,
        drawn=drawn,
        p=p,
        tested=tested,
        remarks=tuple(remarks),
        pairs=frame,
        order=order,
        apart=bool(several.sum() < items),
    )


def _partials(analysis: Analysis, data: Dataset, dimension: str) -> pd.DataFrame:
    """The statistic, or Spearman's where it has no partial one, with dimensions held fixed."""
    laid, function = analysis.matrices, analysis.setting.function
    others = [name for name in _PARTED if name in data.judged and name != dimension]
    others = others if dimension in _PARTED and analysis.setting.level == "pooled" else []
    label = ""
    if not function.has_partial:
        function = stats.STATISTICS["spearman"]
        label = f" ({function.label})"
    table = pd.DataFrame(index=laid.heads.index)
    for suffix, held in (("", others[:1]), ("_all", others if len(others) > 1 else [])):
        sides = laid.human, laid.metrics, laid.item_values(held)
        values = stats.partial(*sides, statistic=function.name) if held else np.nan
        table[f"partial{suffix}"] = values
        table[f"given{suffix}"] = ", ".join(held) + label * bool(held)
    return table
