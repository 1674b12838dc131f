"""Sums that every statistic is made of, for many weightings of the same items at once.

A resample with replacement is a vector of counts, so a statistic of a thousand resamples is a few
matrix products of its items with a thousand weightings.  Shapes, throughout:

- values ``[..., 1, n]`` (the same in all draws) or ``[..., D, n]`` (their own in each draw);
- weights ``[D, n]`` or ``[..., D, n]``, counts of draws, 0 where an item is missing;
- results ``[..., D]``.

An item that is drawn twice makes a pair with itself, which says nothing about order: pairs of an
item with itself never count.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Array = np.ndarray
#: Up to here all pairs of items are held at once; beyond, they come in blocks of rows.
FEW = 128
_BLOCK = 2**24


def tamed(values: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """Values times a power of two if need be, so that squares neither overflow nor vanish.

    Args:
        axis: over which one factor serves, as in numpy.max.
    """
    shown = np.where(np.isfinite(values), np.abs(values), 0.0)
    largest = np.max(shown, axis=axis, initial=0.0, keepdims=True)
    fine = (largest == 0) | ((largest > 2.0**-400) & (largest < 2.0**400))
    if fine.all():
        return values
    return np.ldexp(values, np.where(fine, 0, -np.frexp(largest)[1]))


def deviation(values: Array) -> float:
    """Standard deviation of a sample ``[n]``, whatever its size; NaN for fewer than two values."""
    if len(values) < 2:
        return math.nan
    size = np.frexp(np.abs(values).max())[1]  # so that squares stay in range
    return float(np.ldexp(np.ldexp(values, -size).std(ddof=1), size))


def total(values: Array, weights: Array) -> Array:
    """Weighted sum over the items."""
    if values.shape[-2] == 1 and weights.ndim == 2:
        return values[..., 0, :] @ weights.T
    return np.einsum("...n,...n->...", values, weights)


def signs(values: Array, tolerance: float = 0.0) -> Array:
    """Who is above whom: values ``[..., n]`` to -1, 0, 1 in ``[..., n, n]`` (row above column).

    Differences up to ``tolerance`` are ties.
    """
    return _sign(values[..., :, None], values[..., None, :], tolerance)


def _sign(one: Array, other: Array, tolerance: float) -> Array:
    with np.errstate(over="ignore"):  # a gap too wide for a number is a gap
        gaps = one - other
    if tolerance > 0:
        gaps = np.where(np.abs(gaps) <= tolerance, 0.0, gaps)
    return np.sign(gaps)


def pair_totals(
    functions: tuple[Callable[[Array, Array], Array], ...],
    x: Array,
    y: Array,
    weights: Array,
    tolerance: float = 0.0,
) -> tuple[Array, ...]:
    """Weighted sums over unordered pairs of different items.

    Args:
        functions: of the signs of x and of y over pairs, symmetric in the two items of a pair.
        tolerance: differences of y up to here are ties.
    """
    n = x.shape[-1]
    if n <= FEW:
        sx, sy = signs(x), signs(y, tolerance)
        off = ~np.eye(n, dtype=bool)
        return tuple(_pairs(function(sx, sy) * off, weights) for function in functions)
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2], weights.shape[:-2])
    draws = max(x.shape[-2], y.shape[-2], weights.shape[-2])
    fixed = x.shape[-2] == 1 and y.shape[-2] == 1
    x, y, weights = (np.broadcast_to(a, (*lead, *a.shape[-2:])) for a in (x, y, weights))
    found = [np.zeros((*lead, draws)) for _ in functions]
    for place in np.ndindex(lead):
        if fixed:
            sums = _blocks(functions, x[place][0], y[place][0], weights[place], tolerance)
            for result, one in zip(found, sums, strict=True):
                result[place] = one
            continue
        each = [np.broadcast_to(a[place], (draws, n)) for a in (x, y, weights)]
        for draw, (of_x, of_y, of_w) in enumerate(zip(*each, strict=True)):
            sums = _blocks(functions, of_x, of_y, of_w[None], tolerance)
            for result, one in zip(found, sums, strict=True):
                result[(*place, draw)] = one[0]
    return tuple(found)


def _pairs(table: Array, weights: Array) -> Array:
    """Half the quadratic form of a symmetric table ``[..., 1|D, n, n]``."""
    if table.shape[-3] == 1:
        inner = weights @ table[..., 0, :, :]
    else:
        inner = np.einsum("...i,...ij->...j", weights, table)
    return 0.5 * np.einsum("...n,...n->...", inner, np.broadcast_to(weights, inner.shape))


def _blocks(functions, x: Array, y: Array, weights: Array, tolerance: float) -> list[Array]:
    """The same for one long vector ``[n]`` under weights ``[D, n]``, some rows at a time.

    Counts and signs are small whole numbers, so single precision is exact inside a block; weights
    that are no counts keep their precision.
    """
    n = len(x)
    counts = (weights == np.rint(weights)).all() and weights.sum(axis=1).max(initial=0.0) < 2**24
    light = weights.astype(np.float32) if counts else weights
    sums = [np.zeros(len(weights)) for _ in functions]
    step = max(1, _BLOCK // max(n, len(weights)))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        sx = _sign(x[rows, None], x[None, :], 0.0).astype(np.float32)
        sy = _sign(y[rows, None], y[None, :], tolerance).astype(np.float32)
        own = np.arange(n)[None, :] == np.arange(n)[rows, None]
        for result, function in zip(sums, functions, strict=True):
            table = np.where(own, np.float32(0), function(sx, sy).astype(np.float32))
            inner = (light @ table.T).astype(float)
            result += 0.5 * np.einsum("dn,dn->d", inner, weights[:, rows])
    return sums


def standings(x: Array, weights: Array) -> Array:
    """Mid-ranks under weights, up to a constant: ``[..., D, n]``.

    An item's standing is the weight below it minus the weight above it; average ranks are half
    that plus a constant, which no correlation notices.
    """
    n = x.shape[-1]
    if n <= FEW:
        table = signs(x)
        if table.shape[-3] == 1:
            return weights @ -table[..., 0, :, :]
        return np.einsum("...dj,...dij->...di", weights, table)
    lead = np.broadcast_shapes(x.shape[:-2], weights.shape[:-2])
    draws = max(x.shape[-2], weights.shape[-2])
    found = np.empty((*lead, draws, n))
    x, weights = (np.broadcast_to(a, (*lead, *a.shape[-2:])) for a in (x, weights))
    for place in np.ndindex(lead):
        if x.shape[-2] == 1:
            found[place] = _standings(x[place][0], weights[place])
            continue
        for draw in range(draws):
            one = weights[place][min(draw, weights.shape[-2] - 1)]
            found[(*place, draw)] = _standings(x[place][draw], one[None])[0]
    return found


def _standings(x: Array, weights: Array) -> Array:
    """One long vector ``[n]``: sort once, then running sums of the weights."""
    order = np.argsort(x, kind="stable")
    ordered = x[order]
    first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    group = np.cumsum(np.r_[True, ordered[1:] != ordered[:-1]]) - 1
    of_group = np.add.reduceat(weights[:, order], first, axis=1)
    upto = np.cumsum(of_group, axis=1)
    standing = (2 * upto - of_group - upto[:, -1:])[:, group]
    found = np.empty(standing.shape)
    found[:, order] = standing
    return found


def distinct(x: Array, weights: Array) -> Array:
    """How many different values have weight."""
    present = (weights > 0).astype(float)
    if x.shape[-1] <= FEW:
        same = (x[..., :, None] == x[..., None, :]).astype(float)
        if same.shape[-3] == 1:
            peers = present @ same[..., 0, :, :]
        else:
            peers = np.einsum("...i,...ij->...j", present, same)
        share = np.where(present > 0, present / np.maximum(peers, 1.0), 0.0)
        return np.rint(share.sum(axis=-1))  # seven sevenths are one
    lead = np.broadcast_shapes(x.shape[:-2], weights.shape[:-2])
    draws = max(x.shape[-2], weights.shape[-2])
    x = np.broadcast_to(x, (*lead, *x.shape[-2:]))
    present = np.broadcast_to(present, (*lead, *present.shape[-2:]))
    found = np.empty((*lead, draws))
    for place in np.ndindex(lead):
        for draw in range(draws):
            values = x[place][min(draw, x.shape[-2] - 1)]
            given = present[place][min(draw, present.shape[-2] - 1)] > 0
            found[(*place, draw)] = len(np.unique(values[given]))
    return found
