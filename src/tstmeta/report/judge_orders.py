"""Tables of two checks that need more than ratings: both orders of a pair, and its own outputs.

Whether the order of two outputs decides which is better is seen only where both orders were asked.
Whether a judge likes itself is seen only where it wrote some of the outputs and people rated them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from IPython.display import Markdown

from ..data import Dataset
from ..judge import bias
from . import html
from .judge_bias import _p
from .judge_ratings import Given, Pairs, captioned

NO_PAIRS = Markdown(
    "*No pairs of outputs were judged here. That needs a prompt that compares two rewrites, which"
    " is asked in both orders: `tstmeta judge run -p pair --out FILE`, and then this page with"
    " `-p judged FILE`.*"
)
NOT_ITSELF = Markdown(
    "*No judge on this page wrote any of the outputs that it rated, as far as names say. That needs"
    " a system called like the model that judges (capitals, signs, and what stands before the last"
    " slash of the model's name do not count), and ratings by people.*"
)


def both_orders(found: Sequence[Pairs]) -> pd.DataFrame:
    """How often the other order gives another answer, judge by judge.

    Returns:
        data, judge, prompt, dimension and the fields of :class:`tstmeta.judge.bias.Flips`.
    """
    rows = []
    for one in found:
        told = bias.of_both_orders(bias.both_orders(one.rows))
        head = {"data": one.data.name, "judge": one.judge, "prompt": one.prompt}
        rows.append({**head, "dimension": one.dimension, **told._asdict()})
    return pd.DataFrame(rows)


def both_orders_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`both_orders`, or what they would need."""
    if rows.empty:
        return NO_PAIRS
    shown = pd.DataFrame(
        {
            **{name: rows[name] for name in ("data", "judge", "prompt", "dimension", "pairs")},
            "same answer": rows["kept"],
            "the first both times": rows["first"],
            "the second both times": rows["second"],
            "a tie once": rows["half"],
            "another answer": [html.percent(value) for value in rows["share"]],
            "p": [_p(value) for value in rows["p"]],
            "left out": rows["lost"],
        }
    )
    words = "first answers; p: sign test of first against second"
    shown, caption = captioned(shown, ("data", "judge", "dimension"), words)
    return html.table(shown, caption=caption)


def own_systems(data: Dataset, judge: str) -> list[str]:
    """The systems of a data set that are the judge itself, by name.

    A name counts that has the same letters and digits as the model's, whatever the case; of a
    model's name only what follows the last slash is looked at.
    """
    wanted = _plain(judge.rpartition("/")[2])
    return [name for name in pd.unique(data.items["system"]) if wanted and _plain(name) == wanted]


def _plain(name: str) -> str:
    return "".join(sign for sign in str(name).casefold() if sign.isalnum())


def own_outputs(judged: Sequence[Given], seed: int = 0) -> pd.DataFrame:
    """Does a judge rate its own outputs higher than people do?  Only judges with outputs here.

    Returns:
        data, judge, prompt, dimension, systems (the judge's own) and the fields of
        :class:`tstmeta.judge.bias.Shift`.
    """
    rows = []
    for one in judged:
        if not (own := own_systems(one.data, one.judge)):
            continue
        told = _of_own(one, own, np.random.default_rng(seed))
        head = {"data": one.data.name, "judge": one.judge, "prompt": one.prompt}
        head |= {"dimension": one.dimension, "systems": ", ".join(own)}
        rows.append({**head, **told._asdict()})
    return pd.DataFrame(rows)


def _of_own(one: Given, own: Sequence[str], rng: np.random.Generator) -> bias.Shift:
    table = one.data.items[["source_id", "system"]].assign(
        rating=one.ratings.to_numpy(float), human=one.human.to_numpy(float)
    )
    known = table.dropna(subset=["rating", "human"])
    if not known["system"].isin(own).any():
        return bias.Shift(math.nan, math.nan, 0, 0, "its outputs were not rated by both sides")
    return bias.of_own_outputs(known, own, rng=rng)


def own_outputs_table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`own_outputs`, or what they would need."""
    if rows.empty:
        return NOT_ITSELF
    shown = pd.DataFrame(
        {
            **{name: rows[name] for name in ("data", "judge", "prompt", "dimension")},
            "its own system": rows["systems"],
            "points for its own": [html.signed(value) for value in rows["value"]],
            "p": [_p(value) for value in rows["p"]],
            "n": rows["n"],
            "sources": rows["groups"],
            "note": rows["reason"],
        }
    )
    words = "people's ratings held fixed"
    shown, caption = captioned(shown, ("data", "judge", "its own system", "note"), words)
    return html.table(shown, caption=caption)
