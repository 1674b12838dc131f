"""Agreement between raters: the human ceiling, and Krippendorff's alpha."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset
from ..data.base import RATING
from ..schema import TstmetaError
from ..stats import Setting
from .frame import check_dimension, judged
from .matrices import Matrices, cube, matrices


class People(NamedTuple):
    """The human ceiling; fields as the columns of :func:`tstmeta.ceiling`."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    raters: int = 0
    persons: bool = False
    note: str = "labels, not ratings"


def people(
    data: Dataset, dimension: str, laid: Matrices, setting: Setting
) -> tuple[People, np.ndarray]:
    """The human ceiling, and the value of each metric in the place of the rater left out ``[M]``.

    A metric that lacks scores of rated items has none: it would change the items for all.
    """
    in_place = np.full(len(laid.metrics), np.nan)
    if laid.against != RATING:
        return People(), in_place
    ratings, _, persons, reason = cube(data, dimension, setting.level)
    shared = np.isfinite(ratings).sum(axis=-1) > 1
    complete = np.isfinite(laid.metrics)[:, shared].all(axis=1) & shared.any()
    ceiling = stats.ceiling(ratings, setting, laid.metrics[complete])
    in_place[complete] = ceiling.metrics
    known = ceiling.by_rater[np.isfinite(ceiling.by_rater)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (np.nan, np.nan)
    note = reason if np.isfinite(ceiling.value) else reason or ceiling.reason
    return People(ceiling.value, low, high, ceiling.n, len(known), persons, note), in_place


def ceiling(
    data: Dataset | Iterable[Dataset],
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
) -> pd.DataFrame:
    """The human ceiling: one rater against the mean of the others, averaged over raters.

    Args:
        data: a data set, or several.
        dimension: content, style or fluency.
        statistic, level: see :func:`tstmeta.correlate`.

    Returns:
        A row a data set: dataset, dimension, value, low, high (lowest and highest rater), n
        (ratings compared), raters, persons (whether a rater is one person; if not, the value is of
        anonymous rating slots), reason (why there is no value, or what the raters are).

    Raises:
        TstmetaError: an unknown dimension, statistic or level.
    """
    rows = []
    for dataset in [data] if isinstance(data, Dataset) else data:
        against = dataset.against(dimension)
        values = People() if against else People(note=f"no ratings of {dimension}")
        if against == RATING:
            check_dimension(dataset, dimension)
            laid = matrices(judged(dataset, dimension), level)
            values = people(dataset, dimension, laid, laid.setting(statistic, level))[0]
        rows.append({"dataset": dataset.name, "dimension": dimension, **values._asdict()})
    columns = ["dataset", "dimension", *People._fields]
    return pd.DataFrame(rows, columns=columns).rename(columns={"note": "reason"})


def agreement_facts(data: Dataset) -> pd.DataFrame:
    """Krippendorff's alpha for reading: part (dimension), what, value; of intervals where the scale
    is more than ten points wide.
    """
    rows = []
    for dimension in data.dimensions:
        values = data.ratings.loc[data.ratings["dimension"] == dimension, "value"]
        low, high = data.card.scale.get(dimension) or (values.min(), values.max())
        level = "interval" if high - low > 10 else "ordinal"
        try:
            check_dimension(data, dimension)
            row, reason = alpha(data, dimension).iloc[0], cube(data, dimension).reason
        except TstmetaError as error:
            rows.append((dimension, "Krippendorff's alpha", f"- ({error})"))
            continue
        about = f"{row['raters']} raters, {row['n']:,} rewrites" + f"; {reason}" * bool(reason)
        why = reason or row["reason"]
        value = f"{row[level]:z.3f} ({about})" if np.isfinite(row[level]) else f"- ({why})"
        rows.append((dimension, f"Krippendorff's alpha ({level})", value))
    return pd.DataFrame(rows, columns=["part", "what", "value"])


def alpha(data: Dataset | Iterable[Dataset], dimension: str = "content") -> pd.DataFrame:
    """Krippendorff's alpha of the ratings of a dimension (means alone say nothing of agreement).

    Args:
        data, dimension: see :func:`tstmeta.ceiling`.

    Returns:
        A row a data set: dataset, dimension, ordinal, interval (alpha with that difference
        function; 1 is perfect, 0 is chance), n (items with two ratings or more), raters, reason.
    """
    rows = []
    for dataset in [data] if isinstance(data, Dataset) else data:
        ratings = dataset.raters(dimension)
        ordinal, interval = (stats.alpha(ratings, level) for level in ("ordinal", "interval"))
        row = [dataset.name, dimension, ordinal.value, interval.value]
        rows.append([*row, ordinal.n, ordinal.raters, ordinal.reason])
    columns = ["dataset", "dimension", "ordinal", "interval", "n", "raters", "reason"]
    return pd.DataFrame(rows, columns=columns)
