"""Lesson 5, on systems: why more sources do not make up for few systems.

A correlation over system means has one point a system.  More sources put each point where it
belongs; only more systems tell what the line through them would be for others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ..figures import GREY, Picture, _panels, _styled
from .how_many import LOOKS


def over_systems(
    systems: Sequence[int] = (5, 10, 20, 40),
    sources: Sequence[int] = (10, 40, 160, 640, 2560),
    agreement: float = 0.7,
    replicates: int = 4000,
    seed: int = 0,
) -> pd.DataFrame:
    """How far a correlation over system means strays from study to study, in simulated worlds.

    Systems differ in quality with variance 1; a metric sees their qualities at a true correlation
    ``agreement``.  Each rewrite adds noise of variance 4 on either side, which averages out over
    sources.  Each replicate draws new systems.

    Returns:
        One row a number of systems and sources: systems, sources, low, high (2.5 % and 97.5 % of
        Pearson's r over the replicates), width.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for k in systems:
        for s in sources:
            shape = (replicates, k)
            quality = rng.normal(size=shape)
            seen = agreement * quality + math.sqrt(1 - agreement**2) * rng.normal(size=shape)
            means = [side + 2 / math.sqrt(s) * rng.normal(size=shape) for side in (quality, seen)]
            centred = [side - side.mean(axis=1, keepdims=True) for side in means]
            above = (centred[0] * centred[1]).sum(axis=1)
            r = above / np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
            low, high = (float(end) for end in np.quantile(r, [0.025, 0.975]))
            rows.append({"systems": k, "sources": s, "low": low, "high": high, "width": high - low})
    return pd.DataFrame(rows)


def picture(rows: pd.DataFrame) -> Picture:
    """Rows of :func:`over_systems`: width against sources, one line a number of systems."""
    return Picture(_picture(rows))


@_styled
def _picture(rows: pd.DataFrame) -> Figure:
    figure, (axis,) = _panels(1, 5.4, 3.0)
    for place, (k, own) in enumerate(rows.groupby("systems")):
        colour, marker = LOOKS[place % len(LOOKS)]
        axis.plot(own["sources"], own["width"], color=colour, marker=marker, label=f"{k} systems")
        axis.annotate(
            f"{k} systems",
            (own["sources"].iloc[-1], own["width"].iloc[-1]),
            xytext=(7, -3),
            textcoords="offset points",
            fontsize=8.5,
        )
    sizes = sorted(set(rows["sources"]))
    axis.set(xscale="log", ylim=(0, None), xlim=(sizes[0] * 0.8, sizes[-1] * 3.4))
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axis.minorticks_off()
    axis.set(xlabel="sources", ylabel="width of the 95 % range of r")
    axis.axhline(0, color=GREY, lw=0.8)
    return figure
