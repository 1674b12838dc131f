"""Metrics by name: entry points of the group ``tstmeta.metrics``, loaded when they are needed.

An entry point names a class or factory that takes an optional ``variant``, as in
``bleu:pauli2025``; ``module.path:function`` names a function ``(source, output) -> float``.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..schema import TstmetaError
from ..secrecy import conceal
from .base import CorpusMetric, Metric, PairMetric, Request, Score, more_is_better, wrap

if TYPE_CHECKING:
    import pandas as pd


GROUP = "tstmeta.metrics"


class UnknownMetric(TstmetaError):
    """A metric name that nobody registered."""


@cache
def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _with_variants(stem: str) -> list[str]:
    variants = getattr(_entry_points()[stem].load(), "VARIANTS", ())
    return [stem, *(f"{stem}:{variant}" for variant in variants)]


def names() -> list[str]:
    """All registered metrics with their variants."""
    return [name for stem in _entry_points() for name in _with_variants(stem)]


def families() -> dict[str, list[str]]:
    """Metric names by family: the module that defines them, e.g. ``lexical``, ``sentinel``."""
    groups: dict[str, list[str]] = {}
    for stem, point in _entry_points().items():
        family = point.module.rpartition(".")[2]
        groups.setdefault(family, []).extend(_with_variants(stem))
    return groups


def get(name: str, *, imports: bool = False) -> Metric:
    """The metric of that name.

    Args:
        imports: whether ``module.path:function`` may be imported, which runs code: only for a name
            that the user gave as a metric to compute.

    Raises:
        UnknownMetric: with the nearest known names.
    """
    stem, _, variant = name.partition(":")
    if point := _entry_points().get(stem):
        factory = point.load()
        if not variant:
            return factory()
        if _takes(factory, variant):
            metric = factory(variant)
            metric.name = conceal(metric.name)  # a URL may hold a key
            return metric
    elif imports and "." in stem and variant:
        return _imported(stem, variant)
    from .catalogue import how  # it lists what is here, so it imports this module

    if remedy := how(name):
        raise UnknownMetric(f"{name!r} combines other metrics, and is had so: {remedy}")
    near = difflib.get_close_matches(name, names(), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "see them with: tstmeta metrics"
    raise UnknownMetric(f"no metric is called {name!r}; {hint}")


def _takes(factory: Any, variant: str) -> bool:
    listed = getattr(factory, "VARIANTS", ()).__contains__
    return bool(getattr(factory, "accepts_variant", listed)(variant))


def known(name: str) -> Metric | None:
    """The registered metric that a name in a table of scores means; None if there is none.

    The name may come from anybody's file, so nothing is imported and no file or folder is opened:
    words that could name one are left out.
    """
    stem, _, variant = name.partition(":")
    point = _entry_points().get(stem)
    if point is None or (variant and not _takes(point.load(), variant)):
        return None
    words = [word for word in variant.split("+") if not re.search(r"[/\\=]|\.\w+(#|$)", word)]
    for form in (f"{stem}:{'+'.join(words)}", stem):
        with suppress(Exception):  # whatever a factory makes of words that a stranger wrote
            return get(form.removesuffix(":"))
    return None


def lower_is_better(name: str, basis: str) -> bool:
    """Whether less is better on that basis; what nobody registered is better when higher."""
    metric = known(name)
    return metric is not None and not more_is_better(metric, basis)


def resolve(wanted: list[str] | tuple[str, ...], profile: str = "embedded") -> list[str]:
    """Expand family names and ``all`` to metric names, without repeats, in order.

    In the profile ``embedded`` such a name leaves out the metrics that need a model from a hub.
    """
    every = names()
    groups = {"all": every, **families()}
    expanded: list[str] = []
    for name in wanted:
        if name in every or name not in groups:
            expanded.append(name)
            continue
        members = [m for m in groups[name] if profile == "real" or get(m).profile == "embedded"]
        if not members:
            known = ", ".join(groups[name])
            raise UnknownMetric(f"each metric of {name!r} needs a model of yours: name {known}")
        expanded += members
    return list(dict.fromkeys(expanded))


def _imported(module: str, attribute: str) -> Metric:
    try:
        thing = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownMetric(f"cannot import metric {module}:{attribute}: {error}") from error
    if isinstance(thing, type):  # a class has all that a metric has, and is none
        return thing()
    return thing if isinstance(thing, Metric) else wrap(thing, f"{module}:{attribute}")


class _Catalogue(ModuleType):
    """This package, called: ``tst.metrics()`` lists what there is, as ``tst.datasets()`` does."""

    def __call__(self) -> pd.DataFrame:
        """All metrics: name, family, profile, dimension, unit, bases, languages, better, ..."""
        from .catalogue import overview

        return overview()


sys.modules[__name__].__class__ = _Catalogue
