"""Tables about the raters: the human ceiling, the alternative annotator test, reliability.

What a data set must have for each stands in :mod:`.rated`, the test in :mod:`.alternative`.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset
from ..stats import Setting
from ..stats.matrices import Level
from ..stats.raters import (
    attenuation,
    ceiling,
    mean_of_ratings,
    single_rater,
    spearman_brown,
    split_half,
)
from .alternative import alternative, alternative_by_rater
from .layout import NO_SYSTEMS, OF_SYSTEMS
from .matrices import Cube, Matrices, cube, matrices
from .rated import check, impossible, unfit

__all__ = [
    "alternative",
    "alternative_by_rater",
    "by_level",
    "corrected",
    "human_ceiling",
    "reliability",
]

#: Names of people's own rows.
PERSON, SLOT, RATER = "held-out person", "held-out rating slot", "held-out rater"

_CEILING = [
    *("level", "metric", "basis", "value", "human", "n", "ratings", "against", "note"),
    "signature",
]
_RELIABILITY = [
    *("dimension", "alpha_ordinal", "alpha_interval", "single", "per_item", "of_mean"),
    *("halves", "stepped"),
    *("n", "raters", "released", "note"),
]
_CORRECTED = ["metric", "basis", "raw", "corrected", "reliability", "n", "note", "signature"]


# ----------------------------------------------------------------------------------- ceiling


def human_ceiling(
    dataset: Dataset,
    scores: pd.DataFrame,
    dimension: str = "content",
    *,
    statistic: str = "pearson",
    levels: tuple[Level, ...] = ("pooled", "source", "system"),
    undefined: float = math.nan,
) -> pd.DataFrame:
    """One rater held out, and each metric in that rater's place, at several levels.

    Both face the mean of the remaining raters over the same cells; see
    :func:`tstmeta.stats.raters.ceiling`.  A metric that lacks some scores is compared on the cells
    it scored, and ``human`` is then people's value on these.

    Args:
        scores: a ``scores`` table of the data set.
        undefined: counts for a source without a value, such as one whose ratings are all equal.

    Returns:
        One row a level and metric, people first: level, metric, basis, value, human (people's value
        on the same cells), n (cells, sources with a value, or systems; with all raters), ratings
        (held-out ratings), against, note (why there is no value), signature.  A level that does not
        apply has the row of people alone, with the reason.

    Raises:
        TstmetaError: several rating scales at once, an unknown dimension, statistic or level.
    """
    check(dataset, dimension, statistic, levels)
    rows: list[dict] = []
    for level in levels:
        people = cube(dataset, dimension, level)
        name = PERSON if people.persons else SLOT if len(people.raters) > 1 else RATER
        head = {"level": level, "metric": name, "basis": "", "signature": f"leave-one-out|{name}"}
        found = matrices(dataset, scores, dimension, level)
        reason = impossible(dataset, dimension, people) or _inapplicable(
            people, found, statistic, level
        )
        if reason:
            rows.append(head | {"note": reason})
            continue
        rows += _ceiling_rows(head, people, found, dimension, statistic, level, undefined)
    table = pd.DataFrame(rows, columns=_CEILING)
    table[["n", "ratings"]] = table[["n", "ratings"]].fillna(0).astype(int)
    return table.fillna({"against": "", "note": "", "signature": ""})


def by_level(table: pd.DataFrame) -> pd.DataFrame:
    """:func:`human_ceiling` with one row a metric and one column a level, rows as they came."""
    keys = ["metric", "basis", "signature"]
    wide = table[keys].drop_duplicates()
    for level in table["level"].unique():
        values = table.loc[table["level"] == level, [*keys, "value"]]
        wide = wide.merge(values.rename(columns={"value": level}), on=keys, how="left")
    return wide[["metric", "basis", *table["level"].unique(), "signature"]]


def _ceiling_rows(
    head: dict,
    people: Cube,
    found: Matrices,
    dimension: str,
    statistic: str,
    level: Level,
    undefined: float,
) -> list[dict]:
    setting = found.setting(statistic, level, undefined=undefined)
    mean = mean_of_ratings(people.ratings)
    alone = ceiling(people.ratings, setting)
    against = "mean of the other raters" if people.persons else "the other slot's rating"
    over = stats.correlate(mean, mean, setting).n
    rows = [
        head
        | {"value": alone.value, "human": alone.value, "n": over, "ratings": alone.n}
        | {"against": against, "note": alone.reason}
    ]
    for (metric, basis), signature, values in zip(
        found.names, found.signatures, found.metrics, strict=True
    ):
        row = {"level": level, "metric": metric, "basis": basis, "signature": signature}
        if reason := unfit(metric, dimension, values):
            rows.append(row | {"note": reason, "against": against})
            continue
        beside = ceiling(people.ratings, setting, values[None])
        direct = stats.correlate(mean, values, setting)
        value = float(beside.metrics[0])
        note = beside.reason or ("" if math.isfinite(value) else direct.reason)
        numbers = {"value": value, "human": beside.value, "n": direct.n, "ratings": beside.n}
        rows.append(row | numbers | {"against": against, "note": note})
    return rows


def _inapplicable(people: Cube, found: Matrices, statistic: str, level: Level) -> str:
    """Why a level says nothing about these data; empty if it does."""
    if level in OF_SYSTEMS and not found.layout.named:
        return NO_SYSTEMS
    function = found.setting(statistic, "pooled").function
    paired = np.isfinite(people.ratings).sum(axis=-1) > 1
    if level == "source" and (most := int(paired.sum(axis=1).max(initial=0))) < function.least:
        return f"{function.label} needs {function.least} rewrites of a source, rated are {most}"
    systems, least = int(paired.any(axis=0).sum()), max(function.least, function.alone)
    if level == "system" and systems < least:
        return f"{function.label} needs {least} systems, rated are {systems}"
    return ""


# -------------------------------------------------------------------------------- reliability


def reliability(dataset: Dataset, dimension: str = "content", *, seed: int = 0) -> pd.DataFrame:
    """How far ratings agree, in one row.

    Returns:
        dimension, alpha_ordinal and alpha_interval (Krippendorff), single (reliability of one
        rating, :func:`tstmeta.stats.raters.single_rater`), per_item (harmonic mean of ratings an
        item), of_mean (Spearman-Brown from single to per_item), halves (Pearson's r of the means of
        random halves of each item's ratings, pooled, mean over splits), stepped (the same by
        Spearman-Brown to twice as many ratings, to stand beside of_mean), n (items with two
        ratings), raters, released (persons, slots, one rater, means or nothing), note.

    Raises:
        TstmetaError: several rating scales at once, or an unknown dimension.
    """
    check(dataset, dimension)
    people = cube(dataset, dimension)
    reason = impossible(dataset, dimension, people)
    released = "persons" if people.persons else "slots" if len(people.raters) > 1 else "one rater"
    if not people.raters:
        released = "means" if dimension in dataset.dimensions else "nothing"
    cells = math.prod(people.ratings.shape[:2])
    flat = people.ratings.reshape(cells, len(people.raters))
    ordinal, interval = stats.alpha(flat, "ordinal"), stats.alpha(flat, "interval")
    single = single_rater(people.ratings)
    halves = split_half(people.ratings, Setting(), rng=np.random.default_rng(seed)).value
    row = {
        "dimension": dimension,
        **{"alpha_ordinal": ordinal.value, "alpha_interval": interval.value},
        **{"single": single.value, "per_item": single.per_cell, "of_mean": single.of_mean},
        **{"halves": halves, "stepped": spearman_brown(halves, 2).value},
        **{"n": single.n, "raters": ordinal.raters, "released": released},
        "note": reason or ordinal.reason or single.reason,
    }
    return pd.DataFrame([row], columns=_RELIABILITY)


def corrected(dataset: Dataset, scores: pd.DataFrame, dimension: str = "content") -> pd.DataFrame:
    """Pearson's r over all items beside the same corrected for the noise of the mean ratings.

    Returns:
        metric, basis, raw, corrected, reliability (of the mean ratings, as in :func:`reliability`),
        n (items), note, signature.  Without single ratings nothing can be corrected.

    Raises:
        TstmetaError: several rating scales at once, or an unknown dimension.
    """
    check(dataset, dimension)
    people, found = cube(dataset, dimension), matrices(dataset, scores, dimension)
    reason = impossible(dataset, dimension, people)
    of_mean = single_rater(people.ratings).of_mean
    human = mean_of_ratings(people.ratings) if people.raters else found.human
    if dimension not in dataset.dimensions:  # labels by construction are no ratings
        human = np.full(found.shape, math.nan)
    rows = []
    for (metric, basis), signature, values in zip(
        found.names, found.signatures, found.metrics, strict=True
    ):
        why = unfit(metric, dimension, values)
        side = values * math.nan if why else values
        raw = stats.pearson(human.ravel(), side.ravel())
        fixed = attenuation(raw.value, of_mean)
        note = why or reason or raw.reason or fixed.reason
        rows.append((metric, basis, raw.value, fixed.value, of_mean, raw.n, note, signature))
    return pd.DataFrame(rows, columns=_CORRECTED)
