"""A metric by the interface of another library: Hugging Face ``evaluate`` or ``torchmetrics``.

Both know batches and a number, and neither knows of statuses.  Both adapters say the same of what
they were given: the mean over the items that have a value (of a metric of whole outputs, its value
over these), and how many have none.
"""

import importlib
import json
import math
from typing import Any

import numpy as np
import pandas as pd

from .. import metrics as registry
from ..bulk.work import of_metric
from ..data import paths
from ..data.tables import items_table
from ..metrics import CorpusMetric, Metric
from ..schema import USABLE, TstmetaError, shown

#: What a basis needs beside the predictions, in the order in which a basis is chosen.
NEEDS = {"reference": "references", "source": "sources", "none": "predictions"}


def adapter(metric: str | Metric, library: str = "evaluate", basis: str = "") -> Any:
    """A metric as another library knows it; nothing is kept in the score store.

    ``evaluate``: an ``evaluate.Metric``, for ``evaluate.combine`` too, with
    ``compute(predictions=, references=, sources=, styles=, languages=)``: lists of a text an
    item (or of several references), or a text that holds for all.  It gives a dict: the value under
    the metric's name, ``items`` (values, NaN where there is none), ``statuses``, ``n`` (items with
    a value), ``n_failed``, ``signature``.

    ``torchmetrics``: a ``torchmetrics.Metric``, for a ``MetricCollection`` and several processes,
    with ``update(preds, target, sources, styles, languages)``.  Its value is a tensor of no
    dimension, NaN where no item has one; ``n_failed`` counts the items without a value.

    Args:
        metric: a name, or an object such as :func:`tstmeta.wrap` makes.
        library: ``evaluate`` or ``torchmetrics``, which has to be installed.
        basis: what outputs are compared with: reference, source or none.  By default the first of
            these that the metric has and that is given.

    Raises:
        TstmetaError: an unknown metric, library or basis; a library that is not installed.  When
            computing: what the basis needs is not given, columns of several lengths, or, for
            ``evaluate``, no item has a value (with the reason of the first).
    """
    adapters = {"evaluate": "EvaluateMetric", "torchmetrics": "TorchMetric"}
    if library not in adapters:
        raise TstmetaError(f"library is {library!r}; use one of {', '.join(adapters)}")
    own = registry.get(metric, imports=True) if isinstance(metric, str) else registry.whole(metric)
    if basis and basis not in own.bases:
        raise TstmetaError(f"{own.name} has no basis {basis!r}; it has {', '.join(own.bases)}")
    if not importlib.util.find_spec(library):
        raise TstmetaError(f"{library} is not installed: pip install {library}")
    module = importlib.import_module(f".for_{library}", __package__)
    return getattr(module, adapters[library])(own, basis)


def _columns(predictions: Any, **others: Any) -> dict[str, list]:
    """What is given, as lists of one length: a text an item, of references a list of texts."""
    given = {"predictions": [predictions] if isinstance(predictions, str) else [*predictions]}
    count = len(given["predictions"])
    for name, values in others.items():
        if values is not None:
            given[name] = [values] * count if isinstance(values, str) else [*values]
    for name, values in given.items():
        if len(values) != count:
            raise TstmetaError(f"{len(values)} {name} for {count} predictions: give one an item")
        for place, value in enumerate(values):
            texts = [*value] if name == "references" and not isinstance(value, str) else [value]
            if not texts or not all(isinstance(text, str) for text in texts):
                raise TstmetaError(f"{name}: item {place} is {shown(value)}; give a text")
            values[place] = texts if name == "references" else value
    return given


def scored(metric: Metric, basis: str, predictions: Any, **others: Any) -> tuple[pd.DataFrame, str]:
    """A row a prediction, in order (value, status, detail, signature, ...), and the basis."""
    given = _columns(predictions, **others)
    bases = [basis] if basis else [name for name in NEEDS if name in metric.bases]
    basis = next((name for name in bases if NEEDS[name] in given), "")
    if not basis:
        needs = " or ".join(NEEDS[name] for name in bases)
        raise TstmetaError(f"{metric.name} needs {needs}: give them beside the predictions")
    metric.keep_in(paths.scores(), False)
    ids = [str(place) for place in range(len(given["predictions"]))]
    items = items_table(
        metric.name,
        item_id=ids,
        source_id=ids,
        source=given.get("sources", ""),
        output=given["predictions"],
        references=given.get("references", [[] for _ in ids]),
        style=given.get("styles", ""),
        language=given.get("languages", "en"),
    )
    return of_metric(metric, basis, items).sort_values("place", ignore_index=True), basis


def usable(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a value."""
    return table[table["status"].isin(USABLE)]


def parts(metric: Metric, table: pd.DataFrame) -> np.ndarray:
    """What adds up over items that have a value, shape [k]: statistics of outputs, or the value."""
    if isinstance(metric, CorpusMetric):
        return np.sum([json.loads(detail) for detail in table["detail"]], axis=0)
    return np.array([table["value"].sum()])


def value(metric: Metric, total: np.ndarray, n: int) -> float:
    """The value over all items, from what adds up and the number of items that have a value."""
    if not n:
        return math.nan
    return float(metric.aggregate(total) if isinstance(metric, CorpusMetric) else total[0] / n)
