"""Evidence for claims: values with intervals from paired draws, and the rules that judge them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from ... import scoring, stats
from ...combine import Settings
from ...data import Dataset
from ...stats import Plan, Setting
from ...stats.intervals import Resample, difference, of_resample, resample
from ...stats.limits import of_values
from ...stats.matrices import Level
from ...stats.resampling import Units
from .. import hybrids
from ..bench import USABLE, Bench
from ..layout import Layout
from ..published import cells
from ..tables import truth

HOLDS, FAILS, OPEN = "holds", "does not hold", "cannot be told"
#: A correlation from here on is called medium (Cohen 1988, Section 3.2).
MEDIUM = 0.3
#: A correlation up to here is called small (the same): so far below another is not yet worse.
SMALL = 0.1
#: Below this alpha no conclusion should be drawn from ratings (Krippendorff 2004, Section 11.4.2).
RELIABLE = 0.667
CONFIDENCE = 0.95
#: Draws of what takes long, at most; the note beside the number says so.
_DEAR = 500

Metric = tuple[str, str]  # name and basis


class Finding(NamedTuple):
    """One number for or against a claim.

    ``low`` and ``high`` are NaN and ``published`` is set where the number was not computed here.
    """

    what: str
    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    note: str = ""
    published: bool = False


class Verdict(NamedTuple):
    """What follows, by which rule, from which numbers."""

    verdict: str
    why: str
    findings: Sequence[Finding] = ()


class Claim(NamedTuple):
    """A conclusion of a paper.

    Attributes:
        key: ``pauli2025.similarity-agrees``, an anchor on the page.
        where: table or section of the paper.
        text: the claim in our words.
        carried_by: the statistic that would carry it, and the rule of the verdict.
        check: computes the verdict from what is on this machine.
    """

    key: str
    where: str
    text: str
    carried_by: str
    check: Callable[[Evidence], Verdict]

    @property
    def paper(self) -> str:
        """The paper's key."""
        return self.key.partition(".")[0]


class Evidence:
    """Computes findings, every one with the same seed and number of draws."""

    def __init__(self, bench: Bench, draws: int = 1000, seed: int = 0):
        self.bench, self.draws, self.seed = bench, draws, seed

    def lacks(self, *names: str) -> Verdict | None:
        """A verdict that says which data are not here, or None where all are."""
        missing = [name for name in names if not self.bench.has(name)]
        if not missing:
            return None
        how = ", ".join(f"`tstmeta data fetch {name.partition('@')[0]}`" for name in missing)
        return Verdict(OPEN, f"The ratings were not on the machine that built this page: {how}.")

    def agreement(
        self,
        data: str,
        metric: Metric,
        dimension: str = "content",
        *,
        statistic: str = "pearson",
        level: Level = "pooled",
        units: Units = "sources",
    ) -> Finding:
        """How far a metric agrees with people, with its interval."""
        made = self._agreements(data, [metric], dimension, Setting(statistic, level), units)
        return self._finding(made, f"{_shown(metric)} on `{data}`")

    def gap(
        self,
        data: str,
        first: Metric,
        second: Metric,
        dimension: str = "content",
        *,
        statistic: str = "pearson",
        level: Level = "pooled",
        units: Units = "sources",
    ) -> Finding:
        """The agreement of one metric minus that of another, on the same draws."""
        made = self._agreements(data, [first, second], dimension, Setting(statistic, level), units)
        return self._finding(made, f"{_shown(first)} minus {_shown(second)} on `{data}`", minus=1)

    def best_gap(
        self,
        data: str,
        own: Metric,
        others: Sequence[Metric],
        dimension: str = "content",
        *,
        statistic: str = "kendall",
        level: Level = "pooled",
        units: Units = "sources",
    ) -> Finding:
        """One metric minus the best of several; which is best is decided once, on all data.

        The choice is part of the data, so the interval is a little too kind to the others.
        """
        setting = Setting(statistic, level)
        made = self._agreements(data, [own, *others], dimension, setting, units)
        best = 1 + int(np.nanargmax(made.estimates[1:]))
        what = f"{_shown(own)} minus the best other, {_shown(others[best - 1])}, on `{data}`"
        return self._finding(made, what, minus=best)

    def best(self, data: str, metrics: Sequence[Metric], dimension: str = "content") -> Metric:
        """The metric with the highest Pearson's r over all items."""
        setting = Setting("pearson")
        made = self._agreements(data, metrics, dimension, setting, "sources")
        return metrics[int(np.nanargmax(made.estimates))]

    def combined(self, data: str, metrics: Sequence[str], what: str) -> list[Finding]:
        """Hybrids of source-based metrics for content minus the best single metric.

        All of them, the single one too, are chosen and fitted on other sources than those that
        judge them (see :mod:`tstmeta.report.hybrids`); the statistic is Pearson's r within folds.

        Args:
            what: the metrics in words.
        """
        dataset = self.bench.dataset(data)
        if all(name.startswith("released:") for name in metrics):
            scores = scoring.released(dataset, metrics)
            scores = scores[scores["basis"] == "source"]
        else:
            scores = self.bench.table(dataset, metrics, ["source"])
        asked = Settings(seed=self.seed)
        draws = min(self.draws, _DEAR)
        found = hybrids.compare(dataset, scores, "content", asked, draws=draws, seed=self.seed)
        rows = found.rows[found.rows["fitted"] == hybrids.OUTSIDE].set_index("name")
        return [
            Finding(
                f"{name} minus the best single metric on `{data}`, {what}",
                float(row["more"]),
                float(row["more_low"]),
                float(row["more_high"]),
                int(row["n"]),
                f"sources drawn, {draws:,} draws, fits kept",
            )
            for name, row in rows.loc[list(hybrids.HYBRIDS)].iterrows()
        ]

    def between(self, data: str, first: str, second: str) -> Finding:
        """Pearson's r of two human dimensions, with its interval."""
        dataset = self.bench.dataset(data)
        layout = Layout.of(dataset)
        x, y = (layout.matrix(truth(dataset, name)[0]) for name in (first, second))
        made = self._resample(x, y[None], Setting("pearson"), "sources")
        return self._finding(made, f"{first} with {second} ratings on `{data}`")

    def slots(self, data: str, dimension: str, direction: str) -> Finding:
        """Kendall's tau-b of the second rating slot with the first, in one direction."""
        whole = self.bench.dataset(data)
        dataset = whole.where(whole.items["direction"] == direction)
        layout = Layout.of(dataset)
        raters = dataset.raters(dimension)
        first, second = (layout.matrix(raters[name].to_numpy()) for name in sorted(raters))
        made = self._resample(first, second[None], Setting("kendall"), "sources")
        return self._finding(made, f"second slot with first, {dimension}, {direction}")

    def across(self, metric: Metric, whole: str, first: str, second: str) -> Finding:
        """Agreement on one part of a data set minus that on another, the same sources drawn."""
        dataset = self.bench.dataset(whole)
        layout = Layout.of(dataset)
        human = layout.matrix(truth(dataset, "content")[0])
        score, ids = self._vector(dataset, metric, "content"), dataset.items["item_id"]
        parts = [ids.isin(self.bench.dataset(part).items["item_id"]) for part in (first, second)]
        scores = layout.matrix(np.array([np.where(part, score, np.nan) for part in parts]))
        made = self._resample(human, scores, Setting("pearson"), "sources")
        what = f"{_shown(metric)} on `{first}` minus on `{second}`"
        return self._finding(made, what, minus=1)._replace(n=int(np.isfinite(scores).sum()))

    def alpha(self, data: str, dimension: str = "content") -> Finding:
        """Krippendorff's ordinal alpha with a percentile interval, sources drawn again."""
        dataset = self.bench.dataset(data)
        ratings = dataset.raters(dimension).to_numpy(float)
        source = dataset.items["source_id"].to_numpy()
        groups = [np.flatnonzero(source == name) for name in dict.fromkeys(source)]
        rng = np.random.default_rng(self.seed)
        values = np.empty(min(self.draws, _DEAR))
        for i in range(len(values)):
            picked = rng.integers(len(groups), size=len(groups))
            values[i] = stats.alpha(ratings[np.concatenate([groups[g] for g in picked])]).value
        found = stats.alpha(ratings)
        [limits] = of_values(
            values[None], [found.value], confidence=CONFIDENCE, units=len(groups), bounds=(-1, 1)
        )
        what = f"Krippendorff's alpha (ordinal) of {dimension} on `{data}`"
        note = f"sources drawn, {len(values):,} draws"
        note = "; ".join(text for text in (note, limits.reason) if text)
        return Finding(what, found.value, limits.low, limits.high, found.n, note)

    def published(self, key: str, what: str) -> Finding:
        """A printed number, marked as such."""
        cell = next(cell for cell in cells() if cell.cell == key)
        return Finding(what, cell.value, note=key, published=True)

    # ------------------------------------------------------------------------------ inside

    def _vector(self, data: Dataset, metric: Metric, dimension: str) -> np.ndarray:
        """Scores [items]; a leading minus turns a distance round."""
        name, basis = metric
        wanted = dimension if "released:" in name else ""
        scores = self.bench.scores(data.name, name.removeprefix("-"), basis, wanted)
        values = scores["value"].where(scores["status"].isin(USABLE)).to_numpy(float)
        return -values if name.startswith("-") else values

    def _agreements(
        self, data: str, metrics: Sequence[Metric], dimension: str, setting: Setting, units: Units
    ) -> _Made:
        dataset = self.bench.dataset(data)
        layout = Layout.of(dataset, setting.level)
        human = layout.matrix(truth(dataset, dimension)[0])
        vectors = [self._vector(dataset, one, dimension) for one in metrics]
        return self._resample(human, layout.matrix(np.array(vectors)), setting, units)

    def _resample(
        self, human: np.ndarray, scores: np.ndarray, setting: Setting, units: Units
    ) -> _Made:
        plan, rng = Plan(units, self.draws), np.random.default_rng(self.seed)
        made = resample(human, scores, setting, plan, rng)
        return _Made(made, stats.correlate(human, scores[0], setting).n)

    def _finding(self, made: _Made, what: str, minus: int | None = None) -> Finding:
        """The first metric, or the first minus another."""
        drawn, n = made
        value = float(drawn.estimates[0])
        if minus is None:
            found = of_resample(drawn, confidence=CONFIDENCE)[0]
        else:
            value -= float(drawn.estimates[minus])
            found = difference(drawn, 0, minus, confidence=CONFIDENCE)
        units = "sources and systems" if drawn.plan.units == "both" else drawn.plan.units
        note = "; ".join(text for text in (f"{units} drawn", found.reason) if text)
        return Finding(what, value, found.low, found.high, n, note)


class _Made(NamedTuple):
    drawn: Resample
    n: int

    @property
    def estimates(self) -> np.ndarray:
        return self.drawn.estimates


def _shown(metric: Metric) -> str:
    name, basis = metric
    prefix = {"source": "S-", "reference": "R-"}.get(basis, "")
    return f"{prefix}`{name.removeprefix('-').removeprefix('released:')}`"


# ---------------------------------------------------------------------------------- rules


def above(findings: Sequence[Finding], bound: float, why: dict[str, str]) -> Verdict:
    """Holds if every interval lies above the bound, does not if one lies below, else open.

    ``why`` has a sentence for each verdict.
    """
    if all(one.low > bound for one in findings):
        return Verdict(HOLDS, why[HOLDS], findings)
    if any(one.high < bound for one in findings):
        return Verdict(FAILS, why[FAILS], findings)
    return Verdict(OPEN, why[OPEN], findings)


def below(findings: Sequence[Finding], bound: float, why: dict[str, str]) -> Verdict:
    """Holds if every interval lies below the bound, does not if one lies above, else open."""
    if all(one.high < bound for one in findings):
        return Verdict(HOLDS, why[HOLDS], findings)
    if any(one.low > bound for one in findings):
        return Verdict(FAILS, why[FAILS], findings)
    return Verdict(OPEN, why[OPEN], findings)


def sides(found: Sequence[Finding]) -> str:
    """How many intervals lie above zero, below it, and on both sides."""
    over, under = sum(one.low > 0 for one in found), sum(one.high < 0 for one in found)
    rest = len(found) - over - under
    return f"{over} above zero, {under} below, {rest} on both sides"
