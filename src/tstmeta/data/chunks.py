"""Rewrites of a file, a folder or an address, a chunk at a time, so that memory stays flat.

What is read and how rows are counted is as in :mod:`.sheet`; a row of a folder is numbered in its
file.  Files are opened with fsspec: ``hf://``, ``s3://``, ``https://`` and the like work where
the package for them is installed.
"""

import io
import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

import fsspec

from ..schema import TstmetaError
from ..secrecy import conceal
from .sheet import Sheet, add_json_lines, add_table, check_header, not_parquet

#: Endings of names that are read.
ENDINGS = (".csv", ".tsv", ".jsonl", ".parquet")
_REMOTE = "://"


def is_location(name: str) -> bool:
    """Whether a name can only mean a file, a folder or an address, not a registered data set."""
    return _REMOTE in name or name.lower().endswith(ENDINGS) or os.path.isdir(name)


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
    shows = [not os.path.basename(each).startswith(("_", ".")) for each in paths]
    read = [each for each, show in zip(paths, shows, strict=True) if show or each == path]
    read = [each for each in read if each.lower().endswith(ENDINGS)]
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
        sheet = Sheet(conceal(path), 0 if ending in (".csv", ".tsv") else None)
        try:
            with system.open(path, "rb") as stream:
                read = {".jsonl": _jsonl, ".parquet": _parquet}.get(ending)
                yield from (read or partial(_csv, "\t" if ending == ".tsv" else ","))(
                    stream, sheet, size
                )
        except OSError as error:
            what = f"the file cannot be read ({error.strerror or conceal(str(error)[:100])})"
            raise sheet.stop(what, "check its rights, or the connection") from error


def _text(stream: Any, sheet: Sheet) -> io.TextIOWrapper:
    """Text of a stream; a byte that is not UTF-8 stays visible as half a character."""
    if stream.read(2) in (b"\xff\xfe", b"\xfe\xff"):
        raise sheet.stop("the file is UTF-16, not UTF-8", "save it as UTF-8")
    stream.seek(0)
    return io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")


def _csv(delimiter: str, stream: Any, sheet: Sheet, size: int) -> Iterator[Sheet]:
    checked = False
    with _text(stream, sheet) as text:
        for _ in sheet.csv_batches(text, delimiter, size=size):
            if not checked:
                check_header(sheet, delimiter)
                checked = True
            if sheet.rows or sheet.problems:
                yield replace(sheet)
            sheet.rows, sheet.problems = {}, []


def _jsonl(stream: Any, sheet: Sheet, size: int) -> Iterator[Sheet]:
    with _text(stream, sheet) as text:
        lines = (line for line in enumerate(_lines(text), 1) if line[1].strip())
        while batch := list(islice(lines, size)):
            part = replace(sheet, rows={}, problems=[])
            add_json_lines(part, batch)
            if part.rows or part.problems:
                yield part


def _lines(text: io.TextIOWrapper) -> Iterator[str]:
    """Lines that end in a newline; other ends of lines may stand in texts."""
    left = ""
    while block := text.read(1 << 20):
        *whole, left = (left + block).split("\n")
        yield from whole
    yield left


def _parquet(stream: Any, sheet: Sheet, size: int) -> Iterator[Sheet]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = 1
    try:
        for batch in pq.ParquetFile(stream).iter_batches(size):
            part = replace(sheet, problems=[])
            add_table(part, pa.Table.from_batches([batch]), first)
            first += len(part.rows)
            yield part
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise not_parquet(sheet, error) from error
