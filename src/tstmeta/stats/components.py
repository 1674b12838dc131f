"""Where the variance of a matrix lies: between sources, between systems, or in single rewrites."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import tamed


class Components(NamedTuple):
    """Shares of variance, in [0, 1], that add up to 1; the sources and systems they rest on."""

    source: float
    system: float
    rewrite: float
    sources: int
    systems: int
    reason: str = ""


def components(values: ArrayLike) -> Components:
    """Shares of the variance of ``[S, K]`` that lie between rows, between columns, and in the rest.

    Expected mean squares of a two-way table with random rows and columns and one value a cell
    (Searle, Casella and McCulloch 1992, Variance Components, Section 4.3).  The rest holds what is
    peculiar to a rewrite together with the noise of its one value.  A share below zero, which
    chance can give, counts as zero.  Rows with a missing cell are left out, after columns that
    have no value at all.
    """
    matrix = np.asarray(values, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"a matrix [sources, systems] is needed, got shape {matrix.shape}")
    given = np.isfinite(matrix)
    matrix = matrix[:, given.any(axis=0)]
    matrix = tamed(matrix[np.isfinite(matrix).all(axis=1)])
    rows, columns = matrix.shape
    nothing = Components(math.nan, math.nan, math.nan, rows, columns)
    if rows < 2 or columns < 2:
        return nothing._replace(reason="fewer than two whole rows or columns")
    if np.ptp(matrix) <= 2e-13 * np.abs(matrix).max():
        return nothing._replace(reason="all values are equal")
    mean = matrix.mean()
    of_rows, of_columns = matrix.mean(axis=1), matrix.mean(axis=0)
    rest = matrix - of_rows[:, None] - of_columns[None, :] + mean
    within = float((rest**2).sum()) / ((rows - 1) * (columns - 1))
    source = max(float(np.var(of_rows, ddof=1)) - within / columns, 0.0)
    system = max(float(np.var(of_columns, ddof=1)) - within / rows, 0.0)
    whole = source + system + within
    return Components(source / whole, system / whole, within / whole, rows, columns)
