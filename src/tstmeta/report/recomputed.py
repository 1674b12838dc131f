"""Scores that came with ratings beside the same metrics computed here.

A paper that names a metric names a program, too.  Where ours and the released scores part, the
difference lies in tokens, case, smoothing or the formula, and it can move a correlation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from IPython.display import Markdown

from .. import stats
from . import html
from .bench import USABLE, Bench

#: Larger differences than this are counted; released scores have four decimals.
SAME = 1e-3


class Pair(NamedTuple):
    """A metric of ours, the released one, and what the two differ in (empty: nothing known)."""

    ours: str
    released: str
    differ: str = ""


#: On ``lai``: first the metric as it is meant to be used, then what the released scores hold.
LAI = (
    Pair("bleu", "bleu", "tokens and smoothing"),
    Pair("bleu:lai2023", "bleu"),
    Pair("chrf", "chrf"),
    Pair("rouge1", "rouge-1", "case, full stops, repeated words"),
    Pair("rouge1:lai2023", "rouge-1"),
    Pair("rouge2", "rouge-2", "case, full stops, repeated words"),
    Pair("rouge2:lai2023", "rouge-2"),
    Pair("rougeL", "rouge-l", "case, sentences, the weight of recall"),
    Pair("rougeL:lai2023", "rouge-l"),
    Pair("meteor", "meteor", "the program; not known"),
)


def beside(bench: Bench, pairs: tuple[Pair, ...] = LAI, data: str = "lai") -> pd.DataFrame:
    """Recomputed against released scores, item by item, on both bases.

    Returns:
        basis, ours, released, r (Pearson, between the two), n, off (items that differ by more than
        :data:`SAME` of the released scale), human_ours, human_released (Pearson with people's
        content, on the same items), differ; empty where the data set is not here.
    """
    columns = ["basis", "ours", "released", "r", "n", "off"]
    rows = []
    for basis in ("source", "reference") if bench.has(data) else ():
        for pair in pairs:
            own = bench.scores(data, pair.ours, basis)
            other = bench.scores(data, f"released:{pair.released}", basis, "content")
            a, b = (one["value"].where(one["status"].isin(USABLE)) for one in (own, other))
            both = (a.notna() & b.notna()).to_numpy()
            left, right = a.to_numpy(float)[both], b.to_numpy(float)[both]
            scale = 100 if np.nanmax(left) > 1.5 else 1
            human = bench.dataset(data).means["content"].to_numpy(float)[both]
            pearson = stats.STATISTICS["pearson"]
            off = int((np.abs(left / scale - right) > SAME).sum())
            agree = (pearson(human, left).value, pearson(human, right).value)
            head = (basis, pair.ours, pair.released, pearson(left, right).value, int(both.sum()))
            rows.append((*head, off, *agree, pair.differ))
    return pd.DataFrame(rows, columns=[*columns, "human_ours", "human_released", "differ"])


def table(rows: pd.DataFrame) -> html.Html | Markdown:
    """Rows of :func:`beside`."""
    if rows.empty:
        return Markdown("*The released scores are not on this machine: `tstmeta data fetch lai`.*")
    shown = pd.DataFrame(
        {
            "basis": rows["basis"],
            "ours": rows["ours"],
            "released": rows["released"],
            "r between them": [html.signed(value, 4) for value in rows["r"]],
            "items that differ": [
                f"{off:,} of {n:,}" for off, n in zip(rows["off"], rows["n"], strict=True)
            ],
            "r with content, ours": [html.signed(value, 3) for value in rows["human_ours"]],
            "r with content, released": [html.signed(value, 3) for value in rows["human_released"]],
            "they differ in": rows["differ"],
        }
    )
    caption = f"lai: Pearson's r; two scores differ where more than {SAME:g} of the scale apart"
    return html.table(shown, caption=caption)
