"""Metrics by name: entry points of the group ``tstmeta.metrics``, loaded when they are needed.

An entry point names a class or a factory that takes an optional variant, as in ``bleu:pauli2025``,
or a function ``(source, output) -> float``.  ``module:function`` and ``./file.py:function`` name
such things where the user is at work.  Settings may be spelt out, ``bleu[variant=pauli2025]``.
"""

import difflib
import hashlib
import importlib
import inspect
import os
import re
import runpy
import sys
import tomllib
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import plugins
from ..plugins import BrokenPlugin
from ..schema import BASES, DIMENSIONS, TstmetaError
from ..secrecy import conceal
from .base import Metric, more_is_better, wrap
from .settings import SEPARATOR, MetricSettings

GROUP = "tstmeta.metrics"

_LISTED = tomllib.loads(Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8"))
#: Open form -> remedy; combined metric -> its dimension, option and maker.
OPEN, COMBINED = _LISTED["open"], _LISTED["combined"]


class UnknownMetric(TstmetaError):
    """A metric name that nobody registered, or that names no metric."""


def names(variants: bool = False) -> list[str]:
    """All registered metrics, of which nothing is imported; or, imported, with their variants."""
    stems = plugins.points(GROUP)
    return [name for stem in stems for name in (_with_variants(stem) if variants else (stem,))]


def families() -> dict[str, list[str]]:
    """Metric names by family: the module that defines them, e.g. ``lexical``, ``sentinel``."""
    return {name: family(name) for name in dict.fromkeys(map(_family, names()))}


def family(name: str) -> list[str]:
    """The metrics of a family with their variants; nothing else is imported."""
    return [member for stem in names() if _family(stem) == name for member in _with_variants(stem)]


def _family(stem: str) -> str:
    return plugins.points(GROUP)[stem].module.rpartition(".")[2]


def _with_variants(stem: str) -> list[str]:
    try:
        listed = getattr(plugins.load(plugins.points(GROUP)[stem]), "VARIANTS", ())
        return [stem, *(f"{stem}:{variant}" for variant in listed)]
    except BrokenPlugin as error:
        warnings.warn(str(error), stacklevel=2)
        return [stem]


def canonical(name: str) -> str:
    """A metric's name with its settings in the short spelling; any other name as it is."""
    bracketed = re.fullmatch(r"([^:\[]+)\[(.*)\]", name)
    stem, variant = bracketed.groups() if bracketed else name.partition(":")[::2]
    point = plugins.points(GROUP).get(stem)
    if point is None:
        return name
    words = re.split(r",(?=[^,=]+=)", variant) if bracketed else SEPARATOR.split(variant)
    if bracketed or "=" in variant:
        with plugins.guarded(point):
            settings = getattr(plugins.load(point), "Settings", None)
            if isinstance(settings, type) and issubclass(settings, MetricSettings):
                words = [*map(settings.shortened, words)]
    return f"{stem}:{'+'.join(words)}".removesuffix(":")


def get(name: str, *, imports: bool = False) -> Metric:
    """The metric of that name.

    Args:
        imports: whether ``module:function`` and ``./file.py:function`` may be imported, which runs
            code: only for a name that the user gave as a metric to compute.

    Raises:
        UnknownMetric: with the nearest known names, or what is wrong with the code.
        BrokenPlugin: what is registered under that name cannot be used.
    """
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", name):
        raise UnknownMetric(f"no metric is called {name!r:.100}: it holds control characters")
    stem, _, variant = canonical(name).partition(":")
    point = plugins.points(GROUP).get(stem)
    if point is None:
        if imports and (metric := _imported(*name.rpartition(":")[::2])) is not None:
            return metric
        absent = f", and there is no module {stem!r:.100} here"
        raise _unknown(name, absent if imports and variant.isidentifier() else "")
    with plugins.guarded(point):
        factory = plugins.load(point)
        if variant and not _accepts(factory, variant):
            raise _unknown(name)
        metric = _metric(factory, stem, *filter(None, [variant]))
    metric.name = conceal(metric.name)  # a URL may hold a key
    return metric


def how(name: str) -> str:
    """How the scores of a combined metric are had, by an option and in Python; empty of others."""
    metric = COMBINED.get(name.partition(":")[0])
    if metric is None:
        return ""
    return (
        f"tstmeta evaluate --data DATA --combine {metric['option']}; in Python made "
        f"from scores of others by tstmeta.combine: {metric['maker']}"
    )


def _unknown(name: str, reason: str = "") -> UnknownMetric:
    """The error of a name that is no metric, with what may have been meant."""
    if remedy := how(name):
        return UnknownMetric(f"{name!r} combines other metrics, and is had so: {remedy}")
    words = f"no metric is called {name!r:.100}{reason}"
    if name.endswith(".py"):
        return UnknownMetric(f"{words}; name a function of it, {name}:FUNCTION")
    lowered = {known.lower(): known for known in names(variants=True)}
    near = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(lowered.__getitem__, near))}?" if near else ""
    return UnknownMetric(f"{words}; {hint or 'see them with: tstmeta metrics'}")


def _accepts(factory: Any, variant: str) -> bool:
    listed = getattr(factory, "VARIANTS", ()).__contains__
    return bool(getattr(factory, "accepts_variant", listed)(variant))


def _metric(thing: Any, name: str, *variant: str) -> Metric:
    """The metric that a class or a factory builds, a function of two texts is, or a thing is."""
    if isinstance(thing, Metric):
        return check(thing)
    if not isinstance(thing, type) and not _binds(thing, *variant):
        if _binds(thing, "source", "output"):
            return wrap(thing, name)
        what = f"{name}{inspect.signature(thing)}" if callable(thing) else f"{thing!r:.80}"
        raise TypeError(f"{what} is no metric: write a function of (source, output)")
    metric = check(thing(*variant))
    metric.name = metric.name or name
    return metric


def check(thing: Any) -> Metric:
    """A thing that is a metric; TypeError for any other."""
    if not isinstance(thing, Metric):
        raise TypeError(f"{thing!r:.80} is no metric: tstmeta.wrap makes one of a function")
    for part, known in (("bases", BASES), ("dimensions", DIMENSIONS)):
        values = getattr(thing, part)
        if not values or not set(values) <= set(known):
            raise TypeError(f"{thing!r:.80} has {part} {values!r}: name some of {', '.join(known)}")
    if thing.unit not in ("item", "corpus"):
        raise TypeError(f"{thing!r:.80} has unit {thing.unit!r}: it is item or corpus")
    return thing


def _binds(function: Any, *arguments: str) -> bool:
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    return True


def known(name: str) -> Metric | None:
    """The registered metric that a name in a table of scores means; None if there is none.

    The name may come from anybody's file, so nothing is imported and no file or folder is opened:
    words that could name one are left out.
    """
    with suppress(Exception):  # whatever a plug-in makes of words that a stranger wrote
        name = canonical(name)
    stem, _, variant = name.partition(":")
    point = plugins.points(GROUP).get(stem)
    with suppress(Exception):
        if point is None or (variant and not _accepts(plugins.load(point), variant)):
            return None
    words = [word for word in variant.split("+") if not re.search(r"[/\\=]|\.\w+(#|$)", word)]
    for form in (f"{stem}:{'+'.join(words)}", stem):
        with suppress(Exception):
            return get(form.removesuffix(":"))
    return None


def lower_is_better(name: str, basis: str) -> bool:
    """Whether less is better on that basis; what nobody registered is better when higher."""
    metric = known(name)
    return metric is not None and not more_is_better(metric, basis)


def resolve(wanted: list[str] | tuple[str, ...], profile: str = "embedded") -> list[str]:
    """Expand family names and ``all`` to canonical metric names, without repeats, in order.

    In the profile ``embedded`` such a name leaves out the metrics that need a model from a hub.
    What cannot be used here is left out with a warning.
    """
    stems = names()
    groups = {"all", *map(_family, stems)}
    expanded: list[str] = []
    for name in map(canonical, wanted):
        if name in stems or name not in groups:
            expanded.append(name)
            continue
        every = names(variants=True) if name == "all" else family(name)
        members = [member for member in every if _may_run(member, profile)]
        if not members:
            known = ", ".join(every)
            raise UnknownMetric(f"each metric of {name!r} needs a model of yours: name {known}")
        expanded += members
    return list(dict.fromkeys(expanded))


def _may_run(name: str, profile: str) -> bool:
    try:
        return get(name).profile == "embedded" or profile == "real"
    except (TstmetaError, OSError) as error:
        warnings.warn(f"{name} is left out: {error}", stacklevel=2)
        return False


def _imported(place: str, attribute: str) -> Metric | None:
    """What the user named in a file or a module; None where there is no such module."""
    name, path = f"{place}:{attribute}", os.path.abspath(os.path.expanduser(place))
    is_file = place.endswith(".py") or re.search(r"[/\\]", place)
    parts = [attribute] if is_file else [attribute, *place.split(".")]
    if not all(map(str.isidentifier, parts)):
        return None
    if is_file and not (path.endswith(".py") and os.path.isfile(path)):
        raise UnknownMetric(f"{name!r}: there is no file {place!r}; name one that ends in .py")
    folder = os.path.dirname(path) if is_file else os.getcwd()
    if folder not in sys.path:  # at its end: what is installed comes first
        sys.path.append(folder)
    try:
        module = runpy.run_path(path) if is_file else vars(importlib.import_module(place))
        source = str(module.get("__file__", place))
        if attribute not in module:
            raise UnknownMetric(f"cannot import metric {name}: no {attribute!r} in {source}")
        metric = _metric(module[attribute], name)
        if metric is not module[attribute] and hasattr(metric, "function"):
            # what stands beside the function counts, too: an edited file is scored anew
            text = Path(source).read_bytes() if source.endswith(".py") else b""
            metric.version += f".{hashlib.sha256(text).hexdigest()[:8]}"  # type: ignore[attr-defined]
        return metric
    except TstmetaError:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name == place and "." not in place:
            return None
        raise UnknownMetric(f"cannot import metric {name}: {plugins.place(error)}") from error
