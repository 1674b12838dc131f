"""Tables of what else moves a judge: the length of an output and its place in the request.

People may like long outputs, too.  So the length is held against the judge's ratings with people's
ratings held fixed, and the same is done for one rater with the other's fixed, where there are two:
what a rater does as well is no fault of a judge's alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from ..judge import bias, consistency
from ..stats.multiple import holm
from ..stats.partial_correlation import partial
from . import html
from .judge_consistency import NONE_HERE
from .judge_ratings import Given, captioned
from .material import bounds, units_of
from .matrices import Matrices, matrices

#: Measures of length by name, in words.
LENGTHS = {"words": "words", "ratio": "words / source"}
_LENGTH = ["data", "judge", "prompt", "dimension", "measure", "judged", "people", "value"]


def length(judged: Sequence[Given], draws: int = 500, seed: int = 0) -> pd.DataFrame:
    """Pearson's r of ratings with length, and what is left of it where people rate alike.

    Returns:
        One row a judge, prompt, dimension and measure of :data:`LENGTHS`: data, judge, prompt,
        dimension, measure, judged and people (r of the judge's and of people's ratings with the
        length), value, low, high (partial correlation of judge and length given people's mean;
        limits from draws of sources), rater (the same of one rater given another, mean over raters;
        NaN where single ratings are not there), n.
    """
    rows = []
    for one in judged:
        if one.human.isna().all():
            continue
        found = matrices(one.data, one.scores(), one.dimension)
        plan = stats.draw(found.plan(n=draws), found.shape, np.random.default_rng(seed))
        table = bias.lengths(one.data.items)
        for measure in LENGTHS:
            given = table[measure].to_numpy(float)
            sides = found.layout.matrix(given), found.metrics, found.human[None]
            value = partial(*sides)
            low, high = bounds(partial(*sides, draws=plan), value, units_of(found))
            head = {"data": one.data.name, "judge": one.judge, "prompt": one.prompt}
            head |= {"dimension": one.dimension, "measure": LENGTHS[measure]}
            values = {
                "judged": stats.pearson(given, one.ratings.to_numpy(float)).value,
                "people": stats.pearson(given, one.human.to_numpy(float)).value,
                **{"value": float(value[0]), "low": float(low[0]), "high": float(high[0])},
                "rater": _of_raters(one, found, given),
                "n": int((np.isfinite(found.human) & np.isfinite(found.metrics[0])).sum()),
            }
            rows.append({**head, **values})
    return pd.DataFrame(rows, columns=[*_LENGTH, "low", "high", "rater", "n"])


def _of_raters(one: Given, found: Matrices, given: np.ndarray) -> float:
    """Partial correlation of one rater with length given the mean of the others, mean over them."""
    singles = one.data.raters(one.dimension).drop(columns="mean", errors="ignore")
    place = found.layout.matrix
    values = []
    for name in singles if singles.shape[1] > 1 else ():
        others = singles.drop(columns=name).mean(axis=1).to_numpy(float)
        own = singles[name].to_numpy(float)
        values.append(float(partial(place(given), place(own)[None], place(others)[None])[0]))
    return float(np.nanmean(values)) if np.isfinite(values).any() else math.nan


def length_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`length`."""
    if rows.empty:
        return Markdown("*No ratings by a judge are here that people's can be held beside.*")
    shown = pd.DataFrame(
        {
            **{name: rows[name] for name in ("data", "judge", "prompt", "dimension")},
            "length in": rows["measure"],
            "judge's r": rows["judged"],
            "people's r": rows["people"],
            "judge's, people fixed": [
                f"{html.signed(row.value)} ({html.signed(row.low)} to {html.signed(row.high)})"
                for row in rows.itertuples()
            ],
            "a rater's, others fixed": rows["rater"],
        }
    )
    shown, caption = captioned(shown, ("data", "judge"), "95 % intervals, sources drawn")
    numbers = [name for name in shown if shown[name].dtype == float]
    return html.table(shown, dict.fromkeys(numbers, _two), caption=caption)


def _two(value: object) -> str:
    return html.signed(float(value))  # type: ignore[arg-type]


def length_said(rows: pd.DataFrame) -> Markdown:
    """Where the length moves the judge most, and in how many rows beyond what people see."""
    known = rows.dropna(subset="value")
    if known.empty:
        return html.SILENCE
    off = known[(known["low"] > 0) | (known["high"] < 0)]
    most = known.loc[known["value"].abs().idxmax()]
    end = f"; one rater given another has {html.signed(most['rater'])} there"
    return Markdown(
        f"With people's ratings held fixed, {len(off)} of {len(known)} correlations with length"
        f" have an interval off zero. The largest is {html.signed(most['value'])}"
        f" ({escape(most['dimension'])}, {escape(most['prompt'])}, {most['measure']})"
        f"{end if math.isfinite(most['rater']) else ''}."
    )


# ----------------------------------------------------------------------------------- order


def places(judged: Sequence[Given], seed: int = 0) -> pd.DataFrame:
    """Does the place of an output in its request move the rating?

    Where places are known and were shuffled, all outputs of a source are compared with people's
    ratings held fixed.  Elsewhere only copies of a text are, in the order of the data set: a judge
    that does not know who wrote a text can treat copies differently only by where they stand.  If
    the request had another order, a shift along this one would still be a shift by place.

    Returns:
        One row a judge, prompt and dimension: data, judge, prompt, dimension, order (which places),
        compared (``all outputs`` or ``copies``), higher and lower (pairs of copies in which the
        later has the higher, the lower rating), slope (points a place), p, n, reason.
    """
    rows = []
    for one in judged:
        told, order, compared, pairs = _places(one, np.random.default_rng(seed))
        higher, lower = bias.later(pairs)
        rows.append(
            {
                **{"data": one.data.name, "judge": one.judge, "prompt": one.prompt},
                **{"dimension": one.dimension, "order": order, "compared": compared},
                **{"higher": higher, "lower": lower, "slope": told.value, "p": told.p},
                **{"n": told.n, "reason": told.reason},
            }
        )
    return pd.DataFrame(rows)


def _places(one: Given, rng: np.random.Generator) -> tuple[bias.Shift, str, str, pd.DataFrame]:
    items = one.data.items.set_index("item_id")
    known = "place" in one.rows and one.rows["place"].notna().all()
    if known:
        table = one.rows.assign(
            system=one.rows["item_id"].map(items["system"]),
            source_id=one.rows["item_id"].map(items["source_id"]),
            human=one.rows["item_id"].map(one.human),
        )
        told = bias.of_order(
            table.drop(columns=[] if table["human"].notna().any() else "human"),
            ("source_id", "sample"),
            rng=rng,
        )
        if math.isfinite(told.value):
            return told, "as asked", "all outputs", pd.DataFrame({"gap": []})
    ratings = one.of_sample()
    ordered = one.data.items
    if known:
        first = one.rows[one.rows["sample"] == 0].set_index("item_id")["place"]
        ordered = ordered.assign(at=ordered["item_id"].map(first)).sort_values("at", kind="stable")
    place = ordered.groupby("source_id").cumcount().to_numpy()
    copies = consistency.copies(ordered, ratings)
    of_item = pd.Series(place, index=ordered["item_id"])
    copies = copies.assign(place=copies["item_id"].map(of_item))
    told = bias.of_order(copies, ("source_id", "text"), rng=rng)
    order = "as asked" if known else "of the data set"
    return told, order, "copies", consistency.pairs(ordered, ratings)


def places_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`places`."""
    if rows.empty:
        return NONE_HERE
    shown = pd.DataFrame(
        {
            **{name: rows[name] for name in ("data", "judge", "compared")},
            "order": [f"order {name}" for name in rows["order"]],
            **{name: rows[name] for name in ("prompt", "dimension")},
            "later is higher": rows["higher"],
            "later is lower": rows["lower"],
            "points a place": [html.signed(value) for value in rows["slope"]],
            "p": [_p(value) for value in rows["p"]],
            "n": rows["n"],
            "note": rows["reason"],
        }
    )
    shown, caption = captioned(shown, ("data", "judge", "compared", "order", "note"))
    return html.table(shown, caption=caption)


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.4f}" if value < 0.01 else f"{value:.2f}"


def places_said(rows: pd.DataFrame) -> Markdown:
    """Per prompt, how often the later of two copies is rated higher."""
    lines = []
    if rows.empty:
        return html.SILENCE
    copies = rows.assign(holm=holm(rows["p"]))
    copies = copies[copies["compared"] == "copies"]
    for (judge, prompt), own in copies.groupby(["judge", "prompt"], sort=False):
        higher, lower = int(own["higher"].sum()), int(own["lower"].sum())
        if higher + lower:
            told = int((own["holm"] < 0.05).sum())
            who = escape(f"{judge}, {prompt}")
            lines.append(
                f"- {who}: of {higher + lower:,} pairs of copies with different"
                f" ratings, the later has the higher one in {higher:,}"
                f" ({higher / (higher + lower):.0%}). After Holm's correction for all"
                f" {int(rows['p'].notna().sum())} rows, p is below .05 in {told} of {len(own)}."
            )
    return Markdown("\n".join(lines)) if lines else html.SILENCE
