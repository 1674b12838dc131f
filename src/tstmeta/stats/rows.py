"""Pearson's r over all cells where whole rows are drawn: sums of each row once, then weighted.

What every cell adds to the sums of products does not change from draw to draw, so the cells of a
row are added up first.  A draw is then a product with a few numbers a row, not a few a cell.
"""

from __future__ import annotations

import numpy as np

from .kernels import Array

#: A sum of squares below this share of what it was made of is rounding.
_ROUNDING = 1e-13
#: Spread below this share of the largest value is rounding (the bound of :mod:`.correlation`).
_FLAT = 2e-13


def moments_of_rows(x: Array, y: Array, of_rows: Array, least: int) -> tuple[Array, Array, Array]:
    """Sums of products about the mean, xx, yy and xy, each ``[M, D]``.

    Zeros where fewer than ``least`` cells have both values or either side is constant.

    Args:
        x: ``[S, K]``, NaN where missing.
        y: ``[M, S, K]``, NaN where missing.
        of_rows: how often each row counts ``[D, S]``.
    """
    given = np.isfinite(x) & np.isfinite(y)
    if (given == given[:1]).all():  # all metrics miss the same cells: x is the same for all
        given = given[:1]
    x, varied_x = _centred(x[None], given)
    y, varied_y = _centred(y, given)
    sums = (given, x, x * x, y, y * y, x * y)
    n, of_x, xx, of_y, yy, xy = (each.sum(axis=2, dtype=float) @ of_rows.T for each in sums)
    fine = varied_x & varied_y & (n > least - 0.5)
    n = np.maximum(n, 1e-300)
    squares_x, squares_y = xx - of_x**2 / n, yy - of_y**2 / n
    squares_x = np.where(squares_x > _ROUNDING * xx, squares_x, 0.0)
    squares_y = np.where(squares_y > _ROUNDING * yy, squares_y, 0.0)
    found = (squares_x, squares_y, xy - of_x * of_y / n)
    return tuple(np.where(fine, each, 0.0) for each in found)  # type: ignore[return-value]


def _centred(values: Array, given: Array) -> tuple[Array, Array]:
    """Values ``[M, S, K]`` about their mean, 0 where missing; whether they vary ``[M, 1]``."""
    high = np.where(given, values, -np.inf).max(axis=(1, 2), initial=-np.inf)
    low = np.where(given, values, np.inf).min(axis=(1, 2), initial=np.inf)
    varied = high - low > _FLAT * np.maximum(np.abs(high), np.abs(low))
    filled = np.where(given, values, 0.0)
    count = np.maximum(given.sum(axis=(1, 2), keepdims=True), 1)
    mean = filled.sum(axis=(1, 2), keepdims=True) / count
    return np.where(given, filled - mean, 0.0), varied[:, None]
