"""Rewrites of a file, a folder or an address, a chunk at a time, so that memory stays flat.

What is read and how rows are counted is as in :mod:`.sheet`; a row of a folder is numbered in its
file.  Files are opened with fsspec: ``hf://``, ``s3://``, ``https://`` and the like work where
the package for them is installed.
"""

import os
from collections.abc import Iterator
from functools import partial
from typing import Any

import fsspec

from ..schema import TstmetaError
from ..secrecy import conceal
from .sheet import ENDINGS, Sheet, read_parts


def is_location(name: str) -> bool:
    """Whether a name can only mean a file, a folder or an address, not a registered data set."""
    return "://" in name or name.lower().endswith(ENDINGS) or os.path.isdir(name)


def files_of(location: str) -> list[tuple[Any, str]]:
    """The files of a location, each with the file system that opens it; of a folder, by name.

    Raises:
        TstmetaError: nothing is there, nothing of it can be read, or a package is missing.
    """
    shown = conceal(location)
    try:
        system, path = fsspec.core.url_to_fs(location)
        paths = [path] if not system.isdir(path) else sorted(system.find(path))
        if paths == [path] and not system.exists(path):
            raise TstmetaError(f"{shown}: there is no such file. Remedy: check the name")
    except (ImportError, ValueError, OSError) as error:
        words = f"{shown} cannot be opened ({conceal(str(error)[:200])})"
        raise TstmetaError(f"{words}. Remedy: see the address, your rights to it, and that the "
                           "fsspec package for it is installed") from error  # fmt: skip
    hidden = {each for each in paths if os.path.basename(each).startswith(("_", "."))} - {path}
    read = [each for each in paths if each.lower().endswith(ENDINGS) and each not in hidden]
    if not read:
        raise TstmetaError(f"{shown}: no file ends in {', '.join(ENDINGS)}. Remedy: name one")
    return [(system, each) for each in read]


def sheets(location: str, size: int) -> Iterator[Sheet]:
    """Sheets of at most ``size`` rows, in order, not settled (:meth:`.sheet.Sheet.settle`).

    Raises:
        TstmetaError: nothing can be read there.
        DataError: a file that cannot be read on.
    """
    for system, path in files_of(location):
        ending = path[path.rfind(".") :].lower()
        yield from read_parts(partial(system.open, path, "rb"), conceal(path), ending, size)
