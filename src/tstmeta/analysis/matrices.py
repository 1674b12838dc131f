"""From the frame to the matrices of :mod:`tstmeta.stats`: a row a source, a column a system."""

import math
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
import pandas as pd

from ..data import Dataset
from ..schema import TstmetaError
from ..stats import LEVELS, STATISTICS, Setting
from ..stats.matrices import Level
from ..stats.resampling import ResamplingPlan, Units

#: Levels at which columns must be systems.
SYSTEM_LEVELS = ("within-system", "system")
#: What the API calls a unit of resampling, and what the statistics call it.
UNITS: dict[str, Units] = {"source": "sources", "system": "systems", "both": "both"}
_HEAD = dict.fromkeys(("dataset", "metric", "basis", "kind", "signature"), str)


class Layout(NamedTuple):
    """Where each item stands in its matrices.

    Where systems are compared, a system's second rewrite of a source gets a new row, and items of
    unknown system have no place.  Elsewhere it gets a new column, drawn with the first.
    """

    sources: list[str]  # of each row; several rows may be of one source
    systems: list[str]  # of each column, alike; empty where it is not known
    row: np.ndarray  # of each item, -1 where it has no place
    column: np.ndarray

    @classmethod
    def of(cls, items: pd.DataFrame, level: str = "pooled") -> "Layout":
        """The layout of items (source_id, system) for a level."""
        source, sources = pd.factorize(items["source_id"].astype(str))
        system, systems = pd.factorize(items["system"].astype(str))
        both = pd.Series(source * len(systems) + system)
        again, known = both.groupby(both).cumcount().to_numpy(), (systems != "")[system]
        placed, times = np.full(len(items), True), again.max(initial=0) + 1
        rows, columns = source * times, system * times + again
        if level in SYSTEM_LEVELS:
            placed, rows, columns = known, rows + again, system * times
        row, column = np.full((2, len(items)), -1)
        row[placed], row_keys = pd.factorize(rows[placed])
        column[placed], column_keys = pd.factorize(columns[placed])
        labels = sources[row_keys // times].tolist(), systems[column_keys // times].tolist()
        return cls(*labels, row, column)

    @property
    def names(self) -> list[str]:
        """The systems that are known, each once."""
        return [name for name in dict.fromkeys(self.systems) if name]

    def matrix(self, values: np.ndarray) -> np.ndarray:
        """Values ``[..., items]`` to ``[..., rows, columns]``, NaN where there is no item."""
        values = np.asarray(values, dtype=float)
        cells = np.full((*values.shape[:-1], len(self.sources), len(self.systems)), np.nan)
        placed = self.column >= 0
        cells[..., self.row[placed], self.column[placed]] = values[..., placed]
        return cells

    def labels(self, values: np.ndarray) -> np.ndarray | None:
        """Labels of rows, each that of its first item; None where all items have the same."""
        if len(set(values)) < 2:
            return None
        placed = self.column >= 0
        _, first = np.unique(self.row[placed], return_index=True)
        return values[placed][first]


class Matrices(NamedTuple):
    """The pairs of one data set as the statistics want them."""

    items: pd.DataFrame  # a row an item: item_id, source_id, system, human, other dimensions
    human: np.ndarray  # mean ratings, or labels by construction [S, K]
    metrics: np.ndarray  # scores [M, S, K], flipped where less is better
    heads: pd.DataFrame  # a row a metric: dataset, metric, basis, kind, flipped, signature
    layout: Layout
    tasks: np.ndarray | None  # a label a row [S]
    against: str  # what ``human`` is, in words

    def item_values(self, names: Sequence[str]) -> np.ndarray:
        """Columns of the items, such as other dimensions, as matrices ``[G, S, K]``."""
        return self.layout.matrix(self.items[list(names)].to_numpy(float).T)

    def plan(self, unit: str = "source", draws: int = 1000) -> ResamplingPlan:
        """The resampling plan that fits the data; tasks keep their size where no source reaches
        over several.
        """
        if unit not in UNITS:
            raise TstmetaError(f"unknown unit {unit!r}; known: {', '.join(UNITS)}")
        if draws < 1:
            raise TstmetaError(f"{draws} draws: at least one is needed, 1000 are usual")
        if unit != "source":
            self._check_systems(f"resampling units {unit}", 2)
        rows = np.asarray(self.layout.sources)
        clusters = rows if len(set(self.layout.sources)) < len(rows) else None
        strata = self.tasks
        if clusters is not None and strata is not None:
            nested = pd.Series(strata).groupby(clusters).nunique().eq(1).all()
            strata = strata if nested else None
        systems = self.layout.systems
        columns = np.asarray(systems) if len(set(systems)) < len(systems) else None
        return ResamplingPlan(UNITS[unit], draws, clusters, strata, columns)

    def setting(
        self, statistic: str = "pearson", level: str = "pooled", *, undefined: float = math.nan
    ) -> Setting:
        """A statistic at a level of these data."""
        for what, name, known in ("statistic", statistic, STATISTICS), ("level", level, LEVELS):
            if name not in known:
                raise TstmetaError(f"unknown {what} {name!r}; known: {', '.join(known)}")
        if level == "within-task" and self.tasks is None:
            raise TstmetaError(
                f"level {level} needs tasks: the items do not name two tasks or more; give each"
                " item a label 'task', or use another level"
            )
        if level in SYSTEM_LEVELS:
            self._check_systems(f"level {level}", 2 if level == "system" else 1)
        return Setting(statistic, cast(Level, level), self.tasks, undefined=undefined)

    def _check_systems(self, what: str, least: int) -> None:
        """Refuse what compares systems where fewer than ``least`` were judged."""
        judged = np.isfinite(self.human).any(axis=0)
        systems = np.asarray(self.layout.systems, dtype=object)[judged]
        names = [name for name in dict.fromkeys(systems) if name]
        if len(names) >= least:
            return
        reason = "no item names its system: give the items a column `system`"
        if self.layout.names:
            only = f"only one system ({names[0]}) was judged" if names else "no system was judged"
            reason = f"{only}: add outputs of other systems"
        raise TstmetaError(
            f"{what} compares systems, but {reason},"
            " or use level pooled or source and resample sources"
        )


def matrices(frame: pd.DataFrame, level: str = "pooled") -> Matrices:
    """The pairs of one data set; corpus metrics, which have no value an item, are left out."""
    item = frame.drop_duplicates("item_id").reset_index(drop=True)
    layout = Layout.of(item, level)
    if "statistics" in frame:
        frame = frame[frame["statistics"].isna()]
    groups = frame.groupby(["metric", "basis", "signature"], sort=False, observed=True)
    scores = np.full((groups.ngroups, len(item)), np.nan)
    places = pd.Index(item["item_id"]).get_indexer(frame["item_id"])
    scores[groups.ngroup(), places] = frame["score"]
    return Matrices(
        item,
        layout.matrix(item["human"].to_numpy(float)),
        layout.matrix(scores),
        groups.head(1)[[*_HEAD, "flipped"]].astype(_HEAD).reset_index(drop=True),
        layout,
        layout.labels(item["task"].to_numpy(str)),
        str(item["against"].iloc[0]) if len(item) else "",
    )


#: Sets whose rater columns are slots that different persons filled.
SLOTS = {
    "lai": "the two rating slots of an item were filled by different persons in each survey",
    "wu_arase": "whether a rating slot is one person throughout was not published",
}


class Cube(NamedTuple):
    """Single ratings ``[S, K, R]`` of one dimension, NaN where a rater did not rate.

    ``persons``: whether a rater is one person throughout; if not, ``reason`` says what they are.
    """

    ratings: np.ndarray
    raters: list[str]
    persons: bool
    reason: str


def cube(data: Dataset, dimension: str = "content", level: str = "pooled") -> Cube:
    """The single ratings of a data set, laid out as :func:`matrices` lays out the scores."""
    table = data.raters(dimension)
    single = [name for name in table.columns if name != "mean"]
    values = table[single].to_numpy(float).T.reshape(len(single), len(data.items))
    reason = SLOTS.get(data.name.partition("@")[0].partition(" ")[0], "")
    if not len(table.columns):
        reason = f"no ratings of {dimension}"
    elif not single:
        reason = "only means of ratings were released"
    elif not reason and len(single) < 2:
        reason = "one rater only"
    ratings = np.moveaxis(Layout.of(data.items, level).matrix(values), 0, -1)
    return Cube(ratings, single, not reason, reason)
