"""Metrics by name.  Nothing is imported until a metric is asked for.

Metrics are entry points of the group ``tstmeta.metrics``; another package adds its own by declaring
one in its ``pyproject.toml``::

    [project.entry-points."tstmeta.metrics"]
    my-metric = "my_package.module:MyMetric"

An entry point names a class or factory that takes an optional ``variant``; ``bleu:pauli2025`` is
the variant ``pauli2025`` of ``bleu``.  ``module.path:function`` with a dot in it names a plain
function ``(source, output) -> float``; it is imported, which runs its module, so only where a user
asks to compute it (``get(name, imports=True)``), never for a name that a table or file holds.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..schema import TstmetaError
from ..secrecy import conceal
from .base import CorpusMetric, Metric, PairMetric, Request, Score, more_is_better, wrap

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CorpusMetric",
    "Metric",
    "PairMetric",
    "Request",
    "Score",
    "UnknownMetric",
    "families",
    "get",
    "known",
    "lower_is_better",
    "more_is_better",
    "names",
    "resolve",
    "wrap",
]

GROUP = "tstmeta.metrics"


class UnknownMetric(TstmetaError):
    """A metric name that nobody registered."""


@cache
def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _family(point: EntryPoint) -> str:
    return point.value.partition(":")[0].rpartition(".")[2]


def names() -> list[str]:
    """All registered metrics with their variants, sorted by name."""
    found = []
    for name, point in _entry_points().items():
        variants = getattr(point.load(), "VARIANTS", ())
        found += [name, *(f"{name}:{variant}" for variant in variants)]
    return found


def families() -> dict[str, list[str]]:
    """Metric names by family: the module that defines them, e.g. ``lexical``, ``sentinel``."""
    groups: dict[str, list[str]] = {}
    for name in names():
        groups.setdefault(_family(_entry_points()[name.partition(":")[0]]), []).append(name)
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
            if conceal(metric.name) != metric.name:  # it took a URL for a word of its own
                metric.name = conceal(metric.name)
            return metric
    elif imports and "." in stem and variant:
        return _imported(stem, variant)
    from .catalogue import combined, how  # it lists what is here, so it imports this module

    if made := combined(name):
        raise UnknownMetric(
            f"{name!r} is made from scores of other metrics, and is asked for so: {how(made)}"
        )
    near = difflib.get_close_matches(name, names(), n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "see them with: tstmeta metrics"
    raise UnknownMetric(f"no metric is called {name!r}; {hint}")


def _takes(factory: Any, variant: str) -> bool:
    """Whether a factory has a variant; one with open variants (a seed) says so itself."""
    listed = getattr(factory, "VARIANTS", ()).__contains__
    return bool(getattr(factory, "accepts_variant", listed)(variant))


def known(name: str) -> Metric | None:
    """The registered metric that a name in a table of scores means; None if there is none.

    The name may come from anybody's file, so nothing is imported and no file or folder is opened:
    words that name one are left out, as ``style-emd:directed`` stands for
    ``style-emd:/my/folder+directed``.
    """
    stem, _, variant = name.partition(":")
    point = _entry_points().get(stem)
    if point is None or (variant and not _takes(point.load(), variant)):
        return None
    words = [word for word in variant.split("+") if not re.search(r"[/\\=]|\.\w+(#|$)", word)]
    for form in (f"{stem}:{'+'.join(words)}", stem):
        try:
            return get(form.removesuffix(":"))
        except Exception:  # whatever a factory makes of words that a stranger wrote
            continue
    return None


def lower_is_better(name: str, basis: str) -> bool:
    """Whether less is better, as the metric of that name says of itself for that basis.

    A name that nobody registered (a score file of one's own) counts as better when higher.
    """
    metric = known(name)
    return metric is not None and not more_is_better(metric, basis)


def resolve(wanted: list[str] | tuple[str, ...], profile: str = "embedded") -> list[str]:
    """Expand family names and ``all`` to metric names, without repeats, in order.

    In the profile ``embedded`` such a name leaves out the metrics that need a model from a hub:
    those run for hours where they run at all, so they are asked for one by one.

    Raises:
        UnknownMetric: a family of which nothing is left; it lists the members.
    """
    groups, single = families(), set(names())
    groups.setdefault("all", names())
    expanded: list[str] = []
    for name in wanted:
        members = None if name in single else groups.get(name)
        if members and profile == "embedded":
            every = members
            members = [one for one in every if get(one).profile == profile]
            if not members:
                raise UnknownMetric(
                    f"all metrics of the family {name!r} need a model, a parser or a server of "
                    f"yours: ask for one by name ({', '.join(every)}), or take the profile real"
                )
        expanded += [name] if members is None else members
    return list(dict.fromkeys(expanded))


def _imported(module: str, attribute: str) -> Metric:
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownMetric(f"cannot import metric {module}:{attribute}: {error}") from error
    if isinstance(found, type):  # a class has all that a metric has, and is none
        return found()
    if isinstance(found, Metric):
        return found
    return wrap(found, f"{module}:{attribute}")


class _Catalogue(ModuleType):
    """This package, called: ``tst.metrics()`` lists what there is, as ``tst.datasets()`` does."""

    def __call__(self) -> pd.DataFrame:
        """All metrics: name, family, profile, dimension, unit, bases, languages, better, ..."""
        from .catalogue import overview

        return overview()


sys.modules[__name__].__class__ = _Catalogue
