"""The sentinel ``random`` as a page shows it: one seed may be lucky, so it is the mean of ten."""

from collections.abc import Iterable

import pandas as pd

from ..data import Dataset
from ..scoring import score
from .agreement import WITHOUT, correlate
from .frame import pairs

#: Plain ``random`` is seed 0.
RANDOM, SEEDS = "random", ["random", *(f"random:{seed}" for seed in range(1, 10))]


def seeded(
    frame: pd.DataFrame,
    data: Iterable[Dataset],
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
) -> pd.DataFrame:
    """Results in which the row ``random`` of each data set is the mean of ten seeds.

    Args:
        frame: of :func:`correlate`, :func:`bootstrap` or :func:`evaluate`: metric, dataset, value.
        data: the data sets; of others the row stays.
        dimension, statistic, level: what ``frame`` was computed with.

    Returns:
        A copy: value is the mean, low and high lie two standard deviations of the seeds from it,
        and the name says how many seeds, and without low and high the largest standard deviation.
        Ranks stay those of seed 0.
    """
    frame, spread, at = frame.copy(), [0.0], frame["metric"] == RANDOM
    for own in data:
        rows = at & (frame["dataset"] == own.name)
        if not rows.any():
            continue
        both = pairs(own, score(own, SEEDS, ["source"], progress=False), dimension)
        each = correlate(both, statistic, level)["value"]
        spread.append(each.std())
        frame.loc[rows, "value"] = each.mean()
        frame.loc[rows, [name for name in WITHOUT if name in frame]] = None
        if "low" in frame:
            frame.loc[rows, "low"] = each.mean() - 2 * each.std()
            frame.loc[rows, "high"] = each.mean() + 2 * each.std()
    sd = "" if "low" in frame else f", sd {max(spread):.2f}"
    named = f"{RANDOM}: mean of {len(SEEDS)}{sd}"
    return frame.assign(metric=frame["metric"].mask(at & (len(spread) > 1), named))
