"""What a notebook asks first: which data sets there are, and what they rest on."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from .data import Dataset
from .data.catalogue import overview


def datasets() -> pd.DataFrame:
    """All data sets: name, title, task, items, raters, dimensions, access, here (yes, partly, no).

    ``items`` and ``raters`` (ratings an item and dimension) are known of data sets that are here.
    """
    return overview()


def about(data: Iterable[Dataset]) -> str:
    """What a page rests on, as Markdown: real ratings and whose, or none."""
    chosen = list(data)
    rated = [data.name for data in chosen if len(data.ratings)]
    if rated:
        listed = ", ".join(f"`{name}`" for name in rated)
        return f"**This page was built with real human ratings**: {listed}."
    contrast = "It shows the contrast set, whose labels hold by construction."
    shown = contrast if chosen else "What rests on ratings is left out."
    return (
        "**This page was built without human ratings**: none of the rated data sets was on the"
        f" machine. {shown} Get the ratings with `tstmeta data fetch --all`, then build again."
    )
