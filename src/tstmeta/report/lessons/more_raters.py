"""Lesson 5, on raters: what a second opinion on the same rewrite buys, and what it costs.

Noise of raters pulls a correlation towards zero.  By Spearman and Brown the reliability of a mean
of k ratings follows from that of one, and with it how much of the noise-free correlation is left;
both hold for Pearson's r alone.  For a fixed number of ratings the same algebra says that new
rewrites beat second opinions, and ratings drawn from real data say whether that is so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from ...schema import DIMENSIONS
from ...stats import Plan, Setting, correlate, draw, resampled
from ...stats.alternative import alternative_annotator_test
from ...stats.raters import attenuation, mean_of_ratings, single_rater, spearman_brown
from .. import chapters, html
from ..bench import Bench
from ..figures import GREY, Picture, _panels, _styled
from ..matrices import cube, matrices
from .how_many import LOOKS

#: Data sets whose single ratings were released, by persons.
RATED = ("pauli", "alva@asset", "lens@simpda_2022")
COUNTS = (1, 2, 3, 5, 10)
_COLUMNS = [
    *("data", "raters", "single", "reliability", "left", "r", "measured", "measured left"),
    *("expected certainty", "certainty"),
]
SIMULATED = "simulated, "
LINE = "beaten by a flat line"
#: Fewest sources from which a standard error is taken.
LEAST = 20


class Crowd(NamedTuple):
    """Single ratings ``[S, K, R]`` of one dimension, and scores of a metric ``[S, K]``."""

    name: str
    dimension: str
    ratings: np.ndarray
    scores: np.ndarray


def crowds(bench: Bench, metric: str) -> list[Crowd]:
    """Every dimension that persons rated on :data:`RATED`; simulated crowds if none is here."""
    found = []
    for data in chapters.present(bench, RATED):
        table = bench.table(data, [metric], ["source"])
        for dimension in (one for one in DIMENSIONS if one in data.dimensions):
            people, own = cube(data, dimension), matrices(data, table, dimension)
            if people.persons:
                found.append(Crowd(data.name, dimension, people.ratings, own.metrics[0]))
    return found or [simulated("clear", 0.5), simulated("noisy", 1.5)]


def simulated(name: str, noise: float, seed: int = 0) -> Crowd:
    """Five raters who see a quality of variance 1 through noise, and a metric that sees it too."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(120, 4))
    ratings = quality[..., None] + noise * rng.normal(size=(120, 4, 5))
    return Crowd(SIMULATED + name, "content", ratings, quality + 2.0 * rng.normal(size=(120, 4)))


def which(found: Sequence[Crowd], metric: str) -> Markdown:
    """Say whether these raters are real, and what the metric is."""
    names = list(dict.fromkeys(crowd.name for crowd in found))
    if names[0].startswith(SIMULATED):
        return Markdown(
            "**These raters are simulated**, as no ratings by single persons are on the machine:"
            " one crowd sees a quality clearly, the other one through much noise. The metric sees"
            " it through noise too."
        )
    listed = ", ".join(f"`{name}`" for name in names)
    return Markdown(f"Ratings by single persons, of {listed}. The metric is `{metric}`.")


def some_ratings(ratings: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """A random k of the ratings ``[S, K, R]`` of each cell, the others NaN."""
    given = np.isfinite(ratings)
    places = np.where(given, rng.random(ratings.shape), np.inf).argsort(axis=-1).argsort(axis=-1)
    return np.where(given & (places < k), ratings, np.nan)


def by_raters(
    found: Sequence[Crowd],
    counts: Sequence[int] = COUNTS,
    times: int = 30,
    draws: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """What is left of Pearson's r with content, with k ratings a rewrite: expected and measured.

    ``measured`` averages over random choices of k ratings.  ``certainty`` is r over its standard
    error when the number of ratings is fixed, so that k ratings a rewrite leave a k-th of the
    sources; it is given as a share of that with one rating, NaN with fewer than twenty sources.

    Returns:
        One row a data set and k: data, raters (k), single (reliability of one rating), reliability
        (of k), left (expected share of the noise-free r), r (expected), measured, measured left,
        expected certainty, certainty.  A crowd that does not agree has none.
    """
    rows = []
    for crowd in (one for one in found if one.dimension == "content"):
        people, scores = crowd.ratings, crowd.scores
        one = single_rater(people)
        if not one.value > 0:
            continue
        of_mean = correlate(mean_of_ratings(people), scores, Setting()).value
        true = attenuation(of_mean, one.of_mean).value
        base = math.nan
        for k in counts:
            there = k < one.per_cell + 0.5  # a mean, and so not quite a whole number
            r, error = _measured(crowd, k if there else 0, times, draws, seed)
            base = _over(abs(r), error) if k == 1 else base
            reliability = spearman_brown(one.value, k).value
            expected, alone = true * math.sqrt(reliability), true * math.sqrt(one.value)
            rows.append(
                {
                    "data": crowd.name,
                    "raters": k,
                    "single": one.value,
                    "reliability": reliability,
                    "left": math.sqrt(reliability),
                    "r": expected,
                    "measured": r,
                    "measured left": _over(r, true),
                    "expected certainty": _over(_certainty(expected, k), _certainty(alone, 1)),
                    "certainty": _over(_over(abs(r), error), base),
                }
            )
    return pd.DataFrame(rows, columns=_COLUMNS)


def _over(above: float, below: float) -> float:
    return above / below if below else math.nan


def _certainty(r: float, k: int) -> float:
    """r over its standard error, (1 - r^2) / sqrt(n), for as many n as k ratings each leave."""
    return abs(r) / max(1e-12, 1 - r * r) / math.sqrt(k)


def _measured(crowd: Crowd, k: int, times: int, draws: int, seed: int) -> tuple[float, float]:
    """Mean r with k ratings a rewrite, and its mean standard error on a k-th of the sources.

    NaN where there are not k ratings (k = 0), and no error where too few sources are left.
    """
    people, scores = crowd.ratings, crowd.scores
    rated = np.flatnonzero(np.isfinite(people).any(axis=(1, 2)))
    size = len(rated) // k if k else 0
    values, errors = [], []
    for place in range(times if k else 0):
        rng = np.random.default_rng([seed, k, place])
        human = mean_of_ratings(some_ratings(people, k, rng))
        values.append(correlate(human, scores, Setting()).value)
        if size >= LEAST:
            some = rng.choice(rated, size, replace=False)
            again = draw(Plan("sources", draws), (size, human.shape[1]), rng)
            drawn = resampled(human[some], scores[None, some], Setting(), again)[0]
            errors.append(_spread(drawn))
    return _mean(values), _mean(errors)


def _spread(values: np.ndarray) -> float:
    given = values[np.isfinite(values)]
    return float(np.std(given, ddof=1)) if len(given) > 1 else math.nan


def _mean(values: Sequence[float]) -> float:
    given = [value for value in values if math.isfinite(value)]
    return float(np.mean(given)) if given else math.nan


def table(rows: pd.DataFrame) -> html.Html:
    """Rows of :func:`by_raters`: r expected and measured, a number of raters a column."""
    shown = rows.assign(
        cell=[
            f"{html.signed(row['r'])}<br><small>{html.signed(row['measured'])}</small>"
            for row in rows.to_dict("records")
        ],
        column=[f"{k} rater{'s' * (k > 1)}" for k in rows["raters"]],
        one=[html.signed(value) for value in rows["single"]],
    ).rename(columns={"one": "reliability of one rating"})
    grid = html.pivot(shown, ["data", "reliability of one rating"], "column", "cell")
    noise_free = (rows["r"] / rows["left"]).groupby(rows["data"], sort=False).first()
    grid["no noise"] = [html.signed(noise_free[name]) for name in grid["data"]]
    made = html.table(grid, dict.fromkeys(grid.columns[2:], str))
    note = "<p class='tst-legend'>large: expected · small: measured with that many ratings</p>"
    return html.Html(made.text + note)


def picture(rows: pd.DataFrame) -> Picture:
    """Rows of :func:`by_raters`: what is left of r, and the certainty that a budget buys."""
    return Picture(_picture(rows))


@_styled
def _picture(rows: pd.DataFrame) -> Figure:
    figure, (left, right) = _panels(2, 3.6, 3.0)
    for place, (name, own) in enumerate(rows.groupby("data", sort=False)):
        colour, marker = LOOKS[place % len(LOOKS)]
        for axis, law, measured in (
            (left, "left", "measured left"),
            (right, "expected certainty", "certainty"),
        ):
            axis.plot(own["raters"], own[law], color=colour, lw=1.2, linestyle="--")
            axis.plot(
                own["raters"], own[measured], color=colour, marker=marker, lw=0, ms=6, label=name
            )
    counts = sorted(set(rows["raters"]))
    for axis in (left, right):
        axis.axhline(1, color=GREY, lw=0.8)
        axis.set_xticks(counts, [str(k) for k in counts])
        axis.set(xlabel="ratings a rewrite", ylim=(0, 1.08))
    left.set(ylabel="share of the noise-free r")
    left.set_title("The same rewrites, more raters")
    right.set(ylabel="r over its error, as a share")
    right.set_title("The same number of ratings")
    handles = [line for line in left.get_lines() if line.get_marker() != "None"]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def flat_lines(found: Sequence[Crowd], epsilon: float = 0.1, seed: int = 0) -> pd.DataFrame:
    """The alternative annotator test of the metric and of a flat line at the mean rating.

    Returns:
        One row a crowd, the noisiest ratings first: data, dimension, reliability of one rating,
        raters (tested), and how many of them a flat line beats and how many the metric.
    """
    rows = []
    for crowd in found:
        line, own = (
            alternative_annotator_test(
                crowd.ratings, scores, epsilon=epsilon, rng=np.random.default_rng(seed)
            )
            for scores in (np.where(np.isfinite(crowd.scores), 0.0, np.nan), crowd.scores)
        )
        rows.append(
            {
                "data": crowd.name,
                "dimension": crowd.dimension,
                "reliability of one rating": single_rater(crowd.ratings).value,
                "raters": sum(not row.reason for row in line.raters),
                LINE: sum(row.beaten for row in line.raters),
                "beaten by the metric": sum(row.beaten for row in own.raters),
            }
        )
    return pd.DataFrame(rows).sort_values("reliability of one rating")


def flat_said(rows: pd.DataFrame) -> Markdown:
    """Where a flat line beats at least half of the raters."""
    won = rows[(rows["raters"] > 0) & (2 * rows[LINE] >= rows["raters"])]
    listed = "; ".join(
        f"{row['dimension']} on `{row['data']}` ({row[LINE]} of {row['raters']})"
        for row in won.to_dict("records")
    )
    said = f"A flat line beats at least half of the raters here: {listed}."
    return Markdown(said if listed else "Here, a flat line never beats half of the raters.")
