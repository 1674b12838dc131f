"""Lesson 2: ties.

People tie often: a scale has five points, a mean of three raters thirteen.  A metric with many
digits hardly ever ties.  Every statistic has to say what a tie is worth, and each says something
else.  So the same metric gets better or worse by rounding alone, and its author can choose.  The
lesson shows it on a handful of rewrites, in a simulated world, and on real ratings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ...data import Dataset
from ...stats import Plan, Setting, Statistic, acc_eq, correlate, kernels
from ...stats.intervals import difference, resample
from ...stats.ties import Level
from .. import chapters, html
from ..bench import Bench
from ..figures import BLUE, GREEN, GREY, ORANGE, Picture, _panels, _styled
from ..matrices import Matrices, matrices

#: Data sets of the lesson: means of three raters, and one rater on five points.
DATA = ("mir", "li2018@yelp-rated")
#: Numbers of grades that a metric is cut into; 0 leaves it whole.
GRADES = (2, 3, 5, 10, 20, 50, 0)
#: What can be done to a metric without knowing anything: round it, flip coins for its ties.
GAMES = ("rounding", "flipping")


def _orders(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.broadcast_to(np.abs(x), np.broadcast_shapes(x.shape, y.shape))


def _alike(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (x * y > 0).astype(float)


def strict() -> Statistic:
    """Share of the pairs that people order in which the metric has the same order.

    A metric's tie is as wrong as the opposite order.
    """

    def parts(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, ...]:
        return kernels.pair_totals((_orders, _alike), x, y, weights)

    def finish(pairs: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.where(pairs > 0, right / np.where(pairs > 0, pairs, 1.0), np.nan)

    return Statistic("strict", "accuracy, a tie is wrong", parts, finish, chance=math.nan)


WRONG, HALF, SHARED = "a tie is wrong", "a tie is half right", "a shared tie is right"
#: Name, statistic, and whether sources count in which people tie everything.
STATISTICS: tuple[tuple[str, str | Statistic, bool], ...] = (
    ("tau-b", "kendall", False),
    ("tau-c", "tau-c", False),
    (WRONG, strict(), False),
    (HALF, "preference", False),
    (SHARED, acc_eq(), True),
)


class Case(NamedTuple):
    """Ratings and scores ``[S, K]`` of one metric, the level that fits them, and what to draw.

    ``data`` is where they come from, None where they are simulated.
    """

    name: str
    human: np.ndarray
    metric: np.ndarray
    level: Level
    plan: Plan
    data: Dataset | None = None


def case_of(bench: Bench, data: Dataset, metric: str) -> Case:
    """One metric of a data set against content."""
    own = _matrices(bench, data, [metric])
    scores, plan = own.metrics[0], own.plan("sources", 500)
    return Case(data.name, own.human, scores, _level(own.human, scores), plan, data)


def _level(human: np.ndarray, metric: np.ndarray) -> Level:
    """Per source where a source has two rewrites to compare, else pooled."""
    both = np.isfinite(human) & np.isfinite(metric)
    return "source" if (both.sum(axis=1) > 1).any() else "pooled"


def values(case: Case, metric: np.ndarray) -> dict[str, float]:
    """Each statistic of a metric in the place of the case's own.

    A source in which the metric ties everything counts as no agreement (0) for tau.  Sources in
    which people tie everything are left out, except where a shared tie is right.
    """
    found = {}
    for name, statistic, tied in STATISTICS:
        rows = _rows(case, tied)
        setting = _setting(case, statistic)
        found[name] = correlate(case.human[rows], metric[rows], setting).value
    return found


def _setting(case: Case, statistic: str | Statistic) -> Setting:
    undefined = 0.0 if statistic in ("kendall", "tau-c") else math.nan
    return Setting(statistic, case.level, undefined=undefined)


def _rows(case: Case, tied: bool) -> np.ndarray:
    """Sources that count ``[n]``: all, or those in which people tell two rewrites apart."""
    given = np.isfinite(case.human) & np.isfinite(case.metric)
    if tied or case.level == "pooled":
        return np.flatnonzero(given.any(axis=1))
    high = np.where(given, case.human, -np.inf).max(axis=1)
    return np.flatnonzero(high > np.where(given, case.human, np.inf).min(axis=1))


def _plan(plan: Plan, rows: np.ndarray) -> Plan:
    """The plan for some of the sources."""
    labels = {"clusters": plan.clusters, "strata": plan.strata}
    kept = {name: np.asarray(one)[rows] for name, one in labels.items() if one is not None}
    return plan._replace(**kept)


# ----------------------------------------------------------------------------- a handful


def handful() -> pd.DataFrame:
    """Five ways to score seven rewrites with ratings 1 2 2 3 3 4 5: scores and each statistic."""
    people = np.array([[1.0, 2, 2, 3, 3, 4, 5]])
    ways = {
        "people": people,
        "breaks the ties": [[1, 2, 2.5, 3, 3.5, 4, 5]],
        "two grades": [[0, 0, 0, 1, 1, 1, 1]],
        "all alike": [[1] * 7],
        "turned round": -people,
    }
    rows = []
    for name, given in ways.items():
        scores = np.asarray(given, dtype=float)
        found = {
            label: correlate(people, scores, Setting(statistic)).value
            for label, statistic, _ in STATISTICS
        }
        listed = " ".join(f"{value:g}" for value in scores[0]).replace("-", "−")
        rows.append({"metric": name, "scores": listed, **found})
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> html.Html:
    """Numbers with two decimals."""
    return html.table(rows, {name: _two for name in rows if rows[name].dtype == float})


def _two(value: object) -> str:
    return html.signed(float(value))  # type: ignore[arg-type]


# -------------------------------------------------------------------------- how many ties


def chosen(bench: Bench, dataset: str = "auto") -> list[Dataset]:
    """The data sets of the lesson that are here (else the contrast set), or one by name."""
    sets = chapters.present(bench, DATA) if dataset == "auto" else [bench.dataset(dataset)]
    return sets or [bench.dataset("contrast")]


def cases(bench: Bench, datasets: Sequence[Dataset], metric: str = "chrf") -> list[Case]:
    """One metric on each data set."""
    return [case_of(bench, data, metric) for data in datasets]


def _matrices(bench: Bench, data: Dataset, names: Sequence[str]) -> Matrices:
    return matrices(data, bench.table(data, names, ["source"]))


def shares(bench: Bench, datasets: Sequence[Dataset], metric: str = "chrf") -> pd.DataFrame:
    """How often people and a metric tie two rewrites of one source, and two of the same text.

    Returns:
        data, values (different ratings), pairs, people and metric (shares of tied pairs), same text
        (share of pairs), people there (share of pairs of the same text that people tie), apart and
        apart there (mean difference of ratings in all pairs and in those of the same text).
    """
    rows = []
    for data in datasets:
        found = _matrices(bench, data, [metric])
        text = found.layout.matrix(pd.factorize(data.items["output"])[0].astype(float))
        people, scores, texts = (_gaps(side) for side in (found.human, found.metrics[0], text))
        given = np.isfinite(people) & np.isfinite(scores)
        people, scores, texts = people[given], scores[given], texts[given]
        same = texts == 0
        rows.append(
            {
                "data": data.name,
                "values": len(np.unique(found.human[np.isfinite(found.human)])),
                "pairs": len(people),
                "people": _mean(people == 0),
                "metric": _mean(scores == 0),
                "same text": _mean(same),
                "people there": _mean(people[same] == 0),
                "apart": _mean(np.abs(people)),
                "apart there": _mean(np.abs(people[same])),
            }
        )
    return pd.DataFrame(rows)


def _gaps(side: np.ndarray) -> np.ndarray:
    """Differences of all pairs of a row ``[S, K (K - 1) / 2]``."""
    first, second = np.triu_indices(side.shape[1], 1)
    return side[:, first] - side[:, second]


def _mean(given: np.ndarray) -> float:
    return float(given.mean()) if len(given) else math.nan


def shares_table(rows: pd.DataFrame, metric: str = "chrf") -> html.Html:
    """Rows of :func:`shares`, in percent."""
    names = {
        "values": "different ratings",
        "pairs": "pairs within a source",
        "people": "people tie",
        "metric": f"{metric} ties",
        "people there": "people tie the same text",
        "apart": "ratings apart",
        "apart there": "… of the same text",
    }
    percent = ("people", "metric", "same text", "people there")
    formats = dict.fromkeys([names.get(one, one) for one in percent], html.percent)
    formats |= dict.fromkeys(list(names.values())[-2:], _two)
    return html.table(rows.rename(columns=names), formats)


def shares_said(rows: pd.DataFrame) -> Markdown:
    """What people do with two copies of a text, in the set where they agree least on them."""
    copies = rows[rows["people there"].notna()]
    if copies.empty:
        return Markdown("None of these sets holds the same text twice for one source.")
    row = copies.loc[copies["people there"].idxmin()]
    return Markdown(
        f"On `{row['data']}`, people tie {row['people there']:.0%} of the pairs of the same text."
        f" The two ratings lie {row['apart there']:.2f} points apart on average, those of any two"
        f" rewrites {row['apart']:.2f}."
    )


# ------------------------------------------------------------------------------ rounding


def cut(scores: np.ndarray, grades: int) -> np.ndarray:
    """Scores in ``grades`` grades that are used about equally often; 0 leaves them whole."""
    if not grades:
        return scores
    given = np.isfinite(scores)
    edges = np.quantile(scores[given], np.arange(1, grades) / grades) if given.any() else []
    return np.where(given, np.searchsorted(edges, scores, side="right").astype(float), np.nan)


def world(sources: int = 300, systems: int = 10, grades: int = 5, seed: int = 0) -> Case:
    """Rewrites of a quality that people see through noise, in grades, and a metric in digits."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(sources, systems))
    human, metric = quality + 0.7 * rng.normal(size=(2, *quality.shape))
    return Case("simulated", cut(human, grades), metric, "source", Plan("sources", 500))


def along(shown: Sequence[Case]) -> pd.DataFrame:
    """Each statistic of the metric in each number of grades: data, grades, statistic, value."""
    rows = [
        {"data": case.name, "grades": grades, "statistic": name, "value": value}
        for case in shown
        for grades in GRADES
        for name, value in values(case, cut(case.metric, grades)).items()
    ]
    return pd.DataFrame(rows)


_LOOKS = {
    "tau-b": (BLUE, "o"),
    "tau-c": ("#56B4E9", "s"),
    WRONG: (ORANGE, "v"),
    HALF: (GREY, "D"),
    SHARED: (GREEN, "^"),
}


def picture(rows: pd.DataFrame) -> Picture:
    """Rows of :func:`along`: one column a data set, above tau, below accuracies."""
    return Picture(_picture(rows))


@_styled
def _picture(rows: pd.DataFrame) -> Figure:
    names = list(dict.fromkeys(rows["data"]))
    figure, axes = _panels(2 * len(names), 2.9, 2.3, most=len(names), sharex=True, sharey="row")
    kinds = (("tau-b", "tau-c"), (WRONG, HALF, SHARED))
    labels = [str(one or "whole") for one in GRADES]
    for place, axis in enumerate(axes):
        row, name = place // len(names), names[place % len(names)]
        for kind in kinds[row]:
            colour, marker = _LOOKS[kind]
            own = rows[(rows["data"] == name) & (rows["statistic"] == kind)]["value"].to_numpy()
            axis.plot(own, color=colour, marker=marker, markersize=4.5, lw=1.5, label=kind)
            axis.axhline(own[-1], color=colour, lw=0.8, linestyle=":")
        axis.set_xticks(range(len(labels)), labels)
        if row == 0:
            axis.set_title(name)
        else:
            axis.set_xlabel("grades of the metric")
        if place % len(names) == 0:
            axis.set_ylabel(("tau", "accuracy")[row])
    handles = [line for axis in axes[:: len(names)] for line in axis.get_lines()[::2]]
    figure.legend(handles=handles, loc="outside lower center", ncols=2 * len(names) - 1)
    return figure


def games(case: Case, grades: int = 5, seed: int = 0) -> pd.DataFrame:
    """What rounding gains, and what flipping a coin for each tie of the rounded metric gains.

    Returns:
        One row a statistic: whole, rounded and coins (values), and the gain of each game over the
        row before (rounded less whole, coins less rounded) with limits from the same draws of
        sources.
    """
    rounded = cut(case.metric, grades)
    coins = rounded + np.random.default_rng(seed).uniform(0, 0.5, rounded.shape)
    stacked = np.stack([case.metric, rounded, coins])
    rows = []
    for name, statistic, tied in STATISTICS:
        chosen, rng = _rows(case, tied), np.random.default_rng(seed)
        setting, plan = _setting(case, statistic), _plan(case.plan, chosen)
        made = resample(case.human[chosen], stacked[:, chosen], setting, plan, rng)
        whole, graded, flipped = (float(value) for value in made.estimates)
        rounding, flipping = difference(made, 1, 0), difference(made, 2, 1)
        rows.append(
            {
                "statistic": name,
                **{"whole": whole, "rounded": graded, "coins": flipped},
                **{"rounding": graded - whole, "rounding low": rounding.low},
                **{"rounding high": rounding.high, "flipping": flipped - graded},
                **{"flipping low": flipping.low, "flipping high": flipping.high},
            }
        )
    return pd.DataFrame(rows)


def games_table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`games`: three values, and both gains with their intervals."""
    shown = rows[["statistic", "whole", "rounded", "coins"]].assign(
        **{
            f"gain by {game}": [_span(row, game) for row in rows.to_dict("records")]
            for game in GAMES
        }
    )
    return html.table(shown.rename(columns={"coins": "rounded, ties by coin"}))


def _span(row: Mapping, game: str) -> str:
    value, low, high = (row[f"{game}{end}"] for end in ("", " low", " high"))
    if math.isnan(value):
        return "–"
    return f"{_plus(value)} ({_plus(low)} to {_plus(high)})"


def _plus(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−") if math.isfinite(value) else "–"


def games_said(shown: Sequence[Case], grades: int = 5, seed: int = 0) -> Markdown:
    """Which statistics a game raises, set by set: those whose interval lies above zero."""
    lines = []
    for case in shown:
        rows = games(case, grades, seed)
        won = {game: rows.loc[rows[f"{game} low"] > 0, "statistic"] for game in GAMES}
        said = [f"{game} raises {_listed([f'*{one}*' for one in won[game]])}" for game in GAMES]
        lines.append(f"- On `{case.name}`, {'; '.join(said)}.")
    return Markdown("\n".join(lines))


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return names[0] if names else "nothing for certain"
    return f"{', '.join(names[:-1])} and {names[-1]}"
