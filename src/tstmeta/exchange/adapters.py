"""A metric by the interface of another library: Hugging Face ``evaluate`` or ``torchmetrics``.

Both know batches and a number, and neither knows of statuses.  Both adapters say the same of what
they were given: the mean over the items that have a value (of a metric of whole outputs, its value
over these), and how many have none.
"""

import importlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import metrics as registry
from ..data import paths
from ..metrics import CorpusMetric, Metric, Request, Score
from ..metrics.base import spoken
from ..schema import Status, TstmetaError, shown
from ..scoring import answers

#: What a basis needs beside the predictions, in the order in which a basis is chosen.
NEEDS = {"reference": "references", "source": "sources", "none": "predictions"}


def adapter(metric: str | Metric, library: str = "evaluate", basis: str = "") -> Any:
    """A metric as another library knows it; nothing is kept in the score store.

    ``evaluate``: an ``evaluate.Metric``, for ``evaluate.combine`` too, with ``add``, ``add_batch``
    and ``compute(predictions=, references=, sources=, styles=, languages=)``: lists of a text an
    item (or of several references), or a text that holds for all.  It gives a dict: the value under
    the metric's name, ``items`` (values, NaN where there is none), ``statuses``, ``n`` (items with
    a value), ``n_failed``, ``signature``.

    ``torchmetrics``: a ``torchmetrics.Metric``, for a ``MetricCollection`` and several processes,
    with ``update(preds, target, sources, styles, languages)``.  Its value is a tensor of no
    dimension; ``n_failed`` counts the items without a value.

    Args:
        metric: a name, or an object such as :func:`tstmeta.wrap` makes.
        library: ``evaluate`` or ``torchmetrics``, which has to be installed.
        basis: what outputs are compared with: reference, source or none.  By default the first of
            these that the metric has and that is given.

    Raises:
        TstmetaError: an unknown metric, library or basis; a library that is not installed.  When
            computing: what the basis needs is not given, columns of several lengths, or no item
            has a value (with the reason of the first).
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


def columns(predictions: Any, **others: Any) -> dict[str, list]:
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


def chosen(metric: Metric, basis: str, given: Mapping[str, list]) -> str:
    """The basis that what is given allows."""
    bases = [basis] if basis else [name for name in NEEDS if name in metric.bases]
    for name in bases:
        if NEEDS[name] in given:
            return name
    needs = " or ".join(NEEDS[name] for name in bases)
    raise TstmetaError(f"{metric.name} needs {needs}: give them beside the predictions")


def scored(metric: Metric, basis: str, given: Mapping[str, list]) -> tuple[list[Score], str]:
    """The scores of a batch, in order, and their signature (several where languages differ)."""
    metric.keep_in(paths.scores(), False)
    blank = [""] * len(given["predictions"])
    against = given[NEEDS[basis]] if basis != "none" else [[] for _ in blank]
    texts = [(x,) if isinstance(x, str) else tuple(x) for x in against]
    languages = given.get("languages", ["en" for _ in blank])
    rest = (given.get("sources", blank), given.get("styles", blank), languages)
    requests = list(map(Request, given["predictions"], texts, *rest))
    scores, signatures = dict[int, Score](), dict[str, None]()
    for language in dict.fromkeys(languages):
        places = [place for place, other in enumerate(languages) if other == language]
        own = spoken(metric, language)
        if isinstance(own, str):
            scores |= dict.fromkeys(places, Score(math.nan, Status.REFUSED, own))
            continue
        signatures[str(own.signature(basis))] = None
        some = answers(own, [(requests[place],) for place in places])
        scores |= zip(places, (score for (score,) in some), strict=True)
    return [scores[place] for place in range(len(blank))], " + ".join(signatures)


def parts(metric: Metric, scores: Sequence[Score]) -> np.ndarray:
    """What adds up over items that have a value, shape [k]: statistics of outputs, or the value."""
    if isinstance(metric, CorpusMetric):
        return np.sum([json.loads(score.detail) for score in scores], axis=0)
    return np.array([sum(score.value for score in scores)])


def value(metric: Metric, total: np.ndarray, n: int, scores: Sequence[Score] = ()) -> float:
    """The value over all items, from what adds up and the number of items that have a value."""
    if not n:
        why = f"{scores[0].status}, {scores[0].detail}" if scores else "there is no item"
        raise TstmetaError(f"{metric.name}: no item has a value: {why}")
    return float(metric.aggregate(total) if isinstance(metric, CorpusMetric) else total[0] / n)
