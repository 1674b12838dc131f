"""What can be asked of a data set: refusals in one place, each with what to do instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..data import Dataset
from ..metrics import families
from ..schema import TstmetaError
from ..stats import LEVELS, STATISTICS
from ..stats.resampling import Units
from . import rated
from .layout import CLUSTERS, NO_SYSTEMS, OF_SYSTEMS
from .material import ORACLES, lower_is_better
from .matrices import Matrices
from .tables import judged

#: What a row of a table is: a metric, one that cannot know, or human values of another dimension.
METRIC, SENTINEL, ORACLE = "metric", "sentinel", "oracle"
#: Levels that look at one group at a time.
GROUPED = ("source", "within-system", "task")
UNITS: tuple[Units, ...] = ("sources", "systems", "both")


def kind_of(metric: str) -> str:
    """Metric, sentinel or oracle."""
    if metric in ORACLES:
        return ORACLE
    return SENTINEL if metric.partition(":")[0] in families().get(SENTINEL, []) else METRIC


def directions(made: Matrices, lower: Sequence[str]) -> np.ndarray:
    """For which metrics less is better ``[M]``: they say so themselves, or were named.

    Raises:
        TstmetaError: a name in ``lower`` that no metric has, which would leave its sign as it is.
    """
    names = dict.fromkeys(name for name, _ in made.names)
    if unknown := [name for name in lower if name not in names]:
        raise TstmetaError(
            f"no metric is called {', '.join(unknown)}, so none can be turned round;"
            f" known: {', '.join(names) or 'none'}"
        )
    found = [name in lower or lower_is_better(name, basis) for name, basis in made.names]
    return np.array(found, dtype=bool)


def choice(
    dataset: Dataset,
    dimension: str,
    statistic: str,
    level: str,
    statistics: Sequence[str],
    micro: bool = False,
) -> None:
    """Refuse unknown names, a dimension that nobody judged, and levels that the data do not have.

    Raises:
        TstmetaError: what, where, and what to do.
    """
    if statistic not in statistics:
        raise TstmetaError(f"unknown statistic {statistic!r}; known: {', '.join(statistics)}")
    if level not in LEVELS:
        raise TstmetaError(f"unknown level {level!r}; known: {', '.join(LEVELS)}")
    if micro and level not in GROUPED:
        raise TstmetaError(
            f"micro adds groups up, and level {level} has none: leave micro out,"
            f" or take level {', '.join(GROUPED)}"
        )
    if micro and not STATISTICS[statistic].additive:
        label = STATISTICS[statistic].label
        raise TstmetaError(f"{label} cannot be added up over groups: leave micro out")
    rated.check(dataset, dimension)
    if dimension not in judged(dataset):
        raise TstmetaError(
            f"{dataset.name}: nobody judged {dimension};"
            f" judged: {', '.join(judged(dataset)) or 'nothing'}."
            " Choose another dimension, or add ratings (see tstmeta data template)"
        )


def resampling(
    made: Matrices,
    level: str,
    units: str,
    clustered: bool,
    draws: int,
    confidence: float,
    seed: int,
) -> None:
    """Refuse a plan that these data do not have.

    Raises:
        TstmetaError: what, where, and what to do.
    """
    if units not in UNITS:
        raise TstmetaError(f"unknown units {units!r}; known: {', '.join(UNITS)}")
    if draws < 1:
        raise TstmetaError(f"{draws} draws: at least one is needed, 1000 are usual")
    if seed < 0:
        raise TstmetaError(f"seed {seed}: a whole number from 0 up is needed")
    if not 0 < confidence < 1:
        raise TstmetaError(f"confidence {confidence:g} is not between 0 and 1; usual is 0.95")
    if level in OF_SYSTEMS or units != "sources":
        what = f"level {level}" if level in OF_SYSTEMS else f"resampling {units}"
        _systems(made, what, 2 if level == "system" or units != "sources" else 1)
    if clustered and made.clusters is None:
        raise TstmetaError(
            f"no label {CLUSTERS!r} says which sources shared their raters: give the items one,"
            " or draw sources alone"
        )


def _systems(made: Matrices, what: str, least: int) -> None:
    if not made.layout.named:
        raise TstmetaError(
            f"{what} compares systems, but {NO_SYSTEMS}: give the items a column `system`,"
            " or use level pooled or source and resample sources"
        )
    judged_cells = np.isfinite(made.human).any(axis=0)
    names = [one for one, there in zip(made.layout.systems, judged_cells, strict=True) if there]
    if len(names) < least:
        only = f"only one system ({names[0]}) was judged" if names else "no system was judged"
        raise TstmetaError(
            f"{what} compares systems, but {only}: add outputs of other systems,"
            " or use level pooled or source and resample sources"
        )
