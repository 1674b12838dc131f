"""Means that tie what is equal: of columns, of groups, and within tasks.

Systems with the same ratings have the same mean, and sums of the same numbers in another order
differ by rounding.  A rank statistic would take that for an order, so sums here are exact or
rounded where rounding cannot show.  The levels themselves are in :mod:`tstmeta.stats.matrices`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array


def means(values: ArrayLike, groups: ArrayLike) -> tuple[list[str], np.ndarray]:
    """Mean of the finite values of each group, groups in order of first appearance.

    Sums are exact (math.fsum), so that groups with the same values have the same mean, whatever
    their order.  A group without a finite value has NaN.
    """
    x, labels = np.asarray(values, float), np.asarray(groups)
    names = list(dict.fromkeys(labels.tolist()))
    found = [x[(labels == name) & np.isfinite(x)] for name in names]
    return names, np.array([math.fsum(v) / len(v) if len(v) else math.nan for v in found])


def column_means(x: Array, y: Array, of_sources: Array) -> tuple[Array, Array]:
    """Means of columns over the cells where both sides have values, each ``[M, D, K]``.

    Args:
        x, y: ``[1|D, S, K]`` and ``[M, 1|D, S, K]``, NaN where missing.
        of_sources: weights of the rows ``[D, S]``.
    """
    given = np.isfinite(x) & np.isfinite(y)
    weight = _weighted(given.astype(float), of_sources)
    found = []
    for side in (x, y):
        filled = np.where(given, np.broadcast_to(side, given.shape), 0.0)
        largest = np.abs(filled).max(axis=-2, initial=0.0)  # [M, 1|D, K]
        sums = _exactly(filled, largest, of_sources)
        means = np.where(weight > 0, sums / np.where(weight > 0, weight, 1.0), np.nan)
        nothing = np.abs(means) <= largest * 2.0**-40  # what cancels to nothing is nothing
        found.append(np.where(nothing, 0.0, snapped(means)))
    return found[0], found[1]


def _exactly(values: Array, largest: Array, of_sources: Array) -> Array:
    """Weighted sums of columns that are the same to the last bit in whatever order rows come.

    Two halves of 26 bits each, on a grid set by the largest value of the column: counts of such
    numbers add up without rounding (Demmel and Nguyen 2013, Fast reproducible floating-point
    summation).
    """
    exponent = np.maximum(np.frexp(largest)[1], -900)[..., None, :]
    rest, parts = values, []
    for bits in (26, 52):
        grid = np.ldexp(1.0, bits - exponent)
        part = np.rint(rest * grid) / grid
        parts.append(_weighted(part, of_sources))
        rest = rest - part
        if not rest.any():
            break
    return sum(parts[1:], start=parts[0])


def _weighted(values: Array, of_sources: Array) -> Array:
    """[M, 1|D, S, K] and [D, S] to [M, D, K]."""
    if values.shape[1] == 1:
        return of_sources @ values[:, 0]
    return np.einsum("ds,mdsk->mdk", of_sources, values)


def snapped(means: Array) -> Array:
    """Means to 40 binary digits: systems with the same ratings tie, whatever order they came in."""
    mantissa, exponent = np.frexp(means)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)


def standardised(values: Array, weights: Array) -> Array:
    """To mean 0 and variance 1 under weights, over the last two axes; no spread gives NaN.

    Rounded to 12 decimals, so that values of two tasks that are equal but for rounding tie.
    """
    filled = np.where(np.isfinite(values), values, 0.0)
    count = weights.sum(axis=(-2, -1), keepdims=True)
    count = np.where(count > 0, count, np.nan)
    mean = (weights * filled).sum(axis=(-2, -1), keepdims=True) / count
    gap = filled - mean
    variance = (weights * gap**2).sum(axis=(-2, -1), keepdims=True) / count
    largest = np.abs(filled).max(axis=(-2, -1), initial=0.0, keepdims=True)
    flat = ~(variance > (2e-13 * largest) ** 2)
    spread = np.sqrt(np.where(flat, np.nan, variance))
    return np.where(np.isfinite(values), np.round(gap / spread, 12), np.nan)
