"""Tables of a judge's agreement with itself: copies of a text, two prompts, repeated answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from .. import stats
from ..judge import consistency
from ..stats.limits import of_values
from ..stats.raters import spearman_brown
from . import html
from .figures import DIMENSION_COLOURS, GREY, Picture, _panels, _styled
from .judge_ratings import Given, captioned

NONE_HERE = Markdown(
    "*No ratings by a judge are here. Released ones come with `tstmeta data fetch lai`; your own"
    " with `tstmeta judge run` and `-p judged FILE`.*"
)


# ------------------------------------------------------------------------------ the same text


def same_text(judged: Sequence[Given], draws: int = 1000, seed: int = 0) -> pd.DataFrame:
    """How often two copies of a text get two ratings, judge by judge, people beside.

    Returns:
        data, judge, prompt, dimension, the fields of
        :class:`~tstmeta.judge.consistency.Disagreement`, low and high (of ``share``, sources drawn
        again), people (pairs of copies whose mean ratings by people differ) and of (such pairs).
    """
    rows = []
    for one in judged:
        items, ratings = one.data.items, one.of_sample()
        told = consistency.disagreement(items, ratings)
        low, high = _share_limits(consistency.pairs(items, ratings), draws, seed)
        people = consistency.disagreement(items, one.human)
        head = {"data": one.data.name, "judge": one.judge, "prompt": one.prompt}
        ends = {"low": low, "high": high, "people": people.different, "of": people.pairs}
        rows.append({**head, "dimension": one.dimension, **told._asdict(), **ends})
    return pd.DataFrame(rows)


def _share_limits(pairs: pd.DataFrame, draws: int, seed: int) -> tuple[float, float]:
    """95 % limits of the share of pairs that differ; all pairs of a source are drawn together."""
    by_source = pairs.assign(different=pairs["gap"] != 0).groupby("source_id")["different"]
    if len(by_source) < 2:
        return math.nan, math.nan
    counts = by_source.agg(["sum", "size"]).to_numpy(float)
    n = len(counts)
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), draws)
    different, size = (weights @ counts).T
    share = float(counts[:, 0].sum() / counts[:, 1].sum())
    found = of_values((different / size)[None], [share], units=n, bounds=(0.0, 1.0))[0]
    return found.low, found.high


def same_text_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`same_text`."""
    if rows.empty:
        return NONE_HERE
    if not rows["pairs"].any():
        return Markdown("*No two outputs of a source are the same text here.*")
    shown = pd.DataFrame(
        {
            **{name: rows[name] for name in ("data", "judge")},
            "pairs": [f"{int(count):,} pairs of the same text" for count in rows["pairs"]],
            **{name: rows[name] for name in ("prompt", "dimension")},
            "rated differently": rows["different"].astype(int),
            "share": [_share(row) for row in rows.to_dict("records")],
            "then apart by (median)": [html.signed(value, 0) for value in rows["typical"]],
            "at most": [html.signed(value, 0) for value in rows["largest"]],
            "by people": [f"{row.people:,} of {row.of:,}" for row in rows.itertuples()],
        }
    )
    words = "95 % intervals, sources drawn"
    shown, caption = captioned(shown, ("data", "judge", "pairs"), words)
    return html.table(shown, caption=caption)


def _share(row: dict) -> str:
    if math.isnan(row["share"]):
        return "–"
    ends = f" ({row['low']:.1%} to {row['high']:.1%})" if math.isfinite(row["low"]) else ""
    return f"{row['share']:.1%}{ends}"


def same_text_said(rows: pd.DataFrame) -> Markdown:
    """Where copies are rated most differently, and how people rated them."""
    if rows.empty or not rows["pairs"].any():
        return html.SILENCE
    first, last = (rows.loc[pick] for pick in (rows["share"].idxmin(), rows["share"].idxmax()))
    people, of = int(rows["people"].max()), int(rows["of"].max())
    return Markdown(
        f"{int(rows['pairs'].max()):,} pairs of outputs are the same text for the same source. The"
        f" share that is rated differently goes from {first['share']:.1%}"
        f" ({escape(first['dimension'])}, {escape(first['prompt'])}) to {last['share']:.1%}"
        f" ({escape(last['dimension'])}, {escape(last['prompt'])}), where such a pair lies up to"
        f" {last['largest']:.0f} points apart. People's ratings differ in at most {people:,} of"
        f" {of:,}, as if a text had been rated once and the rating copied."
    )


def gaps_picture(judged: Sequence[Given]) -> Picture | Markdown:
    """How far apart the ratings of copies lie where they differ, a panel a prompt."""
    found = [
        (one, consistency.pairs(one.data.items, one.of_sample())["gap"].abs()) for one in judged
    ]
    found = [(one, gaps[gaps > 0]) for one, gaps in found]
    if not any(len(gaps) for _, gaps in found):
        return html.SILENCE
    return Picture(_gaps_picture(found))


@_styled
def _gaps_picture(found: Sequence[tuple[Given, pd.Series]]) -> Figure:
    names = list(dict.fromkeys(one.name for one, _ in found))
    largest = max(gaps.max() for _, gaps in found if len(gaps))
    edges = np.linspace(0, largest, 11) if largest > 50 else np.arange(2.5, largest + 5, 5)
    figure, axes = _panels(len(names), 4.0, 2.6, most=2, sharey=True)
    for axis, name in zip(axes, names, strict=True):
        own = [(one, gaps) for one, gaps in found if one.name == name]
        hatches = ("", "///", "...", "xxx")
        axis.hist(
            [gaps for _, gaps in own],
            bins=edges,
            color=[DIMENSION_COLOURS.get(one.dimension, GREY) for one, _ in own],
            label=[f"{one.dimension} ({len(gaps)})" for one, gaps in own],
            hatch=[hatches[i % 4] for i in range(len(own))],
            edgecolor="white",
            lw=0.4,
        )
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("points apart")
        axis.legend(fontsize=8)
    axes[0].set_ylabel("pairs of the same text")
    return figure


# --------------------------------------------------------------------- what noise that implies


def noise(judged: Sequence[Given]) -> pd.DataFrame:
    """What copies, another prompt and people say about how reliable a judge's ratings are.

    Returns:
        One row a judge, prompt and dimension: data, judge, prompt, dimension, noise and spread
        (standard deviations in points), copies (reliability from copies of a text, at most),
        other (the other prompt; empty where there is none), prompts (Pearson's r with it), alpha
        (Krippendorff's, interval, of the two), people (Pearson's r with people's means), raters
        (Pearson's r of two single ratings by people).
    """
    rows = []
    for one in judged:
        told = consistency.disagreement(one.data.items, one.of_sample())
        values = one.ratings.to_numpy(float)
        other = _other(one, judged)
        between, alpha = math.nan, math.nan
        if other is not None:
            theirs = other.ratings.to_numpy(float)
            between = stats.pearson(theirs, values).value
            alpha = stats.alpha(np.stack([values, theirs], axis=1), "interval").value
        rows.append(
            {
                "data": one.data.name,
                "judge": one.judge,
                "prompt": one.prompt,
                "dimension": one.dimension,
                "noise": math.sqrt(told.noise) if told.pairs else math.nan,
                "spread": math.sqrt(told.spread) if told.n > 1 else math.nan,
                "copies": told.reliability,
                "other": other.prompt if other is not None else "",
                "prompts": between,
                "alpha": alpha,
                "people": stats.pearson(one.human.to_numpy(float), values).value,
                "raters": _two_raters(one),
            }
        )
    return pd.DataFrame(rows)


def _other(one: Given, judged: Sequence[Given]) -> Given | None:
    """The first other prompt of the same judge on the same dimension and data."""
    alike = (
        other
        for other in judged
        if other.prompt != one.prompt
        and (other.judge, other.dimension, other.data.name)
        == (one.judge, one.dimension, one.data.name)
    )
    return next(alike, None)


def _two_raters(one: Given) -> float:
    """Mean Pearson's r over pairs of raters (or slots) who share ten items at least."""
    if one.dimension not in one.data.dimensions:
        return math.nan
    matrix = one.data.raters(one.dimension).to_numpy(float).T
    found = []
    for first, second in itertools.combinations(matrix, 2):
        if (np.isfinite(first) & np.isfinite(second)).sum() >= 10:
            found.append(stats.pearson(first, second).value)
    return float(np.nanmean(found)) if np.isfinite(found).any() else math.nan


def noise_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`noise`."""
    if rows.empty:
        return NONE_HERE
    shown = rows.rename(
        columns={
            "noise": "noise, points",
            "spread": "spread, points",
            "copies": "reliability by copies",
            "prompts": "two prompts, r",
            "alpha": "two prompts, alpha",
            "people": "with people, r",
            "raters": "two raters, r",
        }
    ).drop(columns="other")
    shown, caption = captioned(shown, ("data", "judge"))
    formats = {
        name: _one if name.endswith("points") else _two
        for name in shown
        if ", " in name or name.endswith("copies")
    }
    return html.table(shown, formats, caption=caption)


def noise_said(rows: pd.DataFrame) -> Markdown:
    """Reliability by copies beside the agreement of two prompts, where both are known."""
    if rows.empty or (both := rows.dropna(subset=["copies", "prompts"])).empty:
        return html.SILENCE
    larger = int((both["copies"] > both["prompts"]).sum())
    return Markdown(
        f"Read across. Reliability by copies is {_range(both['copies'])}, the correlation of two"
        f" prompts {_range(both['prompts'])}; by copies it is larger in {larger} of {len(both)}"
        " rows. The two need not agree, for they answer two questions."
    )


def _range(values: pd.Series) -> str:
    low, high = html.signed(values.min()), html.signed(values.max())
    return low if low == high else f"{low} to {high}"


def _one(value: object) -> str:
    return html.signed(float(value), 1)  # type: ignore[arg-type]


def _two(value: object) -> str:
    return html.signed(float(value))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------ asked again


def asked_again(judged: Sequence[Given]) -> pd.DataFrame:
    """Repeated answers of each judge that has some.

    Returns:
        data, judge, prompt, dimension, the fields of :class:`~tstmeta.judge.consistency.Repeats`,
        alpha (Krippendorff's, interval, between samples) and of_mean (reliability of the mean of
        all samples, by Spearman and Brown from alpha).
    """
    rows = []
    for one in judged:
        matrix = consistency.repeats(one.rows, one.dimension)
        told = consistency.of_repeats(matrix)
        if told.samples < 2:
            continue
        alpha = stats.alpha(matrix.to_numpy(float), "interval").value
        rows.append(
            {
                **{"data": one.data.name, "judge": one.judge, "prompt": one.prompt},
                **{"dimension": one.dimension, **told._asdict(), "alpha": alpha},
                "of_mean": spearman_brown(alpha, told.samples).value,
            }
        )
    return pd.DataFrame(rows)


def asked_again_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`asked_again`, or how to get some."""
    if rows.empty:
        return Markdown(
            "*No judge on this page was asked twice: released ratings are one answer a question."
            " Ask yours with `tstmeta judge run --samples 5 --out FILE`, and run this page with"
            " `-p judged FILE`.*"
        )
    shown = rows.assign(
        **{"same rating every time": [f"{value:.0%}" for value in rows["same"]]},
        lost=[f"{value:.1%}" for value in rows["lost"]],
    ).rename(
        columns={
            "gap": "points apart",
            "largest": "at most",
            "alpha": "alpha between answers",
            "of_mean": "reliability of their mean",
            "lost": "answers without a rating",
        }
    )
    shown, caption = captioned(shown.drop(columns="same"), ("data", "judge"))
    return html.table(shown, caption=caption)
