"""Human judgement comes in: one small loader a data set, and your own.

Data sets are entry points of the group ``tstmeta.datasets``.  Each names a module with a function
``load(root: Path) -> Dataset`` and, if it likes, a dict ``SUBSETS`` of functions ``Dataset ->
Dataset``, ``RAW = False`` (no raw files: ``root`` is ours) and ``FILE`` (the name of the one file
that matters in the folder).  One with ``CORPUS = True`` has no ``load``, but ``corpus(root: Path)``
of single sentences: text, style, split, and value (a mean human rating of the style, or NaN).
"""

import difflib
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from .. import plugins
from ..schema import DataError, MissingData, Problem, TstmetaError, check
from ..secrecy import conceal
from . import manifest, paths
from .base import Card, Dataset

GROUP = "tstmeta.datasets"


class UnknownDataset(TstmetaError):
    """A data set or subset name that nobody registered."""


def names() -> list[str]:
    """Registered data sets, sorted by name."""
    return sorted(plugins.points(GROUP))


def subsets(name: str) -> list[str]:
    """Full names of a data set's named subsets, e.g. ``lai@pauli2025``."""
    return [f"{name}@{key}" for key in getattr(_module(name), "SUBSETS", {})]


def root(name: str) -> Path:
    """The folder a loader reads from: the raw files, or ours.

    Raises:
        MissingData: the raw files are not on this machine.
    """
    return paths.raw(name) if getattr(_module(name), "RAW", True) else paths.project(name)


def has_numbers(name: str) -> bool:
    """Whether the numbers of a data set were passed on with the project, see :mod:`.shipped`."""
    return paths.project("ratings", name, "items.parquet").is_file()


def has_texts(name: str) -> bool:
    """Whether the files of a data set, with its texts, are on this machine."""
    base = name.partition("@")[0]
    try:
        return (root(base) / getattr(_module(base), "FILE", "")).exists()
    except MissingData:
        return False


def available(name: str) -> bool:
    """Whether a data set can be loaded: from its files, or without texts (:mod:`.shipped`)."""
    return has_texts(name) or has_numbers(name.partition("@")[0])


def load(name: str) -> Dataset:
    """Load a registered data set, a named subset (``name@subset``) or a file of your own.

    Where the raw files are not here, its ratings and scores come without texts if the project may
    pass them on (``has_texts`` says so).

    Raises:
        UnknownDataset: no such name, with the nearest ones.
        MissingData: the raw files are not here, and needed; with the command that gets them.
        DataError: a file of yours has faults; all are listed.
    """
    from . import files, shipped  # imported late: the command line must start at once

    if Path(name).suffix.lower() in files.ENDINGS:
        from .table_files import read

        return read(Path(name))
    if files.is_location(name):
        raise TstmetaError(
            f"{conceal(name)} is a folder or an address, which is read in chunks: score it with "
            "tstmeta score --data ... --out scores.parquet, or name one file"
        )
    base, _, subset = name.partition("@")
    numbers_only = not has_texts(base) and has_numbers(base)
    data = shipped.load(base) if numbers_only else _load(base, str(root(base)))
    if not subset:
        return data
    if name not in subsets(base):
        options = ", ".join(subsets(base)) or "it has none"
        raise UnknownDataset(f"{base!r} has no subset {subset!r}; named subsets: {options}")
    return replace(_module(base).SUBSETS[subset](data), name=name)


def _module(name: str):
    point = plugins.points(GROUP).get(name)
    if point is None:
        near = difflib.get_close_matches(name, names(), n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}?" if near else "see them with: tstmeta data list"
        raise UnknownDataset(f"no data set is called {name!r}; {hint}")
    return plugins.load(point)


@lru_cache(maxsize=32)  # all there are: with fewer places a walk over them finds none again
def _load(name: str, folder: str) -> Dataset:
    if getattr(_module(name), "CORPUS", False):
        how = f"tstmeta.data.{name}.corpus(tstmeta.data.root({name!r}))"
        raise TstmetaError(f"{name!r} is a corpus, with no rewrites to score. Read it with {how}")
    again = f"get it again: tstmeta data fetch {name}"
    changed = [row["path"] for row in manifest.check([name]) if row["state"] == "wrong hash"]
    check(Problem(f"{folder}/{path}", "wrong hash", remedy=again) for path in changed)
    try:
        return _module(name).load(Path(folder))
    except FileNotFoundError as error:
        raise DataError([Problem(error.filename, "the file is missing", remedy=again)]) from error
