"""What packages add under a name: entry points, loaded when they are needed.

One of another package may be broken: that is an error with its name, never a traceback.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb
from typing import Any

from .schema import TstmetaError
from .secrecy import excerpt


class BrokenPlugin(TstmetaError):
    """An entry point that cannot be used."""


@cache
def points(group: str) -> dict[str, EntryPoint]:
    """The entry points of a group by name, nothing imported; of one name, ours counts."""
    by_name: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=group), key=lambda p: p.module[:8] != "tstmeta."):
        if by_name.setdefault(point.name, point) is not point:
            warnings.warn(str(broken(point, "that name is taken")), stacklevel=2)
    return by_name


def load(point: EntryPoint) -> Any:
    """What an entry point names; BrokenPlugin where its import fails."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise broken(point, place(error)) from error


@contextmanager
def guarded(point: EntryPoint) -> Iterator[None]:
    """Turn what code of an entry point raises into BrokenPlugin, except our errors and OSError."""
    try:
        yield
    except (TstmetaError, OSError):
        raise
    except (Exception, SystemExit) as error:
        raise broken(point, place(error)) from error


def broken(point: EntryPoint, reason: str) -> BrokenPlugin:
    """The error that names an entry point and its package, and says why it cannot be used."""
    return BrokenPlugin(
        f"{point.name!r} of the package {point.dist.name if point.dist else '?'} ({point.value}) "
        f"is not used: {reason}. Remedy: mend that package or uninstall it"
    )


def place(error: BaseException) -> str:
    """What went wrong in somebody's code and where, on one line."""
    words = excerpt(f"{type(error).__name__}: {error}", 300)
    frames = [] if isinstance(error, SyntaxError) else list(extract_tb(error.__traceback__))
    skipped = ("<", str(Path(__file__).parent), str(Path(warnings.__file__).parent))
    frames = [frame for frame in frames if not frame.filename.startswith(skipped)]
    if not frames:
        return words
    return f"{words} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
