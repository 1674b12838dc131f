"""Resampling plans: what is resampled, and how often each thing was drawn.

Draws are made once and used for all metrics, so that every comparison of two metrics is paired.
They are plain arrays of counts and can be stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

Units = Literal["sources", "systems", "both", "raters"]


class Draws(NamedTuple):
    """How often each source ``[D, S]`` and each system ``[D, K]`` was drawn; raters ``[D, R]``.

    Where a unit is not resampled its counts are 1.
    """

    sources: np.ndarray
    systems: np.ndarray
    raters: np.ndarray | None = None

    def __len__(self) -> int:  # the number of draws, not of fields
        return self.sources.shape[0]

    def parts(self, size: int) -> Iterator[Draws]:
        """The draws in slices of at most ``size``."""
        for start in range(0, len(self), size):
            inside = slice(start, start + size)
            raters = None if self.raters is None else self.raters[inside]
            yield Draws(self.sources[inside], self.systems[inside], raters)


class Plan(NamedTuple):
    """What is drawn with replacement.

    Attributes:
        units: sources (rows), systems (columns), both (independently) or raters.
        n: number of draws.
        clusters: one label a source ``[S]``: clusters are drawn whole, such as the sources that one
            group of raters saw; default: each source alone.
        strata: one label a source ``[S]``: each stratum keeps its number of clusters, such as tasks
            of a fixed set.
    """

    units: Units = "sources"
    n: int = 1000
    clusters: ArrayLike | None = None
    strata: ArrayLike | None = None

    @property
    def estimand(self) -> str:
        """What an interval under this plan is about."""
        return {
            "sources": "these systems, sources like these",
            "systems": "systems like these, these sources",
            "both": "systems like these, sources like these",
            "raters": "these systems and sources, raters like these",
        }[self.units]


def draw(plan: Plan, shape: tuple[int, int], rng: np.random.Generator, raters: int = 0) -> Draws:
    """Draw ``plan.n`` resamples of a matrix of ``shape`` [sources, systems].

    Args:
        raters: how many raters there are, for a plan over raters.

    Raises:
        ValueError: labels that do not fit the matrix, an unknown unit, fewer than no draws, or no
            raters to draw.
    """
    n_sources, n_systems = shape
    if plan.n < 0:
        raise ValueError(f"there are no {plan.n} draws: give 0 or more")
    sources = np.ones((plan.n, n_sources))
    systems = np.ones((plan.n, n_systems))
    of_raters = None
    if plan.units not in ("sources", "systems", "both", "raters"):
        raise ValueError(f"unknown unit {plan.units!r}; known: sources, systems, both, raters")
    if plan.units in ("sources", "both"):
        sources = _of_clusters(plan, n_sources, rng)
    if plan.units in ("systems", "both"):
        systems = _counts(n_systems, plan.n, rng)
    if plan.units == "raters":
        if raters < 1:
            raise ValueError("a plan over raters needs ratings by single raters")
        of_raters = _counts(raters, plan.n, rng)
    return Draws(sources, systems, of_raters)


def _counts(units: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """How often each of ``units`` was drawn, ``[n, units]``."""
    if not units:
        return np.ones((n, 0))
    return rng.multinomial(units, np.full(units, 1.0 / units), size=n).astype(float)


def clusters_of(plan: Plan, n_sources: int) -> tuple[np.ndarray, np.ndarray]:
    """Cluster number of each source ``[S]`` and stratum number of each cluster ``[C]``."""
    labels = {"clusters": plan.clusters, "strata": plan.strata}
    for name, given in labels.items():
        if given is None:
            continue
        if np.shape(given) != (n_sources,):
            raise ValueError(f"{name} has shape {np.shape(given)}, needed is ({n_sources},)")
        if any(label is None or label != label for label in np.asarray(given).reshape(-1).tolist()):
            raise ValueError(f"a source has no label in {name}")
    if plan.clusters is None:
        clusters = np.arange(n_sources)
    else:
        clusters = np.unique(np.asarray(plan.clusters), return_inverse=True)[1].reshape(-1)
    if plan.strata is None:
        return clusters, np.zeros(int(clusters.max(initial=-1)) + 1, dtype=int)
    strata = np.unique(np.asarray(plan.strata), return_inverse=True)[1].reshape(-1)
    of_cluster = np.zeros(int(clusters.max(initial=-1)) + 1, dtype=int)
    of_cluster[clusters] = strata
    if (of_cluster[clusters] != strata).any():
        raise ValueError("a cluster lies in more than one stratum")
    return clusters, of_cluster


def _of_clusters(plan: Plan, n_sources: int, rng: np.random.Generator) -> np.ndarray:
    clusters, strata = clusters_of(plan, n_sources)
    counts = np.zeros((plan.n, len(strata)))
    for stratum in np.unique(strata):
        inside = np.flatnonzero(strata == stratum)
        counts[:, inside] = _counts(len(inside), plan.n, rng)
    return counts[:, clusters]


def leave_one_out(plan: Plan, shape: tuple[int, int]) -> list[Draws]:
    """The jackknife of a plan: each unit left out once, one :class:`Draws` a kind of unit.

    Plan ``both`` gives two, first the sources (clusters), then the systems.
    """
    n_sources, n_systems = shape
    found = []
    if plan.units in ("sources", "both"):
        clusters, strata = clusters_of(plan, n_sources)
        kept = (clusters[None, :] != np.arange(len(strata))[:, None]).astype(float)
        found.append(Draws(kept, np.ones((len(kept), n_systems))))
    if plan.units in ("systems", "both"):
        kept = 1.0 - np.eye(n_systems)
        found.append(Draws(np.ones((n_systems, n_sources)), kept))
    return found


def everything(shape: tuple[int, int]) -> Draws:
    """Every source and system once: the estimate itself."""
    return Draws(np.ones((1, shape[0])), np.ones((1, shape[1])))
