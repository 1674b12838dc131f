"""What notebook 03 calls: systems ranked by metrics and by people, and how little that rests on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from ..data import Dataset
from ..schema import TstmetaError
from ..stats import Setting
from ..stats.intervals import FEW_UNITS, Interval, difference, intervals, resample
from ..stats.multiple import over_pairs
from ..stats.resampling import Units
from ..stats.soft import better
from . import demonstration, figures_levels, figures_systems, html
from .bench import Bench
from .chapters import allowed, present
from .figures import Picture
from .levels import prefixed, rulers, scores_of
from .material import bounds
from .matrices import matrices

#: Rated sets with several systems, the two of pauli2025's Table 9 that anybody can have first.
SYSTEMS = ("mir", "lai@pauli2025", "li2018@yelp-rated", "lens@simpda_2022", "alva@simplicity_da")
#: A pair of systems is told apart below this.
ALPHA = 0.05
#: Fewer systems have no order to agree with.
LEAST = 3
_TOO_FEW = Markdown("*No data set here names three systems: there is nothing to rank.*")


class Ranking:
    """People and metrics over the systems of one data set.

    Attributes:
        found: matrices, a column a system.
        people: each system's mean rating ``[K]``, equal where the ratings add up to the same.
        agreement: each metric's agreement with people over the systems ``[M]``.
        accuracy, soft: pairwise accuracy and soft pairwise accuracy ``[M]``.
        apart: whether people tell two systems apart ``[K, K]``, by a test over the sources that
            both rewrote, all pairs of the data set corrected together (Holm).
        alone: the same without correction.
    """

    def __init__(
        self, data: Dataset, scores: pd.DataFrame, statistic: str, draws: int = 500, seed: int = 0
    ):
        self.data, self.statistic, self.draws, self.seed = data, statistic, draws, seed
        self.found = matrices(data, scores, "content", "system")
        self.names = [prefixed(name) for name in self.found.names]
        human, metrics = self.found.human, self.found.metrics
        self.people = np.array([_mean(column) for column in human.T])
        self.agreement = stats.estimate(human, metrics, self.setting)
        self.accuracy = stats.estimate(human, metrics, Setting("pairwise-accuracy", "system"))
        self.soft = stats.soft_pairwise_accuracy(human, metrics)
        p = better(human)
        two_sided = 2 * np.minimum(p, 1 - p)
        self.alone, self.apart = two_sided < ALPHA, over_pairs(two_sided) < ALPHA

    @property
    def setting(self) -> Setting:
        """The statistic over means of systems."""
        return Setting(self.statistic, "system")

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return self.found.layout.systems

    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of systems."""
        return list(itertools.combinations(range(len(self.systems)), 2))

    def intervals(self, units: Units) -> list[Interval]:
        """One for each metric; sources keep to the systems there are, systems to the sources."""
        plan, rng = self.found.plan(units, self.draws), np.random.default_rng(self.seed)
        return intervals(self.found.human, self.found.metrics, self.setting, plan, rng)

    def means(self, i: int) -> np.ndarray:
        """A metric's mean over each system's rated rewrites ``[K]``."""
        both = np.where(np.isfinite(self.found.human), self.found.metrics[i], np.nan)
        return np.array([_mean(column) for column in both.T])


def _mean(values: np.ndarray) -> float:
    """The mean of what is there, without rounding on the way; NaN of nothing."""
    given = values[np.isfinite(values)]
    return math.fsum(given) / len(given) if len(given) else math.nan


def rankings(
    bench: Bench,
    dataset: str = "auto",
    metrics: Sequence[str] = (),
    statistic: str = "kendall",
    profile: str = "embedded",
    draws: int = 500,
    seed: int = 0,
) -> list[Ranking]:
    """One a data set: those with several rated systems that are here, else the contrast set.

    Raises:
        TstmetaError: a data set that names no system.
    """
    if dataset == "auto":
        chosen = present(bench, SYSTEMS) or [bench.dataset("contrast")]
    else:
        chosen = [bench.dataset(dataset)]
    for data in chosen:
        if not (data.items["system"] != "").any():
            raise TstmetaError(
                f"data set {data.name!r} names no system, so there are none to rank; give each"
                " rewrite its system (a column `system`), or use another data set"
            )
    wanted = allowed(metrics, profile)
    return [
        Ranking(data, scores_of(bench, data, wanted, ["source"], False), statistic, draws, seed)
        for data in chosen
    ]


# ------------------------------------------------------------------------------- agreement


def tables(made: Sequence[Ranking]) -> html.Html:
    """A table a data set: each metric's agreement over systems, two intervals, two accuracies."""
    parts = []
    for one in made:
        sources, systems = one.intervals("sources"), one.intervals("systems")
        rows = [
            {
                "metric": name,
                one.setting.function.label: html.signed(one.agreement[i]),
                "sources like these": _span(sources[i]),
                "systems like these": _span(systems[i]),
                "pairwise accuracy": html.signed(one.accuracy[i]),
                "soft pairwise accuracy": html.signed(one.soft[i]),
            }
            for i, name in enumerate(one.names)
        ]
        parts.append(html.table(pd.DataFrame(rows), caption=_title(one)).text)
    return html.Html("".join(parts))


def _title(one: Ranking) -> str:
    return f"{one.data.name}: {len(one.systems)} systems, {one.found.against}"


def _span(found: Interval) -> str:
    if not math.isfinite(found.low):
        return "–"
    return f"{html.signed(found.low)} to {html.signed(found.high)}"


def few(made: Sequence[Ranking]) -> Markdown:
    """Which data sets have too few systems for an interval over systems to be relied on."""
    short = [one for one in made if len(one.systems) < FEW_UNITS]
    listed = ", ".join(f"`{one.data.name}` ({len(one.systems)})" for one in short)
    if not short:
        return Markdown(f"Every data set here has at least {FEW_UNITS} systems.")
    return Markdown(
        f"Fewer than {FEW_UNITS} systems: {listed}. So few cannot say what other systems would do:"
        " the intervals over systems are there to be looked at, and may cover less than they claim."
    )


def forest_figure(made: Sequence[Ranking]) -> Picture | Markdown:
    """Agreement with both intervals, one panel a data set, see :func:`figures_levels.pairs`."""
    rows = []
    for one in made:
        for kind, units in _UNITS.items():
            for name, value, found in zip(
                one.names, one.agreement, one.intervals(units), strict=True
            ):
                rows.append((name, one.data.name, kind, value, found.low, found.high))
    columns = ["metric", "panel", "kind", "value", "low", "high"]
    frame = pd.DataFrame(rows, columns=columns)
    if not np.isfinite(frame["value"]).any():
        return Markdown("*Nothing to draw: no metric has a value over systems.*")
    labels = {one.data.name: one.setting.function.label for one in made}
    return Picture(figures_levels.pairs(frame, labels))


_UNITS: dict[str, Units] = {"sources like these": "sources", "systems like these": "systems"}


def scatter_figure(one: Ranking) -> Picture | Markdown:
    """Systems by metric and by people: the best metric, the worst, and two that know no content.

    A metric that is here as a demonstration is neither the best nor the worst.
    """
    apart = {*rulers(), *demonstration.shown([name for name, _ in one.found.names])}
    real = [i for i, (name, _) in enumerate(one.found.names) if name not in apart]
    known = [i for i in real if math.isfinite(one.agreement[i])]
    order = sorted(known, key=lambda i: -one.agreement[i])
    wanted = list(dict.fromkeys([*order[:1], *order[-1:]]))
    wanted += [i for i, name in enumerate(one.names) if name in ("copy-rate", "human-style")]
    if not wanted:
        return Markdown("*Nothing to draw: no metric has a value over systems.*")
    panels = [(one.names[i], one.agreement[i], one.means(i)) for i in wanted]
    label, against = one.setting.function.label, one.found.against
    return Picture(figures_systems.scatter(one.systems, one.people, panels, label, against))


# ------------------------------------------------------------------ which pairs people tell apart


def systems_figure(made: Sequence[Ranking]) -> Picture:
    """Mean ratings of the systems with 95 % intervals over sources."""
    panels = [(one.data.name, one.found.against, _by_people(one)) for one in made]
    return Picture(figures_systems.means(panels))


def _by_people(one: Ranking) -> pd.DataFrame:
    """Systems from best to worst: name, mean, low, high."""
    drawn = stats.draw(
        one.found.plan("sources", one.draws), one.found.shape, np.random.default_rng(one.seed)
    )
    given = np.isfinite(one.found.human)
    total = drawn.sources @ np.where(given, one.found.human, 0.0)
    count = drawn.sources @ given.astype(float)
    values = np.where(count > 0, total / np.where(count > 0, count, 1.0), np.nan)
    rated = int(given.any(axis=1).sum())
    low, high = bounds(values.T, one.people, rated, (-np.inf, np.inf))
    frame = pd.DataFrame({"system": one.systems, "mean": one.people, "low": low, "high": high})
    return frame.sort_values("mean", ascending=False, kind="stable")


def certainty(made: Sequence[Ranking]) -> html.Html:
    """How many pairs of systems people tell apart, one at a time and all together."""
    rows = []
    for one in made:
        pairs = one.pairs()
        rows.append(
            {
                "data set": one.data.name,
                "systems": len(one.systems),
                "pairs": len(pairs),
                "p < .05, each alone": sum(bool(one.alone[pair]) for pair in pairs),
                "p < .05, all together (Holm)": sum(bool(one.apart[pair]) for pair in pairs),
            }
        )
    return html.table(pd.DataFrame(rows))


def accuracy_by_certainty(made: Sequence[Ranking]) -> html.Html:
    """Pairwise accuracy over the pairs that people tell apart, and over the others."""
    lines = []
    for one in made:
        pairs = one.pairs()
        sure = [pair for pair in pairs if one.apart[pair]]
        rest = [pair for pair in pairs if not one.apart[pair]]
        for i, name in enumerate(one.names):
            hits = _hits(one.people, one.means(i))
            for words, some in (("told apart", sure), ("others", rest)):
                column = f"{one.data.name}\n{len(some)} {words}"
                cell = html.signed(_share(hits, some))
                lines.append({"metric": escape(name), "column": column, "cell": cell})
    shown = html.pivot(pd.DataFrame(lines), ["metric"], "column", "cell")
    return html.table(shown, dict.fromkeys(shown.columns, str))


def _hits(people: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """Whether both order a pair alike ``[K, K]``."""
    x, y = (np.subtract.outer(side, side) for side in (people, metric))
    room = [
        1e-12 * max(1.0, float(np.nanmax(np.abs(side), initial=0))) for side in (people, metric)
    ]
    x, y = (np.where(np.abs(gap) <= least, 0, gap) for gap, least in zip((x, y), room, strict=True))
    return np.sign(x) == np.sign(y)


def _share(hits: np.ndarray, pairs: Sequence[tuple[int, int]]) -> float:
    return float(np.mean([hits[pair] for pair in pairs])) if pairs else math.nan


# ------------------------------------------------------------------------------------ chance


def chance(made: Sequence[Ranking], n: int = 4000, many: int = 10) -> html.Html | Markdown:
    """What metrics that know nothing get over as many systems: one, and the best of many."""
    rows = []
    for one in made:
        if len(one.systems) < LEAST:
            continue
        values = _of_noise(one, n * many).reshape(n, many)
        low, high = np.quantile(values[:, 0], [0.025, 0.975])
        rows.append(
            {
                "data set": one.data.name,
                "systems": len(one.systems),
                "mean": float(values[:, 0].mean()),
                "95 % of them lie in": f"{html.signed(low)} to {html.signed(high)}",
                f"best of {many}, on average": float(values.max(axis=1).mean()),
            }
        )
    return html.table(pd.DataFrame(rows)) if rows else _TOO_FEW


def _of_noise(one: Ranking, n: int, statistic: str | None = None) -> np.ndarray:
    """Agreement of ``n`` random metrics with people over the systems."""
    noise = np.random.default_rng(one.seed).random((n, 1, len(one.systems)))
    return stats.estimate(one.people[None], noise, Setting(statistic or one.statistic, "system"))


def self_pairs(made: Sequence[Ranking], n: int = 200) -> html.Html:
    """Pairwise accuracy of random metrics when systems are drawn anew, twins dropped and counted.

    A system that is drawn twice makes a pair with itself, on which any metric agrees with people.
    """
    rows = []
    for one in made:
        k = len(one.systems)
        rng = np.random.default_rng(one.seed)
        half = rng.random((n // 2, 1, k))
        noise = np.concatenate([half, -half])  # with each its contrary: no luck on the whole
        drawn = stats.draw(stats.Plan("systems", one.draws), (1, k), rng)
        setting = Setting("pairwise-accuracy", "system")
        values = stats.resampled(one.people[None], noise, setting, drawn)  # [n, D]
        twins = (drawn.systems * (drawn.systems - 1) / 2).sum(axis=1)
        share = twins / math.comb(k, 2) if k > 1 else np.ones(one.draws)
        counted = np.where(share < 1, values, 0.0) * (1 - share) + share
        rows.append(
            {
                "data set": one.data.name,
                "systems": k,
                "no resampling": float(stats.estimate(one.people[None], noise, setting).mean()),
                "drawn, twins dropped": float(np.nanmean(values)) if k > 1 else math.nan,
                "drawn, twins counted": float(counted.mean()),
            }
        )
    return html.table(pd.DataFrame(rows))


# ------------------------------------------------------------------------ against a reference


def references(
    bench: Bench, made: Sequence[Ranking], metrics: Sequence[str]
) -> html.Html | Markdown:
    """S-, R- and their difference over systems alone, in the same draws of sources."""
    parts = []
    for one in made:
        items = one.data.items
        if not (items["references"].str.len() > 0).any():
            continue
        by_people = items["is_reference"]
        mixed = by_people.any() and not by_people.all()
        data = one.data.where(~by_people, f"{one.data.name} (systems)") if mixed else one.data
        scores = scores_of(bench, data, allowed(metrics, "embedded"), released=False)
        other = Ranking(data, scores, one.statistic, one.draws, one.seed)
        parts.append(_both_bases(other))
    if not parts:
        return Markdown("*No rewrite here has a reference: only S- can be had.*")
    return html.Html("".join(parts))


def _both_bases(one: Ranking) -> str:
    found = one.found
    plan, rng = found.plan("sources", one.draws), np.random.default_rng(one.seed)
    drawn = resample(found.human, found.metrics, one.setting, plan, rng)
    place = {name: i for i, name in enumerate(found.names)}
    rows = []
    for (name, basis), s in place.items():
        r = place.get((name, "reference"))
        if basis != "source" or r is None:
            continue
        rows.append(
            {
                "metric": name,
                "S-": html.signed(one.agreement[s]),
                "R-": html.signed(one.agreement[r]),
                "R- minus S-": html.signed(one.agreement[r] - one.agreement[s]),
                "sources like these": _span(difference(drawn, r, s)),
            }
        )
    return html.table(pd.DataFrame(rows), caption=_title(one)).text
