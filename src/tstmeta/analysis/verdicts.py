"""The decision rule that gives a verdict from evidence; it was fixed before it was applied.

============ =======================================================================================
unknown      fewer than five families, or none of the task or language wanted
do not use   the interval of the mean accuracy lies at or below one half, or that of the difference
             to the best sentinel below 0
use          the prediction interval lies above one half, the difference to the best sentinel above
             0, no set is significantly the other way (Holm), all of the stress panel above one
             half, a constructed set among it
with care    otherwise, with the reason
============ =======================================================================================

The best sentinel of a dimension is the one with the highest mean on the same side, with or without
references.
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtr

from .. import stats
from ..metrics import registry
from .frame import METRIC, SENTINEL
from .synthesis import ACCURACY, against, evidence, pool

UNKNOWN, NEVER, CARE, USE = "unknown", "do not use", "with care", "use"
ORDER = (USE, CARE, NEVER, UNKNOWN)
#: Fewest families for a verdict, and the accuracy of a metric that guesses.
FAMILIES, CHANCE = 5, 0.5
ALPHA = 0.05
#: Rated sets that come nearest to a user's in rewrites a source.
NEAREST = 5
#: Columns of what is foretold.
FORETOLD = ["expected", "predict_low", "predict_high"]
#: Columns of the difference to the best sentinel.
GAPS = ["difference", "difference_low", "difference_high"]
#: How the reason of a constructed set begins.
CONSTRUCTED = "constructed"
#: Sets that a metric orders the other way: significantly, of those that are pooled; at all, of the
#: stress panel; and whether there is a constructed set.
Flips = tuple[list[str], list[str], bool]


def other_way(effects: pd.DataFrame) -> Flips:
    """The sets that stand against a metric, of the values of one metric."""
    pooled = effects[effects["panel"] == "pool"].dropna(subset=["value", "se"])
    z = (pooled["value"] - CHANCE) / pooled["se"].clip(lower=1e-4)
    low = pooled["dataset"][stats.holm(ndtr(z.to_numpy(float))) <= ALPHA].tolist()
    stress = effects[(effects["panel"] == "stress") & effects["value"].notna()]
    tried = bool(stress["reason"].str.startswith(CONSTRUCTED).any())
    return low, stress["dataset"][stress["value"] <= CHANCE].tolist(), tried


class _Known(NamedTuple):
    """What does not depend on the task: a row a metric, all values, and the sets of each metric."""

    table: pd.DataFrame
    values: pd.DataFrame
    sets: dict[tuple[str, str], pd.DataFrame]


def _pooled(effects: pd.DataFrame, references: bool) -> _Known:
    effects = effects[(effects["statistic"] == ACCURACY) & (effects["level"] != "system")]
    effects = effects[(effects["basis"] == "reference") == references]
    values = effects[effects["against"] == ""]
    pooled = pool(values.assign(level=""))
    best = pooled[pooled["kind"] == SENTINEL].dropna(subset="mean").sort_values("mean").tail(1)
    sentinel, basis = best[["metric", "basis"]].iloc[0] if len(best) else ("", "")
    gaps = pool(against(effects, sentinel, basis).assign(level=""))
    gaps = gaps.set_index(["metric", "basis"])[["mean", "low", "high"]].set_axis(GAPS, axis=1)
    table = pooled[pooled["kind"] == METRIC].join(gaps, on=["metric", "basis"])
    by_metric, facts, sets = dict(iter(values.groupby(["metric", "basis"]))), [], {}
    for key in table[["metric", "basis"]].itertuples(index=False, name=None):
        flips, rows = other_way(by_metric[key]), by_metric[key]
        rows = rows[rows["panel"].eq("pool") & rows["value"].notna()].sort_values("year")
        fails, sets[key] = ", ".join([*flips[0], *flips[1]]), rows
        languages = " ".join(sorted(set(rows["language"])))
        newest = rows["outputs"].iloc[-1] if len(rows) else ""
        facts.append((sentinel, flips, fails, languages, newest))
    columns = ["sentinel", "flips", "fails", "languages", "outputs"]
    facts = pd.DataFrame(facts, table.index, columns, dtype=object)
    return _Known(table.join(facts), values, sets)


@cache
def _book_evidence(dimension: str, references: bool) -> _Known:
    return _pooled(evidence(dimension, differences=True), references)


def verdicts(
    effects: pd.DataFrame | None = None,
    dimension: str = "content",
    references: bool = False,
    task: str = "",
    language: str = "",
    rewrites: float = 0.0,
    sources: float = np.nan,
) -> pd.DataFrame:
    """The verdict on every metric of a dimension at segment level, best first: by verdict, then
    those whose mean lies above chance by its interval, then by the mean.

    Args:
        effects: evidence with its differences; by default all of the book's.
        references: metrics that compare with references, or those that need none.
        task, language: what it is for; evidence of it must exist.
        rewrites, sources: of the set to be foretold: rewrites a source, and sources with two; by
            default a set of the usual size.

    Returns:
        metric, basis, verdict, reason; mean, low, high of the accuracy over families; expected,
        predict_low, predict_high (what a new set of the task will show, 95 %); sentinel (the best),
        difference, difference_low, difference_high to it; families, own (families of the task and
        language), languages, outputs (the newest kind), fails (sets that it orders the other way).

    Raises:
        TstmetaError: a dimension of which there is no evidence.
    """
    known = (
        _book_evidence(dimension, references) if effects is None else _pooled(effects, references)
    )
    table = known.table.copy()
    table[FORETOLD] = foretold(table, known.values, task)
    rows = []
    for row in table.itertuples(index=False):
        sets = known.sets[row.metric, row.basis]
        families = sets["family"][fitting(sets, task, language)].nunique()
        verdict, reason = decide(row, row.flips, families, task, language)
        rows.append(row._asdict() | {"own": families, "verdict": verdict, "reason": reason})
    columns = ["metric", "basis", "verdict", "reason", "mean", "low", "high", *FORETOLD]
    columns += ["sentinel", *GAPS, "families", "own", "languages", "outputs", "fails"]
    table = pd.DataFrame(rows, columns=columns)
    if np.isfinite(sources):  # few sources widen what is foretold; the verdict is on the metric
        table[FORETOLD] = foretold(table, known.values, task, rewrites, sources)
    order = {"rank": table["verdict"].map(ORDER.index), "sure": table["low"] > CHANCE}
    table = table.assign(**order).sort_values([*order, "mean"], ascending=[True, False, False])
    return table.drop(columns=order).reset_index(drop=True)


def foretold(
    table: pd.DataFrame,
    known: pd.DataFrame,
    task: str,
    rewrites: float = 0.0,
    sources: float = np.nan,
) -> pd.DataFrame:
    """What each metric is expected to show on a set of that task, and its limits (95 %), see
    :func:`tstmeta.stats.predict`; all metrics together say how far tasks and families differ.
    """
    known = known[(known["against"] == "") & (known["panel"] == "pool")]
    known = known.dropna(subset=["value", "se"])
    tasks = known.drop_duplicates("family").set_index("family")["task"]
    task = next((name for name in tasks if task and task in name), task)
    by_metric, effects, new = dict(iter(known.groupby(["metric", "basis"]))), [], []
    for key in table[["metric", "basis"]].itertuples(index=False, name=None):
        rows = by_metric.get(key, known[:0])
        y, v, names = stats.family_means(rows["value"], rows["se"], rows["family"].tolist())
        effects.append((y, v, tasks[list(names)].tolist()))
        usual = (rows["se"] ** 2).median() if np.isnan(sources) else np.nan
        new.append(spread(rows, rewrites) / sources if sources > 0 else usual)
    votes = [stats.log_likelihood(*e) for e in effects if len(e[0])] or [np.zeros(1)]
    taus = np.mean(votes, axis=0)
    limits = [stats.predict(*e, task, v, taus)[:3] for e, v in zip(effects, new, strict=True)]
    limits = pd.DataFrame(limits, table.index, FORETOLD, dtype=float).clip(0.0, 1.0)
    return limits.where(limits.notna().all(axis=1))  # without pairs nothing is foretold


def spread(rows: pd.DataFrame, rewrites: float = 0.0) -> float:
    """The variance of an effect times its sources: the median of sets, or of those nearest."""
    if rewrites:
        far = np.abs(np.log(rows["rewrites"] / rewrites))
        rows = rows.loc[far.nsmallest(NEAREST).index]
    return float((rows["se"] ** 2 * rows["sources"]).median())


class Recommendation(NamedTuple):
    """What to take for a dimension of a task; ``str`` is the sentence that all pages print."""

    dimension: str
    verdict: str  # use, with care, none or unknown
    reason: str  # why no better verdict
    row: dict[str, Any]  # of :func:`verdicts`; empty without a metric
    here: float = np.nan  # accuracy, over families of the task and language
    anywhere: "Recommendation | None" = None  # of metrics that run anywhere, where it differs

    @property
    def metric(self) -> str:
        return str(self.row.get("metric", ""))

    @property
    def expected(self) -> str:
        """Accuracy that a new set of the task will show, with limits (95 %)."""
        value, low, high = (f"{100 * self.row[name]:.0f}" for name in FORETOLD)
        known = np.isfinite(self.row[FORETOLD[0]])
        return f"{value} % ({low} to {high})" if known else "nothing can be foretold"

    def __str__(self) -> str:
        if not self.metric:
            return f"{self.verdict}: {self.reason}"
        more = f"; on any machine: {self.anywhere}" if self.anywhere else ""
        return f"{self.verdict} {self.metric}: {self.expected}{more}"


def verdict(
    dimension: str = "content", task: str = "", language: str = "", references: bool = False
) -> Recommendation:
    """The answer to what one should take: the front page, chapters, metrics and advice print it.

    The metric that :func:`verdicts` puts first, and the first of those that need no model from
    outside.  *none* where no metric is above chance by the interval of its mean; *unknown* where no
    evidence speaks of the task and language.

    Raises:
        TstmetaError: a dimension of which there is no evidence.
    """
    table = verdicts(None, dimension, references, task, language)
    return recommend(table, evidence(dimension), dimension, task, language)


def recommend(
    table: pd.DataFrame, effects: pd.DataFrame, dimension: str, task: str, language: str
) -> Recommendation:
    """The answer from a table of :func:`verdicts` and the evidence that it is of."""
    best = _first(table, effects, dimension, task, language)
    runs = [registry.get(name).profile == "embedded" for name in table["metric"]]
    anywhere = _first(table[runs], effects, dimension, task, language)
    return best if anywhere.metric == best.metric else best._replace(anywhere=anywhere)


def _first(
    table: pd.DataFrame, effects: pd.DataFrame, dimension: str, task: str, language: str
) -> Recommendation:
    rows = table[:1].to_dict("records")
    row: dict[str, Any] = rows[0] if rows else {"verdict": NEVER, "reason": "there is no metric"}
    if row["verdict"] in (NEVER, UNKNOWN):
        word = "none" if row["verdict"] == NEVER else UNKNOWN
        return Recommendation(dimension, word, row["reason"], {})
    if row["low"] <= CHANCE:
        nearest = f"{row['metric']} comes nearest, with {100 * row['mean']:.0f} %"
        return Recommendation(dimension, "none", f"no metric is surely above chance; {nearest}", {})
    sets = effects[(effects["metric"] == row["metric"]) & (effects["basis"] == row["basis"])]
    sets = sets[(sets["panel"] == "pool") & (sets["against"] == "") & sets["value"].notna()]
    sets = sets[(sets["statistic"] == ACCURACY) & (sets["level"] != "system")]
    sets = sets[fitting(sets, task, language)]
    here = float(sets.groupby("family")["value"].mean().mean())
    return Recommendation(dimension, row["verdict"], row["reason"], row, here)


def beyond(effects: pd.DataFrame, task: str = "", language: str = "") -> pd.DataFrame:
    """Judges and classifiers whose scores came with data sets, and people, on families of a task.

    Args:
        effects: evidence on one dimension.

    Returns:
        kind (judge: a large language model that was asked; classifier: trained on the style of the
        task; people: one rater against the others), metric, mean accuracy over families, families,
        tasks; of a kind first what most families know.
    """
    rows = effects[
        effects["kind"].isin(["judge", "classifier", "people"]) & (effects["panel"] == "pool")
    ]
    rows = rows[(rows["against"] == "") & (rows["statistic"] == ACCURACY)].dropna(subset="value")
    groups = rows[fitting(rows, task, language)].groupby(["kind", "metric", "family"])
    table = groups.agg(value=("value", "mean"), task=("task", "first")).reset_index("family")
    about: dict[str, Any] = {"mean": ("value", "mean"), "families": ("family", "size")}
    about["tasks"] = ("task", lambda tasks: ", ".join(sorted(set(tasks))))
    table = table.groupby(["kind", "metric"]).agg(**about).reset_index()
    order = ["kind", "families", "mean"]
    return table.sort_values(order, ascending=[True, False, False]).reset_index(drop=True)


def fitting(sets: pd.DataFrame, task: str, language: str) -> pd.Series:
    """Whether a set is of a task and in a language (a code); all are where these are empty."""
    in_language = sets["language"].map(lambda codes: language in ("", *codes.split())).astype(bool)
    return sets["task"].str.contains(task, regex=False) & in_language


def decide(row: Any, flips: Flips, families: int, task: str, language: str) -> tuple[str, str]:
    """A verdict and its reason, from a row of :func:`pool` with its differences."""
    if row.families < FAMILIES:
        return UNKNOWN, f"{row.families} families of sets, fewer than {FAMILIES}"
    if not families:
        wanted = " in ".join(filter(None, (task, language)))
        return UNKNOWN, f"tried on no rated set of {wanted}"
    if row.high <= CHANCE:
        return NEVER, "no better than chance"
    if row.difference_high < 0:
        return NEVER, "worse than the best sentinel"
    (pooled, stress, tried), worse = flips, "prefers the worse rewrite in most pairs of"
    doubts = {
        "a new set may show less than one half": row.predict_low <= CHANCE,
        "not surely better than the best sentinel": not row.difference_low > 0,
        f"{worse} {', '.join(pooled)}": bool(pooled),
        f"{worse} {', '.join(stress)} (stress panel)": bool(stress),
        "no constructed set to try it on": not tried,
    }
    reasons = [reason for reason, holds in doubts.items() if holds]
    return (CARE, "; ".join(reasons)) if reasons else (USE, "")
