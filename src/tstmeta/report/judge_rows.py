"""A judge's row for chapters that compare metrics: released ratings beside the best metric here."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from IPython.display import Markdown

from ..data import Dataset
from . import choices, html
from .asked import METRIC, kind_of
from .bench import USABLE, Bench
from .choices import Asked, Compared, compare
from .judge_ratings import Given, released_with
from .material import upright
from .tables import judged

_NONE = Markdown("*No judge's ratings were released with the data shown here.*")


def beside(
    bench: Bench, datasets: Sequence[Dataset], metrics: Sequence[str], how: Asked | None = None
) -> list[Compared]:
    """Judges of content against the best metric of each data set, in the same draws of sources.

    The best metric is the one that agrees most on these very data, so the comparison is hard on the
    judge.  Data sets without released ratings are left out.

    Args:
        metrics: names or families, computed on basis source.
    """
    how, found = how or Asked(), []
    for data in datasets:
        judges = [one for one in released_with(data) if one.dimension == "content"]
        if not judges or "content" not in judged(data):
            continue
        own = _vectors(bench, data, metrics)
        values = compare(data, own, {name: name for name in own}, how).estimates if own else []
        if not np.isfinite(values).any():
            continue
        best = list(own)[int(np.nanargmax(values))]
        found.append(_against(data, judges, best, own[best], how))
    return found


def _vectors(bench: Bench, data: Dataset, metrics: Sequence[str]) -> dict[str, np.ndarray]:
    """Scores [items] of metrics that are none of the sentinels, more being better."""
    table = upright(bench.table(data, metrics, ["source"]))
    found = {}
    for name, own in table.groupby("metric", sort=False):
        if kind_of(str(name)) == METRIC:
            values = own.set_index("item_id")
            kept = values["value"].where(values["status"].isin(USABLE))
            found[str(name)] = kept.reindex(data.items["item_id"]).to_numpy(float)
    return {name: one for name, one in found.items() if np.isfinite(one).any()}


def _against(
    data: Dataset, judges: Sequence[Given], best: str, values: np.ndarray, how: Asked
) -> Compared:
    vectors = {f"{best} (best metric)": values}
    first = next(iter(vectors))
    vectors |= {one.name: one.ratings.to_numpy(float) for one in judges}
    return compare(data, vectors, dict.fromkeys(vectors, first), how)


def table(found: Sequence[Compared]) -> html.Html | Markdown:
    """A table a data set: the best metric, the judge's prompts, and how far they lie apart."""
    return choices.table(found) if found else _NONE
