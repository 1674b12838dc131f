"""Files that survive a kill: written whole or not at all, one writer at a time."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import combinations, product
from pathlib import Path
from typing import Any

from .schema import TstmetaError

#: Output options of the command at work, and its inputs as in :func:`apart`: none is written over.
protected: ContextVar[Any] = ContextVar("protected", default=("", ()))


def apart(outputs: Sequence[tuple[str, Any]], inputs: Sequence[tuple[str, Any]] = ()) -> None:
    """Refuse an output that is an input or another output: (option, path); links are followed."""
    outputs = [named for named in outputs if named[1]]
    for (option, path), (other, file) in (*product(outputs, inputs), *combinations(outputs, 2)):
        real = [os.path.realpath(path), os.path.realpath(file)]
        if real[0] == real[1] or (all(map(os.path.exists, real)) and os.path.samefile(*real)):
            words = f"{option} {path} would write over {file}, which {other} names"
            raise TstmetaError(f"{words}. Remedy: name another file or folder with {option}")


def no_input(path: Path) -> None:
    """Refuse a file that the command at work reads."""
    options, inputs = protected.get()
    apart([(options, path)], inputs)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write a file: what is written there takes the place of ``path`` in one move."""
    if any("\ud800" <= sign <= "\udfff" for sign in str(path)):  # Parquet cannot be written there
        raise TstmetaError(f"cannot write {path}: the name is not UTF-8. Remedy: rename it")
    no_input(path)
    draft = path.parent / f".{path.name}.part"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield draft
        os.replace(draft, path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise cannot_write(path, error) from error


def cannot_write(path: Path | str, error: Exception) -> TstmetaError:
    """What to raise where there is no room, or no right to write: names the file and the remedy."""
    words = getattr(error, "strerror", None) or error
    return TstmetaError(
        f"cannot write {path}: {words}. Remedy: see that there is room, and that "
        f"{Path(path).parent} is a folder that may be written to; the same command then goes on"
    )


def write(path: Path, content: str | bytes) -> None:
    """Write a file, whole or not at all; see :func:`replacing`."""
    with replacing(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def locked(path: Path, timeout: float = 3600) -> Iterator[None]:
    """Let one process at a time in: wait ``timeout`` seconds for another; ``path`` is the lock."""
    from filelock import FileLock, Timeout  # takes time to import

    lock = FileLock(path, timeout=timeout)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise TstmetaError(
            f"another run is at work here and holds {path}. Remedy: wait for it or stop it"
        ) from error
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        yield
    finally:
        lock.release()
