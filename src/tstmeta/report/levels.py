"""The same scores and the same ratings read at three levels: systems, rewrites of a source, all.

The levels are those of lai2023, but nothing here knows of that paper's data: any data set with
several systems can be read so, and one whose truth are labels by construction is read with the
share of pairs in the right order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from .. import stats
from ..data import Dataset
from ..metrics import families
from ..scoring import HUMAN_STYLE
from ..stats import Draws, Plan, Setting
from ..stats.intervals import Interval, of_values
from .bench import Bench
from .cells import lai2023
from .material import upright
from .matrices import Matrices, matrices
from .published import names
from .tables import HUMAN

#: From the coarsest to the finest.
ORDER = ("system", "sample", "dataset")
#: Where the truth are two kinds of rewrites: the share of pairs of the two in the right order.
LABELLED = {
    "system": Setting("preference", "system"),
    "sample": Setting("preference", "source"),
    "dataset": Setting("preference", "pooled"),
}


class Levels:
    """Metrics of a data set at three levels, every metric under the same draws; values in percent.

    Args:
        data: the data set.
        scores: its ``scores`` table.
        dimension: what people rated (or what is so by construction).
        draws: resamples of the sources.

    Attributes:
        names: (metric, basis) of each metric; ``signatures`` beside them.
        estimates: at each level the metrics' values ``[M]``, NaN where there is none.
        drawn: at each level the metrics' values in every draw ``[M, D]``.
        groups: directions, within each of which systems are compared before both are averaged;
            one group where there are none.
        against: what people are here, in words.
    """

    def __init__(
        self,
        data: Dataset,
        scores: pd.DataFrame,
        dimension: str = "content",
        draws: int = 500,
        seed: int = 0,
    ):
        self.data, self.scores, self.dimension = data, scores, dimension
        self.draws, self.seed = draws, seed
        self.matrices = {
            level: matrices(data, scores, dimension, setting.level)
            for level, setting in LABELLED.items()
        }
        one = self.matrices["dataset"]
        self.names, self.signatures, self.against = one.names, one.signatures, one.against
        self.labelled = self.against != HUMAN
        self.settings = LABELLED if self.labelled else lai2023.LEVELS
        self.groups = [""] if one.tasks is not None else list(dict.fromkeys(self._direction(one)))
        self.estimates = {level: self._at(level, None)[:, 0] for level in ORDER}
        self.drawn = {level: self._at(level, self._plan(level)) for level in ORDER}

    @property
    def released(self) -> bool:
        """Whether the metrics, rulers apart, came with the data set."""
        return any("|from:" in signature for signature in self.signatures)

    def of_systems(self) -> Levels:
        """The same without references among the rewrites, which R- would compare with themselves.

        A reference that is rated like an output has a perfect R- score, whatever people say of it.
        """
        human = self.data.items["is_reference"]
        if human.all() or not human.any():
            return self
        data = self.data.where(~human, f"{self.data.name} (systems)")
        return Levels(data, self.scores, self.dimension, self.draws, self.seed)

    def by_cluster(self, level: str, wanted: Sequence[int]) -> np.ndarray:
        """Values of some metrics ``[m, D]`` when sources that shared their raters go together."""
        plan = self.matrices[level].plan("sources", self.draws, clustered=True)
        return self._at(level, plan, wanted)

    def interval(
        self, level: str, values: np.ndarray, estimate: float, units: int, of_gap: bool = False
    ) -> Interval:
        """95 % limits of a value, or of a gap between two, from its draws ``[D]`` in percent.

        Args:
            units: how many sources, or clusters of them, were drawn from.
        """
        low, high = (-100.0, 100.0) if self.settings[level].function.chance == 0 else (0.0, 100.0)
        bounds = (low - high, high - low) if of_gap else (low, high)
        # draws of systems' means spread more than samples do, and need no widening for few units
        counted = None if level == "system" else units
        return of_values(values[None], [estimate], units=counted, bounds=bounds)[0]

    def _direction(self, found: Matrices) -> np.ndarray:
        return found.layout.by_source(self.data.items["direction"].to_numpy(str))

    def _plan(self, level: str) -> Plan:
        """Sources anew; each direction (or task) keeps its number of sources."""
        found = self.matrices[level]
        plan = found.plan("sources", self.draws)
        return plan._replace(strata=self._direction(found)) if len(self.groups) > 1 else plan

    def _at(
        self, level: str, plan: Plan | None, wanted: Sequence[int] | slice = slice(None)
    ) -> np.ndarray:
        """Values ``[M, D]`` under a plan, or as they are ``[M, 1]``."""
        found, setting = self.matrices[level], self.settings[level]
        metrics = found.metrics[wanted]
        rng = np.random.default_rng(self.seed)
        drawn = stats.draw(plan, found.shape, rng) if plan else stats.everything(found.shape)
        parts = []
        for rows in self._rows(level):
            part = Draws(drawn.sources[:, rows], drawn.systems)
            parts.append(stats.resampled(found.human[rows], metrics[:, rows], setting, part))
        if not parts:
            return np.full((len(metrics), len(drawn)), math.nan)
        return 100 * np.mean(parts, axis=0)

    def _rows(self, level: str) -> list[np.ndarray]:
        """The rows that are looked at together; none where the level is not possible."""
        found = self.matrices[level]
        if level == "system" and not found.layout.named:
            return []
        if level == "system" and len(self.groups) > 1:
            return [self._direction(found) == group for group in self.groups]
        # a source with one rated rewrite has no order: it is left out, and no case of disagreement
        least = 2 if level == "sample" else 1
        rows = np.isfinite(found.human).sum(axis=1) >= least
        return [rows] if rows.any() else []

    def sources(self, level: str) -> int:
        """How many sources a level rests on."""
        rows = self._rows(level)
        if not rows:
            return 0
        return len(set(np.array(self.matrices[level].layout.sources)[np.any(rows, axis=0)]))


def scores_of(
    bench: Bench,
    data: Dataset,
    metrics: Sequence[str],
    bases: Sequence[str] = ("source", "reference"),
    released: bool = True,
) -> pd.DataFrame:
    """Upright scores of content, then sentinels and people's style rating as rulers.

    Args:
        bases: those of the metrics; nothing is held against references that are not there.
        released: take the metrics of lai2023's Table 1 where their scores came with the data, and
            not ``metrics``.
    """
    own = _released(data) if released else data.scores.iloc[:0]
    if not len(own) and len(metrics):
        referenced = bool((data.items["references"].str.len() > 0).any())
        wanted = [basis for basis in bases if basis != "reference" or referenced]
        own = bench.table(data, metrics, wanted)
    rulers = bench.table(data, ["sentinel", HUMAN_STYLE], ["source", "none"])
    tables = [table for table in (upright(own), rulers) if len(table)]
    return pd.concat(tables, ignore_index=True)


def _released(data: Dataset) -> pd.DataFrame:
    """Released scores of content by the metrics of lai2023's Table 1."""
    wanted = [name for name, _ in names(lai2023.PAPER, "metric").values()]
    own = data.scores[data.scores["metric"].isin(wanted) & (data.scores["dimension"] == "content")]
    # the judge saw no reference: the release repeats the same ratings under both bases
    judged = own["metric"].str.startswith("released:chatgpt")
    return own[~judged | (own["basis"] == "source")]


def rulers() -> set[str]:
    """Metrics that know nothing of content: what a metric must beat."""
    return {*families().get("sentinel", []), HUMAN_STYLE}


def prefixed(name: tuple[str, str]) -> str:
    """A metric with its basis in front, ``S-`` or ``R-``; rulers as they are."""
    basis = {"source": "S-", "reference": "R-"}.get(name[1], "")
    return name[0] if name[0] in rulers() else basis + name[0]
