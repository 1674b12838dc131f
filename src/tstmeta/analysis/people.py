"""People against people: the human ceiling, and Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset
from ..data.base import RATING
from .agreement import ACC_EQ, Job
from .frame import check_dimension
from .matrices import Matrices, check, cube, matrices


class People(NamedTuple):
    """The human ceiling: one rater against the mean of the others.

    Attributes:
        value: averaged over raters, NaN where there is none.
        low, high: the lowest and the highest rater.
        n: ratings compared.
        raters: raters with a value.
        persons: whether a rater is one person; if not, value is of anonymous slots.
        note: why there is no value, or what the raters are if not persons.
    """

    value: float
    low: float
    high: float
    n: int
    raters: int
    persons: bool
    note: str


def people(data: Dataset, dimension: str, job: Job) -> tuple[People, np.ndarray]:
    """The human ceiling, and each metric in the place of the rater left out ``[M]``.

    A metric that lacks scores of rated items has none: it would change the items for all.
    """
    nobody = np.full(len(job.made.metrics), np.nan)
    if job.made.against != RATING:
        return People(np.nan, np.nan, np.nan, 0, 0, False, "labels, not ratings"), nobody
    rated = cube(data, dimension, job.setting.level)
    shared = np.isfinite(rated.ratings).sum(axis=-1) > 1
    fixed = job.setting.function.name == ACC_EQ
    whole = np.isfinite(job.made.metrics)[:, shared].all(axis=1) & shared.any() & (not fixed)
    found = stats.ceiling(rated.ratings, job.setting, job.made.metrics[whole])
    nobody[whole] = found.metrics
    own = found.by_rater[np.isfinite(found.by_rater)]
    low, high = (float(own.min()), float(own.max())) if len(own) else (np.nan, np.nan)
    note = rated.reason if np.isfinite(found.value) else rated.reason or found.reason
    return People(found.value, low, high, found.n, len(own), rated.persons, note), nobody


def ceiling(
    data: Dataset | Iterable[Dataset],
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
) -> pd.DataFrame:
    """The human ceiling: one rater against the mean of the others, averaged over raters.

    Args:
        data: a data set, or several.

    Returns:
        A row a data set: dataset, dimension, value, low, high (lowest and highest rater), n
        (ratings compared), raters, persons (whether a rater is one person; if not, the value is of
        anonymous rating slots), reason (why there is no value, or what the raters are).

    Raises:
        TstmetaError: an unknown dimension, statistic or level.
    """
    check(statistic, level)
    rows = []
    for one in [data] if isinstance(data, Dataset) else data:
        row = {"dataset": one.name, "dimension": dimension}
        if one.against(dimension) != RATING:
            reason = (
                "labels, not ratings" if one.against(dimension) else f"no ratings of {dimension}"
            )
            rows.append(row | People(np.nan, np.nan, np.nan, 0, 0, False, reason)._asdict())
            continue
        check_dimension(one, dimension)
        made = _human_alone(one, dimension, level)
        job = Job(made, made.setting(statistic, level), stats.Plan(), 0.95, 0)
        rows.append(row | people(one, dimension, job)[0]._asdict())
    columns = ["dataset", "dimension", *People._fields]
    return pd.DataFrame(rows, columns=columns).rename(columns={"note": "reason"})


def _human_alone(data: Dataset, dimension: str, level: str) -> Matrices:
    """The matrices of people, and no metric."""
    items = data.items[["item_id", "source_id", "system"]].assign(
        human=data.human(dimension).to_numpy(float),
        against=data.against(dimension),
        task=data.label("task").to_numpy(str),
        rater_group=data.label("survey").to_numpy(str),
    )
    none = pd.Series(np.nan, items.index)
    heads = {"dataset": data.name, "metric": "", "basis": "", "kind": "", "flipped": False}
    made = matrices(items.assign(**heads, signature="", score=none), level)
    return made._replace(metrics=made.metrics[:0], heads=made.heads.iloc[:0])


def alpha(data: Dataset | Iterable[Dataset], dimension: str = "content") -> pd.DataFrame:
    """Krippendorff's alpha of the ratings of a dimension (means alone say nothing of agreement).

    Returns:
        A row a data set: dataset, dimension, ordinal, interval (alpha with that difference
        function; 1 is perfect, 0 is chance), n (items with two ratings or more), raters, reason.
    """
    rows = []
    for one in [data] if isinstance(data, Dataset) else data:
        matrix = one.raters(dimension)
        ordinal, interval = (stats.alpha(matrix, level) for level in ("ordinal", "interval"))
        rows.append(
            {
                "dataset": one.name,
                "dimension": dimension,
                "ordinal": ordinal.value,
                "interval": interval.value,
                "n": ordinal.n,
                "raters": ordinal.raters,
                "reason": ordinal.reason,
            }
        )
    return pd.DataFrame(rows)
