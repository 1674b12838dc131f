"""Lesson 9: is your judge as good as a rater?

In a simulated world everything is known: how good a rewrite is, what people see of it, and what
each judge looks at.  So it shows which question a number answers.  Agreement of a judge with itself
says how much it wavers, and nothing of what it looks at.  A test against raters says how near it
comes to them, and with noisy raters anything comes near.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ... import stats
from ...data import Dataset
from ...schema import TstmetaError
from ...stats.alternative import AlternativeTest, alternative_annotator_test, flat_line
from ...stats.raters import spearman_brown
from .. import html
from ..bench import Bench
from ..chapters import present
from ..figures import BLUE, GREEN, GREY, ORANGE, Picture, _panels, _styled
from ..judge_ratings import Given

#: Points of the rating scale of the world.
LOW, MIDDLE, HIGH = 1, 3, 5
#: How many points one standard deviation of quality is worth.
_STEP = 0.9
#: Standard deviation of raters' personal levels.
_HABIT = 0.3
#: Answers that the figure goes up to.
MOST = 16
#: Noise of the raters in the figure, in standard deviations of quality.
NOISES = (0.3, 0.6, 1.0, 1.5, 2.0, 3.0)
#: Data sets on which automatic metrics stand in for a judge: single ratings by persons.
PERSONS = ("pauli", "alva@asset", "lens@simpda_2022")


class Judge(NamedTuple):
    """What a judge looks at: weights of the quality and of something else, and how it wavers."""

    about: str
    quality: float
    other: float
    noise: float
    colour: str = GREY
    marker: str = "o"


JUDGES: dict[str, Judge] = {
    "careful": Judge("sees the quality, wavers a little", 1.0, 0.0, 0.5, GREEN, "o"),
    "wavering": Judge("sees the quality, wavers a lot", 1.0, 0.0, 2.0, BLUE, "s"),
    "stubborn": Judge(
        "hardly wavers, and mostly sees something else", 0.35, 0.95, 0.15, ORANGE, "v"
    ),
    "indifferent": Judge("gives the middle of the scale to everything", 0.0, 0.0, 0.0, GREY, "D"),
}


class World(NamedTuple):
    """A simulated study.

    Attributes:
        quality, other: what is to be rated, and something that has nothing to do with it; both
            ``[S, K]`` with mean 0 and standard deviation 1.
        people: ratings in grades ``[S, K, R]``.
    """

    quality: np.ndarray
    other: np.ndarray
    people: np.ndarray


def world(
    sources: int = 60, systems: int = 4, raters: int = 5, noise: float = 1.0, seed: int = 0
) -> World:
    """Raters see the quality through noise and have levels of their own.

    Raises:
        TstmetaError: nothing to rate, or nobody to rate it.
    """
    if min(sources, systems) < 2 or raters < 2 or noise < 0:
        raise TstmetaError(
            f"{sources} sources, {systems} systems, {raters} raters, noise {noise:g}: at least two"
            " of each are needed, and no noise below 0"
        )
    rng = np.random.default_rng(seed)
    quality, other = rng.normal(size=(2, sources, systems))
    habit = _HABIT * rng.normal(size=raters)
    seen = quality[..., None] + habit + noise * rng.normal(size=(sources, systems, raters))
    return World(quality, other, _grades(seen))


def _grades(values: np.ndarray) -> np.ndarray:
    return np.clip(np.round(MIDDLE + _STEP * values), LOW, HIGH)


def answers(made: World, judge: Judge, samples: int = 1, seed: int = 0) -> np.ndarray:
    """Ratings of a judge in grades ``[T, S, K]``, asked ``samples`` times."""
    rng = np.random.default_rng([seed, 7])
    noise = judge.noise * rng.normal(size=(samples, *made.quality.shape))
    return _grades(judge.quality * made.quality + judge.other * made.other + noise)


# ---------------------------------------------------------------------------------- the table


def table_of(made: World, samples: int = 8, epsilon: float = 0.1, seed: int = 0) -> pd.DataFrame:
    """Each judge's agreement with itself and with people, and whether it could replace a rater.

    Returns:
        judge, about, alpha (between answers, interval), one (Pearson's r of one answer with
        people's mean, mean over answers), mean (the same of the mean of all answers), omega, rho
        and passes (alternative annotator test of the first answer, as it speaks).
    """
    people = made.people.mean(axis=2).ravel()
    rows = []
    for name, judge in JUDGES.items():
        given = answers(made, judge, samples, seed).reshape(samples, -1)
        test = _test(made, given[0].reshape(made.quality.shape), epsilon, seed)
        each = [stats.pearson(people, one).value for one in given]
        rows.append(
            {
                "judge": name,
                "about": judge.about,
                "alpha": stats.alpha(given.T, "interval").value,
                "one": float(np.mean(each)),
                "mean": stats.pearson(people, given.mean(axis=0)).value,
                **{"omega": test.omega, "rho": test.rho, "passes": test.omega >= 0.5},
            }
        )
    return pd.DataFrame(rows)


def _test(made: World, ratings: np.ndarray, epsilon: float, seed: int) -> AlternativeTest:
    return alternative_annotator_test(
        made.people, ratings, epsilon=epsilon, mapping="none", rng=np.random.default_rng(seed)
    )


def table(rows: pd.DataFrame, samples: int = 8) -> html.Html:
    """Rows of :func:`table_of`."""
    names = {
        "alpha": "alpha with itself",
        "one": "r with people, one answer",
        "mean": f"mean of {samples}",
        "omega": "raters beaten",
        "rho": "as close or closer",
        "passes": "replaces a rater?",
    }
    shown = rows.assign(passes=["passes" if one else "fails" for one in rows["passes"]])
    return html.table(shown.rename(columns=names), dict.fromkeys([*names.values()][:-1], _two))


def _two(value: object) -> str:
    return html.signed(float(value))  # type: ignore[arg-type]


# ------------------------------------------------------------------------- how often to ask


def along(made: World, most: int = MOST, seed: int = 0) -> pd.DataFrame:
    """Agreement with people's mean by number of answers averaged: judge, answers, value, law.

    ``law`` is what Spearman and Brown expect from one answer and alpha: r grows with the root of
    the reliability of the mean.
    """
    people = made.people.mean(axis=2).ravel()
    rows = []
    for name, judge in JUDGES.items():
        given = answers(made, judge, most, seed).reshape(most, -1)
        alpha = stats.alpha(given.T, "interval").value
        one = float(np.mean([stats.pearson(people, single).value for single in given]))
        if math.isnan(one):
            continue
        for count in range(1, most + 1):
            sure = spearman_brown(alpha, count).value
            value = stats.pearson(people, given[:count].mean(axis=0)).value
            rows.append((name, count, value, one * math.sqrt(sure / alpha)))
    return pd.DataFrame(rows, columns=["judge", "answers", "value", "law"])


def along_picture(rows: pd.DataFrame, made: World) -> Picture:
    """Rows of :func:`along`; the grey line is a held-out rater against the others."""
    return Picture(_along_picture(rows, held_out(made)))


def held_out(made: World) -> float:
    """Mean Pearson's r of each rater with the mean of the others, over all rewrites."""
    ratings = made.people.reshape(-1, made.people.shape[2])
    found = []
    for rater in range(ratings.shape[1]):
        others = np.delete(ratings, rater, axis=1).mean(axis=1)
        found.append(stats.pearson(others, ratings[:, rater]).value)
    return float(np.mean(found))


@_styled
def _along_picture(rows: pd.DataFrame, rater: float) -> Figure:
    figure, [axis] = _panels(1, 5.4, 3.2)
    for name, own in rows.groupby("judge", sort=False):
        judge = JUDGES[str(name)]
        axis.plot(own["answers"], own["law"], color=judge.colour, lw=1, linestyle="--")
        axis.plot(
            own["answers"], own["value"], judge.marker, color=judge.colour, ms=5, label=str(name)
        )
    axis.axhline(rater, color=GREY, lw=1.2, label="a rater")
    axis.set_ylim(0, 1)
    axis.set_xlabel("answers averaged")
    axis.set_ylabel("r with people's mean")
    figure.legend(loc="outside lower center", ncols=4)
    return figure


# ------------------------------------------------------------------------ how noisy people are


def by_noise(
    noises: Sequence[float] = NOISES,
    worlds: int = 6,
    epsilon: float = 0.1,
    seed: int = 0,
    **sizes: int,
) -> pd.DataFrame:
    """Raters beaten by each judge and by a flat line, by how noisy the raters are.

    Returns:
        noise, raters (mean Pearson's r of a rater with the others), name, omega (share of raters
        beaten, mean over ``worlds``).
    """
    rows = []
    for noise in noises:
        made = [world(noise=noise, seed=seed + number, **sizes) for number in range(worlds)]
        alike = float(np.mean([held_out(one) for one in made]))
        for name, judge in JUDGES.items():
            beaten = [_test(one, answers(one, judge, 1, seed)[0], epsilon, seed) for one in made]
            rows.append((noise, alike, name, np.mean([test.omega for test in beaten])))
        flat = [
            flat_line(one.people, epsilon=epsilon, rng=np.random.default_rng(seed)) for one in made
        ]
        rows.append((noise, alike, "flat line", np.mean([test.omega for test in flat])))
    return pd.DataFrame(rows, columns=["noise", "raters", "name", "omega"])


def by_noise_picture(rows: pd.DataFrame) -> Picture:
    """Rows of :func:`by_noise`; above the line a judge passes."""
    return Picture(_by_noise_picture(rows))


@_styled
def _by_noise_picture(rows: pd.DataFrame) -> Figure:
    figure, [axis] = _panels(1, 5.4, 3.2)
    axis.axhline(0.5, color="#222222", lw=0.9)
    for name, own in rows[rows["name"] != "flat line"].groupby("name", sort=False):
        judge = JUDGES[str(name)]
        axis.plot(
            own["raters"], own["omega"], color=judge.colour, marker=judge.marker, ms=5, lw=1.3,
            label=str(name),
        )  # fmt: skip
    flat = rows[rows["name"] == "flat line"]
    axis.plot(flat["raters"], flat["omega"], color="#222222", lw=1.3, ls=":", label="flat line")
    axis.set_ylim(-0.03, 1.03)
    axis.invert_xaxis()
    axis.set_xlabel("r of one rater with the others (to the right: noisier raters)")
    axis.set_ylabel("raters beaten")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


def by_noise_said(rows: pd.DataFrame) -> Markdown:
    """From where on a flat line passes, and who cannot be told from it there."""
    flat = rows[rows["name"] == "flat line"]
    passing = flat[flat["omega"] >= 0.5]
    if passing.empty:
        return Markdown("Here a flat line never beats half of the raters.")
    first = passing.loc[passing["raters"].idxmax()]
    there = rows[(rows["noise"] == first["noise"]) & (rows["omega"] >= 0.5)]
    others = ", ".join(f"*{name}*" for name in there["name"] if name != "flat line")
    return Markdown(
        "A flat line beats half of the raters as soon as one rater agrees with the others at r ="
        f" {html.signed(first['raters'])} or less. There {others or 'no judge'} passes as well."
    )


# ------------------------------------------------------------------------------- real data


def persons(bench: Bench, dataset: str = "auto") -> list[Dataset]:
    """Data sets with single ratings by persons that are here, or the one that is asked for."""
    return present(bench, PERSONS) if dataset == "auto" else [bench.dataset(dataset)]


def sets(bench: Bench, judged: Sequence[Given], dataset: str = "auto") -> list[Dataset]:
    """All data sets of the lesson: those of the judges, then those with persons; else contrast."""
    found = {one.data.name: one.data for one in judged}
    found |= {data.name: data for data in persons(bench, dataset)}
    return list(found.values()) or [bench.dataset("contrast")]
