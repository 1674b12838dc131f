"""The effect of a metric on each data set, and the effects of all data sets pooled.

The effect of a metric on a set is its accuracy on pairs of rewrites of one source that people
separate, a tie of the metric being one half.  Which sets share sources (a *family*), and which are
pooled, stands in ``data/cards/synthesis.csv``; effects of all sets in ``data/frozen/effects.csv``.
"""

from functools import cache
from itertools import combinations
from typing import get_args

import numpy as np
import pandas as pd

from .. import stats
from ..data import paths
from ..schema import TstmetaError
from ..stats.pooling import TauMethod
from .agreement import bootstrap
from .frame import METRIC, both_ways, separated

#: The headline statistic and its level.
ACCURACY, SAME_SOURCE = "accuracy", "same-source"
#: What an effect is of; an empty ``against`` is a value, another name a difference.
HEAD = ["dimension", "statistic", "level", "metric", "basis", "kind", "against", "against_basis"]


def panels() -> pd.DataFrame:
    """A row a rated set: dataset, family, panel (pool, stress, out), level, task, and more."""
    table = pd.read_csv(paths.project("cards", "synthesis.csv"), keep_default_na=False)
    return table.rename(columns={"set": "dataset"})


def effects(
    pairs: pd.DataFrame,
    dimension: str = "",
    statistic: str = ACCURACY,
    level: str = "",
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """The effect of every metric and of the difference of every two, on each data set.

    Args:
        pairs: see :func:`tstmeta.pairs`.
        dimension: what the pairs are about, written into the column.
        statistic, level: see :func:`tstmeta.correlate`; by default the level of the set in
            :func:`tstmeta.analysis.synthesis.panels`, else same-source.
        draws, seed: of the bootstrap over sources.

    Returns:
        Columns dataset, dimension, statistic, level, metric (a sentinel that may be used either way
        also as ``copy-rate:flipped``), basis, kind, against, against_basis (empty: the row is a
        value; else the difference to that metric, of the same resamples), value, se (standard
        error: the standard deviation of the resamples), sources (that have pairs), pairs (of
        rewrites of one source that people separate).
    """
    known = panels().set_index("dataset")["level"]
    parts = []
    for name, rows in pairs.groupby("dataset", sort=False, observed=True):
        rows = both_ways(rows)
        at = level or known.get(str(name), "") or SAME_SOURCE
        table = bootstrap(rows, statistic, at, draws=draws, seed=seed)
        counts = {"sources": table["groups"].astype(float), "pairs": separated(rows)}
        drawn = np.stack(table["draws"].to_list())
        table = table.assign(against="", against_basis="", se=drawn.std(axis=1, ddof=1), **counts)
        sides, kinds = (table["basis"] == "reference").tolist(), (table["kind"] == METRIC).tolist()
        compared = [  # on the same side, with references or without; a sentinel stands second
            (i, j) if kinds[i] else (j, i)
            for i, j in combinations(range(len(table)), 2)
            if sides[i] == sides[j] and (kinds[i] or kinds[j])
        ]
        places = np.array(compared, dtype=int).reshape(-1, 2).T
        first, second = (table.iloc[place].reset_index(drop=True) for place in places)
        gaps = first.assign(against=second["metric"], against_basis=second["basis"])
        gaps["value"] = first["value"] - second["value"]
        gaps["se"] = (drawn[places[0]] - drawn[places[1]]).std(axis=1, ddof=1)
        gaps["sources"] = np.minimum(first["sources"], second["sources"])
        both = pd.concat([table, gaps[gaps["value"].notna()]], ignore_index=True)
        parts.append(both.assign(dimension=dimension, statistic=statistic, level=at))
    if not parts:
        raise TstmetaError("there are no pairs, so there are no effects")
    columns = ["dataset", *HEAD, "value", "se", "sources", "pairs"]
    return pd.concat(parts, ignore_index=True)[columns]


@cache
def _frozen() -> pd.DataFrame:
    empty = dict.fromkeys(("against", "against_basis"), "")
    table = pd.read_csv(paths.project("frozen", "effects.csv")).fillna(empty)
    return table.merge(panels().drop(columns="level"), on="dataset")


def evidence(dimension: str = "content", differences: bool = False) -> pd.DataFrame:
    """The effects of all data sets on a dimension, computed where their files are.

    Args:
        dimension: content, style or fluency.
        differences: the rows with a metric in ``against`` too.

    Returns:
        The columns of :func:`effects` and, of the data set, family, panel, task, language, outputs
        (the newest kind) and more.

    Raises:
        TstmetaError: a dimension of which there is no evidence.
    """
    table = _frozen()
    if dimension not in (known := sorted(table["dimension"].unique())):
        raise TstmetaError(f"no evidence on {dimension!r}; there is of {', '.join(known)}")
    rows = (table["dimension"] == dimension) & (differences | (table["against"] == ""))
    return table[rows].reset_index(drop=True)


def against(effects: pd.DataFrame, metric: str, basis: str) -> pd.DataFrame:
    """Differences of all others to one metric: the other minus it, whichever way they stand."""
    second = (effects["against"] == metric) & (effects["against_basis"] == basis)
    first = (effects["metric"] == metric) & (effects["basis"] == basis) & (effects["against"] != "")
    flipped = effects[first].assign(value=-effects["value"][first])
    names = {"metric": "against", "basis": "against_basis"}
    flipped = flipped.rename(columns=names | {other: name for name, other in names.items()})
    return pd.concat([effects[second], flipped[effects.columns]], ignore_index=True)


def pool(effects: pd.DataFrame, method: TauMethod = "pm") -> pd.DataFrame:
    """Random effects over families of the data sets to pool, a row a metric (or difference).

    Args:
        effects: see :func:`effects`; with columns family and panel, or they are looked up, and a
            set that the table does not know is a family of its own.
        method: of tau^2, ``pm`` (Paule-Mandel) or ``dl`` (DerSimonian-Laird).

    Returns:
        dimension, statistic, level, metric, basis, kind, against, against_basis; mean with low and
        high (95 %, Hartung-Knapp), tau, predict_low and predict_high (where the value of a new set
        of the usual size is to be expected, 95 %), families, sets, reason (why there is no mean).
        Limits stay on the scale.  See :mod:`tstmeta.stats.pooling`.

    Raises:
        TstmetaError: values at system level, which few systems make too noisy to be pooled.
    """
    if "system" in set(effects["level"]):
        raise TstmetaError("values at level system are shown, not pooled: they are of few systems")
    if method not in (known := get_args(TauMethod)):
        raise TstmetaError(f"unknown method {method!r} for tau; known: {', '.join(known)}")
    if "family" not in effects:
        effects = effects.merge(panels()[["dataset", "family", "panel"]], "left", "dataset")
        effects["family"] = effects["family"].fillna(effects["dataset"])
        effects["panel"] = effects["panel"].fillna("pool")
    rows = []
    groups = effects[effects["panel"] == "pool"].groupby(HEAD, sort=False, observed=True)
    for key, group in groups[["value", "se", "family"]]:  # without texts, which would be copied
        group = group.dropna(subset=["value", "se"])
        families = stats.family_means(group["value"], group["se"], group["family"].tolist())
        new = float((group["se"] ** 2).median()) if len(group) else None
        result = stats.pool(families.values, families.variances, method=method, new=new)
        head = dict(zip(HEAD, key, strict=True))
        least = 0.0 if head["statistic"] == ACCURACY and not head["against"] else -1.0
        limits = result._asdict() | {"sets": len(group), "families": result.k}
        for name in ("low", "high", "predict_low", "predict_high"):
            limits[name] = float(np.clip(limits[name], least, 1.0))
        rows.append(head | limits)
    columns = ["mean", "low", "high", "tau", "predict_low", "predict_high", "families", "sets"]
    return pd.DataFrame(rows, columns=[*HEAD, *columns, "reason"])
