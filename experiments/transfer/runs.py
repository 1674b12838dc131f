"""Metrics along the training of transfer models, read from the files that runs leave."""

from pathlib import Path

import pandas as pd

from tstmeta.data import paths
from tstmeta.schema import TstmetaError

_COLUMNS = ["model", "seed", "step", "part", "metric", "basis", "value", "n"]


def trajectories(folder: str | Path = "") -> pd.DataFrame:
    """Metrics along the training of transfer models.

    Args:
        folder: of the runs, by default those of the book.

    Returns:
        A row for each model, seed, step, part of the sources (choose, report, reference), metric
        and basis: ``value``, the mean or corpus value of ``n`` rewrites.

    Raises:
        TstmetaError: there is no run in the folder, or a file lacks a column.
    """
    root = Path(folder) if folder else paths.project("transfer", "runs")
    files = sorted(root.glob("*/trajectory.csv"))
    if not files:
        raise TstmetaError(
            f"{root} holds no run. Remedy: python -m experiments.transfer run --model M0 "
            f"--out {root}/M0-0"
        )
    tables = {file: pd.read_csv(file) for file in files}
    for file, table in tables.items():
        if lacking := ", ".join(name for name in _COLUMNS if name not in table):
            raise TstmetaError(f"{file}: no column {lacking}. Remedy: make the run again")
    return pd.concat(tables.values(), ignore_index=True)
