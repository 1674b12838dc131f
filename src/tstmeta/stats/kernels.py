"""Sums and means that every statistic is made of, for many weightings of the same items at once.

Shapes: values ``[..., 1, n]`` (the same in all draws) or ``[..., D, n]``; weights ``[D, n]`` or
``[..., D, n]``, counts of draws, 0 where an item is missing; results ``[..., D]``.  An item that is
drawn twice makes a pair with itself, which never counts.  Sums in another order differ by rounding,
which a rank statistic would take for an order: means are exact, or rounded where it cannot show.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray
#: Up to here all pairs of items are held at once; beyond, they come in blocks of rows.
FEW = 128
_BLOCK = 2**20
#: Spread below this share of the largest value is rounding; below it scipy says r means nothing.
FLAT = 2e-13


def finite(values: ArrayLike) -> Array:
    """Values as floats, NaN for what is missing or infinite."""
    numbers = np.asarray(values, dtype=float)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def misfit(wanted: str, *sides: Array) -> ValueError:
    """The error of arrays whose shapes are not those that are wanted."""
    *first, last = (str(side.shape) for side in sides)
    return ValueError(f"{wanted} are needed, got {', '.join(first)} and {last}")


def varied(values: Array, present: Array, axis: int | tuple[int, ...] = -1) -> Array:
    """Whether the present values differ by more than rounding; the axes stay, with length 1."""
    high = _filled(values, present, -np.inf).max(axis=axis, initial=-np.inf, keepdims=True)
    low = _filled(values, present, np.inf).min(axis=axis, initial=np.inf, keepdims=True)
    return high - low > FLAT * np.maximum(np.abs(high), np.abs(low))


def constant(vector: Array) -> bool:
    """Whether all values are equal but for rounding."""
    return not varied(vector, np.isfinite(vector)).any()


def centred(values: Array, present: Array, axis: int | tuple[int, ...] = -1) -> Array:
    """Values less the mean of the present ones; zeros where these do not vary."""
    count = np.maximum(present.sum(axis=axis, keepdims=True), 1)
    mean = _filled(values, present, 0.0).sum(axis=axis, keepdims=True) / count
    return np.where(varied(values, present, axis), values - mean, 0.0)


def _filled(values: Array, present: Array, filling: float) -> Array:
    """Values with a filling where they are missing; not copied where all are present."""
    return values if present.all() else np.where(present, values, filling)


def about_means(
    n: Array, sum_x: Array, sum_y: Array, xx: Array, yy: Array, xy: Array
) -> tuple[Array, Array, Array]:
    """Sums of products about the means, xx, yy and xy, from sums of n values and their products."""
    n = np.maximum(n, 1e-300)
    squares_x, squares_y = xx - sum_x**2 / n, yy - sum_y**2 / n
    # a sum of squares below this share of its first term is rounding
    squares_x = np.where(squares_x > 1e-13 * xx, squares_x, 0.0)
    squares_y = np.where(squares_y > 1e-13 * yy, squares_y, 0.0)
    return squares_x, squares_y, xy - sum_x * sum_y / n


def total(values: Array, weights: Array) -> Array:
    """Weighted sum over the items."""
    if values.shape[-2] == 1 and weights.ndim == 2:
        return values[..., 0, :] @ weights.T
    return np.einsum("...n,...n->...", values, weights)


def _by_vector(function: Callable[..., Array], values: tuple[Array, ...], weights: Array) -> Array:
    """``function(*vectors [n], weights [D, n])`` ``[D, ...]`` for each vector of a stack."""
    by_draw = any(side.shape[-2] > 1 for side in values)
    if by_draw:  # values differ by draw: a vector and a row of weights for each draw
        values, weights = tuple(side[..., None, :] for side in values), weights[..., None, :]
    arrays = (*values, weights)
    lead = np.broadcast_shapes(*(array.shape[:-2] for array in arrays))
    *sides, counts = (np.broadcast_to(array, (*lead, *array.shape[-2:])) for array in arrays)
    places = list(np.ndindex(lead))
    stacked = np.stack([function(*(s[p][0] for s in sides), counts[p]) for p in places])
    stacked = stacked.reshape(*lead, *stacked.shape[1:])
    return stacked.squeeze(len(lead)) if by_draw else stacked


def pair_total(
    function: Callable[[Array, Array], Array], x: Array, y: Array, weights: Array
) -> Array:
    """Weighted sum over all pairs of different items of a symmetric function of the signs of their
    differences.
    """
    n = x.shape[-1]
    if n > FEW:
        return _by_vector(lambda a, b, w: _blocks(function, a, b, w), (x, y), weights)
    signs_x = _signs(x[..., :, None], x[..., None, :])
    signs_y = _signs(y[..., :, None], y[..., None, :])
    table = (function(signs_x, signs_y) * ~np.eye(n, dtype=bool)).astype(float)  # [..., 1|D, n, n]
    if table.shape[-3] == 1:
        inner = weights @ table[..., 0, :, :]
    else:
        inner = np.einsum("...i,...ij->...j", weights, table)
    return 0.5 * np.einsum("...n,...n->...", inner, np.broadcast_to(weights, inner.shape))


def pairs(weights: Array) -> Array:
    """Weight of all pairs of different items."""
    return 0.5 * (weights.sum(axis=-1) ** 2 - np.einsum("...n,...n->...", weights, weights))


def untied(x: Array, weights: Array) -> Array:
    """Weighted sum over pairs of items whose values differ."""
    if x.shape[-1] > FEW:  # all pairs but those within groups of equal values
        return _by_vector(lambda a, w: pairs(_groups(a, w)[2]), (x,), weights)
    return pair_total(lambda a, _: np.abs(a), x, x, weights)


def _signs(first: Array, second: Array) -> Array:
    """-1, 0 or 1, in bytes."""
    return (first > second).view(np.int8) - (first < second).view(np.int8)


def _blocks(function, x: Array, y: Array, weights: Array) -> Array:
    """:func:`pair_total` of vectors ``[n]`` under ``[D, n]``, by blocks of rows: ``[D]``."""
    # counts and their sums are small whole numbers, for which single precision is exact
    exact = (weights == np.rint(weights)).all() and weights.sum(axis=1).max(initial=0.0) < 2**23
    light = weights.astype(np.float32) if exact else weights
    step = max(1, _BLOCK // max(weights.shape))
    sums = np.zeros(len(weights))
    for start in range(0, len(x), step):
        rows = slice(start, start + step)
        # the pairs of these rows with one another, and with the rows after them
        signs = _signs(x[rows, None], x[start:]), _signs(y[rows, None], y[start:])
        table = function(*signs).astype(light.dtype)
        table[:, : len(table)] *= 0.5 - 0.5 * np.eye(len(table), dtype=light.dtype)
        inner = (light[:, start:] @ table.T).astype(float)
        sums += np.einsum("dn,dn->d", inner, weights[:, rows])
    return sums


def standings(x: Array, weights: Array) -> Array:
    """The weight below each item minus that above it ``[..., D, n]``: ranks, but for the scale."""
    if x.shape[-1] > FEW:
        return _by_vector(_standings, (x,), weights)
    table = _signs(x[..., :, None], x[..., None, :])
    if table.shape[-3] == 1:
        return weights @ -table[..., 0, :, :].astype(float)
    return np.einsum("...dj,...dij->...di", weights, table.astype(float))


def _standings(x: Array, weights: Array) -> Array:
    """The same of a long vector ``[n]``, by sorting it and running sums of the weights."""
    order, sizes, groups = _groups(x, weights)
    upto = np.cumsum(groups, axis=1)
    result = np.empty(weights.shape)
    result[:, order] = np.repeat(2 * upto - groups - upto[:, -1:], sizes, axis=1)
    return result


def _groups(x: Array, weights: Array) -> tuple[Array, Array, Array]:
    """The order of a vector ``[n]``; sizes ``[G]`` and weights ``[D, G]`` of its equal values."""
    order = np.argsort(x, kind="stable")
    first = np.ones(len(x), dtype=bool)
    first[1:] = x[order][1:] != x[order][:-1]
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(x))
    return order, sizes, np.add.reduceat(weights.take(order, axis=1), starts, axis=1)


def column_means(x: Array, y: Array, sources: Array) -> tuple[Array, Array]:
    """Means of columns over the cells where both sides have values, each ``[M, D, K]``.

    From ``[1|D, S, K]``, ``[M, 1|D, S, K]`` and weights of the rows ``[D, S]``.
    """
    present = np.isfinite(x) & np.isfinite(y)
    weight = _weighted(present.astype(float), sources)
    results = []
    for side in (x, y):
        filled = np.where(present, np.broadcast_to(side, present.shape), 0.0)
        largest = np.abs(filled).max(axis=-2, initial=0.0)  # [M, 1|D, K]
        sums = _exactly(filled, largest, sources)
        quotient = np.where(weight > 0, sums / np.where(weight > 0, weight, 1.0), np.nan)
        cancelled = np.abs(quotient) <= largest * 2.0**-40
        results.append(np.where(cancelled, 0.0, snapped(quotient)))
    return results[0], results[1]


def _exactly(values: Array, largest: Array, sources: Array) -> Array:
    """Weighted sums of columns, the same to the last bit in whatever order rows come: two halves of
    26 bits each add up without rounding (Demmel and Nguyen 2013, Fast reproducible floating-point
    summation).
    """
    exponent = np.maximum(np.frexp(largest)[1], -900)[..., None, :]
    rest, parts = values, []
    for bits in (26, 52):
        grid = np.ldexp(1.0, bits - exponent)
        part = np.rint(rest * grid) / grid
        parts.append(_weighted(part, sources))
        rest = rest - part
        if not rest.any():
            break
    return sum(parts[1:], start=parts[0])


def _weighted(values: Array, sources: Array) -> Array:
    """[M, 1|D, S, K] and [D, S] to [M, D, K]."""
    if values.shape[1] == 1:
        return sources @ values[:, 0]
    return np.einsum("ds,mdsk->mdk", sources, values)


def snapped(values: Array) -> Array:
    """Means to 40 binary digits: systems with the same ratings tie, in whatever order they come."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(mantissa * 2.0**40) / 2.0**40, exponent)


def standardised(values: Array, weights: Array) -> Array:
    """To mean 0 and variance 1 under weights, over the last two axes; NaN without spread."""
    filled = np.where(np.isfinite(values), values, 0.0)
    count = weights.sum(axis=(-2, -1), keepdims=True)
    count = np.where(count > 0, count, np.nan)
    gap = filled - (weights * filled).sum(axis=(-2, -1), keepdims=True) / count
    variance = (weights * gap**2).sum(axis=(-2, -1), keepdims=True) / count
    largest = np.abs(filled).max(axis=(-2, -1), initial=0.0, keepdims=True)
    flat = ~(variance > (FLAT * largest) ** 2)
    spread = np.sqrt(np.where(flat, np.nan, variance))
    # rounded, so that equal values of two tasks tie
    return np.where(np.isfinite(values), np.round(gap / spread, 12), np.nan)


def moments_by_row(
    x: Array, y: Array, sources: Array, systems: Array, least: int
) -> tuple[Array, Array, Array]:
    """Sums of products about the mean under draws of rows and columns: xx, yy, xy, each ``[M, D]``.

    The cells of a row are added up first.  With fewer than ``least`` complete cells all sums are 0.
    From ``[S, K]``, ``[M, S, K]`` and weights ``[D, S]`` and ``[D, K]``.
    """
    present = np.isfinite(x) & np.isfinite(y)
    if (present == present[:1]).all():  # all metrics miss the same cells: x is the same for all
        present = present[:1]
    x, y = (np.where(present, centred(side, present, (1, 2)), 0.0) for side in (x[None], y))
    cells = (present, x, y, x * x, y * y, x * y)
    if (systems == 1).all():
        totals = [part.sum(axis=2, dtype=float) @ sources.T for part in cells]
    else:
        totals = [np.einsum("mdk,dk->md", sources @ part, systems) for part in cells]
    enough = totals[0] > least - 0.5
    xx, yy, xy = np.broadcast_arrays(*about_means(*totals))
    return np.where(enough, xx, 0.0), np.where(enough, yy, 0.0), np.where(enough, xy, 0.0)
