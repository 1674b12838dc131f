"""What chapter 8 calls around :mod:`.hybrids`: which data, what came out in words, noise.

A hybrid has to be better than the best single metric, and both have to be judged on ratings that
they were not chosen by.  The sentences say on how many data sets that can be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import pandas as pd
from IPython.display import Markdown

from ..combine import Settings
from ..data import Dataset
from ..schema import TstmetaError
from . import html
from .bench import Bench
from .chapters import present
from .hybrids import EQUAL, INSIDE, OUTSIDE, SINGLE, Compared, noise, noise_table
from .published import cells

#: Data sets with ratings by people, in the order in which they are shown.
RATED = ("mir", "lai@pauli2025", "alva@asset", "lens@simpda_2022", "pauli")
#: Paper and table of the printed weights.
PRINTED = ("mukherjee2025", "5")
#: Sources and metrics of the world of noise: few enough that a fit can flatter itself.
FEW, NOISE = 20, 10
_NOTHING = Markdown("*No data set with ratings of this dimension is on the machine.*")


def sets(bench: Bench, dataset: str, dimension: str) -> list[Dataset]:
    """Data sets of a parameter: a name, or ``auto`` for those here whose dimension was rated."""
    if dataset != "auto":
        return [bench.dataset(dataset)]
    return [one for one in present(bench, RATED) if dimension in one.dimensions]


def printed_weights() -> html.Html:
    """Weights of the printed hybrids (Table 5): hybrid and metric by setting, as published."""
    own = [one for one in cells() if (one.paper, one.table) == PRINTED]
    lines = [
        {
            "hybrid": escape(one.item.title()),
            "for": escape(one.dimension),
            "metric": escape(one.metric),
            "setting": f"{one.dataset}, {one.language}",
            "cell": f"<i>{escape(one.printed)}</i>",
        }
        for one in own
    ]
    grid = html.pivot(pd.DataFrame(lines), ["hybrid", "for", "metric"], "setting", "cell")
    grid = grid.sort_values(["for", "hybrid"], kind="stable", ignore_index=True)
    made = html.table(grid, dict.fromkeys(grid.columns, str))
    note = "<p class='tst-legend'><i>published</i> · blank: not in that hybrid</p>"
    return html.Html(made.text + note)


def said(found: Sequence[Compared]) -> Markdown:
    """For each combination: against the best single metric, and what judging inside adds."""
    lines = []
    for name in dict.fromkeys(row for one in found for row in one.rows["name"]):
        if name == SINGLE:
            continue
        better, worse, gains, total = [], [], [], 0
        for one in found:
            rows = one.rows[one.rows["name"] == name].set_index("fitted")
            fair = rows.loc[OUTSIDE] if OUTSIDE in rows.index else rows.iloc[0]
            total += 1
            better += [one.dataset] * bool(fair["more_low"] > 0)
            worse += [one.dataset] * bool(fair["more_high"] < 0)
            if INSIDE in rows.index:
                gains.append(float(rows.loc[INSIDE, "value"] - fair["value"]))
        line = (
            f"- {name}: better than the best single metric on {_listed(better)}, worse on"
            f" {_listed(worse)}, of {total}."
        )
        if gains:
            line += (
                f" Judged on its own ratings it looks better by up to {html.signed(max(gains), 3)}."
            )
        lines.append(line)
    return Markdown("\n".join(lines)) if lines else _NOTHING


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)}" + (f" ({', '.join(f'`{name}`' for name in names)})" if names else "")


def of_noise(
    datasets: Sequence[Dataset], dimension: str, *, replicates: int = 30, seed: int = 0
) -> html.Html | Markdown:
    """Hybrids of metrics that are noise, on a few sources of the first data set with ratings."""
    rated = [one for one in datasets if dimension in one.dimensions]
    if not rated:
        return _NOTHING
    options = {"metrics": NOISE, "sources": FEW, "replicates": replicates, "seed": seed}
    try:
        found = noise(rated[0], dimension, settings=Settings(trees=25), **options)
    except TstmetaError as reason:  # a handful of rewrites
        return Markdown(f"*No hybrids of noise: {reason}.*")
    return noise_table(found[found["name"] != EQUAL])
