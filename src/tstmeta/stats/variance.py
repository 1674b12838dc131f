"""Where ratings vary, and what more of them would buy: generalizability theory.

A G-study divides the variance of crossed ratings (each rater rated every system's rewrite of every
source) among seven components; a D-study asks how far means over other numbers of raters and
sources could be trusted.  Sources, systems and raters are taken for random draws of many.

Source: Cronbach, Gleser, Nanda and Rajaratnam (1972); Shavelson and Webb (1991); Brennan (2001),
chapters 3 and 4.
"""

from itertools import chain, combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .kernels import Array

#: The seven effects: sources are axis 0 of the ratings, systems 1, raters 2.
_EFFECTS = [*chain.from_iterable(combinations(range(3), size) for size in (1, 2, 3))]


class VarianceComponents(NamedTuple):
    """Variances of a single rating, in squared points of the scale.

    The residual holds what is left: the interaction of all three and what changes with the day.
    An estimate below 0 is kept (0 in its place would bias means over data sets); its true value is
    near 0, or the model is wrong.
    """

    source: float
    system: float
    rater: float
    source_system: float
    source_rater: float
    system_rater: float
    residual: float


def variance_components(cube: ArrayLike) -> VarianceComponents:
    """Components of ratings ``[S sources, K systems, R raters]``, one a cell and none missing.

    Mean squares of a three-way analysis of variance, set equal to what they are expected to be.

    Raises:
        ValueError: missing ratings, or fewer than two sources, systems or raters.
    """
    ratings = np.asarray(cube, dtype=float)
    if ratings.ndim != 3 or min(ratings.shape) < 2:
        raise ValueError(
            "ratings [sources, systems, raters], two of each or more, are needed,"
            f" got {ratings.shape}"
        )
    if missing := int((~np.isfinite(ratings)).sum()):
        raise ValueError(
            f"{missing} of {ratings.size} ratings are missing: keep the sources, systems and"
            " raters that have all of theirs"
        )
    size = np.array(ratings.shape)
    means = {kept: ratings.mean(axis=_others(kept), keepdims=True) for kept in [(), *_EFFECTS]}
    squares = {}
    for effect in _EFFECTS:
        inside = [kept for kept in means if {*kept} <= {*effect}]
        left = sum((-1) ** (len(effect) - len(kept)) * means[kept] for kept in inside)
        repeats = np.prod(size[[*_others(effect)]])
        squares[effect] = repeats * np.sum(left**2) / np.prod(size[[*effect]] - 1)
    values = {}
    for name, effect in zip(VarianceComponents._fields, _EFFECTS, strict=True):
        around = [wider for wider in squares if {*effect} <= {*wider}]
        total = sum((-1) ** (len(wider) - len(effect)) * squares[wider] for wider in around)
        values[name] = float(total / np.prod(size[[*_others(effect)]]))
    return VarianceComponents(**values)


def _others(axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis in range(3) if axis not in axes)


class DStudy(NamedTuple):
    """How far means can be trusted, arrays of the shape that raters and sources have together.

    ``relative`` is the generalizability coefficient (are they ordered rightly?), ``absolute`` the
    index of dependability (are their values right?), both from 0 to 1: the share of the true
    variance of the objects in its sum with an error variance.
    """

    relative: Array
    absolute: Array


def d_study(
    components: VarianceComponents,
    raters: ArrayLike,
    sources: ArrayLike = 1,
    of: Literal["same-source", "system"] = "same-source",
) -> DStudy:
    """Coefficients of means over so many raters (and sources); negative components count as 0.

    Args:
        components: see :func:`variance_components`.
        raters, sources: numbers from 1 up, arrays that broadcast.
        of: ``same-source``, an output among those of its source; ``system``, a system's mean, over
            all sources and raters.  The relative error is that of raters who rate all objects; with
            raters of its own for each it is the absolute one.

    Raises:
        ValueError: another object, or a number below 1.
    """
    n, m = (np.asarray(count, dtype=float) for count in (raters, sources))
    if not (n >= 1).all() or not (m >= 1).all():
        raise ValueError("numbers of raters and sources are from 1 up")
    v = VarianceComponents(*np.maximum(components, 0.0))
    if of == "same-source":
        true = v.system + v.source_system
        relative = (v.system_rater + v.residual) / n + 0.0 * m
        absolute = relative + (v.rater + v.source_rater) / n
    elif of == "system":
        true = v.system
        relative = v.source_system / m + v.system_rater / n + v.residual / (n * m)
        absolute = relative + v.source / m + v.rater / n + v.source_rater / (n * m)
    else:
        raise ValueError(f"unknown object {of!r}; known: same-source, system")
    with np.errstate(invalid="ignore"):  # nothing varies
        return DStudy(true / (true + relative), true / (true + absolute))
