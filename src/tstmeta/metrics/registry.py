"""Metrics by name: entry points of the group ``tstmeta.metrics``, loaded when they are needed.

An entry point names a class or a factory that takes an optional variant, as in ``bleu:pauli2025``,
or a function ``(source, output) -> float``.  ``./file.py:function`` names such a thing in a file.
Settings may stand in brackets, too, ``bertscore[layer=9,part=p]``.
"""

import difflib
import hashlib
import inspect
import os
import re
import runpy
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from .. import plugins
from ..plugins import BrokenPlugin
from ..schema import BASES, DIMENSIONS, TstmetaError
from ..secrecy import conceal
from .base import Metric, more_is_better, read_table, wrap

GROUP = "tstmeta.metrics"

_LISTED = read_table("catalogue.toml")
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


def colon_form(name: str) -> str:
    """``bertscore:layer=9+part=p`` for ``bertscore[layer=9,part=p]``; any other name as it is."""
    bracketed = re.fullmatch(r"([\w.-]+)\[(.*)\]", name)
    if not bracketed:
        return name
    words = "+".join(re.split(r",(?=[^,=]+=)", bracketed[2])).removeprefix("variant=")
    return f"{bracketed[1]}:{words}".removesuffix(":")


def get(name: str, *, imports: bool = False) -> Metric:
    """The metric of that name.

    Args:
        imports: whether ``./file.py:function`` may be imported, which runs code: only for a name
            that the user gave as a metric to compute.

    Raises:
        UnknownMetric: with the nearest known names, or what is wrong with the code.
        BrokenPlugin: what is registered under that name cannot be used.
    """
    if re.search(r"[\x00-\x1f\x7f\ud800-\udfff]", name):
        raise UnknownMetric(f"no metric is called {name!r:.100}: it holds control characters")
    stem, _, variant = colon_form(name).partition(":")
    point = None if name in OPEN else plugins.points(GROUP).get(stem)
    if point is None:
        file, _, attribute = name.rpartition(":")
        if imports and file.endswith(".py"):
            return _imported(file, attribute)
        raise _unknown(name)
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


def _unknown(name: str) -> UnknownMetric:
    """The error of a name that is no metric, with what may have been meant."""
    if remedy := how(name):
        return UnknownMetric(f"{name!r} combines other metrics, and is had so: {remedy}")
    if name in OPEN:
        return UnknownMetric(f"{name}: {OPEN[name]}")
    words = f"no metric is called {name!r:.100}"
    if name.endswith(".py"):
        return UnknownMetric(f"{words}; name a function of it, {name}:FUNCTION")
    lowered = {known.lower(): known for known in names(variants=True)}
    near = difflib.get_close_matches(name.lower(), lowered, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(map(lowered.__getitem__, near))}?" if near else ""
    return UnknownMetric(f"{words}; {hint or 'see them with: tstmeta metrics'}")


def _accepts(factory: Any, variant: str) -> bool:
    """Whether a variant is listed, or there are settings, which refuse what they do not know."""
    return bool(getattr(factory, "Settings", None)) or variant in getattr(factory, "VARIANTS", ())


def _metric(thing: Any, name: str, *variant: str) -> Metric:
    """The metric that a class or a factory builds, or that a function of two texts is."""
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

    The name may come from anybody's file: nothing is imported, and no file or folder is opened.
    """
    stem, _, variant = colon_form(name).partition(":")
    point = plugins.points(GROUP).get(stem)
    with suppress(Exception):  # whatever a plug-in makes of words that a stranger wrote
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
    """Expand family names and ``all`` to the metrics of the profile, without repeats, in order."""
    groups = {"all", *map(_family, names())} - {*names()}
    expanded: list[str] = []
    for name in map(colon_form, wanted):
        if name not in groups:
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


def _imported(file: str, attribute: str) -> Metric:
    """What the user named in a file."""
    name, path = f"{file}:{attribute}", os.path.abspath(os.path.expanduser(file))
    if not os.path.isfile(path):
        raise UnknownMetric(f"{name!r:.100}: there is no file {file!r:.100}")
    if os.path.dirname(path) not in sys.path:  # at its end: what is installed comes first
        sys.path.append(os.path.dirname(path))
    try:
        module = runpy.run_path(path)
        if attribute not in module:
            raise UnknownMetric(f"cannot import metric {name}: no {attribute!r} in {path}")
        metric = _metric(module[attribute], name)
        if metric is not module[attribute] and hasattr(metric, "function"):
            # what stands beside the function counts, too: an edited file is scored anew
            metric.version += f".{hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]}"  # type: ignore[attr-defined]
        return metric
    except TstmetaError:
        raise
    except (Exception, SystemExit) as error:
        raise UnknownMetric(f"cannot import metric {name}: {plugins.place(error)}") from error
