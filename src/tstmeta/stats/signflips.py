"""P-values that one system is better than another, by flipping signs of differences.

Two systems rewrote the same sources.  If neither is better, the difference of a source could as
well have the other sign, so the sum of differences is compared with sums under all flips.  A
p-value here is one-sided, and sums equal to the observed one count half (mid-p): whichever system
is named first, the two p-values add up to one.
"""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import ndtr

from . import kernels
from .kernels import Array

#: Sums that differ by less, relative to the largest possible, are equal.
_ROUNDING = 1e-9


def gaps(one: Array, other: Array) -> Array:
    """Differences ``[..., S]`` of two systems; 0 where the values are equal but for rounding."""
    found = one - other
    noise = 2e-13 * np.maximum(np.abs(one), np.abs(other))
    return np.where(np.abs(found) <= noise, 0.0, found)


def by_normal(differences: Array, weights: Array) -> Array:
    """P-values ``[..., D]`` of differences ``[..., 1|D, S]``, each source counted ``[D, S]`` times.

    Under flips the sum of differences d has mean 0 and variance sum d^2, and for many sources it is
    near normal: z = sum d / sqrt(sum d^2).  Without any difference p is one half.
    """
    total, square = (kernels.total(part, weights) for part in (differences, differences**2))
    some = square > 0
    return ndtr(-np.where(some, total / np.sqrt(np.where(some, square, 1.0)), 0.0))


def by_flips(differences: Array, signs: Array, seen: int) -> Array:
    """P-values ``[...]`` of differences ``[..., S]`` under the flips ``[F, S]`` of -1 and 1.

    ``seen`` counts the observed signs once more: 1 for random flips, so that no p is 0; 0 where the
    flips are all there are.
    """
    observed = differences.sum(axis=-1)[..., None]
    flipped = differences @ signs.T
    slack = _ROUNDING * np.abs(differences).sum(axis=-1)[..., None]
    above = (flipped > observed + slack).sum(axis=-1)
    equal = (np.abs(flipped - observed) <= slack).sum(axis=-1)
    return (above + 0.5 * (equal + seen)) / (len(signs) + seen)


def every_flip(n: int) -> Array:
    """All signs of n differences: ``[2^n, n]``."""
    return 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)


def soft_agreement(x: Array, y: Array, of_sources: Array, of_systems: Array) -> Array:
    """Soft pairwise accuracy by the normal approximation, under weights; values ``[M, D]``.

    Args:
        x, y: ``[1|D, S, K]`` and ``[M, 1|D, S, K]``, NaN where missing.
        of_sources, of_systems: how often each counts, ``[D, S]`` and ``[D, K]``.

    A pair of systems is seen over the sources where both have both values; a pair without any is
    left out, and so is a system with itself.
    """

    def p_values(one: Array, other: Array) -> tuple[Array, Array]:
        given = np.isfinite(one) & np.isfinite(other)
        shared = kernels.total(given.astype(float), of_sources) > 0
        return by_normal(np.where(given, gaps(one, other), 0.0), of_sources), shared

    return _agreement(x, y, of_systems, p_values)


def soft_agreement_of(x: Array, y: Array, signs: Array, seen: int) -> Array:
    """The same with given flips ``[F, S]``, every source and system once; values ``[M, 1]``."""

    def p_values(one: Array, other: Array) -> tuple[Array, Array]:
        given = np.isfinite(one) & np.isfinite(other)
        found = by_flips(np.where(given, gaps(one, other), 0.0), signs, seen)
        return found, given.any(axis=-1)

    return _agreement(x, y, np.ones((1, x.shape[-1])), p_values)


def _agreement(x: Array, y: Array, of_systems: Array, p_values) -> Array:
    """1 less the mean gap between people's and the metric's p-values, over pairs of systems."""
    both = np.isfinite(x) & np.isfinite(y)
    if not both.all():
        x, y = np.where(both, x, np.nan), np.where(both, y, np.nan)  # [M, 1|D, S, K]
    gap, weight = np.zeros((len(y), len(of_systems))), np.zeros((len(y), len(of_systems)))
    for i, j in itertools.combinations(range(x.shape[-1]), 2):
        people, shared = p_values(x[..., i], x[..., j])
        metric, _ = p_values(y[..., i], y[..., j])
        of_pair = of_systems[:, i] * of_systems[:, j] * shared
        gap += of_pair * np.abs(people - metric)
        weight += of_pair
    some = weight > 0
    return np.where(some, 1.0 - gap / np.where(some, weight, 1.0), np.nan)
