"""Resampling: what is drawn with replacement, and how often each thing was drawn.

Draws are made once and used for all metrics, so that every comparison of two metrics is paired.
"""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Units = Literal["sources", "systems", "both"]

#: Of more clusters than these none is left out alone, which changes no limit by much.
_MANY = 2**14
#: Counts that are drawn at once.
_AT_ONCE = 2**22


class Draws(NamedTuple):
    """How often each source ``[D, S]`` (small integers, for there may be millions) and system
    ``[D, K]`` was drawn; 1 where not resampled.
    """

    sources: np.ndarray
    systems: np.ndarray

    def __len__(self) -> int:  # the number of draws, not of fields
        return self.sources.shape[0]


class ResamplingPlan(NamedTuple):
    """``n`` draws with replacement of sources (rows), systems (columns) or both (independently).

    ``clusters`` and ``strata`` are labels of the sources ``[S]``: the sources of a cluster are
    drawn together (by default a source is a cluster), and a stratum keeps its number of clusters.
    ``columns`` are labels of the columns ``[K]``: those of one label are one system.
    """

    units: Units = "sources"
    n: int = 1000
    clusters: ArrayLike | None = None
    strata: ArrayLike | None = None
    columns: ArrayLike | None = None

    @property
    def estimand(self) -> str:
        """The systems and sources that an interval under this plan is about."""
        return {
            "sources": "these systems, sources like these",
            "systems": "systems like these, these sources",
            "both": "systems like these, sources like these",
        }[self.units]


def draw(plan: ResamplingPlan, shape: tuple[int, int], rng: np.random.Generator) -> Draws:
    """Draw ``plan.n`` resamples of a matrix of ``shape`` [sources, systems]."""
    if plan.units not in ("sources", "systems", "both"):
        raise ValueError(f"unknown unit {plan.units!r}; known: sources, systems, both")
    sources, systems = np.ones((plan.n, shape[0]), np.uint8), np.ones((plan.n, shape[1]))
    if plan.units != "systems":
        clusters, strata = clusters_of(plan, shape[0])
        counts = np.zeros((plan.n, len(strata)), np.uint8)
        for stratum in np.unique(strata):
            inside = strata == stratum
            counts[:, inside] = _counts(int(inside.sum()), plan.n, rng)
        sources = counts if plan.clusters is None else counts[:, clusters]
    if plan.units != "sources":
        number = systems_of(plan, shape[1])
        systems = _counts(int(number.max(initial=-1)) + 1, plan.n, rng)[:, number].astype(float)
    return Draws(sources, systems)


def _counts(units: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """How often each unit is drawn ``[D, U]``; a few draws at a time, which numpy holds wide."""
    counts, step = np.ones((n, units), np.uint8), max(1, _AT_ONCE // max(1, units))
    for start in range(0, n if units else 0, step):
        size = min(step, n - start)
        counts[start : start + size] = rng.multinomial(units, np.full(units, 1 / units), size=size)
    return counts


def clusters_of(plan: ResamplingPlan, n_sources: int) -> tuple[np.ndarray, np.ndarray]:
    """Cluster number of each source ``[S]`` and stratum number of each cluster ``[C]``."""
    clusters, strata = np.arange(n_sources), np.zeros(n_sources, dtype=int)
    if plan.clusters is not None:
        clusters = numbered("clusters", plan.clusters, n_sources)
    if plan.strata is not None:
        strata = numbered("strata", plan.strata, n_sources)
    cluster_strata = np.zeros(int(clusters.max(initial=-1)) + 1, dtype=int)
    cluster_strata[clusters] = strata
    if (cluster_strata[clusters] != strata).any():
        raise ValueError("a cluster lies in more than one stratum")
    return clusters, cluster_strata


def systems_of(plan: ResamplingPlan, n_columns: int) -> np.ndarray:
    """Number of the system of each column ``[K]``."""
    if plan.columns is None:
        return np.arange(n_columns)
    return numbered("columns", plan.columns, n_columns)


def numbered(what: str, labels: ArrayLike | None, n: int) -> np.ndarray:
    """Numbers of ``n`` labels, equal ones alike, in sorted order from 0 up."""
    known = np.asarray(labels)
    if known.shape != (n,) or any(label is None or label != label for label in known.tolist()):
        raise ValueError(f"{what} must be {n} labels, none of them missing")
    return np.unique(known, return_inverse=True)[1]


class LeftOut(NamedTuple):
    """Draws without each unit in turn; the unit of each source or system, the stratum of a unit."""

    kind: str
    draws: Draws
    units: np.ndarray
    strata: np.ndarray


def jackknife(plan: ResamplingPlan, shape: tuple[int, int]) -> list[LeftOut]:
    """Sources (or clusters), then systems left out; very many clusters at once: without a value."""
    n_sources, n_columns = shape
    parts = []
    if plan.units != "systems":
        clusters, strata = clusters_of(plan, n_sources)
        cluster = np.arange(len(strata))[:, None]
        inside = clusters != cluster if len(strata) <= _MANY else np.zeros((1, n_sources))
        kind = "sources" if plan.clusters is None else "clusters"
        draws = Draws(inside, np.ones((len(inside), n_columns)))
        parts.append(LeftOut(kind, draws, clusters, strata))
    if plan.units != "sources":
        number = systems_of(plan, n_columns)
        inside = (number != np.arange(number.max(initial=-1) + 1)[:, None]).astype(float)
        draws = Draws(np.ones((len(inside), n_sources)), inside)
        parts.append(LeftOut("systems", draws, number, np.zeros(len(inside), dtype=int)))
    return parts


def everything(shape: tuple[int, ...]) -> Draws:
    """Every source and system once: the estimate itself."""
    return Draws(np.ones((1, shape[0])), np.ones((1, shape[1])))
