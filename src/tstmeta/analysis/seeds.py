"""The sentinel ``random`` beside metrics: one seed may be lucky, so a page shows ten in one row."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from ..data import Dataset
from ..scoring import score
from .agreement import WITHOUT, correlate
from .frame import pairs

#: Plain ``random`` is seed 0.
SEEDS = ["random", *(f"random:{seed}" for seed in range(1, 10))]


def seeded(
    frame: pd.DataFrame,
    data: Iterable[Dataset],
    dimension: str = "content",
    statistic: str = "pearson",
    level: str = "pooled",
    store: Path | None = None,
) -> pd.DataFrame:
    """Results with the mean over ten seeds in the rows of ``random``, and a name that says so.

    ``frame`` is of :func:`correlate`, :func:`bootstrap` or :func:`evaluate`, with these settings;
    ``data`` are its data sets, ``store`` is the folder of their scores.  low and high become the
    mean less and plus two standard deviations of the seeds; without them the name has the largest.
    All other columns stay those of seed 0, as a note says.
    """
    frame, spread, at = frame.copy(), [0.0], frame["metric"] == SEEDS[0]
    for own in data:
        if not (rows := at & (frame["dataset"] == own.name)).any():
            continue
        both = pairs(own, score(own, SEEDS, ["source"], store=store, progress=False), dimension)
        mean, sd = correlate(both, statistic, level)["value"].agg(["mean", "std"])
        for name, value in {"value": mean, "low": mean - 2 * sd, "high": mean + 2 * sd}.items():
            if name in frame:
                frame.loc[rows, name] = value
        frame.loc[rows, [name for name in WITHOUT if name in frame]] = None
        if "note" in frame:
            frame.loc[rows, "note"] = (
                "value, low and high are the mean of the seeds and 2 sd; the rest is seed 0"
            )
        spread.append(sd)
    name = f"random: mean of {len(SEEDS)}" + f", sd {max(spread):.2f}" * ("low" not in frame)
    return frame.assign(metric=frame["metric"].mask(at & (len(spread) > 1), name))
