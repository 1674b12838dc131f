"""Metrics: ``base`` says what a metric is, each family has a file, ``registry`` names them all.

``tstmeta`` imports this package at once, so nothing is imported here before it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import CorpusMetric, Metric, PairMetric, Request, Score, wrap
    from .registry import UnknownMetric, get, names, resolve

__all__ = [
    *("CorpusMetric", "Metric", "PairMetric", "Request", "Score", "UnknownMetric"),
    *("get", "names", "resolve", "wrap"),
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "registry" if name in ("UnknownMetric", "get", "names", "resolve") else "base"
    return getattr(import_module(f".{module}", __name__), name)
