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

from typing import Any

import pandas as pd
from scipy.special import ndtr

from .. import stats
from .frame import METRIC, SENTINEL
from .synthesis import ACCURACY, against, evidence, pool

UNKNOWN, NEVER, CARE, USE = "unknown", "do not use", "with care", "use"
ORDER = (USE, CARE, NEVER, UNKNOWN)
#: Fewest families for a verdict, and the accuracy of a metric that guesses.
FAMILIES, CHANCE = 5, 0.5
ALPHA = 0.05
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


def verdicts(
    effects: pd.DataFrame | None = None,
    dimension: str = "content",
    references: bool = False,
    task: str = "",
    language: str = "",
) -> pd.DataFrame:
    """The verdict on every metric of a dimension at segment level, best first: by verdict, then
    those whose mean lies above chance by its interval, then by the mean.

    Args:
        effects: evidence with its differences; by default all of the book's.
        references: metrics that compare with references, or those that need none.
        task, language: what it is for; evidence of it must exist.

    Returns:
        metric, basis, verdict, reason; mean, low, high, predict_low, predict_high of the accuracy;
        sentinel (the best), difference, difference_low, difference_high to it; families, own
        (families of the task and language), languages, outputs (the newest kind), fails (sets that
        it orders the other way).

    Raises:
        TstmetaError: a dimension of which there is no evidence.
    """
    if effects is None:
        effects = evidence(dimension, differences=True)
    effects = effects[(effects["statistic"] == ACCURACY) & (effects["level"] != "system")]
    effects = effects[(effects["basis"] == "reference") == references]
    values = effects[effects["against"] == ""]
    pooled = pool(values.assign(level=""))
    sentinels = pooled[(pooled["kind"] == SENTINEL) & pooled["mean"].notna()]
    best = sentinels.sort_values("mean").tail(1)
    sentinel, basis = best[["metric", "basis"]].iloc[0] if len(best) else ("", "")
    gaps = pool(against(effects, sentinel, basis).assign(level=""))
    gaps = gaps.set_index(["metric", "basis"])[["mean", "low", "high"]]
    gaps.columns = ["difference", "difference_low", "difference_high"]
    table = pooled[pooled["kind"] == METRIC].join(gaps, on=["metric", "basis"])
    by_metric = dict(iter(values.groupby(["metric", "basis"])))
    rows = []
    for row in table.itertuples(index=False):
        known = by_metric[row.metric, row.basis]
        sets = known[known["panel"].eq("pool") & known["value"].notna()]
        fits = sets["task"].str.contains(task, regex=False) & in_language(sets, language)
        flips, families = other_way(known), sets["family"][fits].nunique()
        newest = sets.sort_values("year")["outputs"].iloc[-1] if len(sets) else ""
        facts = {"sentinel": sentinel, "own": families, "outputs": newest}
        facts["languages"] = " ".join(sorted(set(sets["language"])))
        facts["fails"] = ", ".join([*flips[0], *flips[1]])
        facts["verdict"], facts["reason"] = decide(row, flips, families, task, language)
        rows.append(row._asdict() | facts)
    columns = ["metric", "basis", "verdict", "reason", "mean", "low", "high", "predict_low"]
    columns += ["predict_high", "sentinel", *gaps, "families", "own", "languages", "outputs"]
    table = pd.DataFrame(rows, columns=[*columns, "fails"])
    order = {"rank": table["verdict"].map(ORDER.index), "sure": table["low"] > CHANCE}
    table = table.assign(**order).sort_values([*order, "mean"], ascending=[True, False, False])
    return table.drop(columns=order).reset_index(drop=True)


def in_language(sets: pd.DataFrame, language: str) -> pd.Series:
    """Whether a set is in a language (a code); all are where the code is empty."""
    return sets["language"].map(lambda codes: language in ("", *codes.split())).astype(bool)


def decide(row: Any, flips: Flips, families: int, task: str, language: str) -> tuple[str, str]:
    """A verdict and its reason, from a row of :func:`pool` with its differences."""
    if row.families < FAMILIES:
        return UNKNOWN, f"{row.families} families of sets, fewer than {FAMILIES}"
    if not families:
        wanted = " in ".join(filter(None, (task, language)))
        return UNKNOWN, f"no rated set of {wanted}"
    if row.high <= CHANCE:
        return NEVER, "no better than chance"
    if row.difference_high < 0:
        return NEVER, "worse than the best sentinel"
    (pooled, stress, tried), against_people = flips, "orders pairs against people on"
    doubts = {
        "a new set may show less than one half": row.predict_low <= CHANCE,
        "not surely better than the best sentinel": not row.difference_low > 0,
        f"{against_people} {', '.join(pooled)}": bool(pooled),
        f"{against_people} the stress panel: {', '.join(stress)}": bool(stress),
        "no constructed set to try it on": not tried,
    }
    reasons = [reason for reason, holds in doubts.items() if holds]
    return (CARE, "; ".join(reasons)) if reasons else (USE, "")
