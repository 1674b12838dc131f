"""Metrics along the training of transfer models, as ``tstmeta transfer run`` leaves them."""

from pathlib import Path

import pandas as pd

from ..data import paths
from ..schema import TstmetaError


def trajectories(folder: str | Path = "") -> pd.DataFrame:
    """Read the runs in a folder, by default those of the book.

    Returns:
        A row for each model, seed, step, part of the sources (choose, report, reference), metric
        and basis: ``value``, the mean or corpus value of ``n`` rewrites.

    Raises:
        TstmetaError: there is no run in the folder.
    """
    root = Path(folder) if folder else paths.own("transfer", "runs")
    files = sorted(root.glob("*/trajectory.csv"))
    if not files:
        raise TstmetaError(
            f"{root} holds no run. Remedy: tstmeta transfer run --model M0 --out {root}/M0-0"
        )
    return pd.concat(map(pd.read_csv, files), ignore_index=True)
