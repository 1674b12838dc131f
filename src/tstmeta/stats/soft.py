"""Statistics that look at differences: soft pairwise accuracy, and Pearson of differences.

Both have a name in :data:`tstmeta.stats.STATISTICS`, so that they have draws and intervals like
any other: ``soft-pairwise-accuracy`` at level ``system``, ``difference-pearson`` at ``source``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from . import signflips
from .kernels import Array, tamed
from .matrices import Setting, resampled
from .resampling import Draws, everything

Method = Literal["auto", "exact", "normal", "random"]
#: Up to so many sources all flips are tried.
EXACT = 12


def soft_pairwise_accuracy(
    human: ArrayLike,
    metrics: ArrayLike,
    draws: Draws | None = None,
    *,
    method: Method = "auto",
    flips: int = 1000,
    rng: np.random.Generator | None = None,
) -> Array:
    """How well a metric knows how sure people are which system is better.

    For each pair of systems, people and the metric each give a p-value that one is better than the
    other (:mod:`tstmeta.stats.signflips`); the value is 1 less the mean absolute difference of the
    two, in [0, 1] (Thompson, Mathur, Deutsch and Khayrallah 2024, Improving statistical
    significance in human evaluation of automatic metrics via soft pairwise accuracy).  P-values
    take ties half, so that the value does not depend on the order of systems.  A pair of systems is
    seen over the sources where both have both values; a pair without any is left out.

    A metric that knows nothing has no fixed value: it depends on how sure people are.

    Args:
        human: ``[S, K]``, NaN where missing.
        metrics: ``[M, S, K]``, or ``[S, K]`` for one.
        draws: weightings of sources and systems, the same for all metrics.
        method: ``exact`` tries all 2^S flips; ``normal`` takes the normal approximation of their
            distribution, which depends on nothing but the values and serves draws too; ``random``
            takes random flips, the same for all pairs, people and metrics; ``auto`` is exact for up
            to :data:`EXACT` sources without draws, else normal.
        flips: how many random ones.
        rng: for random flips.

    Returns:
        ``[M]``, or ``[M, D]`` with draws; NaN where no two systems share a source.

    Raises:
        ValueError: shapes that do not fit; draws, or random flips without ``rng``, or more than
            16 sources, with a method that cannot serve them.
    """
    x, y = _matrices(human, metrics)
    if method == "auto":
        method = "exact" if draws is None and len(x) <= EXACT else "normal"
    if method == "normal":
        return _named("soft-pairwise-accuracy", "system", x, y, draws)
    signs = _signs(method, len(x), draws, flips, rng)
    x, y = tamed(x), tamed(y, axis=(1, 2))
    return signflips.soft_agreement_of(x[None], y[:, None], signs, int(method == "random"))[:, 0]


def better(
    values: ArrayLike,
    *,
    method: Method = "auto",
    flips: int = 1000,
    rng: np.random.Generator | None = None,
) -> Array:
    """P-values ``[K, K]`` that the row's system is better than the column's; small: it is.

    Args:
        values: ``[S, K]``, NaN where missing; a pair is seen over the sources where both have one.
        method, flips, rng: see :func:`soft_pairwise_accuracy`.

    Returns:
        One half on the diagonal, NaN for two systems that share no source; a value and its mirror
        image add up to 1.

    Raises:
        ValueError: values that are no matrix; a method that cannot serve them.
    """
    x, _ = _matrices(values, values)
    method = ("exact" if len(x) <= EXACT else "normal") if method == "auto" else method
    one, other = tamed(x).T[:, None, :], tamed(x).T[None, :, :]  # [K, K, S]
    given = np.isfinite(one) & np.isfinite(other)
    differences = np.where(given, signflips.gaps(one, other), 0.0)
    if method == "normal":
        found = signflips.by_normal(differences[..., None, :], np.ones((1, len(x))))[..., 0]
    else:
        signs = _signs(method, len(x), None, flips, rng)
        found = signflips.by_flips(differences, signs, int(method == "random"))
    return np.where(given.any(axis=-1) | np.eye(x.shape[1], dtype=bool), found, np.nan)


def difference_pearson(human: ArrayLike, metrics: ArrayLike, draws: Draws | None = None) -> Array:
    """Pearson's r over differences between rewrites of one source, pooled over sources.

    Each pair of rewrites enters in both orders, so differences have mean 0 and their order does not
    matter.  Summed over the pairs of a source with n rewrites, products of differences are n times
    the products about the source's means: the value is the correlation of what is left of both
    sides once the means of sources are taken off, where a source with more rewrites counts more.

    Args:
        human: ``[S, K]``, NaN where missing.
        metrics: ``[M, S, K]``, or ``[S, K]`` for one.
        draws: weightings of sources and systems; a system drawn twice has no difference to itself.

    Returns:
        ``[M]``, or ``[M, D]`` with draws; NaN where no source has a difference on both sides.

    Raises:
        ValueError: shapes that do not fit.
    """
    return _named("difference-pearson", "source", *_matrices(human, metrics), draws)


def _named(name: str, level, x: Array, y: Array, draws: Draws | None) -> Array:
    found = resampled(x, y, Setting(name, level), draws or everything(x.shape))
    return found[:, 0] if draws is None else found


def _matrices(human: ArrayLike, metrics: ArrayLike) -> tuple[Array, Array]:
    x, y = np.asarray(human, dtype=float), np.asarray(metrics, dtype=float)
    if x.ndim != 2 or y.ndim not in (2, 3) or y.shape[-2:] != x.shape:
        raise ValueError(
            "people [sources, systems] and metrics [metrics, sources, systems] are needed,"
            f" got {x.shape} and {y.shape}"
        )
    x, y = (np.where(np.isfinite(side), side, np.nan) for side in (x, y))
    return x, y[None] if y.ndim == 2 else y


def _signs(
    method: str, sources: int, draws: Draws | None, flips: int, rng: np.random.Generator | None
) -> Array:
    if method not in ("exact", "random"):
        raise ValueError(f"unknown method {method!r}; known: auto, exact, normal, random")
    if draws is not None:
        raise ValueError(f"draws need the method normal, not {method}")
    if method == "exact":
        if sources > 16:
            raise ValueError(f"2^{sources} flips are too many: use the method normal or random")
        return signflips.every_flip(sources)
    if rng is None:
        raise ValueError("random flips need a generator, rng")
    return rng.choice([-1.0, 1.0], size=(flips, sources))
